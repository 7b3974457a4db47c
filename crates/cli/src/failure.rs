//! Why a command ends early, and what that means for the exit code.

use crate::output;
use std::process::ExitCode;

/// The exit code of an interrupted command: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// A reason to end early.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is wrong.
    Input(gradband::Error),
    /// Anything else.
    Other(String),
    /// Ctrl-C.
    Interrupted(String),
    /// Nobody reads the output any more (`| head`): no reason to complain.
    NoReader,
}

/// Shorthand for what commands return.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<gradband::Error> for Failure {
    fn from(error: gradband::Error) -> Self {
        Self::Input(error)
    }
}

impl From<gradband_lab::Failure> for Failure {
    fn from(failure: gradband_lab::Failure) -> Self {
        match failure {
            gradband_lab::Failure::Input(error) => Self::Input(error),
            gradband_lab::Failure::Other(message) => Self::Other(message),
            gradband_lab::Failure::Interrupted => Self::Interrupted("interrupted".into()),
        }
    }
}

impl Failure {
    /// Says why, and turns it into an exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Input(error) => {
                output::complain(&error.to_string());
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
