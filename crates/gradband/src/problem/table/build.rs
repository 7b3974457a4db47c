//! Builds tables and checks them, so that no simulation meets an invalid one.

use super::{Fit, Fitted, Row, Table};
use crate::error::{Error, Result, abridged, count};
use crate::problem::MAX_ARMS;
use crate::problem::split::{check_holdout, split};
use std::collections::HashSet;

/// A table in the making.
///
/// ```
/// use gradband::problem::{Cell, Fit, Row, Table};
/// // Each campaign has creatives of its own, two to four of them.
/// let clicks = [vec![3, 1], vec![2, 0, 5, 1], vec![4, 4, 1], vec![0, 2]];
/// let cell = |&clicks: &u32| Cell::Counts { successes: f64::from(clicks), trials: 200.0 };
/// let rows = clicks.iter().map(|campaign| Row::new(campaign.iter().map(cell).collect())).collect();
/// let table = Table::builder().arms(3).holdout(0.5).fit(Fit::Beta).build(rows)?;
/// assert!(table.arms() == 3 && table.is_exchangeable());
/// println!("{}", table.fitted().unseen().unwrap());
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TableBuilder {
    file: Option<String>,
    arm_names: Vec<String>,
    arms: Option<usize>,
    holdout: f64,
    fit: Option<Fit>,
}

impl TableBuilder {
    /// Sets what messages call the file that the rows came from; they name its lines too.
    pub fn file(self, name: impl Into<String>) -> Self {
        Self { file: Some(name.into()), ..self }
    }

    /// Sets the names of the arms, which every past problem must have in this order.
    pub fn arm_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { arm_names: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Makes arms exchangeable: an instance is so many arms of one past problem in random order. If it has more, a random
    /// choice of them; if it has fewer, the others are drawn from the fitted prior.
    pub fn arms(self, arms: usize) -> Self {
        Self { arms: Some(arms), ..self }
    }

    /// Holds out a share of the past problems, chosen by a hash of their id or cells: equal ones stay together, and neither
    /// a seed nor their order matters. With 0, as it is by default, training and evaluation both draw from all of them.
    pub fn holdout(self, holdout: f64) -> Self {
        Self { holdout, ..self }
    }

    /// Sets how the prior over arms is found; by default as it goes with the cells and the rewards.
    pub fn fit(self, fit: Fit) -> Self {
        Self { fit: Some(fit), ..self }
    }

    /// Checks the past problems, splits them, and fits the prior to the training part.
    pub fn build(self, rows: Vec<Row>) -> Result<Table> {
        let Self { file, arm_names, arms, holdout, fit } = self;
        check_holdout(holdout)?;
        let arms = match arms {
            Some(arms) if arm_names.is_empty() => count("arms", arms, 2, MAX_ARMS)?,
            Some(_) => return Err(Error::new("arms", "goes with arms that have no names")),
            None => {
                Table::check_arm_names(&arm_names)?;
                arm_names.len()
            }
        };
        let (train, held_out, fitted) = (Vec::new(), Vec::new(), Fitted::NOTHING);
        let mut table = Table { file, arms, arm_names, rows, train, held_out, fit, fitted };
        match table.rows.len() {
            0 => return Err(table.wrong("found no instance, expected at least 2")),
            1 => {
                let message = "found 1 past problem, expected at least 2: one has no standard error; add past problems, or \
                               give its means as kind = \"points\"";
                return Err(table.wrong(message));
            }
            _ => table.check_rows()?,
        }
        (table.train, table.held_out) = table.parts(holdout)?;
        table.fitted = table.fit_to(None)?;
        Ok(table)
    }
}

impl Table {
    /// Builds a table step by step.
    pub fn builder() -> TableBuilder {
        TableBuilder::default()
    }

    /// A table of rows with a cell for each arm, a share `holdout` of which is held out: see [`TableBuilder::holdout`].
    pub fn new(arm_names: Vec<String>, rows: Vec<Row>, holdout: f64) -> Result<Self> {
        Self::builder().arm_names(arm_names).holdout(holdout).build(rows)
    }

    /// A table whose rows were read from a file: messages name it, and the lines of its rows.
    pub fn from_file(
        name: impl Into<String>,
        arm_names: Vec<String>,
        rows: Vec<Row>,
        holdout: f64,
    ) -> Result<Self> {
        Self::builder().file(name).arm_names(arm_names).holdout(holdout).build(rows)
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
        for (row, i) in self.rows.iter().zip(1..) {
            let found = row.arms.len();
            if self.is_exchangeable() && !(1..=MAX_ARMS).contains(&found) {
                let message = format!("found {found} cell(s), expected 1 to {MAX_ARMS}");
                return Err(Error::new(self.place(row, i), message));
            }
            if !self.is_exchangeable() && found != self.arms {
                let message = format!(
                    "found {found} cell(s), expected {}: one per arm, unless arms are exchangeable (arms = {})",
                    self.arms, self.arms
                );
                return Err(Error::new(self.place(row, i), message));
            }
            for (arm, cell) in row.arms.iter().enumerate() {
                cell.check().map_err(|message| Error::new(self.at_arm(row, i, arm), message))?;
            }
        }
        Ok(())
    }

    /// The rows with the smallest hashes are held out; equal rows stay together. Two at least are on either side: one has no
    /// standard error.
    fn parts(&self, holdout: f64) -> Result<(Vec<u32>, Vec<u32>)> {
        let count = self.rows.len();
        if holdout == 0.0 {
            let all: Vec<u32> = (0..count as u32).collect();
            return Ok((all.clone(), all));
        }
        let hashes: Vec<u64> = self.rows.iter().map(Row::hash).collect();
        let parts = split(&hashes, holdout).filter(|[train, held_out]| train.len().min(held_out.len()) >= 2);
        let [train, held_out] = parts.ok_or_else(|| {
            let message = format!(
                "found {count} past problems: too few to hold out a part of {holdout}, with 2 different ones at least on \
                 either side; add past problems, or set holdout = 0"
            );
            self.wrong(message)
        })?;
        Ok((train, held_out))
    }
}
