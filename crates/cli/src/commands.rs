//! One file per command; here is what they share.

mod check;
mod compare;
mod data;
mod evaluate;
mod exact;
mod gittins;
mod gradient;
mod init;
mod list;
mod play;
mod report;
mod reproduce;
mod train;
mod verdict;

use crate::args::{Args, Command, Common};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{self, Printer};
use crate::policies::Asked;
use crate::watch::Watch;
use gradband::measure::Comparison;
use gradband::policy::Choice;
use gradband::problem::Ground;
use gradband::{Error, ErrorKind, Problem};
use gradband_files::spec::SEED;
use gradband_files::{Target, cache};

/// Does what was asked.
pub fn run(args: Args) -> Result<()> {
    let Common { seed, threads, json, cache } = args.common;
    let printer = Printer { json };
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?;
    }
    interrupt::install()?;
    cache::install(cache, output::note);
    let explicit = seed;
    let seed = seed.unwrap_or(SEED);
    match args.command {
        Command::List { kind } => list::run(kind, printer),
        Command::Init { file } => init::run(file.as_deref(), printer),
        Command::Check { spec } => check::run(&spec, printer),
        Command::Train(args) => train::run(&args, seed, printer),
        Command::Evaluate(args) => evaluate::run(&args, seed, printer),
        Command::Compare(args) => compare::run(&args, seed, printer),
        Command::Gradient(args) => gradient::run(&args, seed, printer),
        Command::Exact(args) => exact::run(&args, printer),
        Command::Gittins(args) => gittins::run(&args, printer),
        Command::Data(command) => data::run(&command, printer),
        Command::Reproduce(args) => reproduce::run(&args, printer),
        Command::Play(args) => play::run(&args, explicit),
        Command::Report { dir } => report::run(&dir, printer),
    }
}

/// The built-in problem of that name, or the spec at that path.
fn open(name: &str) -> Result<Target> {
    let target = gradband_files::open(name).map_err(|error| match error.kind() {
        ErrorKind::Unknown { found, .. } if found == name => {
            Error::new(error.place().clone(), format!("{}; nor is it a file", error.kind()))
        }
        _ => error,
    })?;
    tell_notes(&target);
    Ok(target)
}

/// Remarks about a problem, such as features that are constant.
fn tell_notes(target: &Target) {
    for note in &target.notes {
        output::note(&format!("note: {note}"));
    }
}

/// Policies with the parameters that a setting leaves to a search.
fn fitted(policies: Vec<Asked>, problem: &Problem) -> Result<Vec<Asked>> {
    let mut watch = Watch::default();
    let fitted = policies.into_iter().map(|policy| policy.fitted(problem, &mut watch));
    Ok(fitted.collect::<gradband::Result<_>>()?)
}

/// What an evaluation of so many instances stands on.
pub fn stands_on(problem: &Problem, instances: usize) -> String {
    match problem.ground() {
        Ground::Fresh => format!("{} instances drawn anew", output::grouped(instances)),
        ground => format!("{ground}, {} simulations", output::grouped(instances)),
    }
}

/// Plays policies on common instances, and notes their regret after each of `marks` rounds.
pub fn measure(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    marks: &[usize],
) -> gradband::Result<Comparison> {
    gradband::measure::evaluate(choices, problem, seed, instances, marks, &mut Watch::default())
}
