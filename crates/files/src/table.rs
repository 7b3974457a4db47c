//! Past problems from CSV: a row per problem, or a row per problem and arm.

mod columns;
mod long;
mod numbers;
mod wide;

pub use columns::Columns;

use crate::lines::Lines;
use crate::records::Records;
use columns::Form;
use gradband::problem::{Fit, Row, Table};
use gradband::{Error, ErrorKind, Place, Result};
use numbers::{Numbers, Of};
use std::io::Read;

/// How a table is read: see [`read_table_with`].
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The share of past problems that is kept from training.
    pub holdout: f64,
    /// Which columns are which, where they have other names than ours.
    pub columns: Columns,
    /// So many arms, if they are exchangeable: see [`TableBuilder::arms`](gradband::problem::TableBuilder::arms).
    pub arms: Option<usize>,
    /// How the prior over arms is found, if it is said.
    pub fit: Option<Fit>,
}

/// Reads a table of past problems: a CSV in wide form (a row per problem, a column per arm) or long form (columns `problem`,
/// `arm` and `mean`, or `successes` and `trials`, or `mean`, `variance` and `count`), gzip-compressed or not.
///
/// `name` is what messages call the file. A share `holdout` of the problems is kept from training: see
/// [`TableBuilder::holdout`](gradband::problem::TableBuilder::holdout).
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
    let options = TableOptions { holdout, ..TableOptions::default() };
    read_table_with(source, name, &options).map(|(table, _)| table)
}

/// Reads a table of past problems as [`read_table`] does, whatever its columns are called and whichever arms each problem
/// has. Also gives what the user should know, such as that rows were added up.
///
/// ```
/// use gradband::problem::Keys;
/// use gradband_files::{Columns, TableOptions, read_table_with};
/// let csv = "creative;day;campaign;clicks;views\nx;1;spring;3;200\ny;1;spring;1;210\nx;2;spring;2;190\nz;1;summer;0;80\n";
/// let said = [("problem", "campaign"), ("arm", "creative"), ("successes", "clicks"), ("trials", "views")];
/// let said = said.into_iter().fold(Keys::default(), |keys, (name, header)| keys.with(name, header));
/// let columns = Columns::from_keys(&said)?;
/// let options = TableOptions { columns, arms: Some(2), ..TableOptions::default() };
/// let (table, notes) = read_table_with(csv.as_bytes(), "ads.csv", &options)?;
/// assert_eq!(table.arms(), 2);
/// assert_eq!(notes, ["ads.csv: rows added to earlier ones of the same problem and arm: 1"]);
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn read_table_with(
    source: impl Read,
    name: &str,
    options: &TableOptions,
) -> Result<(Table, Vec<String>)> {
    let (lines, _) = Lines::new(source, name)?;
    let empty = || Error::new(Place::file(name), "is empty; expected a header and one row per past instance");
    let mut records = Records::new(lines)?.ok_or_else(empty)?;
    records.advance()?;
    let ragged = options.arms.is_some();
    let Parsed { arm_names, rows, notes } = match Form::of(&records, &options.columns)? {
        Form::Wide(id) => wide::read(&mut records, id, ragged)?,
        Form::Long(columns) => long::read(&mut records, &columns, ragged)?,
    };
    let mut builder = Table::builder().file(name).holdout(options.holdout).arm_names(arm_names);
    if let Some(arms) = options.arms {
        builder = builder.arms(arms);
    }
    if let Some(fit) = options.fit {
        builder = builder.fit(fit);
    }
    Ok((builder.build(rows)?, notes))
}

/// What a file holds; without names if arms are exchangeable.
struct Parsed {
    arm_names: Vec<String>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

/// Arms of all past problems together. What is kept of them is several times as large as their text.
const MAX_CELLS: usize = 2_000_000;

/// Refuses a table that is too large up to here.
fn check_cells(records: &Records, cells: usize) -> Result<()> {
    if cells <= MAX_CELLS {
        return Ok(());
    }
    let message =
        format!("more than {MAX_CELLS} arms of past problems up to here; take a sample of the past problems");
    Err(Error::of(records.place(), ErrorKind::TooLarge(message)))
}

/// The names of the arms must do; `line` is where they stand.
fn check_arm_names(name: &str, line: u64, arm_names: &[String]) -> Result<()> {
    Table::check_arm_names(arm_names).map_err(|error| error.at(Place::file(name).line(line)))
}

/// The number in a column, or an error that names line and column.
fn number(records: &Records, numbers: &mut Numbers, column: usize, called: &str, of: Of) -> Result<f64> {
    let read = numbers.read(records.record().field(column), of, records.line());
    read.map_err(|message| Error::new(records.place().column(column + 1, called), message))
}
