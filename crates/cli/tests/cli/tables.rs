//! The user's own past: three forms of a table, hold-out, and everything that can be wrong with a file.

use super::*;
use gradband::policy::{Learns, POLICIES, Plays};

/// Twenty campaigns with three arms.
fn campaigns() -> Vec<[f64; 3]> {
    (0..20_u32).map(|i| [5, 11, 8].map(|step| f64::from((i * step + step) % 21) / 25.0)).collect()
}

fn wide() -> String {
    let rows = campaigns().into_iter().map(|[a, b, c]| format!("{a},{b},{c}\n"));
    format!("red,green,blue\n{}", rows.collect::<String>())
}

fn long(header: &str, cell: impl Fn(f64) -> String) -> String {
    let mut table = format!("instance,arm,{header}\n");
    for (i, means) in campaigns().into_iter().enumerate() {
        for (arm, mean) in ["red", "green", "blue"].into_iter().zip(means) {
            table += &format!("c{i},{arm},{}\n", cell(mean));
        }
    }
    table
}

fn spec(extra: &str) -> String {
    format!(
        "[problem]\nkind = \"bernoulli\"\nhorizon = 30\n[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n{extra}\n\
         [train]\niterations = 3\nbatch_size = 20\n[evaluate]\ninstances = 200\n"
    )
}

/// A spec beside its table, in a directory that is not the current one.
fn project(table: impl AsRef<[u8]>, extra: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "past.csv", table);
    let spec = write(dir.path(), "s.toml", spec(extra));
    (dir, spec)
}

#[test]
fn all_three_forms_train_and_hold_out() {
    let counts = long("successes,trials", |mean| format!("{},25", (mean * 25.0).round()));
    for table in [wide(), long("mean", |mean| mean.to_string()), counts] {
        let (dir, spec) = project(table, "");
        let checked = json(&["check", &spec]);
        assert_eq!(checked["split"], serde_json::json!({"train": 14, "held_out": 6}));
        assert_eq!(checked["problem"]["arm_names"], serde_json::json!(["red", "green", "blue"]));
        assert!(text(&["check", &spec]).contains("training draws from 14, evaluation from 6 held-out"));
        let out = dir.path().join("out");
        let document = json(&["train", &spec, "-o", out.to_str().unwrap()]);
        assert_eq!(document["final"]["instances"], 200);
        let policy: Value =
            serde_json::from_str(&std::fs::read_to_string(out.join("policy.json")).unwrap()).unwrap();
        assert_eq!(policy["problem"]["arm_names"][2], "blue");
        assert_eq!(policy["training"]["spec"]["problem"]["prior"]["holdout"], 0.3);
        let rows = json(&["compare", &spec])["rows"].as_array().unwrap().len();
        let armed = POLICIES
            .iter()
            .filter(|kind| kind.plays() != Plays::Contexts && kind.learns() == Learns::Score)
            .count();
        assert_eq!(rows, armed - 1, "all but explore-then-commit");
    }
}

/// Two hundred simulations of six campaigns are six observations.
#[test]
fn standard_errors_cluster_by_campaign() {
    let (_dir, spec) = project(wide(), "");
    let error = |instances| {
        json(&["evaluate", &spec, "--policy", "random", "--instances", instances])["bayes_regret"]["std_error"].as_f64().unwrap()
    };
    assert!(error("20000") > 0.5 * error("200"));
}

#[test]
fn the_share_held_out_can_be_set() {
    let (_dir, spec) = project(wide(), "holdout = 0.5");
    assert_eq!(json(&["check", &spec])["split"], serde_json::json!({"train": 10, "held_out": 10}));
    let (_dir, spec) = project(wide(), "holdout = 0");
    assert_eq!(json(&["check", &spec])["split"], serde_json::json!({"train": 20, "held_out": 20}));
    let (_dir, spec) = project(wide(), "holdout = 1.5");
    refused_saying(&["check", &spec], &["s.toml, line 7, problem.prior.holdout", "found 1.5"]);
}

#[test]
fn wrong_tables_are_refused_by_file_and_line() {
    let table_refused = |table: &[u8], parts: &[&str]| {
        let (_dir, spec) = project(table, "");
        refused_saying(&["check", &spec], &[parts, &["past.csv"]].concat());
        refused_saying(&["train", &spec], parts);
    };
    table_refused(b"", &["is empty"]);
    table_refused(b"a,b\n", &["no instance"]);
    table_refused(b"a,b\n0.1,0.2\n0.3\n", &["line 3", "found 1 fields, expected 2"]);
    table_refused(b"a,b\n0.1,0.2\n0.3,x\n", &["line 3", "column 2 ('b')", "'x'"]);
    table_refused(b"a,b\n0.1,0.2\n0.3,nan\n", &["line 3", "finite"]);
    table_refused(b"a,b\n0.1,0.2\n0.3,1.2\n0.1,0.1\n0.4,0.2\n", &["line 3", "arm 'b'", "found 1.2"]);
    table_refused(b"a,b\n0.1,0.2\n0.3,0.4\n", &["too few", "holdout = 0"]);
    table_refused(b"a\n0.1\n0.2\n0.3\n0.4\n", &["line 1", "found 1 arm(s)"]);
    table_refused(b"a,a\n0.1,0.2\n", &["line 1", "twice"]);
    table_refused(b"a,b\n0.1,\xff\xfe\n", &["not UTF-8"]);
    table_refused(b"instance,arm,value\n1,a,0.1\n", &["line 1", "'mean'"]);
    table_refused(b"instance,arm,mean\n1,a,0.1\n1,b,0.1\n2,a,0.3\n", &["instance '2'", "arm 'b'"]);
    table_refused(b"instance,arm,mean\n1,a,0.1\n1,a,0.1\n", &["line 3", "twice"]);
    table_refused(b"instance,arm,successes,trials\n1,a,5,3\n", &["line 2", "successes"]);
    let header: String = (0..20_000).map(|i| format!("arm{i},")).collect();
    table_refused(format!("{header}last\n").as_bytes(), &["line 1", "20001 arm(s)"]);
    let noise: Vec<u8> = (0..1_u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    table_refused(&noise, &["past.csv"]);
}

#[test]
fn a_table_must_be_a_readable_file() {
    let (dir, spec) = project("", "");
    let path = dir.path().join("past.csv");
    std::fs::remove_file(&path).unwrap();
    refused_saying(&["check", &spec], &["past.csv: no such file", "s.toml, line 6, problem.prior.path"]);
    std::fs::create_dir(&path).unwrap();
    refused_saying(&["check", &spec], &["past.csv: is a directory"]);
    std::fs::remove_dir(&path).unwrap();
    std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    refused_saying(&["check", &spec], &["past.csv: is larger than 256 MB"]);
}
