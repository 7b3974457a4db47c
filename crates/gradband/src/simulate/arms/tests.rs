//! The streaming kernel against the stored form of the estimator (equation 4 of the paper): the same runs,
//! replayed plainly, with whole trajectories kept.

use super::*;
use crate::policy::{Boltzmann, EpsilonGreedy, Exp3, ExploreThenCommit, SoftElim, exp3::Score};
use crate::problem::{Points, Prior};

type D = One<f64>;

/// One run as the paper writes it: arms, returns, and the score of each round's choice.
struct Trajectory {
    values: Vec<f64>,
    scores: Vec<f64>,
    words: Vec<crate::numeric::lanes::OneWord>,
}

fn replay<P: Policy>(policy: &P, job: &Job, instance: u64, r: u64, means: &[f64]) -> Trajectory {
    let arms = means.len();
    let mut words = Stream::<D>::new((), job.key.child(REWARDS), instance);
    let mut actions = Stream::<D>::new((), job.key.child(ACTIONS + r), instance);
    let (mut pulls, mut sums, mut averages) =
        (vec![One(0.0); arms], vec![One(0.0); arms], vec![One(0.0); arms]);
    let mut own = vec![One(0.0); policy.slots(arms)];
    let mut out = Trajectory { values: vec![], scores: vec![], words: vec![] };
    let mut start = One(0.0);
    policy.start(true, &mut own, &mut actions, &mut start);
    for round in 0..job.problem.horizon {
        let word = words.next_word();
        let mut score = One(0.0);
        let arm = if P::EACH_ARM_ONCE && round < arms {
            One(round as f64)
        } else {
            let history = History { round, pulls: &pulls, sums: &sums, means: &averages };
            policy.act::<D, 0, true>(&history, &mut own, &mut actions, &mut score)
        };
        let i = arm.0 as usize;
        let reward = job.problem.armed().unwrap().rewards.draw(word, arm, One(means[i]));
        out.values.push(match job.task {
            Task::Gradient(_, Returns::Mean) => means[i],
            _ => reward.0,
        });
        // A score of the start belongs to the first round.
        out.scores.push(score.0 + if round == 0 { start.0 } else { 0.0 });
        out.words.push(word);
        pulls[i] = pulls[i] + 1.0;
        sums[i] = sums[i] + reward;
        averages[i] = sums[i] / pulls[i];
        policy.update(arm, reward, pulls[i], &mut own);
    }
    out
}

/// sum over t of score_t (sum over s >= t of values_s - b_t), with b_t the same sum of references.
fn stored(run: &Trajectory, reference: &[f64]) -> f64 {
    (0..run.values.len())
        .map(|t| run.scores[t] * (run.values[t..].iter().sum::<f64>() - reference[t..].iter().sum::<f64>()))
        .sum()
}

fn stored_gradient<P: Policy>(policy: &P, job: &Job, instance: u64) -> f64 {
    let mut means = vec![0.0; job.problem.arms];
    let mut prior = Stream::<D>::new((), job.key.child(PRIOR), instance);
    job.problem.armed().unwrap().prior.sample(job.split, &mut prior, &mut means);
    let runs: Vec<_> =
        (0..job.task.runs() as u64).map(|r| replay(policy, job, instance, r, &means)).collect();
    let best = (0..means.len()).rev().max_by(|&i, &j| means[i].total_cmp(&means[j])).unwrap();
    let Task::Gradient(baseline, returns) = job.task else { panic!("no gradient") };
    match baseline {
        Baseline::None => stored(&runs[0], &vec![0.0; job.problem.horizon]),
        Baseline::Opt => {
            let draw =
                |&word| job.problem.armed().unwrap().rewards.draw(word, One(best as f64), One(means[best])).0;
            let reference: Vec<_> = match returns {
                Returns::Mean => vec![means[best]; job.problem.horizon],
                Returns::Realized => runs[0].words.iter().map(draw).collect(),
            };
            stored(&runs[0], &reference)
        }
        Baseline::SelfPlay => stored(&runs[0], &runs[1].values),
        Baseline::LeaveOneOut(m) => {
            let mean_of_others = |r: usize, t: usize| {
                let others = runs.iter().enumerate().filter(|&(other, _)| other != r);
                others.map(|(_, run)| run.values[t]).sum::<f64>() / (m - 1) as f64
            };
            let one = |r: usize| {
                let reference: Vec<_> = (0..job.problem.horizon).map(|t| mean_of_others(r, t)).collect();
                stored(&runs[r], &reference)
            };
            (0..m).map(one).sum::<f64>() / m as f64
        }
    }
}

fn check<P: Policy>(name: &str, policy: &P, problem: &Problem) {
    for baseline in [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(3)] {
        for returns in [Returns::Realized, Returns::Mean] {
            let task = Task::Gradient(baseline, returns);
            let job = Job { lanes: Lanes::Double, ..Job::new(problem, Key::new(4), Split::Train, task) };
            let mut out = [Outcome::default(); 20];
            rollout(policy, &job, 100, &mut out);
            for (i, outcome) in out.iter().enumerate() {
                let expected = stored_gradient(policy, &job, 100 + i as u64);
                let tolerance = 1e-9 * (1.0 + expected.abs());
                assert!(
                    (outcome.gradient - expected).abs() < tolerance,
                    "{name}, {baseline:?}, {returns:?}: streamed {}, stored {expected}",
                    outcome.gradient
                );
            }
        }
    }
}

#[test]
fn streaming_equals_the_stored_form() {
    let prior = |arms: usize| Prior::beta(vec![1.0; arms], vec![2.0; arms]).unwrap();
    let points =
        Prior::Points(Points::new(vec![vec![0.3, -0.2], vec![0.1, 0.5]], Some(vec![1.0, 3.0])).unwrap());
    let gaussian = Problem::new("g", Rewards::Gaussian { noise_sd: 0.7 }, points, 25).unwrap();
    for (arms, rewards) in
        [(2, Rewards::Bernoulli), (3, Rewards::Beta { concentration: 4.0 }), (12, Rewards::Bernoulli)]
    {
        let problem = Problem::new("p", rewards, prior(arms), 40).unwrap();
        check("softelim", &SoftElim::new(0.6), &problem);
        check("boltzmann", &Boltzmann::new(0.3), &problem);
        check("epsilon-greedy", &EpsilonGreedy::new(0.15), &problem);
        check("exp3", &Exp3::new(0.3, arms, Score::Total), &problem);
        check("exp3, paper", &Exp3::new(0.3, arms, Score::Paper), &problem);
        if arms == 2 {
            check("explore-then-commit", &ExploreThenCommit::new(3.4, 40), &problem);
        }
    }
    check("softelim", &SoftElim::new(0.6), &gaussian);
    check("explore-then-commit", &ExploreThenCommit::new(12.0, 25), &gaussian);
}

/// What a machine without AVX2 runs (one lane, fused multiply-adds in software) has the bits of what others run.
#[test]
fn machines_without_wide_lanes_get_the_same_bits() {
    fn check<P: Policy>(policy: &P, problem: &Problem, task: Task) {
        let job = Job::new(problem, Key::new(6), Split::Train, task);
        let (mut plain, mut fast) = ([Outcome::default(); 40], [Outcome::default(); 40]);
        with_model::<One<f32>, P>((), policy, problem.armed().unwrap(), &job, 7, &mut plain);
        rollout(policy, &job, 7, &mut fast);
        assert_eq!(plain, fast);
    }
    let gradient = Task::Gradient(Baseline::LeaveOneOut(3), Returns::Mean);
    for name in ["bernoulli-2", "beta-2", "bernoulli-10"] {
        let problem = Problem { horizon: 60, ..Problem::named(name).unwrap() };
        check(&SoftElim::new(0.5), &problem, gradient);
        check(&Exp3::new(0.2, problem.arms, Score::Total), &problem, gradient);
        check(&Boltzmann::new(0.2), &problem, gradient);
        check(&EpsilonGreedy::new(0.2), &problem, gradient);
        check(&crate::policy::Thompson, &problem, Task::Evaluate);
        check(&crate::policy::Ucb1::new(60), &problem, Task::Evaluate);
        check(&crate::policy::UcbV::new(problem.arms, 60), &problem, Task::Evaluate);
    }
}
