#![allow(clippy::unwrap_used)]

use super::*;
use crate::Dataset;
use crate::target::{named, problem_keys, problem_names};
use gradband::Prior;
use gradband::learn::{Options, Plan};
use gradband::policy::applicable;
use gradband::problem::Split;

const MINIMAL: &str = r#"
[problem]
kind = "bernoulli"
horizon = 200
[problem.prior]
kind = "points"
instances = [[0.6, 0.4], [0.4, 0.6]]
"#;

fn no_table(path: &str) -> Result<DataFile> {
    Err(Error::new(Place::file(path), "no such file"))
}

/// The data sets that are part of the program.
fn built_in(name: &str) -> Result<DataFile> {
    let bytes = Dataset::named(name)?.built_in().unwrap();
    Ok(DataFile { name: name.into(), reader: Box::new(bytes), holdout: HOLDOUT })
}

fn choice(text: &str, problem: &Problem) -> Choice {
    Choice::parse(text, problem).unwrap()
}

/// The problem, the policy and the training of a spec, whichever fails first.
fn read(text: &str) -> Result<Problem> {
    let file = SpecFile::parse(text, "s.toml")?;
    let (problem, _) = file.problem(no_table)?;
    let policy = file.policy(&problem, &Catalogue::default())?;
    let policy = policy.unwrap_or_else(|| choice(default_policy(&problem), &problem));
    file.spec.train.resolve(&problem, &policy).map(|_| problem)
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn a_minimal_spec_gets_the_defaults() {
    let file = SpecFile::parse(MINIMAL, "s.toml").unwrap();
    let (problem, _) = file.problem(no_table).unwrap();
    assert_eq!((problem.arms(), problem.horizon()), (2, 200));
    assert!(file.policy(&problem, &Catalogue::default()).unwrap().is_none());
    let training = file.spec.train.resolve(&problem, &choice("softelim", &problem)).unwrap();
    let Plan::Ascent(ascent) = &training.plan else { panic!("{:?}", training.plan) };
    assert_eq!(ascent.estimator.batch_size, 250);
    assert_eq!(ascent.iterations, Options::ITERATIONS);
    assert_eq!(training.eval_instances, INSTANCES);
    assert_eq!(ascent.learning_rate, None);
}

/// All problems that can be built without a file: the large data sets say nothing that the small ones do not.
fn problems() -> impl Iterator<Item = Problem> {
    let small = |name: &&str| match Dataset::named(name) {
        Ok(set) => set.built_in().is_some() && set.examples < 1000,
        Err(_) => true,
    };
    problem_names().filter(small).map(|name| named(name).unwrap())
}

/// What a training records of how it was done; nothing if there is nothing to learn.
fn trained(problem: &Problem, choice: &Choice) -> TrainSpec {
    match choice.check_learnable(problem) {
        Ok(()) => TrainSpec::default().resolve(problem, choice).unwrap().spec,
        Err(_) => TrainSpec::default(),
    }
}

/// What a training records of itself can be read again and means the same.
#[test]
fn effective_specs_survive_a_round_trip() {
    for problem in problems() {
        for kind in applicable(&problem) {
            let choice = Choice::initial(kind, &problem).unwrap();
            let spec = Spec {
                problem: problem_keys(&problem),
                policy: Some(PolicySpec::of(&choice)),
                train: trained(&problem, &choice),
                evaluate: EvaluateSpec { instances: Some(7) },
            };
            let file = SpecFile::parse(&toml::to_string(&spec).unwrap(), "again").unwrap();
            assert_eq!(file.spec, spec);
            let json = serde_json::to_string(&spec).unwrap();
            assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
            let (again, _) = file.problem(built_in).unwrap();
            assert_eq!(
                (again.arms(), again.horizon(), again.kind()),
                (problem.arms(), problem.horizon(), problem.kind())
            );
            assert_eq!(again.to_keys().get("horizon"), spec.problem.get("horizon"));
            let scale = |problem: &Problem| {
                problem.contextual().and_then(|contextual| Some(contextual.examples()?.scale()))
            };
            assert_eq!(scale(&again), scale(&problem));
            let policy = file.policy(&again, &Catalogue::default()).unwrap().unwrap();
            assert_eq!((policy.label(), policy.params()), (choice.label(), choice.params()));
        }
    }
}

#[test]
fn priors_take_numbers_and_lists() {
    let with = |prior: &str| {
        read(&format!(
            "problem.kind = \"gaussian\"\nproblem.horizon = 9\nproblem.noise_sd = 1\n[problem.prior]\n{prior}"
        ))
    };
    let numbers = with("kind = \"normal\"\nmean = 0\nsd = 1.5\narms = 3").unwrap();
    assert!(
        matches!(&numbers.armed().unwrap().prior, Prior::Normal { mean, sd } if mean == &[0.0; 3] && sd == &[1.5; 3])
    );
    let mixed = with("kind = \"beta\"\nalpha = [1, 2]\nbeta = 3").unwrap();
    assert!(matches!(&mixed.armed().unwrap().prior, Prior::Beta { beta, .. } if beta == &[3.0; 2]));
    let message = |prior| with(prior).unwrap_err().to_string();
    assert!(message("kind = \"beta\"\nalpha = 1\nbeta = 1").contains("problem.prior.arms: is missing"));
    assert!(message("kind = \"beta\"\nalpha = 1").contains("line 4, problem.prior.beta: is missing"));
    assert!(
        message("kind = \"beta\"\nalpha = 1\nbeta = 1\narms = 1")
            .contains("line 8, problem.prior.arms: found 1")
    );
    assert!(message("kind = \"beta\"\nalpha = 1\nbeta = 1\narms = 90000000000").contains("expected 2 to"));
    assert!(
        message("kind = \"beta\"\nalpha = [1, 1]\nbeta = 1\narms = 3")
            .contains("found 2 entries, expected 3")
    );
    assert!(message("kind = \"beta\"\nalpha = \"x\"\nbeta = 1").contains("expected a number, or a list"));
}

#[test]
fn errors_name_file_line_and_key() {
    let with = |line: &str| refused(&format!("{MINIMAL}{line}\n"));
    assert_eq!(
        with("alpha = 1"),
        "s.toml, line 8, problem.prior.alpha: goes with kind = \"beta\", not with kind = \"points\""
    );
    assert_eq!(
        with("weights = [0.5, -1]"),
        "s.toml, line 8, problem.prior.weights[1]: found -1, expected a number from 0 to 1000000000000"
    );
    assert!(with("weights = [nan, 1]").contains("line 8, problem.prior.weights[0]: found NaN"));
    let key = with("wieghts = [1, 1]");
    assert!(
        key.starts_with(
            "s.toml, line 8, problem.prior.wieghts: unknown name 'wieghts'; did you mean 'weights'?"
        ),
        "{key}"
    );
    assert!(with("[polcy]\nkind = \"ucb1\"").contains("did you mean 'policy'"));
    assert!(
        with("[policy]\nkind = \"softelm\"")
            .contains("line 9, policy.kind: unknown name 'softelm'; did you mean 'softelim'")
    );
    assert!(with("[policy]\nkind = \"softelim\"\nw = -1").contains("line 10, policy.w: found -1"));
    assert!(with("[policy]\nkind = \"softelim\"\nv = 1").contains("policy.v: unknown name 'v'"));
    assert!(
        with("[policy]\nkind = \"softelim\"\nw = [1]").contains("policy.w: found a list, expected a number")
    );
    assert!(with("[policy]\nkind = \"exp3\"\nscore = \"papr\"").contains("did you mean 'paper'"));
    assert!(
        with("[train]\niterations = \"many\"")
            .contains("line 9, train.iterations: found 'many', expected a whole number")
    );
    assert!(with("[train]\niterations = -3").contains("expected a whole number"));
    assert!(with("[train]\nlearning_rate = \"fast\"").contains("expected \"auto\" or a number"));
    assert!(
        with("[train]\ncuriculum = [20]").contains("unknown name 'curiculum'; did you mean 'curriculum'")
    );
    assert!(with("[evaluate]\ninstances = 0").contains("line 9, evaluate.instances: found 0"));
    assert!(
        refused(
            "[problem]\nkind = \"cubic\"\nhorizon = 5\n[problem.prior]\nkind=\"points\"\ninstances=[[0,1]]"
        )
        .contains("line 2, problem.kind: unknown name 'cubic' (known: bernoulli, beta, gaussian, linear")
    );
    assert!(refused("[policy]\nkind = \"ucb1\"").contains("s.toml, problem: is missing"));
    assert!(refused("[problem\nkind = 1").starts_with("s.toml, line 1"));
    assert!(refused(&MINIMAL.replace("200", "0")).contains("line 4, problem.horizon: found 0"));
    assert!(
        refused(&MINIMAL.replace("200", "100000000000000"))
            .contains("problem.horizon: found 100000000000000")
    );
    assert!(
        refused(&MINIMAL.replace("0.6]]", "1.6]]"))
            .contains("line 7, problem.prior.instances[1][1]: found 1.6")
    );
    assert!(
        refused(&MINIMAL.replace("[[0.6, 0.4], [0.4, 0.6]]", "[[0.6]]")).contains("found 1, expected 2 to")
    );
    assert!(
        refused(&MINIMAL.replace("\"bernoulli\"", "\"beta\"")).contains("problem.concentration: is missing")
    );
}

#[test]
fn a_table_is_opened_once_by_the_caller() {
    let text = "[problem]\nkind = \"bernoulli\"\nhorizon = 9\n[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n";
    let open = |content: &'static str| {
        move |path: &str| {
            Ok(DataFile {
                name: format!("dir/{path}"),
                reader: Box::new(content.as_bytes()),
                holdout: HOLDOUT,
            })
        }
    };
    let file = SpecFile::parse(text, "s.toml").unwrap();
    let table =
        "a,b\n0.1,0.2\n0.3,0.4\n0.5,0.6\n0.7,0.8\n0.2,0.9\n0.4,0.5\n0.6,0.1\n0.9,0.3\n0.8,0.8\n0.1,0.1\n";
    let (problem, _) = file.problem(open(table)).unwrap();
    let clusters = |split| problem.clusters(split).unwrap();
    assert_eq!(clusters(Split::HeldOut), 3);
    assert_eq!(clusters(Split::Train), 7);
    let keys = effective(&file.spec.problem, &problem);
    let Some(Value::Table(prior)) = keys.get("prior") else { panic!("{keys:?}") };
    assert_eq!(prior.get("holdout"), Some(&Value::Number(HOLDOUT)));
    let message = |content| file.problem(open(content)).unwrap_err().to_string();
    assert!(
        message("a,b\n0.1,0.2\n0.3,1.4\n0.3,0.4\n0.1,0.9\n").starts_with("dir/past.csv, line 3, arm 'b'")
    );
    assert!(message("a,b\n0.1\n").starts_with("dir/past.csv, line 2: found 1 fields"));
    let missing = file.problem(no_table).unwrap_err().to_string();
    assert_eq!(missing, "past.csv: no such file (named in s.toml, line 6, problem.prior.path)");
    let holdout = SpecFile::parse(&format!("{text}holdout = 1.5"), "s.toml").unwrap();
    let place = holdout.problem(open(table)).unwrap_err().place().to_string();
    assert!(place.ends_with("line 7, problem.prior.holdout"), "{place}");
}

#[test]
fn flags_win_and_other_baselines_drop_the_runs() {
    let spec = TrainSpec { runs_per_instance: Some(4), iterations: Some(9), ..TrainSpec::default() };
    let flags = TrainSpec { baseline: Some("self".into()), ..TrainSpec::default() };
    let problem = Problem::named("bernoulli-2").unwrap();
    let softelim = choice("softelim", &problem);
    let Plan::Ascent(ascent) = flags.over(&spec).resolve(&problem, &softelim).unwrap().plan else { panic!() };
    assert_eq!((ascent.iterations, ascent.estimator.batch_size), (9, 1000));
    let clash = TrainSpec { baseline: Some("none".into()), ..spec.clone() };
    let error = clash.resolve(&problem, &softelim).unwrap_err();
    assert_eq!(error.place(), &Place::key("runs_per_instance"));
    assert!(spec.has("runs_per_instance") && !spec.has("baseline"));
}

fn contextual(text: &str) -> Result<Problem> {
    read(&format!("[problem]\nhorizon = 20\n{text}"))
}

#[test]
fn contextual_problems_take_numbers_lists_and_matrices() {
    let linear = "kind = \"linear\"\narms = 3\nnoise_sd = 0.5\n";
    for (keys, dim) in [
        ("context_dim = 5\ntheta_cov = 1", 5),
        ("context_mean = [1, 2]\ntheta_cov = 0.5", 2),
        ("theta_cov = [1, 0, 1]\ncontext_cov = [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0]]", 3),
        ("theta_cov = [[1, 0.9], [0.9, 1]]\ntheta_mean = [[1, 2], [3, 4], [5, 6]]", 2),
    ] {
        let problem = contextual(&format!("{linear}{keys}")).unwrap();
        assert_eq!((problem.arms(), problem.contextual().unwrap().dim()), (3, dim), "{keys}");
    }
    let message = |keys: &str| contextual(&format!("{linear}{keys}")).unwrap_err().to_string();
    assert!(message("theta_cov = 1").contains("problem.context_dim: is missing"));
    assert!(message("context_dim = 2").contains("problem.theta_cov: is missing"));
    assert!(
        message("theta_cov = [[1, 2], [2, 1]]").contains("line 6, problem.theta_cov[1][1]: is not possible")
    );
    assert!(
        message("theta_cov = [[1, 2], [2]]").contains("problem.theta_cov[1]: found 1 entries, expected 2")
    );
    assert!(message("context_dim = 2\ntheta_cov = [1, 1, 1]").contains("found 3 entries, expected 2"));
    assert!(message("context_dim = 0\ntheta_cov = 1").contains("problem.context_dim: found 0"));
    assert!(
        message("context_dim = 2\ntheta_cov = \"one\"").contains("a number, a list of numbers, or a matrix")
    );
    assert!(message("context_dim = 2\ntheta_cov = 1\ntheta_mean = [[1, 2]]").contains("expected 3 lists"));
    assert!(
        message("theta_cov = 1\nprior = { kind = \"beta\" }").contains("problem.prior: goes with kind =")
    );

    let discrete = "kind = \"discrete-context\"\nnoise_sd = 1\n";
    for keys in
        ["means = [[0, 1, 2], [1, 0, 1]]", "means = [[[0, 1], [1, 0]], [[1, 1], [0, 0]]]\nweights = [1, 3]"]
    {
        assert_eq!(contextual(&format!("{discrete}{keys}")).unwrap().arms(), 2);
    }
    let message = |keys: &str| contextual(&format!("{discrete}{keys}")).unwrap_err().to_string();
    assert!(message("means = [[0, 1], [1]]").contains("problem.means[1]: found 1 entries"));
    assert!(message("means = 3").contains("problem.means"));
    assert!(message("means = []").contains("problem.means"));
    assert!(message("means = [[0, 1], [1, 0]]\ncontext_weights = [1]").contains("one per context (2)"));
    assert!(message("means = [[0, 1], [1, 0]]\ncontext_order = \"cycle\"").contains("did you mean 'cyclic'"));
}

#[test]
fn policies_take_matrices_and_settings() {
    let problem = "[problem]\nhorizon = 20\nkind = \"linear\"\narms = 2\nnoise_sd = 1\ncontext_dim = 2\ntheta_cov = 1\n[policy]\n";
    let choose = |policy: &str| -> Result<Choice> {
        let file = SpecFile::parse(&format!("{problem}{policy}"), "s.toml")?;
        let (problem, _) = file.problem(no_table)?;
        file.policy(&problem, &Catalogue::default()).map(Option::unwrap)
    };
    let chosen =
        choose("kind = \"cosoftelim\"\nW = [[1, 2], [3, 4]]\nlearn_gamma = true\ngamma = 3").unwrap();
    assert_eq!(chosen.params(), [1.0, 2.0, 3.0, 4.0, 3.0]);
    assert_eq!(choose("kind = \"cosoftelim\"\nrank = 1\nW = [5, 6]").unwrap().params(), [5.0, 6.0]);
    assert_eq!(choose("kind = \"cosoftelim\"\nrank = 1").unwrap().params().len(), 2);
    let message = |policy: &str| choose(policy).unwrap_err().to_string();
    assert!(message("kind = \"cosoftelim\"\nrank = 3").contains("policy.rank: found 3"));
    assert!(message("kind = \"cosoftelim\"\nrank = 1.5").contains("expected auto | 1 to d"));
    assert!(message("kind = \"cosoftelim\"\nridge = 0").contains("policy.ridge: found 0"));
    assert!(message("kind = \"cosoftelim\"\nW = [1, 2, 3]").contains("expected 4 (2 x 2, row by row)"));
    assert!(message("kind = \"cosoftelim\"\nlearn_gamma = 3").contains("expected false | true"));
    assert!(message("kind = \"softelim\"").contains("is for problems without contexts"));
    assert!(message("kind = \"contextual-explore-then-commit\"").contains("finitely many contexts"));
}
