//! The one rollout loop: plays a policy on instances, a lane each, and streams what an estimator needs.
//!
//! ```text
//! for each round, for each run of an instance:
//!     arm    = the policy's choice, which adds the score of its choice to the run's score
//!     reward = Y(instance, round, arm)
//!     gradient += (return - reference) * score so far            (design: baselines are reward streams)
//! ```
//! The sum over rounds t of score_t (sum over s >= t of r_s - r'_s) is, with the sums swapped, the sum over s of
//! (r_s - r'_s) (sum over t <= s of score_t): nothing of the trajectory is stored.

use crate::baseline::{Baseline, Returns};
use crate::lanes::{Best, One, Real, add, pick, put};
use crate::policy::{History, Policy, Uses};
use crate::problem::{Armed, Prior, Problem, Rewards, Split};
use crate::stream::{Key, Stream, reward};
use fearless_simd::{Level, Simd, f32x16};

/// What one simulated instance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sum of the means of the pulled arms, averaged over the instance's runs.
    pub reward: f64,
    /// The same sum for the best arm, minus `reward`.
    pub regret: f64,
    /// The instance's estimate of the gradient of the reward, if the policy has one parameter.
    pub gradient: f64,
    /// The past instance behind it, for a table.
    pub cluster: u32,
}

/// What is simulated, apart from the policy.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// On which problem.
    pub problem: &'a Problem,
    /// With which randomness.
    pub key: Key,
    /// On which part of it.
    pub split: Split,
    /// For which estimate.
    pub task: Task,
    /// In which lanes.
    pub lanes: Lanes,
    /// Instances that a thread takes at a time.
    pub block: usize,
}

impl<'a> Job<'a> {
    /// A job in the widest lanes.
    pub fn new(problem: &'a Problem, key: Key, split: Split, task: Task) -> Self {
        let block = if problem.contextual().is_some() { 4 } else { 32 };
        Self { problem, key, split, task, lanes: Lanes::Auto, block }
    }
}

/// What the runs are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Regret and reward: one run per instance.
    Evaluate,
    /// The gradient, by a baseline.
    Gradient(Baseline, Returns),
}

impl Task {
    /// How often an instance is played.
    pub fn runs(self) -> usize {
        match self {
            Self::Evaluate => 1,
            Self::Gradient(baseline, _) => baseline.runs(),
        }
    }
}

/// Which lanes to use. The bits of a run do not depend on the width, only on the precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The widest the machine has, in single precision up to a horizon of 65,536 rounds.
    Auto,
    /// One lane of single precision: the oracle.
    Single,
    /// One lane of double precision.
    Double,
}

/// Above this horizon sums of rewards lose digits in single precision.
const SINGLE_PRECISION_HORIZON: usize = 1 << 16;

/// Purposes of an instance's streams; the actions of run r have `ACTIONS + r`.
pub(crate) const PRIOR: u64 = 0;
pub(crate) const REWARDS: u64 = 1;
pub(crate) const ACTIONS: u64 = 2;

/// Plays `policy` on instances `first..first + out.len()`.
///
/// The problem has no contexts: the registry gives this policy no other.
pub fn rollout<P: Policy>(policy: &P, job: &Job, first: u64, out: &mut [Outcome]) {
    let Some(armed) = job.problem.armed() else { return };
    let lanes = match job.lanes {
        Lanes::Auto if job.problem.horizon > SINGLE_PRECISION_HORIZON => Lanes::Double,
        lanes => lanes,
    };
    let Some(simd) = Level::new().as_avx2() else {
        return match lanes {
            Lanes::Auto | Lanes::Single => with_model::<One<f32>, P>((), policy, armed, job, first, out),
            Lanes::Double => with_model::<One<f64>, P>((), policy, armed, job, first, out),
        };
    };
    // A single lane gains from the instruction set too: it has a fused multiply-add.
    simd.vectorize(
        #[inline(always)]
        || match lanes {
            Lanes::Auto => with_model::<f32x16<_>, P>(simd, policy, armed, job, first, out),
            Lanes::Single => with_model::<One<f32>, P>((), policy, armed, job, first, out),
            Lanes::Double => with_model::<One<f64>, P>((), policy, armed, job, first, out),
        },
    );
}

/// In wide lanes Bernoulli problems, and two-armed ones above all, get kernels of their own: with the number of
/// arms known the state of a run lives in registers. The bits are those of the general kernel.
#[inline(always)]
fn with_model<R: Real, P: Policy>(
    token: R::Token,
    policy: &P,
    armed: &Armed,
    job: &Job,
    first: u64,
    out: &mut [Outcome],
) {
    match armed.rewards {
        Rewards::Bernoulli if R::WIDTH > 1 && job.problem.arms == 2 => {
            Kernel::<R, P, Bernoulli, 2>::run(token, policy, Bernoulli, &armed.prior, job, first, out);
        }
        Rewards::Bernoulli if R::WIDTH > 1 => {
            Kernel::<R, P, Bernoulli, 0>::run(token, policy, Bernoulli, &armed.prior, job, first, out);
        }
        rewards => Kernel::<R, P, Rewards, 0>::run(token, policy, rewards, &armed.prior, job, first, out),
    }
}

/// Draws rewards in lanes.
pub(crate) trait Model: Copy {
    /// Are all rewards 0 or 1?
    fn binary(self) -> bool;
    /// The reward of (instance, round, arm).
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R;
}

#[derive(Clone, Copy)]
struct Bernoulli;

impl Model for Bernoulli {
    #[inline(always)]
    fn binary(self) -> bool {
        true
    }
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        R::select(reward::uniform(word, arm).lt(mean), mean.one(), mean.zero())
    }
}

impl Model for Rewards {
    #[inline(always)]
    fn binary(self) -> bool {
        self == Self::Bernoulli
    }
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        match self {
            Self::Bernoulli => Bernoulli.draw(word, arm, mean),
            Self::Beta { concentration } => {
                // A mean of 0 or 1 is certain; the floor keeps the parameters positive.
                let v = mean.lit(concentration);
                let floor = mean.lit(1e-6);
                reward::beta(word, arm, (v * mean).max(floor), (v * (mean.one() - mean)).max(floor))
            }
            Self::Gaussian { noise_sd } => reward::normal(word, arm).fma(mean.lit(noise_sd), mean),
        }
    }
}

/// The reward of (instance, round, arm), for engines that pick an arm at a time.
#[inline(always)]
pub(crate) fn draw<R: Real>(rewards: Rewards, word: R::Word, arm: R, mean: R) -> R {
    rewards.draw(word, arm, mean)
}

/// One run in each lane.
struct Run<R: Real> {
    actions: Stream<R>,
    /// Sum of the scores so far.
    score: R,
    /// Sum over rounds of (return - reference) * score.
    gradient: R,
    /// This round's return.
    value: R,
    /// Is this run differentiated, or only a reference?
    scored: bool,
}

/// One instance in each lane.
struct Instances<'a, R: Real> {
    /// A word for each round, from which the rewards of its arms are made.
    words: Stream<R>,
    means: &'a [R],
    best: Best<R>,
    /// What returns are measured from.
    offset: R,
}

/// A job on one vector of lanes after the other. `K` is the number of arms if known, else 0.
struct Kernel<'a, R: Real, P, M, const K: usize> {
    token: R::Token,
    policy: P,
    model: M,
    prior: &'a Prior,
    job: &'a Job<'a>,
    returns: Returns,
    runs: usize,
    /// Numbers of state per run: pulls, sums and means of the arms, then the policy's own.
    slots: usize,
}

impl<R: Real, P: Policy, M: Model, const K: usize> Kernel<'_, R, P, M, K> {
    /// The policy is copied so that its constants are the compiler's to keep in registers.
    #[inline(always)]
    fn run(token: R::Token, policy: &P, model: M, prior: &Prior, job: &Job, first: u64, out: &mut [Outcome]) {
        let (arms, runs) = (job.problem.arms, job.task.runs());
        let slots = 3 * arms + policy.slots(arms);
        let returns = match job.task {
            Task::Evaluate => Returns::Realized,
            Task::Gradient(_, returns) => returns,
        };
        let kernel =
            Kernel::<R, P, M, K> { token, policy: policy.clone(), model, prior, job, returns, runs, slots };
        let zero = R::splat(token, 0.0);
        let mut exact = vec![0.0; R::WIDTH * arms];
        let mut means = vec![zero; arms];
        let mut state = vec![zero; runs * slots];
        let mut players = Vec::with_capacity(runs);
        for (i, chunk) in out.chunks_mut(R::WIDTH).enumerate() {
            let first = first + (i * R::WIDTH) as u64;
            kernel.draw_instances(first, chunk, &mut exact);
            for (arm, mean) in means.iter_mut().enumerate() {
                *mean = R::from_fn(token, |lane| exact[lane * arms + arm]);
            }
            let mut instances = kernel.instances(first, &means);
            state.fill(zero);
            players.clear();
            players.extend(
                state
                    .chunks_exact_mut(slots)
                    .enumerate()
                    .map(|(r, state)| kernel.player(first, r, &mut state[3 * arms..])),
            );
            for round in 0..job.problem.horizon {
                kernel.step(round, &mut instances, &mut players, &mut state);
            }
            for (lane, outcome) in chunk.iter_mut().enumerate() {
                kernel.finish(lane, &exact[lane * arms..(lane + 1) * arms], &players, &state, outcome);
            }
        }
    }

    #[inline(always)]
    fn arms(&self) -> usize {
        if K == 0 { self.job.problem.arms } else { K }
    }

    /// Arm means in double precision, one instance per lane.
    #[inline(always)]
    fn draw_instances(&self, first: u64, chunk: &mut [Outcome], exact: &mut [f64]) {
        let key = self.job.key.child(PRIOR);
        for (lane, means) in exact.chunks_exact_mut(self.arms()).enumerate() {
            let mut stream = Stream::<One<f64>>::new((), key, first + lane as u64);
            let cluster = self.prior.sample(self.job.split, &mut stream, means);
            if let Some(outcome) = chunk.get_mut(lane) {
                outcome.cluster = cluster;
            }
        }
    }

    #[inline(always)]
    fn instances<'b>(&self, first: u64, means: &'b [R]) -> Instances<'b, R> {
        let best = Best::of(means);
        let offset = match self.job.task {
            // Measured from the best mean, which cancels in every reference but none's, optimal rounds add
            // exactly nothing.
            Task::Gradient(baseline, Returns::Mean) if baseline != Baseline::None => best.value,
            _ => best.value.zero(),
        };
        Instances { words: Stream::new(self.token, self.job.key.child(REWARDS), first), means, best, offset }
    }

    #[inline(always)]
    fn player(&self, first: u64, r: usize, own: &mut [R]) -> Run<R> {
        let mut actions = Stream::new(self.token, self.job.key.child(ACTIONS + r as u64), first);
        let zero = R::splat(self.token, 0.0);
        let mut score = zero;
        self.policy.start(self.job.task != Task::Evaluate, own, &mut actions, &mut score);
        let scored = match self.job.task {
            Task::Evaluate => false,
            Task::Gradient(baseline, _) => baseline.scores(r),
        };
        Run { actions, score, gradient: zero, value: zero, scored }
    }

    /// One round of every run.
    #[inline(always)]
    fn step(&self, round: usize, instances: &mut Instances<R>, players: &mut [Run<R>], mut state: &mut [R]) {
        let arms = self.arms();
        let word = instances.words.next_word();
        let true_means = &instances.means[..arms];
        // With two arms both rewards are drawn at once: they are off the path from one choice to the next, and
        // serve all runs.
        let zero = R::splat(self.token, 0.0);
        let mut both = [zero; 2];
        if K == 2 {
            both[0] = self.model.draw(word, zero, true_means[0]);
            both[1] = self.model.draw(word, zero + 1.0, true_means[1]);
        }
        for run in players.iter_mut() {
            let (own_state, rest) = state.split_at_mut(self.slots);
            state = rest;
            let (pulls, rest) = own_state.split_at_mut(arms);
            let (sums, rest) = rest.split_at_mut(arms);
            let (means, own) = rest.split_at_mut(arms);
            let arm = if P::EACH_ARM_ONCE && round < arms {
                R::splat(self.token, round as f64)
            } else {
                let history = History { round, pulls, sums, means };
                if run.scored {
                    self.policy.act::<R, K, true>(&history, own, &mut run.actions, &mut run.score)
                } else {
                    self.policy.act::<R, K, false>(&history, own, &mut run.actions, &mut run.score)
                }
            };
            let mean = pick(true_means, arm);
            let mut reward = if K == 2 { pick(&both, arm) } else { self.model.draw(word, arm, mean) };
            run.value = match self.returns {
                Returns::Realized => reward,
                Returns::Mean => mean - instances.offset,
            };
            if P::BERNOULLI_ROUNDING && !self.model.binary() {
                reward = R::select(run.actions.uniform().lt(reward), reward.one(), reward.zero());
            }
            let count = add(pulls, arm, R::splat(self.token, 1.0));
            if P::USES != Uses::Pulls {
                let sum = add(sums, arm, reward);
                if P::USES == Uses::Means {
                    put(means, arm, sum / count);
                }
            }
            self.policy.update(arm, reward, count, own);
        }
        if let Task::Gradient(baseline, _) = self.job.task {
            self.accumulate(baseline, word, instances.best, players);
        }
    }

    /// Adds the round's (return - reference) * score to the gradients.
    #[inline(always)]
    fn accumulate(&self, baseline: Baseline, word: R::Word, best: Best<R>, players: &mut [Run<R>]) {
        let excess = match baseline {
            Baseline::None => players[0].value,
            Baseline::Opt => match self.returns {
                Returns::Realized => players[0].value - self.model.draw(word, best.arm, best.value),
                Returns::Mean => players[0].value,
            },
            Baseline::SelfPlay => players[0].value - players[1].value,
            Baseline::LeaveOneOut(runs) => {
                let mut total = players[0].value;
                for run in &players[1..] {
                    total = total + run.value;
                }
                for run in players {
                    // M - 1 times the return minus the mean of the others.
                    let excess = run.value.fma(total.lit(runs as f64), -total);
                    run.gradient = excess.fma(run.score, run.gradient);
                }
                return;
            }
        };
        players[0].gradient = excess.fma(players[0].score, players[0].gradient);
    }

    /// Reads a lane's outcome: rewards come from pull counts, so no digit is lost in adding them up.
    #[inline(always)]
    fn finish(&self, lane: usize, means: &[f64], players: &[Run<R>], state: &[R], outcome: &mut Outcome) {
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut reward, mut regret, mut gradient) = (0.0, 0.0, 0.0);
        for (run, state) in players.iter().zip(state.chunks_exact(self.slots)) {
            for (pulls, mean) in state.iter().zip(means) {
                let pulls = pulls.lane(lane);
                reward += pulls * mean;
                regret += pulls * (best - mean);
            }
            gradient += run.gradient.lane(lane);
        }
        let runs = self.runs as f64;
        outcome.reward = reward / runs;
        outcome.regret = regret / runs;
        outcome.gradient = match self.job.task {
            Task::Gradient(Baseline::LeaveOneOut(_), _) => gradient / (runs * (runs - 1.0)),
            _ => gradient,
        };
    }
}

#[cfg(test)]
mod tests;
