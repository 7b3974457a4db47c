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

use crate::args::{Args, Command, Common};
use crate::failure::Result;
use crate::output::{self, Printer};
use crate::watch::Terminal;
use crate::{interrupt, resume, threads};
use gradband_files::spec::SEED;
use gradband_files::{Target, cache};

/// Does what was asked.
pub fn run(args: Args) -> Result<()> {
    let Some((args, resumed)) = resume::restored(args)? else { return Ok(()) };
    let Common { seed, threads, json, cache } = args.common;
    let printer = Printer { json };
    interrupt::install();
    threads::start(threads)?;
    cache::install(cache, output::note);
    let explicit = seed;
    let seed = seed.unwrap_or(SEED);
    match args.command {
        Command::List { kind } => list::run(kind, printer),
        Command::Init { file } => init::run(file.as_deref(), printer),
        Command::Check { spec } => check::run(&spec, printer),
        Command::Train(args) => train::run(&args, seed, resumed, printer),
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
    Ok(gradband_jobs::open(name, &Terminal)?)
}

/// The command as it was typed.
fn command() -> String {
    let quoted = |arg: String| {
        let plain = arg.chars().all(|c| c.is_alphanumeric() || "-_./=,:@+".contains(c)) && !arg.is_empty();
        if plain { arg } else { format!("'{}'", arg.replace('\'', r"'\''")) }
    };
    let args = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once("gradband".to_string()).chain(args).collect::<Vec<_>>().join(" ")
}
