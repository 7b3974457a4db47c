//! The score-gradient estimator (lemmas 3 and 4): an average over instances, with its variance.

use super::statistics::{Estimate, Part, Sample};
use crate::error::{Error, ErrorKind, Result, count};
use crate::exact::Exact;
use crate::numeric::bytes::{Bytes, Put};
use crate::numeric::stream::Key;
use crate::observe::Observer;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Chunk, Summary};
use crate::simulate::crew::Kept;
use crate::simulate::{Baseline, Job, Player, Returns, Task};

/// An estimated gradient of the Bayes reward.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// One estimate per parameter.
    pub estimate: Vec<Estimate>,
    /// Variance of one instance's estimate, per parameter.
    pub variance_per_instance: Vec<f64>,
    /// The mean regret of the same runs.
    pub bayes_regret: f64,
    /// Number of instances.
    pub instances: usize,
}

impl Gradient {
    /// One that is known: no variance.
    pub(crate) fn exact(exact: &Exact) -> Self {
        let estimate = exact.gradient.iter().map(|&mean| Estimate { mean, std_error: 0.0 }).collect();
        let variance_per_instance = vec![0.0; exact.gradient.len()];
        Self { estimate, variance_per_instance, bayes_regret: exact.bayes_regret, instances: 1 }
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
pub fn gradient_key(seed: u64) -> Key {
    const ESTIMATE: u64 = 4;
    Key::new(seed).child(ESTIMATE)
}

/// The largest batch: beyond it an estimate would take hours.
const MAX_BATCH_SIZE: usize = 1_000_000_000;

/// How a gradient is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimator {
    /// What is subtracted.
    pub baseline: Baseline,
    /// What returns are made of.
    pub returns: Returns,
    /// m: instances per estimate.
    pub batch_size: usize,
}

impl Estimator {
    /// Runs of one estimate.
    pub fn runs(&self) -> usize {
        self.batch_size * self.baseline.runs()
    }

    /// Refuses numbers that make no estimate.
    pub(crate) fn check(&self) -> Result<()> {
        self.baseline.check()?;
        count("batch_size", self.batch_size, 1, MAX_BATCH_SIZE).map(drop)
    }

    /// Estimates the gradient at the player's parameters, on training instances drawn with `key`.
    pub fn estimate(
        &self,
        player: &dyn Player,
        problem: &Problem,
        key: Key,
        observer: &mut dyn Observer,
    ) -> Result<Gradient> {
        self.check()?;
        let reason = player.unscored().or((player.dim() == 0).then_some("has nothing to learn"));
        if let Some(reason) = reason {
            let kind = ErrorKind::Unscored { policy: "this policy".into(), reason: reason.into() };
            return Err(Error::of("policy", kind));
        }
        let job = Job::new(problem, key, Split::Train, Task::Gradient(self.baseline, self.returns));
        let mut sample = Sample::unpaired(player.dim(), problem.clusters(job.split));
        let summary = Slopes::new(player.dim(), &job);
        let mut regret = 0.0;
        let add = |(part, more): (Part, f64)| {
            sample.add(&part);
            regret += more;
        };
        batch::play(&[player], &job, self.batch_size, "differentiating", &summary, add, observer)?;
        Ok(Gradient {
            estimate: (0..player.dim()).map(|i| sample.estimate(i)).collect(),
            variance_per_instance: (0..player.dim()).map(|i| sample.variance(i)).collect(),
            bayes_regret: regret / self.batch_size as f64,
            instances: self.batch_size,
        })
    }
}

/// The moments of a chunk's gradients, and its total regret.
pub(super) struct Slopes {
    empty: Part,
}

impl Slopes {
    /// Of so many parameters.
    pub fn new(dim: usize, job: &Job) -> Self {
        Self { empty: Sample::unpaired(dim, job.problem.clusters(job.split)).part() }
    }
}

impl Summary for Slopes {
    type Sum = (Part, f64);

    fn kept(&self) -> Kept {
        Kept::Gradient
    }

    fn sum(&self, chunk: &Chunk) -> (Part, f64) {
        let mut part = self.empty.clone();
        for i in 0..chunk.len {
            part.push(chunk.cluster(i), chunk.gradient(i).iter().copied());
        }
        (part, chunk.outcomes(0).iter().map(|outcome| outcome.regret).sum::<f64>())
    }

    fn write(&self, (part, regret): &(Part, f64), out: &mut Vec<u8>) {
        part.write(out);
        out.put_number(*regret);
    }

    fn read(&self, from: &mut Bytes) -> Result<(Part, f64)> {
        Ok((self.empty.clone().read(from)?, from.number()?))
    }
}
