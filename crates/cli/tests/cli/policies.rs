//! docs/policies.md says what the code does: its Python blocks are played on small problems beside gradband.

use super::*;
use serde_json::json as value;

const DOCUMENT: &str = include_str!("../../../../docs/policies.md");
/// Plays the blocks of the document.
const DRIVER: &str = include_str!("policies.py");

/// The document's sections that are about a policy: its name and all of its text.
fn sections() -> Vec<(&'static str, &'static str)> {
    let name = |section: &'static str| section.split(['(', '\n']).next().unwrap_or_default();
    let sections = DOCUMENT.split("\n### ").skip(1).map(|section| section.split("\n## ").next().unwrap());
    sections.map(|section| (name(section), section)).collect()
}

/// All Python in the document.
fn blocks() -> String {
    let blocks = DOCUMENT.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.collect::<Vec<_>>().join("\n")
}

fn catalogue() -> Vec<String> {
    let policies = json(&["list", "policies"]);
    policies.as_array().unwrap().iter().map(|policy| policy["name"].as_str().unwrap().to_string()).collect()
}

fn sorted<T: Ord>(mut names: Vec<T>) -> Vec<T> {
    names.sort();
    names
}

#[test]
fn every_policy_has_a_section_with_code() {
    let found: Vec<_> = sections().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(
        sorted(found),
        sorted(catalogue()),
        "sections of docs/policies.md, and gradband list policies"
    );
    for (name, section) in sections() {
        assert!(section.contains("```python\n"), "{name} has no code");
    }
}

/// A policy on a problem: what Python needs to play it, and the regret that gradband finds.
struct Case {
    python: Value,
    regret: f64,
    std_error: f64,
}

/// Simulated instances where there is no exact result.
const INSTANCES: &str = "100000";

/// The problem in words that the driver knows, and the arguments that make gradband play the policy.
fn case(problem: &Value, args: &[&str]) -> Case {
    let exact = run(&[&["exact"], args, &["--json"]].concat());
    let found = match exact.status.success() {
        true => serde_json::from_slice(&exact.stdout).unwrap(),
        false => json(&[&["evaluate"], args, &["--instances", INSTANCES, "--seed", "7"]].concat()),
    };
    let regret = &found["bayes_regret"];
    Case {
        python: value!({"problem": problem, "policy": found["policy"]}),
        regret: regret.as_f64().unwrap_or_else(|| mean(regret)),
        std_error: regret["std_error"].as_f64().unwrap_or(0.0),
    }
}

/// Bernoulli arms with known instances: for gradband, and for Python.
fn arms(dir: &Path, horizon: usize, instances: &Value, weights: &Value) -> (String, Value) {
    let spec = format!(
        "[problem]\nkind = \"bernoulli\"\nhorizon = {horizon}\n\
         [problem.prior]\nkind = \"points\"\ninstances = {instances}\nweights = {weights}\n"
    );
    let problem = value!({"world": "arms", "horizon": horizon, "instances": instances, "weights": weights});
    (write(dir, &format!("arms-{horizon}.toml"), spec), problem)
}

fn without_contexts(dir: &Path) -> Vec<Case> {
    let two = [value!([[0.8, 0.3], [0.4, 0.7]]), value!([0.4, 0.6])];
    let three = [value!([[0.8, 0.3, 0.5], [0.2, 0.7, 0.4], [0.5, 0.6, 0.9]]), value!([0.3, 0.5, 0.2])];
    let longer = [arms(dir, 12, &two[0], &two[1]), arms(dir, 8, &three[0], &three[1])];
    // Where every history leaves something else behind, there are too many long ones.
    let shorter = [arms(dir, 6, &two[0], &two[1]), arms(dir, 5, &three[0], &three[1])];

    let mut cases = vec![case(&longer[0].1, &[&longer[0].0, "--policy", "explore-then-commit(h=2.4)"])];
    for (spec, problem) in &longer {
        let policies = "softelim(w=0.7) boltzmann(w=0.3) epsilon-greedy(epsilon=0.3) ucb1 ucb-v thompson gittins \
                        soft-index(mean=0.6,strength=1.5,alpha=0.7,gamma=0.4,delta=1.3,temperature=0.05) \
                        thompson(alpha=2.5,beta=0.7,sharpness=1.7) thompson(alpha=0.4,beta=3) gittins(alpha=3,beta=2) \
                        bayes-optimal bayes-optimal(prior=fit) bayes-optimal(prior=beta,alpha=2.5,beta=0.7) random";
        cases.extend(policies.split_whitespace().map(|policy| case(problem, &[spec, "--policy", policy])));
    }
    for (spec, problem) in &shorter {
        cases.push(case(problem, &[spec, "--policy", "exp3(w=0.4)"]));
        // Trained a little, so that it plays neither one arm nor all alike.
        for (network, iterations) in [
            ("lstm(hidden=3,embedding=2)", "100"),
            ("dqn(hidden=5)", "300"),
            ("dqn(hidden=4,time=true)", "300"),
        ] {
            let out = dir.join(format!("{network}-{}", problem["horizon"]));
            let out = out.to_str().unwrap();
            let mut args = vec!["train", spec, "--policy", network, "--iterations", iterations, "-o", out];
            args.extend(["--eval-instances", "100"]);
            if network.starts_with("lstm") {
                args.extend(["--learning-rate", "0.03"]);
            }
            text(&args);
            cases.push(case(problem, &[spec, "--policy-file", &format!("{out}/policy.json")]));
        }
    }
    cases
}

/// A labelled table: for gradband, and for Python, which scales raw rows as `policy.json` says.
fn examples(dir: &Path, name: &str, scale: &str, rows: &[([f64; 2], &str)]) -> (String, Value) {
    let lines = rows.iter().map(|([a, b], label)| format!("{a},{b},{label}\n"));
    write(dir, &format!("{name}.csv"), format!("a,b,label\n{}", lines.collect::<String>()));
    let horizon = 6;
    let spec = format!(
        "[problem]\nkind = \"classification\"\nhorizon = {horizon}\ndata = \"{name}.csv\"\nlabel = \"label\"\n\
         scale = \"{scale}\"\nholdout = 0\n"
    );
    let spec = write(dir, &format!("{name}.toml"), spec);
    let out = dir.join(name);
    let train = ["train", &spec, "--policy", "cosoftelim", "--start", "identity", "--iterations", "1"];
    text(&[&train[..], &["--eval-instances", "100", "-o", out.to_str().unwrap()]].concat());
    let file: Value = serde_json::from_slice(&std::fs::read(out.join("policy.json")).unwrap()).unwrap();
    let mut problem = value!({"world": "examples", "horizon": horizon, "rows": rows});
    for key in ["arm_names", "features"] {
        problem[key] = file["problem"][key].clone();
    }
    (spec, problem)
}

fn with_contexts(dir: &Path) -> Vec<Case> {
    let plain = [([0.6, 0.8], "red"), ([1.1, 0.1], "green"), ([-0.7, 0.5], "blue")];
    let (spec, problem) = examples(dir, "plain", "none", &plain);
    let mut cases = Vec::new();
    let mut add = |policy: &str, params: &[&str]| {
        cases.push(case(&problem, &[&[spec.as_str(), "--policy", policy], params].concat()));
    };
    add("cosoftelim", &[]);
    add("cosoftelim(learn_gamma=true,ridge=0.5)", &["--params", "1.2,-0.3,0.4,0.9,3"]);
    add("cosoftelim(rank=1,noise_sd=0.3)", &["--params", "0.9,0.4"]);
    add("soft-ucb", &["--params", "1.2,-0.3,0.4,0.9,0.7,0.1"]);
    add("soft-ucb(hard=true)", &["--params", "1.2,-0.3,0.4,0.9,0.7,0.1"]);
    add("lin-thompson(noise_sd=0.4)", &["--params", "1.2,-0.3,0.4,0.9"]);
    add("mom-thompson(rank=1)", &[]);
    add("lin-epsilon-greedy(epsilon=0.3,ridge=2)", &[]);
    add("linucb(alpha=0.8)", &[]);
    add("random", &[]);

    // Scaled to corners of a square: contexts of one length, which the width of linucb depends on.
    let corners = [([10.0, 3.0], "no"), ([30.0, 3.0], "yes"), ([10.0, 7.0], "yes"), ([30.0, 7.0], "no")];
    let (spec, mut problem) = examples(dir, "corners", "minmax", &corners);
    problem["longest_square"] = value!(2.0);
    for policy in ["linucb", "cosoftelim"] {
        cases.push(case(&problem, &[&spec, "--policy", policy]));
    }

    let means = value!([[0.5, 0.2], [0.1, 0.9]]);
    let spec = format!(
        "[problem]\nkind = \"discrete-context\"\nhorizon = 13\nmeans = {means}\nmean_sd = 0.3\nnoise_sd = 0.5\n\
         context_order = \"cyclic\"\n"
    );
    let problem =
        value!({"world": "discrete", "horizon": 13, "means": means, "mean_sd": 0.3, "noise_sd": 0.5});
    let spec = write(dir, "discrete.toml", spec);
    cases.push(case(&problem, &[&spec, "--policy", "contextual-explore-then-commit(h=1.6)"]));
    cases
}

/// What Python's standard library makes of the document's code, case by case.
fn played(dir: &Path, cases: &[Case]) -> Vec<Value> {
    let code = write(dir, "document.py", blocks());
    let driver = write(dir, "driver.py", DRIVER);
    let list: Vec<_> = cases.iter().map(|case| &case.python).collect();
    let list = write(dir, "cases.json", serde_json::to_vec(&list).unwrap());
    // -I and -S: neither the surroundings nor installed packages.
    let output = Command::new("python3").args(["-I", "-S", &driver, &code, &list]).output();
    let output = output.expect("python3, which plays docs/policies.md");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Within four standard errors (of 10,000 runs in Python, if it draws, and 100,000 in gradband); the same number where neither has
/// any. About one in sixteen thousand such numbers is further away by chance, and seeds are fixed.
#[test]
fn the_code_of_every_section_plays_as_gradband_does() {
    let dir = tempfile::tempdir().unwrap();
    let cases: Vec<_> = without_contexts(dir.path()).into_iter().chain(with_contexts(dir.path())).collect();
    let found = played(dir.path(), &cases);
    assert_eq!(found.len(), cases.len());
    for (case, python) in cases.iter().zip(&found) {
        let error = case.std_error.hypot(python["std_error"].as_f64().unwrap());
        let (ours, theirs) = (case.regret, python["mean"].as_f64().unwrap());
        let policy = &case.python["policy"];
        assert!(
            (ours - theirs).abs() <= 4.0 * error + 1e-6,
            "{} {}: gradband has {ours}, the document {theirs} ± {error}",
            policy["kind"],
            policy["settings"]
        );
    }
    let mut kinds: Vec<_> =
        cases.iter().map(|case| case.python["policy"]["kind"].as_str().unwrap().to_string()).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, sorted(catalogue()), "the policies that are played");
}
