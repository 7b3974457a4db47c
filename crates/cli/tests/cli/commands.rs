//! What each command prints.

use super::*;

const SMALL: [&str; 2] = ["--instances", "300"];

#[test]
fn list_shows_every_registry() {
    let all = json(&["list"]);
    assert_eq!(keys(&all), ["baselines", "data", "experiments", "optimizers", "policies", "problems"]);
    for kind in ["problems", "policies", "baselines", "optimizers", "experiments", "data"] {
        let (list, shown) = (json(&["list", kind]), text(&["list", kind]));
        assert_eq!(list, all[kind]);
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        for item in list.as_array().unwrap() {
            assert!(item["name"].is_string() && item["summary"].is_string());
            assert!(item["params"].is_array() && item["settings"].is_array());
            let name = item["name"].as_str().unwrap();
            let in_family =
                name.starts_with("distractors-") && !["distractors-3", "distractors-24"].contains(&name);
            assert!(in_family || shown.contains(name), "{name}");
        }
    }
    let policies = all["policies"].as_array().unwrap();
    let of = |name: &str| policies.iter().find(|item| item["name"] == name).unwrap();
    let epsilon = &of("epsilon-greedy")["params"][0];
    assert_eq!(epsilon["name"], "epsilon");
    assert_eq!(epsilon["default"], 0.2);
    assert_eq!(epsilon["domain"], serde_json::json!([0.0, 1.0]));
    assert_eq!(epsilon["feasible"], serde_json::json!([0.01, 1.0]));
    assert_eq!(of("explore-then-commit")["params"][0]["feasible"][1], "floor(n/2)");
    assert_eq!(of("exp3")["settings"][0]["values"], serde_json::json!(["total", "paper"]));
    assert!(of("ucb1")["params"].as_array().unwrap().is_empty());
}

#[test]
fn train_without_arguments_is_the_papers_problem() {
    let document = json(&["train", "--eval-instances", "500"]);
    for key in ["gain", "learning_rate", "history", "seed", "seconds", "version"] {
        assert!(!document[key].is_null(), "{key}");
    }
    assert_eq!(
        document["problem"],
        serde_json::json!({
            "name": "bernoulli-2", "kind": "bernoulli", "arms": 2, "horizon": 200, "past_mean": 0.5, "unit_rewards": true
        })
    );
    assert_eq!(document["policy"]["kind"], "softelim");
    assert_eq!(document["policy"]["names"], serde_json::json!(["w"]));
    assert_eq!(document["policy"]["shape"], serde_json::json!([[]]));
    assert_eq!(document["stop_reason"], "iterations");
    let history = document["history"].as_array().unwrap();
    assert_eq!(history.len(), 100);
    assert_eq!(keys(&history[99]), ["gradient_norm", "iteration", "params"]);
    assert_eq!(history[99]["params"], document["last"]["params"]);
    let (initial, tuned) = (&document["initial"], &document["final"]);
    assert_eq!(tuned["instances"], 500);
    assert!(mean(&tuned["bayes_regret"]) < mean(&initial["bayes_regret"]));
    let gain = mean(&initial["bayes_regret"]) - mean(&tuned["bayes_regret"]);
    assert!((mean(&document["gain"]) - gain).abs() < 1e-9);
    let compared: Vec<_> = document["comparison"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["policy"].as_str().unwrap())
        .collect();
    assert_eq!(compared[0], "softelim(w=1)");
    assert_eq!(compared[2..5], ["thompson", "ucb1", "bayes-optimal"]);
    assert!(compared[5..].iter().all(|policy| policy.contains("prior=fit")), "{compared:?}");
}

#[test]
fn train_ends_with_a_small_table() {
    let text = text(&["train", "--iterations", "4", "--eval-instances", "100"]);
    for part in [
        "untuned",
        "tuned",
        "thompson",
        "ucb1",
        "bayes-optimal",
        "±",
        "gain over the untuned policy",
        "(95 % ",
        "learned w = ",
        "rounds/s",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

#[test]
fn every_optimizer_baseline_and_return_trains() {
    let quick = ["train", "--iterations", "3", "--eval-instances", "50", "--batch-size", "40"];
    for optimizer in ["sgd", "adam", "yogi"] {
        json(&[&quick[..], &["--optimizer", optimizer, "--average", "none"]].concat());
    }
    for baseline in ["none", "opt", "self", "loo"] {
        for returns in ["realized", "mean"] {
            json(&[&quick[..], &["--baseline", baseline, "--returns", returns]].concat());
        }
    }
    let document = json(&[&quick[..], &["--learning-rate", "0.125", "--average", "none"]].concat());
    assert_eq!(document["learning_rate"], 0.125);
    assert_eq!(document["policy"]["params"], document["last"]["params"]);
}

#[test]
fn a_row_of_compare_is_what_evaluate_prints() {
    let policies = "thompson, softelim(w=0.5),exp3(w=0.25,score=paper),ucb1";
    let document = json(&[&["compare", "bernoulli-2", "--policies", policies], &SMALL[..]].concat());
    assert_eq!(document["instances"], 300);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["difference"], serde_json::json!({"mean": 0.0, "std_error": 0.0}));
    for pair in rows.windows(2) {
        assert!(mean(&pair[0]["bayes_regret"]) <= mean(&pair[1]["bayes_regret"]));
    }
    for row in rows {
        let name = row["policy"].as_str().unwrap();
        let alone = json(&[&["evaluate", "bernoulli-2", "--policy", name], &SMALL[..]].concat());
        assert_eq!(alone["bayes_regret"], row["bayes_regret"], "{name}");
        assert_eq!(alone["bayes_reward"], row["bayes_reward"], "{name}");
    }
}

#[test]
fn compare_takes_every_policy_that_applies() {
    let names = |problem: &str| -> Vec<String> {
        let document = json(&["compare", problem, "--instances", "20"]);
        let rows = document["rows"].as_array().unwrap();
        rows.iter().map(|row| row["policy"].as_str().unwrap().into()).collect()
    };
    let all = json(&["list", "policies"]);
    let armed = all.as_array().unwrap().iter().filter(|policy| policy["plays"] != "contexts");
    let armed = armed.filter(|policy| policy["name"] != "lstm" && policy["name"] != "dqn").count();
    // And three that know the past.
    assert_eq!(names("bernoulli-2").len(), armed + 3);
    assert!(!names("distractors-3").contains(&"explore-then-commit".to_string()));
}

#[test]
fn evaluate_prints_regret_reward_and_quantiles() {
    let document =
        json(&["evaluate", "bernoulli-2", "--policy", "softelim", "--params", "0.5", "--instances", "300"]);
    assert_eq!(document["policy"]["params"], serde_json::json!([0.5]));
    assert_eq!(keys(&document["quantiles"]), ["p05", "p25", "p50", "p75", "p95"]);
    assert_eq!(document["instances"], 300);
    assert!((mean(&document["bayes_regret"]) + mean(&document["bayes_reward"]) - 120.0).abs() < 1e-9);
    let untuned = text(&["evaluate", "bernoulli-2", "--policy", "ucb1", "--instances", "300"]);
    assert!(untuned.contains("Bayes regret") && untuned.contains("±"));
}

#[test]
fn gradient_tells_variance_and_cost() {
    for (baseline, runs, instances) in
        [("none", 1, 2000), ("opt", 1, 2000), ("self", 2, 1000), ("loo", 8, 250)]
    {
        let document = json(&[
            "gradient",
            "bernoulli-2",
            "--policy",
            "softelim",
            "--params",
            "1",
            "--baseline",
            baseline,
        ]);
        assert_eq!(document["policy_runs_per_instance"], runs);
        assert_eq!(document["instances"], instances);
        for key in ["mean", "std_error", "variance_per_instance"] {
            assert_eq!(document[key].as_array().unwrap().len(), 1);
        }
        // The exact derivative is -6.98594.
        let (mean, error) =
            (document["mean"][0].as_f64().unwrap(), document["std_error"][0].as_f64().unwrap());
        assert!((mean + 6.98594).abs() < 5.0 * error, "{baseline}: {mean} ± {error}");
    }
    let three = [
        "gradient",
        "bernoulli-2",
        "--policy",
        "softelim(w=2)",
        "--params",
        "1",
        "--baseline",
        "loo",
        "--runs-per-instance",
        "3",
        "--batch-size",
        "10",
    ];
    assert_eq!(json(&three)["policy_runs_per_instance"], 3);
}

#[test]
fn numbers_do_not_depend_on_threads() {
    for args in [
        &["train", "--iterations", "5", "--eval-instances", "200"][..],
        &["evaluate", "beta-2", "--policy", "thompson", "--instances", "200"],
        &["compare", "distractors-5", "--instances", "200"],
        &["gradient", "bernoulli-2", "--policy", "exp3", "--params", "0.3", "--baseline", "loo"],
    ] {
        let with = |threads: &str| timeless(json(&[args, &["--threads", threads]].concat()));
        assert_eq!(with("1"), with("2"), "{args:?}");
        assert_ne!(with("1"), timeless(json(&[args, &["--seed", "2"]].concat())), "{args:?}");
    }
}

#[test]
fn init_and_check_go_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.toml");
    let path = path.to_str().unwrap();
    assert_eq!(run(&["init", path]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(path).unwrap(), text(&["init"]));
    assert!(refused(&["init", path]).contains("exists already"));
    let words = text(&["check", path]);
    for part in
        ["is valid", "2 arms", "200 rounds", "softelim", "learns w", "200,000 runs", "10,000 instances"]
    {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    let document = json(&["check", path]);
    assert_eq!(document["valid"], true);
    assert_eq!(document["training_runs"], 200_000);
    assert_eq!(json(&["init"])["spec"].as_str().unwrap(), text(&["init"]));
}

/// A commented key of the template must be one that the spec knows.
#[test]
fn the_template_is_valid_with_every_line_of_train_uncommented() {
    let dir = tempfile::tempdir().unwrap();
    let template = text(&["init"]);
    let (template, contexts) = template.split_once("# Contexts:").unwrap();
    let (head, tail) = template.split_once("[policy]").unwrap();
    let tail: Vec<_> = tail.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
    let spec = write(dir.path(), "all.toml", format!("{head}[policy]{}", tail.join("\n")));
    assert!(text(&["check", &spec]).contains("at most 60 s"));
    // The other problems, each with the policy at the end.
    let uncommented: Vec<_> =
        contexts.lines().skip(2).map(|line| line.trim_start_matches('#').trim_start()).collect();
    let uncommented = uncommented.join("\n").replace("table.csv", "iris").replace("\"class\"", "\"label\"");
    let (problems, policy) = uncommented.split_once("[policy]").unwrap();
    let problems: Vec<_> = problems.split("[problem]").skip(1).collect();
    assert_eq!(problems.len(), 3);
    for problem in problems {
        let spec = write(dir.path(), "context.toml", format!("[problem]{problem}[policy]{policy}"));
        assert!(text(&["check", &spec]).contains("Training learns W, alpha, temperature"), "{problem}");
    }
}

#[test]
fn flags_win_over_the_spec() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(
        dir.path(),
        "s.toml",
        "[problem]\nkind = \"bernoulli\"\nhorizon = 20\n[problem.prior]\nkind = \"beta\"\narms = 2\nalpha = 1\nbeta = 1\n\
         [policy]\nkind = \"boltzmann\"\nw = 0.5\n[train]\nbaseline = \"loo\"\nruns_per_instance = 4\niterations = 3\nbatch_size = 10\n[evaluate]\ninstances = 40\n",
    );
    let document = json(&["train", &spec]);
    assert_eq!(document["policy"]["kind"], "boltzmann");
    assert_eq!(document["initial"]["params"], serde_json::json!([0.5]));
    assert_eq!(document["final"]["instances"], 40);
    assert_eq!(document["history"].as_array().unwrap().len(), 3);
    let flags = json(&[
        "train",
        &spec,
        "--policy",
        "softelim",
        "--iterations",
        "2",
        "--baseline",
        "self",
        "--eval-instances",
        "30",
    ]);
    assert_eq!(flags["policy"]["kind"], "softelim");
    assert_eq!(flags["history"].as_array().unwrap().len(), 2);
    assert_eq!(flags["final"]["instances"], 30);
    let evaluated = json(&["evaluate", &spec]);
    assert_eq!(evaluated["policy"]["kind"], "boltzmann");
    assert_eq!(evaluated["instances"], 40);
    assert_eq!(
        evaluated["bayes_regret"],
        json(&["evaluate", &spec, "--policy", "boltzmann", "--params", "0.5"])["bayes_regret"]
    );
}

#[test]
fn a_time_limit_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let spec = text(&["init"])
        .replace("# time_limit = 60.0", "time_limit = 0.2")
        .replace("iterations = 100", "iterations = 1000000");
    let spec = write(dir.path(), "s.toml", spec);
    let document = json(&["train", &spec, "--eval-instances", "50"]);
    assert_eq!(document["stop_reason"], "time");
    assert!(!document["history"].as_array().unwrap().is_empty());
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for args in [
        &["list"][..],
        &["init"],
        &["train", "--iterations", "1", "--eval-instances", "9", "--json"],
        &["--help"],
    ] {
        let mut child = gradband(args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

/// Nothing is searched for before it is needed.
#[test]
fn a_check_is_immediate() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "[problem]\nkind = \"linear\"\nhorizon = 10000\nnoise_sd = 0.1\narms = 2\ncontext_dim = 2\n\
                theta_cov = [1, 0.5]\n[policy]\nkind = \"linucb\"\nwidth = \"tuned\"\n";
    let tuned = write(dir.path(), "tuned.toml", spec);
    let start = std::time::Instant::now();
    let (words, document) = (text(&["check", &tuned]), json(&["check", &tuned]));
    // The search takes twenty times as long.
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(words.contains("Policy: linucb(width=tuned), "), "{words}");
    assert!(document["policy"].get("params").is_none() && document["spec"]["policy"].get("alpha").is_none());
    let given = write(dir.path(), "given.toml", format!("{spec}alpha = 0.5\n"));
    assert_eq!(json(&["check", &given])["policy"]["params"], serde_json::json!([0.5]));
}
