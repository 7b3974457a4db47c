//! The engine where rewards come late, every arm has a least share, and the end is unknown: against the same oracle, and
//! against itself where nothing is late.

use super::*;
use crate::problem::Horizon;

const IN_SINGLE: Engine = Engine { basis: Basis::Features, precision: Precision::Single };

/// Every part of a world by itself, and together.
fn worlds(rounds: usize) -> Vec<World> {
    let plain = World::plain(rounds);
    let uniform = Horizon::Uniform { from: rounds / 3, to: rounds };
    vec![
        World { delay: Delay::Rounds(3), ..plain },
        World { batch: 4, ..plain },
        World { delay: Delay::Rounds(2), batch: 5, ..plain },
        World { delay: Delay::Geometric { mean: 4.0 }, ..plain },
        World { delay: Delay::Geometric { mean: 2.0 }, batch: 3, ..plain },
        World { floor: 0.05, ..plain },
        World { horizon: uniform, ..plain },
        World { delay: Delay::Rounds(3), batch: 4, floor: 0.05, horizon: uniform },
        World { delay: Delay::Geometric { mean: 6.0 }, batch: 2, floor: 0.1, horizon: uniform },
    ]
}

#[test]
fn gradients_are_those_of_the_oracle_and_of_finite_differences() {
    for (space, arms, rounds) in [(space(3, 3, false), 3, 40), (space(2, 5, false), 2, 40)] {
        let problem = problem(space.dim, arms, rounds);
        for world in worlds(rounds) {
            check_policies_on(&space, &problem.with_world(world).unwrap(), true);
        }
    }
}

#[test]
fn larger_dimensions_agree_with_the_oracle() {
    for (dim, arms, singular) in [(8, 4, false), (12, 2, true), (20, 3, false), (26, 2, false)] {
        let problem = problem(dim, arms, 60);
        for world in worlds(60) {
            check_policies_on(&space(dim, dim, singular), &problem.with_world(world).unwrap(), false);
        }
    }
    // Five packs in a row, and six: tiles of four and what is left.
    for dim in [36, 48] {
        let policy = SoftUcb { alpha: 0.8, temperature: 0.4, hard: false };
        let problem = problem(dim, 2, 50);
        for world in worlds(50) {
            check(&policy, &space(dim, dim, false), &problem.with_world(world).unwrap(), SELF, false);
        }
    }
}

#[test]
fn all_baselines_and_returns_agree_with_the_oracle() {
    let (space, problem) = (space(4, 6, false), problem(6, 3, 40));
    for world in worlds(40) {
        let problem = problem.with_world(world).unwrap();
        for returns in [Returns::Realized, Returns::Mean] {
            for baseline in [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(4)] {
                let task = Task::Gradient(baseline, returns);
                check(&CoSoftElim { gamma: 1.0, learn_gamma: true }, &space, &problem, task, false);
            }
        }
    }
}

/// Where nothing is late the two matrices are one: 40 instances, regrets at marks and gradients, with and without a floor.
fn check_prompt<P: LinearKernel>(policy: &P, dim: usize, arms: usize) {
    let space = space(dim, dim, false);
    let projection = Projection::new(&space.w, dim, dim, space.ridge);
    let plain = problem(dim, arms, 50);
    for floor in [0.0, 0.08] {
        let problem = plain.with_world(World { floor, ..*plain.world() }).unwrap();
        let scored = LinearKernel::unscored(policy).is_none();
        let task =
            if scored { Task::Gradient(Baseline::LeaveOneOut(3), Returns::Mean) } else { Task::Evaluate };
        let job = Job { marks: &[1, 7, 50], ..job(&problem, task) };
        let play = |pace: Pace| {
            let length = if scored { gradient_len(policy, &projection) } else { 0 };
            let (mut outcomes, mut curves) = (vec![Outcome::default(); 40], vec![f64::NAN; 40 * 3]);
            let mut gradients = vec![f64::NAN; 40 * length];
            let out = Output { outcomes: &mut outcomes, gradients: &mut gradients, curves: &mut curves };
            play::with::<One<f64>>(policy, &projection, &job, (Basis::Features, pace), 0, out).unwrap();
            let rewards = outcomes.iter().flat_map(|outcome| [outcome.reward, outcome.regret]);
            (rewards.chain(curves).collect::<Vec<_>>(), gradients)
        };
        let (fast, late) = (play(Pace::of(problem.world(), dim)), play(Pace::Late));
        assert_close(&late.0, &fast.0, 1e-9, &format!("rewards, d = {dim}, {problem}"));
        assert_close(&late.1, &fast.1, 1e-9, &format!("gradients, d = {dim}, {problem}"));
    }
}

#[test]
fn without_delay_it_is_the_prompt_engine() {
    for (dim, arms) in [(2, 2), (8, 4), (20, 3), (48, 2)] {
        check_prompt(&CoSoftElim { gamma: 4.0, learn_gamma: true }, dim, arms);
        check_prompt(&SoftUcb { alpha: 0.8, temperature: 0.4, hard: false }, dim, arms);
        check_prompt(&SoftUcb { alpha: 0.8, temperature: 0.4, hard: true }, dim, arms);
        check_prompt(&LinThompson { noise_sd: 0.5, learn: true }, dim, arms);
        check_prompt(&LinThompson { noise_sd: 0.5, learn: false }, dim, arms);
        check_prompt(&LinEpsilonGreedy { epsilon: 0.3 }, dim, arms);
        check_prompt(&LinUcb { alpha: 0.7 }, dim, arms);
    }
}

/// With a floor of 1 / K the policy decides nothing, and nothing is learned.
#[test]
fn a_policy_without_a_say_has_no_gradient() {
    let prompt = World { floor: 1.0 / 3.0, ..World::plain(30) };
    for world in [prompt, World { delay: Delay::Rounds(5), ..prompt }] {
        let problem = problem(4, 3, 30).with_world(world).unwrap();
        let (policy, projection) = (LinThompson { noise_sd: 0.5, learn: true }, Projection::identity(4, 1.0));
        let (_, gradients) = played(&policy, &projection, IN_SINGLE, &job(&problem, SELF), (0, 30));
        assert!(gradients.iter().all(|&x| x == 0.0), "{world}");
    }
}

#[test]
fn bits_do_not_depend_on_the_block_of_instances() {
    for dim in [5, 8, 50] {
        let projection = Projection::identity(dim, 1.0);
        for world in worlds(60) {
            let problem = problem(dim, 4, 60).with_world(world).unwrap();
            let policy = SoftUcb { alpha: 1.0, temperature: 0.25, hard: false };
            let job = job(&problem, Task::Gradient(Baseline::LeaveOneOut(3), Returns::Mean));
            let play = |first, count| played(&policy, &projection, IN_SINGLE, &job, (first, count));
            let (all, gradients) = play(0, 5);
            let length = gradients.len() / 5;
            for i in 0..5 {
                let (out, gradient) = play(i as u64, 1);
                assert_eq!(out[0], all[i]);
                assert_eq!(gradient, gradients[i * length..(i + 1) * length]);
            }
        }
    }
}

/// Every delay, almost to the end, in odd dimensions and ranks from one up.
#[test]
fn every_rank_agrees_with_the_oracle() {
    let policy = SoftUcb { alpha: 0.8, temperature: 0.4, hard: false };
    for (dim, arms) in [(5, 3), (4, 9)] {
        for rank in 1..=dim {
            let problem = problem(dim, arms, 30);
            for world in worlds(30).into_iter().chain(slow_worlds(30)) {
                check(&policy, &space(rank, dim, false), &problem.with_world(world).unwrap(), SELF, false);
            }
        }
    }
}

/// Rewards of which few are ever known, or all at once: a world in which none is known is refused.
fn slow_worlds(rounds: usize) -> Vec<World> {
    let plain = World::plain(rounds);
    vec![
        World { delay: Delay::Rounds(1), ..plain },
        World { delay: Delay::Rounds(rounds - 2), ..plain },
        World { delay: Delay::Geometric { mean: rounds as f64 - 2.0 }, ..plain },
        World { batch: rounds - 1, ..plain },
        World { delay: Delay::Rounds(5), batch: rounds / 2, floor: 0.05, ..plain },
    ]
}

#[test]
fn bits_do_not_depend_on_the_lanes() {
    if wide_lanes().is_empty() {
        return;
    }
    for size in [(1, 3, 2), (5, 5, 3), (8, 8, 4), (2, 30, 10), (13, 13, 2)] {
        for world in worlds(40).into_iter().chain(slow_worlds(40)).filter(|world| !world.is_prompt()) {
            check_all_lanes(size, world);
        }
    }
}

#[test]
fn lanes_agree_with_the_dense_engine() {
    for world in worlds(100).into_iter().filter(|world| !world.is_prompt()) {
        check_agreement(&SMALL, world);
    }
}

/// 200 instances with all of it, the same draws: the mean paired difference between single and double precision of reward
/// and of the sum of the gradient is within 4.5 standard errors of 0.
#[test]
fn single_precision_agrees_with_double_on_average() {
    for (dim, arms) in [(8, 4), (20, 3)] {
        let projection = Projection::new(&space(dim, dim, false).w, dim, dim, 1.0);
        let world = World { delay: Delay::Rounds(20), floor: 0.02, ..World::plain(200) };
        let problem = problem(dim, arms, 200).with_world(world).unwrap();
        let policy = CoSoftElim { gamma: 4.0, learn_gamma: false };
        let [single, double] = [Precision::Single, Precision::Double].map(|precision| {
            let (out, gradients) = played(
                &policy,
                &projection,
                Engine { basis: Basis::Features, precision },
                &job(&problem, SELF),
                (0, 200),
            );
            let sums = gradients.chunks_exact(dim * dim).map(|row| row.iter().sum::<f64>());
            [out.iter().map(|outcome| outcome.reward).collect::<Vec<_>>(), sums.collect()]
        });
        for (a, b) in single.iter().zip(&double) {
            let n = a.len() as f64;
            let differences: Vec<_> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let mean = differences.iter().sum::<f64>() / n;
            let error =
                (differences.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
            assert!(mean.abs() <= 4.5 * error + 1e-6, "d = {dim}: {mean} +- {error}");
        }
    }
}
