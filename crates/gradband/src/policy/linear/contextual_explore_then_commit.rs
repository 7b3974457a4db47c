//! Explore-then-commit in each of finitely many contexts (theorem 2, algorithm 3).
//!
//! ```text
//! h' = floor(h) + coin, once for all contexts
//! in each context: its first 2 h' rounds alternate the two arms;  then the better mean, for good
//! ```
//! Where rewards come late the better mean is that of the rewards known when the context commits; an arm of which none is
//! known stands at the mean of past arms. Rounds that the world's floor takes count like others.
//!
//! The coin is that of explore-then-commit: Bernoulli(h - floor(h)) when the policy is evaluated, fair with a
//! score of +2 or -2 in training.

use crate::error::Result;
use crate::exact::index::Arm;
use crate::numeric::stream::Random;
use crate::policy::decide::{Decide, Now, View, certain};
use crate::policy::definition::Definition;
use crate::policy::params::{End, Initial, Param, Range};
use crate::problem::{Discrete, Problem};
use crate::simulate::plain::{Plain, PlainKernel, Round};

/// Half of the rounds that the rarest context is expected to have: up to there the reward is concave in h.
const HIGH: End = End::Of("half the rounds of the rarest context", |problem| half_rarest(problem) as f64);

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "contextual-explore-then-commit",
    summary: "in each context alternates two arms h times each, then keeps the better one",
    params: &[Param::number(
        "h",
        Initial::Of("sqrt of the rounds of the rarest context, + 1/2", |problem| {
            (2.0 * half_rarest(problem) as f64).sqrt().floor() + 0.5
        }),
        Range { low: End::Fixed(1.0), high: HIGH },
        Range { low: End::Fixed(1.0), high: HIGH },
    )
    .scale()],
    refuses: |problem| {
        if problem.arms != 2 {
            return Some(format!("is for two arms, not {}", problem.arms));
        }
        match discrete(problem) {
            Some(_) if half_rarest(problem) < 2 => Some("needs at least 4 rounds in every context".into()),
            Some(_) => None,
            None => Some("is for finitely many contexts (kind = \"discrete-context\")".into()),
        }
    },
    player: |problem, choice, _| {
        let contexts = discrete(problem).map_or(0, Discrete::contexts);
        let past_mean = discrete(problem).map_or(0.0, Discrete::mean);
        let h = choice.scalar("h")?;
        Ok(Box::new(Plain(ContextualExploreThenCommit::new(h, half_rarest(problem), contexts, past_mean))))
    },
    decider: |_, choice, _| {
        Ok(Box::new(ContextualExploreThenCommit::new(choice.scalar("h")?, usize::MAX, choice.dim(), 0.0)))
    },
    ..Definition::CONTEXTS
};

fn discrete(problem: &Problem) -> Option<&Discrete> {
    problem.contextual().and_then(|contextual| contextual.discrete())
}

fn half_rarest(problem: &Problem) -> usize {
    discrete(problem).map_or(0, |discrete| discrete.rarest_rounds(problem.horizon) / 2)
}

/// Contextual explore-then-commit with exploration horizon h.
#[derive(Clone, Copy, Debug)]
pub struct ContextualExploreThenCommit {
    h: f64,
    /// The left end of the linear piece that training measures.
    piece: f64,
    contexts: usize,
    past_mean: f64,
}

impl ContextualExploreThenCommit {
    /// `h` in [1, most].
    pub fn new(h: f64, most: usize, contexts: usize, past_mean: f64) -> Self {
        Self { h, piece: h.floor().min(most as f64 - 1.0).max(1.0), contexts, past_mean }
    }
}

/// What is known of a context: number and sum of the rewards of each arm, until it commits to one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    rounds: usize,
    counts: [f64; 2],
    sums: [f64; 2],
    committed: Option<usize>,
}

impl Known {
    /// The arm with the better mean.
    fn better(&self, past_mean: f64) -> usize {
        let [first, second] = self.counts;
        // Explored equally often, as they are unless rewards come late, arms compare by their sums.
        if first == second {
            return usize::from(self.sums[1] > self.sums[0]);
        }
        let mean = |arm: usize| match self.counts[arm] {
            0.0 => past_mean,
            count => self.sums[arm] / count,
        };
        usize::from(mean(1) > mean(0))
    }
}

/// Rounds to explore in each context, and what is known of each.
pub(crate) struct State {
    explored: usize,
    known: Vec<Known>,
}

/// The context of a one-hot vector.
fn context(round: &Round) -> usize {
    round.context.iter().position(|&x| x != 0.0).unwrap_or(0)
}

/// Remembers the rounds to explore in each context, then the arm that each is committed to; below zero there is none.
impl Decide for ContextualExploreThenCommit {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let committed = now.memory.get(1 + now.context).copied().filter(|&arm| arm >= 0.0);
        let arm = match now.memory.first() {
            Some(&explored) if (now.round as f64) < explored => now.round % 2,
            _ => committed.map_or_else(|| better(now.arms), |arm| arm as usize),
        };
        certain(arm, weights);
        Ok(())
    }
    fn view(&self) -> View<'_> {
        View::EachContext
    }
    fn arms(&self) -> Option<usize> {
        Some(2)
    }
    fn is_certain(&self) -> bool {
        true
    }
    fn start(&self, coin: f64) -> Vec<f64> {
        let h = self.h.floor() + f64::from(u8::from(coin < self.h.fract()));
        [vec![2.0 * h], vec![-1.0; self.contexts]].concat()
    }
    fn pulled(&self, now: &Now, memory: &mut Vec<f64>) {
        let explored = memory.first().is_some_and(|&explored| now.round as f64 >= explored);
        if let Some(committed) = memory.get_mut(1 + now.context).filter(|arm| explored && **arm < 0.0) {
            *committed = better(now.arms) as f64;
        }
    }
}

/// The arm with the better mean.
fn better(arms: &[Arm]) -> usize {
    usize::from(arms[1].mean > arms[0].mean)
}

impl PlainKernel for ContextualExploreThenCommit {
    type State = State;

    fn dim(&self) -> usize {
        1
    }

    fn start(&self, training: bool, actions: &mut Random, score: &mut [f64]) -> State {
        let (from, chance) = if training { (self.piece, 0.5) } else { (self.h.floor(), self.h.fract()) };
        let up = actions.uniform() < chance;
        score[0] = if up { 2.0 } else { -2.0 };
        State {
            explored: 2 * (from as usize + usize::from(up)),
            known: vec![Known::default(); self.contexts],
        }
    }

    fn act(&self, state: &mut State, round: &Round, _: &mut Random, _: Option<&mut [f64]>) -> usize {
        let known = &mut state.known[context(round)];
        if known.rounds < state.explored {
            return known.rounds % 2;
        }
        *known.committed.get_or_insert(known.better(self.past_mean))
    }

    fn pulled(&self, state: &mut State, round: &Round, _: usize) {
        state.known[context(round)].rounds += 1;
    }

    fn update(&self, state: &mut State, round: &Round, arm: usize, reward: f64) {
        let known = &mut state.known[context(round)];
        if known.committed.is_none() {
            known.counts[arm] += 1.0;
            known.sums[arm] += reward;
        }
    }
}
