//! Past instances from CSV: a row per instance, or a row per instance and arm.

use crate::lines::Lines;
use crate::records::{Record, Records};
use gradband::problem::{Cell, Row, Table};
use gradband::{Error, Place, Result, abridged};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// The largest mean or count, in size.
const LARGEST: f64 = 1e6;

/// Reads a CSV in wide form (a row per instance, a column per arm) or long form (columns `instance`, `arm` and
/// `mean`, or `successes` and `trials`), gzip-compressed or not. `name` is what messages call the file; see
/// [`Table::new`] for `holdout`.
pub fn read_table(source: impl Read, name: &str, holdout: f64) -> Result<Table> {
    let (lines, _) = Lines::new(source, name)?;
    let empty = || Error::new(Place::file(name), "is empty; expected a header and one row per past instance");
    let mut records = Records::new(lines)?.ok_or_else(empty)?;
    records.advance()?;
    let (arm_names, rows) = match Form::of(&records)? {
        Form::Wide(id) => wide_form(&mut records, id)?,
        Form::Long(columns) => long_form(&mut records, &columns)?,
    };
    Table::new(arm_names, rows, holdout).map_err(|error| match error.place() == &Place::key("rows") {
        true => error.at(Place::file(name)),
        false => error,
    })
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
    let text = records.record().get(column);
    let wrong = |message: String| Error::new(place(records).column(column + 1, called), message);
    match text.parse::<f64>() {
        Ok(x) if x.abs() <= LARGEST => Ok(x),
        Ok(_) => {
            let found = abridged(text);
            Err(wrong(format!("found '{found}', expected a finite number of at most {LARGEST:e} in size")))
        }
        Err(_) => Err(wrong(format!("found '{}', expected a number", abridged(text)))),
    }
}

fn wide_form(records: &mut Records, id: Option<usize>) -> Result<Parsed> {
    let first = records.record();
    let (width, headerless) = (first.len(), first.iter().all(|field| field.parse::<f64>().is_ok()));
    let columns: Vec<usize> = (0..width).filter(|&column| Some(column) != id).collect();
    let arm_names = if headerless { numbered(&columns) } else { named(first, &columns) };
    check_arm_names(records.name(), records.line(), &arm_names)?;
    let mut rows = Vec::new();
    let mut more = headerless || records.advance()?;
    while more {
        records.check_len(width)?;
        rows.push(wide_row(records, id, &columns, &arm_names)?);
        more = records.advance()?;
    }
    if rows.is_empty() {
        return Err(Error::new(Place::file(records.name()), "has a header but no instance"));
    }
    Ok((arm_names, rows))
}

fn numbered(columns: &[usize]) -> Vec<String> {
    (1..=columns.len()).map(|arm| arm.to_string()).collect()
}

fn named(first: Record, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&column| first.get(column).to_string()).collect()
}

fn wide_row(records: &Records, id: Option<usize>, columns: &[usize], arm_names: &[String]) -> Result<Row> {
    let cell = |(&column, arm): (&usize, &String)| number(records, column, arm).map(Cell::Mean);
    let arms = columns.iter().zip(arm_names).map(cell).collect::<Result<_>>()?;
    let id = id.map(|column| records.record().get(column).to_string());
    Ok(Row { id, place: Some(place(records)), arms })
}

fn place(records: &Records) -> Place {
    Place::file(records.name()).line(records.line())
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
    let rows = found.into_iter().map(|instance| instance.row(&arm_names)).collect::<Result<_>>()?;
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
    place: Place,
    /// By arm, so that a broken file with many arms and instances does not become a large empty table.
    cells: BTreeMap<usize, Cell>,
}

impl Long {
    fn add(&mut self, records: &Records, columns: &LongColumns) -> Result<()> {
        let (id, arm) = (records.record().get(columns.instance), records.record().get(columns.arm));
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
        self.found.push(Instance { id: id.into(), place: place(records), cells: BTreeMap::new() });
        self.found.len() - 1
    }
}

impl Instance {
    fn row(self, arm_names: &[String]) -> Result<Row> {
        let Self { id, place, cells } = self;
        if let Some(missing) = (0..arm_names.len()).find(|arm| !cells.contains_key(arm)) {
            let message = format!(
                "instance '{}' has no row for arm '{}'; every instance needs every arm",
                abridged(&id),
                abridged(&arm_names[missing])
            );
            return Err(Error::new(place, message));
        }
        Ok(Row { id: Some(id), place: Some(place), arms: cells.into_values().collect() })
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
