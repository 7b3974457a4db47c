//! Whatever gradband reads, as functions of bytes that must neither panic, nor hang, nor take much memory.
//!
//! `make fuzz SECONDS=60` runs all of them on the stable toolchain: the driver in `main.rs` damages the files in `corpus` and
//! watches. The same functions are the body of a libFuzzer target; see `README.md`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod mutate;
mod targets;

use std::path::{Path, PathBuf};

/// Something that reads bytes, and whether it accepted them. What is wrong with it is a panic.
pub type Run = fn(&[u8]) -> bool;

/// A thing that is read.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also the folder of its corpus.
    pub name: &'static str,
    /// Reads it, and does with it what the program would do.
    pub run: Run,
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        /// All of them.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: targets::$name }),*];
    };
}
targets!(
    spec,
    table,
    labelled,
    libsvm,
    gzip,
    policy_file,
    safetensors,
    agent,
    checkpoint,
    record,
    session,
    gittins,
    policy_string,
    protocol,
);

impl Target {
    /// The target of that name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.iter().copied().find(|target| target.name == name)
    }

    /// Reads an input; whether it was accepted.
    pub fn read(&self, bytes: &[u8]) -> bool {
        (self.run)(bytes)
    }

    /// The inputs that damage starts from.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let dir = folder("corpus").join(self.name);
        let files = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }
}

/// A folder of this crate.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
