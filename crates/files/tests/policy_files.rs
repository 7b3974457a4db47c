//! Policies on disk: written, read, played again, and refused where they do not belong.
#![allow(clippy::unwrap_used)]

use gradband::policy::{Choice, applicable};
use gradband::{
    Agent, Catalogue, ErrorKind, LinearRule, Param, Policy, Problem, Pull, Rule, Scalar, Seen, Simulator,
    Trainer,
};
use gradband_files::{
    FORMAT, PolicyFile, Target, load_playable, load_policy, load_policy_from, named, save_policy,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn flowers() -> Problem {
    Target::from_file(&golden("flowers.toml")).unwrap().problem
}

fn coins() -> Problem {
    Target::from_file(&golden("coins.toml")).unwrap().problem
}

fn bits(choice: &Choice) -> Vec<u64> {
    choice.params().iter().map(|x| x.to_bits()).collect()
}

/// The same policy after it was saved and loaded.
fn again(choice: &Choice, problem: &Problem, catalogue: &Catalogue) -> Choice {
    let dir = tempfile::tempdir().unwrap();
    save_policy(dir.path(), choice, problem).unwrap();
    load_policy_from(dir.path(), problem, catalogue).unwrap()
}

#[track_caller]
fn survives(choice: &Choice, problem: &Problem, catalogue: &Catalogue) {
    let loaded = again(choice, problem, catalogue);
    assert_eq!(bits(&loaded), bits(choice), "{}", choice.name());
    assert_eq!(loaded.label(), choice.label());
    assert!(loaded.settings().eq(choice.settings()));
}

/// What version 0.1.0 wrote is read to the last bit, and plays as it did then. Regrets of single instances are the
/// same numbers; their sums are taken in another order since.
#[test]
fn files_of_old_versions_load_and_play_the_same() {
    let played: Value = serde_json::from_slice(&std::fs::read(golden("played.json")).unwrap()).unwrap();
    let softelim = named("bernoulli-2").unwrap();
    for (name, problem) in [("softelim", softelim), ("cosoftelim", flowers()), ("lstm", coins())] {
        let policy = load_policy(golden(name).join("policy.json"), &problem).unwrap();
        assert_eq!(policy.name(), name);
        let expected = &played[name];
        let instances = expected["instances"].as_u64().unwrap() as usize;
        let found = Simulator::new(&problem).instances(instances).evaluate(&policy).unwrap();
        let quantiles = serde_json::to_value(found.quantiles()).unwrap();
        assert_eq!(quantiles, expected["quantiles"], "{name}");
        for (key, estimate) in [("bayes_regret", found.regret()), ("bayes_reward", found.reward())] {
            let same = |x: f64, key2: &str| (x / expected[key][key2].as_f64().unwrap() - 1.0).abs() < 1e-12;
            assert!(
                same(estimate.mean, "mean") && same(estimate.std_error, "std_error"),
                "{name}: {estimate:?}"
            );
        }
    }
}

/// serde_json is off by a unit in the last place unless it is told otherwise.
#[test]
fn numbers_are_read_to_the_last_bit() {
    let policy = load_policy(golden("cosoftelim"), &flowers()).unwrap();
    assert_eq!(policy.param("W").unwrap()[1].to_bits(), 0.11206653402759821_f64.to_bits());
    assert_eq!(policy.param("gamma"), Some(&[4.738241889833886][..]));
}

#[test]
fn every_policy_survives() {
    let catalogue = Catalogue::default();
    for problem in [coins(), flowers(), named("linear-1").unwrap(), named("beta-2").unwrap()] {
        for kind in applicable(&problem) {
            let initial = Choice::initial(kind, &problem).unwrap();
            // Numbers that are neither short nor equal, and exact in the single precision of networks.
            let moved = initial.params().iter().zip(1_u16..).map(|(x, i)| x + f64::from(i) / 8192.0);
            let moved: Vec<f64> = moved.collect();
            let choice = initial.with_params(&problem, &moved).unwrap_or(initial);
            if choice.is_trained() {
                survives(&choice, &problem, &catalogue);
            }
        }
    }
}

#[test]
fn settings_survive() {
    let problem = flowers();
    for text in [
        "cosoftelim(rank=2,learn_gamma=true,gamma=3,ridge=0.5)",
        "soft-ucb(rank=1)",
        "mom-thompson(rank=2)",
        "linucb(alpha=0.3,ridge=2)",
    ] {
        survives(&Choice::parse(text, &problem).unwrap(), &problem, &Catalogue::default());
    }
}

/// Parameters that are left to a search are saved as what the search finds, not as where it begins.
#[test]
fn a_search_is_done_before_its_result_is_saved() {
    let problem = named("linear-1").unwrap().with_horizon(20).unwrap();
    let tuned = Choice::parse("linucb(width=tuned)", &problem).unwrap();
    let fitted = tuned.fitted(&problem, &mut ()).unwrap();
    assert_ne!(bits(&fitted), bits(&tuned));
    assert_eq!(bits(&again(&tuned, &problem, &Catalogue::default())), bits(&fitted));
}

#[test]
fn a_network_without_weights_is_not_saved() {
    let (problem, dir) = (coins(), tempfile::tempdir().unwrap());
    let error = save_policy(dir.path(), &Choice::parse("lstm", &problem).unwrap(), &problem).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Untrained { policy } if policy == "lstm"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A width, a temperature and a taste for arms that were pulled less: three parameters.
struct Curious;

impl Rule for Curious {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("width", 1.0), Param::positive("temperature", 0.1), Param::real("taste", 0.05)]
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        for (arm, logit) in logits.iter_mut().enumerate() {
            let rare = 1.0 / seen.pulls(arm);
            *logit = (params[0] * rare.sqrt() + params[2] * rare + seen.mean(arm)) / params[1];
        }
    }
}

#[test]
fn a_rule_of_ones_own_is_saved_and_loaded() {
    let problem = named("bernoulli-2").unwrap().with_horizon(30).unwrap();
    let trained = Trainer::own(Curious).iterations(10).batch_size(40).train(&problem).unwrap();
    assert_ne!(bits(trained.choice()), bits(trained.initial()), "it learned something");
    let dir = tempfile::tempdir().unwrap();
    save_policy(dir.path(), trained.choice(), &problem).unwrap();
    let loaded = load_policy_from(dir.path(), &problem, &Catalogue::default().with_rule(Curious)).unwrap();
    assert_eq!(bits(&loaded), bits(trained.choice()));
    let simulator = Simulator::new(&problem).instances(500);
    let regret = |policy: &Choice| simulator.evaluate(policy).unwrap().regret();
    assert_eq!(regret(&loaded), regret(trained.choice()));

    let error = load_policy(dir.path(), &problem).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unknown { found, .. } if found == "Curious"), "{error}");
    let message = error.to_string();
    assert!(message.contains("policy.json, policy.kind: unknown name 'Curious' (known: "), "{message}");
}

/// A softmax of upper confidence bounds.
struct Bounds;

impl LinearRule for Bounds {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("alpha", 0.7), Param::positive("temperature", 0.05)]
    }

    fn logits<T: Scalar>(&self, params: &[T], means: &[T], variances: &[T], logits: &mut [T]) {
        for i in 0..logits.len() {
            logits[i] = (means[i] + params[0] * variances[i].sqrt()) / params[1];
        }
    }
}

#[test]
fn a_contextual_rule_of_ones_own_is_saved_and_loaded() {
    let problem = flowers();
    let trained = Trainer::own_linear(Bounds).iterations(4).batch_size(10).train(&problem).unwrap();
    assert_ne!(bits(trained.choice()), bits(trained.initial()), "it learned something");
    let catalogue = Catalogue::default().with_linear_rule(Bounds);
    survives(trained.choice(), &problem, &catalogue);
    survives(
        &Policy::own_linear(Bounds).with_setting("rank", "2").on(&problem).unwrap(),
        &problem,
        &catalogue,
    );
    let dir = tempfile::tempdir().unwrap();
    save_policy(dir.path(), trained.choice(), &problem).unwrap();
    let error = load_policy(dir.path(), &problem).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unknown { found, .. } if found == "Bounds"), "{error}");
}

/// A file like one of the golden ones, but changed.
struct Changed {
    dir: tempfile::TempDir,
    file: Value,
}

impl Changed {
    fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = serde_json::from_slice(&std::fs::read(golden(name).join("policy.json")).unwrap()).unwrap();
        if name == "lstm" {
            let weights = "policy.safetensors";
            std::fs::copy(golden(name).join(weights), dir.path().join(weights)).unwrap();
        }
        Self { dir, file }
    }

    /// The same with another value where a JSON pointer points to.
    fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match self.file.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
            parent => parent[key] = value,
        }
        self
    }

    fn path(&self) -> PathBuf {
        let path = self.dir.path().join("policy.json");
        std::fs::write(&path, serde_json::to_string_pretty(&self.file).unwrap()).unwrap();
        path
    }

    #[track_caller]
    fn refused(self, problem: &Problem, parts: &[&str]) {
        let error = load_policy(self.path(), problem).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "'{part}' is not in: {error}");
        }
        assert!(error.len() < 700, "too long: {error}");
    }
}

#[test]
fn policies_that_do_not_fit_their_names_and_shapes_are_refused() {
    let problem = flowers();
    let changed = |pointer: &str, value| Changed::new("cosoftelim").with(pointer, value);
    changed("/policy/shape/0", json!([9, 1]))
        .refused(&problem, &["policy.json, policy.shape: found [[9, 1], []]"]);
    changed("/policy/shape", json!([[3, 3]]))
        .refused(&problem, &["policy.shape: found [[3, 3]], expected [[3, 3], []]"]);
    changed("/policy/names", json!(["gamma", "W"]))
        .refused(&problem, &["policy.names: found [\"gamma\", \"W\"]"]);
    changed("/policy/params", json!([1.0, 2.0])).refused(&problem, &["policy.params: found 2 parameter(s)"]);
    changed("/policy/params/4", json!(1e9)).refused(&problem, &["policy.params.W[1][1]: found 1000000000"]);
    changed("/policy/settings/rank", json!("2")).refused(&problem, &["policy.shape"]);
    changed("/policy/settings/rank", json!("7")).refused(&problem, &["policy.settings.rank: found 7"]);
    changed("/policy/settings/colour", json!("red"))
        .refused(&problem, &["policy.settings.colour: unknown name"]);
    changed("/policy/kind", json!("cosoftelm"))
        .refused(&problem, &["policy.kind", "did you mean 'cosoftelim'?"]);
    changed("/policy/kind", json!("softelim"))
        .refused(&problem, &["policy.kind: softelim is for problems without"]);
}

#[test]
fn unknown_keys_and_other_formats_are_refused() {
    let problem = flowers();
    let changed = |pointer: &str, value| Changed::new("cosoftelim").with(pointer, value);
    for (pointer, part) in [
        ("/colour", "policy.json, line 2, column 10"),
        ("/policy/colour", "policy.json, line 4, column 12"),
        ("/problem/colour", "colour"),
        ("/problem/features/1/colour", "colour"),
    ] {
        changed(pointer, json!("red")).refused(&problem, &["unknown field `colour`", part]);
    }
    changed("/gradband", json!(FORMAT + 1))
        .refused(&problem, &["policy.json, gradband: found format 2, this version reads 1"]);
    changed("/gradband", Value::Null).refused(&problem, &["is not a policy file"]);
    changed("/policy/params/0", json!("one")).refused(&problem, &["line ", "column ", "expected f64"]);
    // How it was trained is for people to read.
    let trained = changed("/training", json!({"by": "hand"}));
    assert!(load_policy(trained.path(), &problem).is_ok());
}

#[test]
fn other_problems_are_refused() {
    let (flowers, coins) = (flowers(), coins());
    let changed = |pointer: &str, value| Changed::new("cosoftelim").with(pointer, value);
    changed("/problem/arms", json!(4))
        .refused(&flowers, &["problem.arms: the policy is for 4 arms, but", "has 3"]);
    changed("/problem/arm_names/1", json!("tulip")).refused(
        &flowers,
        &["problem.arm_names[1]: the policy has the arm 'tulip' where", "has 'versicolor'"],
    );
    changed("/problem/arm_names", json!(["setosa"]))
        .refused(&flowers, &["problem.arm_names[1]", "the arm none where"]);
    changed("/problem/context_dim", json!(4))
        .refused(&flowers, &["problem.context_dim: the policy is for 4 features"]);
    changed("/problem/features/2/name", json!("colour")).refused(
        &flowers,
        &["problem.features[2]: the policy has a feature 'colour' where", "has 'sepal length'"],
    );
    changed("/problem/features/0/factor", json!(1.0)).refused(
        &flowers,
        &["problem.features[0]: the policy sees the feature 'petal length' as", "* 1, but", "`scale`"],
    );
    changed("/problem/features/0/shift", json!(0.0))
        .refused(&flowers, &["problem.features[0]", "as (x - 0) *"]);
    changed("/problem/features", json!([]))
        .refused(&flowers, &["problem.features: found 0 features, expected 3"]);
    // Arms without features are as good as any others, but for a network, which knows them by their numbers.
    let table =
        gradband_files::read_table("heads,tails\n0.5,0.6\n0.4,0.7\n".as_bytes(), "t.csv", 0.0).unwrap();
    let table = Problem::bernoulli(gradband::Prior::table(table)).horizon(20).build().unwrap();
    assert!(
        load_policy(Changed::new("softelim").with("/problem/arm_names", json!(["a", "b"])).path(), &table)
            .is_ok()
    );
    Changed::new("lstm")
        .with("/problem/arm_names", json!(["a", "b"]))
        .refused(&table, &["problem.arm_names[0]"]);
    assert!(load_policy(Changed::new("lstm").path(), &coins).is_ok());
}

/// What plays without its problem is held to what a problem can be.
#[test]
fn records_of_impossible_problems_do_not_play() {
    let changed = |pointer: &str, value| Changed::new("cosoftelim").with(pointer, value);
    for size in [json!(u64::MAX), json!(i64::MAX), json!(1_u64 << 25)] {
        for key in ["arms", "context_dim"] {
            let file = changed(&format!("/problem/{key}"), size.clone());
            let error = load_playable(file.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("problem.{key}: found")), "{error}");
        }
    }
    let file = Changed::new("softelim").with("/policy/kind", json!("explore-then-commit"));
    let file = file.with("/policy/names/0", json!("h")).with("/policy/params/0", json!(f64::MAX));
    let error = load_playable(file.path()).unwrap_err().to_string();
    assert!(
        error.ends_with("policy.params.h: found 1.7976931348623157e308, expected a number from 1 to 1e15"),
        "{error}"
    );
    for (pointer, value) in [("/problem/features/0/shift", f64::MAX), ("/problem/features/0/factor", 1e200)] {
        let file = changed(pointer, json!(value));
        let mut agent = Agent::new(load_playable(file.path()).unwrap(), ["a", "b", "c"]).unwrap();
        let error = agent.pull(Pull::context([1.0, 2.0, 3.0])).unwrap_err().to_string();
        assert!(error.contains("context[0]: is scaled to "), "{error}");
    }
}

#[test]
fn weights_must_be_beside_the_policy_and_fit() {
    let problem = coins();
    let changed = |pointer: &str, value| Changed::new("lstm").with(pointer, value);
    changed("/policy/weights", json!("../policy.safetensors"))
        .refused(&problem, &["policy.weights", "beside this one"]);
    changed("/policy/weights", json!("/etc/hosts")).refused(&problem, &["policy.weights", "beside this one"]);
    changed("/policy/weights", json!("other.safetensors"))
        .refused(&problem, &["other.safetensors: no such file"]);
    changed("/policy/weights", json!("policy.json")).refused(&problem, &["is not a sound safetensors file"]);
    changed("/policy/params", json!([1.0]))
        .refused(&problem, &["policy.json, policy.params", "in one place"]);
    changed("/policy/names/0", json!("arms")).refused(&problem, &["policy.safetensors", "'arm_embedding'"]);
    changed("/policy/shape/0", json!([3, 2]))
        .refused(&problem, &["policy.safetensors", "[2, 3], expected F32 [3, 2]"]);
    changed("/policy/names", json!([])).refused(&problem, &["policy.safetensors", "has a tensor"]);
    changed("/policy/settings/hidden", json!("5")).refused(&problem, &["policy.shape"]);
    let mut without = Changed::new("lstm");
    without.file["policy"].as_object_mut().unwrap().remove("weights");
    without.refused(&problem, &["policy.params: found 0 parameter(s)"]);
}

#[test]
fn a_file_knows_what_its_policy_was_trained_for() {
    let file = PolicyFile::load(&golden("cosoftelim").join("policy.json")).unwrap();
    assert_eq!((file.problem.arms, file.problem.horizon, file.problem.context_dim), (3, 40, Some(3)));
    assert!(file.training.is_none());
    let short = flowers().with_horizon(10).unwrap();
    assert!(file.choose(&short, &Catalogue::default()).is_ok(), "another horizon is allowed");
}
