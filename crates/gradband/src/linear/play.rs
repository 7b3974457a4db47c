//! From instances to outcomes: the runs of an instance, what they leave behind, and their returns.

use super::gradient::Accumulator;
use super::pack::{Pack, zeros};
use super::table::Table;
use super::{Draws, Instance, Job, LinearPolicy, Number, Score, blocks, gradient_len, rounds, vectorized};
use crate::baseline::{Baseline, Returns};
use crate::simulate::{ACTIONS, Outcome, Task};
use crate::stream::{fill_normals, fill_uniforms};

/// One run, and its trace: arms and gains always, scores and the vectors h if it is differentiated.
pub(super) struct Run<R> {
    /// Is this run differentiated, or only a reference?
    pub scored: bool,
    /// Are its vectors h kept?
    pub kept: bool,
    draws: Vec<R>,
    draws_per_round: usize,
    scalars_per_round: usize,
    /// The arm of each round.
    pub pulls: Vec<u32>,
    /// (Y - mu) / (1 + v) of each round.
    pub gains: Vec<R>,
    /// Scores of each round and arm (of one round if not scored), then of each round and scalar.
    pub by_mean: Vec<R>,
    pub by_variance: Vec<R>,
    pub by_scalars: Vec<R>,
    /// h of each round and arm, if kept.
    pub h: Vec<Pack<R>>,
    /// Q of each arm, in the order that suits the kernel.
    pub q: Vec<Pack<R>>,
    /// z of each arm.
    pub z: Vec<Pack<R>>,
}

impl<R: Number> Run<R> {
    fn new<P: LinearPolicy>(policy: &P, table: &Table<R>, scored: bool) -> Self {
        let (horizon, arms, zero) = (table.horizon, table.arms, R::of(0.0));
        let kept = scored && policy.learns_projection();
        let draws_per_round = match policy.draws() {
            Draws::Uniform => 1,
            Draws::Normal => arms,
            Draws::None => 0,
        };
        let rounds = if scored { horizon } else { 1 };
        Self {
            scored,
            kept,
            draws: vec![zero; horizon * draws_per_round],
            draws_per_round,
            scalars_per_round: policy.scalars(),
            pulls: vec![0; horizon],
            gains: vec![zero; horizon],
            by_mean: vec![zero; rounds * arms],
            by_variance: vec![zero; rounds * arms],
            by_scalars: vec![zero; rounds * policy.scalars()],
            h: vec![zeros(); usize::from(kept) * horizon * arms * table.width],
            q: vec![zeros(); arms * table.dim.next_multiple_of(rounds::STEP) * table.width],
            z: vec![zeros(); arms * table.width],
        }
    }

    /// Back to the first round, with the draws of run `r` of instance `index`.
    fn start(&mut self, job: &Job, draws: Draws, r: usize, index: u64, buffer: &mut Vec<f32>) {
        buffer.resize(self.draws.len(), 0.0);
        let key = job.key.child(ACTIONS + r as u64);
        match draws {
            Draws::Uniform => fill_uniforms(key, index, buffer),
            Draws::Normal => fill_normals(key, index, buffer),
            Draws::None => {}
        }
        for (draw, &x) in self.draws.iter_mut().zip(buffer.iter()) {
            *draw = R::of(f64::from(x));
        }
        self.q.fill(zeros());
        self.z.fill(zeros());
    }

    /// The arm of round `t`; leaves the score, arm and gain in the trace. Also 1 / (1 + v) of the arm.
    #[inline(always)]
    pub fn choose<P: LinearPolicy>(
        &mut self,
        policy: &P,
        t: usize,
        rewards: &[R],
        mu: &[R],
        v: &[R],
    ) -> (usize, R) {
        let draws = &self.draws[t * self.draws_per_round..][..self.draws_per_round];
        let (at, arms, scalars) = (if self.scored { t } else { 0 }, mu.len(), self.scalars_per_round);
        let mut score = Score {
            mean: &mut self.by_mean[at * arms..][..arms],
            variance: &mut self.by_variance[at * arms..][..arms],
            scalars: &mut self.by_scalars[at * scalars..][..scalars],
        };
        let arm = act(policy, self.scored, mu, v, draws, &mut score);
        let share = R::of(1.0) / (v[arm] + 1.0);
        self.pulls[t] = arm as u32;
        self.gains[t] = (rewards[t * arms + arm] - mu[arm]) * share;
        (arm, share)
    }
}

/// The policy's choice. Compiled once, not into each of the kernels: that would take minutes.
#[inline(never)]
fn act<R: Number, P: LinearPolicy>(
    policy: &P,
    scored: bool,
    mu: &[R],
    v: &[R],
    draws: &[R],
    score: &mut Score<R>,
) -> usize {
    let mut arm = 0;
    vectorized(
        #[inline(always)]
        || {
            arm = if scored {
                policy.act::<R, true>(mu, v, draws, score)
            } else {
                policy.act::<R, false>(mu, v, draws, score)
            };
        },
    );
    arm
}

/// Plays instances `first..` in rounds (small dimensions only) or in blocks of rounds.
pub(super) fn with<R: Number, P: LinearPolicy>(
    policy: &P,
    job: &Job,
    small: bool,
    first: u64,
    out: &mut [Outcome],
    gradients: &mut [f64],
) {
    let length = if job.task == Task::Evaluate { 0 } else { gradient_len(policy, job.projection) };
    assert_eq!(gradients.len(), out.len() * length, "a gradient for each instance");
    let mut instance = Instance::default();
    let mut table = Table::<R>::new(job);
    let mut runs: Vec<_> = (0..job.task.runs())
        .map(|r| {
            let scored = matches!(job.task, Task::Gradient(baseline, _) if baseline.scores(r));
            Run::new(policy, &table, scored)
        })
        .collect();
    let mut accumulator = Accumulator::<R>::new(job, table.width);
    let mut values = vec![0.0; runs.len() * job.horizon];
    let mut reference = vec![0.0; job.horizon];
    let mut buffer = Vec::new();
    for (i, outcome) in out.iter_mut().enumerate() {
        let index = first + i as u64;
        (job.sample)(index, &mut instance);
        table.load(&instance);
        for (r, run) in runs.iter_mut().enumerate() {
            run.start(job, policy.draws(), r, index, &mut buffer);
        }
        if small {
            rounds::play(policy, &table, &mut runs);
        } else {
            blocks::play(policy, &table, &mut runs);
        }
        *outcome = settle(job, &instance, &runs, &mut values, &mut reference);
        if length > 0 {
            let gradient = &mut gradients[i * length..(i + 1) * length];
            gradient.fill(0.0);
            let (by_w, by_scalars) = gradient.split_at_mut(length - policy.scalars());
            for (run, values) in
                runs.iter().zip(values.chunks_exact(job.horizon)).filter(|(run, _)| run.scored)
            {
                accumulator.add(&table, run, values, &reference, by_scalars);
            }
            accumulator.finish(by_w);
        }
    }
}

/// Rewards and regret of the runs; the returns of each, and what to subtract from them.
fn settle<R>(
    job: &Job,
    instance: &Instance,
    runs: &[Run<R>],
    values: &mut [f64],
    reference: &mut [f64],
) -> Outcome {
    let (arms, count) = (job.arms, runs.len() as f64);
    let (baseline, returns) = match job.task {
        Task::Evaluate => (Baseline::None, Returns::Mean),
        Task::Gradient(baseline, returns) => (baseline, returns),
    };
    let (mut reward, mut regret) = (0.0, 0.0);
    for (t, reference) in reference.iter_mut().enumerate() {
        let means = &instance.means[t * arms..(t + 1) * arms];
        let rewards = &instance.rewards[t * arms..(t + 1) * arms];
        let table = if returns == Returns::Mean { means } else { rewards };
        let mut best = 0;
        for i in 1..arms {
            if means[best] < means[i] {
                best = i;
            }
        }
        let mut total = 0.0;
        for (r, run) in runs.iter().enumerate() {
            let arm = run.pulls[t] as usize;
            let value = f64::from(table[arm]);
            values[r * job.horizon + t] = value;
            total += value;
            let mean = f64::from(means[arm]);
            reward += mean;
            regret += f64::from(means[best]) - mean;
        }
        *reference = match baseline {
            Baseline::None => 0.0,
            Baseline::Opt => f64::from(table[best]),
            Baseline::SelfPlay => total - values[t],
            // Own return minus the mean of the others is M / (M - 1) times own return minus the mean of all.
            Baseline::LeaveOneOut(_) => total / count,
        };
    }
    Outcome { reward: reward / count, regret: regret / count, gradient: 0.0, cluster: 0 }
}
