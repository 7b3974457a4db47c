//! Runs what is missing: unit after unit, all cores on each, a record after each.

use crate::Failure;
use crate::experiment::{Experiment, Series, Size};
use crate::record::{Log, Record};
use crate::work::{Desk, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

/// What a run tells while it goes on.
#[derive(Clone, Debug)]
pub struct Status<'a> {
    /// Of which experiment.
    pub experiment: &'a str,
    /// Which series.
    pub series: &'a str,
    /// Which run of it.
    pub seed: u64,
    /// Units done, of all that were asked for.
    pub done: usize,
    /// All that were asked for.
    pub all: usize,
    /// Seconds left, about.
    pub left: f64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Units that were there already.
    pub found: usize,
    /// Units that were run.
    pub run: usize,
    /// Seconds of these.
    pub seconds: f64,
    /// Why series were left out: data sets that are not here.
    pub missing: BTreeSet<String>,
}

struct Unit {
    log: usize,
    series: Series,
    seed: u64,
    setting: serde_json::Value,
    cost: f64,
}

/// Runs the units of experiments that have no record in `dir` yet. Nothing is run unless all records that are there
/// have the settings that are asked for.
pub fn run(
    dir: &Path,
    experiments: &[&Experiment],
    size: &Size,
    desk: &Desk,
    mut tell: impl FnMut(&Status),
) -> Result<Summary, Failure> {
    let mut logs = Vec::new();
    let mut units = Vec::new();
    let mut summary = Summary::default();
    let mut known = Speed::default();
    for (log, experiment) in experiments.iter().enumerate() {
        logs.push(Log::open(dir, experiment.id)?);
        for series in (experiment.plan)(size)? {
            if let Some(Err(error)) = series.work.problem().map(|problem| problem.open(desk)) {
                summary.missing.insert(error.to_string());
                continue;
            }
            let setting =
                serde_json::to_value(&series.work).map_err(|error| Failure::Other(error.to_string()))?;
            let mut cost = None;
            for seed in 1..=series.runs as u64 {
                let cost = *cost.get_or_insert_with(|| series.work.cost(desk));
                match logs[log].find(&series.name, seed, &setting)? {
                    Some(record) => {
                        summary.found += 1;
                        known.add(&series.work, cost, record.core_seconds);
                    }
                    None => {
                        units.push(Unit { log, series: series.clone(), seed, setting: setting.clone(), cost })
                    }
                }
            }
        }
    }
    // The first run of every series before the second of any: what is stopped early is thin, not lopsided.
    units.sort_by_key(|unit| (unit.log, unit.seed));
    let all = summary.found + units.len();
    let (begin, begun) = (Instant::now(), core_seconds());
    for (i, unit) in units.iter().enumerate() {
        // As many cores as were at work so far.
        let cores = match summary.run {
            0 => std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64),
            _ => (core_seconds() - begun) / begin.elapsed().as_secs_f64().max(1e-9),
        };
        let work =
            units[i..].iter().map(|unit| known.core_seconds(&unit.series.work, unit.cost)).sum::<f64>();
        tell(&Status {
            experiment: experiments[unit.log].id,
            series: &unit.series.name,
            seed: unit.seed,
            done: summary.found + i,
            all,
            left: work / cores.max(0.01),
        });
        let (start, worked) = (Instant::now(), core_seconds());
        let failed = |error: gradband::Error| {
            Failure::Input(gradband::Error::new(
                format!("{}, {}: {}", experiments[unit.log].id, unit.series.name, error.place),
                error.message,
            ))
        };
        let Some(estimate) = unit.series.work.run(unit.seed, desk).map_err(failed)? else {
            return Err(Failure::Interrupted);
        };
        let (seconds, core_seconds) = (start.elapsed().as_secs_f64(), core_seconds() - worked);
        known.add(&unit.series.work, unit.cost, core_seconds);
        summary.run += 1;
        summary.seconds += seconds;
        logs[unit.log].push(Record {
            experiment: experiments[unit.log].id.into(),
            series: unit.series.name.clone(),
            seed: unit.seed,
            setting: unit.setting.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            estimate,
            seconds: (seconds * 100.0).round() / 100.0,
            core_seconds: (core_seconds * 100.0).round() / 100.0,
        })?;
    }
    Ok(summary)
}

/// Processor time of this process so far.
fn core_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// How long units take, by what was seen of the same problem and policy; else by their cost, which is in nanoseconds.
#[derive(Default)]
struct Speed {
    seen: BTreeMap<String, (f64, f64)>,
}

impl Speed {
    fn add(&mut self, work: &Work, cost: f64, seconds: f64) {
        let (costs, times) = self.seen.entry(key(work)).or_default();
        *costs += cost;
        *times += seconds;
    }

    fn core_seconds(&self, work: &Work, cost: f64) -> f64 {
        let (costs, times) = self.seen.get(&key(work)).unwrap_or(&(1e9, 1.0));
        cost * times / costs
    }
}

fn key(work: &Work) -> String {
    match work {
        Work::Train(train) => format!("{:?} {}", train.problem, train.policy),
        Work::Play(play) => format!("{:?}", play.problem),
        Work::Gradient(gradient) => gradient.policy.split('(').next().unwrap_or_default().into(),
        Work::Exact { .. } | Work::Matrix { .. } | Work::Size { .. } | Work::Gittins { .. } => "small".into(),
    }
}
