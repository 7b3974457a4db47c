//! Small states: as many instances side by side as there are lanes, with the formulas of `linear.rs`.
//!
//! Lanes pull different arms, so that every arm is updated in every round, with a share of zero where another one was pulled. The
//! update waits for the next round's product with Q: an entry is loaded once, moved, multiplied and stored.

mod gradient;
mod late;
mod table;

use super::sparse::{Rows, ask, sparse};
use super::{Basis, Draws, LinearChooser, Numbers, Projection, Slopes, gradient_len};
use crate::error::Result;
use crate::numeric::lanes::{One, Real, pick, pick_each};
use crate::numeric::stream::Stream;
use crate::problem::Instance;
use crate::simulate::buffers::{keep, take, turn};
use crate::simulate::job::{Job, Outcome, Output, Task};
use crate::simulate::late::forced;
use crate::simulate::returns::{Baseline, Centre, advantages};
use gradient::Collector;
use late::Known;
use table::{Table, spread};

/// Beyond this the matrices of an arm leave the first cache, and rows of a matrix fill a vector anyway.
pub(super) const LARGEST_DIM: usize = 16;
/// Rounds x arms x dimension of the runs that are differentiated: their vectors h are kept, up to 64 bytes for each (64 MiB).
pub(super) const LARGEST_TRACE: usize = 1 << 20;

/// A run in each lane, and its trace.
struct Run<R> {
    scored: bool,
    /// Are its vectors h kept?
    kept: bool,
    draws: Vec<R>,
    draws_per_round: usize,
    scalars_per_round: usize,
    /// The arm of each round that is not the policy's to decide, -1 where it is; empty if all are.
    forced: Vec<R>,
    /// The arm of each round, (Y - mu) / (1 + v), and the mean of the arm.
    pulls: Vec<R>,
    gains: Vec<R>,
    means: Vec<R>,
    /// Scores of each round (of one round if not scored): by arm, by arm, by scalar.
    by_mean: Vec<R>,
    by_variance: Vec<R>,
    by_scalars: Vec<R>,
    /// h of each round and arm, after a round of zeros; of the last two rounds if not kept.
    h: Vec<R>,
    /// Q of each arm: see `triangle`.
    q: Vec<R>,
    z: Vec<R>,
    /// What the last pull adds to each arm: 1 / (1 + v) and the gain, or zero.
    share: Vec<R>,
    gain: Vec<R>,
    mu: Vec<R>,
    v: Vec<R>,
    /// Where rewards come late.
    known: Option<Known<R>>,
}

impl<R: Numbers> Run<R> {
    fn new(token: R::Token, policy: &dyn LinearChooser, table: &Table<R>, scored: bool) -> Self {
        let (horizon, arms, dim) = (table.horizon, table.arms, table.dim);
        let kept = scored && policy.learns_projection();
        let draws_per_round = policy.draws().per_round(arms);
        let rounds = if scored { horizon } else { 1 };
        let zeros = |len: usize| vec![R::splat(token, 0.0); len];
        Self {
            scored,
            kept,
            draws: zeros(horizon * draws_per_round),
            draws_per_round,
            scalars_per_round: policy.scalars(),
            forced: Vec::new(),
            pulls: zeros(horizon),
            gains: zeros(horizon),
            means: zeros(horizon),
            by_mean: zeros(rounds * arms),
            by_variance: zeros(rounds * arms),
            by_scalars: zeros(rounds * policy.scalars()),
            h: zeros(if kept { horizon + 1 } else { 2 } * arms * dim),
            q: zeros(arms * triangle(dim)),
            z: zeros(arms * dim),
            share: zeros(arms),
            gain: zeros(arms),
            mu: zeros(arms),
            v: zeros(arms),
            known: table.steps.as_ref().map(|_| Known::new(token, table, kept)),
        }
    }

    /// Back to the first round, with the draws of run `r` of instances `first..first + count`; further lanes repeat the last.
    #[inline(always)]
    fn start(
        &mut self,
        token: R::Token,
        job: &Job,
        table: &Table<R>,
        draws: Draws,
        (r, first, count): (usize, u64, usize),
        buffer: &mut Vec<f32>,
    ) {
        let zero = R::splat(token, 0.0);
        let len = self.draws.len();
        buffer.resize(len * count, 0.0);
        for (lane, buffer) in buffer.chunks_exact_mut(len.max(1)).enumerate() {
            draws.fill(job.action_key(r), first + lane as u64, buffer);
        }
        spread(&mut self.draws, count, |lane| &buffer[lane * len..][..len]);
        let (floor, arms) = (job.problem.world().floor, table.arms);
        self.forced.clear();
        if floor > 0.0 {
            self.forced.resize(table.horizon, zero);
            for lane in 0..R::WIDTH {
                let index = first + lane.min(count - 1) as u64;
                let mut coins = Stream::<One<f64>>::new((), job.coin_key(r), index);
                for arm in &mut self.forced {
                    arm.set_lane(lane, forced(coins.uniform().0, floor, arms).map_or(-1.0, |arm| arm as f64));
                }
            }
        }
        for part in [&mut self.q, &mut self.z, &mut self.share, &mut self.gain] {
            part.fill(zero);
        }
        self.h[..arms * table.dim].fill(zero);
        if table.basis == Basis::Projected {
            // Minus the prior covariance.
            let prior = R::splat(token, -1.0 / table.ridge);
            for q in self.q.chunks_exact_mut(triangle(table.dim)) {
                (0..table.dim).for_each(|i| q[diagonal(i, table.dim)] = prior);
            }
        }
        if let (Some(known), Some(steps)) = (&mut self.known, &table.steps) {
            known.start(&self.q, table, steps);
        }
    }

    /// Plays all rounds.
    #[inline(always)]
    fn play(&mut self, policy: &dyn LinearChooser, table: &Table<R>) {
        let (arms, dim) = (table.arms, table.dim);
        let (size, numbers) = (arms * dim, triangle(dim));
        for t in 0..table.horizon {
            let (x, y, floor) = (&table.x[t * dim..][..dim], &table.y[t * dim..][..dim], table.floor[t]);
            let (old, new) = turn(&mut self.h, self.kept, t, size);
            let q = self.q.chunks_exact_mut(numbers).zip(self.z.chunks_exact_mut(dim));
            let h = old.chunks_exact(dim).zip(new.chunks_exact_mut(dim));
            let last = self.share.iter().zip(&self.gain);
            let estimated = self.mu.iter_mut().zip(&mut self.v);
            for ((((q, z), (old, h)), (&share, &gain)), (mu, v)) in q.zip(h).zip(last).zip(estimated) {
                advance(q, share, old, x, y, h);
                // Of a known size both are unrolled.
                let (mean, variance) = match dim {
                    8 => estimates(gain, &mut z[..8], &old[..8], &h[..8], &y[..8]),
                    _ => estimates(gain, z, old, h, y),
                };
                (*mu, *v) = (mean, variance.max(floor));
            }
            self.choose(policy, table, t);
        }
    }

    /// The arm of round `t`; leaves the score, arm and gain in the trace.
    #[inline(always)]
    fn choose(&mut self, policy: &dyn LinearChooser, table: &Table<R>, t: usize) {
        let (at, arms, scalars) = (if self.scored { t } else { 0 }, table.arms, self.scalars_per_round);
        let draws = &self.draws[t * self.draws_per_round..][..self.draws_per_round];
        let mut slopes = Slopes {
            mean: &mut self.by_mean[at * arms..][..arms],
            variance: &mut self.by_variance[at * arms..][..arms],
            scalars: &mut self.by_scalars[at * scalars..][..scalars],
        };
        let mut arm = R::chooser(policy).act(self.scored, &self.mu, &self.v, draws, &mut slopes);
        let (zero, one) = (arm.zero(), arm.one());
        if let Some(&forced) = self.forced.get(t) {
            // Nothing there depends on the policy.
            let own = forced.lt(zero);
            arm = R::select(own, arm, forced);
            let Slopes { mean, variance, scalars } = slopes;
            for slope in mean.iter_mut().chain(variance).chain(scalars) {
                *slope = R::only(own, *slope);
            }
        }
        let (rewards, means) = (&table.rewards[t * arms..][..arms], &table.means[t * arms..][..arms]);
        let [mu, v, reward, mean] = pick_each([&self.mu, &self.v, rewards, means], arm);
        let share = one / (v + one);
        let gain = (reward - table.offset - mu) * share;
        for i in 0..arms {
            let hit = arm.is(i as f32);
            self.share[i] = R::only(hit, share);
            self.gain[i] = R::only(hit, gain);
        }
        self.pulls[t] = arm;
        self.gains[t] = gain;
        self.means[t] = mean;
    }

    /// Adds advantages times scores to the gradients by the scalars, which come last.
    #[inline(always)]
    fn add_scalars(&self, advantages: &[R], gradients: &mut [f64], length: usize) {
        let scalars = self.scalars_per_round;
        for k in 0..scalars {
            let place = length - scalars + k;
            let (mut sums, mut row) = ([0.0; 16], [0.0; 16]);
            sums.iter_mut()
                .zip(gradients.chunks_exact(length))
                .for_each(|(sum, gradient)| *sum = gradient[place]);
            for (t, &advantage) in advantages.iter().enumerate() {
                (self.by_scalars[t * scalars + k] * advantage).write_to(&mut row);
                for i in 0..R::WIDTH {
                    sums[i] += row[i];
                }
            }
            gradients.chunks_exact_mut(length).zip(sums).for_each(|(gradient, sum)| gradient[place] = sum);
        }
    }
}

/// Numbers of a symmetric matrix: two rows at a time up to their own columns, a column's two entries together; then the last row, if
/// the dimension is odd.
fn triangle(dim: usize) -> usize {
    let pairs = dim / 2;
    2 * pairs * (pairs + 1) + dim % 2 * dim
}

/// Where entry (i, i) is.
fn diagonal(i: usize, dim: usize) -> usize {
    let rows = triangle(i & !1);
    if i | 1 < dim { rows + 2 * i + i % 2 } else { rows + i }
}

/// z += gain old; z'y and h'y.
#[inline(always)]
fn estimates<R: Real>(gain: R, z: &mut [R], old: &[R], h: &[R], y: &[R]) -> (R, R) {
    let (mut mu, mut v) = (gain.zero(), gain.zero());
    for (((z, &old), h), &y) in z.iter_mut().zip(old).zip(h).zip(y) {
        *z = gain.fma(old, *z);
        mu = z.fma(y, mu);
        v = h.fma(y, v);
    }
    (mu, v)
}

/// Q += share old old', h = x - Q y.
#[inline(always)]
fn advance<R: Real>(q: &mut [R], share: R, old: &[R], x: &[R], y: &[R], h: &mut [R]) {
    if let (Ok(old), Ok(x), Ok(y), Ok(h)) = (old.try_into(), x.try_into(), y.try_into(), (&mut *h).try_into())
    {
        return advance_eight(q, share, old, x, y, h);
    }
    advance_any(q, share, old, x, y, h);
}

#[inline(always)]
fn advance_any<R: Real>(q: &mut [R], share: R, old: &[R], x: &[R], y: &[R], h: &mut [R]) {
    let (pairs, mut q) = (h.len() / 2 * 2, q);
    for first in (0..pairs).step_by(2) {
        let (rows, rest) = q.split_at_mut(2 * (first + 2));
        advance_rows(rows.as_chunks_mut::<2>().0, share, old, x, y, h);
        q = rest;
    }
    if pairs < h.len() {
        advance_rows(q.as_chunks_mut::<1>().0, share, old, x, y, h);
    }
}

/// The `N` rows that end with the columns of `q`, and the part of the columns above them.
#[inline(always)]
fn advance_rows<R: Real, const N: usize>(
    q: &mut [[R; N]],
    share: R,
    old: &[R],
    x: &[R],
    y: &[R],
    h: &mut [R],
) {
    let first = q.len() - N;
    let (mut g, mut sums, mut own_y) = ([share; N], [share; N], [share; N]);
    for n in 0..N {
        (g[n], sums[n], own_y[n]) = (share * old[first + n], x[first + n], y[first + n]);
    }
    let (left, own) = q.split_at_mut(first);
    let (above, h) = h.split_at_mut(first);
    for (((q, h), &old), &y) in left.iter_mut().zip(above).zip(old).zip(y) {
        for n in 0..N {
            q[n] = g[n].fma(old, q[n]);
            sums[n] = (-q[n]).fma(y, sums[n]);
            *h = (-q[n]).fma(own_y[n], *h);
        }
    }
    for ((q, &old), &y) in own.iter_mut().zip(&old[first..]).zip(&own_y) {
        for n in 0..N {
            q[n] = g[n].fma(old, q[n]);
            sums[n] = (-q[n]).fma(y, sums[n]);
        }
    }
    h[..N].copy_from_slice(&sums);
}

/// The same for eight dimensions, with h in registers.
#[inline(always)]
fn advance_eight<R: Real>(q: &mut [R], share: R, old: &[R; 8], x: &[R; 8], y: &[R; 8], h: &mut [R; 8]) {
    let mut sums = *x;
    let q = &mut q[..triangle(8)];
    advance_pair::<R, 0>(q, share, old, y, &mut sums);
    advance_pair::<R, 2>(q, share, old, y, &mut sums);
    advance_pair::<R, 4>(q, share, old, y, &mut sums);
    advance_pair::<R, 6>(q, share, old, y, &mut sums);
    *h = sums;
}

/// Rows `FIRST` and `FIRST` + 1 of it.
#[inline(always)]
fn advance_pair<R: Real, const FIRST: usize>(
    q: &mut [R],
    share: R,
    old: &[R; 8],
    y: &[R; 8],
    h: &mut [R; 8],
) {
    let q = &mut q[triangle(FIRST)..triangle(FIRST + 2)];
    let g = [share * old[FIRST], share * old[FIRST + 1]];
    for k in 0..FIRST + 2 {
        for n in 0..2 {
            let entry = g[n].fma(old[k], q[2 * k + n]);
            q[2 * k + n] = entry;
            h[FIRST + n] = (-entry).fma(y[k], h[FIRST + n]);
            if k < FIRST {
                h[k] = (-entry).fma(y[FIRST + n], h[k]);
            }
        }
    }
}

/// What buffers depend on.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    basis: Basis,
    horizon: usize,
    arms: usize,
    dim: usize,
    features: usize,
    runs: usize,
    scored: usize,
    learns_projection: bool,
    draws: Draws,
    scalars: usize,
    /// Do rewards come late?
    late: bool,
}

/// Buffers, which stay with their thread.
struct Room<R: Numbers> {
    shape: Shape,
    instances: Vec<Instance>,
    table: Table<R>,
    runs: Vec<Run<R>>,
    collector: Collector<R>,
    values: Vec<R>,
    buffer: Vec<f32>,
}

impl<R: Numbers> Room<R> {
    fn take(
        token: R::Token,
        policy: &dyn LinearChooser,
        projection: &Projection,
        job: &Job,
        basis: Basis,
    ) -> Box<Self> {
        let shape = Shape {
            basis,
            horizon: job.problem.horizon,
            arms: job.problem.arms,
            dim: projection.size(basis),
            features: projection.dim,
            runs: job.task.runs(),
            scored: job.task.scored_runs(),
            learns_projection: policy.learns_projection(),
            draws: policy.draws(),
            scalars: policy.scalars(),
            late: !job.problem.world().is_prompt(),
        };
        let new = || {
            let table = Table::new(token, shape);
            let run = |r| Run::new(token, policy, &table, job.task.scores(r));
            Self {
                shape,
                instances: vec![Instance::default(); R::WIDTH],
                runs: (0..shape.runs).map(run).collect(),
                collector: Collector::new(token, &table),
                table,
                values: Vec::new(),
                buffer: Vec::new(),
            }
        };
        let mut room = take(|room: &Self| room.shape == shape, new);
        room.table.fit(token, projection, job);
        room
    }
}

/// Plays instances `first..`.
#[inline(always)]
pub(super) fn with<R: Numbers>(
    token: R::Token,
    policy: &dyn LinearChooser,
    projection: &Projection,
    job: &Job,
    basis: Basis,
    first: u64,
    out: Output,
) -> Result<()> {
    let length = if job.task == Task::Evaluate { 0 } else { gradient_len(policy, projection) };
    let Output { outcomes, gradients, curves } = out;
    assert_eq!(gradients.len(), outcomes.len() * length, "a gradient for each instance");
    let marks = job.marks.len();
    let mut room = Room::<R>::take(token, policy, projection, job, basis);
    let Room { instances, table, runs, collector, values, buffer, .. } = &mut *room;
    let weights = job.problem.round_weights().unwrap_or_else(|| vec![1.0; table.horizon]);
    let sparse = sparse(job, basis);
    instances.iter_mut().for_each(|instance| ask(instance, sparse));
    for (i, outcomes) in outcomes.chunks_mut(R::WIDTH).enumerate() {
        let (at, count) = (i * R::WIDTH, outcomes.len());
        let first = first + at as u64;
        for (lane, instance) in instances[..count].iter_mut().enumerate() {
            job.problem.draw_contexts(job.split, job.key, first + lane as u64, instance)?;
        }
        table.load(token, &instances[..count], sparse);
        for (r, run) in runs.iter_mut().enumerate() {
            run.start(token, job, table, policy.draws(), (r, first, count), buffer);
            match &table.steps {
                None => run.play(policy, table),
                Some(steps) => run.play_late(policy, table, steps),
            }
        }
        settle(table, runs, &weights, outcomes, job.marks, &mut curves[at * marks..(at + count) * marks]);
        let (Task::Gradient(baseline, _), true) = (job.task, length > 0) else { continue };
        table.returns(runs, &weights, baseline, values);
        advantages(baseline, Centre::Mean, R::splat(token, 1.0), &[], values);
        let gradients = &mut gradients[at * length..(at + count) * length];
        gradients.fill(0.0);
        let all = runs.iter().zip(values.chunks_exact(table.horizon));
        for (run, advantages) in all.filter(|(run, _)| run.scored) {
            run.add_scalars(advantages, gradients, length);
            if run.kept {
                collector.add(table, run, advantages);
            }
        }
        if policy.learns_projection() {
            let rows = |lane: usize| Rows::of(&instances[lane], sparse);
            collector.finish(projection, (table, rows), gradients, length);
        }
    }
    keep(room);
    Ok(())
}

/// Rewards and regrets of the runs of each instance, in double precision.
#[inline(always)]
fn settle<R: Numbers>(
    table: &Table<R>,
    runs: &[Run<R>],
    weights: &[f64],
    outcomes: &mut [Outcome],
    marks: &[usize],
    curves: &mut [f64],
) {
    let (mut reward, mut regret, mut row) = ([0.0; 16], [0.0; 16], [0.0; 16]);
    let mut next = marks.iter().enumerate().peekable();
    for (t, &weight) in weights.iter().enumerate() {
        for run in runs {
            run.means[t].write_to(&mut row);
            for i in 0..R::WIDTH {
                reward[i] += row[i] * weight;
            }
            (table.best[t] - run.means[t]).write_to(&mut row);
            for i in 0..R::WIDTH {
                regret[i] += row[i] * weight;
            }
        }
        if let Some((m, _)) = next.next_if(|(_, mark)| **mark == t + 1) {
            for (lane, curve) in curves.chunks_exact_mut(marks.len()).enumerate() {
                curve[m] = regret[lane] / runs.len() as f64;
            }
        }
    }
    for (lane, outcome) in outcomes.iter_mut().enumerate() {
        let mean = |sum: f64| sum / runs.len() as f64;
        *outcome = Outcome { reward: mean(reward[lane]), regret: mean(regret[lane]), cluster: 0 };
    }
}

impl<R: Numbers> Table<R> {
    /// The return of each run and round, measured from the best arm's unless the baseline is none: near rewards are told apart in
    /// single precision.
    #[inline(always)]
    fn returns(&self, runs: &[Run<R>], weights: &[f64], baseline: Baseline, values: &mut Vec<R>) {
        values.clear();
        for run in runs {
            for (t, &weight) in weights.iter().enumerate() {
                let value = match self.of_means {
                    true => run.means[t],
                    false => pick(&self.rewards[t * self.arms..][..self.arms], run.pulls[t]),
                };
                let value = if baseline == Baseline::None { value } else { value - self.optimal[t] };
                values.push(value * value.lit(weight));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight dimensions in registers have the bits of eight among others.
    #[test]
    fn eight_dimensions_are_like_any() {
        let number = |i: usize| One(((i * 37 + 11) % 101) as f32 / 50.0 - 1.0);
        let row = |from: usize, len: usize| (from..from + len).map(number).collect::<Vec<_>>();
        let [old, x, y] = [1, 20, 300].map(|from| row(from, 8));
        let (mut q, mut h) = (row(7, triangle(8)), row(0, 8));
        let (mut other_q, mut other_h) = (q.clone(), h.clone());
        for share in [0.25, 0.0, 3.0] {
            advance(&mut q, One(share), &old, &x, &y, &mut h);
            advance_any(&mut other_q, One(share), &old, &x, &y, &mut other_h);
            assert_eq!((&q, &h), (&other_q, &other_h));
        }
        assert_ne!(q, row(7, triangle(8)));
    }
}
