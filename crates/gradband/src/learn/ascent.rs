//! GradBand (algorithm 1): gradient ascent on the Bayes reward, with records and a reason to stop.

use super::candidates;
use super::kept::{self, kept};
use super::optimizer::{Climber, Optimizer, Rate, norm};
use super::polish::polish;
use super::start::{Begun, Start, Whitening};
use super::trained::Trained;
use super::trouble::{HandedOut, Trouble, troubles};
use crate::error::{Result, count, within};
use crate::measure::{Estimate, Estimator, Gradient, exact};
use crate::numeric::stream::Key;
use crate::observe::{Iteration, Observer, unless_stopped};
use crate::policy::{Choice, Coordinate};
use crate::problem::{Problem, Split};
use crate::stop::StopReason;
use serde::{Deserialize, Serialize};

/// Training's randomness, apart from evaluation's.
pub(super) const TRAINING: u64 = 2;
const PILOT: u64 = 3;
/// What the iterations are kept as.
const CLIMB: &str = "climb";

/// What is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// The mean of the last half of the iterates: they jitter around what they converge to.
    Tail,
    /// The last iterate, as in the paper.
    None,
}

/// Where gradients come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GradientSource {
    /// Simulation.
    Sampled,
    /// A dynamic programme: no variance.
    Exact,
}

/// How to climb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ascent {
    /// Where gradients come from; the estimator is for sampled ones.
    pub gradient: GradientSource,
    /// Where it starts.
    pub start: Start,
    /// How the gradient is estimated.
    pub estimator: Estimator,
    /// L.
    pub iterations: usize,
    /// The update rule.
    pub optimizer: Optimizer,
    /// alpha; `None` chooses it.
    pub learning_rate: Option<f64>,
    /// Longest gradient; with an automatic rate of sgd it is c unless given.
    pub clip: Option<f64>,
    /// Factor of the rate after each iteration.
    pub decay: f64,
    /// What is handed out.
    pub average: Average,
}

impl Ascent {
    /// Does it use exact gradients?
    pub fn is_exact(&self) -> bool {
        self.gradient == GradientSource::Exact
    }

    /// Refuses numbers that make no sense.
    pub(super) fn check(&self) -> Result<()> {
        let positive = |place: &str, x: Option<f64>| {
            x.map_or(Ok(()), |x| within(place, x, f64::MIN_POSITIVE, f64::MAX).map(drop))
        };
        count("iterations", self.iterations, 1, 10_000_000)?;
        self.estimator.check()?;
        positive("learning_rate", self.learning_rate)?;
        positive("clip", self.clip)?;
        within("decay", self.decay, 1e-3, 1.0).map(drop)
    }

    /// Optimises `initial` on the training instances of `problem`, by its score.
    pub(super) fn train(
        &self,
        problem: &Problem,
        initial: &Choice,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        initial.scored_player(problem, observer)?;
        self.from(problem, &Begun::at(initial), self.iterations, seed, observer)
    }

    /// The first so many iterations from there, and what is handed out after them.
    pub(super) fn from(
        &self,
        problem: &Problem,
        begun: &Begun,
        iterations: usize,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let initial = &begun.choice;
        let Climbed { at, rate, mut stopped } = self.climb(problem, begun, iterations, seed, observer)?;
        let At { w, tail, best, history, .. } = at;
        let last = initial.with_params(problem, &w)?;
        let (mut policy, mut setback) = (last.clone(), None);
        if self.average == Average::Tail && !history.is_empty() {
            policy = initial.with_params(problem, &tail.mean(&history, &w))?;
            if stopped.is_none() {
                let mut candidates = vec![(HandedOut::Tail, policy.clone()), (HandedOut::Last, last.clone())];
                if let Some((_, w)) = &best {
                    candidates.push((HandedOut::Best, initial.with_params(problem, w)?));
                }
                candidates.push((HandedOut::Start, initial.clone()));
                let chosen = candidates::choose(problem, candidates, self.estimator.runs(), seed, observer);
                match unless_stopped(chosen)? {
                    Ok(chosen) => (policy, setback) = chosen,
                    Err(reason) => stopped = Some(reason),
                }
            }
        }
        if stopped.is_none() {
            (policy, stopped) = polish(problem, policy, self.polish_runs(), self.start, seed, observer)?;
        }
        let stop_reason = stopped.unwrap_or(StopReason::Iterations);
        let iterates: Vec<&[f64]> = history.iter().filter_map(|record| record.params.as_deref()).collect();
        let found = troubles(problem, &policy, &self.frame(problem, begun).coordinates, &iterates);
        let troubles = setback.into_iter().chain(found).chain(Trouble::lost(&history)).collect();
        let trained = Trained::new(initial.clone(), policy, last);
        Ok(Trained { learning_rate: Some(rate.initial), history, stop_reason, troubles, ..trained })
    }

    /// The first so many iterations.
    pub(super) fn climb(
        &self,
        problem: &Problem,
        begun: &Begun,
        iterations: usize,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Climbed> {
        let (initial, frame) = (&begun.choice, self.frame(problem, begun));
        let mut reason = None;
        let mut stopped = |found: Result<Gradient>| -> Result<Option<Gradient>> {
            Ok(unless_stopped(found)?.map_err(|why| reason = Some(why)).ok())
        };
        let dim = initial.params().len();
        let whole =
            |found: &Gradient| found.estimate.len() == dim && found.variance_per_instance.len() == dim;
        let pilot = match (self.optimizer, self.learning_rate) {
            (Optimizer::Sgd, None) => stopped(kept::step(observer, "pilot", whole, |observer| {
                let key = Key::new(seed).child(PILOT);
                self.gradient_at(problem, initial, &frame, initial.params(), key, observer)
            }))?,
            _ => None,
        };
        let (rate, clip) = schedule(self, &frame, pilot.as_ref());
        let recalled = kept::recall(observer, CLIMB).filter(|at: &At| at.fits(iterations, dim));
        let mut at =
            recalled.unwrap_or_else(|| At::start(initial.params(), self.optimizer, clip, iterations));
        for i in at.history.len()..iterations {
            let key = Key::new(seed).child(TRAINING).child(i as u64);
            let found = self.gradient_at(problem, initial, &frame, &at.w, key, observer);
            let Some(estimate) = stopped(found)? else { break };
            let mean = estimate.mean();
            if at.best.as_ref().is_none_or(|(least, _)| estimate.bayes_regret < *least) {
                at.best = Some((estimate.bayes_regret, at.w.clone()));
            }
            let mut u = frame.of(&at.w);
            // A gradient that overflowed says nothing.
            if norm(&mean).is_finite() {
                at.climber.step(&mut u, &mean, rate.at(i, self.iterations));
            }
            at.w = frame.value(u);
            initial.project(problem, &mut at.w);
            at.tail.push(&at.w);
            let record = Iteration::new(i + 1, &at.w, Some(norm(&mean)));
            observer.iteration(&record, &at.w);
            at.history.push(record);
            observer.offer(CLIMB, &|| kept::bytes(&at));
        }
        if reason.is_none() {
            observer.keep(CLIMB, &|| kept::bytes(&at));
        }
        Ok(Climbed { at, rate, stopped: reason })
    }

    /// In which coordinates the parameters move: in the paper's ascent scales move as they are.
    fn frame(&self, problem: &Problem, begun: &Begun) -> Frame {
        let plain = |coordinate| match coordinate {
            Coordinate::Scale if self.optimizer == Optimizer::Sgd => Coordinate::Plain,
            other => other,
        };
        let coordinates = begun.choice.coordinates(problem).into_iter().map(plain).collect();
        Frame { coordinates, whitening: begun.whitening.clone() }
    }

    /// Runs on which sharper policies are tried: enough to tell a few per cent of regret apart on common instances.
    fn polish_runs(&self) -> usize {
        match self.start {
            Start::History => (4 * self.estimator.runs()).max(2000),
            Start::Identity => 4 * self.estimator.runs(),
        }
    }

    /// The gradient at `params`, in the coordinates of training.
    fn gradient_at(
        &self,
        problem: &Problem,
        initial: &Choice,
        frame: &Frame,
        params: &[f64],
        key: Key,
        observer: &mut dyn Observer,
    ) -> Result<Gradient> {
        let choice = initial.with_params(problem, params)?;
        let gradient = match self.gradient {
            GradientSource::Exact => Gradient::exact(&exact(problem, &choice, Split::Train, observer)?),
            GradientSource::Sampled => {
                let player = choice.player(problem, observer)?;
                self.estimator.estimate(&*player, problem, key, observer)?
            }
        };
        Ok(frame.gradient(params, gradient))
    }
}

/// What iterations leave.
pub(super) struct Climbed {
    pub at: At,
    pub rate: Rate,
    pub stopped: Option<StopReason>,
}

/// Where iterations are.
pub(super) struct At {
    /// The last iterate.
    pub w: Vec<f64>,
    climber: Climber,
    pub tail: Tail,
    /// The iterate whose batch had the least regret.
    pub best: Option<(f64, Vec<f64>)>,
    pub history: Vec<Iteration>,
}

kept!(At { w, climber, tail, best, history });
kept!(Tail { sum, seen, from });
kept!(Gradient { estimate, variance_per_instance, bayes_regret, instances });
kept!(Estimate { mean, std_error });

impl At {
    fn start(w: &[f64], optimizer: Optimizer, clip: Option<f64>, iterations: usize) -> Self {
        let climber = Climber::new(optimizer, clip, w.len());
        let tail = Tail::new(w.len(), iterations);
        Self { w: w.to_vec(), climber, tail, best: None, history: Vec::new() }
    }

    /// Is it for so many iterations and parameters?
    fn fits(&self, iterations: usize, dim: usize) -> bool {
        let best = self.best.as_ref().is_none_or(|(_, w)| w.len() == dim);
        let tail = self.tail.sum.len() == dim && self.tail.seen == self.history.len();
        let history = kept::are_records(&self.history, iterations, dim);
        best && tail && history && self.w.len() == dim && self.climber.fits(dim)
    }
}

/// The coordinates of training.
struct Frame {
    coordinates: Vec<Coordinate>,
    whitening: Option<Whitening>,
}

impl Frame {
    /// From parameters to coordinates.
    fn of(&self, params: &[f64]) -> Vec<f64> {
        let mut u: Vec<f64> = self.coordinates.iter().zip(params).map(|(c, &w)| c.of(w)).collect();
        if let Some(whitening) = &self.whitening {
            whitening.whiten(&mut u);
        }
        u
    }

    /// And back.
    fn value(&self, mut u: Vec<f64>) -> Vec<f64> {
        if let Some(whitening) = &self.whitening {
            whitening.restore(&mut u);
        }
        self.coordinates.iter().zip(&u).map(|(c, &u)| c.value(u)).collect()
    }

    /// A gradient by the parameters as one by the coordinates.
    fn gradient(&self, params: &[f64], gradient: Gradient) -> Gradient {
        let slopes: Vec<f64> = self.coordinates.iter().zip(params).map(|(c, &w)| c.slope(w)).collect();
        let mut gradient = gradient.in_coordinates(&slopes);
        if let Some(whitening) = &self.whitening {
            let mut mean = gradient.mean();
            whitening.gradient(&mut mean);
            for (estimate, mean) in gradient.estimate.iter_mut().zip(mean) {
                estimate.mean = mean;
            }
        }
        gradient
    }
}

/// The automatic rate: alpha = 1 / (c sqrt L), where no gradient is likely to be longer than c = |g| + 2 sqrt(v / m), by
/// a pilot batch. v is the mean of the variances, weighted by themselves: with one parameter its variance; with many,
/// noise is part of every gradient's length already, and the length varies only as much as one coordinate does.
fn schedule(ascent: &Ascent, frame: &Frame, pilot: Option<&Gradient>) -> (Rate, Option<f64>) {
    let Ascent { decay, clip, .. } = *ascent;
    let fixed = |initial| Rate { initial, end: 1.0, decay };
    match (ascent.learning_rate, ascent.optimizer, pilot) {
        (Some(rate), ..) => (fixed(rate), clip),
        (None, Optimizer::Sgd, Some(pilot)) => {
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
            (fixed(1.0 / (c * (ascent.iterations as f64).sqrt())), clip.or(Some(c)))
        }
        _ => {
            // A matrix has thousands of numbers that move together; a scale alone may have a factor of a hundred to go; and
            // a start from the history is near its goal.
            let alone = frame.coordinates.iter().all(|coordinate| *coordinate == Coordinate::Scale);
            let initial = match frame.whitening {
                Some(_) => 0.03,
                None if alone => 0.15,
                None => 0.06,
            };
            (Rate { initial, end: 0.1, decay }, clip)
        }
    }
}

/// Running mean of the iterates after the middle of the training.
pub(super) struct Tail {
    sum: Vec<f64>,
    seen: usize,
    from: usize,
}

impl Tail {
    pub fn new(dim: usize, iterations: usize) -> Self {
        Self { sum: vec![0.0; dim], seen: 0, from: iterations / 2 }
    }

    pub fn push(&mut self, w: &[f64]) {
        self.seen += 1;
        if self.seen > self.from {
            self.sum.iter_mut().zip(w).for_each(|(sum, x)| *sum += x);
        }
    }

    /// The last half of the iterates so far, if the records have them (training may have been interrupted);
    /// else those after the middle; else the last.
    pub fn mean(&self, history: &[Iteration], last: &[f64]) -> Vec<f64> {
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
    use crate::numeric::lanes::One;
    use crate::numeric::stream::Stream;
    use crate::simulate::{Baseline, Returns};

    /// The automatic c, from the mean of `m` normal gradients with that mean and variance in each coordinate.
    fn constant(pilot: &[f64], variance: f64, m: usize) -> f64 {
        let estimate = pilot.iter().map(|&mean| Estimate { mean, std_error: 0.0 }).collect();
        let variance_per_instance = vec![variance; pilot.len()];
        let pilot = Gradient { estimate, variance_per_instance, bayes_regret: 0.0, instances: m };
        let estimator = Estimator { baseline: Baseline::None, returns: Returns::Mean, batch_size: m };
        let ascent = Ascent {
            gradient: GradientSource::Sampled,
            start: Start::Identity,
            estimator,
            iterations: 1,
            optimizer: Optimizer::Sgd,
            learning_rate: None,
            clip: None,
            decay: 1.0,
            average: Average::Tail,
        };
        let frame = Frame { coordinates: Vec::new(), whitening: None };
        1.0 / schedule(&ascent, &frame, Some(&pilot)).0.initial
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
