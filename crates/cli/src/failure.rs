//! Why a command ends early, and what that means for the exit code.

use crate::{flags, output};
use gradband::{Error, StopReason};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// The exit code of an interrupted command: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// A reason to end early.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is wrong.
    Input(Error),
    /// Anything else.
    Other(String),
    /// Ctrl-C.
    Interrupted(String),
    /// Nobody reads the output any more (`| head`): no reason to complain.
    NoReader,
}

/// Shorthand for what commands return.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.stopped() {
            None => Self::Input(error),
            Some(StopReason::Interrupted) => Self::interrupted(),
            Some(reason) => Self::Other(format!("stopped: {reason}")),
        }
    }
}

impl From<gradband_lab::Failure> for Failure {
    fn from(failure: gradband_lab::Failure) -> Self {
        match failure {
            gradband_lab::Failure::Input(error) => error.into(),
            gradband_lab::Failure::Other(message) => Self::Other(message),
            gradband_lab::Failure::Interrupted => Self::interrupted(),
        }
    }
}

impl Failure {
    /// Ctrl-C, with nothing to keep.
    pub fn interrupted() -> Self {
        Self::Interrupted("interrupted".into())
    }

    /// A file that cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        Self::Other(format!("{}: cannot be written: {error}", path.display()))
    }

    /// A directory that cannot be written to, or not now.
    pub fn unwritable_dir(dir: &Path, error: &std::io::Error) -> Self {
        Self::Other(match error.kind() {
            ErrorKind::WouldBlock => format!("{}: {error}", dir.display()),
            _ => format!("{}: cannot write there: {error}", dir.display()),
        })
    }

    /// Says why, and turns it into an exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Input(error) => {
                output::complain(&flags::as_typed(error).to_string());
                ExitCode::from(2)
            }
            Self::Other(message) => {
                output::complain(&message);
                ExitCode::FAILURE
            }
            Self::Interrupted(message) => {
                output::note(&message);
                ExitCode::from(INTERRUPTED)
            }
            Self::NoReader => ExitCode::SUCCESS,
        }
    }
}
