//! Problems with contexts: every command, files that carry a projection, and tables that are wrong.

use super::*;

const LINEAR: &str = "[problem]\nkind = \"linear\"\nhorizon = 30\narms = 3\nnoise_sd = 0.5\ncontext_mean = [1, 1, 0, 0]\n\
                      theta_cov = [1, 0, 1, 0]\n[policy]\nkind = \"cosoftelim\"\n[train]\niterations = 4\nbatch_size = 10\n[evaluate]\ninstances = 200\n";

fn flowers() -> String {
    let rows = (0..60_u32).map(|i| {
        let kind = ["rose", "tulip", "daisy"][(i % 3) as usize];
        format!("{},{},7,{kind}\n", i % 3 * 2 + i % 5, (i * 7) % 11)
    });
    format!("length,width,spare,flower\n{}", rows.collect::<String>())
}

/// A classification spec beside its table.
fn project(table: impl AsRef<[u8]>, extra: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "flowers.csv", table);
    let spec = format!(
        "[problem]\nkind = \"classification\"\nhorizon = 40\ndata = \"flowers.csv\"\n{extra}\n\
         [train]\niterations = 3\nbatch_size = 10\n[evaluate]\ninstances = 100\n"
    );
    let spec = write(dir.path(), "s.toml", spec);
    (dir, spec)
}

#[test]
fn a_linear_problem_trains_and_its_policy_plays_again() {
    let dir = tempfile::tempdir().unwrap();
    let (spec, out) = (write(dir.path(), "s.toml", LINEAR), dir.path().join("out"));
    let out = out.to_str().unwrap();
    let shown = text(&["train", &spec, "-o", out]);
    for part in ["W, █ =", "M = W'W, █ =", "column lengths of W", "lin-thompson", "linucb(alpha="] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let document = json(&["train", &spec]);
    assert_eq!(document["policy"]["kind"], "cosoftelim");
    assert_eq!(document["policy"]["names"], serde_json::json!(["W"]));
    // Two directions matter to an arm: the history starts with two rows.
    assert_eq!(document["policy"]["shape"], serde_json::json!([[2, 4]]));
    assert_eq!(document["policy"]["params"].as_array().unwrap().len(), 8);
    let whole = json(&["train", &spec, "--start", "identity"]);
    assert_eq!(whole["policy"]["shape"], serde_json::json!([[4, 4]]));
    assert_eq!(document["problem"]["context_dim"], 4);
    let file = format!("{out}/policy.json");
    let again = json(&["evaluate", &spec, "--policy-file", &file]);
    assert_eq!(again["bayes_regret"], document["final"]["bayes_regret"]);
    let history = std::fs::read_to_string(format!("{out}/history.csv")).unwrap();
    assert!(history.starts_with("iteration,gradient_norm,\"W[1,1]\",\"W[1,2]\""), "{history}");
    let compared = json(&["compare", &spec, "--policies", "cosoftelim,soft-ucb", "--policy-file", &file]);
    assert_eq!(compared["rows"].as_array().unwrap().len(), 3);
    // The same bits for any number of threads.
    assert_eq!(timeless(json(&["train", &spec, "--threads", "1"])), timeless(document));
    // A projection for four features does not fit eight.
    refused_saying(&["evaluate", "linear-1", "--policy-file", &file], &["problem.arms", "3 arms"]);
}

#[test]
fn every_contextual_policy_is_compared_and_others_refused() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", LINEAR);
    let document = json(&["compare", &spec]);
    let names: Vec<_> =
        document["rows"].as_array().unwrap().iter().map(|row| row["policy"].as_str().unwrap()).collect();
    for name in
        ["cosoftelim", "soft-ucb", "lin-thompson", "lin-epsilon-greedy", "linucb", "mom-thompson", "random"]
    {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    refused_saying(&["evaluate", &spec, "--policy", "ucb1"], &["without contexts", "cosoftelim", "linucb"]);
    refused_saying(&["evaluate", "bernoulli-2", "--policy", "linucb"], &["with contexts", "softelim"]);
    refused_saying(&["exact", "linear-1", "--policy", "cosoftelim"], &["only Bernoulli rewards", "linear"]);
}

#[test]
fn gradients_have_a_number_for_each_parameter() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", LINEAR);
    let identity = "1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";
    for (policy, params, count) in [
        ("cosoftelim", identity.to_string(), 16),
        ("cosoftelim(rank=2)", "1,0,0,0,0,1,0,0".into(), 8),
        ("cosoftelim(learn_gamma=true)", format!("{identity},4"), 17),
        ("soft-ucb", format!("{identity},1,0.25"), 18),
        ("lin-thompson", identity.into(), 16),
        ("lin-epsilon-greedy", "0.3".into(), 1),
    ] {
        for baseline in ["none", "opt", "self", "loo"] {
            let args = ["gradient", &spec, "--policy", policy, "--params", &params, "--baseline", baseline];
            let document = json(&args);
            for key in ["mean", "std_error", "variance_per_instance"] {
                assert_eq!(document[key].as_array().unwrap().len(), count, "{policy}, {key}");
            }
        }
    }
    let args = ["gradient", &spec, "--policy", "cosoftelim", "--params", "1,2", "--baseline", "self"];
    refused_saying(&args, &["--params", "found 2", "16 (W (4 x 4))"]);
    let args = ["gradient", &spec, "--policy", "linucb", "--params", "1", "--baseline", "self"];
    refused_saying(&args, &["linucb", "train searches"]);
    let file = write(dir.path(), "w.json", "{\"W\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}");
    let args = ["evaluate", &spec, "--policy", "cosoftelim", "--params", &format!("@{file}")];
    assert_eq!(json(&args)["bayes_regret"], json(&args[..4])["bayes_regret"]);
}

#[test]
fn a_search_tunes_a_policy_without_a_score() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", LINEAR.replace("iterations = 4", "iterations = 40"));
    let document = json(&["train", &spec, "--policy", "linucb"]);
    assert_eq!(document["stop_reason"], "converged");
    assert!(document["learning_rate"].is_null() && document["history"][0]["gradient_norm"].is_null());
    assert!(mean(&document["gain"]) > 0.0);
}

#[test]
fn a_labelled_table_is_a_problem() {
    let (dir, spec) = project(flowers(), "label = \"flower\"\nholdout = 0.25");
    let output = run(&["check", &spec]);
    let (shown, notes) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(shown.contains("3 arms (daisy, rose, tulip)") && shown.contains("3 features"), "{shown}");
    assert!(notes.contains("spare"), "a constant feature is mentioned: {notes}");
    let out = dir.path().join("out");
    json(&["train", &spec, "--policy", "soft-ucb", "-o", out.to_str().unwrap()]);
    let policy: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("policy.json")).unwrap()).unwrap();
    assert_eq!(policy["problem"]["arm_names"], serde_json::json!(["daisy", "rose", "tulip"]));
    let features = policy["problem"]["features"].as_array().unwrap();
    assert_eq!(features[1]["name"], "width");
    // Scaled to [-1, 1]: 0 to 10 becomes (x - 5) / 5.
    assert_eq!((features[1]["shift"].as_f64(), features[1]["factor"].as_f64()), (Some(5.0), Some(0.2)));
    assert_eq!(features[2]["factor"].as_f64(), Some(0.0));
    let shown = text(&["train", &spec, "--policy", "cosoftelim(rank=2)"]);
    assert!(shown.contains("longest columns of W: "), "{shown}");
    // Another table with other features is not what the policy learned.
    let file = out.join("policy.json");
    let (_other, renamed) = project(flowers().replace("width", "depth"), "label = 4\nholdout = 0.25");
    let output = run(&["evaluate", &renamed, "--policy-file", file.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        ["problem.features", "'width'", "'depth'"].iter().all(|part| message.contains(part)),
        "{message}"
    );
}

#[test]
fn wrong_tables_are_refused_with_file_line_and_column() {
    let check = |table: &str, extra: &str, parts: &[&str]| {
        let (_dir, spec) = project(table, extra);
        refused_saying(&["train", &spec], parts);
    };
    check("a,b,label\n1,2,x\n3,,y\n", "", &["flowers.csv, line 3", "column 2", "'b'"]);
    check("a,b,label\n1,2,x\n3,NaN,y\n", "", &["flowers.csv, line 3", "column 2"]);
    check("a,b,label\n1,2,x\n3,red,y\n", "", &["flowers.csv, line 3", "column 2", "red"]);
    check("a,b,label\n1,2,x\n3,4,x\n", "", &["flowers.csv", "class"]);
    check("a,a,label\n1,2,x\n3,4,y\n", "", &["flowers.csv, line 1", "'a'"]);
    check("a,b,label\n1,2,x\n3,4,y\n", "label = \"lable\"", &["flowers.csv", "did you mean 'label'"]);
    check("a,b,label\n1,2,x\n3,4,y\n", "scale = \"minmix\"", &["s.toml, line 5, problem.scale", "minmax"]);
    check("a,b,label\n1,2,x\n3,4,y\n", "holdout = 2", &["s.toml, line 5, problem.holdout", "found 2"]);
    let wide: String = (0..100_000).map(|i| format!("{i},")).collect();
    check(&format!("{wide}label\n"), "", &["flowers.csv, line 1", "10000"]);
    let (_dir, spec) = project("", "");
    assert!(refused(&["train", &spec]).contains("flowers.csv"));
    let (_dir, spec) = project("x", "data2 = 1");
    assert!(refused(&["train", &spec]).contains("problem.data2: unknown name 'data2'; did you mean 'data'?"));
}

#[test]
fn data_sets_are_problems_by_name() {
    let document = json(&["evaluate", "iris", "--policy", "cosoftelim", "--instances", "50"]);
    assert!(mean(&document["bayes_regret"]) > 40.0);
    refused_saying(&["evaluate", "covertype", "--policy", "random"], &["gradband data fetch covertype"]);
    let sets = json(&["list", "data"]);
    assert_eq!(sets.as_array().unwrap().len(), 11);
    let dir = tempfile::tempdir().unwrap();
    let spec =
        "[problem]\nkind = \"classification\"\ndata = \"wine\"\nhorizon = 20\n[evaluate]\ninstances = 20\n";
    let spec = write(dir.path(), "s.toml", spec);
    assert_eq!(json(&["check", &spec])["problem"]["context_dim"], 13);
}
