//! Data sets: built in, or fetched into the cache once.
//!
//! A fetched set is kept as a gzip-compressed CSV like those that are built in, and beside it a file with its SHA-256,
//! which every reading checks: hashing the 10 MB that are stored takes a fraction of the time of reading them.

use super::{Dataset, Origin};
use crate::cache::{self, Home};
use crate::io;
use gradband::{Error, Place, Result};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a data set can be read now; its `Display` completes the sentence "iris is …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It is part of the program.
    BuiltIn,
    /// It would be part of the program, but the feature `datasets` is off.
    LeftOut,
    /// It was fetched, and its checksum is right.
    Cached,
    /// It was fetched, but it is not what its checksum says.
    Damaged,
    /// It is yet to be fetched.
    Away,
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built in",
            Self::LeftOut => "left out of this build",
            Self::Cached => "in the cache",
            Self::Damaged => "damaged in the cache",
            Self::Away => "to be fetched",
        })
    }
}

/// The file in the cache directory `dir` that holds a fetched set.
pub fn path(set: &Dataset, dir: &Path) -> PathBuf {
    dir.join(format!("{}.csv.gz", set.name))
}

/// The file beside it with its checksum, in the form that `sha256sum -c` reads.
pub fn sum_path(set: &Dataset, dir: &Path) -> PathBuf {
    dir.join(format!("{}.csv.gz.sha256", set.name))
}

/// A stored set; nothing if there is none.
fn stored(set: &Dataset, dir: &Path) -> Option<Result<Vec<u8>>> {
    let path = path(set, dir);
    path.symlink_metadata().is_ok().then(|| checked(set, &path, &sum_path(set, dir)))
}

fn checked(set: &Dataset, path: &Path, sum_path: &Path) -> Result<Vec<u8>> {
    let damaged = |what: String| {
        let message = format!("{what}; run: gradband data fetch {}", set.name);
        Error::new(Place::file(path.display().to_string()), message)
    };
    let bytes = io::read(path)?;
    let line = std::fs::read_to_string(sum_path).map_err(|error| {
        damaged(format!("cannot be checked (the file with its SHA-256 beside it cannot be read: {error})"))
    })?;
    match line.split_whitespace().next() {
        Some(sum) if sum == hex(&Sha256::digest(&bytes)) => Ok(bytes),
        _ => Err(damaged("is damaged (its SHA-256 is not the one kept beside it)".into())),
    }
}

/// Whether a data set can be read now, and from where.
pub fn availability(set: &Dataset) -> Availability {
    match set.origin {
        Origin::BuiltIn(_) => Availability::BuiltIn,
        Origin::LeftOut => Availability::LeftOut,
        Origin::Published(_) => match cache::dir().and_then(|dir| stored(set, dir)) {
            Some(Ok(_)) => Availability::Cached,
            Some(Err(_)) => Availability::Damaged,
            None => Availability::Away,
        },
    }
}

/// A data set as gzip-compressed CSV: what is built in, or what was fetched into the cache.
///
/// A set that is not there is an error that says how to get it.
pub fn open(set: &Dataset) -> Result<Cow<'static, [u8]>> {
    let name = set.name;
    let wrong = |message: String| Err(Error::new(Place::key(name), message));
    let dir = match (set.origin, cache::home()) {
        (Origin::BuiltIn(bytes), _) => return Ok(Cow::Borrowed(bytes)),
        (Origin::LeftOut, _) => {
            return wrong(
                "is not part of this program: build gradband-files with the feature `datasets`".into(),
            );
        }
        (Origin::Published(_), Home::In(dir)) => dir,
        (Origin::Published(_), Home::Off) => {
            return wrong(format!(
                "is kept in the cache, which is switched off; set GRADBAND_CACHE to a directory, then run: gradband \
                 data fetch {name}"
            ));
        }
        (Origin::Published(_), Home::Unset) => {
            return wrong("is kept in the cache, and none was set up: call `cache::install` first".into());
        }
    };
    match stored(set, dir) {
        Some(bytes) => bytes.map(Cow::Owned),
        None => wrong(format!("is not here yet; run: gradband data fetch {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set that UCI publishes, pretending to be what the tests store.
    fn published() -> Dataset {
        Dataset { name: "little", origin: Origin::Published(&[]), ..super::super::DATASETS[0] }
    }

    #[test]
    fn a_set_that_was_left_out_names_the_feature() {
        let set = Dataset { origin: Origin::LeftOut, ..published() };
        let error = open(&set).unwrap_err();
        assert_eq!(error.place().to_string(), "little");
        assert!(error.to_string().contains("the feature `datasets`"), "{error}");
        assert_eq!(availability(&set), Availability::LeftOut);
    }

    #[test]
    fn a_stored_set_is_checked_whenever_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (set, dir) = (published(), dir.path());
        assert!(stored(&set, dir).is_none());
        std::fs::write(path(&set, dir), b"content").unwrap();
        let message = || stored(&set, dir).unwrap().unwrap_err().to_string();
        assert!(message().contains("cannot be checked") && message().contains("data fetch little"));
        std::fs::write(sum_path(&set, dir), "1234  little.csv.gz\n").unwrap();
        assert!(message().contains("is damaged"), "{}", message());
        std::fs::write(sum_path(&set, dir), "").unwrap();
        assert!(message().contains("is damaged"), "{}", message());
        let sum = format!("{}  little.csv.gz\n", hex(&Sha256::digest(b"content")));
        std::fs::write(sum_path(&set, dir), sum).unwrap();
        assert_eq!(stored(&set, dir).unwrap().unwrap(), b"content");
    }
}
