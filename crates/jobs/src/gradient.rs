//! `gradband gradient`: one estimate of the gradient of the Bayes reward.

use crate::policies::{self, Asked, Unnamed, Wanted};
use crate::{Client, Work};
use gradband::learn::{Baseline, Plan, Recipe};
use gradband::measure::{Estimator, Gradient, gradient_key};
use gradband::policy::Choice;
use gradband::{Error, ErrorKind, Estimate, Result};
use gradband_files::{PolicyRecord, Target, TrainSpec};
use serde::Serialize;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The policy at its parameters.
    pub policy: Wanted,
    /// How the gradient is estimated.
    pub estimator: TrainSpec,
    /// The seed.
    pub seed: u64,
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The policy.
    pub policy: PolicyRecord,
    /// The gradient.
    pub mean: Vec<f64>,
    /// Its standard errors.
    pub std_error: Vec<f64>,
    /// The variance of what an instance says of it.
    pub variance_per_instance: Vec<f64>,
    /// Runs of each instance.
    pub policy_runs_per_instance: usize,
    /// Simulated instances.
    pub instances: usize,
}

impl Document {
    /// Each number with its standard error.
    pub fn estimates(&self) -> impl Iterator<Item = Estimate> {
        let pairs = self.mean.iter().zip(&self.std_error);
        pairs.map(|(&mean, &std_error)| Estimate { mean, std_error })
    }
}

/// Estimates the gradient; also gives back the policy and what returns are compared with.
pub fn run(request: &Request, target: &Target, client: &dyn Client) -> Result<(Document, Asked, Baseline)> {
    let problem = &target.problem;
    let policy = policies::asked(target, &request.policy, Unnamed::Refused, client)?;
    let mut watch = client.watch(&Work::Measuring);
    let player = policy.choice.scored_player(problem, &mut *watch)?;
    let estimator = estimator(target, &request.estimator, &policy.choice)?;
    let Gradient { estimate, variance_per_instance, instances, .. } =
        estimator.estimate(&*player, problem, gradient_key(request.seed), &mut *watch)?;
    let document = Document {
        policy: (&policy.choice).into(),
        mean: estimate.iter().map(|estimate| estimate.mean).collect(),
        std_error: estimate.iter().map(|estimate| estimate.std_error).collect(),
        variance_per_instance,
        policy_runs_per_instance: estimator.baseline.runs(),
        instances,
    };
    Ok((document, policy, estimator.baseline))
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
            Err(Error::of("policy", ErrorKind::Unscored { policy, reason }))
        }
    }
}
