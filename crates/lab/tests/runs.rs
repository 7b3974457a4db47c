//! Runs stop and go on: nothing is lost, nothing is computed twice, nothing depends on it.
#![allow(clippy::unwrap_used)]

use gradband::{Observer, Place, Progress, StopReason};
use gradband_lab::experiment::{paper, training};
use gradband_lab::found::Found;
use gradband_lab::record::{self, Log};
use gradband_lab::run::{RunObserver, Summary, run};
use gradband_lab::work::{Gradient, Play, Work};
use gradband_lab::{Experiment, Failure, Series, Shard, Size};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

static SMALL: Experiment = Experiment {
    id: "small",
    title: "",
    section: "",
    text: &[],
    plan: |size| {
        let mut train =
            training("bernoulli-2", "softelim", paper("self", 4, size.pick(40, 20)), vec![0, 2, 4]);
        (train.instances, train.final_instances) = (50, 60);
        train.rounds = vec![50, 100, 200];
        train.elsewhere = vec!["bernoulli-2-uniform".into()];
        let play = Play {
            problem: "bernoulli-2".into(),
            policies: vec!["ucb1".into(), "softelim(w=0.5)".into()],
            instances: 100,
            rounds: vec![100, 200],
            round_instances: 100,
        };
        let gradient = Gradient {
            problem: "bernoulli-2".into(),
            policy: "exp3(w=0.4)".into(),
            baselines: vec!["none".into(), "self".into()],
            batch_size: 100,
            instances: 100,
        };
        Ok(vec![
            Series::new("train", Work::from(train), size.runs(3)),
            Series::new("play", Work::Play(play), 1),
            Series::new("gradient", Work::Gradient(gradient), 2),
        ])
    },
    blocks: |_| Vec::new(),
    rows: |_| Vec::new(),
};

/// Lets so many reports of progress pass, then stops.
struct Stopper(usize);

impl Observer for Stopper {
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(StopReason::Interrupted),
        }
    }
}

impl RunObserver for Stopper {}

/// Runs until so many reports of progress were made.
fn run_for(dir: &Path, reports: usize, size: Size) -> Result<Summary, Failure> {
    run(dir, &[&SMALL], &size, None, &mut Stopper(reports))
}

fn whole(dir: &Path) -> Summary {
    run_for(dir, usize::MAX, Size::default()).unwrap()
}

/// The records without their timings.
fn records(dir: &Path) -> Vec<record::Record> {
    let mut records = record::read(dir, "small").unwrap();
    for record in &mut records {
        (record.seconds, record.core_seconds) = (0.0, 0.0);
        if let Found::Trained(trained) = &mut record.estimate {
            trained.seconds = 0.0;
        }
    }
    records
}

#[test]
fn a_stopped_run_goes_on_and_ends_the_same() {
    let (unbroken, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(whole(unbroken.path()).run, 6);
    let mut stops = 0;
    loop {
        match run_for(broken.path(), 7, Size::default()) {
            Ok(_) => break,
            Err(Failure::Interrupted) => stops += 1,
            Err(other) => panic!("{other:?}"),
        }
        // A unit may report more often than a run is allowed to: then let it through.
        if stops % 3 == 0 {
            let _ = run_for(broken.path(), 60, Size::default());
        }
        assert!(stops < 100);
    }
    assert!(stops > 1, "the run was never stopped");
    assert_eq!(records(broken.path()), records(unbroken.path()));
    let again = whole(broken.path());
    assert_eq!((again.found, again.run), (6, 0));
}

#[test]
fn threads_are_not_observable() {
    let ends = [1, 2, 3].map(|threads| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| whole(dir.path()));
        records(dir.path())
    });
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ends[2]);
}

#[test]
fn shards_are_read_together() {
    let (unbroken, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    whole(unbroken.path());
    let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
    let part = |shard| run(shared.path(), &[&SMALL], &Size::default(), Some(shard), &mut ()).unwrap();
    let runs: Vec<usize> = shards.iter().map(|&shard| part(shard).run).collect();
    assert_eq!(runs.iter().sum::<usize>(), 6, "{runs:?}");
    assert!(runs.iter().all(|&run| run > 0), "{runs:?}");
    let sorted = |dir: &Path| {
        let mut records = records(dir);
        records.sort_by_key(|record| (record.series.clone(), record.seed));
        records
    };
    assert_eq!(sorted(shared.path()), sorted(unbroken.path()));
    // Whoever asks for all of it finds all of it, and a unit that two shards have is one unit.
    assert_eq!((whole(shared.path()).found, part(shards[0]).run), (6, 0));
    let twice = shared.path().join("small.shard-1-of-2.jsonl");
    std::fs::copy(shared.path().join("small.shard-1-of-3.jsonl"), twice).unwrap();
    assert_eq!(records(shared.path()).len(), 6);
    for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "1/99999999"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn half_a_line_is_dropped_and_run_again() {
    let dir = tempfile::tempdir().unwrap();
    whole(dir.path());
    let expected = records(dir.path());
    let path = record::path(dir.path(), "small");
    let text = std::fs::read_to_string(&path).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap() + 40;
    std::fs::write(&path, &text[..cut]).unwrap();
    assert_eq!(record::read(dir.path(), "small").unwrap().len(), 5);
    assert_eq!(whole(dir.path()).run, 1);
    assert_eq!(records(dir.path()), expected);
}

#[test]
fn records_of_another_setting_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    whole(dir.path());
    let before = std::fs::read(record::path(dir.path(), "small")).unwrap();
    let Err(Failure::Input(error)) = run_for(dir.path(), usize::MAX, Size { quick: true, runs: Some(1) })
    else {
        panic!("another setting was accepted")
    };
    assert!(error.to_string().contains("train.batch_size was 40, now 20"), "{error}");
    assert_eq!(std::fs::read(record::path(dir.path(), "small")).unwrap(), before);
}

#[test]
fn more_runs_are_added_to_fewer() {
    let dir = tempfile::tempdir().unwrap();
    let few = run_for(dir.path(), usize::MAX, Size { quick: false, runs: Some(1) }).unwrap();
    assert_eq!((few.found, few.run), (0, 4));
    let more = whole(dir.path());
    assert_eq!((more.found, more.run), (4, 2));
}

#[test]
fn a_damaged_line_is_named() {
    let dir = tempfile::tempdir().unwrap();
    whole(dir.path());
    let path = record::path(dir.path(), "small");
    let text = std::fs::read_to_string(&path).unwrap().replacen("\"seed\":1", "\"seed\":x", 1);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let Err(Failure::Input(error)) = record::read(dir.path(), "small") else { panic!("it was read") };
    assert_eq!(*error.place(), Place::file(path.display().to_string()).line(1), "{error}");
}

#[test]
fn one_process_at_a_time_writes() {
    let dir = tempfile::tempdir().unwrap();
    let first = Log::open(dir.path(), "small", None).unwrap();
    assert!(matches!(Log::open(dir.path(), "small", None), Err(Failure::Input(_))));
    drop(first);
    assert!(Log::open(dir.path(), "small", None).is_ok());
}
