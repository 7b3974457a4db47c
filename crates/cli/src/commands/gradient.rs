//! `gradband gradient`: one estimate of the gradient of the Bayes reward.

use super::open;
use crate::args::{Gradient, PolicyFlags};
use crate::failure::Result;
use crate::output::{self, Printer, grouped};
use crate::policies::{self, Unnamed};
use crate::watch::Watch;
use gradband::learn::{Plan, Recipe};
use gradband::measure::{Estimator, Gradient as Estimated, gradient_key};
use gradband::policy::Choice;
use gradband::{Error, ErrorKind};
use gradband_files::{PolicyRecord, Target, TrainSpec};
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
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let flags = PolicyFlags { policy: Some(args.policy.clone()), params: Some(args.params.clone()) };
    let policy = policies::asked(&target, &flags, Unnamed::Refused)?;
    let mut watch = Watch::default();
    let player = policy.choice.scored_player(problem, &mut watch)?;
    let estimator = estimator(&target, &TrainSpec::from(&args.estimator), &policy.choice)?;
    let Estimated { estimate, variance_per_instance, instances, .. } =
        estimator.estimate(&*player, problem, gradient_key(seed), &mut watch)?;
    drop(watch);
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
            |((name, estimate), variance)| vec![name.clone(), estimate.to_string(), format!("{variance:.4}")],
        );
        let table =
            output::table(&["parameter", "gradient of the Bayes reward", "variance per instance"], 1, rows);
        let cost = format!("{} instances x {} run(s)", grouped(instances), estimator.baseline.runs());
        let baseline = estimator.baseline.name();
        let rest = match names.len() - shown {
            0 => String::new(),
            more => format!("\nand {} more: --json has them all", grouped(more)),
        };
        format!("{} on {problem}, baseline {baseline}, {cost}\n{table}{rest}", policy.short_name(problem))
    })
}

/// How a training with these flags would estimate its gradients.
fn estimator(target: &Target, said: &TrainSpec, choice: &Choice) -> Result<Estimator> {
    match target.training(said, choice)?.plan {
        Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) => Ok(ascent.estimator),
        Plan::Recurrent(recipe) => {
            let Recipe { baseline, returns, instances: batch_size, .. } = recipe;
            Ok(Estimator { baseline, returns, batch_size })
        }
        Plan::QLearning(_) => {
            let (policy, reason) =
                (choice.name().into(), "learns by Q-learning: there is no gradient".into());
            Err(Error::of("policy", ErrorKind::Unscored { policy, reason }).into())
        }
    }
}
