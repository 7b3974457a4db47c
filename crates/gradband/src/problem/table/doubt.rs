//! What a fit cannot tell, as data: somebody has to say it to the user.

use std::fmt::{self, Display, Formatter};

/// Why a fit is not what it seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// No arm of the training part has a trial.
    NoTrials,
    /// All trials of the training part failed, or all succeeded.
    OneOutcome,
    /// No arm has more than one trial: how much arms differ cannot be seen.
    OneTrial,
    /// The arms differ no more than chance would make them.
    Equal,
}

impl Display for Doubt {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::NoTrials => "the training part has no trials, so that nothing could be fitted: add past problems",
            Self::OneOutcome => {
                "all trials of the training part came out the same, so that how much arms differ could not be fitted: add \
                 trials or past problems"
            }
            Self::OneTrial => {
                "no arm has more than one trial, so that how much arms differ could not be fitted: count more trials of an \
                 arm"
            }
            Self::Equal => {
                "the arms of the training part differ no more than chance makes them, so that there is next to nothing to \
                 be gained: add trials or past problems"
            }
        })
    }
}
