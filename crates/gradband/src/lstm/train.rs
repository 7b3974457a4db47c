//! How the recurrent policy is trained: GradBand on problems of growing horizon (section 7.6).

use super::{Batch, Lstm, Player};
use crate::baseline::{Baseline, Returns};
use crate::batch;
use crate::optimizer::{Optimizer, Rate, Rule, norm};
use crate::problem::{Problem, Split};
use crate::simulate::{Job, Lanes, Outcome, Task};
use crate::stream::Key;
use std::ops::ControlFlow;

/// Purposes of a seed: training's batches are apart from evaluation's, and checks from both.
const TRAINING: u64 = 2;
const WEIGHTS: u64 = 5;
const CHECK: u64 = 6;

/// Factors of the head that are tried at the end: a policy that still doubts may gain from doubting less.
const SHARPER: [f64; 3] = [1.5, 2.0, 4.0];

/// A check that is so many times worse than the best one is a setback (a few histories with long gradients can throw
/// a policy off at long horizons): training goes back to the best weights and on with so much of the rate.
const SETBACK: f64 = 1.1;
const CAUTION: f64 = 0.3;

/// One horizon of the curriculum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// n'.
    pub horizon: usize,
    /// L.
    pub iterations: usize,
    /// alpha.
    pub rate: Rate,
}

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// One after the other; each starts with a fresh optimizer.
    pub stages: Vec<Stage>,
    /// m.
    pub instances: usize,
    /// What is subtracted.
    pub baseline: Baseline,
    /// What returns are made of.
    pub returns: Returns,
    /// The update rule.
    pub rule: Rule,
    /// Gradients longer than this are shortened to it.
    pub clip: Option<f64>,
    /// In each iteration weights lose this part of themselves, times the rate (Loshchilov and Hutter, 2019).
    pub shrink: f64,
    /// Divide logits by 1/(1 - exp(-5 i/L)) in iteration i of L?
    pub temperature: bool,
    /// Added to the bias of the forget gate at the start.
    pub forget_bias: f64,
    /// Factor of the running average of the weights that is handed on; 0 hands on the weights themselves.
    pub average: f64,
    /// How often the last stage is checked, to hand out the best; 0 hands out the last.
    pub checks: usize,
    /// Instances of a check.
    pub check_instances: usize,
}

impl Recipe {
    /// The paper's (appendix "RNN Implementation"): a tenth of the horizon, then all of it.
    pub fn paper(problem: &Problem) -> Self {
        let rate = Rate { initial: 1e-3, end: 1.0, decay: 0.999 };
        let stage = |horizon: usize| Stage { horizon, iterations: 1000, rate };
        Self {
            stages: vec![stage((problem.horizon / 10).max(1)), stage(problem.horizon)],
            instances: 500,
            baseline: Baseline::SelfPlay,
            returns: Returns::Realized,
            rule: Rule::Adam,
            clip: None,
            shrink: 0.0,
            temperature: true,
            forget_bias: 0.0,
            average: 0.0,
            checks: 0,
            check_instances: 0,
        }
    }

    /// Ours: three horizons, rates that fall, gradients of unit length (at long horizons a few histories have gradients
    /// a thousand times as long as others), and every run differentiated.
    pub fn standard(problem: &Problem) -> Self {
        let n = problem.horizon;
        let stage = |horizon: usize, iterations: usize, initial: f64| Stage {
            horizon: horizon.max(1),
            iterations,
            rate: Rate { initial, end: 0.02, decay: 1.0 },
        };
        Self {
            stages: vec![stage(n / 10, 300, 3e-3), stage(3 * n / 10, 300, 2e-3), stage(n, 150, 5e-4)],
            instances: 125,
            baseline: Baseline::LeaveOneOut(4),
            returns: Returns::Mean,
            rule: Rule::Adam,
            clip: Some(1.0),
            shrink: 0.5,
            temperature: false,
            forget_bias: 1.0,
            average: 0.95,
            checks: 10,
            check_instances: 4000,
        }
    }
}

/// What training leaves.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The weights of the best check, or the last ones if there was none.
    pub params: Vec<f64>,
    /// The last weights (their running average).
    pub last: Vec<f64>,
    /// The regret of the best check: too low by the luck of the best.
    pub checked: Option<f64>,
    /// The factor by which the head was sharpened.
    pub sharper: f64,
}

/// What an iteration was like.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// 0-based.
    pub stage: usize,
    /// 0-based, within the stage.
    pub iteration: usize,
    /// Mean regret of the batch at its horizon.
    pub regret: f64,
    /// Length of the gradient before it was clipped.
    pub gradient_norm: f64,
    /// Regret of a check after it.
    pub check: Option<f64>,
    /// The weights (their running average) after it.
    pub params: &'a [f64],
}

/// Trains a network, from the weights `start` or from random ones; `each` hears of every iteration and may stop.
pub fn train(
    problem: &Problem,
    lstm: &Lstm,
    recipe: &Recipe,
    seed: u64,
    start: Option<Vec<f64>>,
    each: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Learned {
    let root = Key::new(seed);
    let check = |params: &[f64]| check(problem, lstm, params, root.child(CHECK), recipe.check_instances);
    let mut params = start.unwrap_or_else(|| lstm.initial(root.child(WEIGHTS), recipe.forget_bias));
    let mut average = params.clone();
    let mut best: Option<(f64, Vec<f64>)> = None;
    'stages: for (s, stage) in recipe.stages.iter().enumerate() {
        let short = Problem { horizon: stage.horizon, ..problem.clone() };
        let mut optimizer = Optimizer::new(recipe.rule, recipe.clip, lstm.len());
        let checks = if s + 1 == recipe.stages.len() { recipe.checks } else { 0 };
        // What the shorter horizons taught is the first candidate.
        if checks > 0 {
            best = Some((check(&average), average.clone()));
        }
        let mut caution = 1.0;
        for i in 0..stage.iterations {
            let key = root.child(TRAINING).child(s as u64).child(i as u64);
            let (gradient, regret) = lstm.gradient(&params, &recipe.batch(&short, key, i, stage.iterations));
            let gradient_norm = norm(&gradient);
            // A gradient that overflowed says nothing.
            if gradient_norm.is_finite() {
                let rate = caution * stage.rate.at(i, stage.iterations);
                optimizer.step(&mut params, &gradient, rate);
                params.iter_mut().for_each(|x| *x *= 1.0 - rate * recipe.shrink);
            }
            // The first iterates count less.
            let factor = recipe.average.min(i as f64 / (i + 10) as f64);
            average.iter_mut().zip(&params).for_each(|(mean, x)| *mean += (1.0 - factor) * (x - *mean));
            let due = (i + 1) * checks / stage.iterations > i * checks / stage.iterations;
            let checked = due.then(|| check(&average));
            match (checked, &best) {
                (Some(regret), Some((least, weights))) if regret > SETBACK * least => {
                    params.copy_from_slice(weights);
                    average.copy_from_slice(weights);
                    optimizer = Optimizer::new(recipe.rule, recipe.clip, lstm.len());
                    caution *= CAUTION;
                }
                (Some(regret), Some((least, _))) if regret < *least => best = Some((regret, average.clone())),
                _ => {}
            }
            let step =
                Step { stage: s, iteration: i, regret, gradient_norm, check: checked, params: &average };
            if each(&step).is_break() {
                break 'stages;
            }
        }
        params.copy_from_slice(&average);
    }
    let Some((regret, params)) = best else {
        return Learned { params: average.clone(), last: average, checked: None, sharper: 1.0 };
    };
    let mut learned = Learned { params: params.clone(), last: average, checked: Some(regret), sharper: 1.0 };
    let mut least = regret;
    for factor in SHARPER {
        let mut sharp = params.clone();
        sharp[lstm.layout()[5].range.start..].iter_mut().for_each(|x| *x *= factor);
        let regret = check(&sharp);
        if regret < least {
            least = regret;
            learned = Learned { params: sharp, checked: Some(regret), sharper: factor, ..learned };
        }
    }
    learned
}

impl Recipe {
    fn batch<'a>(&self, problem: &'a Problem, key: Key, i: usize, iterations: usize) -> Batch<'a> {
        let done = (i + 1) as f64 / iterations as f64;
        Batch {
            problem,
            key,
            instances: self.instances,
            baseline: self.baseline,
            returns: self.returns,
            temperature: if self.temperature { 1.0 / (1.0 - (-5.0 * done).exp()) } else { 1.0 },
            lanes: Lanes::Auto,
        }
    }
}

/// Mean regret on training instances that no batch has seen; always the same ones, so that checks compare.
fn check(problem: &Problem, lstm: &Lstm, params: &[f64], key: Key, instances: usize) -> f64 {
    let player = Player { lstm: *lstm, params: params.to_vec() };
    let job = Job::new(problem, key, Split::Train, Task::Evaluate);
    let mut sum = 0.0;
    let each = |row: &[Outcome]| sum += row[0].regret;
    let _ = batch::play(&[&player], &job, instances, each, |_| ControlFlow::Continue(()));
    sum / instances as f64
}
