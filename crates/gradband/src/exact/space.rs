//! The count space: how many states there are, what they cost, and where each one lies in memory.
//!
//! A state of a K-armed Bernoulli bandit is `(successes_i, pulls_i)` for every arm. States with the same
//! number of rounds form a *layer*; states of a layer with the same pulls form a *block*: a dense array with
//! one axis per arm, `0..=pulls_i`, the last axis contiguous. Blocks follow each other in lexicographic order
//! of the pulls.

use crate::error::{Error, ErrorKind, Result};
use std::ops::Range;

/// Number of states in which a policy decides: all counts with fewer than `horizon` pulls (saturates at
/// `u128::MAX`).
pub fn states(arms: usize, horizon: usize) -> u128 {
    if horizon == 0 { 0 } else { binomial(horizon + 2 * arms - 1, 2 * arms) }
}

/// Number of states after exactly `round` pulls.
pub fn layer_states(arms: usize, round: usize) -> u128 {
    binomial(round + 2 * arms - 1, 2 * arms - 1)
}

/// Bytes that [`forward`](super::forward::forward) allocates for a policy with `dim` parameters: two layers
/// of 1 + dim numbers per state.
pub fn evaluation_bytes(arms: usize, horizon: usize, dim: usize) -> u128 {
    two_layers(arms, horizon, 8 * (1 + dim as u128))
}

/// Bytes that the backward programme of [`bayes_optimal`](super::bayes_optimal) allocates: two layers of
/// values, and the action of every state, packed.
pub fn bayes_optimal_bytes(arms: usize, horizon: usize) -> u128 {
    let starts = binomial(horizon + arms - 1, arms).saturating_mul(8);
    two_layers(arms, horizon, 8).saturating_add(action_bytes(arms, horizon)).saturating_add(starts)
}

/// Bytes of the packed actions; every block may waste part of one.
pub(super) fn action_bytes(arms: usize, horizon: usize) -> u128 {
    let packed = states(arms, horizon).saturating_mul(u128::from(action_bits(arms))) / 8;
    packed.saturating_add(binomial(horizon + arms - 1, arms))
}

/// Bits in which an action is stored: a divisor of 8, so that none straddles two bytes.
pub(super) fn action_bits(arms: usize) -> u32 {
    match arms {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        _ => 8,
    }
}

fn two_layers(arms: usize, horizon: usize, per_state: u128) -> u128 {
    let layers = layer_states(arms, horizon).saturating_add(layer_states(arms, horizon.saturating_sub(1)));
    let offsets = binomial(horizon + arms, arms - 1).saturating_mul(16);
    layers.saturating_mul(per_state).saturating_add(offsets)
}

/// What a dynamic programme would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// States visited.
    pub states: u128,
    /// Bytes of memory.
    pub bytes: u128,
    /// Elementary steps: about 3 ns each.
    pub steps: u128,
}

/// What a dynamic programme may take: 2 GB, and a few minutes.
pub const LIMIT: Cost = Cost { states: u128::MAX, bytes: 2_000_000_000, steps: 30_000_000_000 };

impl Cost {
    /// Does it stay within another?
    pub fn within(&self, limit: &Self) -> bool {
        self.states <= limit.states && self.bytes <= limit.bytes && self.steps <= limit.steps
    }

    /// Of [`forward()`](super::forward()) for a policy with `dim` parameters and a prior with `components`.
    pub fn evaluation(arms: usize, horizon: usize, dim: usize, components: usize) -> Self {
        let states = states(arms, horizon);
        let last = layer_states(arms, horizon).saturating_mul(components as u128);
        let steps = states.saturating_mul((arms * (1 + dim)) as u128).saturating_add(last);
        Self { states, bytes: evaluation_bytes(arms, horizon, dim), steps }
    }

    /// Of [`BayesOptimal`](super::BayesOptimal) over counts.
    pub fn bayes_optimal(arms: usize, horizon: usize, components: usize) -> Self {
        let cost = Self::evaluation(arms, horizon, 0, components);
        Self { bytes: bayes_optimal_bytes(arms, horizon), ..cost }
    }
}

/// The largest horizon for which `fits(horizon)`, which is false from some horizon on.
pub fn largest_horizon(fits: impl Fn(usize) -> bool) -> usize {
    // Beyond any horizon; a word has 32 bits on some machines.
    let most = 1_usize.checked_shl(40).unwrap_or(1 << 30);
    let mut high = 1;
    while fits(high) && high < most {
        high *= 2;
    }
    let mut low = 0;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Refuses a problem whose `cost(horizon)` exceeds `limit`, with the numbers a user needs.
pub fn check(arms: usize, horizon: usize, limit: &Cost, cost: impl Fn(usize) -> Cost) -> Result<()> {
    let Cost { states, bytes, steps } = cost(horizon);
    if cost(horizon).within(limit) {
        return Ok(());
    }
    let largest = largest_horizon(|horizon| cost(horizon).within(limit));
    let message = format!(
        "{arms} arms over {horizon} rounds have {} states, which take {} of memory and {}; allowed are {} and {}: \
         the largest horizon that fits is {largest}",
        count(states),
        memory(bytes),
        time(steps),
        memory(limit.bytes),
        time(limit.steps),
    );
    Err(Error::of("problem", ErrorKind::TooLarge(message)))
}

/// Digits as far as they can be read.
fn count(states: u128) -> String {
    match states {
        u128::MAX => "more than 1e38".into(),
        1_000_000_000_000_000.. => format!("{:.1e}", states as f64),
        _ => states.to_string(),
    }
}

fn memory(bytes: u128) -> String {
    match bytes as f64 / 1e9 {
        _ if bytes == u128::MAX => "more than 1e29 GB".into(),
        gigabytes if gigabytes < 1e6 => format!("{gigabytes:.1} GB"),
        gigabytes => format!("{gigabytes:.1e} GB"),
    }
}

/// Three nanoseconds a step.
fn time(steps: u128) -> String {
    match steps as f64 * 3e-9 {
        _ if steps == u128::MAX => "more than 1e22 years".into(),
        seconds if seconds < 3_600.0 => format!("{seconds:.0} s"),
        seconds if seconds < 1e9 => format!("{:.0} hours", seconds / 3_600.0),
        seconds => format!("{:.1e} years", seconds / 3.15e7),
    }
}

/// C(n, k), saturating.
fn binomial(n: usize, k: usize) -> u128 {
    let k = k.min(n - k.min(n)) as u128;
    let mut value = 1u128;
    for j in 1..=k {
        // value * (n - k + j) is divisible by j: it is j C(n - k + j, j).
        match value.checked_mul(n as u128 - k + j) {
            Some(product) => value = product / j,
            None => return u128::MAX,
        }
    }
    value
}

/// Where the blocks of one layer lie.
#[derive(Clone, Debug)]
pub struct Layer {
    arms: usize,
    round: usize,
    /// Start of every block, and the end of the last.
    starts: Vec<usize>,
}

impl Layer {
    /// The layer of all counts with `round` pulls.
    pub fn new(arms: usize, round: usize) -> Self {
        assert!(arms > 0, "a bandit has at least one arm");
        let mut starts = vec![0];
        let mut pulls = Self::first(arms, round);
        let mut end = 0;
        loop {
            end += block_len(&pulls);
            starts.push(end);
            if !advance(&mut pulls) {
                return Self { arms, round, starts };
            }
        }
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The states of a block.
    pub fn block(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Calls `visit(block, pulls)` for every block, in order.
    pub fn for_each_block(&self, mut visit: impl FnMut(usize, &[u32])) {
        let mut pulls = Self::first(self.arms, self.round);
        for block in 0..self.starts.len() - 1 {
            visit(block, &pulls);
            advance(&mut pulls);
        }
    }

    fn first(arms: usize, round: usize) -> Vec<u32> {
        let mut pulls = vec![0; arms];
        pulls[arms - 1] = round as u32;
        pulls
    }
}

/// The next pulls with the same sum in lexicographic order; false after the last.
fn advance(pulls: &mut [u32]) -> bool {
    let last = pulls.len() - 1;
    let Some(donor) = (1..=last).rev().find(|&arm| pulls[arm] > 0) else { return false };
    let rest = pulls[donor] - 1;
    pulls[donor] = 0;
    pulls[donor - 1] += 1;
    pulls[last] = rest;
    true
}

/// Which block of its layer has these pulls: their lexicographic rank.
pub fn rank(pulls: &[u32]) -> usize {
    let mut left: usize = pulls.iter().map(|&count| count as usize).sum();
    let mut rank = 0;
    for (arm, &count) in pulls.iter().enumerate().take(pulls.len() - 1) {
        // Blocks that agree so far and have fewer pulls of this arm; `after` arms share what is left.
        let after = pulls.len() - 1 - arm;
        rank += choose(left + after, after) - choose(left - count as usize + after, after);
        left -= count as usize;
    }
    rank
}

/// C(n, k) for numbers of blocks, which fit in memory.
fn choose(n: usize, k: usize) -> usize {
    (1..=k).fold(1, |value, j| value * (n - k + j) / j)
}

/// Number of states in the block with these pulls.
pub fn block_len(pulls: &[u32]) -> usize {
    pulls.iter().map(|&count| count as usize + 1).product()
}

/// Calls `visit(state, successes)` for every state of a block, in order.
pub fn for_each_outcome(pulls: &[u32], mut visit: impl FnMut(usize, &[u32])) {
    let mut successes = vec![0; pulls.len()];
    for state in 0..block_len(pulls) {
        visit(state, &successes);
        for arm in (0..pulls.len()).rev() {
            if successes[arm] < pulls[arm] {
                successes[arm] += 1;
                break;
            }
            successes[arm] = 0;
        }
    }
}

/// Position of a state inside its block.
pub fn outcome_rank(pulls: &[u32], successes: &[u32]) -> usize {
    pulls.iter().zip(successes).fold(0, |rank, (&count, &s)| rank * (count as usize + 1) + s as usize)
}

/// A block seen along one arm's axis: `outer` repetitions of `len` slices of `inner` contiguous states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub outer: usize,
    pub len: usize,
    pub inner: usize,
}

impl Axis {
    pub fn new(pulls: &[u32], arm: usize) -> Self {
        Self {
            outer: block_len(&pulls[..arm]),
            len: pulls[arm] as usize + 1,
            inner: block_len(&pulls[arm + 1..]),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_ranked_in_order_and_cover_the_layer() {
        for (arms, round) in [(1, 4), (2, 0), (2, 7), (3, 6), (5, 4)] {
            let layer = Layer::new(arms, round);
            assert_eq!(layer.states() as u128, layer_states(arms, round));
            let mut seen = 0;
            layer.for_each_block(|block, pulls| {
                assert_eq!(rank(pulls), block);
                assert_eq!(layer.block(block).start, seen);
                seen += block_len(pulls);
                for_each_outcome(pulls, |state, successes| assert_eq!(outcome_rank(pulls, successes), state));
            });
            assert_eq!(seen, layer.states());
        }
    }

    #[test]
    fn sizes_are_as_published() {
        assert_eq!(states(2, 200), 68_685_050);
        assert_eq!(states(3, 0), 0);
        assert_eq!(states(24, 100_000), u128::MAX);
        let fits = |horizon| evaluation_bytes(2, horizon, 1) <= 1 << 30;
        let largest = largest_horizon(fits);
        assert!(fits(largest) && !fits(largest + 1));
        let error = check(3, 200, &LIMIT, |horizon| Cost::evaluation(3, horizon, 1, 1)).unwrap_err();
        assert!(error.to_string().contains("3 arms over 200 rounds have 95746959700 states"), "{error}");
        let error = check(10, 1000, &LIMIT, |horizon| Cost::bayes_optimal(10, horizon, 1)).unwrap_err();
        assert!(error.to_string().contains("largest horizon that fits is"), "{error}");
    }
}
