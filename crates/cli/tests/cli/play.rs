//! `gradband play`: the guide from top to bottom, lines that are no requests, signals and kills.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

/// A policy file in a directory.
fn policy(dir: &Path, problem: &str, policy: &str) -> String {
    let args = ["train", problem, "--policy", policy, "--iterations", "2", "--eval-instances", "50", "-o"];
    let out = dir.join(policy);
    text(&[&args[..], &[out.to_str().unwrap()]].concat());
    out.join("policy.json").to_str().unwrap().into()
}

struct Playing {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

fn start(args: &[&str]) -> Playing {
    let mut command = gradband(&[&["play"], args].concat());
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
    Playing { child, stdin, stdout }
}

impl Playing {
    fn send(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).unwrap();
    }

    fn ask(&mut self, line: &str) -> Value {
        self.send(line.as_bytes());
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: '{answer}'"))
    }

    /// Ends the input: the exit code and what was said to stderr.
    fn end(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

/// The blocks of a document: language and content.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    document.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

/// Every block of the guide in one directory: shell and Python are run, JSON is what the block before it printed. (The Rust in it
/// is a test of gradband-files.)
#[test]
fn the_guide_runs_from_top_to_bottom() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_gradband")).parent().unwrap();
    let path = std::env::join_paths(
        [program.to_path_buf()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut printed = String::new();
    let mut run = 0;
    for (language, content) in blocks(&guide) {
        let args = match language {
            "sh" => ["sh", "-ec"],
            "python" => ["python3", "-c"],
            "json" => {
                assert_eq!(printed, content);
                continue;
            }
            _ => continue,
        };
        let mut command = Command::new(args[0]);
        command.args([args[1], content]).current_dir(&dir).env("PATH", &path).env("GRADBAND_CACHE", "none");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{content}: {}", String::from_utf8_lossy(&output.stderr));
        printed = String::from_utf8(output.stdout).unwrap();
        run += 1;
    }
    assert_eq!(run, 4, "the guide trains, plays, goes on and is used from Python");
    let stats: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("stats.json")).unwrap()).unwrap();
    assert_eq!(stats["decisions"], 3, "{stats}");
    assert_eq!(stats["arms"][0]["sum"], 1.0, "what was known before the restart: {stats}");
    assert_eq!(
        (&stats["arms"][0]["active"], &stats["arms"][3]["name"]),
        (&Value::from(false), &Value::from("violet"))
    );
}

/// 10,000 lines, most of them nonsense: each is answered, none ends the agent.
#[test]
fn nonsense_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let file = policy(dir.path(), "bernoulli-2", "softelim");
    let mut playing = start(&[&file, "--arms", "a,b,c", "--seed", "1"]);
    let nonce = playing.ask(r#"{"pull": {}}"#)["id"].as_str().unwrap()[..8].to_string();
    let (update, withdraw) = (
        format!(r#"{{"update": {{"id": "{nonce}-3", "reward": 1}}}}"#),
        format!(r#"{{"withdraw": {{"id": "{nonce}-4"}}}}"#),
    );
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let good = [
        r#"{"pull": {}}"#,
        r#"{"pull": {"arms": ["a", "b"], "unit": "x"}}"#,
        &*update,
        r#"{"probabilities": {}}"#,
        r#"{"add": {"arm": "d"}}"#,
        r#"{"retire": {"arm": "d"}}"#,
        &*withdraw,
        r#"{"stats": {}}"#,
        r#"{"save": {}}"#,
    ];
    for _ in 0..10_000 {
        let mut line = good[random(good.len() as u64) as usize].as_bytes().to_vec();
        match random(6) {
            0 => {}
            1 => line.truncate(random(line.len() as u64) as usize),
            2 => {
                let at = random(line.len() as u64) as usize;
                line[at] = random(256) as u8;
            }
            3 => line = (0..random(60)).map(|_| random(256) as u8).collect(),
            4 => {
                line =
                    format!(r#"{{"update": {{"id": "{}", "reward": 1e{}}}}}"#, random(99), random(400)).into()
            }
            _ => line.extend(br#", {"pull": 1}"#),
        }
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        playing.send(&line);
        let answer = playing.answer();
        assert!(answer.is_object(), "{answer}");
        if let Some(error) = answer.get("error") {
            assert!(error["place"].is_string() && !error["message"].as_str().unwrap().is_empty(), "{answer}");
        }
    }
    playing.send(&[b'x'; 3 << 20]);
    assert!(playing.answer()["error"]["message"].as_str().unwrap().contains("at most 1048576 bytes"));
    assert!(playing.ask(r#"{"pull": {}}"#)["id"].is_string());
    let (code, stderr) = playing.end();
    assert_eq!((code, stderr.contains("panicked")), (Some(0), false), "{stderr}");
}

/// Killed at 50 moments, while it saves all the time: the state always loads, and nothing that was saved is lost.
#[test]
#[cfg(unix)]
fn a_kill_leaves_a_state_that_loads() {
    let dir = tempfile::tempdir().unwrap();
    let file = policy(dir.path(), "bernoulli-2", "softelim");
    let state = dir.path().join("agent.json");
    let args = [&file, "--state", state.to_str().unwrap()];
    let mut known = 0;
    for moment in 0..50_u64 {
        let mut playing = start(&args);
        let mut stdin = playing.stdin.take().unwrap();
        // It is killed while this goes on: writing fails then.
        let writer = std::thread::spawn(move || {
            let lines = "{\"pull\": {}}\n{\"pull\": {}}\n{\"save\": {}}\n";
            while stdin.write_all(lines.as_bytes()).is_ok() {}
        });
        assert_eq!(playing.answer()["version"].as_str().map(str::len), Some(12));
        std::thread::sleep(std::time::Duration::from_millis(moment * 7 % 23));
        playing.child.kill().unwrap();
        let stderr = playing.child.wait_with_output().unwrap().stderr;
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(stderr.contains("the last process was killed"), moment > 0, "{stderr}");
        drop(playing.stdout);
        writer.join().unwrap();
        let agent = gradband_files::load_agent(&state).unwrap();
        let decisions = agent.stats().decisions;
        assert!(decisions >= known, "{decisions} after {known}");
        known = decisions;
    }
    assert!(known > 0);
    let mut playing = start(&args);
    assert_eq!(playing.ask(r#"{"stats": {}}"#)["decisions"], known);
    assert_eq!(playing.end().0, Some(0));
    assert!(!dir.path().join("agent.json.running").exists());
}

#[test]
#[cfg(unix)]
fn a_signal_saves() {
    let dir = tempfile::tempdir().unwrap();
    let file = policy(dir.path(), "bernoulli-2", "softelim");
    let state = dir.path().join("agent.json");
    for (signal, decisions) in [("-TERM", 1), ("-INT", 2)] {
        let mut playing = start(&[&file, "--state", state.to_str().unwrap()]);
        playing.ask(r#"{"pull": {}}"#);
        let id = playing.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let status = playing.child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        assert_eq!(gradband_files::load_agent(&state).unwrap().stats().decisions, decisions);
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_played() {
    let dir = tempfile::tempdir().unwrap();
    let file = policy(dir.path(), "bernoulli-2", "softelim");
    refused_saying(&["play", &file, "--arms", "a,a"], &["--arms", "found 'a' twice"]);
    let state = write(dir.path(), "state.json", "{\"gradband_agent\": 1");
    refused_saying(&["play", &file, "--state", &state], &["state.json", "is damaged, or was cut off"]);
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"gradband_agent\": 1", "it is left as it was");
    refused_saying(&["play", &state], &["state.json"]);
    let wait = run(&["play", &file, "--wait", "1 day", "--default-reward", "0"]);
    assert!(String::from_utf8_lossy(&wait.stderr).contains("expected a time such as 90s"));
    assert_eq!(run(&["play", &file, "--wait", "1d"]).status.code(), Some(2), "a default reward is needed");
}

/// Windows by the clock, and a floor for a policy that is certain.
#[test]
fn silence_means_a_reward() {
    let dir = tempfile::tempdir().unwrap();
    let file = policy(dir.path(), "bernoulli-2", "softelim");
    let mut playing = start(&[&file, "--wait", "0.05s", "--default-reward", "0"]);
    let decision = playing.ask(r#"{"pull": {}}"#);
    assert!(decision["until"].is_f64());
    std::thread::sleep(std::time::Duration::from_millis(80));
    let update = format!(r#"{{"update": {{"id": {}, "reward": 1}}}}"#, decision["id"]);
    assert_eq!(playing.ask(&update)["status"], "late");
    let stats = playing.ask(r#"{"stats": {}}"#);
    assert_eq!((&stats["silent"], &stats["late"], &stats["pending"]), (&1.into(), &1.into(), &0.into()));
}
