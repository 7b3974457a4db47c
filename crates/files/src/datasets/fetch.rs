//! From the network, or a copy at hand, into the cache: whole or not at all, and only if it is the right data set.

use super::convert::{Converted, convert, unpacked};
use super::download::{URLS, download};
use super::{Dataset, hex, path, sum_path};
use crate::io;
use flate2::Compression;
use flate2::write::GzEncoder;
use gradband::{Observer, Progress};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;

/// Why a set was not stored.
#[derive(Debug)]
pub enum Trouble {
    /// The observer said so.
    Interrupted,
    /// It cannot be written.
    Write(std::io::Error),
    /// It is not what it should be.
    Content(String),
}

/// The file that UCI publishes, or why it cannot be had.
pub fn fetch(set: &Dataset, observer: &mut dyn Observer) -> Result<Vec<u8>, String> {
    download(&URLS, set.name, observer)
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

/// Writes a set into the cache if it is the right one, its checksum last.
pub fn keep(set: &Dataset, bytes: Vec<u8>, dir: &Path, observer: &mut dyn Observer) -> Result<(), Trouble> {
    let what = format!("checking {}", set.name);
    let mut go_on = |rows: usize| {
        let progress = Progress::new(&what, "examples", rows as u64, set.examples as u64);
        observer.progress(progress).is_continue()
    };
    let mut trouble = None;
    let mut sum = String::new();
    let stored = io::write(&path(set, dir), |file| {
        let mut encoder = GzEncoder::new(Hashed { out: file, hash: Sha256::new() }, Compression::default());
        let converted = unpacked(bytes).and_then(|source| convert(source, set.features, &mut encoder, &mut go_on));
        trouble = match converted {
            Ok(Some(converted)) => check(set, &converted).err().map(Trouble::Content),
            Ok(None) => Some(Trouble::Interrupted),
            Err(error) => Some(Trouble::Content(error.to_string())),
        };
        if trouble.is_some() {
            return Err(std::io::Error::other("not stored"));
        }
        sum = hex(&encoder.finish()?.hash.finalize());
        Ok(())
    });
    let stored = stored.and_then(|()| {
        let line = format!("{sum}  {}.csv.gz\n", set.name);
        io::write(&sum_path(set, dir), |file| file.write_all(line.as_bytes()))
    });
    match trouble {
        Some(trouble) => Err(trouble),
        None => stored.map_err(Trouble::Write),
    }
}

fn check(set: &Dataset, found: &Converted) -> Result<(), String> {
    if found.sha256 == set.sha256 {
        return Ok(());
    }
    let Converted { rows, sha256 } = found;
    Err(format!(
        "found {rows} examples with SHA-256 {sha256}, expected {} with {}",
        set.examples, set.sha256
    ))
}
