//! What must hold for every policy of the catalogue, and for rules of one's own just the same: the streamed estimator is
//! the stored one, scores are derivatives of log-probabilities, and a machine without vector instructions gets the same
//! bits.

#[path = "../../tests/oracle/mod.rs"]
mod oracle;
#[path = "../../tests/problems/mod.rs"]
pub(crate) mod problems;
#[path = "../../tests/rules/mod.rs"]
pub(crate) mod rules;

use super::{Choice, POLICIES, Policy, PolicyKind};
use crate::exact::{CountKernel, Part};
use crate::numeric::simd::Lanes;
use crate::numeric::simd::tests::{on_lesser_machines, wide_lanes};
use crate::numeric::stream::Key;
use crate::problem::{Points, Prior, Problem, Split};
use crate::simulate::{Baseline, Job, Returns, Task, Trajectory};
use oracle::{Naive, Past};
use problems::{play, tasks};

/// Policies whose scores are tested beside their engines, which have oracles of their own.
const ELSEWHERE: [&str; 5] = ["lstm", "cosoftelim", "soft-ucb", "lin-thompson", "lin-epsilon-greedy"];

/// The catalogue, and rules of one's own.
fn kinds() -> Vec<PolicyKind> {
    let own = [
        Policy::own(rules::SoftElimRule { knows_slopes: false }),
        Policy::own(rules::SoftElimRule { knows_slopes: true }),
        Policy::own(rules::EpsilonGreedyRule),
        Policy::own(rules::Restless),
    ];
    POLICIES.iter().cloned().chain(own.iter().map(|policy| policy.kind().clone())).collect()
}

/// The policies that have a score on a problem, each at three settings of its numbers: shares of the way through the
/// first unit of where training keeps them.
fn scored(problem: &Problem) -> Vec<Choice> {
    let mut found = Vec::new();
    for kind in kinds().iter().filter(|kind| kind.refusal(problem).is_none()) {
        if !kind.learns_something() || ELSEWHERE.contains(&kind.name()) {
            continue;
        }
        let initial = Choice::initial(kind, problem).unwrap();
        if initial.unscored(problem).unwrap().is_some() {
            continue;
        }
        found.extend([0.1, 0.4, 0.9].map(|share| {
            let number = |slot: &super::Slot| {
                let (low, high) = slot.param.feasible.on(problem);
                low.max(0.0) + share * (high.min(low.max(0.0) + 1.0) - low.max(0.0))
            };
            let numbers: Vec<_> = initial.slots().iter().map(number).collect();
            initial.with_params(problem, &numbers).unwrap()
        }));
    }
    found
}

fn job(problem: &Problem, task: Task) -> Job<'_> {
    Job { lanes: Lanes::Double, ..Job::new(problem, Key::new(4), Split::Train, task) }
}

fn trajectory(choice: &Choice, job: &Job, instance: u64, run: usize) -> Trajectory {
    let player = choice.player(job.problem, &mut ()).unwrap();
    let found = player.trajectory(job, instance, run);
    found.unwrap_or_else(|| panic!("nothing tests the scores of {}", choice.name()))
}

/// sum over t of score_t (sum over s >= t of values_s - b_t), with b_t the same sum of references.
fn stored(run: &Trajectory, values: &[f64], reference: &[f64]) -> Vec<f64> {
    let ahead = |t: usize| values[t..].iter().sum::<f64>() - reference[t..].iter().sum::<f64>();
    let param = |p: usize| (0..values.len()).map(|t| run.scores[t][p] * ahead(t)).sum();
    (0..run.scores[0].len()).map(param).collect()
}

/// Equation 4 of the paper, from whole trajectories.
fn stored_gradient(choice: &Choice, job: &Job, instance: u64) -> Vec<f64> {
    let Task::Gradient(baseline, returns) = job.task else { panic!("no gradient") };
    let runs: Vec<_> = (0..job.task.runs()).map(|run| trajectory(choice, job, instance, run)).collect();
    let of = |pairs: &[(f64, f64)]| -> Vec<f64> {
        pairs.iter().map(|&(mean, reward)| if returns == Returns::Mean { mean } else { reward }).collect()
    };
    let values: Vec<_> = runs.iter().map(|run| of(&run.pulled)).collect();
    match baseline {
        Baseline::None => stored(&runs[0], &values[0], &vec![0.0; values[0].len()]),
        Baseline::Opt => stored(&runs[0], &values[0], &of(&runs[0].best)),
        Baseline::SelfPlay => stored(&runs[0], &values[0], &values[1]),
        Baseline::LeaveOneOut(m) => {
            let mut mean = vec![0.0; runs[0].scores[0].len()];
            for r in 0..m {
                let of_others = |t: usize| {
                    let others = (0..m).filter(|&other| other != r);
                    others.map(|other| values[other][t]).sum::<f64>() / (m - 1) as f64
                };
                let reference: Vec<_> = (0..values[r].len()).map(of_others).collect();
                let one = stored(&runs[r], &values[r], &reference);
                mean.iter_mut().zip(one).for_each(|(mean, x)| *mean += x / m as f64);
            }
            mean
        }
    }
}

#[test]
fn streaming_equals_the_stored_form() {
    let prior = |arms| Prior::beta(arms, 1.0, 2.0).unwrap();
    let points = Points::new(vec![vec![0.3, -0.2], vec![0.1, 0.5]], Some(vec![1.0, 3.0])).unwrap();
    let problems = [
        Problem::bernoulli(prior(2)).horizon(40),
        Problem::beta(prior(3), 4.0).horizon(40),
        Problem::bernoulli(prior(12)).horizon(40),
        Problem::gaussian(Prior::Points(points), 0.7).horizon(25),
    ]
    .map(|problem| problem.build().unwrap());
    // Trajectories are slow: fewer of them in each world.
    let worlds = problems[..2].iter().flat_map(|problem| problems::in_worlds(problem).into_iter().skip(1));
    let problems: Vec<_> = worlds.chain(problems.iter().cloned()).collect();
    let mut tested = 0;
    for problem in problems.iter().chain([&problems::discrete()]) {
        for choice in scored(problem) {
            let player = choice.player(problem, &mut ()).unwrap();
            for task in tasks(&choice, &*player).into_iter().filter(|&task| task != Task::Evaluate) {
                let job = job(problem, task);
                let instances = if problem.world().is_plain() { 12 } else { 2 };
                let streamed = play(&*player, &job, 100, instances).gradients;
                for (i, streamed) in streamed.chunks_exact(player.dim()).enumerate() {
                    let expected = stored_gradient(&choice, &job, 100 + i as u64);
                    for (streamed, expected) in streamed.iter().zip(expected) {
                        assert!(
                            (streamed - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                            "{} on {problem}, {task:?}: streamed {streamed}, stored {expected}",
                            choice.label()
                        );
                    }
                }
            }
            tested += 1;
        }
    }
    assert!(tested >= 3 * 90, "{tested}");
}

/// The probabilities of all arms given a past of ones and zeros.
fn probabilities(policy: &dyn CountKernel, arms: usize, past: &Past) -> Vec<f64> {
    let counts = |of: &dyn Fn(usize) -> f64| (0..arms).map(|arm| of(arm) as u32).collect::<Vec<_>>();
    let (pulls, successes) = (counts(&|arm| past.pulls(arm)), counts(&|arm| past.sum(arm)));
    let (mut pi, mut dpi) = (vec![0.0; arms], vec![0.0; arms * policy.dim()]);
    policy.probabilities(&pulls, &successes, &mut pi, &mut dpi);
    pi
}

/// The probabilities that a policy had in a round, by every definition there is of it apart from its engine: a formula,
/// and the one that exact results use. A policy that is drawn before the first round is not of this kind.
fn definitions(choice: &Choice, problem: &Problem, past: &Past) -> Vec<Vec<f64>> {
    let naive = Naive::named(choice.name(), problem.horizon);
    let naive = naive.map(|naive| naive.probabilities(choice.params(), problem.arms, past));
    let counts = parts(choice, problem).map(|parts| probabilities(&*parts[0].policy, problem.arms, past));
    naive.into_iter().chain(counts).collect()
}

fn parts(choice: &Choice, problem: &Problem) -> Option<Vec<Part>> {
    choice.kind().parts(problem, choice, &mut ()).unwrap()
}

/// The same policy with one of its numbers moved.
fn moved(choice: &Choice, problem: &Problem, param: usize, step: f64) -> Choice {
    let mut params = choice.params().to_vec();
    params[param] += step;
    choice.with_params(problem, &params).unwrap()
}

/// Each round's score against central differences of the log-probability of its choice, to 1e-6.
fn check_scores(choice: &Choice, problem: &Problem, run: &Trajectory) {
    const STEP: f64 = 1e-6;
    let mut past = Past::default();
    for (t, &arm) in run.arms.iter().enumerate() {
        for (param, &score) in run.scores[t].iter().enumerate() {
            let [up, down] = [STEP, -STEP].map(|step| {
                let choice = moved(choice, problem, param, step);
                definitions(&choice, problem, &past)
            });
            assert!(!up.is_empty(), "nothing defines the probabilities of {}", choice.name());
            for (up, down) in up.iter().zip(&down) {
                let difference = (up[arm].ln() - down[arm].ln()) / (2.0 * STEP);
                assert!(
                    (score - difference).abs() < 1e-6 * (1.0 + difference.abs()),
                    "{} on {problem}, round {t}, parameter {param}: score {score}, difference {difference}",
                    choice.label()
                );
            }
        }
        past.0.push((arm, run.pulled[t].1));
    }
}

/// A policy that is drawn before the first round, in training each part as often as the others: the score is that part's
/// slope over its probability.
fn check_drawn(choice: &Choice, problem: &Problem, run: &Trajectory, parts: &[Part]) {
    let follows = |part: &&Part| {
        let mut past = Past::default();
        run.arms.iter().zip(&run.pulled).all(|(&arm, &(_, reward))| {
            let possible = probabilities(&*part.policy, problem.arms, &past)[arm] > 0.0;
            past.0.push((arm, reward));
            possible
        })
    };
    let drawn: Vec<_> = parts.iter().filter(follows).collect();
    let [part] = drawn[..] else { panic!("{} parts of {} play so", drawn.len(), choice.name()) };
    for (param, slope) in part.slopes.iter().enumerate() {
        let total: f64 = run.scores.iter().map(|score| score[param]).sum();
        assert_eq!(total, slope * parts.len() as f64, "{}", choice.label());
    }
}

#[test]
fn scores_are_derivatives_of_log_probabilities() {
    let task = Task::Gradient(Baseline::None, Returns::Realized);
    let mut tested = Vec::new();
    for arms in [2, 3, 5] {
        let prior = Prior::beta(arms, 1.0, 1.0).unwrap();
        let problem = Problem::bernoulli(prior).horizon(14).build().unwrap();
        for choice in scored(&problem) {
            for instance in 0..40 {
                let run = trajectory(&choice, &job(&problem, task), instance, 0);
                match parts(&choice, &problem) {
                    Some(parts) if parts.len() > 1 => check_drawn(&choice, &problem, &run, &parts),
                    _ => check_scores(&choice, &problem, &run),
                }
            }
            tested.push(choice.name().to_string());
        }
    }
    for name in
        ["exp3", "softelim", "soft-index", "boltzmann", "epsilon-greedy", "explore-then-commit", "Restless"]
    {
        assert!(tested.iter().any(|tested| tested == name), "{name}");
    }
}

/// The slopes that exact gradients are made of, against differences of the probabilities: all arms, not only the chosen.
#[test]
fn slopes_are_derivatives_of_probabilities() {
    const STEP: f64 = 1e-6;
    let problem = Problem::bernoulli(Prior::beta(3, 1.0, 1.0).unwrap()).horizon(60).build().unwrap();
    let counts: [([u32; 3], [u32; 3]); 5] = [
        ([1, 1, 1], [0, 0, 1]),
        ([2, 5, 3], [1, 5, 0]),
        ([9, 4, 7], [3, 2, 3]),
        ([20, 1, 30], [9, 1, 12]),
        ([6, 6, 6], [3, 3, 3]),
    ];
    for choice in scored(&problem) {
        let Some(parts) = parts(&choice, &problem) else { continue };
        for (pulls, successes) in &counts {
            let at = |choice: &Choice| {
                let policy = &self::parts(choice, &problem).unwrap()[0].policy;
                let (mut pi, mut dpi) = (vec![0.0; 3], vec![0.0; 3 * policy.dim()]);
                policy.probabilities(pulls, successes, &mut pi, &mut dpi);
                (pi, dpi)
            };
            for param in 0..parts[0].policy.dim() {
                let [up, down] = [STEP, -STEP].map(|step| at(&moved(&choice, &problem, param, step)).0);
                for (arm, slope) in at(&choice).1[3 * param..3 * param + 3].iter().enumerate() {
                    let difference = (up[arm] - down[arm]) / (2.0 * STEP);
                    assert!(
                        (slope - difference).abs() < 1e-6 * (1.0 + slope.abs()),
                        "{}, {pulls:?}, arm {arm}, parameter {param}: {slope}, difference {difference}",
                        choice.label()
                    );
                }
            }
        }
    }
}

/// Regret after some of the rounds, noted on the way, against the sum over the rounds of a trajectory that was kept.
#[test]
fn marks_are_the_regret_so_far() {
    let marks = [1, 2, 9, 29, 30];
    let mut tested = 0;
    for problem in problems::problems() {
        let most = if problem.world().is_plain() { 30 } else { problem.horizon() };
        let problem = if problem.world().is_plain() { problem.with_horizon(most).unwrap() } else { problem };
        for kind in kinds().iter().filter(|kind| kind.refusal(&problem).is_none()) {
            let player = problems::choice(kind, &problem).player(&problem, &mut ()).unwrap();
            let job = Job { marks: &marks, ..job(&problem, Task::Evaluate) };
            let curves = play(&*player, &job, 3, 5).curves;
            for (i, curve) in curves.chunks_exact(marks.len()).enumerate() {
                let Some(run) = player.trajectory(&job, 3 + i as u64, 0) else { continue };
                let gap = |t: usize| run.best[t].0 - run.pulled[t].0;
                for (&mark, &found) in marks.iter().zip(curve) {
                    let expected: f64 = (0..mark).map(gap).sum();
                    let what = format!("{} on {problem}, after {mark} rounds", kind.name());
                    assert!((found - expected).abs() < 1e-9, "{what}: {found}, kept {expected}");
                }
                tested += 1;
            }
        }
    }
    assert!(tested > 200, "{tested}");
}

/// What a machine without long registers runs, and one without vector instructions (one lane, fused multiply-adds in software), has the
/// bits of what others run: every policy, every engine.
#[test]
fn lesser_machines_get_the_same_bits() {
    if wide_lanes().is_empty() {
        return;
    }
    for problem in problems::problems() {
        for kind in kinds().iter().filter(|kind| kind.refusal(&problem).is_none()) {
            let choice = problems::choice(kind, &problem);
            let player = choice.player(&problem, &mut ()).unwrap();
            for task in [Task::Evaluate, Task::Gradient(Baseline::LeaveOneOut(3), Returns::Mean)] {
                if task != Task::Evaluate && (choice.params().is_empty() || player.unscored().is_some()) {
                    continue;
                }
                let job = Job::new(&problem, Key::new(6), Split::Train, task);
                let whole = play(&*player, &job, 7, 20);
                for lesser in on_lesser_machines(|| play(&*player, &job, 7, 20)) {
                    assert_eq!(lesser, whole, "{} on {problem}, {task:?}", kind.name());
                }
            }
        }
    }
}
