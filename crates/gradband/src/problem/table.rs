//! The user's own past instances, split into a training and a held-out part.

use super::split::{check_holdout, hash, split};
use super::{MAX_ARMS, Split};
use crate::error::{Error, Place, Result, abridged, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use std::collections::HashSet;

/// The largest mean or count of a [`Cell`], in size.
pub const LARGEST_CELL: f64 = 1e6;

/// What is known about one arm of one past instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Its mean reward.
    Mean(f64),
    /// Successes out of trials: the mean is redrawn from Beta(1 + successes, 1 + failures) in each simulation.
    Counts {
        /// How often the reward was 1.
        successes: f64,
        /// How often the arm was pulled.
        trials: f64,
    },
}

impl Cell {
    /// Refuses values that no arm can have, with a message that fits any place.
    pub fn check(self) -> std::result::Result<Self, String> {
        match self {
            Self::Mean(mean) => size(mean)?,
            Self::Counts { successes, trials } => {
                size(successes)?;
                size(trials)?;
                if successes < 0.0 || trials < successes || successes.fract() != 0.0 || trials.fract() != 0.0
                {
                    return Err(format!(
                        "found {successes} successes in {trials} trials, expected whole numbers with successes <= \
                         trials"
                    ));
                }
            }
        }
        Ok(self)
    }

    /// What it adds to the hash of a row without an id.
    fn bytes(self) -> impl Iterator<Item = u8> {
        let (first, second) = match self {
            Self::Mean(mean) => (mean, None),
            Self::Counts { successes, trials } => (successes, Some(trials)),
        };
        std::iter::once(first).chain(second).flat_map(|x| x.to_bits().to_le_bytes())
    }
}

fn size(x: f64) -> std::result::Result<(), String> {
    if x.abs() <= LARGEST_CELL {
        return Ok(());
    }
    Err(format!("found {x:?}, expected a finite number of at most {LARGEST_CELL:e} in size"))
}

/// One past instance of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// An identifier, which decides on which side of the split the row falls; without it, the cells decide.
    pub id: Option<String>,
    /// The line that the row stands in, if it came from a file: see [`Table::from_file`]. Without it, messages give the
    /// number of the row.
    pub line: Option<u64>,
    /// What is known about each arm.
    pub arms: Vec<Cell>,
}

impl Row {
    /// A row without identifier, from nowhere in particular.
    pub fn new(arms: Vec<Cell>) -> Self {
        Self { id: None, line: None, arms }
    }

    fn hash(&self) -> u64 {
        match &self.id {
            Some(id) => hash(id.bytes()),
            None => hash(self.arms.iter().flat_map(|cell| cell.bytes())),
        }
    }
}

/// A table of past instances, part of which can be held out for evaluation.
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
    arm_names: Vec<String>,
    rows: Vec<Row>,
    train: Vec<u32>,
    held_out: Vec<u32>,
}

impl Table {
    /// A table of rows with a cell for each arm. A share `holdout` of the rows is held out, chosen by a hash of their id or
    /// cells: equal rows stay together, and neither a seed nor the order of the rows matters. With 0, training and
    /// evaluation both draw from all rows.
    pub fn new(arm_names: Vec<String>, rows: Vec<Row>, holdout: f64) -> Result<Self> {
        Self::build(None, arm_names, rows, holdout)
    }

    /// A table whose rows were read from a file: messages name it, and the lines of its rows.
    pub fn from_file(
        name: impl Into<String>,
        arm_names: Vec<String>,
        rows: Vec<Row>,
        holdout: f64,
    ) -> Result<Self> {
        Self::build(Some(name.into()), arm_names, rows, holdout)
    }

    fn build(file: Option<String>, arm_names: Vec<String>, rows: Vec<Row>, holdout: f64) -> Result<Self> {
        check_holdout(holdout)?;
        Self::check_arm_names(&arm_names)?;
        let mut table = Self { file, arm_names, rows, train: Vec::new(), held_out: Vec::new() };
        if table.rows.is_empty() {
            return Err(table.wrong("found no instance, expected at least 1"));
        }
        table.check_rows()?;
        (table.train, table.held_out) = table.parts(holdout)?;
        Ok(table)
    }

    /// Refuses too few or too many arms, and names that occur twice.
    pub fn check_arm_names(arm_names: &[String]) -> Result<()> {
        if !(2..=MAX_ARMS).contains(&arm_names.len()) {
            let message = format!("found {} arm(s), expected 2 to {MAX_ARMS}", arm_names.len());
            return Err(Error::new("arms", message));
        }
        let mut seen = HashSet::new();
        match arm_names.iter().find(|name| !seen.insert(name.as_str())) {
            None => Ok(()),
            Some(twice) => {
                Err(Error::new("arms", format!("the name '{}' stands there twice", abridged(twice))))
            }
        }
    }

    fn check_rows(&self) -> Result<()> {
        let arms = self.arm_names.len();
        for (row, i) in self.rows.iter().zip(1..) {
            if row.arms.len() != arms {
                let message = format!("found {} cell(s), expected {arms}: one per arm", row.arms.len());
                return Err(Error::new(self.place(row, i), message));
            }
            for (cell, arm) in row.arms.iter().zip(&self.arm_names) {
                cell.check().map_err(|message| Error::new(self.at_arm(row, i, arm), message))?;
            }
        }
        Ok(())
    }

    /// The rows with the smallest hashes are held out; equal rows stay together.
    fn parts(&self, holdout: f64) -> Result<(Vec<u32>, Vec<u32>)> {
        let count = self.rows.len();
        if holdout == 0.0 {
            let all: Vec<u32> = (0..count as u32).collect();
            return Ok((all.clone(), all));
        }
        let hashes: Vec<u64> = self.rows.iter().map(Row::hash).collect();
        let parts = split(&hashes, holdout).ok_or_else(|| {
            let message = format!(
                "found {count} instance(s): too few to hold out a part of {holdout}; add instances or set \
                 holdout = 0"
            );
            self.wrong(message)
        });
        parts.map(|[train, held_out]| (train, held_out))
    }

    pub(super) fn arms(&self) -> usize {
        self.arm_names.len()
    }

    /// The names of the arms.
    pub fn arm_names(&self) -> &[String] {
        &self.arm_names
    }

    /// Is a part kept from training?
    pub fn is_split(&self) -> bool {
        self.train != self.held_out
    }

    /// The past instances on one side of the split.
    pub fn rows(&self, split: Split) -> impl ExactSizeIterator<Item = &Row> {
        let chosen = match split {
            Split::Train => &self.train,
            Split::HeldOut => &self.held_out,
        };
        chosen.iter().map(|&i| &self.rows[i as usize])
    }

    pub(super) fn sample(&self, split: Split, stream: &mut Stream<One<f64>>, means: &mut [f64]) -> u32 {
        let rows = match split {
            Split::Train => &self.train,
            Split::HeldOut => &self.held_out,
        };
        let cluster = (stream.uniform().0 * rows.len() as f64) as usize;
        let row = &self.rows[rows[cluster] as usize];
        for (mean, &cell) in means.iter_mut().zip(&row.arms) {
            *mean = match cell {
                Cell::Mean(mean) => mean,
                Cell::Counts { successes, trials } => {
                    sample_beta(stream, 1.0 + successes, 1.0 + trials - successes)
                }
            };
        }
        cluster as u32
    }

    pub(super) fn check_unit_means(&self) -> Result<()> {
        for (row, i) in self.rows.iter().zip(1..) {
            for (cell, arm) in row.arms.iter().zip(&self.arm_names) {
                let &Cell::Mean(mean) = cell else { continue };
                if 1.0 < mean && mean <= 100.0 {
                    let message =
                        format!("found {mean:?}, expected a number from 0 to 1; divide percentages by 100");
                    return Err(Error::new(self.at_arm(row, i, arm), message));
                }
                within(self.at_arm(row, i, arm), mean, 0.0, 1.0)?;
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

    fn at_arm(&self, row: &Row, i: usize, arm: &str) -> Place {
        self.place(row, i).then(Place::key(format!("arm '{}'", abridged(arm))))
    }
}

/// Beta(1, 1) is uniform, and the most common prior.
pub(super) fn sample_beta(stream: &mut Stream<One<f64>>, a: f64, b: f64) -> f64 {
    if a == 1.0 && b == 1.0 { stream.uniform().0 } else { stream.beta(One(a), One(b)).0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Prior, Problem};

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|arm| format!("arm{arm}")).collect()
    }

    fn means(means: &[f64]) -> Row {
        Row::new(means.iter().copied().map(Cell::Mean).collect())
    }

    #[track_caller]
    fn refused(names: Vec<String>, rows: Vec<Row>, holdout: f64, expected: &str) {
        let error = Table::new(names, rows, holdout).unwrap_err().to_string();
        assert!(error.contains(expected), "'{expected}' is not in: {error}");
    }

    #[test]
    fn errors_name_the_row() {
        let counts = |successes, trials| Row::new(vec![Cell::Counts { successes, trials }; 2]);
        refused(names(1), vec![means(&[0.5])], 0.0, "arms: found 1 arm(s), expected 2 to");
        refused(vec!["a".into(); 2], vec![means(&[0.5; 2])], 0.0, "arms: the name 'a' stands there twice");
        refused(names(2), vec![], 0.0, "rows: found no instance");
        refused(names(2), vec![means(&[0.5; 2]), means(&[0.5])], 0.0, "row 2: found 1 cell(s), expected 2");
        refused(names(2), vec![means(&[0.5, f64::NAN])], 0.0, "row 1.arm 'arm1': found NaN");
        refused(names(2), vec![counts(3.0, 2.0)], 0.0, "row 1.arm 'arm0': found 3 successes in 2 trials");
        refused(names(2), vec![counts(0.5, 2.0)], 0.0, "whole numbers");
        refused(names(2), vec![means(&[0.5; 2])], 1.0, "holdout: found 1");
        refused(names(2), vec![means(&[0.5; 2])], 0.3, "rows: found 1 instance(s): too few to hold out");
    }

    #[test]
    fn means_beyond_the_unit_interval_are_refused_where_they_stand() {
        let row = means(&[0.5, 1.5]);
        let in_line_2 = vec![Row { line: Some(2), ..row.clone() }];
        for (table, expected) in [
            (Table::new(names(2), vec![row.clone()], 0.0), "row 1.arm 'arm1': found 1.5"),
            (Table::from_file("past.csv", names(2), vec![row], 0.0), "past.csv, row 1.arm 'arm1': found 1.5"),
            (
                Table::from_file("past.csv", names(2), in_line_2, 0.0),
                "past.csv, line 2, arm 'arm1': found 1.5",
            ),
        ] {
            let prior = Prior::table(table.unwrap());
            let error = Problem::bernoulli(prior).horizon(10).build().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// The same rows as ever are held out: the id decides, else the bits of the means.
    #[test]
    fn the_split_is_by_id_or_by_means() {
        let held_out = |with_id: bool| {
            let row =
                |i: u32| Row { id: with_id.then(|| i.to_string()), ..means(&[f64::from(i) / 8.0, 0.5]) };
            Table::new(names(2), (0..8).map(row).collect(), 0.4).unwrap().held_out
        };
        assert_eq!([held_out(true), held_out(false)], [[4, 5, 7], [3, 4, 6]]);
    }
}
