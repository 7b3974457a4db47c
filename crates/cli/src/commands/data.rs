//! `gradband data`: the data sets, and how to get the one that is not built in.

use crate::args::Data;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband::{Error, Place};
use gradband_files::datasets::{self, Availability, DATASETS, Dataset, Origin, availability};
use gradband_jobs::grouped;
use serde::Serialize;
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
        r#where: availability(set).to_string(),
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
    let sets = names.iter().map(|name| Dataset::named(name).map_err(|error| error.at(Place::key("NAME"))));
    let sets = sets.collect::<gradband::Result<Vec<_>>>()?;
    if let (Some(from), false) = (from, sets.iter().any(|set| is_published(set))) {
        let message = format!("found {}, but what was named is built in: leave it out", from.display());
        return Err(Error::new(Place::key("--from"), message).into());
    }
    let mut fetched = Vec::new();
    for set in sets {
        let path = if is_published(set) { Some(fetch::one(set, from)?) } else { None };
        if availability(set) == Availability::LeftOut {
            // It says how to get it.
            datasets::open(set)?;
        }
        fetched.push(Fetched { name: set.name, r#where: availability(set).to_string(), path });
    }
    printer.result(&fetched, || {
        let line = |item: &Fetched| match &item.path {
            Some(path) => format!("{} is {}: {}", item.name, item.r#where, path.display()),
            None => format!("{} is {}: nothing to fetch", item.name, item.r#where),
        };
        fetched.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Is it fetched, rather than part of the program?
fn is_published(set: &Dataset) -> bool {
    matches!(set.origin, Origin::Published(_))
}

#[cfg(feature = "download")]
mod fetch {
    use crate::failure::{Failure, Result};
    use crate::watch::Watch;
    use crate::{interrupt, output};
    use gradband::{Error, Place, StopReason};
    use gradband_files::datasets::{self, Availability, Dataset, Trouble};
    use gradband_files::{cache, io};
    use std::path::{Path, PathBuf};

    /// Makes sure that a set is in the cache; says where.
    pub fn one(set: &Dataset, from: Option<&Path>) -> Result<PathBuf> {
        let Some(dir) = cache::dir() else {
            let message =
                format!("found none, expected a directory (or GRADBAND_CACHE) to keep {} in", set.name);
            return Err(Error::new(Place::key("--cache"), message).into());
        };
        match from {
            Some(from) => keep(set, io::read(from)?, dir, |message| {
                Error::new(Place::file(from.display().to_string()), message).into()
            })?,
            None if datasets::availability(set) == Availability::Cached => {}
            None => {
                // Before ten megabytes are fetched for nothing.
                output::create_dir(dir)?;
                let wrong = |message| Failure::Other(format!("what was fetched: {message}"));
                keep(set, download(set)?, dir, wrong)?;
            }
        }
        Ok(datasets::path(set, dir))
    }

    fn download(set: &Dataset) -> Result<Vec<u8>> {
        let name = set.name;
        output::note(&format!("fetching {name}: {}", set.source));
        datasets::fetch(set, &mut Watch::default()).map_err(|trouble| match trouble {
            Trouble::Stopped(StopReason::Interrupted) => Failure::interrupted(),
            trouble => Failure::Other(format!(
                "cannot fetch {name}: {trouble}; with a copy from elsewhere, run: gradband data fetch {name} --from FILE"
            )),
        })
    }

    /// Puts a set into the cache; `wrong` is the failure if it is another one.
    fn keep(set: &Dataset, bytes: Vec<u8>, dir: &Path, wrong: impl Fn(String) -> Failure) -> Result<()> {
        output::create_dir(dir)?;
        // A temporary file is there from now on: Ctrl-C must wait until it is gone.
        let _hold = interrupt::hold();
        datasets::keep(set, bytes, dir, &mut Watch::default()).map_err(|trouble| match trouble {
            Trouble::Stopped(StopReason::Interrupted) => {
                interrupt::answer();
                Failure::interrupted()
            }
            Trouble::Content(message) => wrong(format!("is not {}: {message}", set.name)),
            trouble => Failure::Other(format!("{}: {trouble}", datasets::path(set, dir).display())),
        })
    }
}

#[cfg(not(feature = "download"))]
mod fetch {
    use crate::failure::{Failure, Result};
    use gradband_files::datasets::Dataset;
    use std::path::{Path, PathBuf};

    /// This build cannot.
    pub fn one(set: &Dataset, _: Option<&Path>) -> Result<PathBuf> {
        let message = "this gradband was built without the feature 'download'";
        Err(Failure::Other(format!("cannot fetch {}: {message}", set.name)))
    }
}
