//! `gradband evaluate`: the Bayes regret of one policy.

use super::{fitted, measure, open};
use crate::args::{Evaluate, whole};
use crate::failure::Result;
use crate::output::{Printer, grouped};
use crate::policies;
use gradband::Estimate;
use gradband::measure::Quantiles;
use gradband_files::PolicyRecord;
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
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let policy = policies::asked_or_file(&target, &args.policy, args.policy_file.as_deref())?;
    let instances = target.instances(args.instances.map(whole))?;
    let start = Instant::now();
    let policy = &fitted(vec![policy], problem)?[0];
    let measured = measure(&[&policy.choice], problem, seed, instances, &[])?;
    let document = Document {
        policy: (&policy.choice).into(),
        bayes_regret: measured.regret(0),
        bayes_reward: measured.reward(0),
        quantiles: measured.quantiles(0),
        instances: measured.instances(),
        seconds: start.elapsed().as_secs_f64(),
    };
    printer.result(&document, || {
        let Quantiles { p05, p25, p50, p75, p95 } = document.quantiles;
        [
            format!("{} on {problem}, {} instances", policy.short_name(problem), grouped(instances)),
            format!("Bayes regret  {}", document.bayes_regret),
            format!("Bayes reward  {}", document.bayes_reward),
            format!("regret of instances: 5 % {p05:.4}, 25 % {p25:.4}, median {p50:.4}, 75 % {p75:.4}, 95 % {p95:.4}"),
        ]
        .join("\n")
    })
}
