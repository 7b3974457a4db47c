//! Long form: a row for each past problem and arm.

use super::columns::{LongColumns, Values};
use super::numbers::{Numbers, Of};
use super::{Parsed, check_arm_names, check_cells, number};
use crate::records::Records;
use gradband::problem::{Cell, Row};
use gradband::{Error, Place, Result, abridged};
use std::collections::HashMap;

pub(super) fn read(records: &mut Records, columns: &LongColumns, ragged: bool) -> Result<Parsed> {
    let (line, width) = (records.line(), records.record().len());
    let mut long = Long::new(Numbers::new(records.has_commas()));
    while records.advance()? {
        records.check_len(width)?;
        long.add(records, columns)?;
    }
    let Long { arm_names, mut found, added, .. } = long;
    found.iter_mut().for_each(|instance| instance.cells.sort_unstable_by_key(|&(arm, _)| arm));
    if found.is_empty() {
        return Err(Error::new(Place::file(records.name()), "has a header but no instance"));
    }
    let mut notes = Vec::new();
    if added > 0 {
        let name = records.name();
        notes.push(format!("{name}: rows added to earlier ones of the same problem and arm: {added}"));
    }
    if ragged {
        let rows = found.into_iter().map(Instance::row).collect();
        return Ok(Parsed { arm_names: Vec::new(), rows, notes });
    }
    if let Some(lacking) = found.iter().find(|instance| instance.cells.len() < arm_names.len()) {
        return Err(lacking.error(records, &arm_names, &found));
    }
    check_arm_names(records.name(), line, &arm_names)?;
    Ok(Parsed { arm_names, rows: found.into_iter().map(Instance::row).collect(), notes })
}

/// What a table in long form holds up to some line.
struct Long {
    arm_names: Vec<String>,
    arm_of: HashMap<String, usize>,
    row_of: HashMap<String, usize>,
    found: Vec<Instance>,
    numbers: Numbers,
    /// Where the cell of an instance and an arm stands among those of the instance.
    cell_of: HashMap<(usize, usize), usize>,
    /// Rows that went to a cell which was there already.
    added: usize,
}

struct Instance {
    id: String,
    line: u64,
    /// In the order of the file, at the end in that of the arms. Only those that are there, so that a broken file with many
    /// arms and instances does not become a large empty table.
    cells: Vec<(usize, Cell)>,
}

impl Long {
    fn new(numbers: Numbers) -> Self {
        let (arm_of, row_of) = (HashMap::new(), HashMap::new());
        Self {
            arm_names: Vec::new(),
            arm_of,
            row_of,
            found: Vec::new(),
            numbers,
            cell_of: HashMap::new(),
            added: 0,
        }
    }

    fn add(&mut self, records: &Records, columns: &LongColumns) -> Result<()> {
        let (id, arm) = (records.record().field(columns.problem), records.record().field(columns.arm));
        for (name, column, called) in [(id, columns.problem, "problem"), (arm, columns.arm, "arm")] {
            if name.is_empty() {
                let place = records.place().column(column + 1, called);
                return Err(Error::new(place, "is empty, expected a name"));
            }
        }
        let row_index = self.row(records, id);
        let arm_index = self.arm(arm);
        let cell = self.cell(records, &columns.values)?;
        let cells = &mut self.found[row_index].cells;
        let Some(&at) = self.cell_of.get(&(row_index, arm_index)) else {
            self.cell_of.insert((row_index, arm_index), cells.len());
            cells.push((arm_index, cell));
            return check_cells(records, self.cell_of.len());
        };
        let sum = together(cells[at].1, cell).ok_or_else(|| {
            let (id, arm) = (abridged(id), abridged(arm));
            records.wrong(format!(
                "instance '{id}' has arm '{arm}' twice; only rows of successes and trials can be added up"
            ))
        })?;
        cells[at].1 = sum.check().map_err(|message| records.wrong(message))?;
        self.added += 1;
        Ok(())
    }

    fn arm(&mut self, name: &str) -> usize {
        if let Some(&arm) = self.arm_of.get(name) {
            return arm;
        }
        self.arm_of.insert(name.into(), self.arm_names.len());
        self.arm_names.push(name.into());
        self.arm_names.len() - 1
    }

    fn row(&mut self, records: &Records, id: &str) -> usize {
        if let Some(&row) = self.row_of.get(id) {
            return row;
        }
        self.row_of.insert(id.into(), self.found.len());
        self.found.push(Instance { id: id.into(), line: records.line(), cells: Vec::new() });
        self.found.len() - 1
    }

    fn cell(&mut self, records: &Records, values: &Values) -> Result<Cell> {
        let numbers = &mut self.numbers;
        let mut read = |column, called, of| number(records, numbers, column, called, of);
        let cell = match *values {
            Values::Mean(column) => Cell::Mean(read(column, "mean", Of::Rewards)?),
            Values::Counts(successes, trials) => Cell::Counts {
                successes: read(successes, "successes", Of::Times)?,
                trials: read(trials, "trials", Of::Times)?,
            },
            Values::Outcomes(successes, failures) => {
                let successes = read(successes, "successes", Of::Times)?;
                Cell::Counts { successes, trials: successes + read(failures, "failures", Of::Times)? }
            }
            Values::Sample([mean, variance, count]) => Cell::Sample {
                mean: read(mean, "mean", Of::Rewards)?,
                // One reward has no variance, and says so by an empty field.
                variance: match records.record().field(variance) {
                    "" => 0.0,
                    _ => read(variance, "variance", Of::Rewards)?,
                },
                count: read(count, "count", Of::Times)?,
            },
        };
        cell.check().map_err(|message| records.wrong(message))
    }
}

/// Both rows in one, if that can be.
fn together(first: Cell, second: Cell) -> Option<Cell> {
    match (first, second) {
        (Cell::Counts { successes, trials }, Cell::Counts { successes: more, trials: others }) => {
            Some(Cell::Counts { successes: successes + more, trials: trials + others })
        }
        _ => None,
    }
}

impl Instance {
    fn row(self) -> Row {
        Row {
            id: Some(self.id),
            line: Some(self.line),
            arms: self.cells.into_iter().map(|(_, cell)| cell).collect(),
        }
    }

    /// Why it will not do, among all of them.
    fn error(&self, records: &Records, arm_names: &[String], all: &[Self]) -> Error {
        let missing = (0..arm_names.len())
            .find(|&arm| self.cells.get(arm).is_none_or(|cell| cell.0 != arm))
            .unwrap_or_default();
        let mut sizes: Vec<usize> = all.iter().map(|instance| instance.cells.len()).collect();
        sizes.sort_unstable();
        let (least, most, median) = (sizes[0], sizes[sizes.len() - 1], sizes[sizes.len() / 2]);
        let message = format!(
            "instance '{}' has no row for arm '{}'; every instance needs every arm, unless arms are exchangeable: set arms = \
             {} (past problems have {least} to {most} arms)",
            abridged(&self.id),
            abridged(&arm_names[missing]),
            median.max(2)
        );
        Error::new(Place::file(records.name()).line(self.line), message)
    }
}
