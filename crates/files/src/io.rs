//! Files: read with a limit and clear messages, written whole or not at all.

use crate::lock::is_at;
use gradband::{Error, ErrorKind, Place, Result};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufWriter, ErrorKind as Io, Read, Write};
use std::path::Path;

/// What the names of files and folders begin with that are on their way.
pub(crate) const HIDDEN: &str = ".gradband-";

/// The largest file that is read, in megabytes.
const MAX_MEGABYTES: u64 = 256;
const MAX_BYTES: u64 = MAX_MEGABYTES << 20;

/// The most values in a JSON file: what is kept of each takes far more memory than its text.
const MAX_VALUES: usize = 8 << 20;

fn place(path: &Path) -> Place {
    Place::file(path.display().to_string())
}

/// Reads a whole file of at most 256 MB as bytes.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let wrong = |message: String| Error::new(place(path), message);
    let unreadable = |error: std::io::Error| match error.kind() {
        Io::NotFound => wrong("no such file".into()),
        _ => wrong(format!("cannot be read: {error}")),
    };
    let too_large = || wrong(format!("is larger than {MAX_MEGABYTES} MB"));
    let file = File::open(path).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if meta.is_dir() {
        return Err(wrong("is a directory, expected a file".into()));
    }
    if meta.len() > MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // A pipe or a device does not know its size.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a whole file as text, which may not be empty.
pub fn read_text(path: &Path) -> Result<String> {
    let text = String::from_utf8(read(path)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::new(place(path).line(line as u64), "is not UTF-8 text")
    })?;
    if text.trim().is_empty() { Err(Error::new(place(path), "is empty")) } else { Ok(text) }
}

/// About how many values a text has, JSON or TOML: each but the first has a sign of its own before it.
pub(crate) fn values(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b'=')).count()
}

/// Refuses a JSON text with too many values, before anything is made of them.
pub fn check_values(path: &Path, text: &str) -> Result<()> {
    if values(text) <= MAX_VALUES {
        return Ok(());
    }
    let message = format!("has more than {MAX_VALUES} values, which would take gigabytes");
    Err(Error::of(place(path), ErrorKind::TooLarge(message)))
}

/// Reads a JSON file. Errors name line and column.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = read_text(path)?;
    check_values(path, &text)?;
    serde_json::from_str(&text).map_err(|error| explained(path, &error))
}

fn explained(path: &Path, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let (line, column) = (error.line(), error.column());
    // The position is part of the message, and serde_json has no other way to get at the rest.
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let place = match line {
        0 => place(path),
        _ => place(path).line(line as u64).then(Place::key(format!("column {column}"))),
    };
    Error::new(place, format!("not the JSON that was expected: {message}"))
}

/// Makes sure that a directory is there and can be written to, and makes it if it is not.
pub fn create_dir(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    tempfile::Builder::new().prefix(HIDDEN).tempfile_in(dir).map(drop)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens an empty file for this writer alone; others wait.
fn alone(path: &Path) -> std::io::Result<File> {
    loop {
        // The name can be foretold: nobody's link is followed.
        if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            std::fs::remove_file(path)?;
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // Whoever had it may have moved or removed it in between.
        if is_at(&file, path) {
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

fn complete(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<tempfile::NamedTempFile> {
    // Its name follows from the file's: what a process that was killed leaves is used by the next that writes the file.
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let name: String = Sha256::digest(name)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(HIDDEN).suffix(&name).rand_bytes(0).make_in(folder(path), alone)?;
    let mut buffer = BufWriter::new(&mut file);
    content(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    file.as_file().sync_all()?;
    Ok(file)
}

/// Makes sure that what was renamed in a directory stays so when the machine ends.
pub fn sync_dir(dir: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(dir)?.sync_all()?;
    Ok(())
}

/// Writes a file whole or not at all: what `content` writes takes the place of an older file only once it is complete.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    complete(path, content)?.persist(path).map(drop).map_err(|error| error.error)?;
    // The new file is there; that its name is not synced yet is no reason to say otherwise.
    let _ = sync_dir(folder(path));
    Ok(())
}

/// Writes a file that must not exist yet, or fails with [`std::io::ErrorKind::AlreadyExists`].
pub fn write_new(path: &Path, content: &str) -> std::io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(Io::AlreadyExists.into());
    }
    let file = complete(path, |file| file.write_all(content.as_bytes()))?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(content: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        std::fs::write(&path, content).unwrap();
        read_json::<Vec<f64>>(&path).unwrap_err().to_string()
    }

    #[test]
    fn json_is_refused_with_line_and_column() {
        let message = refused(b"[1,\n \"a at line 7 column 3\"]");
        assert!(message.contains("x.json, line 2, column 23: not the JSON that was expected"), "{message}");
        assert!(message.ends_with("string \"a at line 7 column 3\", expected f64"), "{message}");
        assert!(refused(b"[1, 2").contains("line 1, column 5: not the JSON that was expected: EOF"));
        assert!(refused(b" \n").ends_with("x.json: is empty"));
        assert!(refused(b"[1,\n\xff]").contains("x.json, line 2: is not UTF-8"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let message = |path: &Path| read(path).unwrap_err().to_string();
        assert!(message(&dir.path().join("none")).ends_with("none: no such file"));
        assert!(message(dir.path()).ends_with("is a directory, expected a file"));
    }

    #[test]
    fn files_are_written_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        write(&path, |file| file.write_all(b"first")).unwrap();
        let failed = write(&path, |file| {
            file.write_all(b"second, cut")?;
            Err(Io::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), Io::StorageFull);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(write_new(&path, "third").unwrap_err().kind(), Io::AlreadyExists);
        write_new(&dir.path().join("y"), "third").unwrap();
        let left = || std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left(), 2, "nothing temporary is left");
        // A process that was killed leaves what it had, until the file is written again.
        std::mem::forget(complete(&path, |file| file.write_all(b"fourth, killed")).unwrap().into_temp_path());
        assert_eq!(left(), 3);
        write(&path, |file| file.write_all(b"fifth")).unwrap();
        assert_eq!((left(), std::fs::read(&path).unwrap()), (2, b"fifth".to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_temporary_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, victim) = (dir.path().join("x"), dir.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        let temporary = complete(&path, |_| Ok(())).unwrap().path().to_owned();
        std::os::unix::fs::symlink(&victim, temporary).unwrap();
        write(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn writers_of_one_file_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::thread::scope(|scope| {
            for i in 0..8_u8 {
                let path = &path;
                scope.spawn(move || write(path, |file| file.write_all(&[i; 100_000])).unwrap());
            }
        });
        let found = std::fs::read(&path).unwrap();
        assert!(found.len() == 100_000 && found.iter().all(|byte| *byte == found[0]));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
