//! `gradband reproduce`: runs the paper's experiments, and sets its numbers beside ours.

use super::report;
use crate::args::{Reproduce, whole};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{self, Printer};
use gradband::{Error, Observer, Place, Progress, StopReason};
use gradband_lab::run::{RunObserver, Status, Summary};
use gradband_lab::{EXPERIMENTS, Experiment, Results, Size, experiments};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two lines of progress, off a terminal.
const PAUSE: Duration = Duration::from_secs(10);
/// The most runs of a training.
const MOST_RUNS: u64 = 10_000;

#[derive(Serialize)]
struct Document {
    #[serde(serialize_with = "output::path")]
    output: PathBuf,
    experiments: Vec<report::Compared>,
    units_found: usize,
    units_run: usize,
    seconds: f64,
    version: &'static str,
}

pub fn run(args: &Reproduce, printer: Printer) -> Result<()> {
    let size = Size { quick: args.quick, runs: runs(args.runs)? };
    let default = if args.quick { "reproduction-quick" } else { "reproduction" };
    let dir = args.output.clone().unwrap_or_else(|| default.into());
    let chosen = chosen(&args.ids)?;
    if args.list {
        return list(&chosen, &size, &dir, printer);
    }
    output::create_dir(&dir)?;
    // Shards write files of their own, and lock those.
    let _lock = if args.shard.is_none() { Some(output::enter(&dir)?) } else { None };
    let hold = interrupt::hold();
    let summary = gradband_lab::run::run(&dir, &chosen, &size, args.shard, &mut RunWatch::new());
    let summary = summary.map_err(|failure| stopped(failure.into(), &dir))?;
    for missing in &summary.missing {
        output::note(&format!("note: left out: {missing}"));
    }
    let results = Results::read(&dir)?;
    check_recorded(&results, &chosen, &summary, &dir)?;
    let document = Document {
        experiments: report::compared(&results, &chosen),
        output: dir.clone(),
        units_found: summary.found,
        units_run: summary.run,
        seconds: summary.seconds,
        version: env!("CARGO_PKG_VERSION"),
    };
    let shown = printer.result(&document, || {
        let units =
            format!("{} units run in {:.0} s, {} were there", summary.run, summary.seconds, summary.found);
        match args.shard {
            None => {
                let (table, page) = (report::text(&document.experiments), dir.join(report::FILE));
                format!("{table}\n{units}; see {}", page.display())
            }
            Some(shard) => {
                format!(
                    "shard {shard}: {units}; `gradband report {}` reads all shards together",
                    dir.display()
                )
            }
        }
    });
    // Other shards may be at work: whoever waits for all of them writes the report.
    if args.shard.is_none() {
        report::write(&dir, &results)?;
    }
    drop(hold);
    shown
}

/// Somebody may have removed the directory meanwhile: then there is nothing to report.
fn check_recorded(results: &Results, chosen: &[&Experiment], summary: &Summary, dir: &Path) -> Result<()> {
    let recorded: usize = chosen.iter().map(|experiment| results.of(experiment.id).count()).sum();
    match (summary.found + summary.run).saturating_sub(recorded) {
        0 => Ok(()),
        lost => Err(Failure::Other(format!("{}: {lost} records are gone", dir.display()))),
    }
}

/// Ctrl-C loses nothing that was finished.
fn stopped(failure: Failure, dir: &Path) -> Failure {
    let Failure::Interrupted(_) = failure else { return failure };
    interrupt::answer();
    Failure::Interrupted(format!(
        "interrupted; what was finished is in {}, and the same command goes on from there",
        dir.display()
    ))
}

fn runs(flag: Option<u64>) -> Result<Option<usize>> {
    match flag {
        Some(runs) if !(1..=MOST_RUNS).contains(&runs) => {
            Err(Error::new(Place::key("--runs"), format!("found {runs}, expected 1 to {MOST_RUNS}")).into())
        }
        flag => Ok(flag.map(whole)),
    }
}

/// The experiments of these names, in the order of the paper; none means all.
fn chosen(ids: &[String]) -> Result<Vec<&'static Experiment>> {
    let all = ids.is_empty() || ids.iter().any(|id| id == "all");
    for id in ids.iter().filter(|id| *id != "all") {
        experiments::named(id).map_err(|error| error.at(Place::key("ID")))?;
    }
    let asked = |experiment: &&&Experiment| all || ids.iter().any(|id| id == experiment.id);
    Ok(EXPERIMENTS.iter().filter(asked).copied().collect())
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    section: &'static str,
    summary: &'static str,
    units: usize,
    recorded: usize,
}

fn list(chosen: &[&Experiment], size: &Size, dir: &Path, printer: Printer) -> Result<()> {
    let results = Results::read(dir)?;
    let mut listed = Vec::new();
    for experiment in chosen {
        listed.push(Listed {
            name: experiment.id,
            section: experiment.section,
            summary: experiment.title,
            units: (experiment.plan)(size)?.iter().map(|series| series.runs).sum(),
            recorded: results.of(experiment.id).count(),
        });
    }
    printer.result(&listed, || {
        let rows = listed.iter().map(|row| {
            vec![
                row.name.into(),
                row.section.into(),
                row.summary.into(),
                row.units.to_string(),
                row.recorded.to_string(),
            ]
        });
        let table = output::table(&["experiment", "section", "", "units", "recorded"], 3, rows);
        format!("{table}\nrecords are looked for in {}", dir.display())
    })
}

/// Watches a run of experiments: a bar on a terminal, now and then a line elsewhere.
struct RunWatch {
    bar: Option<ProgressBar>,
    /// When the next line is due.
    next: Instant,
}

impl RunWatch {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("[{bar:30}] {pos}/{len} units, {msg}: {prefix}");
            ProgressBar::new(0)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        Self { bar, next: Instant::now() }
    }
}

impl Observer for RunWatch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        if let Some(bar) = &self.bar {
            let part = progress.done as f64 / progress.total.max(1) as f64;
            bar.set_prefix(format!("{} {:.0} %", progress.what, 100.0 * part));
        }
        match interrupt::requested() {
            true => ControlFlow::Break(StopReason::Interrupted),
            false => ControlFlow::Continue(()),
        }
    }
}

impl RunObserver for RunWatch {
    fn unit(&mut self, status: &Status) {
        let (left, Status { experiment, series, seed, .. }) = (duration(status.left), status);
        let message = format!("{experiment}: {series}, run {seed}, {left} left");
        if let Some(bar) = &self.bar {
            bar.set_length(status.all as u64);
            bar.set_position(status.done as u64);
            bar.set_message(message);
        } else if Instant::now() >= self.next {
            self.next = Instant::now() + PAUSE;
            output::note(&format!("{} of {} units; {message}", status.done, status.all));
        }
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `45 s`, `12 min`, `1 h 20 min`.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 90.0 => format!("{seconds:.0} s"),
        0..90 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
