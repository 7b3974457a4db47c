//! One run, everything kept, for policies with or without contexts. The tests of the catalogue compare the engine with
//! it.

use super::*;
use crate::simulate::Trajectory;

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
    let (arms, horizon) = (job.problem.arms, job.problem.horizon);
    let (drawn, table) = tables(job, instance);
    let mut actions = Random(Stream::new((), job.action_key(run), instance));
    let mut score = vec![0.0; policy.dim()];
    let mut state = policy.start(job.task != Task::Evaluate, &mut actions, &mut score);
    let mut out = Trajectory::default();
    for (t, table) in table.chunks_exact(arms).enumerate() {
        // Counted anew from the whole past.
        let rewards = |arm: usize| -> Vec<f64> {
            let past = out.arms.iter().zip(&out.pulled).filter(|&(&pulled, _)| pulled == arm);
            past.map(|(_, &(_, reward))| reward).collect()
        };
        let pulls: Vec<_> = (0..arms).map(|arm| rewards(arm).len() as f64).collect();
        let sums: Vec<_> = (0..arms).map(|arm| rewards(arm).iter().sum::<f64>()).collect();
        let means: Vec<_> = sums.iter().zip(&pulls).map(|(sum, pulls)| sum / pulls.max(1.0)).collect();
        let statistics = [pulls, sums, means].concat();
        let seen = Seen::new((t, horizon), arms, &statistics, 1);
        let dim = drawn.contexts.len() / horizon;
        let round = Round { seen, context: &drawn.contexts[t * dim..(t + 1) * dim] };
        let arm = policy.act(&mut state, &round, &mut actions, Some(&mut score));
        policy.update(&mut state, &round, arm, table[arm].1);
        let best = (0..arms).rev().max_by(|&i, &j| table[i].0.total_cmp(&table[j].0)).unwrap();
        out.arms.push(arm);
        out.pulled.push(table[arm]);
        out.best.push(table[best]);
        out.scores.push(std::mem::replace(&mut score, vec![0.0; policy.dim()]));
    }
    out
}
