//! `gradband gradient`: one estimate of the gradient of the Bayes reward.

use super::{title, watch};
use crate::args::{Gradient, PolicyFlags};
use crate::failure::{Failure, Result};
use crate::output::{self, Printer, grouped, with_error};
use crate::policies::as_flag;
use crate::progress::Progress;
use crate::target::Target;
use gradband::gradient::Gradient as Estimated;
use gradband::spec::{PolicyRecord, TrainSpec};
use serde::Serialize;

/// Rows that are shown to people.
const SHOWN: usize = 64;

#[derive(Serialize)]
struct Document {
    policy: PolicyRecord,
    mean: Vec<f64>,
    std_error: Vec<f64>,
    variance_per_instance: Vec<f64>,
    policy_runs_per_instance: usize,
    instances: usize,
}

pub fn run(args: &Gradient, seed: u64, printer: Printer) -> Result<()> {
    let target = Target::load(&args.problem)?;
    let problem = &target.problem;
    let flags = PolicyFlags { policy: Some(args.policy.clone()), params: Some(args.params.clone()) };
    let policy = target.policy(&flags, None)?;
    let agent = policy.choice.scored_agent(problem).map_err(as_flag)?;
    let estimator =
        target.training(&TrainSpec::from(&args.estimator), policy.choice.info)?.settings.estimator;
    let mut progress = Progress::new("estimating", "instances", estimator.batch_size);
    let Estimated { estimate, variance_per_instance, instances } = estimator
        .estimate(&*agent, problem, gradband::gradient::key(seed), |done| watch(&mut progress, done))
        .ok_or_else(|| Failure::Interrupted("interrupted".into()))?;
    drop(progress);
    let document = Document {
        policy: (&policy.choice).into(),
        mean: estimate.iter().map(|estimate| estimate.mean).collect(),
        std_error: estimate.iter().map(|estimate| estimate.std_error).collect(),
        variance_per_instance,
        policy_runs_per_instance: estimator.baseline.runs(),
        instances,
    };
    printer.result(&document, || {
        let names = policy.choice.number_names();
        let shown = names.len().min(SHOWN);
        let rows = names.iter().zip(&estimate).zip(&document.variance_per_instance).take(shown).map(
            |((name, &estimate), variance)| {
                vec![name.clone(), with_error(estimate), format!("{variance:.4}")]
            },
        );
        let table =
            output::table(&["parameter", "gradient of the Bayes reward", "variance per instance"], 1, rows);
        let cost = format!("{} instances x {} run(s)", grouped(instances), estimator.baseline.runs());
        let baseline = estimator.baseline.name();
        let rest = match names.len() - shown {
            0 => String::new(),
            more => format!("\nand {} more: --json has them all", grouped(more)),
        };
        format!("{} on {}, baseline {baseline}, {cost}\n{table}{rest}", policy.short, title(problem))
    })
}
