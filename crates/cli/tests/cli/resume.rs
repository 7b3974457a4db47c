//! Trainings that are killed and go on: what they leave is, byte for byte, what they leave unbroken.

use super::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Numbers for moments: reproducible, and any will do.
pub(super) struct Moments(pub u64);

impl Moments {
    /// Between 0 and 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

fn start(dir: &Path, args: &[&str]) -> Child {
    gradband(args).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs to the end, which must be a good one.
fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    stderr
}

/// All files of a directory by their names.
pub(super) fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
        let name = name.into_string().unwrap();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
    found
}

/// Every way to learn, as it is asked for.
pub(super) const WAYS: [(&str, &[&str]); 11] = [
    ("adam", &["bernoulli-2", "--iterations", "2000"]),
    ("sgd", &["bernoulli-2", "--iterations", "2000", "--optimizer", "sgd"]),
    ("yogi", &["bernoulli-2", "--iterations", "2000", "--optimizer", "yogi"]),
    ("exact, checked steps", &["short.toml", "--policy", "softelim", "--gradient", "exact"]),
    (
        "exact, adam",
        &[
            "short.toml",
            "--policy",
            "softelim",
            "--gradient",
            "exact",
            "--optimizer",
            "adam",
            "--iterations",
            "40",
        ],
    ),
    ("search", &["bernoulli-2", "--policy", "thompson"]),
    ("history and polishing", &["linear-2", "--iterations", "30"]),
    ("folds", &["rows.toml"]),
    ("auto", &["short.toml", "--policy", "auto", "--iterations", "60"]),
    ("stages", &["short.toml", "--policy", "lstm(hidden=8,embedding=4)", "--iterations", "30"]),
    ("q-learning", &["short.toml", "--policy", "dqn", "--iterations", "1500"]),
];

/// Labelled rows, of which some are held out.
pub(super) fn write_rows(dir: &Path) {
    let mut numbers = Moments(5);
    let row = |i: usize| {
        let features: Vec<String> =
            (0..5).map(|j| format!("{:.3}", numbers.next() + if j == i % 3 { 1.0 } else { 0.0 })).collect();
        format!("{},{}\n", features.join(","), ["a", "b", "c"][i % 3])
    };
    let rows: String = (0..240).map(row).collect();
    write(dir, "rows.csv", format!("f1,f2,f3,f4,f5,class\n{rows}"));
    let problem =
        "kind = \"classification\"\nhorizon = 60\ndata = \"rows.csv\"\nlabel = \"class\"\nholdout = 0.3";
    write(
        dir,
        "rows.toml",
        format!("[problem]\n{problem}\n[policy]\nkind = \"soft-ucb\"\n[train]\niterations = 16\n"),
    );
}

/// A problem that every way to learn without contexts can take.
pub(super) fn write_short(dir: &Path) {
    let prior = "[problem.prior]\nkind = \"points\"\ninstances = [[0.6, 0.4], [0.4, 0.6]]";
    write(dir, "short.toml", format!("[problem]\nkind = \"bernoulli\"\nhorizon = 60\n{prior}\n"));
}

/// Kills trainings so often in all, at moments within their length, and compares what each leaves with what an unbroken one
/// leaves.
fn survives(name: &str, args: &[&str], kills: usize) {
    let args = [&["train"], args, &["--eval-instances", "200", "-o", "out"]].concat();
    let prepared = || {
        let dir = tempfile::tempdir().unwrap();
        write_rows(dir.path());
        write_short(dir.path());
        dir
    };
    let unbroken = prepared();
    let begun = Instant::now();
    finish(start(unbroken.path(), &args));
    let whole = begun.elapsed().as_secs_f64();
    let expected = files(&unbroken.path().join("out"));
    assert!(expected.contains_key("report.html") && !expected.contains_key("checkpoint.gradband"));
    let mut moments = Moments(name.len() as u64);
    let (mut killed, mut trainings) = (0, 0);
    while killed < kills {
        let broken = prepared();
        let mut next = &args[..];
        loop {
            let mut child = start(broken.path(), next);
            if killed < kills {
                std::thread::sleep(Duration::from_secs_f64(moments.next() * whole.min(4.0)));
            }
            if killed == kills || child.try_wait().unwrap().is_some() {
                finish(child);
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            if broken.path().join("out/checkpoint.gradband").exists() {
                next = &["train", "--resume", "-o", "out"];
            }
        }
        trainings += 1;
        let found = files(&broken.path().join("out"));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        for (file, bytes) in &expected {
            assert!(found[file] == *bytes, "{name}: {file} differs after {killed} kills");
        }
    }
    println!("{name}: {whole:.1} s unbroken, {killed} kills in {trainings} trainings");
}

#[test]
fn a_killed_training_goes_on() {
    for (name, args) in [WAYS[1], WAYS[7], WAYS[9]] {
        survives(name, args, 3);
    }
}

/// `make test-slow` runs it: 20 kills in a row for every way to learn.
#[test]
#[ignore = "minutes: make test-slow"]
fn every_way_to_learn_survives_twenty_kills() {
    for (name, args) in WAYS {
        survives(name, args, 20);
    }
}

/// A directory with a training that was killed.
fn killed() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    write_rows(dir.path());
    let out = dir.path().join("out");
    let mut child =
        start(dir.path(), &["train", "rows.toml", "--iterations", "4000", "--seed", "3", "-o", "out"]);
    let begun = Instant::now();
    while !out.join("checkpoint.gradband").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (dir, out)
}

fn failed(args: &[&str], code: i32, parts: &[&str]) {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(parts.iter().all(|part| stderr.contains(part)), "{args:?}: {stderr}");
}

#[test]
fn settings_are_those_of_the_training() {
    let (_dir, out) = killed();
    let out = out.to_str().unwrap();
    let resume = |more: &[&str], parts: &[&str]| {
        refused_saying(&[&["train", "--resume", "-o", out], more].concat(), parts)
    };
    resume(&["--iterations", "5"], &["--iterations: found '5'", "it is '4000'; leave it out"]);
    resume(&["--seed", "4"], &["--seed: found '4'", "'3'"]);
    resume(&["--optimizer", "sgd"], &["--optimizer", "not set"]);
    resume(&["bernoulli-2"], &["PROBLEM: found 'bernoulli-2'", "rows.toml"]);
    refused_saying(&["train", "-o", out], &["--resume goes on", "--force starts anew"]);
    assert!(refused(&["train", "--resume"]).contains("--output"));
    assert!(refused(&["train", "--resume", "--force", "-o", out]).contains("--force"));
    refused_saying(&["train", "--resume", "-o", "/nowhere/at/all"], &["has no training that was broken off"]);
}

#[test]
fn damaged_or_changed_is_refused() {
    let (dir, out) = killed();
    let resume = ["train", "--resume", "-o", out.to_str().unwrap()];
    let path = out.join("checkpoint.gradband");
    let sound = std::fs::read(&path).unwrap();
    let mut bytes = sound.clone();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    refused_saying(&resume, &["checkpoint.gradband", "its checksum is wrong", "start anew with --force"]);
    bytes = sound.clone();
    bytes[20] = 9;
    std::fs::write(&path, &bytes).unwrap();
    refused_saying(&resume, &["has format 9, this version reads 1"]);
    std::fs::write(&path, "{}").unwrap();
    refused_saying(&resume, &["is not a checkpoint of gradband"]);
    std::fs::write(&path, &sound).unwrap();
    let data = dir.path().join("rows.csv");
    std::fs::write(&data, std::fs::read_to_string(&data).unwrap() + "0,0,0,0,0,a\n").unwrap();
    refused_saying(&resume, &["rows.csv", "has changed since the training began"]);
}

#[test]
fn a_finished_training_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["train", "--iterations", "5", "--eval-instances", "50", "-o", out.to_str().unwrap()];
    text(&args);
    let before = files(&out);
    let output = run(&["train", "--resume", "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is finished: nothing is left to do"));
    assert_eq!(files(&out), before);
    // Its process may have been killed while its files were on their way.
    let pending = out.join(".gradband-edition");
    std::fs::create_dir(&pending).unwrap();
    std::fs::rename(out.join("policy.json"), pending.join("policy.json")).unwrap();
    let output = run(&["train", "--resume", "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(&out), before);
}

/// While a process writes to a directory, others are told who it is, and change nothing; when it is dead, they may.
#[test]
fn one_process_writes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut child = start(dir.path(), &["train", "--iterations", "9000000", "-o", "out"]);
    let begun = Instant::now();
    while !out.join("checkpoint.gradband").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (path, who) = (out.to_str().unwrap(), format!("process {} is writing there", child.id()));
    for args in [
        &["train", "--iterations", "1", "--force", "-o", path][..],
        &["train", "--resume", "-o", path],
        &["compare", "bernoulli-2", "--instances", "10", "-o", path],
        &["reproduce", "fig1", "--quick", "-o", path],
        &["report", path],
    ] {
        failed(args, 1, &[path, &who]);
    }
    assert!(!out.join("policy.json").exists() && !out.join("compare.json").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    text(&["compare", "bernoulli-2", "--instances", "10", "-o", path]);
}

#[test]
fn one_process_plays_a_state() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    text(&["train", "--iterations", "2", "--eval-instances", "20", "-o", out.to_str().unwrap()]);
    let (policy, state) = (out.join("policy.json"), dir.path().join("state.json"));
    let args = ["play", policy.to_str().unwrap(), "--state", state.to_str().unwrap()];
    let mut child = gradband(&args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !state.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no state");
        std::thread::sleep(Duration::from_millis(20));
    }
    failed(&args, 1, &["state.json", &format!("process {} is writing", child.id())]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(gradband(&args).stdin(Stdio::null()).output().unwrap().status.code(), Some(0));
}

/// Policy, history, record and report are of one training, whenever the process ends.
#[test]
fn what_belongs_together_stays_together() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let path = out.to_str().unwrap();
    let args = |seed: &'static str| {
        ["train", "--iterations", "3", "--eval-instances", "20", "--seed", seed, "--force", "-o", path]
    };
    let begun = Instant::now();
    text(&args("1"));
    let whole = begun.elapsed();
    let mut moments = Moments(11);
    for seed in ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"] {
        let mut child = start(dir.path(), &args(seed));
        // The end is where files are written.
        std::thread::sleep(whole.mul_f64(0.6 + 0.5 * moments.next()));
        child.kill().unwrap();
        child.wait().unwrap();
        text(&["report", path]);
        let read = |name: &str| -> Value {
            serde_json::from_slice(&std::fs::read(out.join(name)).unwrap()).unwrap()
        };
        let (policy, record) = (read("policy.json"), read("train.record.json"));
        assert_eq!(policy["training"]["seed"], record["seed"], "after seed {seed}");
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(
            page.contains(&format!("--seed {} ", record["seed"])) || record["seed"] == 1,
            "after seed {seed}"
        );
        let history = std::fs::read_to_string(out.join("history.csv")).unwrap();
        let last: f64 = history.lines().last().unwrap().rsplit(',').next().unwrap().parse().unwrap();
        let drawn = record["training"]["params"][0][1].as_array().unwrap();
        assert_eq!(drawn.last().unwrap()[1].as_f64().unwrap(), last, "after seed {seed}");
    }
}

/// Steps that are much too long: the training ends, and says so; what there is is kept.
#[test]
fn a_network_that_diverges_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let policy = ["train", "bernoulli-2", "--policy", "lstm(hidden=4,embedding=2)", "--learning-rate", "10"];
    let rest = ["--eval-instances", "50", "-o", out.to_str().unwrap()];
    let document = json(&[&policy[..], &rest].concat());
    assert_eq!(document["troubles"][0]["kind"], "diverged", "{}", document["troubles"]);
    assert!(out.join("policy.json").exists() && out.join("report.html").exists());
}

/// What would not fit is refused with the numbers, before any of it is taken.
#[test]
fn sizes_are_estimated_first() {
    let dir = tempfile::tempdir().unwrap();
    let linear = "[problem]\nkind = \"linear\"\nhorizon = 10\nnoise_sd = 1\narms = 2\ncontext_dim = 10000\ntheta_cov = 1\n";
    refused_saying(&["check", &write(dir.path(), "d.toml", linear)], &["W is 10000 x 10000", "6.4 GB"]);
    let begun = Instant::now();
    let huge = "lstm(hidden=4096,embedding=4096)";
    refused_saying(&["train", "bernoulli-2", "--policy", huge], &["numbers here", "12.9 GB"]);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Few threads are no reason to fail.
#[test]
#[cfg(target_os = "linux")]
fn few_threads_do() {
    let dir = tempfile::tempdir().unwrap();
    let binary = dir.path().join("gradband");
    std::fs::copy(env!("CARGO_BIN_EXE_gradband"), &binary).unwrap();
    Command::new("chmod").args(["-R", "a+rx"]).arg(dir.path()).status().unwrap();
    for most in ["1", "2", "3"] {
        // The limit is one of users, and does not bind root.
        let user =
            ["--reuid", "54321", "--clear-groups", "prlimit", &format!("--nproc={most}")].map(String::from);
        let args = ["evaluate", "bernoulli-2", "--policy", "ucb1", "--instances", "50", "--cache", "none"];
        let output = Command::new("setpriv").args(user).arg(&binary).args(args).output();
        let Ok(output) = output else {
            eprintln!("LEFT OUT: there is no setpriv");
            return;
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("setpriv:") {
            eprintln!("LEFT OUT: {stderr}");
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{most}: {stderr}");
        assert!(!output.stdout.is_empty());
    }
}

/// A place for files that holds so many kilobytes; none where nobody may mount one, which is said.
fn small_disk(dir: &Path, options: &str) -> bool {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(dir).output();
    let mounted = mounted.is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("LEFT OUT: nobody may mount a small disk here; run it as root");
    }
    mounted
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_nothing_that_was_computed() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    if !small_disk(&disk, "size=64k") {
        return;
    }
    let out = disk.join("out");
    let output = run(&["train", "--iterations", "5", "--eval-instances", "50", "-o", out.to_str().unwrap()]);
    let left = files(&out);
    let unmounted = Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("learned w ="));
    assert!(stderr.contains(out.to_str().unwrap()) && stderr.contains("No space left"), "{stderr}");
    assert!(left.keys().all(|name| name == "checkpoint.gradband"), "{:?}", left.keys());
}

#[test]
fn a_directory_that_is_gone_costs_nothing_that_was_computed() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["train", "bernoulli-10", "--iterations", "60", "--eval-instances", "50", "-o", "out"];
    let child = gradband(&args)
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !out.join("checkpoint.gradband").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_dir_all(&out).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("learned w ="));
    assert!(stderr.contains("error: out: cannot write there"), "{stderr}");
}
