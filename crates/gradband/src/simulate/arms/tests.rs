//! A multi-armed policy played plainly: one run in double precision, everything kept, what it sees computed anew in each
//! round. The tests of the catalogue compare the engine with it.

use super::{ArmsKernel, Counted, History, SINGLE_PRECISION_HORIZON, sum_of};
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use crate::problem::RewardModel;
use crate::simulate::Trajectory;
use crate::simulate::instances::{self, armed};
use crate::simulate::job::{Job, Task};
use crate::simulate::late::{Schedule, forced};

type D = One<f64>;

/// A pull, its reward and what the policy noted of it.
struct Pull {
    arm: usize,
    reward: f64,
    notes: Vec<D>,
    known: bool,
}

/// What a policy sees of an arm: pulls, the sum that goes with its mean, the mean; and how many rewards are known.
fn seen(past: &[Pull], arm: usize, past_mean: f64) -> (f64, f64, f64, f64) {
    let of_arm = || past.iter().filter(|pull| pull.arm == arm);
    let (pulls, known) = (of_arm().count() as f64, of_arm().filter(|pull| pull.known).count() as f64);
    let sum: f64 = of_arm().filter(|pull| pull.known).map(|pull| pull.reward).sum();
    let mean = if known > 0.0 { sum / known } else { past_mean };
    (pulls, mean * pulls, mean, known)
}

fn counted(past: &[Pull], arm: usize, past_mean: f64) -> Counted<D> {
    let (count, sum, mean, known) = seen(past, arm, past_mean);
    Counted { count: One(count), known: One(known), mean: One(mean), sum: One(sum) }
}

pub(super) fn replay<const N: usize, P: ArmsKernel<N>>(
    policy: &P,
    job: &Job,
    instance: u64,
    run: usize,
) -> Trajectory {
    let (arms, armed, world) = (job.problem.arms, armed(job).unwrap(), job.problem.world());
    let mut means = vec![0.0; arms];
    instances::draw(job, armed, instance, &mut [], &mut means).unwrap();
    let best = (0..arms).rev().max_by(|&i, &j| means[i].total_cmp(&means[j])).unwrap();
    let mut words = Stream::<D>::new((), job.reward_key(), instance);
    let mut actions = Stream::<D>::new((), job.action_key(run), instance);
    let [mut coins, mut order] =
        [job.coin_key(run), job.order_key(run)].map(|key| Stream::<D>::new((), key, instance));
    let mut schedule = Schedule::new(job.problem);
    schedule.draw(job, instance);
    let past_mean = if world.is_plain() { 0.0 } else { job.problem.past_mean() };
    let mut own = vec![One(0.0); policy.slots(arms)];
    let notes_from = own.len() - P::NOTES;
    let mut score = [One(0.0); N];
    policy.start(job.task != Task::Evaluate, &mut own, &mut actions, &mut score);
    let mut past: Vec<Pull> = Vec::new();
    let mut out = Trajectory::default();
    for round in 0..job.problem.horizon {
        for s in schedule.due(round) {
            past[s].known = true;
            own[notes_from..].copy_from_slice(&past[s].notes);
            let arm = past[s].arm;
            policy.update(One(arm as f64), One(past[s].reward), counted(&past, arm, past_mean), &mut own);
        }
        let all: Vec<_> = (0..arms).map(|arm| seen(&past, arm, past_mean)).collect();
        let pulls: Vec<_> = all.iter().map(|arm| One(arm.0)).collect();
        let sums: Vec<_> = all.iter().map(|arm| One(arm.1)).collect();
        let averages: Vec<_> = all.iter().map(|arm| One(arm.2)).collect();
        let untried: Vec<_> = (0..arms).filter(|&arm| pulls[arm].0 == 0.0).collect();
        let before = score;
        let in_order = policy.each_arm_once() && world.is_plain() && round < arms;
        let mut arm = round;
        if !in_order {
            let uniform = if P::DRAWS { actions.uniform() } else { One(0.0) };
            let history = History { round, pulls: &pulls, sums: &sums, means: &averages, uniform };
            arm = policy.act::<D, 0, true>(&history, &mut own, &mut actions, &mut score).0 as usize;
        }
        let u = order.uniform().0;
        if !world.is_plain() && policy.each_arm_once() && !untried.is_empty() {
            arm = untried[(u * untried.len() as f64) as usize];
            score = before;
        }
        if world.floor > 0.0 {
            if let Some(named) = forced(coins.uniform().0, world.floor, arms) {
                (arm, score) = (named, before);
            }
            policy.played(One(arm as f64), world.floor, &mut own);
        }
        let word = words.next_word();
        let draw = |arm: usize| (&armed.rewards).draw(word, One(arm as f64), One(means[arm])).0;
        let weight = world.horizon.weight(round);
        out.arms.push(arm);
        out.pulled.push((weight * means[arm], weight * draw(arm)));
        out.best.push((weight * means[best], weight * draw(best)));
        out.scores.push(score.map(|x| x.0).to_vec());
        score = [One(0.0); N];
        let mut reward = draw(arm);
        if P::BERNOULLI_ROUNDING && !(&armed.rewards).binary() {
            reward = f64::from(u8::from(actions.uniform().0 < reward));
        }
        past.push(Pull { arm, reward, notes: own[notes_from..].to_vec(), known: false });
        policy.recount(One(arm as f64), counted(&past, arm, past_mean), &mut own);
    }
    out
}

/// Every sum where counts are small, and near the ends of the largest.
#[test]
fn means_of_zeros_and_ones_have_one_sum() {
    let check = |sum: usize, count: usize| {
        let (sum, count) = (sum as f32, count as f32);
        assert_eq!(sum_of(One(sum / count), One(count)).0, sum, "{sum} of {count}");
    };
    for count in 1..=1000 {
        (0..=count).for_each(|sum| check(sum, count));
    }
    for count in (1001..=SINGLE_PRECISION_HORIZON).step_by(37).chain([SINGLE_PRECISION_HORIZON]) {
        (0..=count).step_by(211).chain(count - 9..=count).for_each(|sum| check(sum, count));
    }
    assert_eq!(sum_of(One(0.0_f32), One(0.0)).0, 0.0);
}
