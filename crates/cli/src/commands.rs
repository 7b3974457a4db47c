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
mod report;
mod reproduce;
mod train;

use crate::args::{Args, Command, Common};
use crate::failure::{Failure, Result};
use crate::output::Printer;
use crate::policies::as_flag;
use crate::progress::Progress;
use crate::{cache, interrupt};
use gradband::Problem;
use gradband::evaluate::Evaluation;
use gradband::registry::Choice;
use std::ops::ControlFlow;

/// Does what was asked.
pub fn run(args: Args) -> Result<()> {
    let Common { seed, threads, json, cache } = args.common;
    let printer = Printer { json };
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?;
    }
    interrupt::install()?;
    cache::install(cache);
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
        Command::Report { dir } => report::run(&dir, printer),
    }
}

/// Stops a simulation when the user has asked for it; else shows how far it is.
pub fn watch(progress: &mut Progress, done: usize) -> ControlFlow<()> {
    progress.set(done);
    if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Plays policies on common instances.
pub fn measure<'a>(
    choices: impl IntoIterator<Item = &'a Choice>,
    problem: &Problem,
    seed: u64,
    instances: usize,
) -> Result<Evaluation> {
    let mut agents = Vec::new();
    for choice in choices {
        let what = format!("preparing {}", choice.info.name);
        choice.prepare(problem, &mut work(&what)).ok_or_else(interrupted)?;
        agents.push(choice.agent(problem));
    }
    let agents: Vec<_> = agents.iter().map(|agent| &**agent).collect();
    let mut progress = Progress::new("evaluating", "instances", instances);
    gradband::evaluate::evaluate(&agents, problem, seed, instances, |done| watch(&mut progress, done))
        .ok_or_else(interrupted)
}

pub fn interrupted() -> Failure {
    Failure::Interrupted("interrupted".into())
}

/// Watches a dynamic programme, whose size becomes known when it starts.
fn work(what: &str) -> impl FnMut(u64, u64) -> ControlFlow<()> + '_ {
    let mut progress = None;
    move |done, all| {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let progress = progress.get_or_insert_with(|| Progress::new(what, "states", size(all)));
        watch(progress, size(done))
    }
}

/// The library names flags without their dashes, and the problem as the usage does.
fn named_as_typed(error: gradband::Error) -> gradband::Error {
    if error.place == "PROBLEM" { error } else { as_flag(error) }
}

/// `bernoulli-2 (2 arms, horizon 200)`.
pub fn title(problem: &Problem) -> String {
    format!("{} ({} arms, horizon {})", problem.name, problem.arms, problem.horizon)
}
