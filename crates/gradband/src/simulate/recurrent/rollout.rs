//! Simulation of runs with the LSTM, and backpropagation through time.
//!
//! ```text
//! for each run of sixteen instances: play n rounds, keep what the way back needs
//! advantage of round t = sum over s >= t of (return - reference)                          (baseline.rs)
//! backwards: d logits_t = advantage_t (pulled arm - probabilities) / temperature, then the cell
//! ```

use super::Lstm;
use super::cell::{self, Input, Trace};
use super::weights::{Sums, Weights};
use crate::error::Result;
use crate::numeric::lanes::{Best, Lane, add, count_below, largest, pick};
use crate::numeric::simd::{LaneWork, in_lanes};
use crate::numeric::stream::Stream;
use crate::problem::{Armed, RewardModel};
use crate::simulate::buffers::{keep, take, turn};
use crate::simulate::instances::{self, Tally, armed};
use crate::simulate::job::{Job, Outcome, Output, Task};
use crate::simulate::returns::{Baseline, Centre, Returns, advantages};

pub(super) fn rollout(
    lstm: &Lstm,
    params: &[f64],
    job: &Job,
    temperature: f64,
    first: u64,
    out: Output,
    gradient: Option<&mut [f64]>,
) -> Result<()> {
    in_lanes(job.lanes, Game { lstm, params, armed: armed(job)?, job, temperature, first, out, gradient })
}

/// Everything but the lanes.
struct Game<'a, 'b> {
    lstm: &'a Lstm,
    params: &'a [f64],
    armed: &'a Armed,
    job: &'a Job<'a>,
    temperature: f64,
    first: u64,
    out: Output<'b>,
    /// Where the sum over the instances of their gradients goes.
    gradient: Option<&'b mut [f64]>,
}

/// One instance in each lane.
struct Instances<R> {
    first: u64,
    means: Vec<R>,
    best: Best<R>,
    /// What returns are measured from.
    offset: R,
    /// The rewards of the best arm, round by round (baseline opt).
    optimal: Vec<R>,
}

/// A run in each lane: what happened, and what the way back needs of it.
pub(super) struct Run<R> {
    /// Is it differentiated? If not, only the last round of what follows is kept, or the last two.
    scored: bool,
    /// h before each round, and after the last.
    pub hidden: Vec<R>,
    /// c likewise.
    pub cells: Vec<R>,
    /// Gates of each round's step, then the gradients of their inputs.
    pub gates: Vec<R>,
    /// tanh c after each round.
    pub tanhs: Vec<R>,
    /// Probabilities of the arms (padded to fours), then the gradients of their logits.
    pub heads: Vec<R>,
    /// The pulled arms.
    pub arms: Vec<R>,
    /// Their rewards.
    pub rewards: Vec<R>,
    pulls: Vec<R>,
}

impl<R: Lane> Run<R> {
    fn new(zero: R, scored: bool, horizon: usize, units: usize, arms: usize) -> Self {
        let kept = if scored { horizon } else { 1 };
        let vector = |width: usize, rounds: usize| vec![zero; width * rounds];
        Self {
            scored,
            hidden: vector(units, kept + 1),
            cells: vector(units, kept + 1),
            gates: vector(4 * units, kept),
            tanhs: vector(units, kept),
            heads: vector(arms.next_multiple_of(4), kept),
            arms: vector(1, horizon),
            rewards: vector(1, horizon),
            pulls: vector(1, arms),
        }
    }
}

/// What buffers depend on.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    lstm: Lstm,
    horizon: usize,
    task: Task,
    /// Is there a gradient?
    gradient: bool,
}

/// Buffers, which stay with their thread.
struct Room<R> {
    shape: Shape,
    runs: Vec<Run<R>>,
    /// Returns, then advantages, one run after the other.
    values: Vec<R>,
}

/// Buffers with more gates than this go (128 MB with all that belongs to them).
const LARGEST_KEPT: usize = 1 << 20;

impl<R: Lane> Room<R> {
    fn take(zero: R, shape: Shape) -> Box<Self> {
        take(
            |room: &Self| room.shape == shape,
            || {
                let Shape { lstm, horizon, task, gradient } = shape;
                let run =
                    |r| Run::new(zero, gradient && task.scores(r), horizon, lstm.sizes.hidden, lstm.arms);
                let values = vec![zero; task.runs() * horizon];
                Self { runs: (0..task.runs()).map(run).collect(), values, shape }
            },
        )
    }
}

/// A game in lanes.
pub(super) struct Kernel<'a, R: Lane> {
    pub token: R::Token,
    pub lstm: &'a Lstm,
    pub temperature: f64,
    pub weights: Weights<R>,
    armed: &'a Armed,
    job: &'a Job<'a>,
}

impl LaneWork for Game<'_, '_> {
    const LONG: bool = true;

    #[inline(always)]
    fn run<R: Lane>(self, token: R::Token) -> Result<()> {
        let Self { lstm, params, armed, job, temperature, first, out, gradient } = self;
        let zero = R::splat(token, 0.0);
        let (arms, horizon) = (lstm.arms, job.problem.horizon);
        let kernel = Kernel { token, lstm, temperature, weights: Weights::new(lstm, params), armed, job };
        let mut room =
            Room::take(zero, Shape { lstm: *lstm, horizon, task: job.task, gradient: gradient.is_some() });
        let Room { runs, values, .. } = &mut *room;
        let mut sums = Sums::new(lstm);
        let mut exact = vec![0.0; R::WIDTH * arms];
        let marks = job.marks.len();
        for (i, chunk) in out.outcomes.chunks_mut(R::WIDTH).enumerate() {
            let at = i * R::WIDTH;
            let played = chunk.len();
            let mut instances = kernel.instances(first + at as u64, chunk, &mut exact)?;
            let curves = &mut out.curves[at * marks..(at + played) * marks];
            curves.fill(0.0);
            for (r, run) in runs.iter_mut().enumerate() {
                let values = &mut values[r * horizon..(r + 1) * horizon];
                kernel.play(r, run, values, &mut instances, &exact, curves);
            }
            for (lane, outcome) in chunk.iter_mut().enumerate() {
                let mut tally = Tally::new(&exact[lane * arms..(lane + 1) * arms]);
                runs.iter().for_each(|run| tally.add(run.pulls.iter().map(|pulls| pulls.lane(lane))));
                tally.settle(runs.len(), outcome);
            }
            if let (Some(_), Task::Gradient(baseline, _)) = (&gradient, job.task) {
                // Lanes without an instance add nothing.
                let weight = R::from_fn(token, |lane| f64::from(u8::from(lane < played)));
                advantages(baseline, Centre::Sum, weight, &instances.optimal, values);
                for (run, advantages) in runs.iter_mut().zip(values.chunks_exact(horizon)) {
                    if run.scored {
                        kernel.backward(run, advantages, &mut sums);
                    }
                }
            }
        }
        if let Some(gradient) = gradient {
            sums.add_to(lstm, params, gradient);
        }
        if runs.iter().map(|run| run.gates.len()).sum::<usize>() <= LARGEST_KEPT {
            keep(room);
        }
        Ok(())
    }
}

impl<R: Lane> Kernel<'_, R> {
    #[inline(always)]
    fn instances(&self, first: u64, chunk: &mut [Outcome], exact: &mut [f64]) -> Result<Instances<R>> {
        let arms = self.lstm.arms;
        instances::draw(self.job, self.armed, first, chunk, exact)?;
        let means: Vec<_> =
            (0..arms).map(|arm| R::from_fn(self.token, |lane| exact[lane * arms + arm])).collect();
        let best = Best::of(&means);
        let offset = instances::offset(self.job.task, best.value);
        Ok(Instances { first, means, best, offset, optimal: Vec::new() })
    }

    /// Plays run `r` of the instances.
    #[inline(always)]
    fn play(
        &self,
        r: usize,
        run: &mut Run<R>,
        values: &mut [R],
        instances: &mut Instances<R>,
        exact: &[f64],
        curves: &mut [f64],
    ) {
        let (token, units, arms) = (self.token, self.lstm.sizes.hidden, self.lstm.arms);
        let (horizon, model) = (self.job.problem.horizon, &self.armed.rewards);
        let mut words = Stream::<R>::new(token, self.job.reward_key(), instances.first);
        let mut actions = Stream::<R>::new(token, self.job.action_key(r), instances.first);
        let zero = R::splat(token, 0.0);
        let padded = arms.next_multiple_of(4);
        let (mut relu, mut bounds) = (vec![zero; units], vec![zero; arms]);
        run.hidden[..units].fill(zero);
        run.cells[..units].fill(zero);
        let mut input = Input { arms: Vec::with_capacity(R::WIDTH), reward: zero };
        run.pulls.fill(zero);
        let (marks, runs) = (self.job.marks, self.job.task.runs() as f64);
        let mut mark = 0;
        for (t, value) in values.iter_mut().enumerate() {
            let slot = if run.scored { t } else { 0 };
            let heads = &mut run.heads[slot * padded..(slot + 1) * padded];
            let (h, next_h) = turn(&mut run.hidden, run.scored, t, units);
            let arm = self.choose(h, &mut relu, heads, &mut bounds, actions.uniform());
            let word = words.next_word();
            let mean = pick(&instances.means, arm);
            let reward = model.draw(word, arm, mean);
            add(&mut run.pulls, arm, R::splat(token, 1.0));
            (run.arms[t], run.rewards[t]) = (arm, reward);
            *value = match self.job.task {
                Task::Gradient(_, Returns::Mean) => mean - instances.offset,
                _ => reward,
            };
            if self.job.task == Task::Gradient(Baseline::Opt, Returns::Realized) {
                instances.optimal.push(model.draw(word, instances.best.arm, instances.best.value));
            }
            if marks.get(mark) == Some(&(t + 1)) {
                for (lane, curve) in curves.chunks_exact_mut(marks.len()).enumerate() {
                    let mut tally = Tally::new(&exact[lane * arms..(lane + 1) * arms]);
                    tally.add(run.pulls.iter().map(|pulls| pulls.lane(lane)));
                    curve[mark] += tally.regret(1) / runs;
                }
                mark += 1;
            }
            if t + 1 < horizon {
                input.set(arm, reward);
                let gates = &mut run.gates[slot * 4 * units..(slot + 1) * 4 * units];
                let trace = Trace { gates, tanhs: &mut run.tanhs[slot * units..(slot + 1) * units] };
                let (c, next_c) = turn(&mut run.cells, run.scored, t, units);
                cell::forward(token, &self.weights, &input, (h, c), trace, (next_h, next_c));
            }
        }
    }

    /// Draws an arm by its probability, which is left in `heads`.
    #[inline(always)]
    fn choose(&self, h: &[R], relu: &mut [R], heads: &mut [R], bounds: &mut [R], uniform: R) -> R {
        cell::logits(self.token, &self.weights, h, relu, heads);
        let heads = &mut heads[..bounds.len()];
        let top = largest(heads);
        let factor = R::splat(self.token, 1.0 / self.temperature);
        let mut total = uniform.zero();
        for (p, bound) in heads.iter_mut().zip(bounds.iter_mut()) {
            *p = ((*p - top) * factor).weight();
            total = total + *p;
            *bound = total;
        }
        let inverse = total.one() / total;
        for p in heads {
            *p = *p * inverse;
        }
        count_below(&bounds[..bounds.len() - 1], uniform * total)
    }
}

/// What the runs of an instance did, for tests: arms, rewards, advantages.
#[cfg(test)]
pub(super) type Trajectory = [Vec<f64>; 3];

/// The runs of one instance in double precision, one after the other.
#[cfg(test)]
pub(super) fn trajectories(
    lstm: &Lstm,
    params: &[f64],
    job: &Job,
    temperature: f64,
    instance: u64,
) -> Vec<Trajectory> {
    use crate::numeric::lanes::One;
    let weights = Weights::<One<f64>>::new(lstm, params);
    let kernel = Kernel { token: (), lstm, temperature, weights, armed: armed(job).unwrap(), job };
    let (mut out, mut exact) = ([Outcome::default()], vec![0.0; lstm.arms]);
    let mut instances = kernel.instances(instance, &mut out, &mut exact).unwrap();
    let Task::Gradient(baseline, _) = job.task else { unreachable!() };
    let horizon = job.problem.horizon;
    let mut runs: Vec<_> = (0..job.task.runs())
        .map(|r| Run::new(One(0.0), baseline.scores(r), horizon, lstm.sizes.hidden, lstm.arms))
        .collect();
    let mut values = vec![One(0.0); runs.len() * horizon];
    for (r, run) in runs.iter_mut().enumerate() {
        kernel.play(r, run, &mut values[r * horizon..(r + 1) * horizon], &mut instances, &exact, &mut []);
    }
    advantages(baseline, Centre::Sum, One(1.0), &instances.optimal, &mut values);
    let plain = |lanes: &[One<f64>]| lanes.iter().map(|x| x.0).collect();
    runs.iter()
        .zip(values.chunks_exact(horizon))
        .filter(|(run, _)| run.scored)
        .map(|(run, values)| [plain(&run.arms), plain(&run.rewards), plain(values)])
        .collect()
}
