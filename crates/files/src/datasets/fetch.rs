//! From the network, or a copy at hand, into the cache: whole or not at all, and only if it is the right data set.

use super::convert::{Converted, convert, unpacked};
use super::download::download;
use super::store::{hex, path, sum_path};
use super::{Dataset, Origin};
use crate::io;
use flate2::Compression;
use flate2::write::GzEncoder;
use gradband::{Observer, Progress, StopReason};
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Why a data set could not be fetched or kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// It is not published anywhere: it is built in, or would be.
    Unpublished,
    /// It cannot be downloaded; each address with the reason.
    Unreachable(String),
    /// The observer stopped the work.
    Stopped(StopReason),
    /// It cannot be written into the cache.
    Write(std::io::Error),
    /// It is not what it should be.
    Content(String),
}

impl Display for Trouble {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Unpublished => f.write_str("is built in: there is nothing to fetch"),
            Self::Unreachable(why) | Self::Content(why) => f.write_str(why),
            Self::Stopped(reason) => write!(f, "stopped: {reason}"),
            Self::Write(error) => write!(f, "cannot be written: {error}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// Downloads the file that UCI publishes; [`keep`] checks it and puts it into the cache.
pub fn fetch(set: &Dataset, observer: &mut dyn Observer) -> Result<Vec<u8>, Trouble> {
    match set.origin {
        Origin::Published(urls) => download(urls, set.name, observer),
        Origin::BuiltIn(_) | Origin::LeftOut => Err(Trouble::Unpublished),
    }
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

/// Puts a data set into the cache directory `dir`, in the form of those that are built in and with its checksum beside
/// it, if `bytes` are what UCI publishes: the file, gzip-compressed or not, its archive, or a copy with a header.
pub fn keep(set: &Dataset, bytes: Vec<u8>, dir: &Path, observer: &mut dyn Observer) -> Result<(), Trouble> {
    let mut trouble = None;
    let mut sum = String::new();
    let stored = io::write(&path(set, dir), |file| {
        let mut encoder = GzEncoder::new(Hashed { out: file, hash: Sha256::new() }, Compression::default());
        if let Err(found) = copy(set, bytes, &mut encoder, observer) {
            trouble = Some(found);
            return Err(std::io::Error::other("not stored"));
        }
        sum = hex(&encoder.finish()?.hash.finalize());
        Ok(())
    });
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    // The checksum comes last: without it, nothing that was cut off is taken for the data set.
    let line = format!("{sum}  {}.csv.gz\n", set.name);
    let stored = stored.and_then(|()| io::write(&sum_path(set, dir), |file| file.write_all(line.as_bytes())));
    stored.map_err(Trouble::Write)
}

/// Copies the rows if they are the right ones.
fn copy(
    set: &Dataset,
    bytes: Vec<u8>,
    out: &mut dyn Write,
    observer: &mut dyn Observer,
) -> Result<(), Trouble> {
    let what = format!("checking {}", set.name);
    let mut watch =
        |rows: usize| observer.progress(Progress::new(&what, "examples", rows as u64, set.examples as u64));
    let converted = unpacked(bytes).and_then(|source| convert(source, set.features, out, &mut watch));
    match converted.map_err(|error| Trouble::Content(error.to_string()))? {
        ControlFlow::Continue(converted) => check(set, &converted),
        ControlFlow::Break(reason) => Err(Trouble::Stopped(reason)),
    }
}

fn check(set: &Dataset, found: &Converted) -> Result<(), Trouble> {
    if found.sha256 == set.sha256 {
        return Ok(());
    }
    let Converted { rows, sha256 } = found;
    Err(Trouble::Content(format!(
        "found {rows} examples with SHA-256 {sha256}, expected {} with {}",
        set.examples, set.sha256
    )))
}
