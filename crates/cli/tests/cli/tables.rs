//! The user's own past: forms of a table, other arms in each problem, what is fitted, hold-out, and everything that can be
//! wrong with a file.

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
        let document = json(&["train", &spec, "--policy", "softelim", "-o", out.to_str().unwrap()]);
        assert_eq!(document["final"]["instances"], 200);
        let policy: Value =
            serde_json::from_str(&std::fs::read_to_string(out.join("policy.json")).unwrap()).unwrap();
        assert_eq!(policy["problem"]["arm_names"][2], "blue");
        assert_eq!(policy["training"]["spec"]["problem"]["prior"]["holdout"], 0.3);
        assert_eq!(policy["training"]["spec"]["problem"]["prior"]["fit"], "beta");
        let compared = json(&["compare", &spec]);
        let rows = compared["rows"].as_array().unwrap();
        let optimum = |row: &Value| row["policy"].as_str().unwrap().starts_with("bayes-optimal(alpha=");
        assert_eq!(
            rows.iter().filter(|row| optimum(row)).count(),
            1,
            "the best for the fitted prior: {rows:?}"
        );
        let armed = POLICIES
            .iter()
            .filter(|kind| kind.plays() != Plays::Contexts && kind.learns() == Learns::Score)
            .count();
        assert_eq!(rows.len(), armed - 1 + 4, "all but explore-then-commit, and four that know the past");
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

/// Sixty campaigns of two to nine creatives of their own, a row per day, as a German spreadsheet exports it.
fn creatives() -> String {
    let mut state = 1_u32;
    let mut below = |count: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % count
    };
    let mut table =
        String::from("\u{feff}\"Datum\";\"Kreation\";\"Klicks\";\"Kosten\";\"Kampagne\";\"Ansichten\"\r\n");
    for campaign in 0..60 {
        for creative in 0..2 + below(8) {
            let rate = 1 + below(4) + below(4);
            for day in 1..=2 {
                let clicks = (0..150).filter(|_| below(200) < rate).count();
                table += &format!("{day}.3.;k{campaign}-{creative};{clicks};1,50;Nr. {campaign};150\r\n");
            }
        }
    }
    table
}

const COLUMNS: &str = "columns = { problem = \"Kampagne\", arm = \"Kreation\", trials = \"Ansichten\", successes = \"Klicks\" }\n";

#[test]
fn campaigns_with_creatives_of_their_own_train_and_compare() {
    let (dir, spec) = project(creatives(), &format!("{COLUMNS}arms = 5"));
    let checked = json(&["check", &spec]);
    assert_eq!(checked["split"], serde_json::json!({"train": 42, "held_out": 18}));
    assert_eq!((&checked["problem"]["arms"], &checked["problem"]["arm_names"]), (&5.into(), &Value::Null));
    let past = &checked["past"];
    assert_eq!(
        (&past["fit"], &past["arms"]["least"], &past["arms"]["most"]),
        (&"beta".into(), &2.into(), &9.into())
    );
    // Rates of 2 % with a standard deviation of 0.8 %; 240 cells of 300 views.
    assert!((past["mean"].as_f64().unwrap() / 0.02 - 1.0).abs() < 0.2, "{past}");
    assert!((past["sd"].as_f64().unwrap() / 0.0079 - 1.0).abs() < 0.4, "{past}");
    assert_eq!(checked["spec"]["problem"]["prior"]["columns"]["arm"], "Kreation");
    let words = text(&["check", &spec]);
    for part in [
        "  fitted Beta(",
        " %, standard deviation 0.",
        "5 arms of one past problem in random order; past problems have 2 to 9 arms",
        " have fewer, the missing ones are drawn from the prior; ",
        " have more, of which 5 are drawn",
        "18 held-out past problems",
        "Note: too few past problems for a gain below about 12 % of the regret to be seen",
    ] {
        assert!(words.contains(part), "'{part}' is not in\n{words}");
    }
    let output = run(&["check", &spec]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("rows added to earlier ones of the same problem and arm: "), "{notes}");
    let out = dir.path().join("out");
    let trained = json(&["train", &spec, "--policy", "softelim", "-o", out.to_str().unwrap()]);
    assert_eq!((&trained["observations"], &trained["final"]["instances"]), (&18.into(), &200.into()));
    assert!(json(&["compare", &spec])["rows"].as_array().unwrap().len() > 5);
    json(&["evaluate", &spec, "--policy-file", out.join("policy.json").to_str().unwrap()]);
    let optimal = run(&["evaluate", &spec, "--policy", "bayes-optimal"]);
    let message = String::from_utf8(optimal.stderr).unwrap();
    assert!(
        optimal.status.code() == Some(2) && message.contains("no exact results: with arms = 5"),
        "{message}"
    );
    // More arms than anybody has, and without shrinkage.
    let (_dir, spec) = project(creatives(), &format!("{COLUMNS}arms = 12\nfit = \"flat\""));
    let words = text(&["check", &spec]);
    for part in ["none has as many as are simulated", "not fitted (fit = \"flat\")", "60 have fewer"] {
        assert!(words.contains(part), "'{part}' is not in\n{words}");
    }
}

#[test]
fn what_cannot_be_done_with_a_table_is_refused_where_it_is_said() {
    let refused = |extra: &str, parts: &[&str]| {
        let (_dir, spec) = project(creatives(), &format!("{COLUMNS}{extra}"));
        refused_saying(&["check", &spec], parts);
    };
    refused("", &["past.csv, line ", "has no row for arm 'k", "set arms = "]);
    refused("arms = 1", &["s.toml, line 8, problem.prior.arms: found 1, expected 2 to"]);
    refused("arms = 2.5", &["problem.prior.arms", "whole number"]);
    refused("arms = 5\nfit = \"betta\"", &["line 9, problem.prior.fit", "did you mean 'beta'"]);
    refused("arms = 5\nfit = \"normal\"", &["line 9, problem.prior.fit", "use \"beta\" or \"flat\""]);
    let spec_refused = |columns: &str, parts: &[&str]| {
        let (_dir, spec) = project(creatives(), &format!("arms = 5\ncolumns = {columns}"));
        refused_saying(&["check", &spec], parts);
    };
    spec_refused(
        "{ problem = \"Kampange\", arm = \"Kreation\" }",
        &["past.csv, line 1", "did you mean 'Kampagne'"],
    );
    spec_refused("{ campaign = \"Kampagne\" }", &["line 8, problem.prior.columns.campaign: unknown name"]);
    spec_refused("{ problem = 5 }", &["problem.prior.columns.problem: found a number"]);
    spec_refused("\"Kampagne\"", &["problem.prior.columns: found text, expected a table such as {"]);
    spec_refused(
        "{ problem = \"Kampagne\", arm = \"Kampagne\" }",
        &["columns.problem: names the column 'Kampagne'"],
    );
}

#[test]
fn one_past_problem_or_an_empty_part_is_refused() {
    for (table, extra, parts) in [
        ("a,b\n0.5,0.6\n", "holdout = 0", ["past.csv: found 1 past problem", "kind = \"points\""]),
        ("a,b\n0.5,0.6\n0.4,0.6\n", "", ["past.csv: found 2 past problems: too few", "holdout = 0"]),
    ] {
        let (_dir, spec) = project(table, extra);
        for command in [
            &["check", &spec][..],
            &["evaluate", &spec, "--policy", "ucb1"],
            &["train", &spec],
            &["compare", &spec],
        ] {
            refused_saying(command, &parts);
        }
    }
}

/// Measured means tell their noise, and arms differ by what is left of their spread.
#[test]
fn measured_means_need_no_noise() {
    let mut table = String::from("problem,arm,mean,variance,count\n");
    for (i, means) in campaigns().into_iter().enumerate() {
        for (arm, mean) in ["red", "green", "blue"].into_iter().zip(means) {
            table += &format!("c{i},{arm},{},4,{}\n", 10.0 * mean, 5 + i);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "past.csv", &table);
    let gaussian = spec("").replace("bernoulli", "gaussian");
    let path = write(dir.path(), "s.toml", &gaussian);
    let checked = json(&["check", &path]);
    assert_eq!(checked["spec"]["problem"]["noise_sd"], 2.0);
    assert_eq!(checked["past"]["fit"], "normal");
    assert!(text(&["check", &path]).contains("fitted Normal("));
    json(&["train", &path]);
    refused_saying(
        &["check", &write(dir.path(), "b.toml", spec(""))],
        &["past.csv, line 2, arm 'red'", "kind = \"gaussian\""],
    );
    // One reward each has no variance: somebody must say it.
    let once =
        table.lines().map(|line| line.rsplit_once(',').map_or(line, |(most, _)| most).to_string() + ",1\n");
    let once: String = once.collect::<String>().replacen("variance,1", "variance,count", 1);
    write(dir.path(), "past.csv", once);
    refused_saying(&["check", &path], &["problem.noise_sd: is missing"]);
}
