//! The labels while examples are gathered: which classes there are is known only at the end.

use std::collections::HashMap;

/// More classes than this are a measurement, not a label.
pub(super) const MAX_CLASSES: usize = 1000;

#[derive(Default)]
pub(super) struct Labels {
    ids: HashMap<String, u32>,
    names: Vec<String>,
    labels: Vec<u32>,
}

impl Labels {
    /// Notes the label of the next example; false, and nothing noted, if that would make too many classes.
    pub fn push(&mut self, label: &str) -> bool {
        let id = match self.ids.get(label) {
            Some(&id) => id,
            None if self.names.len() == MAX_CLASSES => return false,
            None => self.add(label),
        };
        self.labels.push(id);
        true
    }

    fn add(&mut self, label: &str) -> u32 {
        let id = self.names.len() as u32;
        self.ids.insert(label.into(), id);
        self.names.push(label.into());
        id
    }

    /// The classes in order, and each example's. Numbers are classes by value: 1 and 1.0 are the same.
    pub fn finish(mut self) -> (Vec<String>, Vec<u32>) {
        let values: Option<Vec<f64>> = self.names.iter().map(|name| number(name)).collect();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let by_name = |&a: &usize, &b: &usize| {
            (self.names[a].len(), &self.names[a]).cmp(&(self.names[b].len(), &self.names[b]))
        };
        match &values {
            Some(x) => order.sort_by(|a, b| x[*a].total_cmp(&x[*b]).then_with(|| by_name(a, b))),
            None => order.sort_by(|&a, &b| self.names[a].cmp(&self.names[b])),
        }
        let mut classes: Vec<String> = Vec::new();
        let mut class_of = vec![0; order.len()];
        for (i, &id) in order.iter().enumerate() {
            let same = i > 0 && values.as_ref().is_some_and(|x| x[id] == x[order[i - 1]]);
            if !same {
                classes.push(self.names[id].clone());
            }
            class_of[id] = classes.len() as u32 - 1;
        }
        for label in &mut self.labels {
            *label = class_of[*label as usize];
        }
        self.labels.shrink_to_fit();
        (classes, self.labels)
    }
}

/// The value of a label that is a number, infinite ones included.
fn number(label: &str) -> Option<f64> {
    label.parse().ok().filter(|x: &f64| !x.is_nan())
}
