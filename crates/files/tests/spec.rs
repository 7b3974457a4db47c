//! Specs that name files: what is read, and what messages say about it.
#![allow(clippy::unwrap_used)]

use gradband::problem::Split;
use gradband::registry::{self, Choice};
use gradband::spec::{
    DataFile, EvaluateSpec, PolicySpec, ProblemSpec, Readers, Spec, SpecFile, TrainSpec, defaults,
};
use gradband::{Error, Result};
use gradband_files::{DATASETS, Dataset, read_examples, read_table};

const READERS: Readers = Readers {
    table: |source, name, holdout| read_table(source, name, holdout),
    examples: |source, name, label, scale, holdout| read_examples(source, name, label, scale, holdout),
};

fn no_table(path: &str) -> Result<DataFile> {
    Err(Error::new(path, "no such file"))
}

fn built_in(name: &str) -> Result<DataFile> {
    let bytes = Dataset::named(name)?.embedded.unwrap();
    Ok(DataFile { name: name.into(), reader: Box::new(bytes), readers: READERS })
}

/// What a training on a data set records of itself can be read again and means the same. The large sets say nothing
/// that the small ones do not.
#[test]
fn data_sets_survive_a_round_trip() {
    let embedded = DATASETS.iter().filter_map(|set| Some((set, set.embedded?)));
    for (set, bytes) in embedded.filter(|(set, _)| set.examples < 1000) {
        let problem = set.problem(bytes).unwrap();
        for info in registry::applicable(&problem) {
            let choice = Choice::initial(info, &problem).unwrap();
            let spec = Spec {
                problem: ProblemSpec::of(&problem),
                policy: Some(PolicySpec::of(&choice)),
                train: TrainSpec::default().resolve(&problem).unwrap().spec,
                evaluate: EvaluateSpec { instances: Some(7) },
            };
            let file = SpecFile::parse(&toml::to_string(&spec).unwrap(), "again").unwrap();
            assert_eq!(file.spec, spec);
            let (again, _) = file.problem(built_in).unwrap();
            let size = (again.arms, again.horizon, again.kind());
            assert_eq!(size, (problem.arms, problem.horizon, problem.kind()));
            assert_eq!(ProblemSpec::of(&again).scale, spec.problem.scale);
            assert_eq!(file.policy(&again).unwrap().unwrap().label(), choice.label());
        }
    }
}

#[test]
fn a_table_is_opened_once_by_the_caller() {
    let text = "[problem]\nkind = \"bernoulli\"\nhorizon = 9\n[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n";
    let open = |content: &'static str| {
        move |path: &str| {
            Ok(DataFile {
                name: format!("dir/{path}"),
                reader: Box::new(content.as_bytes()),
                readers: READERS,
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
    assert_eq!(file.spec.problem.effective().prior.unwrap().holdout, Some(defaults::HOLDOUT));
    let message = |content| file.problem(open(content)).unwrap_err().to_string();
    assert!(
        message("a,b\n0.1,0.2\n0.3,1.4\n0.3,0.4\n0.1,0.9\n").starts_with("dir/past.csv, line 3, arm 'b'")
    );
    assert!(message("a,b\n0.1\n").starts_with("dir/past.csv, line 2: found 1 fields"));
    let missing = file.problem(no_table).unwrap_err().to_string();
    assert_eq!(missing, "past.csv: no such file (named in s.toml, line 6, problem.prior.path)");
    let holdout = SpecFile::parse(&format!("{text}holdout = 1.5"), "s.toml").unwrap();
    assert!(holdout.problem(open(table)).unwrap_err().place.ends_with("line 7, problem.prior.holdout"));
}
