//! One writer at a time: a lock that a process holds as long as it lives, and no longer.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of a directory.
const LOCK: &str = ".gradband.lock";

/// The right to write to a directory, or to a file. It goes with this value, or with the process; the file that stands for it
/// is removed if the process gets to it.
#[derive(Debug)]
#[must_use]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// For a directory that is there. While another process holds it, this is an error of the kind
    /// [`ErrorKind::WouldBlock`].
    pub fn dir(dir: &Path) -> Result<Self> {
        Self::at(dir.join(LOCK))
    }

    /// For a file, which need not be there.
    pub fn file(path: &Path) -> Result<Self> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        Self::at(lock.into())
    }

    fn at(path: PathBuf) -> Result<Self> {
        loop {
            let mut file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Whoever held it may have removed the file in between: then it stands for nothing.
            if is_at(&file, &path) {
                locks().push(path.clone());
                file.set_len(0)?;
                write!(file, "{}", std::process::id())?;
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        locks().retain(|path| *path != self.path);
        // If it stays, nobody holds it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The locks of this process.
static LOCKS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn locks() -> MutexGuard<'static, Vec<PathBuf>> {
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files of all locks, for a process that is about to end.
pub fn release_locks() {
    for path in locks().drain(..) {
        let _ = std::fs::remove_file(path);
    }
}

/// Says who holds it, if that can be read.
fn held(file: &mut File) -> Error {
    let mut holder = String::new();
    let known = file.take(20).read_to_string(&mut holder).is_ok_and(|_| holder.parse::<u32>().is_ok());
    let who = if known { format!("process {holder}") } else { "another process".into() };
    let message = format!("{who} is writing there; wait until it is done, or choose another place");
    Error::new(ErrorKind::WouldBlock, message)
}

/// Is this file the one that is there now?
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    let same = |a: &Metadata, b: &Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_the_next_is_told_who() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::dir(dir.path()).unwrap();
        let refused = Lock::dir(dir.path()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        assert!(refused.to_string().contains(&format!("process {} is", std::process::id())), "{refused}");
        let other = Lock::file(&dir.path().join("state.json")).unwrap();
        drop((lock, other));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        // What a dead process left is no lock.
        std::fs::write(dir.path().join(LOCK), "1").unwrap();
        drop(Lock::dir(dir.path()).unwrap());
    }
}
