//! Classification as a bandit: an example is shown, an arm is a class, the reward is 1 for the right one
//! (section 7.9).

use super::contextual::Draw;
use super::{Contexts, Dataset, Examples, Instance, Problem, Split};
use crate::lanes::One;
use crate::stream::Stream;
use crate::{Error, Result};
use std::sync::Arc;

/// Examples, drawn with replacement.
#[derive(Clone, Debug)]
pub struct Classification {
    /// The table; shared, because problems are copied and tables are large.
    pub examples: Arc<Examples>,
}

impl Classification {
    pub(super) fn sample(&self, draw: &Draw, instance: &mut Instance) {
        let rows = self.examples.rows(draw.split);
        let mut stream = Stream::<One<f64>>::new((), draw.contexts, draw.index);
        instance.means.fill(0.0);
        let rounds = instance.contexts.chunks_exact_mut(self.examples.dim());
        for (x, means) in rounds.zip(instance.means.chunks_exact_mut(draw.arms)) {
            let example = rows[(stream.uniform().0 * rows.len() as f64) as usize] as usize;
            x.copy_from_slice(self.examples.features(example));
            means[self.examples.label(example)] = 1.0;
        }
        instance.rewards.copy_from_slice(&instance.means);
    }
}

impl Problem {
    /// A labelled table as a bandit; its classes are the arms.
    pub fn of_examples(name: impl Into<String>, examples: Examples, horizon: usize) -> Result<Self> {
        let classes = examples.classes().to_vec();
        for split in [Split::Train, Split::HeldOut] {
            if examples.rows(split).is_empty() {
                return Err(Error::new("holdout", "leaves a side without examples; choose another part"));
            }
        }
        let source = Contexts::Classification(Classification { examples: Arc::new(examples) });
        let problem = Self::with_contexts(name, source, classes.len(), horizon)?;
        Ok(Self { arm_names: Some(classes), ..problem })
    }

    /// One of the paper's data sets, from the bytes of its table.
    pub fn of_dataset(set: &Dataset, bytes: &[u8]) -> Result<Self> {
        let (examples, _) = Examples::read(bytes, set.name, None, set.scale, 0.0)?;
        Self::of_examples(set.name, examples, super::builtin::DATASET_HORIZON)
    }
}
