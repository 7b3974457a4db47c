//! `gradband exact`: Bayes regret, reward and gradient without sampling error.

use crate::policies::{self, Asked, Wanted};
use crate::{Client, Work};
use gradband::Result;
use gradband::measure::exact;
use gradband::problem::Split;
use gradband_files::{PolicyRecord, Target};
use serde::Serialize;
use std::time::Instant;

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The policy.
    pub policy: PolicyRecord,
    /// What was found.
    #[serde(flatten)]
    pub exact: gradband::exact::Exact,
    /// How long it took.
    pub seconds: f64,
}

/// Works out the policy's values; also gives it back.
pub fn run(wanted: &Wanted, target: &Target, client: &dyn Client) -> Result<(Document, Asked)> {
    let policy = policies::named(target, wanted, client)?;
    let start = Instant::now();
    let mut watch = client.watch(&Work::Measuring);
    let exact = exact(&target.problem, &policy.choice, Split::HeldOut, &mut *watch)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((Document { policy: (&policy.choice).into(), exact, seconds }, policy))
}
