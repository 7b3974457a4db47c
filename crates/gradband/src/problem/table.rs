//! The user's own past problems, split into a training and a held-out part.

mod beta;
mod build;
mod cell;
mod doubt;
mod fit;
mod normal;

#[cfg(test)]
mod tests;

pub use build::TableBuilder;
pub use cell::{Cell, LARGEST_CELL, LARGEST_COUNT, Row};
pub use doubt::Doubt;
pub use fit::{Belief, Fit, Fitted};

pub(super) use beta::{matching, moments};
pub(super) use fit::{mixture, sample_beta};

use super::Split;
use super::split::fold_of;
use crate::error::{Error, Place, Result, abridged, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;

/// A table of past problems, part of which can be held out for evaluation.
///
/// Its arms are the same in every past problem and have names, or they are *exchangeable*: each past problem has arms of
/// its own, as many as it likes, and an instance is some of them in random order (see [`TableBuilder::arms`]).
///
/// ```
/// use gradband::problem::{Cell, Row, Table};
/// use gradband::{Prior, Problem};
/// // Clicks of two designs in four past campaigns, 100 views each.
/// let clicks = [[12, 9], [30, 41], [5, 8], [22, 15]];
/// let cell = |clicks: i32| Cell::Counts { successes: f64::from(clicks), trials: 100.0 };
/// let rows = clicks.map(|campaign| Row::new(campaign.map(cell).to_vec())).to_vec();
/// let table = Table::new(vec!["old".into(), "new".into()], rows, 0.5)?;
/// let problem = Problem::bernoulli(Prior::table(table)).horizon(300).build()?;
/// assert_eq!(problem.arm_names().unwrap(), ["old", "new"]);
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    /// What messages call the file that the rows came from, if they came from one.
    file: Option<String>,
    arms: usize,
    /// None if arms are exchangeable.
    arm_names: Vec<String>,
    rows: Vec<Row>,
    train: Vec<u32>,
    held_out: Vec<u32>,
    /// What was said, if anything.
    fit: Option<Fit>,
    fitted: Fitted,
}

impl Table {
    /// The number of arms of an instance.
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// The names of the arms; none if they are exchangeable.
    pub fn arm_names(&self) -> &[String] {
        &self.arm_names
    }

    /// Whether an instance is so many arms of a past problem in random order, rather than the same arms each time.
    pub fn is_exchangeable(&self) -> bool {
        self.arm_names.is_empty()
    }

    /// Is a part kept from training?
    pub fn is_split(&self) -> bool {
        self.train != self.held_out
    }

    /// What the training part says about arms.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// The standard deviation of single rewards, pooled over the cells of the training part that tell their variance.
    pub fn noise_sd(&self) -> Option<f64> {
        self.fitted.noise.map(f64::sqrt)
    }

    /// The past problems on one side of the split.
    pub fn rows(&self, split: Split) -> impl ExactSizeIterator<Item = &Row> + Clone {
        self.side(split).iter().map(|&i| &self.rows[i as usize])
    }

    fn side(&self, split: Split) -> &[u32] {
        match split {
            Split::Train => &self.train,
            Split::HeldOut => &self.held_out,
        }
    }

    /// Draws an instance; the result is the past problem that it is of.
    pub(super) fn sample(&self, split: Split, stream: &mut Stream<One<f64>>, means: &mut [f64]) -> u32 {
        let rows = self.side(split);
        let cluster = (stream.uniform().0 * rows.len() as f64) as usize;
        let cells = &self.rows[rows[cluster] as usize].arms;
        if self.is_exchangeable() {
            self.sample_some(cells, stream, means);
        } else {
            for (mean, &cell) in means.iter_mut().zip(cells) {
                *mean = self.fitted.belief(cell).draw(stream);
            }
        }
        cluster as u32
    }

    /// As many cells as there are means, all choices and orders equally likely; if there are too few, arms that nobody has
    /// seen stand in.
    fn sample_some(&self, cells: &[Cell], stream: &mut Stream<One<f64>>, means: &mut [f64]) {
        let below = |stream: &mut Stream<One<f64>>, count: usize| {
            ((stream.uniform().0 * count as f64) as usize).min(count - 1)
        };
        // Selection sampling (Knuth, 3.4.2, algorithm S) needs no room beside the means.
        let mut chosen = 0;
        for (seen, &cell) in cells.iter().enumerate() {
            let wanted = means.len() - chosen;
            if wanted == 0 {
                break;
            }
            if cells.len() <= means.len() || below(stream, cells.len() - seen) < wanted {
                means[chosen] = self.fitted.belief(cell).draw(stream);
                chosen += 1;
            }
        }
        if let Some(unseen) = self.fitted.unseen() {
            for mean in &mut means[chosen..] {
                *mean = unseen.draw(stream);
            }
        }
        for last in (1..means.len()).rev() {
            means.swap(last, below(stream, last + 1));
        }
    }

    /// The same table with one fold of its training part held out in the place of what is; none if that would leave fewer
    /// than two past problems on a side, or nothing to fit a prior to.
    pub(super) fn fold(&self, fold: usize, folds: usize, unit_rewards: bool) -> Option<Self> {
        let (held_out, train): (Vec<u32>, Vec<u32>) =
            self.train.iter().partition(|&&i| fold_of(self.rows[i as usize].hash(), folds) == fold);
        if held_out.len().min(train.len()) < 2 {
            return None;
        }
        let mut part = Self { train, held_out, ..self.clone() };
        part.refit(unit_rewards).ok()?;
        Some(part)
    }

    /// Whether all that is known are means: then what they are fitted by depends on the rewards.
    pub(super) fn has_means_alone(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.arms).all(|cell| matches!(cell, Cell::Mean(_)))
    }

    /// Fits it again, now that it is known whether rewards are in [0, 1].
    pub(super) fn refit(&mut self, unit_rewards: bool) -> Result<()> {
        self.fitted = self.fit_to(Some(unit_rewards))?;
        Ok(())
    }

    fn fit_to(&self, unit_rewards: Option<bool>) -> Result<Fitted> {
        let fitted = Fitted::of(self.fit, &self.rows, self.rows(Split::Train), unit_rewards)?;
        let lacking = self.is_exchangeable() && self.rows.iter().any(|row| row.arms.len() < self.arms);
        if lacking && fitted.unseen().is_none() {
            let message =
                "\"flat\" says nothing about arms that a past problem lacks; use \"normal\", or fewer arms";
            return Err(Error::new("fit", message));
        }
        Ok(fitted)
    }

    /// Rewards in [0, 1] need means in [0, 1].
    pub(super) fn check_unit_means(&self) -> Result<()> {
        for (row, i) in self.rows.iter().zip(1..) {
            for (arm, cell) in row.arms.iter().enumerate() {
                match *cell {
                    Cell::Counts { .. } => {}
                    Cell::Mean(mean) if 1.0 < mean && mean <= 100.0 => {
                        let message = format!(
                            "found {mean:?}, expected a number from 0 to 1; divide percentages by 100, or write them as {mean:?}%"
                        );
                        return Err(Error::new(self.at_arm(row, i, arm), message));
                    }
                    Cell::Mean(mean) => {
                        within(self.at_arm(row, i, arm), mean, 0.0, 1.0)?;
                    }
                    Cell::Sample { .. } => {
                        let message = "found mean, variance and count, which go with kind = \"gaussian\"; give successes and \
                                       trials, or the mean alone";
                        return Err(Error::new(self.at_arm(row, i, arm), message));
                    }
                }
            }
        }
        Ok(())
    }

    /// Something is wrong with all rows together.
    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::new(self.file.as_ref().map_or(Place::key("rows"), Place::file), message)
    }

    /// Where the i-th row stands.
    fn place(&self, row: &Row, i: usize) -> Place {
        match (&self.file, row.line) {
            (Some(file), Some(line)) => Place::file(file).line(line),
            (Some(file), None) => Place::file(file).then(Place::key(format!("row {i}"))),
            (None, _) => Place::key(format!("row {i}")),
        }
    }

    fn at_arm(&self, row: &Row, i: usize, arm: usize) -> Place {
        let arm = match self.arm_names.get(arm) {
            Some(name) => format!("arm '{}'", abridged(name)),
            None => format!("arm {}", arm + 1),
        };
        self.place(row, i).then(Place::key(arm))
    }
}
