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
use crate::problem::{Problem, Rewards, Split};
use crate::stream::{Key, Stream, reward};
use fearless_simd::{Level, Simd, f32x8};

/// What one simulated instance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sum of the means of the pulled arms, averaged over the instance's runs.
    pub reward: f64,
    /// The same sum for the best arm, minus `reward`.
    pub regret: f64,
    /// The instance's estimate of the gradient of the reward.
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
        Self { problem, key, split, task, lanes: Lanes::Auto, block: 32 }
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
const PRIOR: u64 = 0;
const REWARDS: u64 = 1;
const ACTIONS: u64 = 2;

/// Bytes of state that a block may keep in flight: half of a first-level cache.
const BLOCK_BYTES: usize = 1 << 14;

/// Plays `policy` on instances `first..first + out.len()`.
pub fn rollout<P: Policy>(policy: &P, job: &Job, first: u64, out: &mut [Outcome]) {
    let lanes = match job.lanes {
        Lanes::Auto if job.problem.horizon > SINGLE_PRECISION_HORIZON => Lanes::Double,
        lanes => lanes,
    };
    let Some(simd) = Level::new().as_avx2() else {
        return match lanes {
            Lanes::Auto | Lanes::Single => with_model::<One<f32>, P>((), policy, job, first, out),
            Lanes::Double => with_model::<One<f64>, P>((), policy, job, first, out),
        };
    };
    // A single lane gains from the instruction set too: it has a fused multiply-add.
    simd.vectorize(
        #[inline(always)]
        || match lanes {
            Lanes::Auto => with_model::<f32x8<_>, P>(simd, policy, job, first, out),
            Lanes::Single => with_model::<One<f32>, P>((), policy, job, first, out),
            Lanes::Double => with_model::<One<f64>, P>((), policy, job, first, out),
        },
    );
}

/// In wide lanes Bernoulli problems, and two-armed ones above all, get kernels of their own: with the number of
/// arms known the state of a run lives in registers. The bits are those of the general kernel.
#[inline(always)]
fn with_model<R: Real, P: Policy>(token: R::Token, policy: &P, job: &Job, first: u64, out: &mut [Outcome]) {
    match job.problem.rewards {
        Rewards::Bernoulli if R::WIDTH > 1 && job.problem.arms == 2 => {
            Kernel::<R, P, Bernoulli, 2>::run(token, policy, Bernoulli, job, first, out);
        }
        Rewards::Bernoulli if R::WIDTH > 1 => {
            Kernel::<R, P, Bernoulli, 0>::run(token, policy, Bernoulli, job, first, out);
        }
        rewards => Kernel::<R, P, Rewards, 0>::run(token, policy, rewards, job, first, out),
    }
}

/// Draws rewards in lanes.
trait Model: Copy {
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

/// One instance in each lane, with the streams and states of its runs.
struct Kernel<'a, R: Real, P, M, const K: usize> {
    token: R::Token,
    policy: &'a P,
    model: M,
    job: &'a Job<'a>,
    runs: usize,
    returns: Returns,
    /// Per vector: rewards' stream, arm means, the best of them, and what returns are measured from.
    words: Vec<Stream<R>>,
    means: Vec<R>,
    best: Vec<Best<R>>,
    offset: Vec<R>,
    /// Per vector and run.
    players: Vec<Run<R>>,
    /// Per vector and run: pulls, sums, means, then the policy's own.
    state: Vec<R>,
    slots: usize,
}

impl<'a, R: Real, P: Policy, M: Model, const K: usize> Kernel<'a, R, P, M, K> {
    #[inline(always)]
    fn arms(&self) -> usize {
        if K == 0 { self.job.problem.arms } else { K }
    }

    #[inline(always)]
    fn run(token: R::Token, policy: &P, model: M, job: &Job, first: u64, out: &mut [Outcome]) {
        let arms = job.problem.arms;
        let runs = job.task.runs();
        let slots = 3 * arms + policy.slots(arms);
        let vectors = (BLOCK_BYTES / (4 * R::WIDTH * runs * slots)).clamp(1, R::VECTORS);
        let returns = match job.task {
            Task::Evaluate => Returns::Realized,
            Task::Gradient(_, returns) => returns,
        };
        let zero = R::splat(token, 0.0);
        let mut kernel = Kernel::<R, P, M, K> {
            token,
            policy,
            model,
            job,
            runs,
            returns,
            words: Vec::with_capacity(vectors),
            means: vec![zero; vectors * arms],
            best: vec![Best::first(zero); vectors],
            offset: vec![zero; vectors],
            players: Vec::with_capacity(vectors * runs),
            state: vec![zero; vectors * runs * slots],
            slots,
        };
        let mut exact = vec![0.0; vectors * R::WIDTH * arms];
        for (i, chunk) in out.chunks_mut(vectors * R::WIDTH).enumerate() {
            let first = first + (i * vectors * R::WIDTH) as u64;
            let vectors = chunk.len().div_ceil(R::WIDTH);
            kernel.start(vectors, first, chunk, &mut exact);
            for round in 0..job.problem.horizon {
                for vector in 0..vectors {
                    kernel.step(vector, round);
                }
            }
            for (lane, outcome) in chunk.iter_mut().enumerate() {
                kernel.finish(lane, &exact, outcome);
            }
        }
    }

    /// Draws the instances of a block and resets the state of their runs.
    #[inline(always)]
    fn start(&mut self, vectors: usize, first: u64, chunk: &mut [Outcome], exact: &mut [f64]) {
        let (arms, job, token) = (self.arms(), self.job, self.token);
        for lane in 0..vectors * R::WIDTH {
            let mut prior = Stream::<One<f64>>::new((), job.key.child(PRIOR), first + lane as u64);
            let means = &mut exact[lane * arms..(lane + 1) * arms];
            let cluster = job.problem.prior.sample(job.split, &mut prior, means);
            if let Some(outcome) = chunk.get_mut(lane) {
                outcome.cluster = cluster;
            }
        }
        let zero = R::splat(token, 0.0);
        self.state.fill(zero);
        self.words.clear();
        self.players.clear();
        for vector in 0..vectors {
            let index = first + (vector * R::WIDTH) as u64;
            self.words.push(Stream::new(token, job.key.child(REWARDS), index));
            for arm in 0..arms {
                self.means[vector * arms + arm] =
                    R::from_fn(token, |lane| exact[(vector * R::WIDTH + lane) * arms + arm]);
            }
            self.best[vector] = Best::of(&self.means[vector * arms..(vector + 1) * arms]);
            self.offset[vector] = match job.task {
                // Returns are measured from the best mean: the difference cancels in every reference but that of
                // no baseline, and optimal rounds then add exactly nothing.
                Task::Gradient(baseline, Returns::Mean) if baseline != Baseline::None => {
                    self.best[vector].value
                }
                _ => zero,
            };
            for r in 0..self.runs {
                let mut actions = Stream::new(token, job.key.child(ACTIONS + r as u64), index);
                let mut score = zero;
                let own = (vector * self.runs + r) * self.slots + 3 * arms;
                let training = job.task != Task::Evaluate;
                let own = &mut self.state[own..own + self.slots - 3 * arms];
                self.policy.start(training, own, &mut actions, &mut score);
                let scored = match job.task {
                    Task::Evaluate => false,
                    Task::Gradient(baseline, _) => baseline.scores(r),
                };
                self.players.push(Run { actions, score, gradient: zero, value: zero, scored });
            }
        }
    }

    /// One round of every run on one vector of instances.
    #[inline(always)]
    fn step(&mut self, vector: usize, round: usize) {
        let (arms, runs, slots) = (self.arms(), self.runs, self.slots);
        let word = self.words[vector].next();
        let mus = &self.means[vector * arms..(vector + 1) * arms];
        let players = &mut self.players[vector * runs..(vector + 1) * runs];
        let states = &mut self.state[vector * runs * slots..(vector + 1) * runs * slots];
        for (run, state) in players.iter_mut().zip(states.chunks_exact_mut(slots)) {
            let (pulls, rest) = state.split_at_mut(arms);
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
            let mean = pick(mus, arm);
            let mut reward = self.model.draw(word, arm, mean);
            run.value = match self.returns {
                Returns::Realized => reward,
                Returns::Mean => mean,
            } - self.offset[vector];
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
            let players = &mut self.players[vector * runs..(vector + 1) * runs];
            match baseline {
                Baseline::None => accumulate(&mut players[0], None),
                Baseline::Opt => {
                    let best = self.best[vector];
                    let reference = match self.returns {
                        Returns::Realized => Some(self.model.draw(word, best.arm, best.value)),
                        Returns::Mean => None,
                    };
                    accumulate(&mut players[0], reference);
                }
                Baseline::SelfPlay => {
                    let reference = players[1].value;
                    accumulate(&mut players[0], Some(reference));
                }
                Baseline::LeaveOneOut(_) => {
                    let mut total = players[0].value;
                    for run in &players[1..] {
                        total = total + run.value;
                    }
                    for run in players {
                        // (M - 1) times the return minus the mean of the others.
                        let excess = run.value.fma(total.lit(runs as f64), -total);
                        run.gradient = excess.fma(run.score, run.gradient);
                    }
                }
            }
        }
    }

    /// Reads a lane's outcome: rewards come from pull counts, so no digit is lost in adding them up.
    #[inline(always)]
    fn finish(&self, lane: usize, exact: &[f64], outcome: &mut Outcome) {
        let (arms, runs) = (self.arms(), self.runs);
        let (vector, within) = (lane / R::WIDTH, lane % R::WIDTH);
        let means = &exact[lane * arms..(lane + 1) * arms];
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut reward, mut regret, mut gradient) = (0.0, 0.0, 0.0);
        for (r, run) in self.players[vector * runs..(vector + 1) * runs].iter().enumerate() {
            let pulls = &self.state[(vector * runs + r) * self.slots..][..arms];
            for (count, mean) in pulls.iter().zip(means) {
                let count = count.lane(within);
                reward += count * mean;
                regret += count * (best - mean);
            }
            gradient += run.gradient.lane(within);
        }
        outcome.reward = reward / runs as f64;
        outcome.regret = regret / runs as f64;
        outcome.gradient = match self.job.task {
            Task::Gradient(Baseline::LeaveOneOut(_), _) => gradient / (runs * (runs - 1)) as f64,
            _ => gradient,
        };
    }
}

/// Adds a round's (return - reference) * score; no reference is a reference of zero.
#[inline(always)]
fn accumulate<R: Real>(run: &mut Run<R>, reference: Option<R>) {
    let excess = match reference {
        Some(reference) => run.value - reference,
        None => run.value,
    };
    run.gradient = excess.fma(run.score, run.gradient);
}

#[cfg(test)]
mod tests;
