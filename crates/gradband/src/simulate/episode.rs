//! One instance of a problem for whoever plays it: the contexts and rewards that every policy meets there.

use super::instances;
use super::job::{Job, Task};
use crate::error::Result;
use crate::numeric::lanes::{One, Real};
use crate::numeric::stream::{Key, Stream};
use crate::problem::{Instance, Problem, RewardModel, Split};

/// An instance of a problem, round by round. Its problem is an argument of most functions: it must be the one that it was drawn for.
///
/// ```
/// use gradband::measure::evaluation_key;
/// use gradband::problem::{Problem, Split};
/// use gradband::simulate::Episode;
/// let problem = Problem::named("bernoulli-2")?;
/// // The first instance of an evaluation with seed 1.
/// let episode = Episode::new(&problem, evaluation_key(1), Split::HeldOut, 0)?;
/// assert!([0.0, 1.0].contains(&episode.reward(&problem, 5, 1)));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Episode {
    means: Vec<f64>,
    words: Vec<<One<f64> as Real>::Word>,
    instance: Instance,
    dim: usize,
}

impl Episode {
    /// Instance `index` of those that belong to a key.
    pub fn new(problem: &Problem, key: Key, split: Split, index: u64) -> Result<Self> {
        let job = Job::new(problem, key, split, Task::Evaluate);
        let (mut means, mut instance) = (vec![0.0; problem.arms], Instance::default());
        match problem.armed() {
            Some(armed) => instances::draw(&job, armed, index, &mut [], &mut means)?,
            None => problem.draw_contexts(split, key, index, &mut instance)?,
        }
        let mut words = Stream::<One<f64>>::new((), job.reward_key(), index);
        let words = (0..problem.horizon).map(|_| words.next_word()).collect();
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        Ok(Self { means, words, instance, dim })
    }

    /// The mean of an arm in a round.
    pub fn mean(&self, round: usize, arm: usize) -> f64 {
        match self.dim {
            0 => self.means[arm],
            _ => f64::from(self.instance.means[round * self.arms() + arm]),
        }
    }

    fn arms(&self) -> usize {
        self.means.len()
    }

    /// How much worse an arm is than the best one in a round.
    pub fn gap(&self, round: usize, arm: usize) -> f64 {
        let best = (0..self.arms()).map(|arm| self.mean(round, arm)).fold(f64::MIN, f64::max);
        best - self.mean(round, arm)
    }

    /// The reward of an arm in a round.
    pub fn reward(&self, problem: &Problem, round: usize, arm: usize) -> f64 {
        match problem.armed() {
            Some(armed) => {
                (&armed.rewards).draw(self.words[round], One(arm as f64), One(self.means[arm])).lane(0)
            }
            None => f64::from(self.instance.rewards[round * self.arms() + arm]),
        }
    }

    /// The same as an engine in single precision draws it.
    #[cfg(test)]
    pub(crate) fn single_reward(&self, problem: &Problem, round: usize, arm: usize) -> f64 {
        let armed = problem.armed().unwrap();
        let mean = One(self.means[arm] as f32);
        f64::from((&armed.rewards).draw(self.words[round], One(arm as f32), mean).0)
    }

    /// The features that a round shows; empty without contexts.
    pub fn context(&self, round: usize) -> Vec<f64> {
        let x = self.instance.contexts.get(round * self.dim..(round + 1) * self.dim).unwrap_or_default();
        x.iter().map(|&x| f64::from(x)).collect()
    }
}
