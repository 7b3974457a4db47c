//! Explore-then-commit in each of finitely many contexts (theorem 2, algorithm 3).
//!
//! ```text
//! h' = floor(h) + coin, once for all contexts
//! in each context: its first 2 h' rounds alternate the two arms;  then the better mean, for good
//! ```
//! The coin is that of explore-then-commit: Bernoulli(h - floor(h)) when the policy is evaluated, fair with a
//! score of +2 or -2 in training.

use crate::contextual::{Plain, Player};
use crate::lanes::One;
use crate::problem::{Contexts, Instance, Problem};
use crate::registry::{High, Initial, ParamInfo, Plays, PolicyInfo, Range, Trainer};
use crate::stream::Stream;

/// Half of the rounds that the rarest context is expected to have: up to there the reward is concave in h.
const HIGH: High = High::Of("half the rounds of the rarest context", |problem| half_rarest(problem) as f64);

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "contextual-explore-then-commit",
    summary: "in each context alternates two arms h times each, then keeps the better one",
    params: &[ParamInfo::number(
        "h",
        Initial::Of("sqrt of the rounds of the rarest context, + 1/2", |problem| {
            (2.0 * half_rarest(problem) as f64).sqrt().floor() + 0.5
        }),
        Range { low: 1.0, high: HIGH },
        Range { low: 1.0, high: HIGH },
    )],
    settings: &[],
    trainer: Trainer::Score,
    plays: Plays::Contexts,
    refuses: |problem| {
        if problem.arms != 2 {
            return Some(format!("is for two arms, not {}", problem.arms));
        }
        match problem.contextual().map(|contextual| &contextual.source) {
            Some(Contexts::Discrete(_)) if half_rarest(problem) < 2 => {
                Some("needs at least 4 rounds in every context".into())
            }
            Some(Contexts::Discrete(_)) => None,
            _ => Some("is for finitely many contexts (kind = \"discrete-context\")".into()),
        }
    },
    build: |problem, choice| {
        Box::new(Plain(ContextualExploreThenCommit::new(choice.params[0], half_rarest(problem))))
    },
    exact: None,
    preparation: None,
};

fn half_rarest(problem: &Problem) -> usize {
    match problem.contextual().map(|contextual| &contextual.source) {
        Some(Contexts::Discrete(discrete)) => discrete.rarest_rounds(problem.horizon) / 2,
        _ => 0,
    }
}

/// Contextual explore-then-commit with exploration horizon h.
#[derive(Clone, Copy, Debug)]
pub struct ContextualExploreThenCommit {
    h: f64,
    /// The left end of the linear piece that training measures.
    piece: f64,
}

impl ContextualExploreThenCommit {
    /// `h` in [1, most].
    pub fn new(h: f64, most: usize) -> Self {
        Self { h, piece: h.floor().min(most as f64 - 1.0).max(1.0) }
    }
}

/// What is known of a context.
#[derive(Clone, Copy, Default)]
struct Seen {
    rounds: usize,
    sums: [f64; 2],
}

impl Player for ContextualExploreThenCommit {
    fn play(
        &self,
        problem: &Problem,
        instance: &Instance,
        training: bool,
        actions: &mut Stream<One<f64>>,
        arms: &mut [usize],
    ) -> f64 {
        let (from, chance) = if training { (self.piece, 0.5) } else { (self.h.floor(), self.h.fract()) };
        let up = actions.uniform().0 < chance;
        let explored = 2 * (from as usize + usize::from(up));
        let dim = instance.contexts.len() / problem.horizon;
        let mut seen = vec![Seen::default(); dim];
        let rounds = instance.contexts.chunks_exact(dim).zip(instance.rewards.chunks_exact(2));
        for ((x, rewards), arm) in rounds.zip(arms) {
            let context = x.iter().position(|&x| x != 0.0).unwrap_or(0);
            let seen = &mut seen[context];
            // Both arms were explored equally often: the sums compare as the means do.
            let explores = seen.rounds < explored;
            *arm = if explores { seen.rounds % 2 } else { usize::from(seen.sums[1] > seen.sums[0]) };
            if explores {
                seen.sums[*arm] += f64::from(rewards[*arm]);
            }
            seen.rounds += 1;
        }
        if up { 2.0 } else { -2.0 }
    }

    fn unscored(&self) -> Option<&'static str> {
        None
    }
}
