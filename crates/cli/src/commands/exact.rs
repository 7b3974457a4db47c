//! `gradband exact`: Bayes regret, reward and gradient without sampling error.

use super::open;
use crate::args::Exact;
use crate::failure::Result;
use crate::output::{Printer, grouped};
use crate::policies;
use crate::watch::Watch;
use gradband::measure::exact;
use gradband::problem::Split;
use gradband_files::PolicyRecord;
use serde::Serialize;
use std::time::Instant;

#[derive(Serialize)]
struct Document {
    policy: PolicyRecord,
    #[serde(flatten)]
    exact: gradband::exact::Exact,
    seconds: f64,
}

pub fn run(args: &Exact, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let policy = policies::asked_or_file(&target, &args.policy, args.policy_file.as_deref())?;
    let start = Instant::now();
    let exact = exact(problem, &policy.choice, Split::HeldOut, &mut Watch::default())?;
    let document =
        Document { policy: (&policy.choice).into(), exact, seconds: start.elapsed().as_secs_f64() };
    printer.result(&document, || {
        let exact = &document.exact;
        let mut lines = vec![
            format!("{} on {problem}", policy.short_name(problem)),
            format!("Bayes regret  {:.8}", exact.bayes_regret),
            format!("Bayes reward  {:.8}", exact.bayes_reward),
        ];
        let names = policy.choice.number_names();
        let slopes = names.iter().zip(&exact.gradient);
        lines.extend(slopes.map(|(name, slope)| format!("gradient of the reward in {name}  {slope:.8}")));
        let states = grouped(usize::try_from(exact.states).unwrap_or(usize::MAX));
        lines.push(format!("no sampling error: {states} states in {:.2} s", document.seconds));
        lines.join("\n")
    })
}
