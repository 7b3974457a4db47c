//! When rewards become known, and which rounds are not the policy's to decide: what all engines need in a world where
//! rewards come late and every arm has a least share.

use super::job::Job;
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use crate::problem::{Delay, Problem, World};
use std::ops::Range;

/// The rounds whose rewards become known just before each round. It is a property of the instance: all its runs and all
/// policies wait equally long.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    world: World,
    horizon: usize,
    /// With random delays: all rounds in the order in which their rewards become known, and for each round where its own
    /// begin.
    order: Vec<u32>,
    first: Vec<u32>,
}

impl Schedule {
    /// Of any instance, if delays are fixed; else it is still to be drawn.
    pub fn new(problem: &Problem) -> Self {
        Self { world: *problem.world(), horizon: problem.horizon, order: Vec::new(), first: Vec::new() }
    }

    /// Whether every instance has its own.
    pub fn is_random(&self) -> bool {
        matches!(self.world.delay, Delay::Geometric { .. })
    }

    /// Draws that of an instance, if delays are random.
    pub fn draw(&mut self, job: &Job, index: u64) {
        let Delay::Geometric { mean } = self.world.delay else { return };
        let mut stream = Stream::<One<f64>>::new((), job.delay_key(), index);
        // P(delay >= d) = (1 - p)^d with p = 1 / (1 + mean), turned around.
        let rate = 1.0 / (-1.0 / (1.0 + mean)).ln_1p();
        let horizon = self.horizon;
        let known_in: Vec<usize> = (0..horizon)
            .map(|round| {
                let delay = ((1.0 - stream.uniform().0).ln() * rate) as usize;
                self.world.known_in(round, delay).min(horizon)
            })
            .collect();
        // Sorted by counting: stable, so that rewards of one moment come in the order of their rounds.
        self.first.clear();
        self.first.resize(horizon + 2, 0);
        for &known in &known_in {
            self.first[known + 1] += 1;
        }
        for t in 0..=horizon {
            self.first[t + 1] += self.first[t];
        }
        let mut next = self.first.clone();
        self.order.resize(horizon, 0);
        for (round, &known) in known_in.iter().enumerate() {
            self.order[next[known] as usize] = round as u32;
            next[known] += 1;
        }
    }

    /// With fixed delays: the rounds whose rewards become known just before round `t`.
    #[inline(always)]
    pub fn even(&self, t: usize) -> Range<usize> {
        let Delay::Rounds(delay) = self.world.delay else { return 0..0 };
        if !t.is_multiple_of(self.world.batch) {
            return 0..0;
        }
        t.saturating_sub(self.world.batch + delay)..t.saturating_sub(delay)
    }

    /// With random delays: the same, in order.
    #[inline(always)]
    pub fn drawn(&self, t: usize) -> &[u32] {
        &self.order[self.first[t] as usize..self.first[t + 1] as usize]
    }

    /// Either.
    pub fn due(&self, t: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let drawn = if self.is_random() { self.drawn(t) } else { &[] };
        self.even(t).chain(drawn.iter().map(|&round| round as usize))
    }

    /// The longest time that a reward can be pending, in rounds.
    pub fn reach(&self) -> usize {
        match self.world.delay {
            Delay::Rounds(delay) => (delay + self.world.batch).min(self.horizon),
            Delay::Geometric { .. } => self.horizon,
        }
    }
}

/// The coin that keeps every arm at its least share: the arm that it names, or nothing if the round is the policy's.
/// The policy's probabilities pi become floor + (1 - K floor) pi, and its score stays that of its own choices.
#[inline(always)]
pub(crate) fn forced(u: f64, floor: f64, arms: usize) -> Option<usize> {
    (u < arms as f64 * floor).then(|| ((u / floor) as usize).min(arms - 1))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::numeric::stream::Key;
    use crate::problem::{Prior, Split};
    use crate::simulate::Task;

    /// The first round in which the reward of each is known, for the oracles of engines.
    pub(crate) fn known_in(job: &Job, index: u64) -> Vec<usize> {
        let (horizon, world) = (job.problem.horizon, job.problem.world());
        if let Delay::Rounds(delay) = world.delay {
            return (0..horizon).map(|round| world.known_in(round, delay)).collect();
        }
        let mut schedule = Schedule::new(job.problem);
        schedule.draw(job, index);
        let mut known = vec![usize::MAX; horizon];
        for t in 0..horizon {
            schedule.due(t).for_each(|round| known[round] = t);
        }
        known
    }

    /// Every round is due exactly when the world says, in order.
    #[test]
    fn schedules_are_those_of_the_world() {
        for (delay, batch) in
            [(Delay::Rounds(0), 1), (Delay::Rounds(3), 1), (Delay::Rounds(2), 5), (Delay::Rounds(0), 4)]
        {
            let builder = Problem::bernoulli(Prior::beta(2, 1.0, 1.0).unwrap()).horizon(23).delay(delay);
            let problem = builder.batch(batch).build().unwrap();
            let schedule = Schedule::new(&problem);
            let Delay::Rounds(rounds) = delay else { unreachable!() };
            for t in 0..23 {
                let expected: Vec<_> =
                    (0..23).filter(|&s| problem.world().known_in(s, rounds) == t).collect();
                assert_eq!(schedule.due(t).collect::<Vec<_>>(), expected, "{delay:?}, {batch}, round {t}");
                assert!(expected.iter().all(|s| t - s <= schedule.reach()));
            }
        }
    }

    /// 4,000 instances of 50 rounds: the mean delay, where the end does not cut it off, within 4 standard errors.
    #[test]
    fn random_delays_have_their_mean() {
        let builder = Problem::bernoulli(Prior::beta(2, 1.0, 1.0).unwrap()).horizon(400);
        let problem = builder.delay(Delay::Geometric { mean: 4.0 }).build().unwrap();
        let job = Job::new(&problem, Key::new(5), Split::Train, Task::Evaluate);
        let mut schedule = Schedule::new(&problem);
        let (mut count, mut total) = (0.0, 0.0);
        for index in 0..4000 {
            schedule.draw(&job, index);
            let mut seen = 0;
            for t in 0..400 {
                for s in schedule.due(t) {
                    assert!(s < t);
                    seen += 1;
                    if s < 50 {
                        count += 1.0;
                        total += (t - s - 1) as f64;
                    }
                }
            }
            assert!(seen <= 400);
        }
        let error = (total / count - 4.0_f64).abs() / (20.0_f64 / count).sqrt();
        assert!(count > 0.9999 * 200_000.0 && error < 4.0, "{} of {count}", total / count);
    }

    #[test]
    fn the_coin_gives_each_arm_its_floor() {
        let named =
            |arm| (0..10_000).filter(|&i| forced((f64::from(i) + 0.5) / 1e4, 0.05, 3) == Some(arm)).count();
        assert_eq!([named(0), named(1), named(2)], [500; 3]);
        assert_eq!(forced(0.9, 0.0, 3), None);
        assert_eq!(forced(0.999, 1.0 / 3.0, 3), Some(2));
    }
}
