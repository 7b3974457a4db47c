//! What a table knows about one arm of one past problem, and one past problem of it.

use super::super::split::hash;

/// The largest mean of a [`Cell`], in size.
pub const LARGEST_CELL: f64 = 1e6;
/// The largest count of a [`Cell`].
pub const LARGEST_COUNT: f64 = 1e9;

/// What is known about one arm of one past problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Its mean reward.
    Mean(f64),
    /// Successes out of trials: the mean is redrawn from Beta(a + successes, b + failures) in each simulation, with (a, b)
    /// as [`Fit`](super::Fit) says. Without trials it is drawn from Beta(a, b).
    Counts {
        /// How often the reward was 1.
        successes: f64,
        /// How often the arm was pulled.
        trials: f64,
    },
    /// The mean and variance of so many rewards: the true mean is redrawn from its normal posterior in each simulation.
    Sample {
        /// The mean of the rewards.
        mean: f64,
        /// Their sample variance; 0 if it is not known, for which the pooled variance of the other cells stands in.
        variance: f64,
        /// How many rewards there were.
        count: f64,
    },
}

impl Cell {
    /// Refuses values that no arm can have, with a message that fits any place.
    pub fn check(self) -> Result<Self, String> {
        match self {
            Self::Mean(mean) => size(mean, LARGEST_CELL)?,
            Self::Counts { successes, trials } => {
                size(successes, LARGEST_COUNT)?;
                size(trials, LARGEST_COUNT)?;
                if successes < 0.0 || trials < successes || successes.fract() != 0.0 || trials.fract() != 0.0
                {
                    return Err(format!(
                        "found {successes} successes in {trials} trials, expected whole numbers with 0 <= successes <= \
                         trials"
                    ));
                }
            }
            Self::Sample { mean, variance, count } => {
                size(mean, LARGEST_CELL)?;
                size(variance, LARGEST_CELL * LARGEST_CELL)?;
                size(count, LARGEST_COUNT)?;
                if variance < 0.0 {
                    return Err(format!("found a variance of {variance}, expected 0 or more"));
                }
                if count < 1.0 || count.fract() != 0.0 {
                    return Err(format!(
                        "found a count of {count}, expected a whole number of at least 1: how many rewards the mean is of"
                    ));
                }
            }
        }
        Ok(self)
    }

    /// The mean reward that was seen; 0 without trials.
    pub fn mean(self) -> f64 {
        match self {
            Self::Mean(mean) | Self::Sample { mean, .. } => mean,
            Self::Counts { successes, trials } => successes / trials.max(1.0),
        }
    }

    /// What it adds to the hash of a row without an id.
    fn bytes(self) -> impl Iterator<Item = u8> {
        let (first, second, third) = match self {
            Self::Mean(mean) => (mean, None, None),
            Self::Counts { successes, trials } => (successes, Some(trials), None),
            Self::Sample { mean, variance, count } => (mean, Some(variance), Some(count)),
        };
        std::iter::once(first).chain(second).chain(third).flat_map(|x| x.to_bits().to_le_bytes())
    }
}

fn size(x: f64, largest: f64) -> Result<(), String> {
    if x.abs() <= largest {
        return Ok(());
    }
    Err(format!("found {x:?}, expected a finite number of at most {largest:e} in size"))
}

/// One past problem of a [`Table`](super::Table).
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// An identifier, which decides on which side of the split the row falls; without it, the cells decide.
    pub id: Option<String>,
    /// The line that the row stands in, if it came from a file: see [`TableBuilder::file`](super::TableBuilder::file).
    /// Without it, messages give the number of the row.
    pub line: Option<u64>,
    /// What is known about each arm.
    pub arms: Vec<Cell>,
}

impl Row {
    /// A row without identifier, from nowhere in particular.
    pub fn new(arms: Vec<Cell>) -> Self {
        Self { id: None, line: None, arms }
    }

    pub(super) fn hash(&self) -> u64 {
        match &self.id {
            Some(id) => hash(id.bytes()),
            None => hash(self.arms.iter().flat_map(|cell| cell.bytes())),
        }
    }
}
