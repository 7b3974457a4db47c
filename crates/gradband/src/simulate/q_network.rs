//! A deep Q-network as a bandit policy (section 7.3): a comparator that is trained by Q-learning, not by its score.
//!
//! The state of a run is six statistics of each arm: ones, zeros, the logarithm of both counts plus one, the mean
//! reward (0.5 before the first pull) and a bias of 1. Counts are divided by the horizon n and logarithms by
//! ln(1 + n), so that all lie in [0, 1]. A reward between 0 and 1 counts in part as a one and in part as a zero.

mod network;
#[cfg(test)]
mod tests;

pub(crate) use network::{Errors, Network, Trace, WIDTH, WeightSums};

use super::instances::{self, Tally, armed};
use super::job::{Job, Outcome, Output, Player};
use crate::error::Result;
use crate::numeric::lanes::{One, Real};
use crate::numeric::simd::vectorized;
use crate::numeric::stream::{Key, Stream};
use crate::problem::RewardModel;
use network::States;
use std::ops::Range;

/// Statistics of an arm.
const STATISTICS: usize = 6;

/// Sizes of the network: all arms' statistics, two hidden layers of rectified units, a value for each arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dqn {
    /// K.
    pub arms: usize,
    /// Units of each hidden layer.
    pub hidden: usize,
    /// Does the network also see the fraction of rounds that remain? The paper's does not: the counts imply it.
    pub time: bool,
}

/// A matrix among the weights, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its name.
    pub name: &'static str,
    /// Outputs of its layer.
    pub rows: usize,
    /// Inputs of its layer; 1 for biases.
    pub columns: usize,
    /// Where it is among the weights.
    pub range: Range<usize>,
}

impl Dqn {
    /// A network with the paper's state.
    pub fn new(arms: usize, hidden: usize) -> Self {
        Self { arms, hidden, time: false }
    }

    /// Numbers that the network sees.
    pub fn inputs(&self) -> usize {
        STATISTICS * self.arms + usize::from(self.time)
    }

    /// (outputs, inputs) of each layer.
    fn layers(&self) -> [(usize, usize); 3] {
        [(self.hidden, self.inputs()), (self.hidden, self.hidden), (self.arms, self.hidden)]
    }

    /// What the weights are, in their order: a matrix and a bias for each layer.
    pub fn layout(&self) -> [Piece; 6] {
        let [first, second, last] = self.layers();
        let mut end = 0;
        let mut piece = |name, rows, columns| {
            let start = end;
            end += rows * columns;
            Piece { name, rows, columns, range: start..end }
        };
        [
            piece("W1", first.0, first.1),
            piece("b1", first.0, 1),
            piece("W2", second.0, second.1),
            piece("b2", second.0, 1),
            piece("W3", last.0, last.1),
            piece("b3", last.0, 1),
        ]
    }

    /// Number of weights.
    pub fn len(&self) -> usize {
        self.layers().iter().map(|(rows, columns)| rows * (columns + 1)).sum()
    }

    /// Writes what the network sees of one run into a lane of its inputs.
    #[inline(always)]
    pub(crate) fn observe(
        &self,
        counts: &[[f32; 2]],
        round: usize,
        horizon: usize,
        lane: usize,
        inputs: &mut [States],
    ) {
        let scale = 1.0 / horizon as f32;
        let log_scale = 1.0 / One(1.0 + horizon as f32).ln().0;
        for (&[ones, zeros], inputs) in counts.iter().zip(inputs.chunks_exact_mut(STATISTICS)) {
            let pulls = ones + zeros;
            inputs[0][lane] = ones * scale;
            inputs[1][lane] = zeros * scale;
            inputs[2][lane] = One(1.0 + ones).ln().0 * log_scale;
            inputs[3][lane] = One(1.0 + zeros).ln().0 * log_scale;
            inputs[4][lane] = if pulls > 0.0 { ones / pulls } else { 0.5 };
            inputs[5][lane] = 1.0;
        }
        if self.time {
            inputs[STATISTICS * self.arms][lane] = (horizon - round) as f32 * scale;
        }
    }
}

/// The arm of the largest value in a lane; the lowest index if several are.
#[inline(always)]
pub(crate) fn greedy(values: &[States], lane: usize) -> usize {
    let mut best = 0;
    for (arm, value) in values.iter().enumerate() {
        best = if value[lane] > values[best][lane] { arm } else { best };
    }
    best
}

/// Adds a reward to an arm's ones and zeros.
#[inline(always)]
pub(crate) fn count(counts: &mut [f32; 2], reward: f32) {
    counts[0] += reward;
    counts[1] += 1.0 - reward;
}

/// Plays instances `first..first + WIDTH`, a lane each, as if for `horizon` rounds: the greedy arm, or with probability
/// `epsilon` any. `tape` hears of every lane's arm and reward, round by round. `curves` gets the regret at the job's
/// marks, lane by lane.
#[inline(always)]
pub(crate) fn play(
    network: &Network,
    job: &Job,
    horizon: usize,
    first: u64,
    epsilon: f32,
    curves: &mut [f64],
    mut tape: impl FnMut(usize, f32),
) -> Result<[Outcome; WIDTH]> {
    let mut outcomes = [Outcome::default(); WIDTH];
    let (armed, arms) = (armed(job)?, job.problem.arms);
    let streams = |key: Key| -> [Stream<One<f32>>; WIDTH] {
        std::array::from_fn(|lane| Stream::new((), key, first + lane as u64))
    };
    let (mut words, mut actions) = (streams(job.reward_key()), streams(job.action_key(0)));
    let mut means = vec![0.0; arms * WIDTH];
    instances::draw(job, armed, first, &mut outcomes, &mut means)?;
    let mut pulls = vec![0.0; arms * WIDTH];
    let mut counts = vec![[0.0; 2]; arms * WIDTH];
    let mut trace = Trace::new(&network.dqn);
    let tally = |pulls: &[f64], lane: usize| {
        let mut tally = Tally::new(&means[lane * arms..(lane + 1) * arms]);
        tally.add(pulls[lane * arms..(lane + 1) * arms].iter().copied());
        tally
    };
    let mut mark = 0;
    for round in 0..job.problem.horizon {
        for (lane, counts) in counts.chunks_exact(arms).enumerate() {
            network.dqn.observe(counts, round, horizon, lane, trace.inputs());
        }
        let values = network.forward(&mut trace);
        for lane in 0..WIDTH {
            let explores = epsilon > 0.0 && actions[lane].uniform().0 < epsilon;
            let arm = match explores {
                true => ((actions[lane].uniform().0 * arms as f32) as usize).min(arms - 1),
                false => greedy(values, lane),
            };
            let place = lane * arms + arm;
            let (word, mean) = (words[lane].next_word(), means[place] as f32);
            let reward = (&armed.rewards).draw(word, One(arm as f32), One(mean)).0;
            count(&mut counts[place], reward);
            pulls[place] += 1.0;
            tape(arm, reward);
        }
        if job.marks.get(mark) == Some(&(round + 1)) {
            for (lane, curve) in curves.chunks_exact_mut(job.marks.len()).enumerate() {
                curve[mark] = tally(&pulls, lane).regret(1);
            }
            mark += 1;
        }
    }
    for (lane, outcome) in outcomes.iter_mut().enumerate() {
        tally(&pulls, lane).settle(1, outcome);
    }
    Ok(outcomes)
}

/// A network that plays the arm of the largest value; the lowest index if several are.
#[derive(Clone, Debug)]
pub(crate) struct QPlayer {
    /// Its sizes.
    pub dqn: Dqn,
    /// Its weights, as [`Dqn::layout`] says.
    pub params: Vec<f64>,
    /// n.
    pub horizon: usize,
}

impl Player for QPlayer {
    fn dim(&self) -> usize {
        self.dqn.len()
    }

    /// Plays with rewards in single precision, as all policies do up to a horizon of 65,536 rounds.
    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let network = Network::new(&self.dqn, &self.params);
        let marks = job.marks.len();
        for (i, chunk) in out.outcomes.chunks_mut(WIDTH).enumerate() {
            let at = i * WIDTH;
            let curves = &mut out.curves[at * marks..(at + chunk.len()) * marks];
            let outcomes = vectorized(
                #[inline(always)]
                || play(&network, job, self.horizon, first + at as u64, 0.0, curves, |_, _| {}),
            )?;
            chunk.copy_from_slice(&outcomes[..chunk.len()]);
        }
        Ok(())
    }

    fn unscored(&self) -> Option<&'static str> {
        Some("is trained by Q-learning, not by its score")
    }
}
