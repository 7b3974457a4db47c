//! Classification as a bandit: an example is shown, an arm is a class, the reward is 1 for the right one
//! (section 7.9).

use super::{ContextModel, Contextual, Draw, Examples, Instance, Problem, ProblemBuilder};
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use std::any::Any;
use std::sync::Arc;

/// The model of a classification problem: each round shows an example, drawn with replacement.
#[derive(Clone, Debug)]
pub struct Classification {
    /// Shared, because problems are copied and tables are large.
    examples: Arc<Examples>,
}

impl Classification {
    /// A labelled table as a bandit; its classes are the arms.
    pub fn new(examples: Examples) -> Self {
        Self { examples: Arc::new(examples) }
    }

    /// The labelled examples.
    pub fn examples(&self) -> &Examples {
        &self.examples
    }
}

impl Problem {
    /// A contextual problem made of labelled examples: an arm is a class, and pays 1 if it is the right one.
    pub fn classification(examples: Examples) -> ProblemBuilder {
        let arms = examples.classes().len();
        Self::contexts(Classification::new(examples), arms)
    }
}

impl Contextual {
    /// The labelled examples, if it is a classification problem.
    pub fn examples(&self) -> Option<&Examples> {
        (self.model() as &dyn Any).downcast_ref::<Classification>().map(Classification::examples)
    }
}

impl ContextModel for Classification {
    fn dim(&self) -> usize {
        self.examples.dim()
    }

    fn kind(&self) -> &'static str {
        "classification"
    }

    fn unit_rewards(&self) -> bool {
        true
    }

    fn longest_squared(&self) -> f64 {
        self.examples.max_norm_squared()
    }

    fn feature_names(&self) -> Option<&[String]> {
        Some(self.examples.feature_names())
    }

    fn arm_names(&self) -> Option<&[String]> {
        Some(self.examples.classes())
    }

    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        let rows = self.examples.rows(draw.split);
        let mut stream = Stream::<One<f64>>::new((), draw.contexts, draw.index);
        let mut contexts = instance.contexts.chunks_exact_mut(self.examples.dim());
        for means in instance.means.chunks_exact_mut(draw.arms) {
            let example = rows[(stream.uniform().0 * rows.len() as f64) as usize];
            if let Some(examples) = &mut instance.examples {
                examples.push(example);
            }
            if let Some(x) = contexts.next() {
                x.copy_from_slice(self.examples.features(example as usize));
            }
            means[self.examples.label(example as usize)] = 1.0;
        }
        instance.rewards.copy_from_slice(&instance.means);
    }
}
