//! The directory that is kept between runs: fetched data sets, and Gittins tables, which are written whole or not at all,
//! checked when read, and never a reason to fail.
//!
//! The file of a table is a header (magic, version, horizon, checksum; little endian) and its numbers as f32.

use crate::io;
use gradband::exact::{GittinsTable, MAX_GITTINS_HORIZON, Store, keep_in};
use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MAGIC: &[u8; 8] = b"gittins\n";
/// Another number for other contents: a new format, or indices computed in another way.
const VERSION: u32 = 1;
/// Numbers read and written at a time.
const CHUNK: usize = 1 << 16;

/// Set once, at the start.
static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Whether there is a cache.
pub(crate) enum Home {
    /// Nobody has called [`install`].
    Unset,
    /// The user wants none.
    Off,
    /// It is there.
    In(&'static Path),
}

pub(crate) fn home() -> Home {
    match DIR.get() {
        None => Home::Unset,
        Some(None) => Home::Off,
        Some(Some(dir)) => Home::In(dir),
    }
}

/// The directory of the cache, unless it is switched off or was never set up.
pub fn dir() -> Option<&'static Path> {
    match home() {
        Home::In(dir) => Some(dir),
        Home::Unset | Home::Off => None,
    }
}

/// Sets up the cache of this process, in which Gittins tables and fetched data sets are kept; until then nothing is
/// read from or written to it. Call it once, at the start: the first call counts.
///
/// The directory is `said`, else what the environment variable `GRADBAND_CACHE` says, else `gradband` in the directory
/// that the system has for such files; with the word `none` there is no cache. A table that cannot be read or kept is
/// no reason to fail: `note` is told of it.
pub fn install(said: Option<PathBuf>, note: fn(&str)) {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let custom = || {
        let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
        Some(base.join("gradband"))
    };
    let dir = said.or_else(|| set("GRADBAND_CACHE")).or_else(custom);
    let dir = DIR.get_or_init(|| dir.filter(|dir| dir.as_os_str() != "none"));
    if let Some(dir) = dir.clone() {
        keep_in(Box::new(Cache { dir, note }));
    }
}

struct Cache {
    dir: PathBuf,
    note: fn(&str),
}

impl Cache {
    fn path(&self, horizon: usize) -> PathBuf {
        self.dir.join(format!("gittins-{horizon}.bin"))
    }

    /// The shortest table that serves this horizon; one that is much longer takes longer to read than to
    /// compute anew.
    fn find(&self, horizon: usize) -> Option<PathBuf> {
        let files = std::fs::read_dir(&self.dir).ok()?;
        let horizons = files.filter_map(|file| {
            let name = file.ok()?.file_name();
            name.to_str()?.strip_prefix("gittins-")?.strip_suffix(".bin")?.parse().ok()
        });
        horizons
            .filter(|&length| length >= horizon && length <= 2 * horizon)
            .min()
            .map(|length| self.path(length))
    }
}

impl Store for Cache {
    fn has(&self, horizon: usize) -> bool {
        self.find(horizon).is_some()
    }

    fn load(&self, horizon: usize) -> Option<GittinsTable> {
        let path = self.find(horizon)?;
        let serves = |table: GittinsTable| match table.horizon() {
            length if length >= horizon => Ok(table),
            // Its name promises more.
            length => Err(wrong(&format!("it is one of {length} rounds"))),
        };
        read(&path)
            .and_then(serves)
            .map_err(|error| (self.note)(&format!("note: {}: {error}; it is computed anew", path.display())))
            .ok()
    }

    fn save(&self, table: &GittinsTable) {
        let path = self.path(table.horizon());
        let written =
            std::fs::create_dir_all(&self.dir).and_then(|()| io::write(&path, |file| write(table, file)));
        if let Err(error) = written {
            (self.note)(&format!("note: {}: cannot keep the Gittins table: {error}", path.display()));
        }
    }
}

fn write(table: &GittinsTable, file: &mut dyn Write) -> Result<()> {
    let sum = table.values().iter().fold(Checksum::default(), |sum, x| sum.with(x.to_bits()));
    file.write_all(MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&(table.horizon() as u32).to_le_bytes())?;
    file.write_all(&sum.0.to_le_bytes())?;
    for chunk in table.values().chunks(CHUNK) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|x| x.to_le_bytes()).collect();
        file.write_all(&bytes)?;
    }
    Ok(())
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("is not a sound Gittins table ({what})"))
}

/// Reads a stored table. Whatever is wrong with it is an error of the kind `InvalidData`.
pub fn read(path: &Path) -> Result<GittinsTable> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let mut header = [0; 24];
    file.read_exact(&mut header).map_err(|_| wrong("truncated"))?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if &header[..8] != MAGIC || word(8) != VERSION {
        return Err(wrong("another format"));
    }
    let horizon = word(12) as usize;
    if horizon > MAX_GITTINS_HORIZON || size != 24 + 4 * GittinsTable::entries(horizon) as u64 {
        return Err(wrong("its size is wrong"));
    }
    let mut values = Vec::with_capacity(GittinsTable::entries(horizon));
    let mut sum = Checksum::default();
    let mut bytes = vec![0; 4 * CHUNK];
    while values.len() < GittinsTable::entries(horizon) {
        let count = CHUNK.min(GittinsTable::entries(horizon) - values.len());
        file.read_exact(&mut bytes[..4 * count]).map_err(|_| wrong("truncated"))?;
        for x in bytes[..4 * count].as_chunks::<4>().0 {
            let bits = u32::from_le_bytes(*x);
            sum = sum.with(bits);
            values.push(f32::from_bits(bits));
        }
    }
    if sum.0 != u64::from(word(16)) | u64::from(word(20)) << 32 {
        return Err(wrong("its checksum is wrong"));
    }
    GittinsTable::from_parts(horizon, values).map_err(|error| wrong(&error.to_string()))
}

/// FNV-1a over words.
#[derive(Clone, Copy)]
struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    fn with(self, word: u32) -> Self {
        Self((self.0 ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn note(message: &str) {
        NOTES.lock().unwrap().push(message.into());
    }

    #[test]
    fn a_table_serves_horizons_that_are_a_little_shorter_and_damage_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache { dir: dir.path().join("deep"), note };
        let table = GittinsTable::new(12, &mut ()).unwrap();
        assert!(!cache.has(12) && cache.load(12).is_none());
        cache.save(&table);
        assert_eq!(cache.load(12), Some(table.clone()));
        assert_eq!(cache.load(6), Some(table), "one of twice the length is read faster than computed");
        assert!(!cache.has(5) && !cache.has(13));
        assert!(NOTES.lock().unwrap().is_empty());

        let path = cache.path(12);
        let sound = std::fs::read(&path).unwrap();
        for (at, what) in
            [(0, "another format"), (8, "another format"), (12, "size"), (20, "checksum"), (40, "checksum")]
        {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            assert!(cache.load(12).is_none());
            let last = NOTES.lock().unwrap().pop().unwrap();
            assert!(last.contains("gittins-12.bin") && last.contains(what), "{last}");
        }
        std::fs::write(&path, &sound[..10]).unwrap();
        assert!(cache.load(12).is_none() && NOTES.lock().unwrap().pop().unwrap().contains("truncated"));
        std::fs::write(cache.path(20), &sound).unwrap();
        assert!(cache.load(20).is_none() && NOTES.lock().unwrap()[0].contains("one of 12 rounds"));
    }
}
