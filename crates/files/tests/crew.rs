//! Trainings on data sets whose every simulation is done by a worker that read the data by itself.
#![cfg(feature = "datasets")]
#![allow(clippy::unwrap_used)]

use gradband::learn::Options;
use gradband::measure::Worker;
use gradband::{Catalogue, Crew, Iteration, Observer, Policy, Problem, Result};
use gradband_files::named;
use std::sync::{Arc, Mutex};

/// One worker for two hands; the bytes of each round, there and back.
struct Far(Worker, Mutex<Vec<usize>>);

impl Crew for Far {
    fn hands(&self) -> usize {
        2
    }

    fn play(&self, tasks: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let answers = tasks.iter().map(|task| self.0.work(task)).collect::<Result<Vec<_>>>()?;
        self.1.lock().unwrap().push(tasks.iter().chain(&answers).map(Vec::len).sum());
        Ok(answers)
    }
}

/// Notes what had been sent after each iteration.
struct Boss(Arc<Far>, Vec<usize>);

impl Observer for Boss {
    fn iteration(&mut self, _: &Iteration, _: &[f64]) {
        self.1.push(self.0.1.lock().unwrap().iter().sum());
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        Some(self.0.clone())
    }
}

/// Trains with and without a crew, which must not matter; what each iteration after the first has sent.
fn sent(problem: impl Fn() -> Problem, options: &Options) -> Vec<usize> {
    let here = problem();
    let initial = "soft-ucb".parse::<Policy>().unwrap().on(&here).unwrap();
    let plan = options.plan(&here, &initial).unwrap();
    let mut boss =
        Boss(Arc::new(Far(Worker::new(problem(), Catalogue::default()), Mutex::default())), Vec::new());
    let far = plan.train(&here, &initial, 1, &mut boss).unwrap();
    assert_eq!(format!("{far:?}"), format!("{:?}", plan.train(&here, &initial, 1, &mut ()).unwrap()));
    boss.1.windows(2).map(|sent| sent[1] - sent[0]).collect()
}

#[test]
fn iris_has_the_same_bits_from_afar() {
    let problem = || named("iris").unwrap().with_horizon(50).unwrap().resplit(0.3, 1).unwrap();
    let options = Options { iterations: Some(8), batch_size: Some(20), ..Options::default() };
    sent(problem, &options);
}

/// d = 123: the batch of the defaults, few iterations.
#[test]
fn adult_sends_little() {
    let options = Options { iterations: Some(3), ..Options::default() };
    let sent = sent(|| named("adult").unwrap(), &options);
    println!("adult: {sent:?} bytes in an iteration");
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|&bytes| bytes <= 200_000), "{sent:?} bytes");
}
