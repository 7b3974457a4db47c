//! Baselines: what is subtracted from a run's returns so that the gradient estimate varies less (section 4.3).
//!
//! Every one is a stream of reference rewards r'_s with b_t = sum over s >= t of r'_s. It may share the instance
//! and the reward table with the run it serves, never the run's own action randomness.

use crate::{Error, Result};
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
    ("loo", "leave-one-out: each of M runs against the mean of the others (--runs-per-instance, default 8)"),
];

/// M of leave-one-out, unless the user says otherwise.
pub const DEFAULT_RUNS: usize = 8;
/// The largest M: more helps nobody, and state grows with it.
pub const MAX_RUNS: usize = 1024;

impl Baseline {
    /// The baseline of that name; `runs` is M, for leave-one-out alone.
    pub fn new(name: &str, runs: Option<usize>) -> Result<Self> {
        if let Some(runs) = runs {
            let place = "runs-per-instance";
            if name != "loo" {
                return Err(Error::new(place, format!("goes with baseline loo, not with {name}")));
            }
            if !(2..=MAX_RUNS).contains(&runs) {
                return Err(Error::new(place, format!("found {runs}, expected 2 to {MAX_RUNS}")));
            }
        }
        match name {
            "none" => Ok(Self::None),
            "opt" => Ok(Self::Opt),
            "self" => Ok(Self::SelfPlay),
            "loo" => Ok(Self::LeaveOneOut(runs.unwrap_or(DEFAULT_RUNS))),
            other => Err(Error::unknown("baseline", other, BASELINES.iter().map(|&(name, _)| name))),
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
}
