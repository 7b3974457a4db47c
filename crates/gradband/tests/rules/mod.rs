//! Rules as a user would write them: some are policies of the catalogue once more, one is new and has three parameters.
#![allow(dead_code)]

use gradband::policy::Form;
use gradband::{LinearRule, Param, Rule, Scalar, Seen};

/// SoftElim, written from its formula.
pub struct SoftElimRule {
    /// Does it give its derivative itself?
    pub knows_slopes: bool,
}

fn gap_score(seen: &Seen, best: f64, arm: usize) -> f64 {
    2.0 * (best - seen.mean(arm)).powi(2) * seen.pulls(arm)
}

impl Rule for SoftElimRule {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("w", 1.0).domain(1e-3, 1e3).feasible(0.05, 10.0)]
    }

    fn name(&self) -> String {
        if self.knows_slopes { "softelim-with-slopes".into() } else { "softelim-by-rule".into() }
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        let (best, rate) = (seen.best_mean(), -(params[0] * params[0]).recip());
        for (arm, logit) in logits.iter_mut().enumerate() {
            *logit = rate * gap_score(seen, best, arm);
        }
    }

    fn slopes(&self, params: &[f64], seen: &Seen, slopes: &mut [f64]) -> bool {
        if !self.knows_slopes {
            return false;
        }
        let (best, rate) = (seen.best_mean(), 2.0 * params[0].powi(-3));
        for (arm, slope) in slopes.iter_mut().enumerate() {
            *slope = rate * gap_score(seen, best, arm);
        }
        true
    }
}

/// Epsilon-greedy by weights: with probability epsilon any arm, else the best (the lowest on ties).
pub struct EpsilonGreedyRule;

impl Rule for EpsilonGreedyRule {
    fn params(&self) -> Vec<Param> {
        vec![Param::unit("epsilon", 0.2).feasible(0.01, 1.0)]
    }

    fn form(&self) -> Form {
        Form::Weights
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        let (arms, best) = (seen.arms(), seen.best_mean());
        let leader = (0..arms).find(|&arm| seen.mean(arm) == best).unwrap_or(0);
        for (arm, weight) in logits.iter_mut().enumerate() {
            *weight = params[0] / arms as f64;
            if arm == leader {
                *weight = *weight + 1.0 - params[0];
            }
        }
    }
}

/// A softmax of upper confidence bounds that tires of arms it has pulled often: three parameters.
pub struct Restless;

impl Rule for Restless {
    fn params(&self) -> Vec<Param> {
        let width = Param::positive("width", 0.4).feasible(0.01, 10.0);
        vec![width, Param::positive("temperature", 0.15).feasible(0.01, 10.0), Param::real("weariness", 0.7)]
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        for (arm, logit) in logits.iter_mut().enumerate() {
            let bound = params[0] * (1.0 / seen.pulls(arm)).sqrt() + seen.mean(arm);
            *logit = bound / params[1] - params[2] * (seen.pulls(arm) / seen.horizon as f64);
        }
    }
}

/// SoftElim with a temperature of its own for each of five stages of the run: more parameters than lanes take.
pub struct FiveStages;

impl Rule for FiveStages {
    fn params(&self) -> Vec<Param> {
        ["w1", "w2", "w3", "w4", "w5"].map(|name| Param::positive(name, 0.7).feasible(0.05, 10.0)).to_vec()
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        let w = params[5 * seen.round / seen.horizon];
        let (best, rate) = (seen.best_mean(), -(w * w).recip());
        for (arm, logit) in logits.iter_mut().enumerate() {
            *logit = rate * gap_score(seen, best, arm);
        }
    }
}

/// Soft UCB, written from its formula.
pub struct SoftUcbRule;

impl LinearRule for SoftUcbRule {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("alpha", 1.0), Param::positive("temperature", 0.25)]
    }

    fn logits<T: Scalar>(&self, params: &[T], means: &[T], variances: &[T], logits: &mut [T]) {
        for (i, logit) in logits.iter_mut().enumerate() {
            *logit = (means[i] + params[0] * variances[i].sqrt()) / params[1];
        }
    }
}
