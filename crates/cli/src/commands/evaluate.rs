//! `gradband evaluate`: the Bayes regret of one policy.

use super::{measure, title};
use crate::args::{Evaluate, whole};
use crate::failure::Result;
use crate::output::{Printer, grouped, with_error};
use crate::policies::{self, Named};
use crate::target::Target;
use gradband::spec::PolicyRecord;
use gradband::statistics::{Estimate, Quantiles};
use serde::Serialize;
use std::time::Instant;

#[derive(Serialize)]
struct Document {
    policy: PolicyRecord,
    bayes_regret: Estimate,
    bayes_reward: Estimate,
    quantiles: Quantiles,
    instances: usize,
    seconds: f64,
}

pub fn run(args: &Evaluate, seed: u64, printer: Printer) -> Result<()> {
    let target = Target::load(&args.problem)?;
    let problem = &target.problem;
    let policy = match &args.policy_file {
        Some(path) => Named::in_full(policies::from_file(path, problem)?),
        None => target.policy(&args.policy, None)?,
    };
    let instances = target.instances(args.instances.map(whole))?;
    let start = Instant::now();
    let evaluation = measure([&policy.choice], problem, seed, instances)?;
    let document = Document {
        policy: (&policy.choice).into(),
        bayes_regret: evaluation.regret(0),
        bayes_reward: evaluation.reward(0),
        quantiles: evaluation.quantiles(0),
        instances: evaluation.instances,
        seconds: start.elapsed().as_secs_f64(),
    };
    printer.result(&document, || {
        let Quantiles { p05, p25, p50, p75, p95 } = document.quantiles;
        [
            format!("{} on {}, {} instances", policy.short, title(problem), grouped(instances)),
            format!("Bayes regret  {}", with_error(document.bayes_regret)),
            format!("Bayes reward  {}", with_error(document.bayes_reward)),
            format!("regret of instances: 5 % {p05:.4}, 25 % {p25:.4}, median {p50:.4}, 75 % {p75:.4}, 95 % {p95:.4}"),
        ]
        .join("\n")
    })
}
