//! `gradband exact`: Bayes regret, reward and gradient without sampling error.

use super::{interrupted, named_as_typed, title, work};
use crate::args::Exact;
use crate::failure::Result;
use crate::output::{Printer, grouped};
use crate::policies::{self, Named};
use crate::target::Target;
use gradband::exact;
use gradband::problem::Split;
use gradband::spec::PolicyRecord;
use serde::Serialize;
use std::time::Instant;

#[derive(Serialize)]
struct Document {
    policy: PolicyRecord,
    #[serde(flatten)]
    exact: exact::Exact,
    seconds: f64,
}

pub fn run(args: &Exact, printer: Printer) -> Result<()> {
    let target = Target::load(&args.problem)?;
    let problem = &target.problem;
    let policy = match &args.policy_file {
        Some(path) => Named::in_full(policies::from_file(path, problem)?),
        None => target.policy(&args.policy, None)?,
    };
    exact::check(problem, &policy.choice, Split::HeldOut).map_err(named_as_typed)?;
    let start = Instant::now();
    let preparing = format!("preparing {}", policy.choice.info.name);
    policy.choice.prepare(problem, &mut work(&preparing)).ok_or_else(interrupted)?;
    let exact = exact::evaluate(problem, &policy.choice, Split::HeldOut, &mut work("computing"))
        .map_err(named_as_typed)?
        .ok_or_else(interrupted)?;
    let document =
        Document { policy: (&policy.choice).into(), exact, seconds: start.elapsed().as_secs_f64() };
    printer.result(&document, || {
        let exact = &document.exact;
        let mut lines = vec![
            format!("{} on {}", policy.short, title(problem)),
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
