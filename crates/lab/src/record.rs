//! Records: one JSON line per finished unit, appended as soon as it is known.
//!
//! A run that is killed loses the unit in progress and, at worst, leaves half a line, which the next run removes.

use crate::Failure;
use crate::found::{Found, check_numbers};
use crate::work::Work;
use gradband::Place;
use gradband_files::io;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A finished unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The experiment that it belongs to.
    pub experiment: String,
    /// The series that it belongs to: a line of a figure, or a number.
    pub series: String,
    /// The number of the run, which is its seed.
    pub seed: u64,
    /// What was computed: see [`crate::work::Work`].
    pub setting: Value,
    /// The version of gradband that computed it.
    pub version: String,
    /// What was found.
    pub estimate: Found,
    /// The seconds that it took.
    pub seconds: f64,
    /// The processor time of all cores: divided by their number, the seconds that it takes when nothing else runs.
    pub core_seconds: f64,
}

/// A part of the units, for one of several processes or machines: they write files of their own, which are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The most parts.
    const MOST: usize = 10_000;

    /// Does run `seed` of the series in this place of a plan belong to it? The runs of a series go round, so that parts cost
    /// alike; what is recorded or missing where does not matter.
    pub(crate) fn holds(self, series: usize, seed: u64) -> bool {
        (series as u64 + seed) % self.of as u64 == self.index as u64 - 1
    }
}

/// For example `3/8`: the third of eight.
impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if of <= Self::MOST && (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err(format!("expected i/n with 1 <= i <= n <= {}, such as 3/8", Self::MOST)),
        }
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// The records of an experiment on disk, held by one process.
pub struct Log {
    path: PathBuf,
    file: File,
    /// The records, in the order of the file.
    pub records: Vec<Record>,
    /// What is recorded in the files of other shards.
    others: Vec<Record>,
}

/// The file of an experiment's records.
pub fn path(dir: &Path, experiment: &str) -> PathBuf {
    dir.join(format!("{experiment}.jsonl"))
}

/// The file of those that a shard has run.
fn shard_path(dir: &Path, experiment: &str, Shard { index, of }: Shard) -> PathBuf {
    dir.join(format!("{experiment}.shard-{index}-of-{of}.jsonl"))
}

/// The files of all shards of an experiment in a directory, in the order of their names.
fn shards(dir: &Path, experiment: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::file(dir, "cannot be read", &error)),
    };
    let start = format!("{experiment}.shard-");
    let is_shard = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(&start) && name.ends_with(".jsonl"))
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_shard).collect();
    paths.sort();
    Ok(paths)
}

fn place(path: &Path) -> Place {
    Place::file(path.display().to_string())
}

/// The records of an experiment, of all shards together; none if it has not been run there. A unit that two shards have
/// is counted once.
pub fn read(dir: &Path, experiment: &str) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    let mut seen = HashMap::new();
    for path in std::iter::once(path(dir, experiment)).chain(shards(dir, experiment)?) {
        for (i, record) in read_file(&path)?.into_iter().enumerate() {
            let unit = (record.series.clone(), record.seed);
            match seen.get(&unit) {
                None => {
                    seen.insert(unit, record.setting.clone());
                    records.push(record);
                }
                Some(setting) => {
                    let line = place(&path).line(i as u64 + 1);
                    check_setting(line, &record.series, setting, &record.setting)?;
                }
            }
        }
    }
    Ok(records)
}

fn read_file(path: &Path) -> Result<Vec<Record>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text =
        String::from_utf8(io::read(path)?).map_err(|_| Failure::input(place(path), "is not UTF-8 text"))?;
    io::check_values(path, &text)?;
    parse(path, &text).map(|(records, _)| records)
}

/// Another setting under the same name is an error.
fn check_setting(place: Place, series: &str, old: &Value, new: &Value) -> Result<(), Failure> {
    if old == new {
        return Ok(());
    }
    let change = difference(old, new, "").unwrap_or_default();
    let message = format!(
        "'{series}' was run with another setting ({change}); choose another -o DIR, or remove the file"
    );
    Err(Failure::input(place, message))
}

/// Records, and the length of the text that is whole: a line that was cut short is not.
fn parse(path: &Path, text: &str) -> Result<(Vec<Record>, usize), Failure> {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let records = text[..whole].lines().enumerate().map(|(i, line)| {
        Record::parse(line).map_err(|reason| {
            let message = format!("is not a record ({reason}); remove it and run again");
            Failure::input(place(path).line(i as u64 + 1), message)
        })
    });
    Ok((records.collect::<Result<_, _>>()?, whole))
}

impl Record {
    fn is_unit(&self, series: &str, seed: u64) -> bool {
        self.series == series && self.seed == seed
    }

    /// A line, or what is wrong with it.
    fn parse(line: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let work = Work::deserialize(&record.setting).map_err(|error| format!("setting: {error}"))?;
        record.estimate.check(&work).map_err(|error| error.to_string())?;
        let times = [record.seconds, record.core_seconds];
        check_numbers("seconds", &times).map_err(|error| error.to_string())?;
        Ok(record)
    }
}

impl Log {
    /// Opens the records for writing.
    pub fn open(dir: &Path, experiment: &str, shard: Option<Shard>) -> Result<Self, Failure> {
        let path = shard.map_or_else(|| path(dir, experiment), |shard| shard_path(dir, experiment, shard));
        let failed = |error: std::io::Error| Failure::file(&path, "cannot be opened", &error);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "is being written by another process; wait for it, or choose another -o DIR";
                return Err(Failure::input(place(&path), message));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let (records, whole) = parse(&path, &text)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut others = read(dir, experiment)?;
        others.retain(|other| !records.iter().any(|record| record.is_unit(&other.series, other.seed)));
        Ok(Self { path, file, records, others })
    }

    /// Adds a record; it is on disk when this returns.
    pub fn push(&mut self, record: Record) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::file(&self.path, "cannot be written", &error);
        let mut line = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(failed)?;
        self.records.push(record);
        Ok(())
    }

    /// The record of a run, if there is one; another setting under the same name is an error.
    pub fn find(&self, series: &str, seed: u64, setting: &Value) -> Result<Option<&Record>, Failure> {
        let found = self.records.iter().chain(&self.others).find(|record| record.is_unit(series, seed));
        found.map_or(Ok(()), |record| check_setting(place(&self.path), series, &record.setting, setting))?;
        Ok(found)
    }
}

/// The first place where two settings differ.
fn difference(old: &Value, new: &Value, place: &str) -> Option<String> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let none = Value::Null;
            keys.into_iter().find_map(|key| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                difference(a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none), &place)
            })
        }
        _ if old == new => None,
        _ => Some(format!("{place} was {old}, now {new}")),
    }
}
