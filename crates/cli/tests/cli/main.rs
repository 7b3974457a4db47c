//! Runs the real binary, as a user would.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod auto;
mod bad_input;
mod bad_specs;
mod cache;
mod commands;
mod contextual;
mod data;
mod exact;
mod files;
mod hostile;
#[cfg(unix)]
mod interrupt;
mod neural;
mod play;
mod policies;
mod reports;
mod reproduce;
#[cfg(unix)]
mod resume;
mod shown;
#[cfg(unix)]
mod soak;
mod tables;
mod truth;
mod world;

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output};

/// The binary, with nothing from the surroundings that could change its output.
fn gradband(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gradband"));
    command.args(args).env_remove("RAYON_NUM_THREADS").env("GRADBAND_CACHE", "none");
    command
}

fn run(args: &[&str]) -> Output {
    gradband(args).output().unwrap()
}

/// The text of a run that must succeed.
fn text(args: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one JSON document of a run that must succeed.
fn json(args: &[&str]) -> Value {
    let text = text(&[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}\n{text}"))
}

/// The message of a run that must refuse its input: exit code 2, one line, nothing on stdout.
fn refused(args: &[&str]) -> String {
    let output = run(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?} printed a result");
    assert!(message.starts_with("error: ") && !message.contains("panicked"), "{args:?}: {message}");
    message
}

/// Refused, with a message that says all of this.
fn refused_saying(args: &[&str], parts: &[&str]) {
    let message = refused(args);
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: '{part}' is not in: {message}");
    }
}

fn write(dir: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().into()
}

fn mean(estimate: &Value) -> f64 {
    assert!(estimate["std_error"].as_f64().unwrap() >= 0.0);
    estimate["mean"].as_f64().unwrap()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The same document without timings, which differ from run to run.
fn timeless(mut document: Value) -> Value {
    match &mut document {
        Value::Object(object) => {
            object.retain(|key, _| !matches!(&key[..], "seconds" | "core_seconds"));
            object.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(array) => array.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    document
}
