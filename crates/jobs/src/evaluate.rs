//! `gradband evaluate`: the Bayes regret of one policy.

use crate::policies::{self, Asked, Wanted};
use crate::{Client, fitted, measure};
use gradband::measure::Quantiles;
use gradband::{Estimate, Result};
use gradband_files::{PolicyRecord, Target};
use serde::Serialize;
use std::time::Instant;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The policy, unless the problem's spec has it.
    pub policy: Wanted,
    /// Simulated instances.
    pub instances: Option<usize>,
    /// The seed.
    pub seed: u64,
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The policy.
    pub policy: PolicyRecord,
    /// Its Bayes regret.
    pub bayes_regret: Estimate,
    /// Its Bayes reward.
    pub bayes_reward: Estimate,
    /// Of the regret of instances.
    pub quantiles: Quantiles,
    /// Simulated instances.
    pub instances: usize,
    /// How long it took.
    pub seconds: f64,
}

/// Measures the policy; also gives it back, and the number of independent observations.
pub fn run(request: &Request, target: &Target, client: &dyn Client) -> Result<(Document, Asked, usize)> {
    let problem = &target.problem;
    let policy = policies::named(target, &request.policy, client)?;
    let instances = target.instances(request.instances)?;
    let start = Instant::now();
    let policy = fitted(vec![policy], problem, client)?.remove(0);
    let measured = measure(&[&policy.choice], problem, request.seed, instances, &[], client)?;
    let document = Document {
        policy: (&policy.choice).into(),
        bayes_regret: measured.regret(0),
        bayes_reward: measured.reward(0),
        quantiles: measured.quantiles(0),
        instances: measured.instances(),
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok((document, policy, measured.observations()))
}
