//! How the recurrent policy is trained: GradBand on problems of growing horizon (section 7.6).

use super::ascent::{Ascent, Average, GradientSource, TRAINING};
use super::kept::{self, Found, kept};
use super::optimizer::{Climber, Optimizer, Rate, norm};
use super::start::Start;
use super::trained::Trained;
use super::trouble::{HandedOut, Trouble};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::Estimator;
use crate::numeric::simd::Lanes;
use crate::numeric::stream::Key;
use crate::observe::{Iteration, Observer, go_on, unless_stopped};
use crate::policy::{Choice, Described, lstm_network};
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::recurrent::{Batch, Lstm, RecurrentPlayer};
use crate::simulate::{Baseline, Job, Returns, Task};
use crate::stop::StopReason;

/// Purposes of a seed: training's batches are apart from evaluation's, and checks from both.
const WEIGHTS: u64 = 5;
const CHECK: u64 = 6;

/// Weights beyond this are no policy's, and nothing is left to learn.
const LARGEST: f64 = 1e6;

/// What the iterations are kept as.
const STAGES: &str = "stages";

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
    pub optimizer: Optimizer,
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
            optimizer: Optimizer::Adam,
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
            optimizer: Optimizer::Adam,
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

/// Bytes that a thread may keep.
const MOST: f64 = 4e9;

/// Where training is.
struct State {
    /// Iterations of the stage that are done, and the stage.
    done: usize,
    stage: usize,
    params: Vec<f64>,
    /// Running average of the weights: what is handed on.
    average: Vec<f64>,
    /// The least regret of a check, and its weights.
    best: Option<(f64, Vec<f64>)>,
    climber: Climber,
    /// The part of the rate that setbacks have left.
    caution: f64,
    /// The iteration whose step was too long for numbers.
    diverged: Option<usize>,
    history: Vec<Iteration>,
}

kept!(State { done, stage, params, average, best, climber, caution, diverged, history });

impl State {
    /// Is it for so many iterations and weights?
    fn fits(&self, iterations: usize, dim: usize) -> bool {
        let best = self.best.as_ref().is_none_or(|(_, weights)| weights.len() == dim);
        let history = kept::are_records(&self.history, iterations, dim);
        best && history && self.params.len() == dim && self.average.len() == dim && self.climber.fits(dim)
    }
}

impl Recipe {
    /// Refuses numbers that make no sense, and runs that do not fit into memory.
    pub(super) fn check(&self, choice: &Choice) -> Result<()> {
        let first = self.stages.first().map(|stage| stage.rate);
        Ascent {
            start: Start::Identity,
            gradient: GradientSource::Sampled,
            estimator: Estimator {
                baseline: self.baseline,
                returns: self.returns,
                batch_size: self.instances,
            },
            iterations: self.stages.iter().map(|stage| stage.iterations).fold(0, usize::saturating_add),
            optimizer: self.optimizer,
            learning_rate: first.map(|rate| rate.initial),
            clip: self.clip,
            decay: first.map_or(1.0, |rate| rate.decay),
            average: Average::None,
        }
        .check()?;
        self.check_memory(&lstm_network(choice))
    }

    /// Backpropagation keeps whole runs: sixteen instances at a time, 7 H + K numbers of four bytes per round.
    fn check_memory(&self, lstm: &Lstm) -> Result<()> {
        let horizon = self.stages.iter().map(|stage| stage.horizon).max().unwrap_or(0);
        let per_round = (7 * lstm.sizes().hidden + lstm.arms()) as f64;
        let bytes = per_round * (horizon * self.baseline.runs()) as f64 * 64.0;
        if bytes <= MOST {
            return Ok(());
        }
        let message = format!(
            "training through {horizon} rounds would take {:.0} GB per thread, at most {:.0} are allowed; shorten the \
             curriculum, the hidden layer or the runs per instance",
            bytes / 1e9,
            MOST / 1e9
        );
        Err(Error::of("policy", ErrorKind::TooLarge(message)))
    }

    /// Trains a recurrent policy, from its weights if it has any, else from random ones.
    pub(super) fn train(
        &self,
        problem: &Problem,
        initial: &Choice,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let lstm = lstm_network(initial);
        let root = Key::new(seed);
        let start = match initial.is_trained() {
            true => initial.params().to_vec(),
            false => lstm.initial(root.child(WEIGHTS), self.forget_bias),
        };
        let initial = initial.with_params(problem, &start)?;
        let planned: usize = self.stages.iter().map(|stage| stage.iterations).sum();
        let recalled =
            kept::recall(observer, STAGES).filter(|state: &State| state.fits(planned, start.len()));
        let mut state = recalled.unwrap_or_else(|| State {
            done: 0,
            stage: 0,
            climber: self.climber(&lstm),
            caution: 1.0,
            diverged: None,
            average: start.clone(),
            params: start,
            best: None,
            history: Vec::new(),
        });
        let mut reason = None;
        while state.stage < self.stages.len() && reason.is_none() {
            let done = self.stage(problem, &initial, root, &mut state, observer);
            reason = unless_stopped(done)?.err();
        }
        if reason.is_none() {
            reason = unless_stopped(self.sharpen(problem, &initial, root, &mut state, observer))?.err();
        }
        let instead = if state.best.is_some() { HandedOut::Best } else { HandedOut::Start };
        let troubles = state.diverged.map(|iteration| Trouble::Diverged { iteration, instead });
        if troubles.is_some() {
            let best = state.best.as_ref().map_or(initial.params(), |(_, weights)| weights);
            state.average = best.to_vec();
        }
        let handed_out = state.best.map_or_else(|| state.average.clone(), |(_, weights)| weights);
        let choice = |mut params: Vec<f64>| {
            initial.project(problem, &mut params);
            initial.with_params(problem, &params)
        };
        let (policy, last) = (choice(handed_out)?, choice(state.average)?);
        let history = state.history;
        let stop_reason = reason.filter(|_| history.len() < planned).unwrap_or(StopReason::Iterations);
        let learning_rate = self.stages.first().map(|stage| stage.rate.initial);
        let troubles = troubles.into_iter().collect();
        Ok(Trained { learning_rate, history, stop_reason, troubles, ..Trained::new(initial, policy, last) })
    }

    fn climber(&self, lstm: &Lstm) -> Climber {
        Climber::new(self.optimizer, self.clip, lstm.len())
    }

    /// One stage; an error if it is stopped.
    fn stage(
        &self,
        problem: &Problem,
        initial: &Choice,
        root: Key,
        state: &mut State,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (s, lstm) = (state.stage, lstm_network(initial));
        let stage = &self.stages[s];
        let short = problem.shortened(stage.horizon)?;
        let checks = if s + 1 == self.stages.len() { self.checks } else { 0 };
        let check = |params: &[f64], observer: &mut dyn Observer| {
            self.regret(problem, initial, params, root, observer)
        };
        // What the shorter horizons taught is the first candidate.
        if checks > 0 && state.best.is_none() {
            state.best = Some((check(&state.average, observer)?, state.average.clone()));
        }
        for i in state.done..stage.iterations {
            let key = root.child(TRAINING).child(s as u64).child(i as u64);
            let batch = self.batch(&short, key, i, stage.iterations);
            let crew = observer.crew().map(|crew| (crew, initial.description(&state.params).bytes()));
            let (gradient, _) = lstm.gradient(&state.params, &batch, crew)?;
            let gradient_norm = norm(&gradient);
            // A gradient that overflowed says nothing.
            if gradient_norm.is_finite() {
                let rate = state.caution * stage.rate.at(i, stage.iterations);
                state.climber.step(&mut state.params, &gradient, rate);
                state.params.iter_mut().for_each(|x| *x *= 1.0 - rate * self.shrink);
            }
            if !state.params.iter().all(|x| x.abs() <= LARGEST) {
                (state.diverged, state.stage) = (Some(state.history.len() + 1), self.stages.len());
                observer.keep(STAGES, &|| kept::bytes(state));
                return Ok(());
            }
            // The first iterates count less.
            let factor = self.average.min(i as f64 / (i + 10) as f64);
            let pairs = state.average.iter_mut().zip(&state.params);
            pairs.for_each(|(mean, x)| *mean += (1.0 - factor) * (x - *mean));
            let due = (i + 1) * checks / stage.iterations > i * checks / stage.iterations;
            if due {
                let regret = check(&state.average, observer)?;
                match &state.best {
                    Some((least, weights)) if regret > SETBACK * least => {
                        state.params.copy_from_slice(weights);
                        state.average.copy_from_slice(weights);
                        state.climber = self.climber(&lstm);
                        state.caution *= CAUTION;
                    }
                    Some((least, _)) if regret < *least => state.best = Some((regret, state.average.clone())),
                    _ => {}
                }
            }
            state.done = i + 1;
            let record = Iteration {
                params: None,
                ..Iteration::new(state.history.len() + 1, &[], Some(gradient_norm))
            };
            observer.iteration(&record, &state.average);
            state.history.push(record);
            observer.offer(STAGES, &|| kept::bytes(state));
            let planned: usize = self.stages.iter().map(|stage| stage.iterations).sum();
            go_on(observer, "training", "iterations", state.history.len() as u64, planned as u64)?;
        }
        // The next stage starts with a fresh optimizer.
        state.params.copy_from_slice(&state.average);
        (state.climber, state.caution) = (self.climber(&lstm), 1.0);
        (state.done, state.stage) = (0, s + 1);
        observer.keep(STAGES, &|| kept::bytes(state));
        Ok(())
    }

    /// Makes the head of the best check's weights as sharp as pays.
    fn sharpen(
        &self,
        problem: &Problem,
        initial: &Choice,
        root: Key,
        state: &mut State,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Some((mut least, weights)) = state.best.clone() else { return Ok(()) };
        let head = lstm_network(initial).layout()[5].range.start;
        let mut found = Found::new("sharper", observer);
        for factor in SHARPER {
            let mut sharp = weights.clone();
            sharp[head..].iter_mut().for_each(|x| *x *= factor);
            let regret =
                found.next(observer, |observer| self.regret(problem, initial, &sharp, root, observer))?;
            if regret < least {
                least = regret;
                state.best = Some((regret, sharp));
            }
        }
        Ok(())
    }

    /// Mean regret on training instances that no batch has seen; always the same ones, so that checks compare.
    fn regret(
        &self,
        problem: &Problem,
        initial: &Choice,
        params: &[f64],
        root: Key,
        observer: &mut dyn Observer,
    ) -> Result<f64> {
        let player = RecurrentPlayer { lstm: lstm_network(initial), params: params.to_vec() };
        let player = Described { description: initial.description(params), player };
        let job = Job::new(problem, root.child(CHECK), Split::Train, Task::Evaluate);
        Ok(batch::means(&[&player], &job, self.check_instances, Quantity::Regret, observer)?[0])
    }

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
