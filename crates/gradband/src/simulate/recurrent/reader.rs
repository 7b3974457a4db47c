//! The network read one reward after the other, in double precision: what an agent needs of it.

use super::Lstm;
use super::cell::{self, Input, Trace};
use super::weights::Weights;
use crate::numeric::lanes::One;
use crate::numeric::special::exp;

/// A network with its weights. What it remembers of a run is h, then c.
pub(crate) struct Reader {
    lstm: Lstm,
    weights: Weights<One<f64>>,
}

impl Reader {
    pub fn new(lstm: &Lstm, params: &[f64]) -> Self {
        Self { lstm: *lstm, weights: Weights::new(lstm, params) }
    }

    /// K.
    pub fn arms(&self) -> usize {
        self.lstm.arms
    }

    /// What it remembers before the first round.
    pub fn fresh(&self) -> Vec<f64> {
        vec![0.0; 2 * self.lstm.sizes.hidden]
    }

    /// The probabilities of the arms, up to a factor.
    pub fn weights(&self, memory: &[f64], weights: &mut [f64]) {
        let h: Vec<_> = memory[..self.lstm.sizes.hidden].iter().map(|&x| One(x)).collect();
        let mut logits = vec![One(0.0); weights.len().next_multiple_of(4)];
        cell::logits((), &self.weights, &h, &mut h.clone(), &mut logits);
        let top = logits[..weights.len()].iter().map(|x| x.0).fold(f64::MIN, f64::max);
        weights.iter_mut().zip(logits).for_each(|(out, logit)| *out = exp(logit.0 - top));
    }

    /// Reads a reward.
    pub fn step(&self, arm: usize, reward: f64, memory: &mut [f64]) {
        let units = self.lstm.sizes.hidden;
        let numbers: Vec<_> = memory.iter().map(|&x| One(x)).collect();
        let mut next = numbers.clone();
        let mut input = Input { arms: Vec::new(), reward: One(0.0) };
        input.set(One(arm as f64), One(reward));
        let (mut gates, mut tanhs) = (vec![One(0.0); 4 * units], vec![One(0.0); units]);
        let trace = Trace { gates: &mut gates, tanhs: &mut tanhs };
        let (before, after) = (numbers.split_at(units), next.split_at_mut(units));
        cell::forward((), &self.weights, &input, before, trace, after);
        memory.iter_mut().zip(next).for_each(|(out, x)| *out = x.0);
    }
}
