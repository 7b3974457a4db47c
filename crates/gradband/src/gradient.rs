//! The score-gradient estimator (lemmas 3 and 4): an average over instances, with its variance.

use crate::baseline::{Baseline, Returns};
use crate::batch;
use crate::problem::{Problem, Split};
use crate::registry::Agent;
use crate::simulate::{Job, Task};
use crate::statistics::{Estimate, Sample};
use crate::stream::Key;
use std::ops::ControlFlow;

/// An estimated gradient of the Bayes reward.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// One estimate per parameter.
    pub estimate: Vec<Estimate>,
    /// Variance of one instance's estimate, per parameter.
    pub variance_per_instance: Vec<f64>,
    /// Number of instances.
    pub instances: usize,
}

impl Gradient {
    /// One that is known: no variance.
    pub(crate) fn exact(gradient: &[f64]) -> Self {
        let estimate = gradient.iter().map(|&mean| Estimate { mean, std_error: 0.0 }).collect();
        Self { estimate, variance_per_instance: vec![0.0; gradient.len()], instances: 1 }
    }

    /// The same in other coordinates: `slopes` are the derivatives of the parameters.
    pub(crate) fn in_coordinates(mut self, slopes: &[f64]) -> Self {
        for ((estimate, variance), slope) in
            self.estimate.iter_mut().zip(&mut self.variance_per_instance).zip(slopes)
        {
            estimate.mean *= slope;
            estimate.std_error *= slope.abs();
            *variance *= slope * slope;
        }
        self
    }

    /// The mean alone.
    pub fn mean(&self) -> Vec<f64> {
        self.estimate.iter().map(|estimate| estimate.mean).collect()
    }
}

/// The randomness of a single estimate: neither evaluation's nor training's.
pub fn key(seed: u64) -> Key {
    const ESTIMATE: u64 = 4;
    Key::new(seed).child(ESTIMATE)
}

/// How a gradient is estimated.
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// What is subtracted.
    pub baseline: Baseline,
    /// What returns are made of.
    pub returns: Returns,
    /// m: instances per estimate.
    pub batch_size: usize,
}

impl Estimator {
    /// Estimates the gradient at the agent's parameters, on training instances drawn with `key`.
    ///
    /// `progress` hears of the instances done; the result is `None` if it stops the work.
    pub fn estimate(
        &self,
        agent: &dyn Agent,
        problem: &Problem,
        key: Key,
        progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Gradient> {
        let job = Job::new(problem, key, Split::Train, Task::Gradient(self.baseline, self.returns));
        let mut sample = Sample::unpaired(agent.dim(), problem.clusters(Split::Train));
        let each = |row: &[crate::simulate::Outcome], gradient: &[f64]| {
            sample.push(row[0].cluster, gradient.iter().copied());
        };
        let done = batch::play_with_gradients(&[agent], &job, self.batch_size, each, progress);
        done.is_continue().then(|| Gradient {
            estimate: (0..agent.dim()).map(|i| sample.estimate(i)).collect(),
            variance_per_instance: (0..agent.dim()).map(|i| sample.variance(i)).collect(),
            instances: self.batch_size,
        })
    }
}
