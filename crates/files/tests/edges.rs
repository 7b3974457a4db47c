//! Random valid specs with numbers at the edge: whatever is accepted trains, is measured, saved, loaded and played, and no
//! result is anything but a finite number.
//!
//! `make test` tries some; `make test-slow` tries thousands, or as many as `GRADBAND_EDGES` says.
#![allow(clippy::unwrap_used)]

use gradband::agent::Context;
use gradband::policy::Choice;
use gradband::{Agent, Catalogue, Problem, Pull, Simulator};
use gradband_files::{Target, TrainSpec, load_playable, load_policy, save_policy};
use std::fmt::Write;
use std::path::Path;

/// Numbers for choices: the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }

    fn list(&mut self, count: usize, some: &[&str]) -> String {
        let items: Vec<_> = (0..count).map(|_| self.of(some)).collect();
        format!("[{}]", items.join(", "))
    }
}

/// A spec, and the table that it may name.
struct Written {
    spec: String,
    table: String,
}

fn written(dice: &mut Dice) -> Written {
    let (problem, table, policy) = match dice.below(5) {
        0..=2 => arms(dice),
        3 => linear(dice),
        _ => labelled(dice),
    };
    Written { spec: format!("{problem}\n{policy}\n{}", training(dice)), table }
}

/// Long runs and many arms are few, so that the whole is quick.
fn horizon(dice: &mut Dice) -> usize {
    match dice.below(60) {
        0 => 1_000_000,
        1 | 2 => 10_000,
        _ => dice.of(&[1, 2, 3, 7, 20, 100]),
    }
}

const MEANS: &[&str] = &["0", "1", "0.5", "0.5", "1e-9", "0.999999", "0.3"];

fn arms(dice: &mut Dice) -> (String, String, String) {
    let horizon = horizon(dice);
    let arms = if horizon <= 20 && dice.below(20) == 0 { 1000 } else { dice.of(&[2, 2, 3, 10]) };
    let kind = dice.of(&["bernoulli", "bernoulli", "beta", "gaussian"]);
    let mut spec = format!("[problem]\nkind = \"{kind}\"\nhorizon = {horizon}\n");
    if kind == "gaussian" {
        writeln!(spec, "noise_sd = {}", dice.of(&["0.5", "1e-6", "1e3"])).unwrap();
    }
    match dice.below(8) {
        0 => writeln!(spec, "delay = {}", dice.of(&[1, 5])).unwrap(),
        1 => writeln!(spec, "floor = {}", dice.of(&["1e-6", "0.001"])).unwrap(),
        2 => writeln!(spec, "batch = 2").unwrap(),
        _ => {}
    }
    spec += "[problem.prior]\n";
    let mut table = String::new();
    match dice.below(4) {
        0 => {
            let equal = dice.below(4) == 0;
            let first = dice.list(arms, MEANS);
            let second = if equal { first.clone() } else { dice.list(arms, MEANS) };
            let weights = dice.of(&["[1, 1]", "[1, 1e-15]", "[0.5, 0.5]"]);
            writeln!(spec, "kind = \"points\"\ninstances = [{first}, {second}]\nweights = {weights}")
                .unwrap();
        }
        1 if kind == "gaussian" => {
            let (mean, sd) = (dice.of(&["0", "-5", "999999"]), dice.of(&["1e-6", "1", "100"]));
            writeln!(spec, "kind = \"normal\"\narms = {arms}\nmean = {mean}\nsd = {sd}").unwrap();
        }
        1 | 2 => {
            let (a, b) = (dice.of(&["0.001", "1", "4", "1e6"]), dice.of(&["0.001", "1", "76", "1e6"]));
            writeln!(spec, "kind = \"beta\"\narms = {arms}\nalpha = {a}\nbeta = {b}").unwrap();
        }
        _ => {
            let holdout = dice.of(&["0", "0.3"]);
            writeln!(spec, "kind = \"table\"\npath = \"t.csv\"\nholdout = {holdout}").unwrap();
            table = past(dice, arms);
        }
    }
    (spec, table, policy(dice, ARMS))
}

/// Past problems: means, or counts that may all be the same.
fn past(dice: &mut Dice, arms: usize) -> String {
    let rows = dice.of(&[4, 8, 12]);
    if dice.below(2) == 0 {
        let names: Vec<_> = (0..arms).map(|arm| format!("arm {arm}")).collect();
        let row = |dice: &mut Dice| (0..arms).map(|_| dice.of(MEANS)).collect::<Vec<_>>().join(",");
        let rows: Vec<_> = (0..rows).map(|_| row(dice)).collect();
        return format!("{}\n{}\n", names.join(","), rows.join("\n"));
    }
    let mut table = "problem,arm,successes,trials\n".to_string();
    for problem in 0..rows {
        for arm in 0..arms {
            let trials = dice.of(&[0, 1, 10, 1_000_000]);
            let successes = dice.of(&[0, trials / 2, trials]);
            writeln!(table, "p{problem},a{arm},{successes},{trials}").unwrap();
        }
    }
    table
}

fn linear(dice: &mut Dice) -> (String, String, String) {
    let (dim, arms) = (dice.of(&[1, 2, 4]), dice.of(&[2, 3, 40]));
    let horizon = dice.of(&[1, 2, 10, 50]);
    let mut spec =
        format!("[problem]\nkind = \"linear\"\nhorizon = {horizon}\narms = {arms}\ncontext_dim = {dim}\n");
    let mean = dice.of(&["0", "1", "1e6", "-1e3"]);
    writeln!(spec, "noise_sd = {}\ncontext_mean = {mean}", dice.of(&["0", "0.5", "100"])).unwrap();
    // All features the same, or nothing but their mean.
    let same = format!("[{}]", vec![format!("[{}]", vec!["1"; dim].join(", ")); dim].join(", "));
    for key in ["context_cov", "theta_cov"] {
        let cov = match dice.below(4) {
            0 => same.clone(),
            1 => dice.list(dim, &["0", "1", "1e-9"]),
            _ => dice.of(&["1", "0", "1e-6", "1e4"]).to_string(),
        };
        writeln!(spec, "{key} = {cov}").unwrap();
    }
    (spec, String::new(), policy(dice, CONTEXTS))
}

fn labelled(dice: &mut Dice) -> (String, String, String) {
    let horizon = dice.of(&[1, 5, 40]);
    let scale = dice.of(&["minmax", "none", "standard", "unit"]);
    let holdout = dice.of(&["0", "0.3"]);
    let spec = format!(
        "[problem]\nkind = \"classification\"\nhorizon = {horizon}\ndata = \"t.csv\"\nscale = \"{scale}\"\nholdout = {holdout}\n"
    );
    let (offset, classes) = (dice.of(&[0.0, 1e6, -1e3]), dice.of(&[2, 3]));
    let mut table = "x,twice,constant,y\n".to_string();
    for row in 0..dice.of(&[6, 24, 60]) {
        let x = offset + dice.below(100) as f64 / 10.0;
        writeln!(table, "{x},{},7,c{}", 2.0 * x, if row < classes { row } else { dice.below(classes) })
            .unwrap();
    }
    (spec, table, policy(dice, CONTEXTS))
}

type Settings = &'static [(&'static str, &'static [&'static str])];

const ARMS: &[(&str, Settings)] = &[
    ("softelim", &[("w", &["0.01", "1", "100", "1e6"])]),
    ("exp3", &[("w", &["1e-6", "0.01", "1"])]),
    ("boltzmann", &[("w", &["1e-9", "0.01", "1", "100"])]),
    ("epsilon-greedy", &[("epsilon", &["0", "0.01", "1"])]),
    ("explore-then-commit", &[("h", &["1", "1.5", "2"])]),
    ("soft-index", &[("strength", &["0.01", "2", "1e4"]), ("temperature", &["0.001", "1"])]),
    ("thompson", &[("sharpness", &["1", "32", "0.1"])]),
    ("ucb1", &[]),
    ("ucb-v", &[]),
    ("random", &[]),
    ("lstm", &[("hidden", &["1", "3"]), ("embedding", &["1", "2"])]),
];

const CONTEXTS: &[(&str, Settings)] = &[
    (
        "soft-ucb",
        &[
            ("ridge", &["1e-6", "1", "1e6"]),
            ("alpha", &["1e-3", "1", "100"]),
            ("temperature", &["1e-3", "1"]),
        ],
    ),
    ("soft-ucb", &[("rank", &["1"])]),
    ("cosoftelim", &[("ridge", &["1e-6", "1", "1e6"]), ("gamma", &["0.01", "4", "1e4"])]),
    ("lin-thompson", &[("ridge", &["1e-6", "1", "1e6"])]),
    ("lin-epsilon-greedy", &[("epsilon", &["0", "0.01", "1"]), ("ridge", &["1e-6", "1e6"])]),
    ("linucb", &[("ridge", &["1e-6", "1", "1e6"]), ("alpha", &["0", "1", "1e3"])]),
    ("mom-thompson", &[("rank", &["1"])]),
];

/// A policy with some of its parameters said.
fn policy(dice: &mut Dice, among: &[(&str, Settings)]) -> String {
    let (name, settings) = dice.of(among);
    let mut spec = format!("[policy]\nkind = \"{name}\"\n");
    for (key, values) in settings {
        if dice.below(2) == 0 {
            writeln!(spec, "{key} = {}", dice.of(values)).unwrap();
        }
    }
    spec
}

fn training(dice: &mut Dice) -> String {
    let mut spec =
        format!("[train]\niterations = {}\nbatch_size = {}\n", dice.of(&[1, 2, 5]), dice.of(&[1, 2, 4]));
    let mut maybe = |key: &str, values: &[&str]| {
        if dice.below(3) == 0 {
            writeln!(spec, "{key} = {}", dice.of(values)).unwrap();
        }
    };
    maybe("learning_rate", &["1e3", "1e-6", "0.1"]);
    maybe("optimizer", &["\"sgd\"", "\"adam\"", "\"yogi\""]);
    maybe("baseline", &["\"none\"", "\"opt\"", "\"self\"", "\"loo\""]);
    maybe("returns", &["\"realized\"", "\"mean\""]);
    maybe("average", &["\"tail\"", "\"none\""]);
    // Where the history says where to start, folds are tried, which takes a while.
    if dice.below(12) > 0 {
        spec += "start = \"identity\"\n";
    }
    spec
}

fn finite(numbers: impl IntoIterator<Item = f64>, what: &str) {
    numbers.into_iter().for_each(|x| assert!(x.is_finite(), "{what} is {x}"));
}

/// What is done with a spec; whether it was accepted.
fn lived(dir: &Path) -> bool {
    let Ok(target) = Target::from_file(&dir.join("s.toml")) else { return false };
    let problem = &target.problem;
    let Ok(Some(choice)) = target.policy(&Catalogue::default()) else { return false };
    let Ok(training) = target.training(&TrainSpec::default(), &choice) else {
        // Others are compared with it.
        return choice.is_trained() && measured(&choice, problem);
    };
    if choice.check_start(problem).is_err() {
        return measured(&choice, problem);
    }
    let trained = training.plan.train(problem, &choice, 1, &mut ()).unwrap();
    for record in trained.history() {
        finite(
            record.params.iter().flatten().copied().chain(record.gradient_norm),
            "a record of the history",
        );
    }
    finite(trained.learning_rate(), "the rate");
    finite(trained.choice().params().iter().copied(), "a learned parameter");
    measured(trained.choice(), problem) && played(trained.choice(), problem, dir)
}

fn measured(choice: &Choice, problem: &Problem) -> bool {
    let found = Simulator::new(problem).instances(3).compare([choice]).unwrap();
    let regret = found.regret(0);
    finite([regret.mean], "the regret");
    assert!(
        !regret.std_error.is_nan() && regret.std_error >= 0.0,
        "the standard error is {}",
        regret.std_error
    );
    true
}

fn played(choice: &Choice, problem: &Problem, dir: &Path) -> bool {
    save_policy(dir, choice, problem).unwrap();
    let again = load_policy(dir, problem).unwrap();
    let same = again
        .params()
        .iter()
        .zip(choice.params())
        .all(|(new, &old)| *new == old || *new == f64::from(old as f32));
    assert!(same, "{:?} became {:?}", choice.params(), again.params());
    let policy = load_playable(dir).unwrap();
    let arms = (1..=problem.arms()).map(|arm| arm.to_string());
    let dim = policy.problem().context_dim.unwrap_or(0);
    let mut agent = Agent::new(policy, arms.collect::<Vec<_>>()).unwrap().seed(1);
    for round in 0..4 {
        let context = Context::from(vec![0.25 * f64::from(round); dim]);
        let decision = agent.pull(Pull { context, ..Pull::default() }).unwrap();
        let p = decision.probability;
        assert!(p > 0.0 && p <= 1.0, "an arm was pulled with probability {p}");
        agent.update(&decision.id, f64::from(round % 2)).unwrap();
    }
    true
}

/// How many of so many specs were accepted; the first that fails is shown.
fn try_specs(seed: u64, count: usize) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice(seed);
    let mut accepted = 0;
    for number in 0..count {
        let Written { spec, table } = written(&mut dice);
        std::fs::write(dir.path().join("s.toml"), &spec).unwrap();
        std::fs::write(dir.path().join("t.csv"), &table).unwrap();
        let lived = std::panic::catch_unwind(|| lived(dir.path()));
        let lived = lived.unwrap_or_else(|_| panic!("spec {number} of seed {seed}:\n{spec}\n{table}"));
        accepted += usize::from(lived);
    }
    accepted
}

#[test]
fn accepted_specs_live() {
    let accepted = try_specs(1, 100);
    assert!(accepted >= 40, "only {accepted} of 100 were accepted: they say nothing");
}

#[test]
#[ignore = "minutes; make test-slow"]
fn thousands_of_accepted_specs_live() {
    let count = std::env::var("GRADBAND_EDGES").ok().and_then(|count| count.parse().ok()).unwrap_or(4000);
    let accepted = try_specs(2, count);
    println!("{accepted} of {count} specs were accepted, and lived");
    assert!(accepted * 5 >= count * 2, "only {accepted} of {count} were accepted");
}
