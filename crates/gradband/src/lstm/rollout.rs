//! Simulation of runs with the LSTM, and backpropagation through time.
//!
//! ```text
//! for each run of sixteen instances: play n rounds, keep what the way back needs
//! advantage of round t = sum over s >= t of (return - reference)                          (baseline.rs)
//! backwards: d logits_t = advantage_t (pulled arm - probabilities) / temperature, then the cell
//! ```

use super::Lstm;
use super::advantage::advantages;
use super::cell::{self, Input, Trace, leaky_relu, product, spread};
use super::lane::Lane;
use super::weights::{Sums, Weights};
use crate::baseline::{Baseline, Returns};
use crate::lanes::{Best, One, add, count_below, largest, pick};
use crate::problem::Armed;
use crate::simulate::{ACTIONS, Job, Lanes, Model, Outcome, PRIOR, REWARDS, Task};
use crate::stream::Stream;
use fearless_simd::{Level, Simd, f32x16};

pub(super) fn rollout(
    lstm: &Lstm,
    params: &[f64],
    job: &Job,
    temperature: f64,
    first: u64,
    out: &mut [Outcome],
    gradient: Option<&mut [f64]>,
) {
    let Some(armed) = job.problem.armed() else { return };
    let game = Game { lstm, params, armed, job, temperature };
    let Some(simd) = Level::new().as_avx2() else {
        return match job.lanes {
            Lanes::Auto | Lanes::Single => game.run::<One<f32>>((), first, out, gradient),
            Lanes::Double => game.run::<One<f64>>((), first, out, gradient),
        };
    };
    simd.vectorize(
        #[inline(always)]
        || match job.lanes {
            Lanes::Auto => game.run::<f32x16<_>>(simd, first, out, gradient),
            Lanes::Single => game.run::<One<f32>>((), first, out, gradient),
            Lanes::Double => game.run::<One<f64>>((), first, out, gradient),
        },
    );
}

/// Everything but the precision.
struct Game<'a> {
    lstm: &'a Lstm,
    params: &'a [f64],
    armed: &'a Armed,
    job: &'a Job<'a>,
    temperature: f64,
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
    /// Is it differentiated? If not, only the last round of what follows is kept.
    scored: bool,
    /// h before each round.
    pub hidden: Vec<R>,
    /// c before each round.
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
    /// Returns, then advantages.
    pub values: Vec<R>,
    pulls: Vec<R>,
}

impl<R: Lane> Run<R> {
    fn new(zero: R, scored: bool, horizon: usize, units: usize, arms: usize) -> Self {
        let kept = if scored { horizon } else { 1 };
        let vector = |width: usize, rounds: usize| vec![zero; width * rounds];
        Self {
            scored,
            hidden: vector(units, kept),
            cells: vector(units, kept),
            gates: vector(4 * units, kept),
            tanhs: vector(units, kept),
            heads: vector(arms.next_multiple_of(4), kept),
            arms: vector(1, horizon),
            rewards: vector(1, horizon),
            values: vector(1, horizon),
            pulls: vector(1, arms),
        }
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

impl Game<'_> {
    #[inline(always)]
    fn run<R: Lane>(&self, token: R::Token, first: u64, out: &mut [Outcome], gradient: Option<&mut [f64]>) {
        let Self { lstm, params, armed, job, temperature } = *self;
        let zero = R::splat(token, 0.0);
        let (arms, units, horizon) = (lstm.arms, lstm.sizes.hidden, job.problem.horizon);
        let weights = Weights::new(lstm, params);
        let kernel = Kernel { token, lstm, temperature, weights, armed, job };
        let scored = |r: usize| match job.task {
            Task::Gradient(baseline, _) => gradient.is_some() && baseline.scores(r),
            Task::Evaluate => false,
        };
        let mut runs: Vec<_> =
            (0..job.task.runs()).map(|r| Run::new(zero, scored(r), horizon, units, arms)).collect();
        let mut sums = Sums::new(lstm);
        let mut exact = vec![0.0; R::WIDTH * arms];
        for (i, chunk) in out.chunks_mut(R::WIDTH).enumerate() {
            let mut instances = kernel.instances(first + (i * R::WIDTH) as u64, chunk, &mut exact);
            for (r, run) in runs.iter_mut().enumerate() {
                kernel.play(r, run, &mut instances);
            }
            for (lane, outcome) in chunk.iter_mut().enumerate() {
                finish(lane, &exact[lane * arms..(lane + 1) * arms], &runs, outcome);
            }
            if let (Some(_), Task::Gradient(baseline, _)) = (&gradient, job.task) {
                // Lanes without an instance add nothing.
                let played = chunk.len();
                let weight = R::from_fn(token, |lane| f64::from(u8::from(lane < played)));
                advantages(baseline, weight, &instances.optimal, &mut runs);
                for run in runs.iter_mut().filter(|run| run.scored) {
                    kernel.backward(run, &mut sums);
                }
            }
        }
        if let Some(gradient) = gradient {
            sums.add_to(lstm, params, gradient);
        }
    }
}

impl<R: Lane> Kernel<'_, R> {
    #[inline(always)]
    fn instances(&self, first: u64, chunk: &mut [Outcome], exact: &mut [f64]) -> Instances<R> {
        let arms = self.lstm.arms;
        let key = self.job.key.child(PRIOR);
        for (lane, means) in exact.chunks_exact_mut(arms).enumerate() {
            let mut stream = Stream::<One<f64>>::new((), key, first + lane as u64);
            let cluster = self.armed.prior.sample(self.job.split, &mut stream, means);
            if let Some(outcome) = chunk.get_mut(lane) {
                outcome.cluster = cluster;
            }
        }
        let means: Vec<_> =
            (0..arms).map(|arm| R::from_fn(self.token, |lane| exact[lane * arms + arm])).collect();
        let best = Best::of(&means);
        let offset = match self.job.task {
            Task::Gradient(baseline, Returns::Mean) if baseline != Baseline::None => best.value,
            _ => best.value.zero(),
        };
        Instances { first, means, best, offset, optimal: Vec::new() }
    }

    /// Plays run `r` of the instances.
    #[inline(always)]
    fn play(&self, r: usize, run: &mut Run<R>, instances: &mut Instances<R>) {
        let (token, units, arms) = (self.token, self.lstm.sizes.hidden, self.lstm.arms);
        let (key, horizon, model) = (self.job.key, self.job.problem.horizon, self.armed.rewards);
        let mut words = Stream::<R>::new(token, key.child(REWARDS), instances.first);
        let mut actions = Stream::<R>::new(token, key.child(ACTIONS + r as u64), instances.first);
        let zero = R::splat(token, 0.0);
        let padded = arms.next_multiple_of(4);
        let (mut h, mut next, mut c) = (vec![zero; units], vec![zero; units], vec![zero; units]);
        let (mut relu, mut bounds) = (h.clone(), vec![zero; arms]);
        let mut input = Input { arms: Vec::with_capacity(R::WIDTH), reward: zero };
        run.pulls.fill(zero);
        for t in 0..horizon {
            let slot = if run.scored { t } else { 0 };
            let heads = &mut run.heads[slot * padded..(slot + 1) * padded];
            let arm = self.choose(&h, &mut relu, heads, &mut bounds, actions.uniform());
            let word = words.next_word();
            let mean = pick(&instances.means, arm);
            let reward = model.draw(word, arm, mean);
            add(&mut run.pulls, arm, R::splat(token, 1.0));
            (run.arms[t], run.rewards[t]) = (arm, reward);
            run.values[t] = match self.job.task {
                Task::Gradient(_, Returns::Mean) => mean - instances.offset,
                _ => reward,
            };
            if self.job.task == Task::Gradient(Baseline::Opt, Returns::Realized) {
                instances.optimal.push(model.draw(word, instances.best.arm, instances.best.value));
            }
            let at = slot * units..(slot + 1) * units;
            if run.scored {
                run.hidden[at.clone()].copy_from_slice(&h);
                run.cells[at.clone()].copy_from_slice(&c);
            }
            if t + 1 < horizon {
                input.set(arm, reward);
                let gates = &mut run.gates[slot * 4 * units..(slot + 1) * 4 * units];
                let trace = Trace { gates, tanhs: &mut run.tanhs[at] };
                cell::forward(token, &self.weights, &input, &h, &mut c, trace, &mut next);
                std::mem::swap(&mut h, &mut next);
            }
        }
    }

    /// Draws an arm by its probability, which is left in `heads`.
    #[inline(always)]
    fn choose(&self, h: &[R], relu: &mut [R], heads: &mut [R], bounds: &mut [R], uniform: R) -> R {
        for (x, &h) in relu.iter_mut().zip(h) {
            *x = leaky_relu(h);
        }
        let rows = self.weights.head.chunks_exact(h.len()).zip(&self.weights.head_bias);
        for ((row, &bias), logits) in rows.zip(heads.chunks_exact_mut(4)) {
            logits.copy_from_slice(&product(self.token, spread(self.token, bias), row, relu));
        }
        let heads = &mut heads[..bounds.len()];
        let top = largest(heads);
        let factor = R::splat(self.token, 1.0 / self.temperature);
        let mut total = uniform.zero();
        for (p, bound) in heads.iter_mut().zip(bounds.iter_mut()) {
            *p = ((*p - top) * factor).exp();
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

/// Reads a lane's outcome from the pull counts.
#[inline(always)]
fn finish<R: Lane>(lane: usize, means: &[f64], runs: &[Run<R>], outcome: &mut Outcome) {
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut reward, mut regret) = (0.0, 0.0);
    for run in runs {
        for (pulls, mean) in run.pulls.iter().zip(means) {
            reward += pulls.lane(lane) * mean;
            regret += pulls.lane(lane) * (best - mean);
        }
    }
    let count = runs.len() as f64;
    (outcome.reward, outcome.regret) = (reward / count, regret / count);
}

/// What the runs of an instance did, for tests: arms, rewards, advantages.
#[cfg(test)]
pub(super) type Told = [Vec<f64>; 3];

/// The runs of one instance in double precision, one after the other.
#[cfg(test)]
pub(super) fn tell(lstm: &Lstm, params: &[f64], job: &Job, temperature: f64, instance: u64) -> Vec<Told> {
    let weights = Weights::<One<f64>>::new(lstm, params);
    let armed = job.problem.armed().unwrap();
    let kernel = Kernel { token: (), lstm, temperature, weights, armed, job };
    let (mut out, mut exact) = ([Outcome::default()], vec![0.0; lstm.arms]);
    let mut instances = kernel.instances(instance, &mut out, &mut exact);
    let Task::Gradient(baseline, _) = job.task else { unreachable!() };
    let mut runs: Vec<_> = (0..job.task.runs())
        .map(|r| Run::new(One(0.0), baseline.scores(r), job.problem.horizon, lstm.sizes.hidden, lstm.arms))
        .collect();
    for (r, run) in runs.iter_mut().enumerate() {
        kernel.play(r, run, &mut instances);
    }
    advantages(baseline, One(1.0), &instances.optimal, &mut runs);
    let plain = |lanes: &[One<f64>]| lanes.iter().map(|x| x.0).collect();
    runs.iter()
        .filter(|run| run.scored)
        .map(|run| [plain(&run.arms), plain(&run.rewards), plain(&run.values)])
        .collect()
}
