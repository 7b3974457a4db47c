//! The `gradband` command: turns arguments into calls of the library, and results into text or JSON.

mod args;
mod commands;
mod failure;
mod flags;
mod interrupt;
mod output;
mod picture;
mod progress;
mod resume;
mod threads;
mod watch;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match args::Args::try_parse() {
        Ok(args) => commands::run(args),
        Err(error) => {
            let message = error.render().to_string();
            if output::cut(&message) == message {
                error.exit();
            }
            output::note(message.trim_end());
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
