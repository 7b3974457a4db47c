//! Specs in files: what they name is found, what is wrong is shown where it stands.
#![allow(clippy::unwrap_used)]

use gradband::policy::Choice;
use gradband::problem::Split;
use gradband::{Catalogue, ErrorKind, Problem, Result, Step};
use gradband_files::{SpecFile, Target, TrainSpec, open};
use std::path::Path;

const MINIMAL: &str = r#"
[problem]
kind = "bernoulli"
horizon = 20
[problem.prior]
kind = "points"
instances = [[0.6, 0.4], [0.4, 0.6]]
"#;

/// A directory with these files, the last of which is a spec.
fn opened(files: &[(&str, &str)]) -> Result<Target> {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    let (spec, _) = files.last().unwrap();
    open(dir.path().join(spec).to_str().unwrap())
}

#[track_caller]
fn refused(files: &[(&str, &str)], parts: &[&str]) {
    let error = opened(files).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

/// The training that a spec asks for, of its own policy or of softelim.
fn training(text: &str, said: &TrainSpec) -> Result<gradband_files::Training> {
    let target = opened(&[("s.toml", text)])?;
    let policy = target.policy(&Catalogue::default())?;
    let policy = policy.unwrap_or_else(|| Choice::parse("softelim", &target.problem).unwrap());
    target.training(said, &policy)
}

#[test]
fn tables_are_looked_for_beside_the_spec() {
    let spec = |prior: &str| {
        format!(
            "problem.kind = \"bernoulli\"\nproblem.horizon = 9\n[problem.prior]\nkind = \"table\"\n{prior}"
        )
    };
    let table = "a,b\n0.5,0.6\n0.2,0.3\n0.9,0.1\n0.3,0.8\n";
    let target =
        opened(&[("past.csv", table), ("s.toml", &spec("path = \"past.csv\"\nholdout = 0"))]).unwrap();
    assert_eq!(target.problem.clusters(Split::Train), Some(4));
    assert_eq!(target.problem.arm_names().unwrap(), ["a", "b"]);
    refused(
        &[("s.toml", &spec("path = \"past.csv\""))],
        &["past.csv: no such file (named in ", "s.toml, line 5, problem.prior.path)"],
    );
    refused(
        &[("past.csv", "a,b\n0.5,x\n"), ("s.toml", &spec("path = \"past.csv\""))],
        &["past.csv, line 2, column 2 ('b'): found 'x', expected a number"],
    );
    refused(&[("s.toml", &spec("path = 3"))], &["line 5, problem.prior.path: found a number, expected text"]);
    refused(&[("s.toml", &spec(""))], &["problem.prior.path: is missing"]);
}

/// Arms called 0 and 1: the header must not become an instance.
#[test]
fn a_header_of_numbers_is_asked_about() {
    let table = "0,1\n0.5,0.6\n0.2,0.3\n0.9,0.1\n0.3,0.8\n";
    let spec = "[problem]\nkind=\"bernoulli\"\nhorizon=10\n[problem.prior]\nkind=\"table\"\npath=\"t.csv\"\nholdout=0\n";
    refused(&[("t.csv", table), ("s.toml", spec)], &["t.csv, line 1", "the names of the arms, or means?"]);
}

#[test]
fn labelled_data_come_from_a_file_or_a_data_set() {
    let spec = |data: &str| format!("[problem]\nkind = \"classification\"\nhorizon = 9\ndata = \"{data}\"\n");
    let target =
        opened(&[("iris", "a,b,y\n1,2,u\n3,4,v\n5,6,u\n7,8,v\n9,1,u\n2,3,v\n"), ("s.toml", &spec("iris"))])
            .unwrap();
    assert_eq!(target.problem.arm_names().unwrap(), ["u", "v"], "a file beside the spec comes first");
    #[cfg(feature = "datasets")]
    assert_eq!(opened(&[("s.toml", &spec("iris"))]).unwrap().problem.arms(), 3);
    #[cfg(not(feature = "datasets"))]
    refused(&[("s.toml", &spec("iris"))], &["iris: is not part of this program", "the feature `datasets`"]);
    refused(&[("s.toml", &spec("covertype"))], &["covertype: is kept in the cache", "cache::install"]);
    refused(&[("s.toml", &spec("irsi"))], &["irsi: no such file (named in ", "line 4, problem.data)"]);
}

/// More iterations than there are numbers for them; the error is shown where the spec says so.
#[test]
fn too_many_iterations_are_refused_by_name() {
    let lstm = format!(
        "{MINIMAL}[policy]\nkind = \"lstm\"\nhidden = 3\nembedding = 2\n[train]\ncurriculum = [2, 5]\n"
    );
    for iterations in ["9223372036854775809", "18446744073709551615", "10000000000"] {
        for (spec, line) in [(lstm.as_str(), "line 14"), (&format!("{MINIMAL}[train]\n"), "line 9")] {
            let error =
                training(&format!("{spec}iterations = {iterations}\n"), &TrainSpec::default()).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(&format!("s.toml, {line}, train.iterations: found ")), "{message}");
            assert!(matches!(error.kind(), ErrorKind::Count { least: 1, .. }), "{message}");
        }
    }
    for iterations in ["99999999999999999999999999", "-1", "1.5", "\"many\""] {
        let error =
            training(&format!("{MINIMAL}[train]\niterations = {iterations}\n"), &TrainSpec::default());
        let message = error.unwrap_err().to_string();
        assert!(message.contains("s.toml, line 9, train.iterations: found "), "{message}");
    }
}

/// Numbers beyond 64 bits, dates and lists where they do not belong have a place too.
#[test]
fn every_wrong_value_has_a_place() {
    let with = |from: &str, to: &str| MINIMAL.replace(from, to);
    for (text, parts) in [
        (with("20", "9223372036854775809"), &["line 4, problem.horizon: found 922337203685477"][..]),
        (
            with("20", "99999999999999999999999"),
            &["line 4, problem.horizon: found 99999999999999999999999, expected a whole"],
        ),
        (with("20", "1979-05-27"), &["line 4, problem.horizon: found 1979-05-27, expected a number"]),
        (with("20", "\"twenty\""), &["line 4, problem.horizon: found text"]),
        (with("0.6]]", "1979-05-27]]"), &["line 7, problem.prior.instances[1][1]: found 1979-05-27"]),
        (with("0.6]]", "\"x\"]]"), &["line 7, problem.prior.instances[1][1]: found text, expected a number"]),
        (
            format!("{MINIMAL}[train]\ncurriculum = [2, -5]\n"),
            &["line 9, train.curriculum[1]: found -5, expected a whole"],
        ),
        (
            format!("{MINIMAL}[train]\ncurriculum = 5\n"),
            &["line 9, train.curriculum: found 5, expected a list"],
        ),
        (format!("{MINIMAL}[train]\nclip = \"x\"\n"), &["line 9, train.clip: found 'x', expected a number"]),
        (
            format!("{MINIMAL}[train]\ntemperature = 3\n"),
            &["line 9, train.temperature: found 3, expected a boolean"],
        ),
        (
            format!("{MINIMAL}[train]\nbaseline = []\n"),
            &["line 9, train.baseline: found a list, expected a string"],
        ),
        (
            format!("{MINIMAL}[evaluate]\ninstances = {{ a = 1 }}\n"),
            &["line 9, evaluate.instances: found a table"],
        ),
        (format!("train = 3\n{MINIMAL}"), &["line 1, train: found 3, expected struct TrainSpec"]),
        (format!("{MINIMAL}[policy]\nw = 1\n"), &["line 8, policy.kind: is missing"]),
        (format!("{MINIMAL}[\"odd.key\"]\n"), &["line 8, odd.key: unknown name 'odd.key'"]),
        (
            with("horizon", "horizn"),
            &["line 4, problem.horizn: unknown name 'horizn'; did you mean 'horizon'?"],
        ),
        (
            with("kind = \"bernoulli\"", ""),
            &["line 2, problem.kind: is missing; expected one of bernoulli, beta"],
        ),
        ("a = \n".into(), &["s.toml, line 1: "]),
        ("".into(), &["s.toml: is empty"]),
    ] {
        refused(&[("s.toml", &text)], parts);
    }
}

/// Names and texts of any length fit into a message.
#[test]
fn long_names_are_cut() {
    let long = "x".repeat(50_000);
    for text in [
        MINIMAL.replace("bernoulli", &long),
        MINIMAL.replace("horizon", &long),
        format!("{MINIMAL}[{long}]\n"),
        format!("{MINIMAL}[train]\n{long} = 3\n"),
        format!("{MINIMAL}[train]\nlearning_rate = \"{long}\"\n"),
        format!("{MINIMAL}[evaluate]\ninstances = \"{long}\"\n"),
        format!("{MINIMAL}[evaluate]\ninstances = {}\n", "9".repeat(50_000)),
    ] {
        let message = opened(&[("s.toml", &text)]).unwrap_err().to_string();
        assert!(message.len() < 1000, "{} characters: {}...", message.len(), &message[..300]);
    }
}

#[test]
fn what_is_said_wins_and_is_blamed_without_the_spec() {
    let text = format!("{MINIMAL}[train]\niterations = 7\nbatch_size = 0\n");
    let error = training(&text, &TrainSpec::default()).unwrap_err().to_string();
    assert!(error.contains("s.toml, line 10, train.batch_size: found 0"), "{error}");
    let said = TrainSpec { batch_size: Some(5), ..TrainSpec::default() };
    let resolved = training(&text, &said).unwrap();
    assert_eq!((resolved.spec.iterations, resolved.spec.batch_size), (Some(7), Some(5)));
    let said = TrainSpec { batch_size: Some(0), ..TrainSpec::default() };
    assert_eq!(training(&text, &said).unwrap_err().place().steps(), [Step::Key("batch_size".into())]);
    let said = TrainSpec { optimizer: Some("adm".into()), batch_size: Some(5), ..TrainSpec::default() };
    let error = training(&text, &said).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unknown { found, .. } if found == "adm"), "{error}");
}

/// A training can be asked for again by the spec that it leaves.
#[test]
fn what_a_training_was_asked_for_asks_for_it_again() {
    let target = opened(&[("s.toml", &format!("{MINIMAL}[train]\niterations = 7\n"))]).unwrap();
    let policy = Choice::parse("exp3(score=paper)", &target.problem).unwrap();
    let first = target.training(&TrainSpec { clip: Some(2.0), ..TrainSpec::default() }, &policy).unwrap();
    let text = toml::to_string(&target.effective(&policy, &first)).unwrap();
    let again = opened(&[("again.toml", &text)]).unwrap();
    let second_policy = again.policy(&Catalogue::default()).unwrap().unwrap();
    assert_eq!(second_policy.label(), policy.label());
    let second = again.training(&TrainSpec::default(), &second_policy).unwrap();
    assert_eq!(second.plan, first.plan);
    assert_eq!(again.instances(None).unwrap(), first.eval_instances);
}

#[test]
fn names_come_before_files_and_near_ones_are_suggested() {
    let target = open("bernoulli-2").unwrap();
    assert!(target.file().is_none() && target.policy(&Catalogue::default()).unwrap().is_none());
    assert_eq!((target.default_policy(), target.instances(None).unwrap()), ("softelim", 10_000));
    assert!(target.instances(Some(1)).unwrap_err().to_string().contains("instances: found 1, expected 2 to"));
    let message = |name: &str| open(name).unwrap_err().to_string();
    assert!(
        message("bernouli-2").contains("problem: unknown name 'bernouli-2'; did you mean 'bernoulli-2'?")
    );
    assert!(message("nowhere/s.toml").contains("s.toml: no such file"));
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).is_dir());
    assert!(message(env!("CARGO_MANIFEST_DIR")).contains("is a directory"));
}

#[test]
fn rules_of_ones_own_may_stand_in_a_spec() {
    struct Mine;
    impl gradband::Rule for Mine {
        fn params(&self) -> Vec<gradband::Param> {
            vec![gradband::Param::positive("temperature", 0.1)]
        }
        fn logits<T: gradband::Scalar>(&self, params: &[T], seen: &gradband::Seen, logits: &mut [T]) {
            for (arm, logit) in logits.iter_mut().enumerate() {
                *logit = params[0].recip() * seen.mean(arm);
            }
        }
    }
    let text = format!("{MINIMAL}[policy]\nkind = \"Mine\"\ntemperature = 0.5\n");
    let file = SpecFile::parse(&text, "s.toml").unwrap();
    let problem = Problem::named("bernoulli-2").unwrap();
    let catalogue = Catalogue::default().with_rule(Mine);
    assert_eq!(file.policy(&problem, &catalogue).unwrap().unwrap().params(), [0.5]);
    let error = file.policy(&problem, &Catalogue::default()).unwrap_err().to_string();
    assert!(error.starts_with("s.toml, line 9, policy.kind: unknown name 'Mine'"), "{error}");
}
