//! `gradband exact`: Bayes regret, reward and gradient without sampling error.

use super::open;
use crate::args::Exact;
use crate::failure::Result;
use crate::output::Printer;
use crate::watch::Terminal;
use gradband_jobs::{exact, grouped};

pub fn run(args: &Exact, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let wanted = args.policy.or_file(args.policy_file.as_deref());
    let (document, policy) = exact::run(&wanted, &target, &Terminal)?;
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
