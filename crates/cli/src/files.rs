//! Files: read with a limit and clear messages, written whole or not at all.

use crate::failure::{Failure, Result};
use gradband::Error;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::Path;

/// The largest file that is read, in megabytes.
const MAX_MEGABYTES: u64 = 256;
const MAX_BYTES: u64 = MAX_MEGABYTES << 20;

/// A whole file as bytes.
pub fn read(path: &Path) -> gradband::Result<Vec<u8>> {
    let wrong = |message: String| Error::new(path.display().to_string(), message);
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => wrong("no such file".into()),
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

/// A whole file as text, which may not be empty.
pub fn read_text(path: &Path) -> gradband::Result<String> {
    let name = path.display().to_string();
    let text = String::from_utf8(read(path)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::new(format!("{name}, line {line}"), "is not UTF-8 text")
    })?;
    if text.trim().is_empty() { Err(Error::new(name, "is empty")) } else { Ok(text) }
}

/// Makes sure that a directory is there and can be written to.
pub fn create_dir(dir: &Path) -> Result<()> {
    let failed = |error| Failure::Other(format!("{}: cannot write there: {error}", dir.display()));
    std::fs::create_dir_all(dir).map_err(failed)?;
    tempfile::NamedTempFile::new_in(dir).map_err(failed).map(drop)
}

fn complete(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<tempfile::NamedTempFile> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // Temporary files are private by default; this one becomes an ordinary file (less the umask).
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".gradband-").tempfile_in(dir)?;
    let mut buffer = BufWriter::new(&mut file);
    content(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    file.as_file().sync_all()?;
    Ok(file)
}

/// Writes a file whole or not at all, in the place of an older one, as `content` says.
pub fn persist(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    complete(path, content)?.persist(path).map(drop).map_err(|error| error.error)
}

/// [`persist`], or a failure that names the file.
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    persist(path, content)
        .map_err(|error| Failure::Other(format!("{}: cannot be written: {error}", path.display())))
}

/// Writes a file whole or not at all, in the place of an older one.
pub fn write(path: &Path, content: &str) -> Result<()> {
    write_with(path, |file| file.write_all(content.as_bytes()))
}

/// Writes a file that must not exist yet.
pub fn write_new(path: &Path, content: &str) -> Result<()> {
    let exists = || Error::new(path.display().to_string(), "exists already; it is left as it is");
    if path.symlink_metadata().is_ok() {
        return Err(exists().into());
    }
    let written = complete(path, |file| file.write_all(content.as_bytes()))
        .and_then(|file| file.persist_noclobber(path).map_err(|error| error.error));
    written.map(drop).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists().into(),
        _ => Failure::Other(format!("{}: cannot be written: {error}", path.display())),
    })
}
