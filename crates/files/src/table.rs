//! Past instances from CSV: a row per instance, or a row per instance and arm.

use crate::lines::Lines;
use crate::records::{Record, Records, counts_columns, may_be_names};
use gradband::problem::{Cell, LARGEST_CELL, Row, Table};
use gradband::{Error, Place, Result, abridged};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// Reads a table of past instances: a CSV in wide form (a row per instance, a column per arm) or long form (columns
/// `instance`, `arm` and `mean`, or `successes` and `trials`), gzip-compressed or not.
///
/// `name` is what messages call the file. A share `holdout` of the instances is kept from training: see [`Table::new`].
///
/// ```
/// use gradband::{Prior, Problem, Simulator};
/// let clicks = "old design,new design\n0.05,0.07\n0.11,0.09\n0.02,0.04\n0.08,0.08\n";
/// let table = gradband_files::read_table(clicks.as_bytes(), "clicks.csv", 0.5)?;
/// let problem = Problem::bernoulli(Prior::table(table)).horizon(200).build()?;
/// assert_eq!(problem.arm_names().unwrap(), ["old design", "new design"]);
/// println!("{}", Simulator::new(&problem).instances(500).compare(["thompson", "ucb1"])?);
///
/// let error = gradband_files::read_table("a,b\n0.1,?\n".as_bytes(), "clicks.csv", 0.5).unwrap_err();
/// assert_eq!(error.to_string(), "clicks.csv, line 2, column 2 ('b'): found '?', expected a number");
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn read_table(source: impl Read, name: &str, holdout: f64) -> Result<Table> {
    let (lines, _) = Lines::new(source, name)?;
    let empty = || Error::new(Place::file(name), "is empty; expected a header and one row per past instance");
    let mut records = Records::new(lines)?.ok_or_else(empty)?;
    records.advance()?;
    let (arm_names, rows) = match Form::of(&records)? {
        Form::Wide(id) => wide_form(&mut records, id)?,
        Form::Long(columns) => long_form(&mut records, &columns)?,
    };
    Table::from_file(name, arm_names, rows, holdout)
}

/// Arms and rows.
type Parsed = (Vec<String>, Vec<Row>);

/// How a table is laid out.
enum Form {
    /// With the column of the id, if there is one.
    Wide(Option<usize>),
    Long(LongColumns),
}

struct LongColumns {
    instance: usize,
    arm: usize,
    values: Values,
}

enum Values {
    Mean(usize),
    Counts(usize, usize),
}

impl Form {
    /// What the first record tells.
    fn of(records: &Records) -> Result<Self> {
        let header = records.record();
        let column = |wanted: &str| header.iter().position(|field| field.eq_ignore_ascii_case(wanted));
        let (id, arm) = (column("instance"), column("arm"));
        let (Some(instance), Some(arm)) = (id, arm) else { return Ok(Self::Wide(id)) };
        let values = match (column("mean"), column("successes").zip(column("trials"))) {
            (Some(mean), _) => Values::Mean(mean),
            (None, Some((successes, trials))) => Values::Counts(successes, trials),
            (None, None) => {
                return Err(records.wrong("long form needs a column 'mean', or 'successes' and 'trials'"));
            }
        };
        Ok(Self::Long(LongColumns { instance, arm, values }))
    }
}

/// The names of the arms must do; `line` is where they stand.
fn check_arm_names(name: &str, line: u64, arm_names: &[String]) -> Result<()> {
    Table::check_arm_names(arm_names).map_err(|error| error.at(Place::file(name).line(line)))
}

/// A finite number, or an error that names line and column.
fn number(records: &Records, column: usize, called: &str) -> Result<f64> {
    let text = records.record().field(column);
    let wrong = |message: String| Error::new(records.place().column(column + 1, called), message);
    match text.parse::<f64>() {
        Ok(x) if x.abs() <= LARGEST_CELL => Ok(x),
        Ok(_) => {
            let found = abridged(text);
            Err(wrong(format!(
                "found '{found}', expected a finite number of at most {LARGEST_CELL:e} in size"
            )))
        }
        Err(_) => Err(wrong(format!("found '{}', expected a number", abridged(text)))),
    }
}

fn wide_form(records: &mut Records, id: Option<usize>) -> Result<Parsed> {
    let first = First::of(records);
    let columns: Vec<usize> = (0..first.width).filter(|&column| Some(column) != id).collect();
    let arm_names = if first.is_data { numbered(&columns) } else { named(records.record(), &columns) };
    check_arm_names(records.name(), records.line(), &arm_names)?;
    let mut rows = Vec::new();
    // Asked only where the first line may be names: it takes as long as reading the numbers.
    let mut all_whole = true;
    let mut more = first.is_data || records.advance()?;
    while more {
        records.check_len(first.width)?;
        rows.push(wide_row(records, id, &columns, &arm_names)?);
        all_whole = all_whole && first.may_be_names && records.record().iter().all(is_whole);
        more = records.advance()?;
    }
    if rows.is_empty() {
        return Err(Error::new(Place::file(records.name()), "has a header but no instance"));
    }
    first.check(all_whole)?;
    Ok((arm_names, rows))
}

/// The first line of a table in wide form: names, or a row without names above it.
struct First {
    place: Place,
    width: usize,
    /// Are all its fields numbers?
    is_data: bool,
    may_be_names: bool,
    counts_columns: bool,
}

impl First {
    fn of(records: &Records) -> Self {
        let first = records.record();
        Self {
            place: records.place(),
            width: first.len(),
            is_data: first.iter().all(|field| field.parse::<f64>().is_ok()),
            may_be_names: may_be_names(first.iter()),
            counts_columns: counts_columns(first.iter()),
        }
    }

    /// Refuses whole numbers that may well be the names of arms: taken for an instance, they would be simulated.
    fn check(self, all_whole: bool) -> Result<()> {
        if !self.counts_columns && (all_whole || !self.may_be_names) {
            return Ok(());
        }
        let message = "all fields are whole numbers: are they the names of the arms, or means? If names, write them as \
                       words ('arm 0', 'arm 1'); if means, put a line with the names of the arms above";
        Err(Error::new(self.place, message))
    }
}

fn is_whole(field: &str) -> bool {
    field.parse::<i64>().is_ok()
}

fn numbered(columns: &[usize]) -> Vec<String> {
    (1..=columns.len()).map(|arm| arm.to_string()).collect()
}

fn named(first: Record, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&column| first.field(column).to_string()).collect()
}

fn wide_row(records: &Records, id: Option<usize>, columns: &[usize], arm_names: &[String]) -> Result<Row> {
    let cell = |(&column, arm): (&usize, &String)| number(records, column, arm).map(Cell::Mean);
    let arms = columns.iter().zip(arm_names).map(cell).collect::<Result<_>>()?;
    let id = id.map(|column| records.record().field(column).to_string());
    Ok(Row { id, line: Some(records.line()), arms })
}

fn long_form(records: &mut Records, columns: &LongColumns) -> Result<Parsed> {
    let (line, width) = (records.line(), records.record().len());
    let mut long = Long::default();
    while records.advance()? {
        records.check_len(width)?;
        long.add(records, columns)?;
    }
    check_arm_names(records.name(), line, &long.arm_names)?;
    let Long { arm_names, found, .. } = long;
    let rows = found.into_iter().map(|instance| instance.row(records, &arm_names)).collect::<Result<_>>()?;
    Ok((arm_names, rows))
}

/// What a table in long form holds up to some line.
#[derive(Default)]
struct Long {
    arm_names: Vec<String>,
    arm_of: HashMap<String, usize>,
    row_of: HashMap<String, usize>,
    found: Vec<Instance>,
}

struct Instance {
    id: String,
    line: u64,
    /// By arm, so that a broken file with many arms and instances does not become a large empty table.
    cells: BTreeMap<usize, Cell>,
}

impl Long {
    fn add(&mut self, records: &Records, columns: &LongColumns) -> Result<()> {
        let (id, arm) = (records.record().field(columns.instance), records.record().field(columns.arm));
        let row_index = self.row(records, id);
        let arm_index = self.arm(arm);
        let cell = cell(records, &columns.values)?;
        if self.found[row_index].cells.insert(arm_index, cell).is_some() {
            let (id, arm) = (abridged(id), abridged(arm));
            return Err(records.wrong(format!("instance '{id}' has arm '{arm}' twice")));
        }
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
        self.found.push(Instance { id: id.into(), line: records.line(), cells: BTreeMap::new() });
        self.found.len() - 1
    }
}

impl Instance {
    fn row(self, records: &Records, arm_names: &[String]) -> Result<Row> {
        let Self { id, line, cells } = self;
        if let Some(missing) = (0..arm_names.len()).find(|arm| !cells.contains_key(arm)) {
            let message = format!(
                "instance '{}' has no row for arm '{}'; every instance needs every arm",
                abridged(&id),
                abridged(&arm_names[missing])
            );
            return Err(Error::new(Place::file(records.name()).line(line), message));
        }
        Ok(Row { id: Some(id), line: Some(line), arms: cells.into_values().collect() })
    }
}

fn cell(records: &Records, values: &Values) -> Result<Cell> {
    let cell = match *values {
        Values::Mean(column) => Cell::Mean(number(records, column, "mean")?),
        Values::Counts(successes, trials) => Cell::Counts {
            successes: number(records, successes, "successes")?,
            trials: number(records, trials, "trials")?,
        },
    };
    cell.check().map_err(|message| records.wrong(message))
}
