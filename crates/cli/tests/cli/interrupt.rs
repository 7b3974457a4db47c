//! Ctrl-C.

use super::*;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Starts a job that would take hours, waits until it is well under way, and interrupts it.
fn interrupted(args: &[&str], under_way: impl Fn() -> bool) -> Output {
    interrupted_after(Duration::from_millis(400), args, under_way)
}

fn interrupted_after(pause: Duration, args: &[&str], under_way: impl Fn() -> bool) -> Output {
    let child = gradband(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !under_way() {
        assert!(start.elapsed() < Duration::from_secs(60), "{args:?} did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(pause);
    press_ctrl_c(&child);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{args:?}: {stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    output
}

fn press_ctrl_c(child: &Child) {
    let done = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_training_keeps_what_was_learned() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["train", "--iterations", "9000000", "--json", "-o", out.to_str().unwrap()];
    let output = interrupted(&args, || out.exists());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["stop_reason"], "interrupted");
    let done = document["history"].as_array().unwrap().len();
    assert!(done > 0);
    let file = out.join("policy.json");
    let policy: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(policy["policy"], document["policy"]);
    assert_eq!(policy["training"]["stop_reason"], "interrupted");
    assert_eq!(std::fs::read_to_string(out.join("history.csv")).unwrap().lines().count(), done + 1);
    json(&["evaluate", "bernoulli-2", "--policy-file", file.to_str().unwrap(), "--instances", "20"]);
}

#[test]
fn an_evaluation_ends_at_once_and_prints_nothing() {
    let args = ["evaluate", "bernoulli-10", "--policy", "ucb1", "--instances", "100000000"];
    assert!(interrupted(&args, || true).stdout.is_empty());
}

#[test]
fn a_comparison_leaves_no_partial_files() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["compare", "bernoulli-10", "--instances", "100000000", "-o", out.to_str().unwrap()];
    assert!(interrupted(&args, || out.exists()).stdout.is_empty());
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn dynamic_programmes_end_at_once() {
    assert!(interrupted(&["gittins", "--horizon", "1100"], || true).stdout.is_empty());
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["train", "--gradient", "exact", "--json", "-o", out.to_str().unwrap()];
    let output = interrupted(&args, || out.exists());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["stop_reason"], "interrupted");
    assert!(out.join("policy.json").exists());
}

/// A single chunk of instances would take half a minute.
#[test]
fn steps_that_take_long_end_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let prior = "[problem.prior]\nkind = \"beta\"\nalpha = 1\nbeta = 1\narms = 1000";
    let spec = format!("[problem]\nkind = \"bernoulli\"\nhorizon = 100000\n{prior}\n");
    let spec = write(dir.path(), "k1000.toml", spec);
    assert!(interrupted(&["train", &spec, "--policy", "softelim"], || true).stdout.is_empty());
}

/// A large file is given up, and nothing of it stays.
#[test]
fn a_table_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    let files = || std::fs::read_dir(dir.path()).unwrap().count();
    let args = ["gittins", "--horizon", "200", "-o", table.to_str().unwrap()];
    // It takes a second or so to write the file.
    assert!(interrupted_after(Duration::ZERO, &args, || files() > 0).stdout.is_empty());
    assert_eq!(files(), 0);
}
