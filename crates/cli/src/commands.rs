//! One file per command; here is what they share.

mod check;
mod compare;
mod evaluate;
mod gradient;
mod init;
mod list;
mod train;

use crate::args::{Args, Command, Common};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::Printer;
use crate::progress::Progress;
use gradband::Problem;
use gradband::evaluate::Evaluation;
use gradband::registry::Choice;
use std::ops::ControlFlow;

/// Does what was asked.
pub fn run(args: Args) -> Result<()> {
    let Common { seed, threads, json } = args.common;
    let printer = Printer { json };
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?;
    }
    interrupt::install()?;
    match args.command {
        Command::List { kind } => list::run(kind, printer),
        Command::Init { file } => init::run(file.as_deref(), printer),
        Command::Check { spec } => check::run(&spec, printer),
        Command::Train(args) => train::run(&args, seed, printer),
        Command::Evaluate(args) => evaluate::run(&args, seed, printer),
        Command::Compare(args) => compare::run(&args, seed, printer),
        Command::Gradient(args) => gradient::run(&args, seed, printer),
    }
}

/// Stops a simulation when the user has asked for it; else shows how far it is.
fn watch(progress: &mut Progress, done: usize) -> ControlFlow<()> {
    progress.set(done);
    if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Plays policies on common instances.
fn measure<'a>(
    choices: impl IntoIterator<Item = &'a Choice>,
    problem: &Problem,
    seed: u64,
    instances: usize,
) -> Result<Evaluation> {
    let agents: Vec<_> = choices.into_iter().map(|choice| choice.agent(problem)).collect();
    let agents: Vec<_> = agents.iter().map(|agent| &**agent).collect();
    let mut progress = Progress::new("evaluating", "instances", instances);
    gradband::evaluate::evaluate(&agents, problem, seed, instances, |done| watch(&mut progress, done))
        .ok_or_else(|| Failure::Interrupted("interrupted".into()))
}

/// `bernoulli-2 (2 arms, horizon 200)`.
fn title(problem: &Problem) -> String {
    format!("{} ({} arms, horizon {})", problem.name, problem.arms, problem.horizon)
}
