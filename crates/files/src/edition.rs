//! Files that belong together: all new, or none, whenever the process or the machine ends.
//!
//! They are written into a hidden directory, synced, and the directory is renamed: from then on they are the edition. What was
//! there before goes, the new files move to their places, and the hidden directory goes last. A process that ends on the way
//! leaves it behind, and the next one that takes the directory's [`Lock`] finishes the work. At no moment do old and new
//! files stand side by side.

use crate::io::{self, HIDDEN};
use crate::lock::Lock;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An edition that is not in its place yet.
const PENDING: &str = ".gradband-edition";
/// In it: the names of what goes.
const GONE: &str = ".gone";
/// A set of files for a directory.
#[derive(Debug)]
#[must_use]
pub struct Edition {
    dir: PathBuf,
    hidden: TempDir,
    names: BTreeSet<String>,
    gone: BTreeSet<String>,
}

impl Edition {
    /// An empty one for a directory that is there.
    pub fn new(dir: &Path) -> Result<Self> {
        let hidden = tempfile::Builder::new().prefix(HIDDEN).tempdir_in(dir)?;
        Ok(Self { dir: dir.into(), hidden, names: BTreeSet::new(), gone: BTreeSet::new() })
    }

    /// Where a file of the edition is until it is published; its folder is made.
    pub fn path(&mut self, name: &str) -> Result<PathBuf> {
        let path = self.hidden.path().join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        self.names.insert(name.into());
        Ok(path)
    }

    /// Where all its files are until then.
    pub fn hidden(&self) -> &Path {
        self.hidden.path()
    }

    /// Adds a file; its name may have a folder in it.
    pub fn write(&mut self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.path(name)?;
        io::write(&path, |file| file.write_all(content.as_ref()))
    }

    /// A file of the directory that does not belong to the edition, and goes when it comes.
    pub fn without(&mut self, name: &str) {
        self.gone.insert(name.into());
    }

    /// The same for whatever else is in a folder.
    pub fn without_others_in(&mut self, folder: &str) {
        let names = fs::read_dir(self.dir.join(folder)).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        self.gone.extend(names.map(|name| format!("{folder}/{name}")));
    }

    /// Puts all files in their places.
    pub fn publish(self) -> Result<()> {
        let Self { dir, hidden, names, gone } = self;
        // After the rename there is no way back.
        if let Some(name) = names.union(&gone).find(|name| dir.join(name).is_dir()) {
            return Err(Error::new(ErrorKind::IsADirectory, format!("{name} is a directory")));
        }
        let gone: Vec<&str> = gone.difference(&names).map(String::as_str).collect();
        io::write(&hidden.path().join(GONE), |file| file.write_all(gone.join("\n").as_bytes()))?;
        let folders: BTreeSet<_> = names.iter().filter_map(|name| Path::new(name).parent()).collect();
        folders.iter().try_for_each(|folder| io::sync_dir(&hidden.path().join(folder)))?;
        fs::rename(hidden.path(), dir.join(PENDING))?;
        // It is no longer where it was made; nothing is left to remove there.
        let _ = hidden.keep();
        io::sync_dir(&dir)?;
        settle(&dir)
    }
}

/// Takes the lock of a directory, finishes what a process that was killed has begun there, and removes what it left.
pub fn enter(dir: &Path) -> Result<Lock> {
    let lock = Lock::dir(dir)?;
    settle(dir)?;
    for entry in fs::read_dir(dir)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(HIDDEN) {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
    }
    Ok(lock)
}

/// Finishes an edition that a process was killed over, if there is one and nobody else does.
pub(crate) fn finish(dir: &Path) {
    if dir.join(PENDING).is_dir() {
        // Whoever cannot write here reads what there is.
        let _ = enter(dir);
    }
}

fn settle(dir: &Path) -> Result<()> {
    let pending = dir.join(PENDING);
    if !pending.is_dir() {
        return Ok(());
    }
    let gone = fs::read_to_string(pending.join(GONE)).or_else(|error| missing(error, String::new()))?;
    let new = files(&pending, "")?;
    for name in gone.lines().chain(new.iter().map(String::as_str)) {
        fs::remove_file(dir.join(inside(name)?)).or_else(|error| missing(error, ()))?;
    }
    for name in &new {
        let place = dir.join(inside(name)?);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(pending.join(name), place)?;
    }
    io::sync_dir(dir)?;
    fs::remove_dir_all(&pending)?;
    io::sync_dir(dir)
}

/// What is not there need not go.
fn missing<T>(error: Error, otherwise: T) -> Result<T> {
    if error.kind() == ErrorKind::NotFound { Ok(otherwise) } else { Err(error) }
}

/// Names lead nowhere else.
fn inside(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if plain { Ok(path) } else { Err(Error::new(ErrorKind::InvalidData, format!("{name}: not a file here"))) }
}

/// The files below a directory that is pending, by their names.
fn files(dir: &Path, below: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path(), &format!("{name}/"))?);
        } else if name != GONE && !name.contains(HIDDEN) {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(dir: &Path) -> Vec<(String, String)> {
        let read = |name: String| (name.clone(), fs::read_to_string(dir.join(name)).unwrap());
        files(dir, "").unwrap().into_iter().map(read).collect()
    }

    fn edition(dir: &Path, age: &str) -> Edition {
        let mut edition = Edition::new(dir).unwrap();
        for name in ["policy", "figures/a", age] {
            edition.write(name, age).unwrap();
        }
        edition.without("old");
        edition.without("checkpoint");
        edition.without_others_in("figures");
        edition
    }

    #[test]
    fn the_new_take_the_place_of_the_old() {
        let dir = tempfile::tempdir().unwrap();
        edition(dir.path(), "old").publish().unwrap();
        fs::write(dir.path().join("figures/stale"), "old").unwrap();
        fs::write(dir.path().join("mine"), "stays").unwrap();
        drop(edition(dir.path(), "lost"));
        edition(dir.path(), "new").publish().unwrap();
        let expected = [("figures/a", "new"), ("mine", "stays"), ("new", "new"), ("policy", "new")];
        assert_eq!(content(dir.path()), expected.map(|(name, text)| (name.to_string(), text.to_string())));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "nothing hidden is left");
    }

    /// Wherever it ends after the rename, the next process makes it the whole new set.
    #[test]
    fn what_was_begun_is_finished() {
        for done in 0..3 {
            let dir = tempfile::tempdir().unwrap();
            edition(dir.path(), "old").publish().unwrap();
            let Edition { hidden, .. } = edition(dir.path(), "new");
            fs::write(hidden.path().join(GONE), "old").unwrap();
            fs::rename(hidden.keep(), dir.path().join(PENDING)).unwrap();
            for name in ["figures/a", "new", "policy"].iter().take(done) {
                fs::rename(dir.path().join(PENDING).join(name), dir.path().join(name)).unwrap();
            }
            fs::write(dir.path().join(".gradband-xyz"), "left over").unwrap();
            drop(enter(dir.path()).unwrap());
            assert!(content(dir.path()).iter().all(|(_, text)| text == "new"), "{done}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        }
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        for name in ["../x", "/x", "a/../../x"] {
            assert!(inside(name).is_err(), "{name}");
        }
        assert!(inside("figures/x.svg").is_ok());
    }
}
