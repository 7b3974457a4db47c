//! Data sets: built in, or fetched into the cache once.
//!
//! A fetched set is kept as a gzip-compressed CSV like those that are built in, and beside it a file with its SHA-256,
//! which every reading checks: hashing the 10 MB that are stored takes a fraction of the time of reading them.

use super::Dataset;
use crate::{cache, io};
use gradband::{Error, Place as Where, Result};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where a data set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    BuiltIn,
    Cached,
    Damaged,
    Away,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built in",
            Self::Cached => "in the cache",
            Self::Damaged => "damaged in the cache",
            Self::Away => "to be fetched",
        })
    }
}

/// The file that holds a fetched set.
pub fn path(set: &Dataset, dir: &Path) -> PathBuf {
    dir.join(format!("{}.csv.gz", set.name))
}

/// The file beside it, in the form that `sha256sum -c` reads.
pub fn sum_path(set: &Dataset, dir: &Path) -> PathBuf {
    dir.join(format!("{}.csv.gz.sha256", set.name))
}

/// A stored set; nothing if there is none.
fn stored(set: &Dataset, dir: &Path) -> Option<Result<Vec<u8>>> {
    let path = path(set, dir);
    if path.symlink_metadata().is_err() {
        return None;
    }
    let damaged = |what: &str| {
        let message = format!("{what}; run: gradband data fetch {}", set.name);
        Error::new(Where::file(path.display().to_string()), message)
    };
    let sum = std::fs::read_to_string(sum_path(set, dir)).unwrap_or_default();
    Some(io::read(&path).and_then(|bytes| match sum.split_whitespace().next() {
        Some(sum) if sum == hex(&Sha256::digest(&bytes)) => Ok(bytes),
        Some(_) => Err(damaged("is damaged (its SHA-256 is not the one kept beside it)")),
        None => Err(damaged("cannot be checked (the file with its SHA-256 is missing beside it)")),
    }))
}

/// Where a set is now.
pub fn place(set: &Dataset) -> Place {
    match (set.embedded, cache::dir().and_then(|dir| stored(set, dir))) {
        (Some(_), _) => Place::BuiltIn,
        (None, Some(Ok(_))) => Place::Cached,
        (None, Some(Err(_))) => Place::Damaged,
        (None, None) => Place::Away,
    }
}

/// A data set as gzip-compressed CSV: what is built in, or what was fetched into the cache.
pub fn open(set: &Dataset) -> Result<Cow<'static, [u8]>> {
    if let Some(bytes) = set.embedded {
        return Ok(Cow::Borrowed(bytes));
    }
    let name = set.name;
    let Some(dir) = cache::dir() else {
        let message = format!(
            "is kept in the cache, which is switched off; set --cache or GRADBAND_CACHE to a directory, then run: \
             gradband data fetch {name}"
        );
        return Err(Error::new(name, message));
    };
    let absent = || Err(Error::new(name, format!("is not here yet; run: gradband data fetch {name}")));
    stored(set, dir).unwrap_or_else(absent).map(Cow::Owned)
}
