//! How far to climb: parts of the training data that are kept aside judge what was learned on the rest.
//!
//! Rows and past problems are a sample. What fits their chance is worth nothing on others, and below some hundreds of them
//! an ascent with hundreds of numbers can be worse than two numbers that were searched for. So the whole training runs on
//! all but a fold of the training data, for several folds, and the folds compare, on common instances: the policy that
//! treats all features alike; the start; and the means of the last iterates after an eighth, a quarter, half and all of
//! the iterations. The simplest whose regret is within one standard error (over folds) of the least is what training on all
//! the data will go for (Breiman et al., 1984). Without contexts there is no policy that treats all features alike.
//!
//! Where nothing is held out, the rows are all there is: nothing is kept aside.

use super::ascent::Ascent;
use super::kept::{self, Kept, kept};
use super::start::{self, Begun, Start};
use super::trouble::{HandedOut, Trouble};
use crate::error::{Error, ErrorKind, Result};
use crate::numeric::stream::Key;
use crate::observe::{Crew, Iteration, Observer, Progress, go_on};
use crate::policy::Choice;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Player, Task};
use crate::stop::StopReason;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Apart from all other randomness of a training.
const VALIDATION: u64 = 11;
/// Nanoseconds that the judgement of a fold may take on one core, about; and its instances.
const PATIENCE: f64 = 3e9;
const INSTANCES: (usize, usize) = (50, 500);

/// What training on all the data goes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    which: HandedOut,
    /// Iterations are divided by this.
    divisor: usize,
}

/// Simplest first.
const ROUTES: [Route; 6] = [
    Route { which: HandedOut::Plain, divisor: 0 },
    Route { which: HandedOut::Start, divisor: 0 },
    Route { which: HandedOut::Tail, divisor: 8 },
    Route { which: HandedOut::Tail, divisor: 4 },
    Route { which: HandedOut::Tail, divisor: 2 },
    Route { which: HandedOut::Tail, divisor: 1 },
];

impl Route {
    /// All the way.
    const WHOLE: Self = ROUTES[ROUTES.len() - 1];

    pub fn which(self) -> HandedOut {
        self.which
    }

    /// Of so many; an ascent has one at least.
    pub fn iterations(self, all: usize) -> usize {
        all.checked_div(self.divisor).map_or(0, |part| part.max(1))
    }

    /// What it says of the training.
    pub fn trouble(self, all: usize) -> Option<Trouble> {
        (self != Self::WHOLE)
            .then(|| Trouble::Unconfirmed { instead: self.which, iterations: self.iterations(all) })
    }
}

/// How far the folds of the training data would go.
pub(super) fn route(
    ascent: &Ascent,
    problem: &Problem,
    initial: &Choice,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Route> {
    let routes = if ascent.start == Start::History { &ROUTES[..] } else { &ROUTES[1..] };
    let (folds, mut regrets) = (problem.folds(), Vec::new());
    for (i, part) in folds.iter().enumerate() {
        go_on(observer, "trying on folds of the training data", "folds", i as u64, folds.len() as u64)?;
        let each = |judged: &Option<Vec<f64>>| judged.as_ref().is_none_or(|it| it.len() == routes.len());
        let judged = kept::step(observer, &format!("fold {}", i + 1), each, |observer| {
            on_fold(ascent, routes, problem, part, initial, seed, observer)
        })?;
        let Some(judged) = judged else { return Ok(Route::WHOLE) };
        regrets.push(judged);
    }
    Ok(simplest(&regrets).map_or(Route::WHOLE, |best| routes[best]))
}

/// The regret of each route on a fold that nothing was learned from; none where the past says nothing.
fn on_fold(
    ascent: &Ascent,
    routes: &[Route],
    problem: &Problem,
    part: &Problem,
    initial: &Choice,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Vec<f64>>> {
    let (begun, plain) = match ascent.start {
        Start::History => {
            (start::history(part, initial, seed, observer)?, start::plain(part, initial, seed, observer)?)
        }
        // A start may depend on the data: on a fold it is the fold's.
        Start::Identity => (Some(Begun::at(&initial.restarted(problem, part)?)), None),
    };
    let Some(begun) = begun else { return Ok(None) };
    let plain = plain.as_ref().unwrap_or(&begun);
    let mut marks = Marks::new(ascent.iterations, begun.choice.params().len(), observer);
    let climbed = ascent.climb(part, &begun, ascent.iterations, seed, &mut marks)?;
    if let Some(reason) = climbed.stopped {
        return Err(Error::of("", ErrorKind::Stopped(reason)));
    }
    let candidate = |route: &Route| match route.which {
        HandedOut::Plain => Ok(plain.choice.clone()),
        HandedOut::Start => Ok(begun.choice.clone()),
        _ => begun.choice.with_params(part, &marks.tail(route.iterations(ascent.iterations))),
    };
    let candidates = routes.iter().map(candidate).collect::<Result<Vec<_>>>()?;
    judged(part, &candidates, seed, observer).map(Some)
}

/// The regret of each candidate, played without chance, on the fold that nothing was learned from.
fn judged(part: &Problem, candidates: &[Choice], seed: u64, observer: &mut dyn Observer) -> Result<Vec<f64>> {
    let player = |choice: &Choice| choice.hard(part)?.player(part, observer);
    let players = candidates.iter().map(player).collect::<Result<Vec<_>>>()?;
    let players: Vec<&dyn Player> = players.iter().map(|player| &**player).collect();
    let job = Job::new(part, Key::new(seed).child(VALIDATION), Split::HeldOut, Task::Evaluate);
    let instances = ((PATIENCE / part.cost()) as usize / players.len()).clamp(INSTANCES.0, INSTANCES.1);
    batch::means(&players, &job, instances, Quantity::Regret, observer)
}

/// The first candidate whose mean regret over folds is within one standard error of the least, by paired differences; none
/// if there are no folds.
fn simplest(regrets: &[Vec<f64>]) -> Option<usize> {
    let folds = regrets.len() as f64;
    let mean = |i: usize| regrets.iter().map(|fold| fold[i]).sum::<f64>() / folds;
    let best = (0..regrets.first()?.len()).rev().min_by(|&i, &j| mean(i).total_cmp(&mean(j)))?;
    let close = |&i: &usize| {
        let behind = mean(i) - mean(best);
        let squares: f64 = regrets.iter().map(|fold| (fold[i] - fold[best] - behind).powi(2)).sum();
        let error = if folds > 1.0 { (squares / (folds * (folds - 1.0))).sqrt() } else { 0.0 };
        behind <= error
    };
    (0..best).find(close).or(Some(best))
}

/// Sums of the iterates so far, after as many of them as a route begins or ends with.
struct Marks<'a> {
    sums: Sums,
    observer: &'a mut dyn Observer,
}

/// The sum now, after so many, and the sums at marks.
struct Sums {
    seen: usize,
    now: Vec<f64>,
    at: Vec<(usize, Vec<f64>)>,
}

kept!(Sums { seen, now, at });

impl<'a> Marks<'a> {
    fn new(iterations: usize, dim: usize, observer: &'a mut dyn Observer) -> Self {
        let ends = ROUTES.iter().map(|route| route.iterations(iterations));
        let mut marks: Vec<usize> = ends.flat_map(|end| [end / 2, end]).collect();
        marks.sort_unstable();
        marks.dedup();
        let at = marks.into_iter().map(|mark| (mark, vec![0.0; dim])).collect();
        Self { sums: Sums { seen: 0, now: vec![0.0; dim], at }, observer }
    }

    /// The mean of the last half of the first so many iterates.
    fn tail(&self, iterations: usize) -> Vec<f64> {
        let (from, to) = (iterations / 2, iterations);
        let sum = |mark: usize| {
            self.sums.at.iter().find(|(at, _)| *at == mark).map_or(&self.sums.now, |(_, sum)| sum)
        };
        let count = (to - from).max(1) as f64;
        sum(to).iter().zip(sum(from)).map(|(to, from)| (to - from) / count).collect()
    }
}

impl Observer for Marks<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        self.observer.progress(progress)
    }

    fn iteration(&mut self, _: &Iteration, params: &[f64]) {
        let Sums { seen, now, at } = &mut self.sums;
        *seen += 1;
        now.iter_mut().zip(params).for_each(|(sum, x)| *sum += x);
        if let Some((_, sum)) = at.iter_mut().find(|(mark, _)| mark == seen) {
            sum.copy_from_slice(now);
        }
    }

    // What is offered here comes after an iteration, and goes with the sums then.
    fn offer(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.observer.offer(step, &|| self.sums.with(state()));
    }

    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.observer.keep(step, &|| self.sums.with(state()));
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        let (sums, state) = self.sums.apart(&self.observer.recall(step)?)?;
        self.sums = sums;
        Some(state)
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.observer.crew()
    }
}

impl Sums {
    fn with(&self, state: Vec<u8>) -> Vec<u8> {
        let mut all = kept::bytes(self);
        all.extend(state);
        all
    }

    /// Sums that fit in the place of these, and the state that they were kept with.
    fn apart(&self, mut all: &[u8]) -> Option<(Self, Vec<u8>)> {
        let sums = Self::take(&mut all)?;
        let marks = sums.at.iter().map(|(mark, sum)| (*mark, sum.len()));
        let fits = sums.now.len() == self.now.len()
            && marks.eq(self.at.iter().map(|(mark, sum)| (*mark, sum.len())));
        fits.then(|| (sums, all.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_that_cannot_be_told_from_the_best() {
        assert_eq!(simplest(&[]), None);
        // One fold: the best.
        assert_eq!(simplest(&[vec![9.0, 8.0, 7.0, 6.0, 7.0, 8.0]]), Some(3));
        // Differences that are the same in all folds count, however small; the others do not.
        let steady = [vec![10.1, 10.0, 9.9, 9.8, 9.7, 9.6], vec![20.1, 20.0, 19.9, 19.8, 19.7, 19.6]];
        assert_eq!(simplest(&steady), Some(5));
        let noisy = [vec![10.0, 9.0, 12.0, 8.0, 9.0, 11.0], vec![10.0, 12.0, 9.0, 11.0, 12.0, 9.5]];
        assert_eq!(simplest(&noisy), Some(0));
    }
}
