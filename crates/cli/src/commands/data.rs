//! `gradband data`: the data sets, and how to get the one that is not built in.

use super::{interrupted, watch};
use crate::args::Data;
use crate::datasets::{self, Converted, Place};
use crate::failure::{Failure, Result};
use crate::output::{self, Printer, grouped};
use crate::progress::Progress;
use crate::{cache, files, interrupt};
use flate2::Compression;
use flate2::write::GzEncoder;
use gradband::Error;
use gradband::problem::{DATASETS, Dataset};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Item {
    name: &'static str,
    summary: &'static str,
    classes: usize,
    features: usize,
    examples: usize,
    r#where: String,
    source: &'static str,
}

#[derive(Serialize)]
struct Fetched {
    name: &'static str,
    r#where: String,
    path: Option<PathBuf>,
}

pub fn run(command: &Data, printer: Printer) -> Result<()> {
    match command {
        Data::List => list(printer),
        Data::Fetch { names, from } => fetch(names, from.as_deref(), printer),
    }
}

fn list(printer: Printer) -> Result<()> {
    let item = |set: &Dataset| Item {
        name: set.name,
        summary: set.summary,
        classes: set.classes,
        features: set.features,
        examples: set.examples,
        r#where: datasets::place(set).to_string(),
        source: set.source,
    };
    let items: Vec<_> = DATASETS.iter().map(item).collect();
    printer.result(&items, || {
        let rows = items.iter().map(|item| {
            let counts = [item.classes, item.features, item.examples].map(grouped);
            [item.name.into(), item.summary.into(), item.r#where.clone()].into_iter().chain(counts).collect()
        });
        output::table(&["data", "", "where", "classes", "features", "examples"], 3, rows)
    })
}

fn fetch(names: &[String], from: Option<&Path>, printer: Printer) -> Result<()> {
    let sets = names
        .iter()
        .map(|name| Dataset::named(name).map_err(|error| Error { place: "NAME".into(), ..error }));
    let sets = sets.collect::<gradband::Result<Vec<_>>>()?;
    if let (Some(from), true) = (from, sets.iter().all(|set| set.embedded.is_some())) {
        let message = format!("found {}, but what was named is built in: leave it out", from.display());
        return Err(Error::new("--from", message).into());
    }
    let mut fetched = Vec::new();
    for set in sets {
        let path = if set.embedded.is_some() { None } else { Some(fetch_one(set, from)?) };
        fetched.push(Fetched { name: set.name, r#where: datasets::place(set).to_string(), path });
    }
    printer.result(&fetched, || {
        let line = |item: &Fetched| match &item.path {
            Some(path) => format!("{} is {}: {}", item.name, item.r#where, path.display()),
            None => format!("{} is {}: nothing to fetch", item.name, item.r#where),
        };
        fetched.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Makes sure that a set is in the cache; says where.
fn fetch_one(set: &Dataset, from: Option<&Path>) -> Result<PathBuf> {
    let Some(dir) = cache::dir() else {
        let message = format!("found none, expected a directory (or GRADBAND_CACHE) to keep {} in", set.name);
        return Err(Error::new("--cache", message).into());
    };
    let path = datasets::path(set, dir);
    let (bytes, source) = match from {
        Some(from) => (files::read(from)?, from.display().to_string()),
        None if datasets::place(set) == Place::Cached => return Ok(path),
        None => {
            // Before ten megabytes are fetched for nothing.
            files::create_dir(dir)?;
            output::note(&format!("fetching {}: {}", set.name, set.source));
            let bytes = datasets::download(&datasets::URLS, set.name).map_err(|error| {
                let name = set.name;
                Failure::Other(format!(
                    "cannot fetch {name}: {error}; with a copy from elsewhere, run: gradband data fetch {name} --from FILE"
                ))
            })?;
            (bytes, "what was fetched".into())
        }
    };
    files::create_dir(dir)?;
    store(set, bytes, dir).map_err(|trouble| match trouble {
        Trouble::Interrupted => interrupted(),
        Trouble::Write(error) => Failure::Other(format!("{}: cannot be written: {error}", path.display())),
        Trouble::Content(message) => {
            let error = Error::new(source, format!("is not {}: {message}", set.name));
            if from.is_some() { error.into() } else { Failure::Other(error.to_string()) }
        }
    })?;
    Ok(path)
}

/// Why a set was not stored.
#[derive(Debug)]
enum Trouble {
    Interrupted,
    Write(std::io::Error),
    Content(String),
}

/// Hashes what passes through.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Writes a set into the cache if it is the right one: whole or not at all, and its checksum last.
fn store(set: &Dataset, bytes: Vec<u8>, dir: &Path) -> std::result::Result<(), Trouble> {
    let content = |error: std::io::Error| Trouble::Content(error.to_string());
    let mut progress = Progress::new(format!("checking {}", set.name), "examples", set.examples);
    // A temporary file is there from now on: Ctrl-C must wait until it is gone.
    interrupt::hold();
    let mut trouble = None;
    let mut sum = String::new();
    let stored = files::persist(&datasets::path(set, dir), |file| {
        let mut encoder = GzEncoder::new(Hashed { out: file, hash: Sha256::new() }, Compression::default());
        let converted = datasets::unpacked(bytes).and_then(|source| {
            datasets::convert(source, set.features, &mut encoder, |rows| watch(&mut progress, rows))
        });
        trouble = match converted {
            Ok(Some(converted)) => check(set, &converted).err().map(Trouble::Content),
            Ok(None) => Some(Trouble::Interrupted),
            Err(error) => Some(content(error)),
        };
        if trouble.is_some() {
            return Err(std::io::Error::other("not stored"));
        }
        sum = datasets::hex(&encoder.finish()?.hash.finalize());
        Ok(())
    });
    let stored = stored.and_then(|()| {
        let line = format!("{sum}  {}.csv.gz\n", set.name);
        files::persist(&datasets::sum_path(set, dir), |file| file.write_all(line.as_bytes()))
    });
    interrupt::release();
    match trouble {
        Some(trouble) => Err(trouble),
        None => stored.map_err(Trouble::Write),
    }
}

fn check(set: &Dataset, found: &Converted) -> std::result::Result<(), String> {
    if found.sha256 == set.sha256 {
        return Ok(());
    }
    let Converted { rows, sha256 } = found;
    Err(format!(
        "found {} examples with SHA-256 {sha256}, expected {} with {}",
        grouped(*rows),
        grouped(set.examples),
        set.sha256
    ))
}
