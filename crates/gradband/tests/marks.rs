//! Regret over rounds comes from one pass: of the same runs, cut short, whatever the engine.
#![allow(clippy::unwrap_used)]

use crate::problems::{Told, choice, classes, play, problems, tasks};
use crate::rules;
use gradband::policy::{Choice, POLICIES, Policy, PolicyKind, ready};
use gradband::problem::{Problem, Split};
use gradband::simulate::{Job, Key, Task};
use gradband::{Comparison, Simulator};

/// Policies that play a short horizon in another way than the beginning of a long one.
const KNOW_THE_HORIZON: [&str; 5] = ["soft-index", "ucb-v", "gittins", "bayes-optimal", "Restless"];

fn kinds() -> Vec<PolicyKind> {
    let own = [
        Policy::own(rules::SoftElimRule { knows_slopes: false }),
        Policy::own(rules::Restless),
        Policy::own_linear(rules::SoftUcbRule),
    ];
    POLICIES.iter().cloned().chain(own.iter().map(|policy| policy.kind().clone())).collect()
}

/// What is noted on the way changes nothing else: outcomes and gradients keep their bits, and the last mark is the regret.
#[test]
fn marks_are_not_observable() {
    for problem in problems() {
        let marks = [1, problem.horizon() / 2, problem.horizon()];
        for kind in kinds().iter().filter(|kind| kind.refusal(&problem).is_none()) {
            let choice = choice(kind, &problem);
            let player = choice.player(&problem, &mut ()).unwrap();
            for task in tasks(&choice, &*player) {
                let job = Job::new(&problem, Key::new(9), Split::HeldOut, task);
                let plain = play(&*player, &job, 0, 19);
                let Told { outcomes, gradients, curves } =
                    play(&*player, &Job { marks: &marks, ..job }, 0, 19);
                let what = format!("{} on {problem}, {task:?}", kind.name());
                for (outcome, curve) in outcomes.iter().zip(curves.chunks_exact(3)) {
                    assert!(curve.is_sorted(), "{what}: {curve:?}");
                    // Several runs of a network are averaged one by one on the way, and at once at the end.
                    let off = (curve[2] - outcome.regret).abs();
                    assert!(off <= 1e-14 * outcome.regret, "{what}: {curve:?}, {outcome:?}");
                }
                assert_eq!((outcomes, gradients), (plain.outcomes, plain.gradients), "{what}");
            }
        }
    }
}

/// Policies that do not know the horizon: the regret after `mark` rounds has the bits of that of a run which ends there.
/// Those that do know it are listed, and do differ.
#[test]
fn marks_are_the_regret_of_shorter_runs() {
    let mut differ = Vec::new();
    // Where the end is unknown a shorter run is another problem.
    for problem in problems().into_iter().filter(|problem| problem.world().horizon.is_fixed()) {
        let marks = [11, 24, problem.horizon()];
        for kind in kinds().iter().filter(|kind| kind.refusal(&problem).is_none()) {
            let choice = choice(kind, &problem);
            let regrets = |problem: &Problem, choice: &Choice, marks: &[usize]| {
                let player = choice.player(problem, &mut ()).unwrap();
                let job = Job::new(problem, Key::new(9), Split::HeldOut, Task::Evaluate);
                let Told { outcomes, curves, .. } = play(&*player, &Job { marks, ..job }, 0, 19);
                (outcomes.iter().map(|outcome| outcome.regret).collect::<Vec<_>>(), curves)
            };
            let (_, curves) = regrets(&problem, &choice, &marks);
            for (m, &mark) in marks.iter().enumerate() {
                let short = problem.with_horizon(mark).unwrap();
                let Ok(same) = choice.with_params(&short, choice.params()) else { continue };
                let alone = regrets(&short, &same, &[]).0;
                let cut: Vec<_> = curves.iter().skip(m).step_by(marks.len()).copied().collect();
                if alone != cut {
                    let known = KNOW_THE_HORIZON.contains(&kind.name());
                    assert!(known, "{} on {problem}, after {mark} rounds", kind.name());
                    differ.push(kind.name().to_string());
                }
            }
        }
    }
    let known = |name: &&str| differ.iter().any(|differs| differs == name);
    assert_eq!(KNOW_THE_HORIZON.iter().copied().filter(known).collect::<Vec<_>>(), KNOW_THE_HORIZON);
}

/// The same through the front door: curves never fall and end at the evaluation's regret.
#[test]
fn curves_end_at_the_regret() {
    for problem in ["bernoulli-2", "beta-2", "linear-1"]
        .map(|name| Problem::named(name).unwrap())
        .iter()
        .chain([&classes()])
    {
        let n = problem.horizon();
        let names: Vec<&str> = ready(problem)
            .filter(|kind| kind.preparation_seconds(problem) < 1.0)
            .map(PolicyKind::name)
            .collect();
        let rounds = vec![1, n / 4, n / 2, n - 1, n];
        let simulator = Simulator::new(problem).seed(7).instances(60);
        let plain = simulator.compare(names.iter().copied()).unwrap();
        let curves = simulator.rounds(rounds.clone()).compare(names.iter().copied()).unwrap();
        for (i, name) in names.iter().enumerate() {
            let curve = curves.curve(i);
            assert_eq!(curve.iter().map(|point| point.0).collect::<Vec<_>>(), rounds);
            assert!(curve.iter().map(|point| point.1.mean).is_sorted(), "{problem}, {name}: {curve:?}");
            assert_eq!(curve[4].1, plain.regret(i), "{problem}, {name}");
            assert_eq!(curves.regret(i), plain.regret(i), "{problem}, {name}");
        }
        assert_eq!(plain.curve(0), []);
    }
}

/// UCB-V's width depends on the horizon: half a run is not a run of half the horizon.
#[test]
fn policies_still_play_for_the_whole_horizon() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let simulate = |problem: &Problem, rounds: Vec<usize>| -> Comparison {
        Simulator::new(problem).seed(7).instances(2000).rounds(rounds).compare(["ucb-v"]).unwrap()
    };
    let half = simulate(&problem, vec![100]).curve(0)[0].1;
    let own = simulate(&problem.with_horizon(100).unwrap(), vec![]).regret(0);
    assert!(half.mean > own.mean + 4.0 * own.std_error.hypot(half.std_error), "{half:?}, {own:?}");
}

#[test]
fn marks_are_within_the_horizon_and_rise() {
    let problem = Problem::named("bernoulli-2").unwrap();
    for rounds in [vec![0], vec![201], vec![5, 5], vec![9, 3]] {
        let error = Simulator::new(&problem).rounds(rounds.clone()).evaluate("ucb1").unwrap_err();
        assert!(error.to_string().starts_with("rounds["), "{rounds:?}: {error}");
    }
}
