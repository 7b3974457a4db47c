//! The engine against its naive oracle, the oracle against finite differences, and single against double precision.

mod oracle;
mod precision;
mod sparse;
mod worlds;

use super::play::Pace;
use super::{
    Basis, Engine, LinearKernel, Number, Precision, Projection, Slopes, gradient_len, play, rollout, side,
};
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::simd::Lanes;
use crate::numeric::simd::tests::{on_lesser_machines, wide_lanes};
use crate::numeric::stream::{Key, fill_normals};
use crate::policy::linear_kernels::{CoSoftElim, LinEpsilonGreedy, LinThompson, LinUcb, SoftUcb};
use crate::policy::{Choice, POLICIES, Plays};
use crate::problem::{ContextModel, Delay, Draw, Instance, Problem, Split, World};
use crate::simulate::{Baseline, Job, Outcome, Output, Returns, Task};
use oracle::{Naive, Space, advantages};

const BASES: [Basis; 2] = [Basis::Features, Basis::Projected];
const SELF: Task = Task::Gradient(Baseline::SelfPlay, Returns::Realized);

/// Linear-Gaussian instances: contexts N(1/2, I), parameters N(0, I), noise 0.5.
#[derive(Debug)]
struct Dense {
    dim: usize,
    /// Is the first feature always 0?
    blind: bool,
}

impl ContextModel for Dense {
    fn dim(&self) -> usize {
        self.dim
    }

    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        let (key, dim) = (Key::new(77), self.dim);
        let mut theta = vec![0.0; draw.arms * dim];
        fill_normals(key.child(0), draw.index, &mut theta);
        fill_normals(key.child(1), draw.index, &mut instance.contexts);
        fill_normals(key.child(2), draw.index, &mut instance.rewards);
        instance.contexts.iter_mut().for_each(|x| *x += 0.5);
        for (x, means) in instance.contexts.chunks_exact(dim).zip(instance.means.chunks_exact_mut(draw.arms))
        {
            for (mean, theta) in means.iter_mut().zip(theta.chunks_exact(dim)) {
                *mean = x.iter().zip(theta).map(|(x, y)| x * y).sum();
            }
        }
        for (reward, mean) in instance.rewards.iter_mut().zip(&instance.means) {
            *reward = mean + 0.5 * *reward;
        }
        if self.blind {
            instance.contexts.iter_mut().step_by(dim).for_each(|x| *x = 0.0);
        }
    }
}

fn problem(dim: usize, arms: usize, horizon: usize) -> Problem {
    Problem::contexts(Dense { dim, blind: false }, arms).horizon(horizon).build().unwrap()
}

fn drawn(job: &Job, index: u64) -> Instance {
    let mut instance = Instance::default();
    job.problem.draw_contexts(job.split, job.key, index, &mut instance).unwrap();
    instance
}

/// W of `rank` x `dim`: random and not symmetric, or with its last two columns zero and a row repeated.
fn space(rank: usize, dim: usize, singular: bool) -> Space {
    let mut noise = vec![0.0; rank * dim];
    fill_normals(Key::new(5), dim as u64, &mut noise);
    let mut w: Vec<_> = noise
        .iter()
        .enumerate()
        .map(|(i, &x)| 0.3 * f64::from(x) + f64::from(u8::from(i / dim == i % dim)))
        .collect();
    if singular {
        for row in w.chunks_exact_mut(dim) {
            row[dim - 2..].fill(0.0);
        }
        w.copy_within(0..dim, dim);
    }
    Space { w, rank, dim, ridge: 0.7 }
}

fn job(problem: &Problem, task: Task) -> Job<'_> {
    Job::new(problem, Key::new(11), Split::Train, task)
}

/// Outcomes and gradients of `count` instances.
fn played(
    policy: &impl LinearKernel,
    projection: &Projection,
    engine: Engine,
    job: &Job,
    (first, count): (u64, usize),
) -> (Vec<Outcome>, Vec<f64>) {
    let (mut outcomes, mut gradients) =
        (vec![Outcome::default(); count], vec![f64::NAN; count * gradient_len(policy, projection)]);
    let out = Output { outcomes: &mut outcomes, gradients: &mut gradients, curves: &mut [] };
    rollout(policy, projection, engine, job, first, out).unwrap();
    (outcomes, gradients)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let size = expected.iter().map(|x| x.abs()).fold(0.0, f64::max);
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}: entry {i} is {a}, expected {b} (largest {size})");
    }
    assert_eq!(found.len(), expected.len());
}

/// The gradient of one instance at every pace that fits, against the oracle's own runs; and the oracle's slopes
/// against central differences of its log-probabilities.
fn check<P: Naive>(policy: &P, space: &Space, problem: &Problem, task: Task, differences: bool) {
    let projection = Projection::new(&space.w, space.rank, space.dim, space.ridge);
    let (arms, horizon) = (problem.arms, problem.horizon);
    let job = job(problem, task);
    let index = 3;
    let instance = drawn(&job, index);
    let runs: Vec<_> = (0..task.runs()).map(|r| space.play(policy, &job, &instance, index, r)).collect();
    let Task::Gradient(baseline, _) = task else { return };
    let scored: Vec<_> = (0..runs.len()).filter(|&r| baseline.scores(r)).collect();
    let mut expected = vec![0.0; gradient_len(policy, &projection)];
    for &r in &scored {
        let weights = advantages(&job, &instance, &runs, r);
        let slopes = space.slopes(policy, &job, &instance, &runs[r], &weights);
        for (sum, slope) in expected.iter_mut().zip(&slopes) {
            *sum += slope / scored.len() as f64;
        }
        if differences {
            let by_differences: Vec<_> = (0..slopes.len())
                .map(|i| {
                    let log = |step: f64| {
                        let (mut space, mut parameters) = (space.clone(), policy.parameters());
                        let of_w = slopes.len() - parameters.len();
                        if i < of_w {
                            space.w[i] += step
                        } else {
                            parameters[i - of_w] += step
                        }
                        space.log(&policy.with(&parameters), &job, &instance, &runs[r], &weights)
                    };
                    (log(1e-5) - log(-1e-5)) / 2e-5
                })
                .collect();
            assert_close(&slopes, &by_differences, 1e-6, "oracle against differences");
        }
    }
    let weight = |t: usize| problem.world().horizon.weight(t);
    let pulled = |t: usize, r: usize| weight(t) * f64::from(instance.means[t * arms + runs[r][t].arm]);
    let reward: f64 =
        (0..horizon).flat_map(|t| (0..runs.len()).map(move |r| (t, r))).map(|(t, r)| pulled(t, r)).sum();
    let fits = |&(basis, pace): &(Basis, Pace)| match pace {
        Pace::Rounds => {
            let dim = if basis == Basis::Features { space.dim } else { space.rank };
            problem.world().is_prompt() && dim <= super::rounds::LARGEST_DIM
        }
        Pace::Blocks => problem.world().is_prompt(),
        Pace::Late => true,
    };
    let paces = [Pace::Rounds, Pace::Blocks, Pace::Late];
    let all = paces.into_iter().flat_map(|pace| BASES.map(|basis| (basis, pace)));
    let compare = |how: String, play: &dyn Fn(Output) -> Result<()>| {
        let (mut outcomes, mut gradient) = ([Outcome::default()], vec![f64::NAN; expected.len()]);
        play(Output { outcomes: &mut outcomes, gradients: &mut gradient, curves: &mut [] }).unwrap();
        let what = format!("{}x{}, {problem}, {task:?}, {how}", space.rank, space.dim);
        assert_close(&[outcomes[0].reward], &[reward / runs.len() as f64], 1e-12, &what);
        assert_close(&gradient, &expected, 1e-9, &what);
    };
    for how in all.filter(fits) {
        let play = |out: Output| play::with::<One<f64>>(policy, &projection, &job, how, index, out);
        compare(format!("{how:?}"), &play);
    }
    let even = matches!(problem.world().delay, Delay::Rounds(_));
    for basis in BASES.into_iter().filter(|_| even) {
        let play = |out: Output| side::with::<One<f64>>((), policy, &projection, &job, basis, index, out);
        compare(format!("{basis:?}, side by side"), &play);
    }
}

/// Every policy with a score, on one space.
fn check_policies(space: &Space, arms: usize, horizon: usize, differences: bool) {
    check_policies_on(space, &problem(space.dim, arms, horizon), differences);
}

fn check_policies_on(space: &Space, problem: &Problem, differences: bool) {
    check(&CoSoftElim { gamma: 0.5, learn_gamma: true }, space, problem, SELF, differences);
    check(&CoSoftElim { gamma: 4.0, learn_gamma: false }, space, problem, SELF, differences);
    check(&SoftUcb { alpha: 0.8, temperature: 0.4, hard: false }, space, problem, SELF, differences);
    check(&LinThompson { noise_sd: 0.5, learn: true }, space, problem, SELF, differences);
    check(&LinEpsilonGreedy { epsilon: 0.3 }, space, problem, SELF, differences);
}

/// What is above is every linear policy that has a score: the rest of the catalogue has none, or is tested with the plain
/// engine.
#[test]
fn every_linear_policy_with_a_score_has_an_oracle() {
    let known = ["cosoftelim", "soft-ucb", "lin-thompson", "lin-epsilon-greedy"];
    let problem = problem(3, 2, 10);
    for kind in POLICIES.iter().filter(|kind| kind.plays() == Plays::Contexts && !kind.params().is_empty()) {
        if kind.refusal(&problem).is_some() {
            continue;
        }
        let player = Choice::initial(kind, &problem).unwrap().player(&problem, &mut ()).unwrap();
        assert_eq!(player.unscored().is_none(), known.contains(&kind.name()), "{}", kind.name());
    }
}

#[test]
fn gradients_are_those_of_the_oracle_and_of_finite_differences() {
    check_policies(&space(3, 3, false), 3, 60, true);
    check_policies(&space(2, 5, false), 2, 60, true);
    check_policies(&space(7, 4, false), 3, 30, true);
}

#[test]
fn singular_projections_are_no_exception() {
    check_policies(&space(5, 5, true), 3, 60, true);
    check_policies(&space(12, 12, true), 2, 60, false);
}

#[test]
fn larger_dimensions_agree_with_the_oracle() {
    for (dim, arms) in [(8, 4), (9, 5), (16, 2)] {
        check_policies(&space(dim, dim, false), arms, 70, false);
    }
    // Every number of packs in a row, and dimensions that only blocks take.
    for (dim, arms) in [(20, 3), (26, 2), (36, 2), (48, 2)] {
        let policy = CoSoftElim { gamma: 4.0, learn_gamma: false };
        check(&policy, &space(dim, dim, false), &problem(dim, arms, 60), SELF, false);
    }
}

#[test]
fn all_baselines_and_returns_agree_with_the_oracle() {
    let (space, problem) = (space(4, 6, false), problem(6, 3, 40));
    for returns in [Returns::Realized, Returns::Mean] {
        for baseline in [
            Baseline::None,
            Baseline::Opt,
            Baseline::SelfPlay,
            Baseline::LeaveOneOut(2),
            Baseline::LeaveOneOut(5),
        ] {
            let task = Task::Gradient(baseline, returns);
            check(&CoSoftElim { gamma: 1.0, learn_gamma: true }, &space, &problem, task, false);
            check(&LinEpsilonGreedy { epsilon: 0.2 }, &space, &problem, task, false);
        }
    }
}

/// Contexts that W does not see: every estimate is 0, no arm is preferred, and nothing is learned.
#[test]
fn unseen_contexts_have_no_score() {
    let mut w = vec![0.0; 16];
    w[0] = 1.0;
    let projection = Projection::new(&w, 4, 4, 1.0);
    let problem = Problem::contexts(Dense { dim: 4, blind: true }, 3).horizon(50).build().unwrap();
    let policy = CoSoftElim { gamma: 4.0, learn_gamma: true };
    for precision in [Precision::Single, Precision::Double] {
        for basis in BASES {
            let how = Engine { basis, precision };
            let (_, gradients) = played(&policy, &projection, how, &job(&problem, SELF), (0, 4));
            assert_eq!(gradients, [0.0; 4 * 17]);
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_block_of_instances() {
    for dim in [5, 8, 50] {
        let projection = Projection::identity(dim, 1.0);
        let problem = problem(dim, 4, 60);
        let policy = SoftUcb { alpha: 1.0, temperature: 0.25, hard: false };
        let job = job(&problem, Task::Gradient(Baseline::LeaveOneOut(3), Returns::Mean));
        for basis in BASES {
            let how = Engine { basis, precision: Precision::Single };
            let play = |first, count| played(&policy, &projection, how, &job, (first, count));
            let (all, gradients) = play(0, 7);
            let length = gradients.len() / 7;
            for i in 0..7 {
                let (out, gradient) = play(i as u64, 1);
                assert_eq!(out[0], all[i]);
                assert_eq!(gradient, gradients[i * length..(i + 1) * length]);
            }
        }
    }
}

/// A policy on instances that fill the lanes and some more: the same bits in one lane and in sixteen, with vectors and without.
fn check_lanes<P: LinearKernel>(policy: &P, space: &Space, problem: &Problem, basis: Basis) {
    let projection = Projection::new(&space.w, space.rank, space.dim, space.ridge);
    let engine = Engine { basis, precision: Precision::Single };
    let task = match LinearKernel::unscored(policy) {
        None => Task::Gradient(Baseline::LeaveOneOut(3), Returns::Realized),
        Some(_) => Task::Evaluate,
    };
    let even = matches!(problem.world().delay, Delay::Rounds(_));
    assert_eq!(engine.is_side_by_side(&projection, &job(problem, task)), even);
    let length = if task == Task::Evaluate { 0 } else { gradient_len(policy, &projection) };
    let play = |lanes| {
        let job = Job { lanes, marks: &[1, 9, 40], ..job(problem, task) };
        let (mut outcomes, mut curves) = (vec![Outcome::default(); 21], vec![f64::NAN; 21 * 3]);
        let mut gradients = vec![f64::NAN; 21 * length];
        let out = Output { outcomes: &mut outcomes, gradients: &mut gradients, curves: &mut curves };
        rollout(policy, &projection, engine, &job, 5, out).unwrap();
        (outcomes, curves, gradients)
    };
    let many = play(Lanes::Auto);
    assert!(many.2.iter().all(|x| x.is_finite()));
    assert_eq!(many, play(Lanes::Single));
    for lesser in on_lesser_machines(|| play(Lanes::Auto)) {
        assert_eq!(many, lesser);
    }
}

/// Every policy, in a world.
fn check_all_lanes((rank, dim, arms): (usize, usize, usize), world: World) {
    let problem = problem(dim, arms, 40).with_world(world).unwrap();
    let space = space(rank, dim, false);
    for basis in BASES.into_iter().filter(|&basis| basis == Basis::Projected || rank == dim) {
        check_lanes(&CoSoftElim { gamma: 4.0, learn_gamma: true }, &space, &problem, basis);
        check_lanes(&SoftUcb { alpha: 0.8, temperature: 0.4, hard: false }, &space, &problem, basis);
        check_lanes(&SoftUcb { alpha: 0.8, temperature: 0.4, hard: true }, &space, &problem, basis);
        check_lanes(&LinThompson { noise_sd: 0.5, learn: true }, &space, &problem, basis);
        check_lanes(&LinThompson { noise_sd: 0.5, learn: false }, &space, &problem, basis);
        check_lanes(&LinEpsilonGreedy { epsilon: 0.3 }, &space, &problem, basis);
        check_lanes(&LinUcb { alpha: 0.7 }, &space, &problem, basis);
    }
}

#[test]
fn bits_do_not_depend_on_the_lanes() {
    if wide_lanes().is_empty() {
        return;
    }
    for size in [(1, 3, 2), (5, 5, 3), (8, 8, 4), (2, 30, 10), (13, 13, 2)] {
        for floor in [0.0, 0.05] {
            check_all_lanes(size, World { floor, ..World::plain(40) });
        }
    }
}

/// Jobs of the same shape one after the other: what one leaves in a thread's buffers changes nothing for the next.
#[test]
fn buffers_forget() {
    let policy = SoftUcb { alpha: 0.8, temperature: 0.4, hard: false };
    let play = |world: World, ridge: f64, offset: f64, intercept: bool, returns, basis| {
        let (space, dim) = (space(6, 6, false), 6 - usize::from(intercept));
        let problem = problem(dim, 3, 30).with_world(world).unwrap();
        let projection = Projection::new(&space.w, 6, 6, ridge).with_intercept(intercept).with_offset(offset);
        let job = job(&problem, Task::Gradient(Baseline::SelfPlay, returns));
        played(&policy, &projection, Engine { basis, precision: Precision::Single }, &job, (2, 19))
    };
    let all = |alone: bool| {
        let mut out = Vec::new();
        for basis in BASES {
            for (floor, delay, batch, ridge, offset, intercept, returns) in [
                (0.2, Delay::Rounds(0), 1, 0.5, 0.3, true, Returns::Mean),
                (0.0, Delay::Rounds(0), 1, 1.0, 0.0, false, Returns::Realized),
                (0.1, Delay::Rounds(0), 1, 2.0, 0.5, false, Returns::Mean),
                (0.0, Delay::Rounds(0), 1, 1.0, 0.0, true, Returns::Realized),
                // Late ones: more steps first, then fewer, then more.
                (0.2, Delay::Rounds(2), 1, 0.5, 0.3, true, Returns::Mean),
                (0.0, Delay::Rounds(9), 4, 1.0, 0.0, false, Returns::Realized),
                (0.1, Delay::Rounds(28), 1, 2.0, 0.5, false, Returns::Mean),
                (0.0, Delay::Rounds(1), 1, 1.0, 0.0, true, Returns::Realized),
            ] {
                let world = World { floor, delay, batch, ..World::plain(30) };
                let play = || play(world, ridge, offset, intercept, returns, basis);
                out.push(match alone {
                    true => std::thread::scope(|scope| scope.spawn(play).join().unwrap()),
                    false => play(),
                });
            }
        }
        out
    };
    assert!(all(true) == all(false), "a job depends on those before it");
}

/// Rank, dimension, arms, and whether the last feature is constant.
const SMALL: [(usize, usize, usize, bool); 6] = [
    (8, 8, 4, false),
    (16, 16, 2, false),
    (3, 20, 4, false),
    (1, 9, 3, false),
    (5, 5, 3, true),
    (2, 7, 3, true),
];

#[test]
fn lanes_agree_with_the_dense_engine() {
    check_agreement(&SMALL, World::plain(100));
}

/// 200 instances in single precision: nine in ten have the runs of double precision (a tie that rounds otherwise ends the rest), and
/// the gradients of those are off by at most 1e-4 of their length, or twice what they are off by one after the other.
fn check_agreement(sizes: &[(usize, usize, usize, bool)], world: World) {
    const INSTANCES: usize = 200;
    for &(rank, dim, arms, intercept) in sizes {
        let space = space(rank, dim, false);
        let projection = Projection::new(&space.w, rank, dim, space.ridge).with_intercept(intercept);
        let problem = problem(dim - usize::from(intercept), arms, 100).with_world(world).unwrap();
        let policy = CoSoftElim { gamma: 4.0, learn_gamma: false };
        let basis = if rank == dim { Basis::Features } else { Basis::Projected };
        let job = job(&problem, SELF);
        let engine = Engine { basis, precision: Precision::Single };
        assert_eq!(engine.is_side_by_side(&projection, &job), matches!(world.delay, Delay::Rounds(_)));
        let side = played(&policy, &projection, engine, &job, (0, INSTANCES));
        let (mut dense, mut exact) = (side.clone(), side.clone());
        let how = (basis, Pace::of(&world, rank));
        let out = Output { outcomes: &mut dense.0, gradients: &mut dense.1, curves: &mut [] };
        play::with::<One<f32>>(&policy, &projection, &job, how, 0, out).unwrap();
        let out = Output { outcomes: &mut exact.0, gradients: &mut exact.1, curves: &mut [] };
        play::with::<One<f64>>(&policy, &projection, &job, how, 0, out).unwrap();
        let off = |(outcomes, gradients): &(Vec<Outcome>, Vec<f64>)| {
            let same = |i: &usize| (outcomes[*i].reward - exact.0[*i].reward).abs() < 1e-4;
            let same: Vec<_> = (0..INSTANCES).filter(same).collect();
            let what = format!("{rank} x {dim}, {world}");
            assert!(same.len() >= INSTANCES * 9 / 10, "{what}: {} runs are the same", same.len());
            let entries = same.iter().flat_map(|i| i * rank * dim..(i + 1) * rank * dim);
            let (mut off, mut all) = (0.0, 0.0);
            for i in entries {
                off += (gradients[i] - exact.1[i]).powi(2);
                all += exact.1[i].powi(2);
            }
            (off / all).sqrt()
        };
        let (side, dense) = (off(&side), off(&dense));
        let what = format!("{rank} x {dim}, {world}");
        assert!(side <= f64::max(1e-4, 2.0 * dense), "{what}: {side}, one after the other {dense}");
    }
}

/// 300 instances, the same draws: the mean paired difference of reward, and of the sum of the gradient, is within
/// 4.5 standard errors of 0 (a correct engine fails one of the six with probability below 1e-4).
#[test]
fn single_precision_agrees_with_double_on_average() {
    const INSTANCES: usize = 300;
    for (dim, arms, horizon) in [(8, 4, 200), (20, 3, 200), (48, 2, 200)] {
        let projection = Projection::new(&space(dim, dim, false).w, dim, dim, 1.0);
        let problem = problem(dim, arms, horizon);
        let policy = CoSoftElim { gamma: 4.0, learn_gamma: false };
        let play = |precision: Precision| {
            let (out, gradients) = played(
                &policy,
                &projection,
                Engine { basis: Basis::Features, precision },
                &job(&problem, SELF),
                (0, INSTANCES),
            );
            let sums =
                gradients.chunks_exact(dim * dim).map(|row| row.iter().sum::<f64>()).collect::<Vec<_>>();
            (out.iter().map(|outcome| outcome.reward).collect::<Vec<_>>(), sums)
        };
        let (single, double) = (play(Precision::Single), play(Precision::Double));
        for (what, a, b) in [("reward", single.0, double.0), ("gradient", single.1, double.1)] {
            let n = INSTANCES as f64;
            let differences: Vec<_> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            let mean = differences.iter().sum::<f64>() / n;
            let error =
                (differences.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
            assert!(mean.abs() <= 4.5 * error + 1e-6, "d = {dim}, {what}: {mean} +- {error}");
        }
    }
}

/// d = 1, x = 1, lambda -> 0, every arm pulled: SoftElim with w = sqrt(2 / gamma).
#[test]
fn without_contexts_it_is_softelim() {
    let (arms, gamma) = (3, 4.0_f64);
    let pulls: Vec<_> = [0, 1, 2, 2, 1, 0, 1, 2, 2, 2].map(oracle::Choice::of).into();
    let mut instance = drawn(&job(&problem(1, arms, 11), SELF), 0);
    instance.contexts.fill(1.0);
    let space = Space { w: vec![1.0], rank: 1, dim: 1, ridge: 1e-9 };
    let estimates: Vec<_> = (0..arms).map(|i| space.arm(&instance, arms, &pulls, 10, i, false)).collect();
    let history = |arm: usize| {
        (0..10)
            .filter(|&t| pulls[t].arm == arm)
            .map(|t| f64::from(instance.rewards[t * arms + arm]))
            .collect::<Vec<_>>()
    };
    let counts: Vec<_> = (0..arms).map(|arm| history(arm).len() as f64).collect();
    let means: Vec<_> = (0..arms).map(|arm| history(arm).iter().sum::<f64>() / counts[arm]).collect();
    let (best, w) = (means.iter().copied().fold(f64::MIN, f64::max), (2.0 / gamma).sqrt());
    let weights: Vec<_> =
        (0..arms).map(|i| (-2.0 * (best - means[i]).powi(2) * counts[i] / (w * w)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let (mu, v): (Vec<_>, Vec<_>) = estimates.iter().map(|arm| (One(arm.mu), One(arm.v))).unzip();
    let policy = CoSoftElim { gamma, learn_gamma: false };
    for k in 0..1000 {
        let u = (f64::from(k) + 0.5) / 1000.0;
        let arm = act(&policy, &mu, &v, &[One(u)]);
        let below: f64 = weights[..arm].iter().sum();
        assert!(below / total <= u + 1e-6 && u - 1e-6 <= (below + weights[arm]) / total, "{u}: arm {arm}");
    }
}

fn act<R: Number, P: LinearKernel>(policy: &P, mu: &[R], v: &[R], draws: &[R]) -> usize {
    let (mut mean, mut variance, mut scalars) = (mu.to_vec(), v.to_vec(), [R::of(0.0); 2]);
    let mut slopes = Slopes { mean: &mut mean, variance: &mut variance, scalars: &mut scalars };
    LinearKernel::act::<R, false>(policy, mu, v, draws, &mut slopes).indices()[0] as usize
}

#[test]
fn hard_choices_take_the_largest_bound_and_the_lowest_arm_on_ties() {
    let (mu, v) = ([1.0, 0.5, 1.5, 1.5].map(One::<f32>), [0.0, 4.0, 0.25, 0.25].map(One::<f32>));
    let hard = |alpha| SoftUcb { alpha, temperature: 1.0, hard: true };
    for (alpha, arm) in [(0.0, 2), (1.0, 1), (0.5, 2)] {
        assert_eq!(act(&hard(alpha), &mu, &v, &[One(0.3)]), arm);
        assert_eq!(act(&LinUcb { alpha }, &mu, &v, &[]), arm);
    }
}
