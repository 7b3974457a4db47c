//! A multi-armed policy played plainly: one run in double precision, everything kept. The tests of the catalogue compare
//! the engine with it.

use super::*;
use crate::numeric::lanes::One;
use crate::simulate::Trajectory;

type D = One<f64>;

pub(super) fn replay<const N: usize, P: ArmsKernel<N>>(
    policy: &P,
    job: &Job,
    instance: u64,
    run: usize,
) -> Trajectory {
    let (arms, armed) = (job.problem.arms, armed(job).unwrap());
    let mut means = vec![0.0; arms];
    instances::draw(job, armed, instance, &mut [], &mut means).unwrap();
    let best = (0..arms).rev().max_by(|&i, &j| means[i].total_cmp(&means[j])).unwrap();
    let mut words = Stream::<D>::new((), job.reward_key(), instance);
    let mut actions = Stream::<D>::new((), job.action_key(run), instance);
    let zeros = |count: usize| vec![One(0.0); count];
    let (mut pulls, mut sums, mut averages) = (zeros(arms), zeros(arms), zeros(arms));
    let mut own = zeros(policy.slots(arms));
    let mut score = [One(0.0); N];
    policy.start(job.task != Task::Evaluate, &mut own, &mut actions, &mut score);
    let mut out = Trajectory::default();
    for round in 0..job.problem.horizon {
        let word = words.next_word();
        let arm = if P::EACH_ARM_ONCE && round < arms {
            One(round as f64)
        } else {
            let history = History { round, pulls: &pulls, sums: &sums, means: &averages };
            policy.act::<D, 0, true>(&history, &mut own, &mut actions, &mut score)
        };
        let i = arm.0 as usize;
        let draw = |arm: usize| (&armed.rewards).draw(word, One(arm as f64), One(means[arm])).0;
        out.arms.push(i);
        out.pulled.push((means[i], draw(i)));
        out.best.push((means[best], draw(best)));
        out.scores.push(score.map(|x| x.0).to_vec());
        score = [One(0.0); N];
        let mut reward = draw(i);
        if P::BERNOULLI_ROUNDING && !(&armed.rewards).binary() {
            reward = f64::from(u8::from(actions.uniform().0 < reward));
        }
        pulls[i] = pulls[i] + 1.0;
        sums[i] = sums[i] + One(reward);
        averages[i] = sums[i] / pulls[i];
        policy.update(arm, One(reward), pulls[i], &mut own);
    }
    out
}
