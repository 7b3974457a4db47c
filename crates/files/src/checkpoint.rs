//! Checkpoints: what a training has found so far, so that it can go on after its process has ended.
//!
//! ```text
//! gradband checkpoint\n | format (u32) | SHA-256 of the rest | settings as JSON, steps by name (lengths are u64)
//! ```
//! All numbers are little endian. A file is written whole or not at all, at most every few seconds, and less often where that
//! takes long: [`Checkpoint::SHARE`] of the time at most goes into it.

use crate::io;
use gradband::{Error, Place, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the file is called.
pub const CHECKPOINT_FILE: &str = "checkpoint.gradband";

const MAGIC: &[u8] = b"gradband checkpoint\n";
/// Another number for other contents: refused.
const CHECKPOINT_FORMAT: u32 = 1;
/// The shortest time between two.
const PAUSE: Duration = Duration::from_secs(2);

/// The steps of a training that are known, in a file.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    settings: Vec<u8>,
    steps: BTreeMap<String, Vec<u8>>,
    next: Instant,
}

impl Checkpoint {
    /// The part of a training's time that goes into checkpoints, at most.
    pub const SHARE: f64 = 0.005;

    /// An empty one in a directory, for a training with these settings.
    pub fn new(dir: &Path, settings: &impl Serialize) -> Result<Self> {
        let settings =
            serde_json::to_vec(settings).map_err(|error| Error::new("settings", error.to_string()))?;
        let path = dir.join(CHECKPOINT_FILE);
        Ok(Self { path, settings, steps: BTreeMap::new(), next: Instant::now() })
    }

    /// Whether a training was broken off in a directory.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(CHECKPOINT_FILE).exists()
    }

    /// The one in a directory. What is damaged, foreign or of another format is refused.
    pub fn load(dir: &Path) -> Result<Self> {
        let path = dir.join(CHECKPOINT_FILE);
        let place = || Place::file(path.display().to_string());
        let bytes =
            std::fs::read(&path).map_err(|error| Error::new(place(), format!("cannot be read: {error}")))?;
        let (settings, steps) =
            parse(&bytes).map_err(|what| Error::new(place(), format!("{what}; start anew with --force")))?;
        Ok(Self { settings, steps, next: Instant::now(), path })
    }

    /// The settings that it was made with.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.settings).map_err(|error| {
            let place = Place::file(self.path.display().to_string());
            Error::new(place, format!("has other settings than expected ({error}); start anew with --force"))
        })
    }

    /// What is known of a step.
    pub fn recall(&self, step: &str) -> Option<&[u8]> {
        self.steps.get(step).map(Vec::as_slice)
    }

    /// Notes a step that is done; what was known of steps within it goes.
    pub fn note(&mut self, step: &str, state: Vec<u8>) {
        let within = format!("{step}/");
        self.steps.retain(|name, _| !name.starts_with(&within));
        self.steps.insert(step.into(), state);
    }

    /// Is it time to write?
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes it; `since` is when the work for it began.
    pub fn write(&mut self, since: Instant) -> Result<()> {
        let rest = rest(&self.settings, &self.steps);
        let written = io::write(&self.path, |file| {
            file.write_all(MAGIC)?;
            file.write_all(&CHECKPOINT_FORMAT.to_le_bytes())?;
            file.write_all(&Sha256::digest(&rest))?;
            file.write_all(&rest)
        });
        self.next = Instant::now() + PAUSE.max(since.elapsed().div_f64(Self::SHARE));
        written.map_err(|error| {
            Error::new(Place::file(self.path.display().to_string()), format!("cannot be written: {error}"))
        })
    }
}

fn put(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u64).to_le_bytes());
    to.extend(bytes);
}

fn take<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = from.split_first_chunk()?;
    let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(*len).try_into().ok()?)?;
    *from = rest;
    Some(bytes)
}

fn rest(settings: &[u8], steps: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut rest = Vec::new();
    put(&mut rest, settings);
    for (name, state) in steps {
        put(&mut rest, name.as_bytes());
        put(&mut rest, state);
    }
    rest
}

type Parts = (Vec<u8>, BTreeMap<String, Vec<u8>>);

fn parse(bytes: &[u8]) -> std::result::Result<Parts, String> {
    let foreign = || "is not a checkpoint of gradband".to_string();
    let damaged = || "is damaged: its checksum is wrong".to_string();
    let bytes = bytes.strip_prefix(MAGIC).ok_or_else(foreign)?;
    let (format, bytes) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let format = u32::from_le_bytes(*format);
    if format != CHECKPOINT_FORMAT {
        return Err(format!(
            "has format {format}, this version reads {CHECKPOINT_FORMAT}: --resume with the version that wrote it"
        ));
    }
    let (sum, mut rest) = bytes.split_first_chunk::<32>().ok_or_else(damaged)?;
    if Sha256::digest(rest)[..] != sum[..] {
        return Err(damaged());
    }
    let settings = take(&mut rest).ok_or_else(damaged)?.to_vec();
    let mut steps = BTreeMap::new();
    while !rest.is_empty() {
        let name =
            take(&mut rest).and_then(|name| String::from_utf8(name.into()).ok()).ok_or_else(damaged)?;
        steps.insert(name, take(&mut rest).ok_or_else(damaged)?.to_vec());
    }
    Ok((settings, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(dir: &Path) -> Checkpoint {
        let mut checkpoint = Checkpoint::new(dir, &("softelim", 7)).unwrap();
        assert!(checkpoint.is_due());
        checkpoint.note("fold 1/climb", vec![1, 2, 3]);
        checkpoint.note("fold 1", vec![0, 255]);
        checkpoint.note("fold 2/climb", Vec::new());
        checkpoint.write(Instant::now()).unwrap();
        assert!(!checkpoint.is_due());
        checkpoint
    }

    #[test]
    fn what_is_written_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Checkpoint::is_in(dir.path()));
        let steps = written(dir.path()).steps;
        let again = Checkpoint::load(dir.path()).unwrap();
        assert_eq!(again.steps, steps);
        assert_eq!((again.recall("fold 1"), again.recall("fold 1/climb")), (Some(&[0, 255][..]), None));
        assert_eq!(again.settings::<(String, u32)>().unwrap(), ("softelim".into(), 7));
        assert!(again.settings::<bool>().unwrap_err().to_string().contains("--force"));
    }

    /// Every byte counts, and every end.
    #[test]
    fn damage_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let _ = written(dir.path());
        let path = dir.path().join(CHECKPOINT_FILE);
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            let what = parse(&bytes).unwrap_err();
            let expected = match at {
                0..20 => "is not a checkpoint",
                20..24 => "this version reads 1: --resume with the version that wrote it",
                _ => "is damaged",
            };
            assert!(what.contains(expected), "{at}: {what}");
            assert!(parse(&sound[..at]).is_err());
        }
        std::fs::write(&path, &sound[..30]).unwrap();
        let message = Checkpoint::load(dir.path()).unwrap_err().to_string();
        assert!(
            message.contains(CHECKPOINT_FILE) && message.ends_with("start anew with --force"),
            "{message}"
        );
    }
}
