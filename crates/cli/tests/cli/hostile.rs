//! Input that broke something once, or was made to: it is refused with the reason, or does what it says.

use super::{gradband, json, refused, refused_saying, run, text, write};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

const POINTS: &str = "[problem]\nkind = \"bernoulli\"\nhorizon = 20\n[problem.prior]\nkind = \"points\"\n\
                      instances = [[0.6, 0.4], [0.4, 0.6]]\n";

/// A problem whose instances have probabilities 1 and nearly 0.
#[test]
fn weights_may_be_tiny() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", format!("{POINTS}weights = [1.0, 1e-15]\n"));
    let found = json(&["evaluate", &spec, "--policy", "bayes-optimal", "--instances", "50"]);
    assert!(found["bayes_regret"]["mean"].as_f64().unwrap() < 0.1, "{found}");
    json(&["exact", &spec, "--policy", "bayes-optimal"]);
}

/// The same command with a gigabyte of address space.
#[cfg(target_os = "linux")]
fn within_a_gigabyte(args: &[&str]) -> std::process::Output {
    let inner = gradband(args);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args());
    command.env("GRADBAND_CACHE", "none").output().unwrap()
}

/// What would not fit is refused before it is made.
#[test]
#[cfg(target_os = "linux")]
fn sizes_that_cannot_work_are_refused_with_what_they_would_need() {
    let dir = tempfile::tempdir().unwrap();
    let network = format!("{POINTS}[policy]\nkind = \"lstm\"\nhidden = 4096\nembedding = 4096\n");
    let features = "[problem]\nkind = \"linear\"\nhorizon = 10\nnoise_sd = 1\narms = 2\ncontext_dim = 10000\ntheta_cov = 1\n";
    let long = "[problem]\nkind = \"bernoulli\"\nhorizon = 1000000\n[problem.prior]\nkind = \"beta\"\nalpha = 1\nbeta = 1\narms = 1000\n\
                [policy]\nkind = \"softelim\"\n[train]\nbatch_size = 10000\n";
    for (spec, parts) in [
        (&network[..], ["lstm would have 2013", "GB", "at most 4000000"]),
        (features, ["soft-ucb would have 100000002", "6.4 GB", "at most 300000"]),
        (
            &features.replace("10000", "1000"),
            ["soft-ucb would have 1000002", "an iteration about 50 s, its files 45 MB", "at most 300000"],
        ),
        (
            long,
            [
                "train.batch_size: an iteration would play 80000 runs of 1000000 rounds (1000 arms)",
                "22 hours",
                "at most 1 are",
            ],
        ),
    ] {
        let path = write(dir.path(), "s.toml", spec);
        let output = within_a_gigabyte(&["check", &path]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    // What the message asks for helps.
    let path = write(dir.path(), "s.toml", features.replace("10000", "1000"));
    text(&["evaluate", &path, "--policy", "soft-ucb(rank=20)", "--instances", "2"]);
}

#[test]
fn one_past_problem_has_no_standard_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "one.csv", "a,b\n0.5,0.4\n");
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 10\n[problem.prior]\nkind = \"table\"\npath = \"one.csv\"\nholdout = 0\n";
    let spec = write(dir.path(), "one.toml", spec);
    refused_saying(&["evaluate", &spec, "--policy", "ucb1"], &["one.csv", "one has no standard error"]);
}

#[test]
fn arms_called_by_numbers_are_asked_about() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", "0,1\n0.1,0.2\n0.3,0.4\n0.5,0.6\n0.7,0.8\n");
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 10\n[problem.prior]\nkind = \"table\"\npath = \"t.csv\"\nholdout = 0\n";
    let spec = write(dir.path(), "t.toml", spec);
    refused_saying(&["check", &spec], &["t.csv, line 1", "are they the names of the arms"]);
}

/// A search on ten thousand rounds would take seconds; a check does not run it.
#[test]
fn a_check_does_not_train() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "[problem]\nkind = \"linear\"\nhorizon = 10000\nnoise_sd = 0.1\narms = 2\ncontext_dim = 2\ntheta_cov = [1, 0.5]\n\
                [policy]\nkind = \"linucb\"\nalpha = 0.5\nwidth = \"tuned\"\n";
    let words = text(&["check", &write(dir.path(), "s.toml", spec)]);
    assert!(words.contains("Policy: linucb(alpha=0.5,width=tuned)"), "{words}");
}

fn train_record(dir: &Path) -> serde_json::Value {
    let out = dir.join("o");
    let train = ["train", "bernoulli-2", "--policy", "softelim", "--iterations", "2", "--batch-size", "10"];
    run(&[&train[..], &["--eval-instances", "50", "-o", out.to_str().unwrap()]].concat());
    serde_json::from_slice(&std::fs::read(out.join("train.record.json")).unwrap()).unwrap()
}

/// Records are untrusted: no name in them leads out of the directory, no text in them becomes markup.
#[test]
fn records_stay_in_their_directory_and_are_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut record = train_record(dir.path());
    let inner = dir.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    record["kind"] = "../../escaped".into();
    write(&inner, "train.record.json", record.to_string());
    refused_saying(
        &["report", inner.to_str().unwrap()],
        &["train.record.json", "../../escaped", "known: train, compare"],
    );
    assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 1, "nothing is written");

    let evil = "</script><img src=x onerror=alert(1)>\u{1b}[31m&\"'";
    record["kind"] = "train".into();
    for key in ["problem", "command", "spec", "version", "ground"] {
        record[key] = evil.into();
    }
    record["lead"] = serde_json::json!([evil]);
    record["policies"][0]["name"] = evil.into();
    record["training"]["params"][0][0] = evil.into();
    record["training"]["features"] = serde_json::json!([evil, evil]);
    record["training"]["projection"] = serde_json::json!([1.0, 2.0]);
    write(&inner, "train.record.json", record.to_string());
    text(&["report", inner.to_str().unwrap()]);
    let mut files = vec![inner.join("report.html")];
    files.extend(std::fs::read_dir(inner.join("figures")).unwrap().map(|file| file.unwrap().path()));
    assert!(files.len() > 1);
    for file in files.iter().filter(|file| file.extension() != Some(OsStr::new("png"))) {
        let page = std::fs::read_to_string(file).unwrap();
        assert!(!page.contains("<img") && !page.contains('\u{1b}'), "{}", file.display());
    }
}

/// What cannot be drawn is refused with file and line.
#[test]
fn damaged_records_are_refused_with_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction/fig1.jsonl");
    let lines = std::fs::read_to_string(committed).unwrap();
    let mut lines: Vec<serde_json::Value> =
        lines.lines().take(3).map(|line| serde_json::from_str(line).unwrap()).collect();
    for damage in [
        serde_json::json!([]),
        serde_json::json!([{ "mean": 1.7e308, "std_error": 1e300, "deviation": 1.0 }]),
    ] {
        lines[2]["estimate"]["gradients"]["gradients"] = damage;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        write(dir.path(), "fig1.jsonl", text);
        refused_saying(&["report", dir.path().to_str().unwrap()], &["fig1.jsonl, line 3: is not a record"]);
    }
}

/// A terminal must not obey what stands in a table.
#[test]
fn control_characters_are_not_sent_to_terminals() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 10\n[problem.prior]\nkind = \"table\"\npath = \"t.csv\"\nholdout = 0\n";
    let spec = write(dir.path(), "s.toml", spec);
    let rows = "0.1,0.2\n0.2,0.3\n0.3,0.1\n0.4,0.2\n";
    write(dir.path(), "t.csv", format!("red\u{1b}[31m\u{9b}2J,b\n{rows}"));
    let is_command = |c: char| c.is_control() && c != '\n';
    let words = text(&["check", &spec]);
    assert!(!words.contains(is_command) && words.contains("red\u{fffd}[31m\u{fffd}2J"), "{words:?}");
    let output = run(&["check", &spec, "--json"]);
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(!words.contains(is_command) && words.contains("red\\u001b[31m\\u009b2J"), "{words:?}");
    let name = serde_json::from_str::<serde_json::Value>(&words).unwrap()["problem"]["arm_names"][0].clone();
    assert_eq!(name, "red\u{1b}[31m\u{9b}2J", "what it says is what stood there");
    write(dir.path(), "t.csv", format!("a,b\n0.1,zebra\u{1b}]0;x\u{7}\n{rows}"));
    assert!(!refused(&["check", &spec]).contains(is_command));
}

/// A name of a file need not be UTF-8, and is no reason to lose a result.
#[test]
#[cfg(target_os = "linux")]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(OsStr::from_bytes(b"n\xff\xfe.csv"));
    let output = gradband(&["gittins", "--horizon", "10", "--json", "-o"]).arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["output"].as_str().unwrap().ends_with("n\u{fffd}\u{fffd}.csv"), "{found}");
    assert!(path.exists());
    let out = dir.path().join(OsStr::from_bytes(b"d\xff"));
    let train = ["train", "bernoulli-2", "--policy", "softelim", "--iterations", "2", "--batch-size", "10"];
    let mut command = gradband(&[&train[..], &["--eval-instances", "50", "--json", "-o"]].concat());
    assert_eq!(command.arg(&out).output().unwrap().status.code(), Some(0));
    assert_eq!(gradband(&["report", "--json"]).arg(&out).output().unwrap().status.code(), Some(0));
}

/// Contexts around a million: where the gradient is no number, that is said.
#[test]
fn a_gradient_that_is_no_number_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String =
        (0..60).map(|i| format!("{},{},{}\n", 1_000_000 + i % 7, 1_700_000_000 + 13 * i, i % 2)).collect();
    write(dir.path(), "ts.csv", format!("a,time,y\n{rows}"));
    let spec = "[problem]\nkind = \"classification\"\nhorizon = 50\ndata = \"ts.csv\"\nscale = \"none\"\nholdout = 0\n\
                [policy]\nkind = \"cosoftelim\"\n[train]\nstart = \"identity\"\niterations = 3\nbatch_size = 4\n";
    let spec = write(dir.path(), "ts.toml", spec);
    let found = json(&["train", &spec, "--eval-instances", "20"]);
    let lost = found["history"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["gradient_norm"].is_null())
        .count();
    let said = found["troubles"].as_array().unwrap().iter().find(|trouble| trouble["kind"] == "lost");
    match said {
        Some(said) => {
            assert_eq!((said["iterations"].as_u64(), said["of"].as_u64()), (Some(lost as u64), Some(3)))
        }
        None => assert_eq!(lost, 0, "{found}"),
    }
    assert!(lost > 0, "the spec no longer shows it: {found}");
}

/// Rewards far from zero are told apart as those near it are: 4,000 instances, five standard errors.
#[test]
fn where_rewards_stand_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let regret = |[low, high]: [f64; 2]| {
        let prior = format!("kind = \"points\"\ninstances = [[{high}, {low}], [{low}, {high}]]");
        let spec = format!(
            "[problem]\nkind = \"gaussian\"\nhorizon = 200\nnoise_sd = 0.5\n[problem.prior]\n{prior}\n"
        );
        let spec = write(dir.path(), "s.toml", spec);
        let found = json(&["evaluate", &spec, "--policy", "epsilon-greedy", "--instances", "4000"]);
        let number = |key: &str| found["bayes_regret"][key].as_f64().unwrap();
        (number("mean"), number("std_error"))
    };
    let [near, far] = [regret([0.0, 0.2]), regret([999_999.0, 999_999.2])];
    assert!((near.0 - far.0).abs() < 5.0 * near.1.hypot(far.1), "{near:?}, {far:?}");
}
