use super::network::{Errors, Gradient};
use super::*;
use crate::evaluate::evaluate;
use crate::numeric::lanes::Best;
use crate::policy::{History, Policy, Random, Uses};
use crate::problem::{Points, Prior, Rewards, Split};
use crate::simulate::{Task, rollout};
use crate::{Problem, Result};
use std::ops::ControlFlow;

fn easy(horizon: usize) -> Result<Problem> {
    let prior = Points::new(vec![vec![0.9, 0.1], vec![0.1, 0.9]], None)?;
    Problem::new("easy", Rewards::Bernoulli, Prior::Points(prior), horizon)
}

fn short() -> Settings {
    Settings { updates: 1500, buffer: 256, checks: 3, check_instances: 500, ..Settings::default() }
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
    let (mut errors, mut gradient) = (Errors::new(&dqn), Gradient::new(&dqn));
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
fn zero_weights_play_the_first_arm() -> Result<()> {
    let (problem, dqn) = (easy(30)?, Dqn::new(2, 8));
    let player = Player { dqn, params: vec![0.0; dqn.len()], horizon: 30 };
    let job = Job::new(&problem, Key::new(3), Split::HeldOut, Task::Evaluate);
    let mut out = [Outcome::default(); 37];
    player.rollout(&job, 5, &mut out, &mut []);
    for outcome in out {
        let bad = outcome.reward < 15.0;
        let expected = if bad { (3.0, 24.0) } else { (27.0, 0.0) };
        assert!((outcome.reward - expected.0).abs() < 1e-9 && (outcome.regret - expected.1).abs() < 1e-9);
    }
    assert!(out.iter().any(|outcome| outcome.regret > 1.0) && out.iter().any(|outcome| outcome.regret < 1.0));
    Ok(())
}

/// Plays the arm with the smallest sum of rewards.
#[derive(Clone)]
struct Poorest;

impl Policy for Poorest {
    const USES: Uses = Uses::Sums;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _: &mut [R],
        _: &mut Stream<R>,
        _: &mut R,
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
fn instances_and_rewards_are_those_of_other_policies() -> Result<()> {
    let dqn = Dqn::new(3, 3);
    let mut params = vec![0.0; dqn.len()];
    let [first, _, second, _, last, _] = dqn.layout();
    for arm in 0..3 {
        params[first.range.start + arm * first.columns + STATISTICS * arm] = 1.0;
        params[second.range.start + arm * 4] = 1.0;
        params[last.range.start + arm * 4] = -1.0;
    }
    let player = Player { dqn, params, horizon: 64 };
    for rewards in [Rewards::Bernoulli, Rewards::Beta { concentration: 4.0 }] {
        let prior = Prior::beta(vec![2.0, 1.0, 1.0], vec![1.0, 1.0, 3.0])?;
        let problem = Problem::new("any", rewards, prior, 64)?;
        let job = Job::new(&problem, Key::new(3), Split::HeldOut, Task::Evaluate);
        let (mut ours, mut theirs) = ([Outcome::default(); 40], [Outcome::default(); 40]);
        player.rollout(&job, 0, &mut ours, &mut []);
        rollout(&Poorest, &job, 0, &mut theirs);
        assert_eq!(ours, theirs, "{rewards:?}");
        let mut alone = [Outcome::default()];
        player.rollout(&job, 21, &mut alone, &mut []);
        assert_eq!(alone[0], ours[21]);
    }
    Ok(())
}

#[test]
fn same_seed_same_weights() -> Result<()> {
    let (problem, dqn) = (easy(20)?, Dqn::new(2, 16));
    let settings = Settings { updates: 200, ..short() };
    let learn = |seed| train(&problem, &dqn, &settings, seed, &mut |_, _| ControlFlow::Continue(()));
    let first = learn(1);
    assert_eq!(first, learn(1));
    assert_ne!(first, learn(2));
    Ok(())
}

#[test]
fn training_can_be_stopped() -> Result<()> {
    let (problem, dqn) = (easy(20)?, Dqn::new(2, 16));
    let mut heard = Vec::new();
    let params = train(&problem, &dqn, &short(), 1, &mut |done, loss| {
        heard.push((done, loss));
        if done >= 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(heard.iter().map(|&(done, _)| done).collect::<Vec<_>>(), [100, 200]);
    assert!(heard.iter().all(|(_, loss)| loss.is_finite()) && params.len() == dqn.len());
    Ok(())
}

#[test]
fn training_beats_playing_at_random() -> Result<()> {
    let (problem, dqn) = (easy(20)?, Dqn::new(2, 32));
    let params = train(&problem, &dqn, &short(), 1, &mut |_, _| ControlFlow::Continue(()));
    let agents: [&dyn Agent; 2] = [&Player { dqn, params, horizon: 20 }, &Random];
    let evaluation = evaluate(&agents, &problem, 1, 2000, |_| ControlFlow::Continue(()));
    let regret = evaluation.map(|evaluation| [0, 1].map(|i| evaluation.regret(i).mean));
    // Playing at random costs 8; knowing only the first reward, and staying with the better arm, 1.5.
    assert!(regret.is_some_and(|regret| regret[0] < 2.5 && regret[1] > 7.5), "{regret:?}");
    Ok(())
}
