//! Baselines: what is subtracted from a run's returns so that the gradient estimate varies less (section 4.3).
//!
//! Every one is a stream of reference rewards r'_s with b_t = sum over s >= t of r'_s. It may share the instance
//! and the reward table with the run it serves, never the run's own action randomness.

use crate::error::{Error, Result, count};
use crate::numeric::lanes::Real;
use serde::{Deserialize, Serialize};

/// Where the reference rewards come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Nothing is subtracted.
    None,
    /// The rewards of the best arm (equation "baseline opt").
    Opt,
    /// The rewards of an independent run of the same policy; only the first run is differentiated.
    SelfPlay,
    /// M runs, each with the mean of the others as its reference, all differentiated.
    LeaveOneOut(usize),
}

/// What a run's return is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returns {
    /// The rewards as drawn: all that the paper assumes.
    Realized,
    /// The means of the pulled arms, which a simulator knows: the same expectation, less noise.
    Mean,
}

/// The baselines by name.
pub const BASELINES: [(&str, &str); 4] = [
    ("none", "nothing is subtracted (one run per instance)"),
    ("opt", "the best arm's rewards (one run per instance)"),
    ("self", "an independent run of the same policy (two runs per instance)"),
    ("loo", "leave-one-out: each of M runs (runs_per_instance, default 8) against the mean of the others"),
];

impl Baseline {
    /// M of leave-one-out, unless the user says otherwise.
    pub const DEFAULT_RUNS: usize = 8;
    /// The largest M: more helps nobody, and state grows with it.
    pub const MAX_RUNS: usize = 1024;

    /// The baseline of that name; `runs` is M, for leave-one-out alone.
    pub fn new(name: &str, runs: Option<usize>) -> Result<Self> {
        if let Some(runs) = runs {
            if name != "loo" {
                let message = format!("goes with baseline loo, not with {name}");
                return Err(Error::new("runs_per_instance", message));
            }
            Self::LeaveOneOut(runs).check()?;
        }
        match name {
            "none" => Ok(Self::None),
            "opt" => Ok(Self::Opt),
            "self" => Ok(Self::SelfPlay),
            "loo" => Ok(Self::LeaveOneOut(runs.unwrap_or(Self::DEFAULT_RUNS))),
            other => Err(Error::unknown("baseline", other, BASELINES.iter().map(|&(name, _)| name))),
        }
    }

    /// Refuses a number of runs with which nothing is left to compare, or too much.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::LeaveOneOut(runs) => count("runs_per_instance", runs, 2, Self::MAX_RUNS).map(drop),
            _ => Ok(()),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Opt => "opt",
            Self::SelfPlay => "self",
            Self::LeaveOneOut(_) => "loo",
        }
    }

    /// How often an instance is played.
    pub fn runs(self) -> usize {
        match self {
            Self::None | Self::Opt => 1,
            Self::SelfPlay => 2,
            Self::LeaveOneOut(runs) => runs,
        }
    }

    /// Is run `r` of an instance differentiated?
    pub(crate) fn scores(self, r: usize) -> bool {
        r == 0 || matches!(self, Self::LeaveOneOut(_))
    }

    /// What the returns of one round are compared with. `value` is the return of a run, `optimal` that of the best arm.
    #[inline(always)]
    pub(crate) fn reference<R: Real>(
        self,
        centre: Centre,
        value: impl Fn(usize) -> R,
        optimal: impl FnOnce() -> R,
    ) -> Reference<R> {
        match self {
            Self::None => Reference::Fixed(value(0).zero()),
            Self::Opt => Reference::Fixed(optimal()),
            Self::SelfPlay => Reference::Fixed(value(1)),
            Self::LeaveOneOut(runs) => {
                let mut total = value(0);
                for r in 1..runs {
                    total = total + value(r);
                }
                match centre {
                    Centre::Sum => Reference::Others { runs: runs as f64, total },
                    Centre::Mean => Reference::Fixed(total / total.lit(runs as f64)),
                }
            }
        }
    }

    /// What the sum over differentiated runs of excess times score is divided by to be the estimate.
    pub(crate) fn divisor(self, centre: Centre) -> f64 {
        match (self, centre) {
            (Self::LeaveOneOut(runs), Centre::Sum) => (runs * (runs - 1)) as f64,
            (Self::LeaveOneOut(runs), Centre::Mean) => (runs - 1) as f64,
            _ => 1.0,
        }
    }
}

/// From where leave-one-out measures returns. A return minus the mean of the others is M / (M - 1) times that return minus
/// the mean of all, so that either will do; but they round differently, and a seed keeps its bits only if an engine keeps
/// its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Centre {
    /// M times the return minus the sum of all: no division in a round.
    Sum,
    /// The return minus the mean of all.
    Mean,
}

/// The reference of one round, lane by lane.
#[derive(Clone, Copy)]
pub(crate) enum Reference<R> {
    /// The same for all differentiated runs.
    Fixed(R),
    /// All returns together, for [`Centre::Sum`].
    Others {
        /// M.
        runs: f64,
        /// The sum of all returns.
        total: R,
    },
}

impl<R: Real> Reference<R> {
    /// Return minus reference, up to the factor that [`Baseline::divisor`] takes away.
    #[inline(always)]
    pub fn excess(self, own: R) -> R {
        match self {
            Self::Fixed(reference) => own - reference,
            Self::Others { runs, total } => own.fma(own.lit(runs), -total),
        }
    }
}

/// Turns the returns of an instance's runs, one run after the other, into advantages: for each round the sum, from
/// there on, of return minus reference, over the estimate's divisor and times a weight. For engines that need whole runs
/// before they can differentiate; the others stream.
///
/// `optimal` has the best arm's returns; where they are measured from the best mean it may be empty.
#[inline(always)]
pub(crate) fn advantages<R: Real>(
    baseline: Baseline,
    centre: Centre,
    weight: R,
    optimal: &[R],
    values: &mut [R],
) {
    let runs = baseline.runs();
    let horizon = values.len() / runs;
    let weight = weight * weight.lit(1.0 / baseline.divisor(centre));
    let mut ahead = vec![weight.zero(); runs];
    for t in (0..horizon).rev() {
        let best = || optimal.get(t).copied().unwrap_or(weight.zero());
        let reference = baseline.reference(centre, |r| values[r * horizon + t], best);
        for (r, ahead) in ahead.iter_mut().enumerate() {
            *ahead = *ahead + reference.excess(values[r * horizon + t]);
        }
        for (r, &ahead) in ahead.iter().enumerate() {
            values[r * horizon + t] = ahead * weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::lanes::One;

    /// The definition, for three runs of four rounds: sums from each round on, references of each kind.
    #[test]
    fn advantages_are_returns_ahead_minus_references_ahead() {
        let runs = [[1.0, 0.0, 2.0, 0.5], [0.0, 1.0, 1.0, 3.0], [2.0, 2.0, 0.0, 1.0]];
        let best = [2.0, 2.0, 2.0, 2.0];
        let ahead = |values: &[f64], t: usize| values[t..].iter().sum::<f64>();
        for baseline in [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(3)] {
            for centre in [Centre::Sum, Centre::Mean] {
                let m = baseline.runs();
                let mut values: Vec<_> = runs[..m].iter().flatten().map(|&x| One(x)).collect();
                advantages(baseline, centre, One(0.5), &best.map(One), &mut values);
                for (r, t) in (0..m).filter(|&r| baseline.scores(r)).flat_map(|r| (0..4).map(move |t| (r, t)))
                {
                    let others = (0..3).filter(|&other| other != r).map(|other| ahead(&runs[other], t));
                    let reference = match baseline {
                        Baseline::None => 0.0,
                        Baseline::Opt => ahead(&best, t),
                        Baseline::SelfPlay => ahead(&runs[1], t),
                        Baseline::LeaveOneOut(_) => others.sum::<f64>() / 2.0,
                    };
                    let mean = if m == 3 { 3.0 } else { 1.0 };
                    let expected = 0.5 * (ahead(&runs[r], t) - reference) / mean;
                    let off = (values[r * 4 + t].0 - expected).abs();
                    assert!(off < 1e-12, "{baseline:?}, {centre:?}, run {r}, round {t}");
                }
            }
        }
    }
}
