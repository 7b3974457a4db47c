//! Linear Thompson sampling in a subspace that the method of moments finds (section 7.8; Tripuraneni, Jin and
//! Jordan, 2021).
//!
//! ```text
//! the r leading eigenvectors of sum over t of Y_t² x_t x_t'       (pairs of a context and a random arm's reward)
//! ```
//! A context mean that is not zero contaminates the sum; `centred` subtracts it first.

use super::lin_thompson::LinThompson;
use super::{NOISE_SD, RIDGE, assumed_noise_sd, noise_sd, ridge};
use crate::error::{Error, Result};
use crate::numeric::stream::Key;
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::decide::Linear;
use crate::policy::definition::Definition;
use crate::policy::params::{Allowed, Setting};
use crate::problem::{Instance, Problem, Split, World};
use crate::simulate::linear::{LinearPlayer, Projection};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Player, Task};
use nalgebra::{DMatrix, SymmetricEigen};

/// Pairs of context and reward, as in the paper.
const PAIRS: usize = 100_000;
/// Its randomness: neither training's nor evaluation's.
const MOMENTS: u64 = 5;
/// Nanoseconds that the choice of one rank may take.
const PATIENCE: f64 = 2e8;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "mom-thompson",
    summary: "linear Thompson sampling in the subspace that the method of moments finds",
    settings: &[
        Setting {
            name: "rank",
            allowed: Allowed::Rank,
            summary: "dimension of the subspace; auto: the best of 1, 2, 4, ... on training instances",
        },
        Setting {
            name: "centred",
            allowed: Allowed::Flag,
            summary: "subtract the contexts' mean first (the paper does not)",
        },
        RIDGE,
        NOISE_SD,
    ],
    player: |problem, choice, observer| {
        Ok(Box::new(thompson(problem, choice, &subspace(problem, choice, observer)?)))
    },
    carries: |problem, choice, observer| Ok(subspace(problem, choice, observer)?.concat()),
    decider: |problem, choice, _| {
        let (rows, dim) = (&problem.carried, choice.dim());
        if rows.is_empty() || !rows.len().is_multiple_of(dim) {
            return Err(Error::new("problem.carried", "mom-thompson needs the rows of its subspace there"));
        }
        let projection = Projection::new(rows, rows.len() / dim, dim, ridge(choice));
        let policy = LinThompson { noise_sd: assumed_noise_sd(problem.noise_sd, choice), learn: false };
        Ok(Box::new(Linear { policy, projection }))
    },
    seconds: |problem, _| {
        let dim = problem.contextual().map_or(1, |contextual| contextual.dim()) as f64;
        1e-9 * (PAIRS as f64 * (100.0 + dim * dim) + 20.0 * dim.powi(3) + dim.log2().ceil() * PATIENCE)
    },
    ..Definition::CONTEXTS
};

/// The rows of W: the leading eigenvectors.
pub fn subspace(
    problem: &Problem,
    choice: &Choice,
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let mut eigenvectors = eigenvectors(problem, choice.flag("centred"))?;
    let rank = match choice.count("rank") {
        Some(rank) => rank,
        None => best_rank(problem, choice, &eigenvectors, observer)?,
    };
    eigenvectors.truncate(rank.max(1));
    Ok(eigenvectors)
}

fn thompson(problem: &Problem, choice: &Choice, rows: &[Vec<f64>]) -> LinearPlayer {
    let kernel = LinThompson { noise_sd: noise_sd(problem, choice), learn: false };
    LinearPlayer::new(kernel, Projection::new(&rows.concat(), rows.len(), choice.dim(), ridge(choice)))
}

/// Eigenvectors of the second moments, by falling eigenvalue.
fn eigenvectors(problem: &Problem, centred: bool) -> Result<Vec<Vec<f64>>> {
    let (dim, key) =
        (problem.contextual().map_or(0, |contextual| contextual.dim()), Key::new(0).child(MOMENTS));
    // Instances of K rounds, of which round i shows the reward of arm i: every pair has parameters of its own.
    let problem = &problem.with_world(World::plain(problem.arms))?;
    let instances = PAIRS.div_ceil(problem.arms);
    let mut instance = Instance::default();
    let mut mean = vec![0.0; dim];
    let (mut sum, mut pairs) = (DMatrix::<f64>::zeros(dim, dim), 0.0);
    for pass in [true, false] {
        if pass && !centred {
            continue;
        }
        for index in 0..instances as u64 {
            problem.draw_contexts(Split::Train, key, index, &mut instance)?;
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
    Ok(order.iter().map(|&i| eigen.eigenvectors.column(i).iter().copied().collect()).collect())
}

/// The rank with the least regret on training instances: the paper chose it by hand.
fn best_rank(
    problem: &Problem,
    choice: &Choice,
    eigenvectors: &[Vec<f64>],
    observer: &mut dyn Observer,
) -> Result<usize> {
    let dim = eigenvectors.len();
    let ranks: Vec<usize> = match dim {
        ..=12 => (1..=dim).collect(),
        _ => (0..).map(|k| 1 << k).take_while(|&rank| rank < dim).chain([dim]).collect(),
    };
    let players: Vec<_> =
        ranks.iter().map(|&rank| thompson(problem, choice, &eigenvectors[..rank])).collect();
    let players: Vec<&dyn Player> = players.iter().map(|player| player as _).collect();
    let job = Job::new(problem, Key::new(1).child(MOMENTS), Split::Train, Task::Evaluate);
    let instances = ((PATIENCE / problem.cost()) as usize).clamp(20, 1000);
    let regret = batch::means(&players, &job, instances, Quantity::Regret, observer)?;
    let best = (0..ranks.len()).min_by(|&i, &j| regret[i].total_cmp(&regret[j])).unwrap_or(0);
    Ok(ranks[best])
}
