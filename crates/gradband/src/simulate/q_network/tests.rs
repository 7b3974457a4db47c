//! The network against differences, and among the other policies; its training is tested where that is.

use super::*;
use crate::numeric::lanes::Best;
use crate::problem::{Bernoulli, Beta, Points, Prior, Problem, Rewards, Split};
use crate::simulate::Task;
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};

fn played<const COUNT: usize>(player: &dyn Player, job: &Job, first: u64) -> [Outcome; COUNT] {
    let mut outcomes = [Outcome::default(); COUNT];
    let out = Output { outcomes: &mut outcomes, gradients: &mut [], curves: &mut [] };
    player.rollout(job, first, out).unwrap();
    outcomes
}

/// Rather positive weights: few units are dead.
fn weights(dqn: &Dqn) -> Vec<f64> {
    let mut stream = Stream::<One<f64>>::new((), Key::new(7), 0);
    (0..dqn.len()).map(|_| stream.uniform().0 - 0.3).collect()
}

/// Half the squared distance of the values from a third of their arm's number.
fn loss(dqn: &Dqn, params: &[f64], trace: &mut Trace) -> f64 {
    let values = Network::new(dqn, params).forward(trace).iter().enumerate();
    let terms = values.flat_map(|(arm, lanes)| lanes.map(|value| f64::from(value) - arm as f64 / 3.0));
    terms.map(|excess| 0.5 * excess * excess).sum()
}

#[test]
fn gradient_is_the_slope_of_the_loss() {
    // Neither 21 hidden units nor 19 inputs fill the columns or lanes of a product.
    let dqn = Dqn { arms: 3, hidden: 21, time: true };
    let params = weights(&dqn);
    let mut trace = Trace::new(&dqn);
    for lane in 0..WIDTH {
        let counts = [[lane as f32, 2.0], [0.5, 3.5 * lane as f32], [1.0, 9.0]];
        dqn.observe(&counts, lane, 100, lane, trace.inputs());
    }
    let network = Network::new(&dqn, &params);
    network.forward(&mut trace);
    let (mut errors, mut gradient) = (Errors::new(&dqn), WeightSums::new(&dqn));
    for (arm, (error, value)) in errors.values().iter_mut().zip(trace.values()).enumerate() {
        *error = value.map(|value| value - arm as f32 / 3.0);
    }
    network.backward(&trace, &mut errors, &mut gradient);
    let mut out = vec![0.0; dqn.len()];
    gradient.take(1.0, &mut out);
    let largest = out.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    for (i, slope) in out.iter().enumerate() {
        let mut at = |step: f64| {
            let mut moved = params.clone();
            moved[i] += step;
            loss(&dqn, &moved, &mut trace)
        };
        // So small that no unit is switched on or off on the way: there the loss has a kink.
        let difference = (at(2.5e-4) - at(-2.5e-4)) / 5e-4;
        assert!((difference - slope).abs() < 2e-3 * largest, "{i}: {difference} is not {slope}");
    }
    assert!(out.iter().filter(|slope| slope.abs() > 1e-2 * largest).count() > dqn.len() / 2);
}

#[test]
fn layout_covers_the_weights() {
    let dqn = Dqn::new(2, 64);
    let mut end = 0;
    for piece in dqn.layout() {
        assert_eq!(
            (piece.range.start, piece.range.len()),
            (end, piece.rows * piece.columns),
            "{}",
            piece.name
        );
        end = piece.range.end;
    }
    assert_eq!(end, dqn.len());
    assert_eq!(dqn.len(), 64 * 13 + 64 * 65 + 2 * 65);
}

#[test]
fn zero_weights_play_the_first_arm() {
    let prior = Prior::Points(Points::new(vec![vec![0.9, 0.1], vec![0.1, 0.9]], None).unwrap());
    let problem = Problem::bernoulli(prior).horizon(30).build().unwrap();
    let dqn = Dqn::new(2, 8);
    let player = QPlayer { dqn, params: vec![0.0; dqn.len()], horizon: 30 };
    let job = Job::new(&problem, Key::new(3), Split::HeldOut, Task::Evaluate);
    let outcomes: [Outcome; 37] = played(&player, &job, 5);
    for outcome in outcomes {
        let bad = outcome.reward < 15.0;
        let expected = if bad { (3.0, 24.0) } else { (27.0, 0.0) };
        assert!((outcome.reward - expected.0).abs() < 1e-9 && (outcome.regret - expected.1).abs() < 1e-9);
    }
    let some = |test: fn(f64) -> bool| outcomes.iter().any(|outcome| test(outcome.regret));
    assert!(some(|regret| regret > 1.0) && some(|regret| regret < 1.0));
}

/// Plays the arm with the smallest sum of rewards.
#[derive(Clone)]
struct Poorest;

impl ArmsKernel<0> for Poorest {
    const USES: Uses = Uses::Sums;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _: &mut [R],
        _: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let mut best = Best::first(-history.sums[0]);
        for (arm, &sum) in history.sums.iter().enumerate() {
            best.offer(arm, -sum);
        }
        best.arm
    }
}

/// The same policy as a network and in the engine of all others, which must agree in every choice.
#[test]
fn instances_and_rewards_are_those_of_other_policies() {
    let dqn = Dqn::new(3, 3);
    let mut params = vec![0.0; dqn.len()];
    let [first, _, second, _, last, _] = dqn.layout();
    for arm in 0..3 {
        params[first.range.start + arm * first.columns + STATISTICS * arm] = 1.0;
        params[second.range.start + arm * 4] = 1.0;
        params[last.range.start + arm * 4] = -1.0;
    }
    let player = QPlayer { dqn, params, horizon: 64 };
    for rewards in [Rewards::Bernoulli(Bernoulli), Rewards::Beta(Beta { concentration: 4.0 })] {
        let prior = Prior::betas(vec![2.0, 1.0, 1.0], vec![1.0, 1.0, 3.0]).unwrap();
        let problem = Problem::arms_with(rewards, prior).horizon(64).build().unwrap();
        let job = Job::new(&problem, Key::new(3), Split::HeldOut, Task::Evaluate);
        let (ours, theirs): ([_; 40], [_; 40]) = (played(&player, &job, 0), played(&Arms(Poorest), &job, 0));
        assert_eq!(ours, theirs, "{}", problem.kind());
        let alone: [_; 1] = played(&player, &job, 21);
        assert_eq!(alone[0], ours[21]);
    }
}

/// A network that is told of a longer horizon than is played: its regret after some of the rounds of the longer run.
#[test]
fn marks_are_the_regret_of_shorter_runs() {
    let dqn = Dqn { time: true, ..Dqn::new(2, 21) };
    let player = QPlayer { dqn, params: weights(&dqn), horizon: 60 };
    let long = Problem::named("bernoulli-2-uniform").unwrap().with_horizon(60).unwrap();
    let marks = [1, 16, 31, 60];
    let job = Job { marks: &marks, ..Job::new(&long, Key::new(4), Split::HeldOut, Task::Evaluate) };
    let (mut outcomes, mut curves) = ([Outcome::default(); 21], [0.0; 21 * 4]);
    let out = Output { outcomes: &mut outcomes, gradients: &mut [], curves: &mut curves };
    player.rollout(&job, 5, out).unwrap();
    for (m, &mark) in marks.iter().enumerate() {
        let short = long.with_horizon(mark).unwrap();
        let alone: [Outcome; 21] = played(&player, &Job { problem: &short, marks: &[], ..job }, 5);
        for (i, outcome) in alone.iter().enumerate() {
            assert_eq!(curves[i * marks.len() + m], outcome.regret, "after {mark} rounds");
        }
    }
    assert!(outcomes.iter().any(|outcome| outcome.regret > 0.0));
}
