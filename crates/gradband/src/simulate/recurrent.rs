//! The recurrent policy of section 5.4: an LSTM reads (arm, reward) round by round, a linear head gives the
//! probabilities of the arms.
//!
//! ```text
//! x = (arm_embedding[I], (1 - Y) reward_embedding[0] + Y reward_embedding[1])
//! (i, f, g, o) = w_ih x + w_hh h + b
//! c <- sigmoid(f) c + sigmoid(i) tanh(g),   h <- sigmoid(o) tanh(c)
//! logits = w_out leaky_relu(h) + b_out
//! ```
//! In the first round h = 0. With rewards 0 and 1 the second half of x is a table with two rows, as in the paper's
//! listing; in between it is linear, which serves rewards in [0, 1].
//!
//! A lane is a run, as elsewhere: products with the weights are sums of lanes times scalars, in a fixed order, so
//! that a run has the same bits in one lane and in sixteen. Memory: a block of sixteen instances keeps n M (7 H + K)
//! vectors of sixteen numbers for its M differentiated runs (4.6 MB each at n = 200, H = 50, K = 2).

mod back;
mod cell;
mod contract;
mod reader;
mod rollout;
mod weights;

use super::crew::{Kept, round, share_out};
use super::instances::armed;
use super::job::{Job, Outcome, Output, Player, Task};
use super::returns::{Baseline, Returns};
use crate::error::Result;
use crate::numeric::bytes::{Bytes, Put, cut_off};
use crate::numeric::lanes::One;
use crate::numeric::simd::Lanes;
use crate::numeric::stream::{Key, Stream};
use crate::observe::Crew;
use crate::problem::{Problem, Split};
use rayon::prelude::*;
pub(crate) use reader::Reader;
use std::ops::Range;
use std::sync::Arc;

/// The slope of the leaky ReLU below zero: PyTorch's default.
const SLOPE: f64 = 0.01;

/// The sizes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// H: units of the cell.
    pub hidden: usize,
    /// E: length of an embedding.
    pub embedding: usize,
}

/// The paper's (appendix "RNN Implementation").
impl Default for Sizes {
    fn default() -> Self {
        Self { hidden: 50, embedding: 50 }
    }
}

/// A network without its weights: where each of them stands in the flat vector of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lstm {
    sizes: Sizes,
    arms: usize,
}

/// A piece of the parameters: a matrix in row-major order, or a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its name.
    pub name: &'static str,
    /// Rows and columns; a vector has one column.
    pub shape: [usize; 2],
    /// Where it stands.
    pub range: Range<usize>,
}

impl Lstm {
    /// A network for `arms` arms.
    pub fn new(sizes: Sizes, arms: usize) -> Self {
        Self { sizes, arms }
    }

    /// Its sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// K.
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// The layout of the parameters. Rows of `w_ih`, `w_hh` and `b` are PyTorch's: the gates i, f, g, o, each of H
    /// units. `b` is the sum of PyTorch's two biases.
    pub fn layout(&self) -> [Piece; 7] {
        let (Sizes { hidden: h, embedding: e }, k) = (self.sizes, self.arms);
        let mut start = 0;
        [
            ("arm_embedding", [k, e]),
            ("reward_embedding", [2, e]),
            ("w_ih", [4 * h, 2 * e]),
            ("w_hh", [4 * h, h]),
            ("b", [4 * h, 1]),
            ("w_out", [k, h]),
            ("b_out", [k, 1]),
        ]
        .map(|(name, shape)| {
            let range = start..start + shape[0] * shape[1];
            start = range.end;
            Piece { name, shape, range }
        })
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.layout()[6].range.end
    }

    /// Random weights as PyTorch draws them: embeddings N(0, 1), the rest uniform within 1/sqrt H.
    ///
    /// `forget_bias` is added to the forget gate: with 1 the cell remembers from the start (Jozefowicz et al., 2015).
    pub fn initial(&self, key: Key, forget_bias: f64) -> Vec<f64> {
        let mut stream = Stream::<One<f64>>::new((), key, 0);
        let mut params = vec![0.0; self.len()];
        let [arm, reward, .., b, _, _] = self.layout();
        let bound = 1.0 / (self.sizes.hidden as f64).sqrt();
        for (i, x) in params.iter_mut().enumerate() {
            let mut uniform = || (2.0 * stream.uniform().0 - 1.0) * bound;
            *x = if arm.range.contains(&i) || reward.range.contains(&i) {
                stream.normal_pair().0.0
            } else if b.range.contains(&i) {
                uniform() + uniform()
            } else {
                uniform()
            };
        }
        let h = self.sizes.hidden;
        params[b.range][h..2 * h].iter_mut().for_each(|x| *x += forget_bias);
        params
    }

    /// Plays instances `first..first + out.len()` with the weights `params`.
    ///
    /// In training the logits are divided by `temperature`; a policy that plays has 1. If the task is a gradient, the
    /// sum over the instances of their estimates is added to `gradient`: that of the tempered policy.
    ///
    /// # Panics
    /// If `params` or `gradient` has not [`Self::len`] entries, or the problem another number of arms.
    pub(crate) fn rollout(
        &self,
        params: &[f64],
        job: &Job,
        temperature: f64,
        first: u64,
        out: Output,
        gradient: Option<&mut [f64]>,
    ) -> Result<()> {
        assert_eq!(params.len(), self.len(), "parameters");
        assert_eq!(job.problem.arms, self.arms, "arms");
        rollout::rollout(self, params, job, temperature, first, out, gradient)
    }

    /// The gradient of the Bayes reward, estimated on all threads or by the crew, which is told what describes the player,
    /// and the mean regret of its runs.
    pub(crate) fn gradient(
        &self,
        params: &[f64],
        batch: &Batch,
        crew: Option<(Arc<dyn Crew>, Vec<u8>)>,
    ) -> Result<(Vec<f64>, f64)> {
        let task = Task::Gradient(batch.baseline, batch.returns);
        let job = Job { lanes: batch.lanes, ..Job::new(batch.problem, batch.key, Split::Train, task) };
        let (units, instances) = (0..batch.instances.div_ceil(GROUP), batch.instances);
        let groups = match crew {
            None => self.groups(params, &job, batch.temperature, instances, units)?,
            Some((crew, player)) => {
                let round = round(&[player], &job, Kept::Recurrent(batch.temperature), instances);
                share_out(&*crew, &round, units, |from| self.read(from))?
            }
        };
        // Summed in the order of the instances: the number of threads is not observable.
        let scale = 1.0 / batch.instances as f64;
        let (mut mean, mut regret) = (vec![0.0; self.len()], 0.0);
        for (gradient, group_regret) in &groups {
            mean.iter_mut().zip(gradient).for_each(|(mean, g)| *mean += g * scale);
            regret += group_regret * scale;
        }
        Ok((mean, regret))
    }

    /// The sums of the gradients and of the regrets of some groups of instances.
    fn groups(
        &self,
        params: &[f64],
        job: &Job,
        temperature: f64,
        instances: usize,
        groups: Range<usize>,
    ) -> Result<Vec<(Vec<f64>, f64)>> {
        let groups = groups.into_par_iter().map(|group| {
            let first = group * GROUP;
            let mut outcomes = vec![Outcome::default(); GROUP.min(instances - first)];
            let mut gradient = vec![0.0; self.len()];
            let out = Output { outcomes: &mut outcomes, gradients: &mut [], curves: &mut [] };
            self.rollout(params, job, temperature, first as u64, out, Some(&mut gradient))?;
            Ok((gradient, outcomes.iter().map(|outcome| outcome.regret).sum::<f64>()))
        });
        let groups = groups.collect::<Result<Vec<_>>>()?;
        armed(job)?.rewards.check_drawn()?;
        Ok(groups)
    }

    /// The same as a crew sends them.
    pub(crate) fn answer(
        &self,
        params: &[f64],
        job: &Job,
        temperature: f64,
        instances: usize,
        groups: Range<usize>,
    ) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for (gradient, regret) in self.groups(params, job, temperature, instances, groups)? {
            out.put_numbers(&gradient);
            out.put_number(regret);
        }
        Ok(out)
    }

    fn read(&self, from: &mut Bytes) -> Result<(Vec<f64>, f64)> {
        let (gradient, regret) = (from.numbers()?, from.number()?);
        if gradient.len() == self.len() { Ok((gradient, regret)) } else { Err(cut_off()) }
    }
}

/// Instances that a thread takes at a time.
const GROUP: usize = 64;

/// What a gradient is estimated from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'a> {
    /// On which problem.
    pub problem: &'a Problem,
    /// With which randomness.
    pub key: Key,
    /// m.
    pub instances: usize,
    /// What is subtracted.
    pub baseline: Baseline,
    /// What returns are made of.
    pub returns: Returns,
    /// Logits are divided by it.
    pub temperature: f64,
    /// In which lanes.
    pub lanes: Lanes,
}

/// A network with its weights: what plays.
#[derive(Clone, Debug)]
pub(crate) struct RecurrentPlayer {
    /// The network.
    pub lstm: Lstm,
    /// Its weights.
    pub params: Vec<f64>,
}

impl Player for RecurrentPlayer {
    fn dim(&self) -> usize {
        self.lstm.len()
    }

    /// A gradient for each instance, by itself; training takes those of whole groups, which are much faster.
    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let Output { outcomes, gradients, curves } = out;
        if gradients.is_empty() {
            let out = Output { outcomes, gradients, curves };
            return self.lstm.rollout(&self.params, job, 1.0, first, out, None);
        }
        let marks = job.marks.len();
        for (i, (outcomes, gradient)) in
            outcomes.chunks_mut(1).zip(gradients.chunks_mut(self.lstm.len())).enumerate()
        {
            gradient.fill(0.0);
            let out =
                Output { outcomes, gradients: &mut [], curves: &mut curves[i * marks..(i + 1) * marks] };
            self.lstm.rollout(&self.params, job, 1.0, first + i as u64, out, Some(gradient))?;
        }
        Ok(())
    }

    fn unscored(&self) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests;
