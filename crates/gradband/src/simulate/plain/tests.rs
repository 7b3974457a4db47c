//! One run, everything kept, for policies with or without contexts, in any world. The tests of the catalogue compare the
//! engine with it.

use super::*;
use crate::numeric::stream::Key;
use crate::policy::tests::{problems, rules};
use crate::policy::{Choice, Policy, named};
use crate::problem::{Prior, Problem, RewardModel, Split};
use crate::simulate::late::tests::known_in;
use crate::simulate::{Baseline, Trajectory};

/// Mean and reward of each arm in each round.
fn tables(job: &Job, instance: u64) -> (Instance, Vec<(f64, f64)>) {
    let (arms, horizon) = (job.problem.arms, job.problem.horizon);
    let mut drawn = Instance::default();
    let Some(armed) = job.problem.armed() else {
        job.problem.draw_contexts(job.split, job.key, instance, &mut drawn).unwrap();
        let pairs = drawn.means.iter().zip(&drawn.rewards);
        let table = pairs.map(|(&mean, &reward)| (f64::from(mean), f64::from(reward))).collect();
        return (drawn, table);
    };
    let mut means = vec![0.0; arms];
    instances::draw(job, armed, instance, &mut [], &mut means).unwrap();
    let mut words = Stream::<One<f64>>::new((), job.reward_key(), instance);
    let mut table = Vec::new();
    for _ in 0..horizon {
        let word = words.next_word();
        let draw = |arm: usize| (&armed.rewards).draw(word, One(arm as f64), One(means[arm])).0;
        table.extend((0..arms).map(|arm| (means[arm], draw(arm))));
    }
    (drawn, table)
}

pub(super) fn replay<P: PlainKernel>(policy: &P, job: &Job, instance: u64, run: usize) -> Trajectory {
    let (arms, horizon, world) = (job.problem.arms, job.problem.horizon, job.problem.world());
    let (drawn, table) = tables(job, instance);
    let dim = drawn.contexts.len() / horizon;
    let context = |t: usize| &drawn.contexts[t * dim..(t + 1) * dim];
    let (known_in, past_mean) = (known_in(job, instance), job.problem.past_mean());
    let mut actions = Random(Stream::new((), job.action_key(run), instance));
    let mut coins = Random(Stream::new((), job.coin_key(run), instance));
    let mut orders = Random(Stream::new((), job.order_key(run), instance));
    let mut score = vec![0.0; policy.dim()];
    let mut state = policy.start(job.task != Task::Evaluate, &mut actions, &mut score);
    let (mut out, mut rewards) = (Trajectory::default(), Vec::new());
    for (t, table) in table.chunks_exact(arms).enumerate() {
        // Counted anew from the whole past.
        let rounds = |arm: usize| (0..t).filter(|&s| out.arms[s] == arm).collect::<Vec<_>>();
        let known = |arm: usize| -> Vec<f64> {
            rounds(arm).into_iter().filter(|&s| known_in[s] <= t).map(|s| rewards[s]).collect()
        };
        let pulls: Vec<_> = (0..arms).map(|arm| rounds(arm).len() as f64).collect();
        let mean = |arm: usize| match known(arm) {
            known if known.is_empty() && world.is_plain() => 0.0,
            known if known.is_empty() => past_mean,
            known => known.iter().sum::<f64>() / known.len() as f64,
        };
        let means: Vec<_> = (0..arms).map(mean).collect();
        let sum = |arm: usize| match world.is_prompt() {
            true => known(arm).iter().sum(),
            false => means[arm] * pulls[arm],
        };
        let statistics = [pulls.clone(), (0..arms).map(sum).collect(), means.clone()].concat();
        let seen = Seen::new((t, world.horizon.end(t)), arms, &statistics, 1);
        for s in (0..t).filter(|&s| known_in[s] == t) {
            policy.update(&mut state, &Round { seen, context: context(s) }, out.arms[s], rewards[s]);
        }
        let round = Round { seen, context: context(t) };
        let (coin, order) = (coins.uniform(), orders.uniform());
        let untried: Vec<_> = (0..arms).filter(|&arm| policy.each_arm_once() && pulls[arm] == 0.0).collect();
        let arm = if coin < world.floor * arms as f64 {
            (coin / world.floor) as usize
        } else if untried.is_empty() {
            policy.act(&mut state, &round, &mut actions, Some(&mut score))
        } else if world.is_plain() {
            untried[0]
        } else {
            untried[(order * untried.len() as f64) as usize]
        };
        policy.pulled(&mut state, &round, arm);
        let best = (0..arms).rev().max_by(|&i, &j| table[i].0.total_cmp(&table[j].0)).unwrap();
        let weigh = |(mean, reward): (f64, f64)| {
            let weight = world.horizon.weight(t);
            (weight * mean, weight * reward)
        };
        rewards.push(table[arm].1);
        out.arms.push(arm);
        out.pulled.push(weigh(table[arm]));
        out.best.push(weigh(table[best]));
        out.scores.push(std::mem::replace(&mut score, vec![0.0; policy.dim()]));
    }
    out
}

/// Regret, regret after some rounds and gradient against trajectories that were kept, in every world: a rule with more
/// parameters than lanes take, explore-then-commit in contexts, and what knows nothing.
#[test]
fn engine_and_replay_agree_in_every_world() {
    let own = Policy::own(rules::FiveStages);
    let kinds =
        [own.kind().clone(), named("contextual-explore-then-commit").unwrap(), named("random").unwrap()];
    let armed = Problem::bernoulli(Prior::beta(3, 1.0, 2.0).unwrap()).horizon(30).build().unwrap();
    let mut tested = 0;
    for problem in &[armed, problems::discrete()].map(|plain| problems::in_worlds(&plain)).concat() {
        for kind in kinds.iter().filter(|kind| kind.refusal(problem).is_none()) {
            // Random arms without contexts are played in lanes.
            if kind.name() == "random" && problem.contextual().is_none() {
                continue;
            }
            let choice = Choice::initial(kind, problem).unwrap();
            let player = choice.player(problem, &mut ()).unwrap();
            for task in problems::tasks(&choice, &*player) {
                let marks = [1, 9, 30];
                let job = Job { marks: &marks, ..Job::new(problem, Key::new(8), Split::Train, task) };
                let told = problems::play(&*player, &job, 5, 6);
                for i in 0..6 {
                    let runs: Vec<_> =
                        (0..task.runs()).map(|r| player.trajectory(&job, 5 + i as u64, r).unwrap()).collect();
                    let what = format!("{} on {problem}, {task:?}", kind.name());
                    let regret = |mark: usize| -> f64 {
                        let gap = |t: usize, run: &Trajectory| run.best[t].0 - run.pulled[t].0;
                        let all = runs.iter().flat_map(|run| (0..mark).map(move |t| gap(t, run)));
                        all.sum::<f64>() / runs.len() as f64
                    };
                    assert!((told.outcomes[i].regret - regret(30)).abs() < 1e-9, "{what}");
                    for (&mark, &found) in marks.iter().zip(&told.curves[3 * i..3 * i + 3]) {
                        assert!((found - regret(mark)).abs() < 1e-9, "{what}, after {mark} rounds");
                    }
                    let expected = stored(task, &runs);
                    let dim = if task == Task::Evaluate { 0 } else { player.dim() };
                    for (found, expected) in told.gradients[i * dim..(i + 1) * dim].iter().zip(expected) {
                        assert!(
                            (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                            "{what}: {found}, {expected}"
                        );
                    }
                    tested += 1;
                }
            }
        }
    }
    assert!(tested > 500, "{tested}");
}

/// Equation 4 of the paper from whole trajectories: for each round its score times return minus reference from there on.
fn stored(task: Task, runs: &[Trajectory]) -> Vec<f64> {
    let Task::Gradient(baseline, returns) = task else { return Vec::new() };
    let of = |(mean, reward): (f64, f64)| if returns == Returns::Mean { mean } else { reward };
    let (horizon, dim) = (runs[0].arms.len(), runs[0].scores[0].len());
    let mut total = vec![0.0; dim];
    let scored: Vec<_> = (0..runs.len()).filter(|&r| baseline.scores(r)).collect();
    for &r in &scored {
        let excess = |t: usize| {
            let others = (0..runs.len()).filter(|&other| other != r).map(|other| of(runs[other].pulled[t]));
            let reference = match baseline {
                Baseline::None => 0.0,
                Baseline::Opt => of(runs[r].best[t]),
                _ => others.clone().sum::<f64>() / others.count() as f64,
            };
            of(runs[r].pulled[t]) - reference
        };
        for t in 0..horizon {
            let ahead: f64 = (t..horizon).map(excess).sum();
            for (total, score) in total.iter_mut().zip(&runs[r].scores[t]) {
                *total += ahead * score / scored.len() as f64;
            }
        }
    }
    total
}
