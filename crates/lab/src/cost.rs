//! How long units take, before they are run.

use crate::problems::Problems;
use crate::transfer::Transfer;
use crate::work::{Train, Work};
use gradband::learn::Plan;
use gradband::policy::Choice;
use gradband::{Problem, Result};
use gradband_files::TrainSpec;
use std::collections::BTreeMap;

/// Roughly the nanoseconds that an update of a Q-network and a round of a recurrent policy take.
const UPDATE_COST: f64 = 4e5;
const LSTM_ROUND_COST: f64 = 1e3;

impl Work {
    /// Roughly the nanoseconds of one core that it takes.
    pub(crate) fn cost(&self, problems: &mut Problems) -> f64 {
        let run = self.problem().and_then(|source| problems.open(source).ok());
        let run = run.map_or(1e6, |problem| problem.cost());
        match self {
            Self::Train(train) => train.cost(problems).unwrap_or(1e9),
            Self::Play(play) => {
                (play.policies.len() * (play.instances + play.round_instances)) as f64 * run * 2.0
            }
            Self::Transfer(transfer) => transfer.cost(problems).unwrap_or(1e9),
            Self::Gradient(gradient) => {
                (gradient.baselines.len() * 2 * gradient.batch_size + gradient.instances) as f64 * run * 2.0
            }
            Self::Exact { .. } | Self::Gittins { .. } => 1e9,
            Self::Matrix { .. } | Self::Size { .. } => 1e8,
        }
    }
}

impl Train {
    fn cost(&self, problems: &mut Problems) -> Result<f64> {
        let problem = problems.open(&self.problem)?;
        let trained = training(&problem, &self.policy, &self.train)?;
        let measured = self.at.len() * self.instances + (2 + self.elsewhere.len()) * self.final_instances;
        Ok(trained + measured as f64 * problem.cost())
    }
}

impl Transfer {
    fn cost(&self, problems: &mut Problems) -> Result<f64> {
        let played = (self.tuned_on.len() + self.others.len()) * self.instances;
        let mut cost = played as f64 * problems.open(&self.problem)?.cost();
        for source in &self.tuned_on {
            cost += training(&problems.open(source)?, &self.policy, &self.train)?;
        }
        Ok(cost)
    }
}

fn training(problem: &Problem, policy: &str, spec: &TrainSpec) -> Result<f64> {
    let plan = spec.resolve(problem, &Choice::parse(policy, problem)?)?.plan;
    let rounds = plan.rounds(plan.iterations(), problem) as f64;
    Ok(match &plan {
        Plan::QLearning(_) => UPDATE_COST * plan.iterations() as f64,
        Plan::Recurrent(_) => LSTM_ROUND_COST * rounds,
        _ => 2.0 * rounds / problem.horizon() as f64 * problem.cost(),
    })
}

/// How long units take by what was seen of similar ones (the same problem and policy); else by their cost alone.
#[derive(Debug, Default)]
pub(crate) struct Speed {
    /// Costs and core seconds, summed over similar units.
    seen: BTreeMap<String, (f64, f64)>,
}

impl Speed {
    pub fn add(&mut self, work: &Work, cost: f64, core_seconds: f64) {
        let (costs, times) = self.seen.entry(similar(work)).or_default();
        *costs += cost;
        *times += core_seconds;
    }

    /// The core seconds that a unit of this cost will take.
    pub fn core_seconds(&self, work: &Work, cost: f64) -> f64 {
        let (costs, times) = self.seen.get(&similar(work)).unwrap_or(&(1e9, 1.0));
        cost * times / costs
    }
}

/// What units have in common that take as long in proportion to their cost.
fn similar(work: &Work) -> String {
    match work {
        Work::Train(train) => format!("{:?} {}", train.problem, train.policy),
        Work::Play(play) => format!("{:?}", play.problem),
        Work::Transfer(transfer) => format!("{} on {} problems", transfer.policy, transfer.tuned_on.len()),
        Work::Gradient(gradient) => gradient.policy.split('(').next().unwrap_or_default().into(),
        Work::Exact { .. } | Work::Matrix { .. } | Work::Size { .. } | Work::Gittins { .. } => "small".into(),
    }
}
