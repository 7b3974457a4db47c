//! GradBand (algorithm 1): gradient ascent on the Bayes reward, with records and a reason to stop.

mod ascent;
mod neural;
mod polish;
mod search;

use crate::baseline::{Baseline, DEFAULT_RUNS, Returns};
use crate::gradient::{Estimator, Gradient};
use crate::optimizer::{Optimizer, Rate, Rule, norm};
use crate::problem::{Problem, Split};
use crate::registry::{Choice, Trainer};
use crate::spec::Training;
use crate::stream::Key;
use crate::{Error, Result};
use serde::Serialize;
use std::ops::ControlFlow;

/// Training's randomness, apart from evaluation's.
const TRAINING: u64 = 2;
const PILOT: u64 = 3;

/// Above this many parameters a record leaves them out.
pub const RECORDED_PARAMS: usize = 64;

/// What is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The mean of the last half of the iterates: they jitter around what they converge to.
    Tail,
    /// The last iterate, as in the paper.
    None,
}

/// Where gradients come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Simulation.
    Sampled,
    /// A dynamic programme ([`crate::exact`]): no variance.
    Exact,
}

/// How to train.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Where gradients come from; the estimator is for sampled ones.
    pub gradient: Source,
    /// How the gradient is estimated.
    pub estimator: Estimator,
    /// L.
    pub iterations: usize,
    /// The update rule.
    pub rule: Rule,
    /// alpha; `None` chooses it.
    pub learning_rate: Option<f64>,
    /// Longest gradient; with an automatic rate of sgd it is c unless given.
    pub clip: Option<f64>,
    /// Factor of the rate after each iteration.
    pub decay: f64,
    /// What is handed out.
    pub average: Average,
}

/// What the paper does, but with the best baseline.
impl Default for Settings {
    fn default() -> Self {
        Self {
            gradient: Source::Sampled,
            estimator: Estimator {
                baseline: Baseline::LeaveOneOut(DEFAULT_RUNS),
                returns: Returns::Mean,
                batch_size: 250,
            },
            iterations: 100,
            rule: Rule::Sgd,
            learning_rate: None,
            clip: None,
            decay: 1.0,
            average: Average::Tail,
        }
    }
}

/// One iteration: the parameters after it, and the length of the gradient that led there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// 1-based.
    pub iteration: usize,
    /// Left out above [`RECORDED_PARAMS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<f64>>,
    /// In the coordinates of training, before clipping; not a number if there was no gradient (a search).
    pub gradient_norm: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// All iterations are done.
    Iterations,
    /// The user said so.
    Interrupted,
    /// The time limit.
    Time,
    /// No step is left to make (exact gradients only).
    Converged,
}

/// What training leaves.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The policy that is handed out.
    pub policy: Choice,
    /// The last iterate.
    pub last: Choice,
    /// The rate of the first iteration.
    pub learning_rate: f64,
    /// One record per iteration.
    pub history: Vec<Record>,
    /// Why it ended.
    pub stop_reason: StopReason,
}

/// What a training tells while it runs, and how it is stopped.
pub trait Observer {
    /// After each iteration, with the parameters that it left (none from a Q-network, which keeps the best).
    fn iteration(&mut self, record: &Record, params: &[f64]);
    /// Asked often: a reason to stop now.
    fn stop(&mut self) -> Option<StopReason>;
}

/// Trains without a word.
impl Observer for () {
    fn iteration(&mut self, _: &Record, _: &[f64]) {}
    fn stop(&mut self) -> Option<StopReason> {
        None
    }
}

/// Trains as a spec says, whatever kind of policy it is.
pub fn run(
    problem: &Problem,
    initial: &Choice,
    training: &Training,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    match (&training.recipe, &training.q_learning) {
        (Some(recipe), _) => neural::lstm(problem, initial, recipe, seed, observer),
        (None, Some(settings)) => neural::dqn(problem, initial, settings, seed, observer),
        (None, None) => train(problem, initial, &training.settings, seed, observer),
    }
}

/// Optimises `initial` on the training instances of `problem`, by its score.
pub fn train(
    problem: &Problem,
    initial: &Choice,
    settings: &Settings,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    check_start(problem, initial)?;
    if initial.info.trainer != Trainer::Score {
        let message = format!("{} has a training of its own: use train::run", initial.info.name);
        return Err(Error::new("policy", message));
    }
    settings.check()?;
    if settings.gradient == Source::Exact {
        crate::exact::check(problem, initial, Split::Train)?;
        if settings.rule == Rule::Sgd && settings.learning_rate.is_none() {
            return ascent::ascend(problem, initial, settings, observer);
        }
    }
    if initial.agent(problem).unscored().is_some() && initial.params.len() == 1 {
        return search::search(problem, initial, settings, seed, observer);
    }
    let coordinates = initial.coordinates();
    let slopes = |w: &[f64]| -> Vec<f64> { coordinates.iter().zip(w).map(|(c, &w)| c.slope(w)).collect() };
    let mut reason = None;
    let mut gradient = |params: &[f64], key: Key, observer: &mut dyn Observer| -> Result<Option<Gradient>> {
        let choice = initial.with_params(problem, params)?;
        let mut go_on = || {
            reason = observer.stop();
            if reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if settings.gradient == Source::Exact {
            let exact = crate::exact::evaluate(problem, &choice, Split::Train, &mut |_, _| go_on())?;
            return Ok(exact.map(|exact| Gradient::exact(&exact.gradient).in_coordinates(&slopes(params))));
        }
        let estimate = settings.estimator.estimate(&*choice.agent(problem), problem, key, |_| go_on());
        Ok(estimate.map(|gradient| gradient.in_coordinates(&slopes(params))))
    };

    let mut w = initial.params.clone();
    let mut history = Vec::new();
    let mut tail = Tail::new(w.len(), settings.iterations);
    let pilot = match (settings.rule, settings.learning_rate) {
        (Rule::Sgd, None) => gradient(&w, Key::new(seed).child(PILOT), observer)?,
        _ => None,
    };
    let (rate, clip) = schedule(settings, pilot.as_ref());
    let mut optimizer = Optimizer::new(settings.rule, clip, w.len());
    for i in 0..settings.iterations {
        let key = Key::new(seed).child(TRAINING).child(i as u64);
        let Some(estimate) = gradient(&w, key, observer)? else { break };
        let mean = estimate.mean();
        let mut u: Vec<f64> = coordinates.iter().zip(&w).map(|(c, &w)| c.of(w)).collect();
        // A gradient that overflowed says nothing.
        if norm(&mean).is_finite() {
            optimizer.step(&mut u, &mean, rate.at(i, settings.iterations));
        }
        w = coordinates.iter().zip(&u).map(|(c, &u)| c.value(u)).collect();
        initial.project(problem, &mut w);
        tail.push(&w);
        let params = (w.len() <= RECORDED_PARAMS).then(|| w.clone());
        history.push(Record { iteration: i + 1, params, gradient_norm: norm(&mean) });
        if let Some(record) = history.last() {
            observer.iteration(record, &w);
        }
    }
    let last = initial.with_params(problem, &w)?;
    let policy = match settings.average {
        Average::Tail => initial.with_params(problem, &tail.mean(&history, &w))?,
        Average::None => last.clone(),
    };
    let policy = if reason.is_none() { polish::polish(problem, policy, settings, seed)? } else { policy };
    let stop_reason =
        reason.filter(|_| history.len() < settings.iterations).unwrap_or(StopReason::Iterations);
    Ok(Trained { policy, last, learning_rate: rate.initial, history, stop_reason })
}

/// Can training start from there?
pub fn check_start(problem: &Problem, initial: &Choice) -> Result<()> {
    initial.check_learnable(problem)?;
    for slot in initial.slots() {
        let (low, high) = slot.info.feasible.on(problem);
        for &x in &initial.params[slot.range] {
            crate::error::within(
                &format!("params ({}), where training starts", slot.info.name),
                x,
                low,
                high,
            )?;
        }
    }
    Ok(())
}

impl Settings {
    /// Refuses numbers that make no sense. Errors name flags, without their dashes.
    pub fn check(&self) -> Result<()> {
        let positive =
            |place: &str, x: f64| crate::error::within(place, x, f64::MIN_POSITIVE, f64::MAX).map(|_| ());
        for (place, count, most) in [
            ("iterations", self.iterations, 10_000_000),
            ("batch-size", self.estimator.batch_size, 1_000_000_000),
        ] {
            if !(1..=most).contains(&count) {
                return Err(Error::new(place, format!("found {count}, expected 1 to {most}")));
            }
        }
        self.learning_rate.map_or(Ok(()), |x| positive("learning-rate", x))?;
        self.clip.map_or(Ok(()), |x| positive("clip", x))?;
        crate::error::within("decay", self.decay, 1e-3, 1.0).map(|_| ())
    }
}

/// The automatic rate: alpha = 1 / (c sqrt L), where no gradient is likely to be longer than c = |g| + 2 sqrt(v / m), by
/// a pilot batch. v is the mean of the variances, weighted by themselves: with one parameter its variance; with many,
/// noise is part of every gradient's length already, and the length varies only as much as one coordinate does.
fn schedule(settings: &Settings, pilot: Option<&Gradient>) -> (Rate, Option<f64>) {
    let Settings { decay, clip, .. } = *settings;
    let fixed = |initial| Rate { initial, end: 1.0, decay };
    match (settings.learning_rate, settings.rule, pilot) {
        (Some(rate), ..) => (fixed(rate), clip),
        (None, Rule::Sgd, Some(pilot)) => {
            let length = norm(&pilot.mean());
            let variances = &pilot.variance_per_instance;
            let (sum, squares) =
                variances.iter().fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
            // A batch of one instance has no variance to go by: its own length stands in.
            let variance = match pilot.instances {
                1 => length * length,
                _ if sum > 0.0 => squares / sum,
                _ => 0.0,
            };
            let c = (length + 2.0 * (variance / pilot.instances as f64).sqrt()).max(1e-12);
            (fixed(1.0 / (c * (settings.iterations as f64).sqrt())), clip.or(Some(c)))
        }
        _ => (Rate { initial: 0.06, end: 0.1, decay }, clip),
    }
}

/// Running mean of the iterates after the middle of the training.
struct Tail {
    sum: Vec<f64>,
    seen: usize,
    from: usize,
}

impl Tail {
    fn new(dim: usize, iterations: usize) -> Self {
        Self { sum: vec![0.0; dim], seen: 0, from: iterations / 2 }
    }

    fn push(&mut self, w: &[f64]) {
        self.seen += 1;
        if self.seen > self.from {
            self.sum.iter_mut().zip(w).for_each(|(sum, x)| *sum += x);
        }
    }

    /// The last half of the iterates so far, if the records have them (training may have been interrupted);
    /// else those after the middle; else the last.
    fn mean(&self, history: &[Record], last: &[f64]) -> Vec<f64> {
        let tail: Vec<_> =
            history[history.len() / 2..].iter().filter_map(|record| record.params.as_ref()).collect();
        if tail.is_empty() {
            let count = self.seen.saturating_sub(self.from);
            return if count == 0 {
                last.to_vec()
            } else {
                self.sum.iter().map(|sum| sum / count as f64).collect()
            };
        }
        (0..last.len()).map(|i| tail.iter().map(|w| w[i]).sum::<f64>() / tail.len() as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::One;
    use crate::statistics::Estimate;
    use crate::stream::Stream;

    /// The automatic c, from the mean of `m` normal gradients with that mean and variance in each coordinate.
    fn constant(pilot: &[f64], variance: f64, m: usize) -> f64 {
        let estimate = pilot.iter().map(|&mean| Estimate { mean, std_error: 0.0 }).collect();
        let variance_per_instance = vec![variance; pilot.len()];
        let pilot = Gradient { estimate, variance_per_instance, instances: m };
        let settings = Settings { iterations: 1, ..Settings::default() };
        1.0 / schedule(&settings, Some(&pilot)).0.initial
    }

    /// Lengths of 2,000 gradients in 1 to 400 dimensions: few are beyond c, and c is not far beyond them. With one
    /// dimension and no slope the pilot's own length is anything, so that c is checked on average.
    #[test]
    fn few_gradients_are_longer_than_c() {
        let (m, variance, count) = (50, 9.0, 2000);
        for (dim, slope) in [(1, 0.0), (1, 3.0), (8, 0.5), (64, 0.1), (400, 0.0)] {
            let mut stream = Stream::<One<f64>>::new((), Key::new(5), dim as u64);
            let mut gradient = || -> Vec<f64> {
                let scale = (variance / m as f64).sqrt();
                (0..dim).map(|_| slope + scale * stream.normal_pair().0.0).collect()
            };
            let c: f64 = (0..50).map(|_| constant(&gradient(), variance, m)).sum::<f64>() / 50.0;
            let mut lengths: Vec<f64> = (0..count).map(|_| norm(&gradient())).collect();
            lengths.sort_by(f64::total_cmp);
            let beyond = lengths.iter().filter(|&&length| length > c).count() as f64 / count as f64;
            assert!(beyond < 0.05, "{dim} dimensions: {beyond} are longer");
            assert!(c < 1.3 * lengths[count * 99 / 100], "{dim} dimensions: c = {c}");
        }
        assert!((constant(&[3.0], variance, m) - (3.0 + 2.0 * (variance / m as f64).sqrt())).abs() < 1e-12);
    }
}
