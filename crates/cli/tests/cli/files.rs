//! Files that commands write and read again.

use super::*;
use std::process::Stdio;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_trained_policy_can_be_played_again() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    let out_name = out.to_str().unwrap();
    let train = [
        "train",
        "--policy",
        "exp3(score=paper)",
        "--params",
        "0.5",
        "--iterations",
        "4",
        "--eval-instances",
        "200",
        "-o",
        out_name,
    ];
    let trained = json(&train);
    let written = ["figures", "history.csv", "policy.json", "report.html", "train.record.json"];
    assert_eq!(names(&out), written);
    let file = out.join("policy.json");
    let policy: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(policy["gradband"], 1);
    assert_eq!(policy["policy"], trained["policy"]);
    assert_eq!(policy["policy"]["settings"]["score"], "paper");
    assert_eq!(policy["problem"]["horizon"], 200);
    assert_eq!(policy["training"]["seed"], 1);
    assert_eq!(policy["training"]["spec"]["train"]["batch_size"], 250);
    let history = std::fs::read_to_string(out.join("history.csv")).unwrap();
    assert_eq!(history.lines().next(), Some("iteration,gradient_norm,w"));
    assert_eq!(history.lines().count(), 5);

    let file = file.to_str().unwrap();
    let played = json(&["evaluate", "bernoulli-2", "--policy-file", file, "--instances", "200"]);
    assert_eq!(played["policy"], trained["policy"]);
    assert_eq!(played["bayes_regret"], trained["final"]["bayes_regret"]);
    let compared = json(&[
        "compare",
        "bernoulli-2",
        "--policies",
        "random",
        "--policy-file",
        file,
        "--policy-file",
        file,
        "--instances",
        "200",
    ]);
    assert_eq!(compared["rows"].as_array().unwrap().len(), 3);
    assert_eq!(compared["rows"][0]["bayes_regret"], trained["final"]["bayes_regret"]);
    // What is there stays, unless it is said otherwise: then all files are replaced.
    refused_saying(&train, &["-o", "policy.json is there already", "--force"]);
    json(&[&train[..], &["--force"]].concat());
    assert_eq!(names(&out), written);
}

#[test]
fn policy_files_must_fit() {
    let dir = tempfile::tempdir().unwrap();
    let file = |policy: &str| write(dir.path(), "p.json", policy);
    let good = r#"{"gradband": 1, "policy": {"kind": "softelim", "names": ["w"], "shape": [[]], "params": [0.5]},
        "problem": {"name": "x", "kind": "bernoulli", "arms": 2, "horizon": 100}}"#;
    let output = run(&["evaluate", "bernoulli-2", "--policy-file", &file(good), "--instances", "9"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("horizon of 100, not 200"));
    let refused_with = |policy: &str, parts: &[&str]| {
        for command in ["evaluate", "compare"] {
            refused_saying(
                &[command, "bernoulli-2", "--policy-file", &file(policy)],
                &[parts, &["p.json"]].concat(),
            );
        }
    };
    refused_with(&good.replace("\"arms\": 2", "\"arms\": 3"), &["problem.arms", "3 arms", "has 2"]);
    refused_with(&good.replace("\"gradband\": 1", "\"gradband\": 7"), &["format 7", "reads 1"]);
    refused_with(&good.replace("gradband", "grandbad"), &["not a policy file"]);
    refused_with(&good.replace("softelim", "softelm"), &["policy.kind", "did you mean 'softelim'"]);
    refused_with(&good.replace("[0.5]", "[-0.5]"), &["policy.params", "-0.5"]);
    refused_with(&good.replace("[0.5]", "[0.5, 1]"), &["policy.params", "found 2"]);
    refused_with(&good.replace("[\"w\"]", "[\"v\"]"), &["policy.names"]);
    refused_with(&good.replace("[0.5]", "[0.5"), &["line 1", "column"]);
    refused_with(&good.replace("[0.5]", "[\"a\"]"), &["line 1", "column"]);
    refused_with("", &["is empty"]);
    refused_with("[1, 2]", &["line 1"]);
    let missing = dir.path().join("none.json");
    refused_saying(
        &["evaluate", "bernoulli-2", "--policy-file", missing.to_str().unwrap()],
        &["none.json", "no such file"],
    );
}

#[test]
fn parameters_can_come_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let evaluate = ["evaluate", "bernoulli-2", "--instances", "50", "--policy", "softelim", "--params"];
    let with = |content: &str| {
        [&evaluate[..], &[format!("@{}", write(dir.path(), "w.json", content)).leak()]].concat()
    };
    let typed = json(&[&evaluate[..], &["0.5"]].concat());
    assert_eq!(json(&with("[0.5]"))["bayes_regret"], typed["bayes_regret"]);
    assert_eq!(json(&with("{\"w\": 0.5}"))["bayes_regret"], typed["bayes_regret"]);
    refused_saying(&with("[0.5, 0.5]"), &["w.json", "found 2"]);
    refused_saying(&with("{\"v\": 0.5}"), &["w.json", "unknown name 'v'"]);
    refused_saying(&with("[-1]"), &["w.json", "found -1"]);
    refused_saying(&with("\"half\""), &["w.json", "array of numbers"]);
    refused_saying(&with("[0.5"), &["w.json, line 1, column"]);
    refused_saying(&[&evaluate[..], &["@none.json"]].concat(), &["none.json", "no such file"]);
}

#[test]
fn compare_writes_json_and_csv() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let printed = json(&[
        "compare",
        "bernoulli-2",
        "--policies",
        "ucb1,exp3(w=0.5,score=paper)",
        "--instances",
        "50",
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(names(&out), ["compare.csv", "compare.json", "compare.record.json", "figures", "report.html"]);
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("compare.json")).unwrap()).unwrap();
    assert_eq!(written, printed);
    let csv = std::fs::read_to_string(out.join("compare.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.contains("\"exp3(w=0.5,score=paper)\","), "{csv}");
}

#[test]
fn wrong_input_leaves_no_files() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    refused(&["train", "--policy", "ucb1", "-o", out.to_str().unwrap()]);
    refused(&["train", "--iterations", "0", "-o", out.to_str().unwrap()]);
    refused(&["compare", "bernoulli-2", "--instances", "0", "-o", out.to_str().unwrap()]);
    assert!(!out.exists());
}

/// The result is printed whatever becomes of the files, and what can be kept is kept.
#[test]
fn a_file_that_cannot_be_written_costs_no_result() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("policy.json")).unwrap();
    std::fs::create_dir(dir.path().join("compare.json")).unwrap();
    let out = dir.path().to_str().unwrap();
    for (args, file) in [
        (
            &["train", "--iterations", "2", "--eval-instances", "9", "--json", "-o", out, "--force"][..],
            "policy.json",
        ),
        (
            &[
                "compare",
                "bernoulli-2",
                "--policies",
                "ucb1",
                "--instances",
                "9",
                "--json",
                "-o",
                out,
                "--force",
            ],
            "compare.json",
        ),
    ] {
        let output = run(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(file) && message.contains("cannot write there"), "{message}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["seed"], 1);
    }
    assert!(!dir.path().join("history.csv").exists(), "all or nothing");
}

/// Whoever closes stdout still gets the files.
#[test]
fn files_are_written_though_nobody_reads_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    for (args, record) in [
        (&["train", "--iterations", "2", "--eval-instances", "9", "-o", out][..], "train.record.json"),
        (
            &["compare", "bernoulli-2", "--policies", "ucb1", "--instances", "9", "-o", out],
            "compare.record.json",
        ),
        (&["reproduce", "fig6", "-o", out], "fig6.jsonl"),
    ] {
        let mut child = gradband(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
        assert!(dir.path().join(record).exists(), "{args:?}");
        std::fs::remove_file(dir.path().join("report.html")).unwrap();
    }
}

#[test]
fn the_history_has_a_line_for_each_iteration() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 12\n[problem.prior]\nkind = \"points\"\n\
                instances = [[0.9, 0.1], [0.1, 0.9]]\n[policy]\nkind = \"dqn\"\nhidden = 16\n\
                [train]\niterations = 300\n[evaluate]\ninstances = 20\n";
    let spec = write(dir.path(), "s.toml", spec);
    let out = dir.path().join("out");
    json(&["train", &spec, "-o", out.to_str().unwrap()]);
    let history = std::fs::read_to_string(out.join("history.csv")).unwrap();
    let mut lines = history.lines();
    assert_eq!(lines.next(), Some("iteration,gradient_norm,loss"));
    // Q-learning has no gradient of a score, but a loss.
    let first: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[..2], ["100", ""]);
    assert!(first[2].parse::<f64>().unwrap() > 0.0);
}
