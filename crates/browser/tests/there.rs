//! Without a browser its tests are left out loudly, or fail where it is required: seen from outside, in a test that
//! another process runs.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

/// Runs `it_is_decided` in a process that has no Chromium.
fn without_browser(required: bool) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "it_is_decided"]);
    command.env("GRADBAND_CHROMIUM", "/nowhere/chromium").env_remove("GRADBAND_BROWSER");
    if required {
        command.env("GRADBAND_BROWSER", "required");
    }
    command.output().unwrap()
}

/// Passes with a browser, and without one unless it is required.
#[test]
fn it_is_decided() {
    gradband_browser::is_there();
}

#[test]
fn a_missing_browser_is_said_aloud() {
    let output = without_browser(false);
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8(output.stderr).unwrap().starts_with("LEFT OUT: tests in a browser; no Chromium")
    );
}

#[test]
fn a_required_browser_must_be_there() {
    let output = without_browser(true);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("GRADBAND_BROWSER=required"));
}
