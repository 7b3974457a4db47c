//! `gradband gradient`: one estimate of the gradient of the Bayes reward.

use super::open;
use crate::args::{Gradient, PolicyFlags};
use crate::failure::Result;
use crate::output::{self, Printer};
use crate::watch::Terminal;
use gradband_files::TrainSpec;
use gradband_jobs::{gradient, grouped};

/// Rows that are shown to people.
const SHOWN: usize = 64;

pub fn run(args: &Gradient, seed: u64, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let flags = PolicyFlags { policy: Some(args.policy.clone()), params: Some(args.params.clone()) };
    let estimator = TrainSpec::from(&args.estimator);
    let request = gradient::Request { policy: flags.or_file(None), estimator, seed };
    let (document, policy, baseline) = gradient::run(&request, &target, &Terminal)?;
    printer.result(&document, || {
        let names = policy.choice.number_names();
        let shown = names.len().min(SHOWN);
        let rows =
            names.iter().zip(document.estimates()).zip(&document.variance_per_instance).take(shown).map(
                |((name, estimate), variance)| {
                    vec![name.clone(), estimate.to_string(), format!("{variance:.4}")]
                },
            );
        let table =
            output::table(&["parameter", "gradient of the Bayes reward", "variance per instance"], 1, rows);
        let cost = format!(
            "{} instances x {} run(s)",
            grouped(document.instances),
            document.policy_runs_per_instance
        );
        let baseline = baseline.name();
        let rest = match names.len() - shown {
            0 => String::new(),
            more => format!("\nand {} more: --json has them all", grouped(more)),
        };
        format!("{} on {problem}, baseline {baseline}, {cost}\n{table}{rest}", policy.short_name(problem))
    })
}
