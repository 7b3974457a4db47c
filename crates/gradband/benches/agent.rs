//! Nanoseconds of processor time for a decision and its reward: `pull` and `update` of an agent, softelim with K arms and soft-ucb
//! with ten arms and d features.
//!
//! `cargo bench --bench agent` prints one JSON object per line.

mod clock;

use clock::best_of;
use gradband::policy::Choice;
use gradband::problem::{Covariance, Linear, Normal, Prior, Problem};
use gradband::{Agent, Playable, Pull};
use std::hint::black_box;

const ROUNDS: usize = 20_000;

fn armed(arms: usize) -> gradband::Result<Problem> {
    Problem::bernoulli(Prior::beta(arms, 1.0, 1.0)?).horizon(1_000_000).build()
}

fn linear(dim: usize, arms: usize) -> gradband::Result<Problem> {
    let normal = || Normal::new(vec![0.0; dim], Covariance::Diagonal(vec![1.0; dim]));
    Problem::linear(Linear::new(normal()?, vec![normal()?], 0.5)?, arms).horizon(1_000).build()
}

/// An agent that plays on and on: contexts and rewards look random enough.
fn report(policy: &str, problem: &Problem, dim: usize) -> gradband::Result<()> {
    let playable = Playable::new(&Choice::parse(policy, problem)?, problem)?;
    let names = (0..problem.arms()).map(|arm| arm.to_string());
    let mut agent = Agent::new(playable, names)?.seed(1);
    let context = |i: usize| (0..dim).map(|j| f64::sin(i as f64 * 7.7 + 1.3 * j as f64)).collect();
    let contexts: Vec<Vec<f64>> = (0..1000).map(context).collect();
    let mut at = 0;
    let mut failed = Ok(());
    let mut round = || -> gradband::Result<()> {
        at += 1;
        let pull = if dim == 0 { Pull::default() } else { Pull::context(contexts[at % 1000].clone()) };
        let decision = agent.pull(black_box(pull))?;
        let reward = f64::from(u8::from(at * 31 % 17 > 9));
        agent.update(&decision.id, reward).map(drop)
    };
    let rounds = if dim == 0 { ROUNDS } else { 400_000 / dim.pow(2) };
    let seconds = best_of(|| {
        for _ in 0..rounds {
            if let Err(error) = round() {
                failed = Err(error);
            }
        }
    });
    let (arms, ns) = (problem.arms(), seconds * 1e9 / rounds as f64);
    println!(
        r#"{{"bench":"agent","policy":"{policy}","arms":{arms},"dim":{dim},"pull_and_update_ns":{ns:.0}}}"#
    );
    failed
}

fn main() -> gradband::Result<()> {
    for arms in [2, 10, 100] {
        report("softelim", &armed(arms)?, 0)?;
    }
    for dim in [8, 20, 100] {
        report("soft-ucb", &linear(dim, 10)?, dim)?;
    }
    Ok(())
}
