//! Linear Thompson sampling in a subspace that the method of moments finds (section 7.8; Tripuraneni, Jin and
//! Jordan, 2021).
//!
//! ```text
//! the r leading eigenvectors of sum over t of Y_t² x_t x_t'       (pairs of a context and a random arm's reward)
//! ```
//! A context mean that is not zero contaminates the sum; `centred` subtracts it first.

use super::LinThompson;
use crate::batch;
use crate::linear::Projection;
use crate::linear_agent::{AnyLinear, LinearAgent, NOISE_SD, RIDGE, noise_sd, ridge};
use crate::problem::{Instance, Problem, Split};
use crate::registry::{Allowed, Choice, Plays, PolicyInfo, Preparation, SettingInfo, Trainer};
use crate::simulate::{Job, Task};
use crate::stream::Key;
use nalgebra::{DMatrix, SymmetricEigen};
use std::ops::ControlFlow;

/// Pairs of context and reward, as in the paper.
const PAIRS: usize = 100_000;
/// Its randomness: neither training's nor evaluation's.
const MOMENTS: u64 = 5;
/// Nanoseconds that the choice of one rank may take.
const PATIENCE: f64 = 2e8;

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "mom-thompson",
    summary: "linear Thompson sampling in the subspace that the method of moments finds",
    params: &[],
    settings: &[
        SettingInfo {
            name: "rank",
            allowed: Allowed::Rank,
            summary: "dimension of the subspace; auto: the best of 1, 2, 4, ... on training instances",
        },
        SettingInfo {
            name: "centred",
            allowed: Allowed::OneOf(&["false", "true"]),
            summary: "subtract the contexts' mean first (the paper does not)",
        },
        RIDGE,
        NOISE_SD,
    ],
    trainer: Trainer::Score,
    plays: Plays::Contexts,
    refuses: |_| None,
    build: |problem, choice| Box::new(agent(problem, choice, &projection(problem, choice))),
    exact: None,
    preparation: Some(Preparation {
        seconds: |problem| {
            let dim = problem.contextual().map_or(1, |contextual| contextual.dim()) as f64;
            1e-9 * (PAIRS as f64 * (100.0 + dim * dim) + 20.0 * dim.powi(3) + dim.log2().ceil() * PATIENCE)
        },
        run: |_, _| Some(()), // it is part of building the policy: nothing is remembered
    }),
};

/// The rows of W: the leading eigenvectors.
pub fn projection(problem: &Problem, choice: &Choice) -> Vec<Vec<f64>> {
    let mut eigenvectors = subspace(problem, choice.setting("centred") == "true");
    let rank = choice.setting("rank").parse().unwrap_or_else(|_| best_rank(problem, choice, &eigenvectors));
    eigenvectors.truncate(rank.max(1));
    eigenvectors
}

fn agent(problem: &Problem, choice: &Choice, rows: &[Vec<f64>]) -> LinearAgent {
    let policy = AnyLinear::LinThompson(LinThompson { noise_sd: noise_sd(problem, choice), learn: false });
    let projection = Projection::new(&rows.concat(), rows.len(), rows[0].len(), ridge(choice));
    LinearAgent { policy, projection }
}

/// Eigenvectors of the second moments, by falling eigenvalue.
fn subspace(problem: &Problem, centred: bool) -> Vec<Vec<f64>> {
    let Some(contextual) = problem.contextual() else { return Vec::new() };
    let (dim, key) = (contextual.dim(), Key::new(0).child(MOMENTS));
    // Instances of K rounds, of which round i shows the reward of arm i: every pair has parameters of its own.
    let problem = &Problem { horizon: problem.arms, ..problem.clone() };
    let instances = PAIRS.div_ceil(problem.arms);
    let mut instance = Instance::default();
    let mut mean = vec![0.0; dim];
    let (mut sum, mut pairs) = (DMatrix::<f64>::zeros(dim, dim), 0.0);
    for pass in [true, false] {
        if pass && !centred {
            continue;
        }
        for index in 0..instances as u64 {
            contextual.sample(problem, Split::Train, key, index, &mut instance);
            let rounds = instance.contexts.chunks_exact(dim).zip(instance.rewards.chunks_exact(problem.arms));
            for (t, (x, rewards)) in rounds.enumerate() {
                if pass {
                    pairs += 1.0;
                    mean.iter_mut().zip(x).for_each(|(mean, &x)| *mean += (f64::from(x) - *mean) / pairs);
                    continue;
                }
                let reward = f64::from(rewards[t]);
                let x: Vec<f64> = x.iter().zip(&mean).map(|(&x, mean)| f64::from(x) - mean).collect();
                for (j, &b) in x.iter().enumerate() {
                    let weight = reward * reward * b;
                    for (entry, &a) in sum.column_mut(j).iter_mut().zip(&x) {
                        *entry += weight * a;
                    }
                }
            }
        }
    }
    let eigen = SymmetricEigen::new(sum);
    let mut order: Vec<usize> = (0..dim).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    order.iter().map(|&i| eigen.eigenvectors.column(i).iter().copied().collect()).collect()
}

/// The rank with the least regret on training instances: the paper chose it by hand.
fn best_rank(problem: &Problem, choice: &Choice, eigenvectors: &[Vec<f64>]) -> usize {
    let dim = eigenvectors.len();
    let ranks: Vec<usize> = match dim {
        ..=12 => (1..=dim).collect(),
        _ => (0..).map(|k| 1 << k).take_while(|&rank| rank < dim).chain([dim]).collect(),
    };
    let agents: Vec<_> = ranks.iter().map(|&rank| agent(problem, choice, &eigenvectors[..rank])).collect();
    let agents: Vec<&dyn crate::registry::Agent> = agents.iter().map(|agent| agent as _).collect();
    let job = Job::new(problem, Key::new(1).child(MOMENTS), Split::Train, Task::Evaluate);
    let instances = ((PATIENCE / problem.cost()) as usize).clamp(20, 1000);
    let mut regret = vec![0.0; ranks.len()];
    let each = |row: &[crate::simulate::Outcome]| {
        regret.iter_mut().zip(row).for_each(|(sum, outcome)| *sum += outcome.regret);
    };
    let _ = batch::play(&agents, &job, instances, each, |_| ControlFlow::Continue(()));
    let best = (0..ranks.len()).min_by(|&i, &j| regret[i].total_cmp(&regret[j])).unwrap_or(0);
    ranks[best]
}
