//! A run of the plain engine: what it has seen, and what is decided for it.
//!
//! ```text
//! pulls_i: all of them;  mean_i: of the rewards known;  sum_i = pulls_i mean_i
//! ```

use crate::numeric::lanes::One;
use crate::numeric::stream::{Random, Stream};
use crate::simulate::job::Job;
use crate::simulate::late::{Schedule, forced};

/// The world around the runs of a job.
pub(super) struct Around {
    /// Do rewards come late?
    pub late: bool,
    /// When they become known.
    pub schedule: Schedule,
    plain: bool,
    floor: f64,
    each_arm_once: bool,
    /// How likely each round is played; empty if all are.
    weights: Vec<f64>,
    /// Where an arm stands that was pulled, but of which no reward is known.
    past_mean: f64,
}

impl Around {
    pub fn new(job: &Job, each_arm_once: bool) -> Self {
        let world = job.problem.world();
        let late = !world.is_prompt();
        Self {
            late,
            schedule: Schedule::new(job.problem),
            plain: world.is_plain(),
            floor: world.floor,
            each_arm_once,
            weights: job.problem.round_weights().unwrap_or_default(),
            past_mean: if late { job.problem.past_mean() } else { 0.0 },
        }
    }

    /// How likely a round is played.
    #[inline(always)]
    pub fn weight(&self, t: usize) -> f64 {
        self.weights.get(t).copied().unwrap_or(1.0)
    }
}

/// A run.
pub(super) struct Run<S> {
    pub state: S,
    pub actions: Random,
    /// Pulls, sums and means of the arms, as [`super::Seen`] has them.
    pub statistics: Vec<f64>,
    pub score: Vec<f64>,
    pub value: f64,
    /// With contexts, whose means move: the sum of the means of the pulled arms.
    pub reward: f64,
    /// How often each arm was pulled, each time by the chance that the round is played.
    pub shares: Vec<f64>,
    /// Number and sum of each arm's rewards that are known, and arm and reward of each round: where rewards come late.
    known: Vec<(f64, f64)>,
    rounds: Vec<(usize, f64)>,
    coins: Option<Stream<One<f64>>>,
    orders: Option<Stream<One<f64>>>,
}

impl<S> Run<S> {
    /// Run `r` of instance `index` before its first round.
    pub fn new(
        around: &Around,
        job: &Job,
        index: u64,
        r: usize,
        (state, actions, score): (S, Random, Vec<f64>),
    ) -> Self {
        let arms = job.problem.arms;
        Self {
            state,
            actions,
            statistics: vec![0.0; 3 * arms],
            score,
            value: 0.0,
            reward: 0.0,
            shares: vec![0.0; arms],
            known: vec![(0.0, 0.0); if around.late { arms } else { 0 }],
            rounds: Vec::new(),
            coins: (around.floor > 0.0).then(|| Stream::new((), job.coin_key(r), index)),
            orders: (around.each_arm_once && !around.plain).then(|| Stream::new((), job.order_key(r), index)),
        }
    }

    /// The arm of a round that is not the policy's to decide: that of the floor's coin, else one that was never tried, if
    /// each is to be. Both are drawn in every round, so that neither depends on anything else.
    #[inline(always)]
    pub fn decided(&mut self, around: &Around, t: usize, arms: usize) -> Option<usize> {
        let coin = self.coins.as_mut().and_then(|coins| forced(coins.uniform().0, around.floor, arms));
        let Some(orders) = &mut self.orders else {
            return coin.or((around.each_arm_once && t < arms).then_some(t));
        };
        let order = orders.uniform().0;
        let untried = || (0..arms).filter(|&arm| self.statistics[arm] == 0.0);
        coin.or_else(|| untried().nth((order * untried().count() as f64) as usize))
    }

    /// A pull counts at once.
    #[inline(always)]
    pub fn pull(&mut self, around: &Around, arm: usize, reward: f64) {
        self.statistics[arm] += 1.0;
        if around.late {
            self.rounds.push((arm, reward));
            return self.show(around, arm);
        }
        let arms = self.shares.len();
        self.statistics[arms + arm] += reward;
        self.statistics[2 * arms + arm] = self.statistics[arms + arm] / self.statistics[arm];
    }

    /// The reward of a round is known: the arm, and the reward.
    #[inline(always)]
    pub fn learn(&mut self, around: &Around, round: usize) -> (usize, f64) {
        let (arm, reward) = self.rounds[round];
        let (count, sum) = &mut self.known[arm];
        (*count, *sum) = (*count + 1.0, *sum + reward);
        self.show(around, arm);
        (arm, reward)
    }

    #[inline(always)]
    fn show(&mut self, around: &Around, arm: usize) {
        let (arms, (count, sum)) = (self.shares.len(), self.known[arm]);
        let mean = if count > 0.0 { sum / count } else { around.past_mean };
        self.statistics[arms + arm] = self.statistics[arm] * mean;
        self.statistics[2 * arms + arm] = mean;
    }
}
