//! `gradband evaluate`: the Bayes regret of one policy.

use super::open;
use crate::args::{Evaluate, whole};
use crate::failure::Result;
use crate::output::Printer;
use crate::watch::Terminal;
use gradband::measure::Quantiles;
use gradband_jobs::{evaluate, grouped};

pub fn run(args: &Evaluate, seed: u64, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let request = evaluate::Request {
        policy: args.policy.or_file(args.policy_file.as_deref()),
        instances: args.instances.map(whole),
        seed,
    };
    let (document, policy, _) = evaluate::run(&request, &target, &Terminal)?;
    printer.result(&document, || {
        let Quantiles { p05, p25, p50, p75, p95 } = document.quantiles;
        [
            format!("{} on {problem}, {} instances", policy.short_name(problem), grouped(document.instances)),
            format!("Bayes regret  {}", document.bayes_regret),
            format!("Bayes reward  {}", document.bayes_reward),
            format!("regret of instances: 5 % {p05:.4}, 25 % {p25:.4}, median {p50:.4}, 75 % {p75:.4}, 95 % {p95:.4}"),
        ]
        .join("\n")
    })
}
