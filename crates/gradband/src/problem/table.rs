//! The user's own past instances, read from CSV and split into a training and a held-out part.

use super::prior::sample_beta;
use super::reading::{abridged, hash, split};
use super::{MAX_ARMS, Split};
use crate::lanes::One;
use crate::stream::Stream;
use crate::{Error, Result, error::within};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// What is known of one arm of one past instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Its mean.
    Mean(f64),
    /// Successes out of trials: the mean is redrawn from Beta(1 + successes, 1 + failures) at each simulation.
    Counts {
        /// Rewards of 1.
        successes: f64,
        /// Pulls.
        trials: f64,
    },
}

/// One past instance.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where it stands in the file.
    line: u64,
    /// What decides on which side of the split it falls.
    hash: u64,
    /// One per arm.
    pub arms: Vec<Cell>,
}

/// Past instances with a fixed split.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    arm_names: Vec<String>,
    rows: Vec<Row>,
    train: Vec<u32>,
    held_out: Vec<u32>,
}

impl Table {
    /// Reads a CSV in wide form (a row per instance, a column per arm) or long form (columns `instance`, `arm`
    /// and `mean`, or `successes` and `trials`). `name` is what messages call the file.
    pub fn read(source: impl Read, name: &str, holdout: f64) -> Result<Self> {
        within("holdout", holdout, 0.0, 0.9)?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(source);
        let mut records = reader.records().map(|record| record.map_err(|error| csv_error(name, &error)));
        let Some(first) = records.next() else {
            return Err(Error::new(name, "is empty; expected a header and one row per past instance"));
        };
        let header = first?;
        let column = |wanted: &str| header.iter().position(|field| field.eq_ignore_ascii_case(wanted));
        let (arm_names, rows) = match (column("instance"), column("arm")) {
            (Some(instance), Some(arm)) => {
                let counts = column("successes").zip(column("trials"));
                let values = match (column("mean"), counts) {
                    (Some(mean), _) => Values::Mean(mean),
                    (None, Some((successes, trials))) => Values::Counts(successes, trials),
                    (None, None) => {
                        let message = "long form needs a column 'mean', or 'successes' and 'trials'";
                        return Err(Error::new(format!("{name}, line 1"), message));
                    }
                };
                long_form(name, records, instance, arm, values)?
            }
            (id, _) => wide_form(name, &header, records, id)?,
        };
        Self::split(name, arm_names, rows, holdout)
    }

    /// The rows with the smallest hashes are held out; equal rows stay together.
    fn split(name: &str, arm_names: Vec<String>, rows: Vec<Row>, holdout: f64) -> Result<Self> {
        if holdout == 0.0 {
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            return Ok(Self { name: name.into(), arm_names, rows, train: all.clone(), held_out: all });
        }
        let hashes: Vec<u64> = rows.iter().map(|row| row.hash).collect();
        let [train, held_out] = split(&hashes, holdout).ok_or_else(|| {
            let message = format!(
                "found {} instance(s): too few to hold out a part of {holdout}; add instances or set holdout = 0",
                rows.len()
            );
            Error::new(name, message)
        })?;
        Ok(Self { name: name.into(), arm_names, rows, train, held_out })
    }

    pub(super) fn arms(&self) -> usize {
        self.arm_names.len()
    }

    /// The arms as the file calls them.
    pub fn arm_names(&self) -> &[String] {
        &self.arm_names
    }

    /// The past instances of a split.
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
        for row in &self.rows {
            for (cell, arm) in row.arms.iter().zip(&self.arm_names) {
                if let &Cell::Mean(mean) = cell {
                    within(&format!("{}, line {}, arm '{arm}'", self.name, row.line), mean, 0.0, 1.0)?;
                }
            }
        }
        Ok(())
    }
}

enum Values {
    Mean(usize),
    Counts(usize, usize),
}

fn csv_error(name: &str, error: &csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    let message = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8 text; save the table as CSV in UTF-8".into(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("found {len} fields, expected {expected_len} as in the first line")
        }
        _ => error.to_string(),
    };
    Error::new(format!("{name}, line {line}"), message)
}

fn line_of(record: &csv::StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// A finite number, or an error that names line and column.
fn number(name: &str, record: &csv::StringRecord, column: usize, called: &str) -> Result<f64> {
    let text = &record[column];
    let place = || format!("{name}, line {}, column {} ('{called}')", line_of(record), column + 1);
    let x: f64 = text
        .parse()
        .map_err(|_| Error::new(place(), format!("found '{}', expected a number", abridged(text))))?;
    if x.is_finite() && x.abs() <= 1e6 {
        return Ok(x);
    }
    Err(Error::new(place(), format!("found '{text}', expected a finite number of at most 1e6 in size")))
}

type Parsed = (Vec<String>, Vec<Row>);

fn wide_form(
    name: &str,
    first: &csv::StringRecord,
    records: impl Iterator<Item = Result<csv::StringRecord>>,
    id: Option<usize>,
) -> Result<Parsed> {
    let headerless = first.iter().all(|field| field.parse::<f64>().is_ok());
    let columns: Vec<usize> = (0..first.len()).filter(|&column| Some(column) != id).collect();
    let arm_names: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(arm, &column)| if headerless { (arm + 1).to_string() } else { first[column].to_string() })
        .collect();
    check_arm_names(name, &arm_names)?;
    let mut rows = Vec::new();
    let first_row = headerless.then(|| Ok(first.clone()));
    for record in first_row.into_iter().chain(records) {
        let record = &record?;
        let means = columns
            .iter()
            .zip(&arm_names)
            .map(|(&column, arm)| number(name, record, column, arm))
            .collect::<Result<Vec<_>>>()?;
        let hash = match id {
            Some(column) => hash(record[column].bytes()),
            None => hash(means.iter().flat_map(|mean| mean.to_bits().to_le_bytes())),
        };
        rows.push(Row { line: line_of(record), hash, arms: means.into_iter().map(Cell::Mean).collect() });
    }
    if rows.is_empty() {
        return Err(Error::new(name, "has a header but no instance"));
    }
    Ok((arm_names, rows))
}

fn check_arm_names(name: &str, arm_names: &[String]) -> Result<()> {
    let place = || format!("{name}, line 1");
    if !(2..=MAX_ARMS).contains(&arm_names.len()) {
        let message = format!("found {} arm(s), expected 2 to {MAX_ARMS}", arm_names.len());
        return Err(Error::new(place(), message));
    }
    for (i, arm) in arm_names.iter().enumerate() {
        if arm_names[..i].contains(arm) {
            return Err(Error::new(place(), format!("the column '{}' stands there twice", abridged(arm))));
        }
    }
    Ok(())
}

fn long_form(
    name: &str,
    records: impl Iterator<Item = Result<csv::StringRecord>>,
    instance: usize,
    arm: usize,
    values: Values,
) -> Result<Parsed> {
    let mut arm_names: Vec<String> = Vec::new();
    let mut arm_of: HashMap<String, usize> = HashMap::new();
    let mut row_of: HashMap<String, usize> = HashMap::new();
    // By arm, so that a broken file with many arms and instances does not become a large empty table.
    let mut found: Vec<(u64, String, BTreeMap<usize, Cell>)> = Vec::new();
    for record in records {
        let record = &record?;
        let arm_index = *arm_of.entry(record[arm].to_string()).or_insert_with(|| {
            arm_names.push(record[arm].to_string());
            arm_names.len() - 1
        });
        let row_index = *row_of.entry(record[instance].to_string()).or_insert_with(|| {
            found.push((line_of(record), record[instance].to_string(), BTreeMap::new()));
            found.len() - 1
        });
        let cell = match values {
            Values::Mean(column) => Cell::Mean(number(name, record, column, "mean")?),
            Values::Counts(successes, trials) => counts(name, record, successes, trials)?,
        };
        if found[row_index].2.insert(arm_index, cell).is_some() {
            let message = format!("instance '{}' has arm '{}' twice", &record[instance], &record[arm]);
            return Err(Error::new(format!("{name}, line {}", line_of(record)), message));
        }
    }
    check_arm_names(name, &arm_names)?;
    let mut rows = Vec::new();
    for (line, id, cells) in found {
        if let Some(missing) = (0..arm_names.len()).find(|arm| !cells.contains_key(arm)) {
            let message = format!(
                "instance '{id}' has no row for arm '{}'; every instance needs every arm",
                arm_names[missing]
            );
            return Err(Error::new(format!("{name}, line {line}"), message));
        }
        rows.push(Row { line, hash: hash(id.bytes()), arms: cells.into_values().collect() });
    }
    Ok((arm_names, rows))
}

fn counts(name: &str, record: &csv::StringRecord, successes: usize, trials: usize) -> Result<Cell> {
    let (s, n) = (number(name, record, successes, "successes")?, number(name, record, trials, "trials")?);
    if s < 0.0 || n < s || s.fract() != 0.0 || n.fract() != 0.0 {
        let place = format!("{name}, line {}", line_of(record));
        let message =
            format!("found {s} successes in {n} trials, expected whole numbers with successes <= trials");
        return Err(Error::new(place, message));
    }
    Ok(Cell::Counts { successes: s, trials: n })
}
