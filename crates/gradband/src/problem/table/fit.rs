//! From the training part of a table to what it says about an arm: the prior over arms, and with it what a simulation draws
//! an arm's mean from.

use super::{Cell, Doubt, Row, beta, normal};
use crate::error::{Error, Result};
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use std::fmt::{self, Display, Formatter};

/// How the prior over the arms of a table is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The Beta distribution under which the counts of the training part are most likely; of means alone, the one with
    /// their mean and variance.
    Beta,
    /// The normal distribution under which the measured means of the training part are most likely.
    Normal,
    /// Nothing is learned from the other cells: Beta(1, 1), and no shrinkage of measured means. For rates of a per cent and
    /// a few hundred trials it makes a world whose means are far too high.
    Flat,
}

impl Fit {
    /// All of them, as a spec names them.
    pub const NAMES: [&'static str; 3] = ["beta", "normal", "flat"];

    /// The one of that name.
    pub fn named(name: &str) -> Result<Self> {
        let all = [Self::Beta, Self::Normal, Self::Flat];
        let found = all.into_iter().find(|fit| fit.name() == name);
        found.ok_or_else(|| Error::unknown("fit", name, Self::NAMES))
    }

    /// Its name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Beta => "beta",
            Self::Normal => "normal",
            Self::Flat => "flat",
        }
    }
}

/// A distribution of an arm's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Belief {
    /// The mean is known.
    Known(f64),
    /// Beta(a, b).
    Beta(f64, f64),
    /// Normal.
    Normal {
        /// Its centre.
        mean: f64,
        /// Its variance.
        variance: f64,
    },
}

impl Belief {
    #[inline(always)]
    pub(super) fn draw(self, stream: &mut Stream<One<f64>>) -> f64 {
        match self {
            Self::Known(mean) => mean,
            Self::Beta(a, b) => sample_beta(stream, a, b),
            Self::Normal { mean, variance } => stream.normal_pair().0.0.mul_add(variance.sqrt(), mean),
        }
    }

    /// Its mean and variance.
    pub fn moments(self) -> (f64, f64) {
        match self {
            Self::Known(mean) => (mean, 0.0),
            Self::Beta(a, b) => beta::moments((a, b)),
            Self::Normal { mean, variance } => (mean, variance),
        }
    }
}

/// For example `Beta(2.1, 198)`.
impl Display for Belief {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            Self::Known(mean) => write!(f, "{mean}"),
            Self::Beta(a, b) => write!(f, "Beta({}, {})", Digits(a), Digits(b)),
            Self::Normal { mean, variance } => {
                write!(f, "Normal({}, {})", Digits(mean), Digits(variance.sqrt()))
            }
        }
    }
}

/// Three digits are more than a fit is good for.
struct Digits(f64);

impl Display for Digits {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let whole = self.0.abs().max(1e-3).log10().floor() as i32;
        write!(f, "{:.*}", (2 - whole).clamp(0, 6) as usize, self.0)
    }
}

/// Beta(1, 1) is uniform, and the most common prior.
#[inline(always)]
pub(in crate::problem) fn sample_beta(stream: &mut Stream<One<f64>>, a: f64, b: f64) -> f64 {
    if a == 1.0 && b == 1.0 { stream.uniform().0 } else { stream.beta(One(a), One(b)).0 }
}

/// What the training part of a table says about arms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    pub(super) fit: Fit,
    pub(super) unseen: Option<Belief>,
    pub(super) doubt: Option<Doubt>,
    /// Of single rewards, where cells tell their variance.
    pub(super) noise: Option<f64>,
    pub(super) moments: (f64, f64),
}

/// Which kinds of cells a table has.
#[derive(Clone, Copy, Default)]
struct Kinds {
    counts: bool,
    samples: bool,
    /// A mean below 0 or above 1.
    beyond: bool,
}

impl Kinds {
    fn of(rows: &[Row]) -> Self {
        let mut kinds = Self::default();
        for cell in rows.iter().flat_map(|row| &row.arms) {
            match cell {
                Cell::Counts { .. } => kinds.counts = true,
                Cell::Sample { .. } => kinds.samples = true,
                Cell::Mean(mean) => kinds.beyond |= !(0.0..=1.0).contains(mean),
            }
        }
        kinds
    }

    /// Whether means are fitted as Betas, if nobody says it. Without knowing the rewards, the means decide.
    fn unit(self, unit_rewards: Option<bool>) -> bool {
        !self.samples && (self.counts || unit_rewards.unwrap_or(!self.beyond))
    }
}

impl Fitted {
    /// Before anything is fitted.
    pub(super) const NOTHING: Self =
        Self { fit: Fit::Flat, unseen: None, doubt: None, noise: None, moments: (0.0, 0.0) };

    /// `fit` if it is said, else what goes with the cells, or with the rewards where all that is known are means.
    pub(super) fn of<'a>(
        fit: Option<Fit>,
        all: &'a [Row],
        train: impl Iterator<Item = &'a Row>,
        unit_rewards: Option<bool>,
    ) -> Result<Self> {
        let kinds = Kinds::of(all);
        let unit = kinds.unit(unit_rewards);
        let refuse = |message: &str| Err(Error::new("fit", message));
        if kinds.counts && kinds.samples {
            return Err(Error::new(
                "rows",
                "have counts and samples; expected the same kind of cell for all arms",
            ));
        }
        match fit {
            Some(Fit::Beta) if kinds.samples => {
                return refuse(
                    "\"beta\" goes with successes and trials; use \"normal\" or \"flat\" with mean, variance, count",
                );
            }
            // In a problem with rewards in [0, 1] such a mean is refused where it stands.
            Some(Fit::Beta) if kinds.beyond && unit_rewards == Some(false) => {
                return refuse("\"beta\" needs means between 0 and 1; use \"normal\" or \"flat\"");
            }
            Some(Fit::Normal) if kinds.counts => {
                return refuse(
                    "\"normal\" goes with means; use \"beta\" or \"flat\" with successes and trials",
                );
            }
            Some(Fit::Normal) if unit_rewards == Some(true) => {
                return refuse(
                    "\"normal\" leaves [0, 1]; use \"beta\" or \"flat\", or problem kind = \"gaussian\"",
                );
            }
            _ => {}
        }
        let fit = fit.unwrap_or(if unit { Fit::Beta } else { Fit::Normal });
        let cells: Vec<Cell> = train.flat_map(|row| &row.arms).copied().collect();
        Ok(Self::to(fit, unit, &cells))
    }

    fn to(fit: Fit, unit: bool, cells: &[Cell]) -> Self {
        let means: Vec<f64> = cells.iter().map(|cell| cell.mean()).collect();
        let (mean, variance) = mean_and_variance(&means);
        let noise = pooled_variance(cells);
        let mut fitted = Self { fit, unseen: None, doubt: None, noise, moments: (mean, variance) };
        let counted = cells.iter().filter_map(|cell| match *cell {
            Cell::Counts { successes, trials } => Some((successes, trials)),
            _ => None,
        });
        let counted: Vec<(f64, f64)> = counted.collect();
        fitted.unseen = match fit {
            Fit::Beta if counted.is_empty() => {
                let (a, b) = beta::matching(mean, variance);
                Some(Belief::Beta(a, b))
            }
            Fit::Beta => {
                let ((a, b), doubt) = beta::most_likely(&counted);
                fitted.doubt = doubt;
                Some(Belief::Beta(a, b))
            }
            Fit::Normal => {
                let measured: Vec<(f64, f64)> =
                    cells.iter().map(|cell| (cell.mean(), fitted.error(*cell))).collect();
                let (mean, variance) = match measured.iter().any(|cell| cell.1 > 0.0) {
                    true => normal::most_likely(&measured),
                    false => (mean, variance),
                };
                fitted.doubt = (variance == 0.0).then_some(Doubt::Equal);
                Some(Belief::Normal { mean, variance })
            }
            Fit::Flat => unit.then_some(Belief::Beta(1.0, 1.0)),
        };
        fitted.moments = match (fit, fitted.unseen) {
            (Fit::Beta | Fit::Normal, Some(unseen)) => unseen.moments(),
            // The world that is played: each cell as it is redrawn.
            _ => mixture(cells.iter().map(|cell| (fitted.belief(*cell).moments(), 1.0))),
        };
        fitted
    }

    /// The way in which it was fitted.
    pub fn fit(&self) -> Fit {
        self.fit
    }

    /// Whether nothing was learned from other cells.
    pub fn is_flat(&self) -> bool {
        self.fit == Fit::Flat
    }

    /// What is believed of an arm that was never pulled. Nothing is of measured means under [`Fit::Flat`].
    pub fn unseen(&self) -> Option<Belief> {
        self.unseen
    }

    /// Mean and variance of an arm's mean in the world that is played.
    pub fn moments(&self) -> (f64, f64) {
        self.moments
    }

    /// Why it may not be what it seems.
    pub fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// What a simulation draws the mean of an arm from of which this is known.
    #[inline(always)]
    pub fn belief(&self, cell: Cell) -> Belief {
        match (cell, self.unseen) {
            (Cell::Mean(mean), _) => Belief::Known(mean),
            (Cell::Counts { successes, trials }, Some(Belief::Beta(a, b))) => {
                Belief::Beta(a + successes, b + trials - successes)
            }
            (Cell::Counts { successes, trials }, _) => {
                Belief::Beta(1.0 + successes, 1.0 + trials - successes)
            }
            (Cell::Sample { mean, .. }, Some(Belief::Normal { mean: centre, variance })) => {
                let error = self.error(cell);
                let share = if error == 0.0 { 1.0 } else { variance / (variance + error) };
                Belief::Normal { mean: centre + share * (mean - centre), variance: share * error }
            }
            (Cell::Sample { mean, .. }, _) => Belief::Normal { mean, variance: self.error(cell) },
        }
    }

    /// The variance of a measured mean around the true one. A variance of few rewards or of 0 says little: then that of all
    /// cells together.
    fn error(&self, cell: Cell) -> f64 {
        match cell {
            Cell::Sample { variance, count, .. } if variance > 0.0 && count > 1.0 => variance / count,
            Cell::Sample { count, .. } => self.noise.unwrap_or(0.0) / count,
            _ => 0.0,
        }
    }
}

/// The variance of single rewards over all cells that tell it.
fn pooled_variance(cells: &[Cell]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for cell in cells {
        if let Cell::Sample { variance, count, .. } = *cell
            && variance > 0.0
        {
            squares += (count - 1.0) * variance;
            freedom += count - 1.0;
        }
    }
    (squares > 0.0).then(|| squares / freedom)
}

fn mean_and_variance(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, squares / (n - 1.0).max(1.0))
}

/// Mean and variance of a mixture of distributions with these means, variances and weights.
pub(in crate::problem) fn mixture(parts: impl Iterator<Item = ((f64, f64), f64)> + Clone) -> (f64, f64) {
    let total: f64 = parts.clone().map(|(_, weight)| weight).sum();
    let mean = parts.clone().map(|((mean, _), weight)| weight * mean).sum::<f64>() / total;
    let spread = parts.map(|((center, variance), weight)| weight * (variance + (center - mean).powi(2)));
    (mean, spread.sum::<f64>() / total)
}
