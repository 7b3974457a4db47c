//! `exact`, `gittins`, and what they bring to `compare` and `train`.

use super::*;

/// Two arms, 20 rounds.
fn small(dir: &Path, prior: &str) -> String {
    let spec = format!(
        "[problem]\nkind = \"bernoulli\"\nhorizon = 20\n[problem.prior]\n{prior}\n[policy]\nkind = \"boltzmann\"\nw = 0.3\n\
         [train]\nbaseline = \"self\"\nbatch_size = 10\n"
    );
    write(dir, "small.toml", spec)
}

const BETA: &str = "kind = \"beta\"\narms = 2\nalpha = [1, 2]\nbeta = [1.5, 1]";

#[test]
fn exact_prints_regret_reward_and_gradient() {
    let document = json(&["exact", "bernoulli-2", "--policy", "softelim", "--params", "1"]);
    assert_eq!(keys(&document), ["bayes_regret", "bayes_reward", "gradient", "policy", "seconds", "states"]);
    let near = |key: &Value, x: f64| assert!((key.as_f64().unwrap() - x).abs() < 1e-4, "{key} {x}");
    near(&document["bayes_regret"], 7.2086);
    near(&document["bayes_reward"], 120.0 - 7.2086);
    near(&document["gradient"][0], -6.98594);
    assert_eq!(document["states"], 68_685_050);
    let optimal = json(&["exact", "bernoulli-2", "--policy", "bayes-optimal"]);
    near(&optimal["bayes_regret"], 2.4805);
    assert!(optimal.get("gradient").is_none());
    let words = text(&["exact", "bernoulli-2", "--policy", "bayes-optimal"]);
    assert!(words.contains("Bayes regret  2.4805") && words.contains("no sampling error"), "{words}");
}

#[test]
fn exact_takes_the_policy_of_a_spec_or_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let spec = small(dir.path(), BETA);
    let from_spec = timeless(json(&["exact", &spec]));
    assert_eq!(from_spec["policy"]["kind"], "boltzmann");
    assert_eq!(from_spec, timeless(json(&["exact", &spec, "--policy", "boltzmann", "--params", "0.3"])));
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    json(&["train", &spec, "--iterations", "2", "--eval-instances", "20", "-o", out]);
    let file = format!("{out}/policy.json");
    assert_eq!(json(&["exact", &spec, "--policy-file", &file])["policy"]["kind"], "boltzmann");
    for policy in json(&["list", "policies"]).as_array().unwrap() {
        let name = policy["name"].as_str().unwrap();
        if !["exp3", "lstm", "dqn"].contains(&name) && policy["plays"] != "contexts" {
            let regret = json(&["exact", &spec, "--policy", name])["bayes_regret"].as_f64().unwrap();
            assert!(regret > 0.0 && regret < 20.0, "{name}: {regret}");
        }
    }
}

#[test]
fn exact_refuses_what_it_cannot_do() {
    let exact = |problem: &str, policy: &str, parts: &[&str]| {
        refused_saying(&["exact", problem, "--policy", policy], parts);
    };
    exact(
        "bernoulli-10",
        "ucb1",
        &["10 arms over 1000 rounds", "states", "GB", "largest horizon that fits is 1"],
    );
    exact("bernoulli-10", "bayes-optimal", &["--policy", "states", "GB", "largest horizon", "use one of"]);
    exact("distractors-3", "softelim", &["3 arms over 200 rounds", "95746959700 states", "largest horizon"]);
    exact("beta-2", "ucb1", &["PROBLEM", "Bernoulli rewards", "beta"]);
    exact("beta-2", "bayes-optimal", &["--policy", "Bernoulli rewards"]);
    exact("bernoulli-2", "exp3", &["--policy", "no exact result", "softelim", "bayes-optimal"]);
    refused_saying(&["exact", "bernoulli-2"], &["--policy", "is missing"]);
}

#[test]
fn compare_tells_the_distance_to_the_optimum() {
    let dir = tempfile::tempdir().unwrap();
    let spec = small(dir.path(), BETA);
    let out = dir.path().join("out");
    let args = ["compare", &spec, "--instances", "4000", "-o", out.to_str().unwrap()];
    let document = json(&args);
    let rows = document["rows"].as_array().unwrap();
    let named = |name: &str| rows.iter().find(|row| row["policy"] == name).unwrap();
    assert_eq!(named("bayes-optimal")["distance"], serde_json::json!({"mean": 0.0, "std_error": 0.0}));
    for row in rows {
        let (gap, error) = (mean(&row["distance"]), row["distance"]["std_error"].as_f64().unwrap());
        assert!(gap >= -4.0 * error, "{row}");
    }
    assert!(mean(&named("random")["distance"]) > 1.0);
    assert!(std::fs::read_to_string(out.join("compare.csv")).unwrap().contains("distance_std_error"));
    let said = text(&args[..4]);
    assert!(said.contains("from bayes-optimal"), "{said}");
    let without = json(&["compare", &spec, "--policies", "ucb1,gittins", "--instances", "20"]);
    assert!(without["rows"][0].get("distance").is_none());
}

#[test]
fn compare_leaves_out_what_takes_long_and_says_so() {
    let output = run(&["compare", "beta-10", "--instances", "4", "--json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("gittins is left out") && stderr.contains("--policies gittins"), "{stderr}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["policy"] != "gittins" && row["policy"] != "bayes-optimal"));
}

#[test]
fn training_with_exact_gradients_converges_and_is_deterministic() {
    let dir = tempfile::tempdir().unwrap();
    // The sampling keys of the spec's [train] do not stand in the way of a flag.
    let spec = small(dir.path(), BETA);
    let args = ["train", &spec, "--policy", "softelim", "--gradient", "exact", "--eval-instances", "50"];
    let document = json(&args);
    assert_eq!(document["stop_reason"], "converged");
    let w = document["policy"]["params"][0].as_f64().unwrap().to_string();
    let exact = json(&["exact", &spec, "--policy", "softelim", "--params", &w]);
    assert!(exact["gradient"][0].as_f64().unwrap().abs() < 1e-4, "{exact}");
    assert_eq!(document["policy"], json(&[&args[..], &["--seed", "9"]].concat())["policy"]);
    assert!(text(&args).contains("exact gradients, converged"));
    let fixed = json(&[&args[..], &["--learning-rate", "0.01", "--iterations", "3"]].concat());
    assert_eq!(fixed["stop_reason"], "iterations");
    for flag in [["--baseline", "loo"], ["--batch-size", "10"], ["--runs-per-instance", "4"]] {
        refused_saying(&[&args[..], &flag].concat(), &[flag[0], "exact gradients"]);
    }
    refused_saying(&["train", "--gradient", "exat"], &["--gradient", "did you mean 'exact'"]);
    refused_saying(
        &["train", "bernoulli-10", "--gradient", "exact"],
        &["10 arms", "states", "largest horizon"],
    );
    refused_saying(&["train", "--gradient", "exact", "--policy", "exp3"], &["--policy", "no exact result"]);
}

#[test]
fn a_table_can_be_exact_too() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "past.csv", "a,b\n0.1,0.2\n0.5,0.4\n0.9,0.8\n0.2,0.6\n0.3,0.1\n");
    let spec = small(dir.path(), "kind = \"table\"\npath = \"past.csv\"");
    let optimal = json(&["exact", &spec, "--policy", "bayes-optimal"])["bayes_regret"].as_f64().unwrap();
    assert!(json(&["exact", &spec])["bayes_regret"].as_f64().unwrap() >= optimal);
}

#[test]
fn gittins_prints_an_excerpt_and_writes_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let document = json(&["gittins", "--horizon", "12"]);
    assert_eq!(keys(&document), ["entries", "horizon", "output", "seconds", "start"]);
    assert_eq!(document["entries"], 364);
    for end in ["csv", "json"] {
        let path = dir.path().join(format!("table.{end}"));
        text(&["gittins", "--horizon", "12", "-o", path.to_str().unwrap()]);
        let content = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<Vec<f64>> = if end == "csv" {
            assert!(content.starts_with("successes,failures,remaining,index\n"));
            content
                .lines()
                .skip(1)
                .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
                .collect()
        } else {
            let value: Value = serde_json::from_str(&content).unwrap();
            assert_eq!(value["horizon"], 12);
            serde_json::from_value(value["rows"].clone()).unwrap()
        };
        assert_eq!(rows.len(), 364);
        let start = rows.iter().find(|row| row[..3] == [0.0, 0.0, 12.0]).unwrap();
        assert_eq!(start[3] as f32, document["start"].as_f64().unwrap() as f32);
        // With one round left the index is the posterior mean.
        assert!(
            rows.iter()
                .all(|row| row[2] > 1.0 || (row[3] - (row[0] + 1.0) / (row[0] + row[1] + 2.0)).abs() < 1e-6)
        );
    }
    assert!(text(&["gittins", "--horizon", "1"]).contains("0.5000"));
    refused_saying(&["gittins", "--horizon", "0"], &["--horizon", "found 0"]);
    refused_saying(&["gittins", "--horizon", "100000"], &["--horizon", "1 to 1143", "GB"]);
    refused_saying(&["gittins", "--horizon", "5", "-o", "table.txt"], &["--output", ".csv or .json"]);
    assert!(refused(&["gittins"]).contains("--horizon"));
}
