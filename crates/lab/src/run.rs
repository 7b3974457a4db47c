//! Runs what is missing: unit after unit, all cores on each, a record after each.

use crate::Failure;
use crate::cost::Speed;
use crate::experiment::{Experiment, Series, Size};
use crate::problems::Problems;
use crate::record::{Log, Record, Shard};
use gradband::{Observer, Place};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Watches a run: which unit begins, and, as the library's observer, how far its work has come. It may stop the run.
pub trait RunObserver: Observer {
    /// Called before each unit.
    fn unit(&mut self, _: &Status) {}
}

/// Ignores everything.
impl RunObserver for () {}

/// Which unit begins, and what is left.
#[derive(Clone, Debug)]
pub struct Status<'a> {
    /// The experiment that the unit belongs to.
    pub experiment: &'a str,
    /// The series that it belongs to.
    pub series: &'a str,
    /// The number of the run, which is its seed.
    pub seed: u64,
    /// How many units are done, of all that were asked for.
    pub done: usize,
    /// How many were asked for.
    pub all: usize,
    /// Roughly how many seconds are left.
    pub left: f64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many units were there already.
    pub found: usize,
    /// How many units were run.
    pub run: usize,
    /// How many seconds these took.
    pub seconds: f64,
    /// Why series were left out: data sets that are not on this machine.
    pub missing: BTreeSet<String>,
}

/// Runs the units of experiments, or a shard of them, that have no record in `dir` yet. Nothing is run unless all records that are there
/// have the settings that are asked for.
pub fn run(
    dir: &Path,
    experiments: &[&Experiment],
    size: &Size,
    shard: Option<Shard>,
    observer: &mut dyn RunObserver,
) -> Result<Summary, Failure> {
    let mut run = Run { shard, ..Run::default() };
    let mut units = Vec::new();
    for experiment in experiments {
        units.extend(run.missing_units(dir, experiment, size)?);
    }
    // The first run of every series before the second of any: what is stopped early is thin, not lopsided.
    units.sort_by_key(|unit| (unit.log, unit.seed));
    let (begin, begun) = (Instant::now(), core_seconds());
    for (i, unit) in units.iter().enumerate() {
        // As many cores as were at work so far.
        let cores = match run.summary.run {
            0 => std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64),
            _ => (core_seconds() - begun) / begin.elapsed().as_secs_f64().max(1e-9),
        };
        let left = units[i..].iter().map(|unit| run.speed.core_seconds(&unit.series.work, unit.cost));
        observer.unit(&Status {
            experiment: experiments[unit.log].id,
            series: &unit.series.name,
            seed: unit.seed,
            done: run.summary.found + i,
            all: run.summary.found + units.len(),
            left: left.sum::<f64>() / cores.max(0.01),
        });
        run.unit(experiments[unit.log].id, unit, observer)?;
    }
    Ok(run.summary)
}

/// A unit that has no record yet.
struct Unit {
    /// The index of its experiment among those that are run, and of its log.
    log: usize,
    series: Series,
    seed: u64,
    setting: serde_json::Value,
    cost: f64,
}

/// A run so far.
#[derive(Default)]
struct Run {
    shard: Option<Shard>,
    /// The records of each experiment.
    logs: Vec<Log>,
    problems: Problems,
    speed: Speed,
    summary: Summary,
}

impl Run {
    /// Opens the records of the next experiment; the units that they lack.
    fn missing_units(
        &mut self,
        dir: &Path,
        experiment: &Experiment,
        size: &Size,
    ) -> Result<Vec<Unit>, Failure> {
        let log = Log::open(dir, experiment.id, self.shard)?;
        let mut units = Vec::new();
        for (place, series) in (experiment.plan)(size)?.into_iter().enumerate() {
            if let Some(Err(error)) = series.work.problem().map(|problem| self.problems.open(problem)) {
                self.summary.missing.insert(error.to_string());
                continue;
            }
            let setting =
                serde_json::to_value(&series.work).map_err(|error| Failure::Other(error.to_string()))?;
            let cost = series.work.cost(&mut self.problems);
            let ours = |seed: &u64| self.shard.is_none_or(|shard| shard.holds(place, *seed));
            for seed in (1..=series.runs as u64).filter(ours) {
                match log.find(&series.name, seed, &setting)? {
                    Some(record) => {
                        self.summary.found += 1;
                        self.speed.add(&series.work, cost, record.core_seconds);
                    }
                    None => {
                        let (log, series, setting) = (self.logs.len(), series.clone(), setting.clone());
                        units.push(Unit { log, series, seed, setting, cost });
                    }
                }
            }
        }
        self.logs.push(log);
        Ok(units)
    }

    /// Runs a unit and records it.
    fn unit(&mut self, experiment: &str, unit: &Unit, observer: &mut dyn RunObserver) -> Result<(), Failure> {
        let (start, worked) = (Instant::now(), core_seconds());
        let series = &unit.series;
        let estimate = series
            .work
            .run(unit.seed, &mut self.problems, observer)
            .map_err(|error| error.within(Place::file(format!("{experiment}, {}", series.name))))?;
        let (seconds, core_seconds) = (start.elapsed().as_secs_f64(), core_seconds() - worked);
        self.speed.add(&series.work, unit.cost, core_seconds);
        self.summary.run += 1;
        self.summary.seconds += seconds;
        self.logs[unit.log].push(Record {
            experiment: experiment.into(),
            series: series.name.clone(),
            seed: unit.seed,
            setting: unit.setting.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            estimate,
            seconds: (seconds * 100.0).round() / 100.0,
            core_seconds: (core_seconds * 100.0).round() / 100.0,
        })
    }
}

/// The processor time of this process so far.
fn core_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
