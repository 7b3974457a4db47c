//! The `gradband` command: turns arguments into calls of the library, and results into text or JSON.

mod args;
mod commands;
mod failure;
mod flags;
mod interrupt;
mod output;
mod picture;
mod progress;
mod watch;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(args::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
