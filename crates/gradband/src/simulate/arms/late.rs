//! Arms in a world where rewards come late, every arm has a least share, or the end is unknown: what the engine keeps
//! besides, and what it then shows a policy.
//!
//! ```text
//! before a round:  the rewards that become known are credited
//! the choice:      a coin names an arm (floor), else an arm that was never tried, in random order, else the policy
//! the pull:        counts at once; the mean is that of the rewards known, or that of past arms; sum = mean * pulls
//! ```
//! A round that is not the policy's to decide has no score: the estimate stays unbiased.

use super::kernel::{ArmsChooser, Needs};
use super::{Counted, Run};
use crate::numeric::lanes::{Mask, Real, add, pick, put};
use crate::numeric::stream::Stream;
use crate::simulate::job::Job;
use crate::simulate::late::Schedule;

/// Rounds whose weights are added up before they go to double precision.
const STRETCH: usize = 128;

/// The world of a job, for one vector of lanes after the other.
pub(super) struct Late<'a, R: Real> {
    token: R::Token,
    job: &'a Job<'a>,
    needs: Needs,
    floor: f64,
    /// The probability that each round is played, if the end is unknown.
    weights: Option<Vec<f64>>,
    /// What an arm stands at before anything is known of it.
    past_mean: f64,
    /// One for each lane; one for all if delays are fixed.
    schedules: Vec<Schedule>,
    /// Rounds that are kept until their rewards are known.
    reach: usize,
    runs: Vec<LateRun<R>>,
}

/// What a run keeps besides its statistics.
struct LateRun<R: Real> {
    coins: Stream<R>,
    order: Stream<R>,
    /// Has every lane tried every arm?
    all_tried: bool,
    /// How many rewards of each arm are known, and their sum.
    known: Vec<R>,
    credited: Vec<R>,
    /// The weights of the rounds in which each arm was pulled: of the last rounds, and of all before them, lane by lane.
    recent: Vec<R>,
    weighted: Vec<f64>,
    /// Arm and reward of each round that may be pending, then what the policy noted of it.
    arms: Vec<R>,
    rewards: Vec<R>,
    notes: Vec<R>,
}

/// The statistics of a run that a policy sees.
pub(super) struct Statistics<'a, R> {
    pub pulls: &'a mut [R],
    pub sums: &'a mut [R],
    pub means: &'a mut [R],
    pub own: &'a mut [R],
}

impl<'a, R: Real> Late<'a, R> {
    /// Nothing in the textbook's world.
    pub fn new(token: R::Token, job: &'a Job<'a>, needs: Needs) -> Option<Self> {
        let (problem, world) = (job.problem, job.problem.world());
        if world.is_plain() {
            return None;
        }
        let schedule = Schedule::new(problem);
        let (reach, random) = (schedule.reach(), schedule.is_random());
        Some(Self {
            token,
            job,
            needs,
            floor: world.floor,
            weights: problem.round_weights(),
            past_mean: problem.past_mean(),
            schedules: vec![schedule; if random { R::WIDTH } else { 1 }],
            reach,
            runs: Vec::new(),
        })
    }

    /// Back to the first round, with instances `first..`. The means of the arms, `means`, stand at that of past arms.
    #[inline(always)]
    pub fn start(&mut self, first: u64) {
        let (arms, token, job) = (self.job.problem.arms, self.token, self.job);
        if self.schedules[0].is_random() {
            for (lane, schedule) in self.schedules.iter_mut().enumerate() {
                schedule.draw(job, first + lane as u64);
            }
        }
        let zero = R::splat(token, 0.0);
        self.runs.clear();
        for r in 0..job.task.runs() {
            self.runs.push(LateRun {
                coins: Stream::new(token, job.coin_key(r), first),
                order: Stream::new(token, job.order_key(r), first),
                all_tried: false,
                known: vec![zero; arms],
                credited: vec![zero; arms],
                recent: vec![zero; arms],
                weighted: vec![0.0; if self.weights.is_some() { R::WIDTH * arms } else { 0 }],
                arms: vec![zero; self.reach],
                rewards: vec![zero; self.reach],
                notes: vec![zero; self.reach * self.needs.notes],
            });
        }
    }

    /// What an arm stands at before anything is known of it.
    pub fn past_mean(&self) -> R {
        R::splat(self.token, self.past_mean)
    }

    /// The rewards that become known before a round.
    #[inline(always)]
    pub fn credit<const K: usize, const N: usize, P: ArmsChooser<R, K, N> + ?Sized>(
        &mut self,
        policy: &P,
        r: usize,
        round: usize,
        seen: &mut Statistics<R>,
    ) {
        // Nothing is known before the first round.
        let Some(last) = round.checked_sub(1) else { return };
        let notes = self.needs.notes;
        let from = seen.own.len() - notes;
        if !self.schedules[0].is_random() {
            for s in self.schedules[0].even(round) {
                let at = s % self.reach;
                let run = &mut self.runs[r];
                let (arm, reward) = (run.arms[at], run.rewards[at]);
                seen.own[from..].copy_from_slice(&run.notes[at * notes..(at + 1) * notes]);
                let known = run.learn(arm, reward, arm.one(), self.past_mean, seen);
                if self.needs.learns {
                    policy.update(arm, reward, known, seen.own);
                }
            }
            return;
        }
        let due = |lane: usize| self.schedules[lane].drawn(round);
        let most = (0..R::WIDTH).map(|lane| due(lane).len()).max().unwrap_or(0);
        for i in 0..most {
            // A lane of which nothing is due learns nothing of the arm that it pulled last.
            let at = |lane: usize| due(lane).get(i).map_or(last, |&s| s as usize) % self.reach;
            let hit = R::from_fn(
                self.token,
                #[inline(always)]
                |lane| f64::from(u8::from(i < due(lane).len())),
            );
            let run = &mut self.runs[r];
            let gather = |from: &[R], stride: usize, offset: usize| {
                R::from_fn(
                    self.token,
                    #[inline(always)]
                    |lane| from[at(lane) * stride + offset].lane(lane),
                )
            };
            let (arm, reward) = (gather(&run.arms, 1, 0), gather(&run.rewards, 1, 0) * hit);
            for (note, out) in seen.own[from..].iter_mut().enumerate() {
                *out = gather(&run.notes, notes, note);
            }
            let known = run.learn(arm, reward, hit, self.past_mean, seen);
            if self.needs.learns {
                policy.update(arm, reward, known, seen.own);
            }
        }
    }

    /// The arm of a round: the coin's, one that was never tried, or the policy's. `before` are the scores without the
    /// policy's choice.
    #[inline(always)]
    pub fn decide<const K: usize, const N: usize, P: ArmsChooser<R, K, N> + ?Sized>(
        &mut self,
        policy: &P,
        r: usize,
        chosen: R,
        seen: &mut Statistics<R>,
        (run, before): (&mut Run<R, N>, [R; N]),
    ) -> R {
        let own_run = &mut self.runs[r];
        let (zero, one) = (chosen.zero(), chosen.one());
        let mut arm = chosen;
        let mut policys = zero.ge(zero);
        if self.needs.each_arm_once && !own_run.all_tried {
            let mut left = zero;
            for &pulls in seen.pulls.iter() {
                left = left + R::only(pulls.is(0.0), one);
            }
            // The lanes draw on until the last one is done: what they draw after that is never looked at.
            let mut skip = (own_run.order.uniform() * left).floor();
            skip = R::select(skip.lt(left), skip, skip - 1.0);
            for (i, &pulls) in seen.pulls.iter().enumerate() {
                let untried = pulls.is(0.0);
                arm = R::select(untried & skip.is(0.0), chosen.lit(i as f64), arm);
                skip = R::select(untried, skip - 1.0, skip);
            }
            policys = left.is(0.0);
            own_run.all_tried = !(!policys).any();
        }
        if self.floor > 0.0 {
            let arms = seen.pulls.len() as f64;
            let u = own_run.coins.uniform();
            let named = (u * u.lit(1.0 / self.floor)).floor();
            let named = R::select(named.lt(u.lit(arms)), named, u.lit(arms - 1.0));
            let free = u.ge(u.lit(arms * self.floor));
            arm = R::select(free, arm, named);
            policys = policys & free;
            policy.played(arm, self.floor, seen.own);
        }
        if run.scored {
            for (score, before) in run.score.iter_mut().zip(before).take(self.needs.params) {
                *score = R::select(policys, *score, before);
            }
        }
        arm
    }

    /// Counts a pull; its reward is kept until it is known.
    #[inline(always)]
    pub fn pull<const K: usize, const N: usize, P: ArmsChooser<R, K, N> + ?Sized>(
        &mut self,
        policy: &P,
        r: usize,
        round: usize,
        (arm, reward): (R, R),
        seen: &mut Statistics<R>,
    ) {
        let run = &mut self.runs[r];
        let count = add(seen.pulls, arm, arm.one());
        let mean = pick(seen.means, arm);
        let counted = Counted { count, known: pick(&run.known, arm), mean, sum: mean * count };
        put(seen.sums, arm, counted.sum);
        if self.needs.learns {
            policy.recount(arm, counted, seen.own);
        }
        let at = round % self.reach;
        (run.arms[at], run.rewards[at]) = (arm, reward);
        let notes = self.needs.notes;
        run.notes[at * notes..(at + 1) * notes].copy_from_slice(&seen.own[seen.own.len() - notes..]);
        if let Some(weights) = &self.weights {
            add(&mut run.recent, arm, arm.lit(weights[round]));
            if round % STRETCH == STRETCH - 1 {
                run.settle();
            }
        }
    }

    /// The probability that a round is played, if the end is unknown.
    #[inline(always)]
    pub fn weight(&self, round: usize) -> Option<R> {
        self.weights.as_ref().map(|weights| R::splat(self.token, weights[round]))
    }

    /// How often a lane of a run pulled each arm, a round counting by its weight; nothing if the end is known.
    #[inline(always)]
    pub fn pulls(&self, r: usize, lane: usize) -> Option<impl Iterator<Item = f64>> {
        self.weights.as_ref()?;
        let run = &self.runs[r];
        let before = &run.weighted[lane * run.known.len()..];
        Some(before.iter().zip(&run.recent).map(move |(before, recent)| before + recent.lane(lane)))
    }
}

impl<R: Real> LateRun<R> {
    /// A reward is known, where `hit` is one; elsewhere it is zero, and nothing changes.
    #[inline(always)]
    fn learn(&mut self, arm: R, reward: R, hit: R, past_mean: f64, seen: &mut Statistics<R>) -> Counted<R> {
        let known = add(&mut self.known, arm, hit);
        let sum = add(&mut self.credited, arm, reward);
        let mean = R::select(known.is(0.0), arm.lit(past_mean), sum / known.max(arm.one()));
        let count = pick(seen.pulls, arm);
        put(seen.means, arm, mean);
        let sum = mean * count;
        put(seen.sums, arm, sum);
        Counted { count, known, mean, sum }
    }

    /// Takes the weights of the last rounds over to double precision.
    #[inline(always)]
    fn settle(&mut self) {
        let arms = self.recent.len();
        for (arm, recent) in self.recent.iter_mut().enumerate() {
            for lane in 0..R::WIDTH {
                self.weighted[lane * arms + arm] += recent.lane(lane);
            }
            *recent = recent.zero();
        }
    }
}
