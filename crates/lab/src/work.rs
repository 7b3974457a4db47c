//! What a unit of an experiment computes: plain data that goes into the records as its setting.

use gradband::exact;
use gradband::exact::gittins::Table;
use gradband::gradient::{Estimator, key};
use gradband::policy::mom_thompson;
use gradband::problem::{Contexts, Covariance, Split};
use gradband::registry::{Agent, Choice};
use gradband::spec::{ProblemSpec, TrainSpec};
use gradband::statistics::Estimate;
use gradband::train::{Observer, Record, StopReason};
use gradband::{Error, Problem, Result};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::Instant;

/// A problem: a built-in one, or a spec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// By its name.
    Named(String),
    /// As in a spec file.
    Spec(Box<ProblemSpec>),
}

impl From<&str> for Source {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

/// A unit's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// Trains a policy; measures iterates on the way and the policy at the end.
    Train(Box<Train>),
    /// Plays policies on common instances.
    Play(Play),
    /// Estimates the gradient at a policy's parameters with several baselines.
    Gradient(Gradient),
    /// A regret without sampling error.
    Exact {
        /// On which problem.
        problem: Source,
        /// Which policy.
        policy: String,
    },
    /// A matrix to look at.
    Matrix {
        /// Of which problem.
        problem: Source,
        /// `covariance` of the parameters, or the projection of a policy `mom-thompson(…)`.
        of: String,
    },
    /// The size of a data set.
    Size {
        /// Its name.
        problem: Source,
    },
    /// A table of Gittins indices, for the time it takes.
    Gittins {
        /// n.
        horizon: usize,
    },
}

impl From<Train> for Work {
    fn from(train: Train) -> Self {
        Self::Train(Box::new(train))
    }
}

/// See [`Work::Train`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Train {
    /// On which problem.
    pub problem: Source,
    /// Where training starts.
    pub policy: String,
    /// How it is trained.
    pub train: TrainSpec,
    /// The iterations after which regret is measured; 0 is before the first.
    pub at: Vec<usize>,
    /// Instances of each of these measurements.
    pub instances: usize,
    /// Instances on which the initial policy and the one handed out are measured.
    pub final_instances: usize,
    /// After how many rounds the regret of the policy that is handed out is measured, in the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
    /// Other problems on which the policy that is handed out is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Source>,
}

/// See [`Work::Play`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Play {
    /// On which problem.
    pub problem: Source,
    /// Which policies.
    pub policies: Vec<String>,
    /// How many instances.
    pub instances: usize,
    /// After how many rounds regret is measured on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
    /// Instances of these measurements.
    #[serde(default)]
    pub round_instances: usize,
}

/// See [`Work::Gradient`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// On which problem.
    pub problem: Source,
    /// Which policy, with its parameter.
    pub policy: String,
    /// Which baselines.
    pub baselines: Vec<String>,
    /// m.
    pub batch_size: usize,
    /// Instances on which its regret is measured.
    pub instances: usize,
}

/// What a unit found: the `estimate` of its record. Numbers are rounded to six digits, matrices to four.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// By [`Work::Train`].
    Trained(Trained),
    /// By [`Work::Play`]: in the order of the policies.
    Played(Vec<Played>),
    /// By [`Work::Gradient`].
    Gradients {
        /// Of the policy.
        regret: Estimate,
        /// For each baseline.
        gradients: Vec<Slope>,
    },
    /// By [`Work::Exact`].
    Exact {
        /// Bayes regret.
        regret: f64,
        /// Gradient of the Bayes reward.
        gradient: Vec<f64>,
    },
    /// By [`Work::Matrix`].
    Matrix(Vec<Vec<f64>>),
    /// By [`Work::Size`].
    Size {
        /// K.
        arms: usize,
        /// d.
        features: usize,
        /// Rows of the table.
        examples: usize,
    },
    /// By [`Work::Gittins`]: of how many entries; the time is the record's.
    Entries(usize),
}

/// What training left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// (iteration, Bayes regret, its standard error).
    pub curve: Vec<(usize, f64, f64)>,
    /// Regret before training.
    pub initial: Estimate,
    /// Regret of what is handed out.
    pub tuned: Estimate,
    /// (rounds, regret, standard error) of what is handed out, in the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<(usize, f64, f64)>,
    /// Regret on the other problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Estimate>,
    /// The parameters that are handed out, if there are few, or a projection and this is the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// Seconds of training alone.
    pub seconds: f64,
}

/// What a policy did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Bayes regret.
    pub regret: Estimate,
    /// Its regret less that of the policy before it, on the same instances.
    pub step: Estimate,
    /// (rounds, regret, standard error).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<(usize, f64, f64)>,
}

/// A gradient in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// Its mean over m instances.
    pub mean: f64,
    /// Its standard error.
    pub std_error: f64,
    /// Standard deviation of one instance's estimate.
    pub deviation: f64,
}

/// Where a unit gets problems from, and how it is stopped.
pub struct Desk<'a> {
    /// Opens a built-in problem or a data set.
    pub open: &'a (dyn Fn(&str) -> Result<Problem> + Sync),
    /// Hears of the part of the unit that is done; may stop it.
    pub tick: &'a (dyn Fn(f64) -> ControlFlow<()> + Sync),
}

/// About how many nanoseconds an update of a Q-network and a round of a recurrent policy take.
const UPDATE_COST: f64 = 4e5;
const LSTM_ROUND_COST: f64 = 1e3;
/// Numbers of which a record keeps all: the matrices are for pictures.
const FEW: usize = 4;

impl Source {
    /// The problem.
    pub fn open(&self, desk: &Desk) -> Result<Problem> {
        match self {
            Self::Named(name) => (desk.open)(name),
            Self::Spec(spec) => spec.build("spec", None).map(|(problem, _)| problem),
        }
    }
}

impl Work {
    /// On which problem, if it has one.
    pub fn problem(&self) -> Option<&Source> {
        match self {
            Self::Train(train) => Some(&train.problem),
            Self::Play(play) => Some(&play.problem),
            Self::Gradient(gradient) => Some(&gradient.problem),
            Self::Exact { problem, .. } | Self::Matrix { problem, .. } | Self::Size { problem } => {
                Some(problem)
            }
            Self::Gittins { .. } => None,
        }
    }

    /// Does it; nothing if it was stopped.
    pub fn run(&self, seed: u64, desk: &Desk) -> Result<Option<Found>> {
        match self {
            Self::Train(train) => train.run(seed, desk),
            Self::Play(play) => play.run(seed, desk),
            Self::Gradient(gradient) => gradient.run(seed, desk),
            Self::Exact { problem, policy } => {
                let problem = problem.open(desk)?;
                let choice = Choice::parse(policy, &problem)?;
                let mut tick = |done: u64, all: u64| (desk.tick)(done as f64 / (all as f64).max(1.0));
                let exact = exact::evaluate(&problem, &choice, Split::HeldOut, &mut tick)?;
                Ok(exact.map(|exact| Found::Exact { regret: exact.bayes_regret, gradient: exact.gradient }))
            }
            Self::Matrix { problem, of } => matrix(&problem.open(desk)?, of).map(|m| Some(Found::Matrix(m))),
            Self::Size { problem } => {
                let problem = problem.open(desk)?;
                let examples = match problem.contextual().map(|contextual| &contextual.source) {
                    Some(Contexts::Classification(set)) => set.examples.len(),
                    _ => 0,
                };
                let features = problem.contextual().map_or(0, |contextual| contextual.dim());
                Ok(Some(Found::Size { arms: problem.arms, features, examples }))
            }
            Self::Gittins { horizon } => {
                let table = Table::new(*horizon, &mut |_, _| (desk.tick)(0.0));
                Ok(table.map(|table| Found::Entries(table.values().len())))
            }
        }
    }

    /// About how many nanoseconds of one core it takes.
    pub fn cost(&self, desk: &Desk) -> f64 {
        let run = |source: &Source| source.open(desk).map_or(1e6, |problem| problem.cost());
        match self {
            Self::Train(train) => train.cost(desk).unwrap_or(1e9),
            Self::Play(play) => {
                let parts: usize = play.rounds.len() / 2 * play.round_instances + play.instances;
                (play.policies.len() * parts) as f64 * run(&play.problem) * 2.0
            }
            Self::Gradient(gradient) => {
                let runs = gradient.baselines.len() * 2 * gradient.batch_size + gradient.instances;
                runs as f64 * run(&gradient.problem) * 2.0
            }
            Self::Exact { .. } | Self::Gittins { .. } => 1e9,
            Self::Matrix { .. } | Self::Size { .. } => 1e8,
        }
    }
}

/// Rounded, so that records are small; the last bits of a mean over thousands of instances mean nothing.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

fn short(estimate: Estimate) -> Estimate {
    Estimate { mean: rounded(estimate.mean, 6), std_error: rounded(estimate.std_error, 3) }
}

/// Keeps the iterates that are to be measured.
struct Keeper<'a> {
    at: &'a [usize],
    iterations: usize,
    kept: Vec<(usize, Vec<f64>)>,
    desk: &'a Desk<'a>,
    part: f64,
}

impl Observer for Keeper<'_> {
    fn iteration(&mut self, record: &Record, params: &[f64]) {
        self.part = record.iteration as f64 / self.iterations as f64;
        if self.at.contains(&record.iteration) && !params.is_empty() {
            self.kept.push((record.iteration, params.to_vec()));
        }
    }

    fn stop(&mut self) -> Option<StopReason> {
        (self.desk.tick)(self.part).is_break().then_some(StopReason::Interrupted)
    }
}

impl Train {
    fn run(&self, seed: u64, desk: &Desk) -> Result<Option<Found>> {
        let problem = self.problem.open(desk)?;
        let initial = Choice::parse(&self.policy, &problem)?;
        let training = self.train.resolve_for(&problem, initial.info)?;
        let iterations = training.settings.iterations;
        let mut keeper = Keeper { at: &self.at, iterations, kept: Vec::new(), desk, part: 0.0 };
        if self.at.contains(&0) {
            keeper.kept.push((0, initial.params.clone()));
        }
        let start = Instant::now();
        let trained = gradband::train::run(&problem, &initial, &training, seed, &mut keeper)?;
        let seconds = rounded(start.elapsed().as_secs_f64(), 3);
        if trained.stop_reason == StopReason::Interrupted {
            return Ok(None);
        }
        let at = |(_, params): &(usize, Vec<f64>)| initial.with_params(&problem, params);
        let iterates = keeper.kept.iter().map(at).collect::<Result<Vec<_>>>()?;
        let Some(curve) = regrets(&iterates, &problem, seed, self.instances, desk) else { return Ok(None) };
        let ends = [initial, trained.policy.clone()];
        let Some(ends) = regrets(&ends, &problem, seed, self.final_instances, desk) else { return Ok(None) };
        let mut elsewhere = Vec::new();
        for source in &self.elsewhere {
            let other = source.open(desk)?;
            let policy = trained.policy.with_params(&other, &trained.policy.params)?;
            let Some(found) = regrets(&[policy], &other, seed, self.final_instances, desk) else {
                return Ok(None);
            };
            elsewhere.push(found[0]);
        }
        let agent = trained.policy.agent(&problem);
        let rounds: &[usize] = if seed == 1 { &self.rounds } else { &[] };
        let Some(over_rounds) = over_rounds(&[&*agent], &problem, seed, self.instances, rounds, desk) else {
            return Ok(None);
        };
        let params = &trained.policy.params;
        let is_projection = trained.policy.slots().iter().any(|slot| slot.info.name == "W");
        let kept = params.len() <= FEW || is_projection && seed == 1;
        let points = keeper.kept.iter().zip(&curve);
        Ok(Some(Found::Trained(Trained {
            curve: points.map(|((i, _), regret)| (*i, regret.mean, regret.std_error)).collect(),
            initial: ends[0],
            tuned: ends[1],
            rounds: over_rounds.into_iter().flatten().collect(),
            elsewhere,
            params: params.iter().filter(|_| kept).map(|&x| rounded(x, 4)).collect(),
            seconds,
        })))
    }

    fn cost(&self, desk: &Desk) -> Result<f64> {
        let problem = self.problem.open(desk)?;
        let info = Choice::parse(&self.policy, &problem)?.info;
        let training = self.train.resolve_for(&problem, info)?;
        let measured = self.at.len() * self.instances + (2 + self.elsewhere.len()) * self.final_instances;
        let iterations = training.settings.iterations;
        let runs = training.rounds(iterations, &problem) as f64 / problem.horizon as f64;
        let trained = match (&training.recipe, &training.q_learning) {
            (_, Some(_)) => UPDATE_COST * iterations as f64,
            (Some(_), _) => LSTM_ROUND_COST * runs * problem.horizon as f64,
            _ => 2.0 * runs * problem.cost(),
        };
        Ok(trained + measured as f64 * problem.cost())
    }
}

/// Bayes regret of policies on the evaluation instances of a seed.
fn regrets(
    policies: &[Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    desk: &Desk,
) -> Option<Vec<Estimate>> {
    let agents: Vec<_> = policies.iter().map(|choice| choice.agent(problem)).collect();
    let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
    if agents.is_empty() {
        return Some(Vec::new());
    }
    let evaluation = gradband::evaluate::evaluate(&agents, problem, seed, instances, |_| (desk.tick)(1.0))?;
    Some((0..agents.len()).map(|i| short(evaluation.regret(i))).collect())
}

/// (rounds, regret, standard error) of each agent.
fn over_rounds(
    agents: &[&dyn Agent],
    problem: &Problem,
    seed: u64,
    instances: usize,
    rounds: &[usize],
    desk: &Desk,
) -> Option<Vec<Vec<(usize, f64, f64)>>> {
    let curves =
        gradband::evaluate::over_rounds(agents, problem, seed, instances, rounds, |_| (desk.tick)(1.0))?;
    let points = |curve: Vec<Estimate>| {
        let curve = rounds.iter().zip(curve.into_iter().map(short));
        curve.map(|(&t, regret)| (t, regret.mean, regret.std_error)).collect()
    };
    Some(curves.into_iter().map(points).collect())
}

impl Play {
    fn run(&self, seed: u64, desk: &Desk) -> Result<Option<Found>> {
        let problem = self.problem.open(desk)?;
        let choices =
            self.policies.iter().map(|text| Choice::parse(text, &problem)).collect::<Result<Vec<_>>>()?;
        for choice in &choices {
            if choice.prepare(&problem, &mut |_, _| (desk.tick)(0.0)).is_none() {
                return Ok(None);
            }
        }
        let agents: Vec<_> = choices.iter().map(|choice| choice.agent(&problem)).collect();
        let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
        let all = self.instances as f64;
        let measured = gradband::evaluate::evaluate(&agents, &problem, seed, self.instances, |done| {
            (desk.tick)(0.5 * done as f64 / all)
        });
        let curves = over_rounds(&agents, &problem, seed, self.round_instances, &self.rounds, desk);
        let (Some(measured), Some(curves)) = (measured, curves) else { return Ok(None) };
        let played = curves.into_iter().enumerate().map(|(i, curve)| Played {
            regret: short(measured.regret(i)),
            step: short(measured.difference(i, i.saturating_sub(1))),
            curve,
        });
        Ok(Some(Found::Played(played.collect())))
    }
}

impl Gradient {
    fn run(&self, seed: u64, desk: &Desk) -> Result<Option<Found>> {
        let problem = self.problem.open(desk)?;
        let choice = Choice::parse(&self.policy, &problem)?;
        let agent = choice.scored_agent(&problem)?;
        let mut gradients = Vec::new();
        for name in &self.baselines {
            let spec = TrainSpec {
                baseline: Some(name.clone()),
                returns: Some("realized".into()),
                batch_size: Some(self.batch_size),
                ..TrainSpec::default()
            };
            let estimator: Estimator = spec.resolve(&problem)?.settings.estimator;
            let Some(found) = estimator.estimate(&*agent, &problem, key(seed), |_| (desk.tick)(0.0)) else {
                return Ok(None);
            };
            let Estimate { mean, std_error } = short(found.estimate[0]);
            let deviation = rounded(found.variance_per_instance[0].sqrt(), 4);
            gradients.push(Slope { mean, std_error, deviation });
        }
        let regret = regrets(&[choice], &problem, seed, self.instances, desk);
        Ok(regret.map(|regret| Found::Gradients { regret: regret[0], gradients }))
    }
}

fn matrix(problem: &Problem, of: &str) -> Result<Vec<Vec<f64>>> {
    let rows: Vec<Vec<f64>> = match problem.contextual().map(|contextual| &contextual.source) {
        Some(Contexts::Linear(linear)) if of == "covariance" => {
            let dim = linear.context.dim();
            let entry = |i: usize, j: usize| match linear.theta[0].covariance() {
                Covariance::Diagonal(variances) => {
                    if i == j {
                        variances[i]
                    } else {
                        0.0
                    }
                }
                Covariance::Full(entries) => entries[i * dim + j],
            };
            (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect()
        }
        Some(_) => mom_thompson::projection(problem, &Choice::parse(of, problem)?),
        None => return Err(Error::new(of, "needs a problem with contexts")),
    };
    Ok(rows.into_iter().map(|row| row.into_iter().map(|x| rounded(x, 4)).collect()).collect())
}
