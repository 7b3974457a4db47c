//! The paper's experiments, as a user runs them.

use super::*;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The records of an experiment, without timings.
fn records(dir: &Path, experiment: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join(format!("{experiment}.jsonl"))).unwrap();
    text.lines().map(|line| timeless(serde_json::from_str(line).unwrap())).collect()
}

#[test]
fn experiments_are_listed() {
    let listed = json(&["reproduce", "--list"]);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    for id in ["fig1", "fig11", "tab1", "theory", "world", "defaults"] {
        assert!(names.contains(&id), "{names:?}");
    }
    assert_eq!(names.len(), 15);
    assert_eq!(json(&["list", "experiments"]).as_array().unwrap().len(), 15);
    let one = json(&["reproduce", "fig2", "--list", "--quick"]);
    assert_eq!(one[0]["units"], 13);
    assert_eq!(one[0]["recorded"], 0);
    assert!(text(&["reproduce", "--list"]).contains("fig11"));
}

#[test]
fn an_experiment_leaves_records_figures_and_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("deep/er");
    let name = out.to_str().unwrap();
    let document = json(&["reproduce", "fig6", "fig10", "-o", name]);
    assert_eq!((&document["units_run"], &document["units_found"]), (&12.into(), &0.into()));
    let record = &records(&out, "fig6")[0];
    assert_eq!((&record["series"], &record["seed"]), (&"linear-1".into(), &1.into()));
    assert_eq!(record["setting"]["of"], "covariance");
    assert_eq!(record["estimate"]["matrix"][0][0], 1.0);
    for figure in ["fig6", "fig10", "fig10-centred"] {
        assert!(
            std::fs::read_to_string(out.join(format!("figures/{figure}.svg"))).unwrap().starts_with("<svg")
        );
        assert!(std::fs::read(out.join(format!("figures/{figure}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    let before = std::fs::read_to_string(out.join("report.html")).unwrap();
    let again = json(&["reproduce", "fig6", "fig10", "-o", name]);
    assert_eq!((&again["units_run"], &again["units_found"]), (&0.into(), &12.into()));
    // The report is made of the records alone.
    std::fs::remove_file(out.join("report.html")).unwrap();
    std::fs::remove_dir_all(out.join("figures")).unwrap();
    text(&["report", name]);
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), before);
    assert!(out.join("figures/fig6.png").exists());
}

/// Killed without warning in the middle, started again: the same records as of an unbroken run, on other threads.
#[test]
fn a_killed_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (killed, unbroken) = (dir.path().join("killed"), dir.path().join("unbroken"));
    let [killed_name, unbroken_name] = [&killed, &unbroken].map(|path| path.to_str().unwrap());
    let reproduce = ["reproduce", "fig2", "--quick", "--runs", "3", "-o"];
    let lines = || std::fs::read_to_string(killed.join("fig2.jsonl")).map_or(0, |text| text.lines().count());
    let mut first = gradband(&[&reproduce[..], &[killed_name]].concat());
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while lines() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let done = lines() as u64;
    let second = json(&[&reproduce[..], &[killed_name]].concat());
    let [found, run] = ["units_found", "units_run"].map(|key| second[key].as_u64().unwrap());
    // A last line that was cut short is not found.
    assert!(found + 1 >= done && found + run == 19, "{found} found of {done}, {run} run");
    json(&[&reproduce[..], &[unbroken_name, "--threads", "1"]].concat());
    assert_eq!(records(&killed, "fig2"), records(&unbroken, "fig2"));
}

/// A directory that is removed meanwhile is no empty report.
#[test]
fn lost_records_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let reproduce = ["reproduce", "fig2", "--quick", "--runs", "3", "-o", out.to_str().unwrap()];
    let child = gradband(&reproduce).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while std::fs::read_to_string(out.join("fig2.jsonl")).map_or(0, |text| text.len()) == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_dir_all(&out).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("19 records are gone"), "{message}");
    assert!(output.stdout.is_empty() && !out.exists());
}

/// Covertype is not part of the program: it is left out, with a hint, and the rest is run.
#[test]
fn what_is_not_here_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&["reproduce", "fig9", "--quick", "--runs", "1", "-o", dir.path().to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("left out: covertype") && stderr.contains("gradband data fetch covertype"),
        "{stderr}"
    );
    let recorded = records(dir.path(), "fig9");
    assert!(recorded.iter().any(|record| record["series"] == "adult, size"));
    assert!(!recorded.iter().any(|record| record["series"] == "covertype, size"));
}

#[test]
fn wrong_requests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    refused_saying(&["reproduce", "fig12", "-o", out], &["ID", "fig12", "did you mean 'fig1", "tab1"]);
    refused_saying(&["reproduce", "fig1", "--runs", "0", "-o", out], &["--runs", "found 0"]);
    refused_saying(&["report", out], &["no records", "reproduce"]);
    text(&["reproduce", "fig1", "--quick", "-o", out]);
    let before = std::fs::read(dir.path().join("fig1.jsonl")).unwrap();
    refused_saying(
        &["reproduce", "fig1", "-o", out],
        &["fig1.jsonl", "another setting", "batch_size was 2000, now 10000"],
    );
    assert_eq!(std::fs::read(dir.path().join("fig1.jsonl")).unwrap(), before);
    std::fs::write(dir.path().join("fig1.jsonl"), "{}\n").unwrap();
    refused_saying(&["report", out], &["fig1.jsonl, line 1", "not a record"]);
}

#[test]
fn shards_of_a_job_array_make_one_report() {
    let (dir, one) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (out, whole) = (dir.path().to_str().unwrap(), one.path().to_str().unwrap());
    let reproduce = ["reproduce", "fig1", "--quick", "-o"];
    let units = |document: &Value| document["units_run"].as_u64().unwrap();
    let expected = json(&[&reproduce[..], &[whole]].concat());
    let parts: Vec<u64> = ["1/2", "2/2"]
        .iter()
        .map(|i| units(&json(&[&reproduce[..], &[out, "--shard", i]].concat())))
        .collect();
    assert_eq!(parts.iter().sum::<u64>(), units(&expected), "{parts:?}");
    assert!(!dir.path().join("report.html").exists(), "one shard is not a report");
    assert_eq!(json(&["report", out])["experiments"], expected["experiments"]);
    assert!(dir.path().join("report.html").exists());
    let message = refused(&[&reproduce[..], &[out, "--shard", "3/2"]].concat());
    assert!(["--shard", "3/2", "such as 3/8"].iter().all(|part| message.contains(part)), "{message}");
}
