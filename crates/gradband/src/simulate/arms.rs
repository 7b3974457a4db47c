//! The engine of multi-armed policies: plays instances, a lane each, and streams what an estimator needs.
//!
//! ```text
//! for each round, for each run of an instance:
//!     arm    = the policy's choice, which adds the score of its choice to the run's scores
//!     reward = Y(instance, round, arm)
//!     gradient += (return - reference) * scores so far           (design: baselines are reward streams)
//! ```
//! The sum over rounds t of score_t (sum over s >= t of r_s - r'_s) is, with the sums swapped, the sum over s of
//! (r_s - r'_s) (sum over t <= s of score_t): nothing of the trajectory is stored.

mod kernel;
mod late;

pub use kernel::{ArmsKernel, Counted, History, Uses};

use super::instances::{self, Tally, armed};
use super::job::{Job, Output, Player, Task};
use super::returns::{Baseline, Centre, Returns};
use crate::error::Result;
use crate::numeric::lanes::{Best, Lane, One, Real, add, pick, pick_each, put, put_each};
use crate::numeric::simd::{LaneWork, Lanes, Sixteen, in_wide_lanes, proof, vectorized, wide};
use crate::numeric::stream::Stream;
use crate::problem::{Armed, Bernoulli, Problem, RewardModel, Rewards};
use fearless_simd::Simd;
use kernel::{ArmsChooser, Called, CalledInLanes, MOST_PARAMS, Needs};
use late::{Late, Statistics};

/// Above this horizon sums of rewards lose digits in single precision.
const SINGLE_PRECISION_HORIZON: usize = 1 << 16;

fn in_single_precision(problem: &Problem) -> bool {
    problem.horizon <= SINGLE_PRECISION_HORIZON && problem.is_near_zero()
}

/// The sum of rewards of 0 or 1, from their mean: the integer next to mean times count, which is nearer than 0.01 up to
/// `SINGLE_PRECISION_HORIZON` rounds.
#[inline(always)]
fn sum_of<R: Real>(mean: R, count: R) -> R {
    mean.fma(count, count.lit(0.5)).floor()
}

/// A kernel as a player.
#[derive(Clone, Debug)]
pub(crate) struct Arms<P, const N: usize>(pub P);

impl<const N: usize, P: ArmsKernel<N>> Player for Arms<P, N> {
    fn dim(&self) -> usize {
        N
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let lanes = match job.lanes {
            Lanes::Auto if !in_single_precision(job.problem) => Lanes::Double,
            lanes => lanes,
        };
        let play = Play { armed: armed(job)?, job, first, out };
        match wide() {
            Some(wide) if lanes == Lanes::Auto && play.is_bernoulli() => {
                in_wide_lanes(wide, OnBernoulli { policy: &self.0, play })
            }
            _ => play.on_anything(lanes, &Called(&self.0)),
        }
    }

    fn unscored(&self) -> Option<&'static str> {
        self.0.unscored()
    }

    #[cfg(test)]
    fn trajectory(&self, job: &Job, instance: u64, run: usize) -> Option<super::Trajectory> {
        Some(tests::replay(&self.0, job, instance, run))
    }
}

/// Everything but the policy and the lanes.
struct Play<'a, 'b> {
    armed: &'a Armed,
    job: &'a Job<'a>,
    first: u64,
    out: Output<'b>,
}

impl Play<'_, '_> {
    /// Are its rewards 0 or 1, in the textbook's world?
    fn is_bernoulli(&self) -> bool {
        self.job.problem.world().is_plain() && matches!(self.armed.rewards, Rewards::Bernoulli(_))
    }

    /// The general engine, for any rewards and any world: compiled once for each kind of lanes, and calls the policy. One lane of single
    /// precision is for tests and for machines without vectors.
    fn on_anything(self, lanes: Lanes, policy: &dyn CalledInLanes) -> Result<()> {
        let rewards = &self.armed.rewards;
        match (lanes, wide()) {
            (Lanes::Auto, Some(wide)) => {
                let simd = wide.short();
                simd.vectorize(
                    #[inline(always)]
                    || {
                        Rollout::<Sixteen, Calls<Sixteen>, _, 0, MOST_PARAMS>::run(
                            proof(simd),
                            rewards,
                            policy,
                            self,
                        )
                    },
                )
            }
            (Lanes::Auto | Lanes::Single, _) => {
                Rollout::<One<f32>, Calls<One<f32>>, _, 0, MOST_PARAMS>::run((), rewards, policy, self)
            }
            // Even one lane gains from the instruction set: it has a fused multiply-add.
            (Lanes::Double, _) => vectorized(
                #[inline(always)]
                || Rollout::<One<f64>, Calls<One<f64>>, _, 0, MOST_PARAMS>::run((), rewards, policy, self),
            ),
        }
    }
}

/// A policy that is called.
type Calls<'a, R> = dyn ArmsChooser<R, 0, MOST_PARAMS> + 'a;

/// In wide lanes Bernoulli problems, and two-armed ones above all, get kernels of their own: with the number of
/// arms known the state of a run lives in registers. The bits are those of the general kernel.
struct OnBernoulli<'a, 'b, P, const N: usize> {
    policy: &'a P,
    play: Play<'a, 'b>,
}

impl<const N: usize, P: ArmsKernel<N>> LaneWork for OnBernoulli<'_, '_, P, N> {
    const LONG: bool = P::LONG;

    /// The policy is copied so that its constants are the compiler's to keep in registers.
    #[inline(always)]
    fn run<R: Lane>(self, token: R::Token) -> Result<()> {
        let policy = self.policy.clone();
        // Apart: the compiler takes longer for one long function than for two.
        if self.play.job.problem.arms == 2 {
            R::apart(
                token,
                #[inline(always)]
                || Rollout::<R, P, Bernoulli, 2, N>::run(token, Bernoulli, &policy, self.play),
            )
        } else {
            Rollout::<R, P, Bernoulli, 0, N>::run(token, Bernoulli, &policy, self.play)
        }
    }
}

/// Both rewards of some rounds with two arms. A function of its own: it knows no policy.
#[inline(always)]
fn draw_both<R: Real, M: RewardModel>(
    token: R::Token,
    model: M,
    words: &mut Stream<R>,
    means: &[R],
    rewards: &mut [[R; 2]; AHEAD],
) {
    R::apart(
        token,
        #[inline(always)]
        || {
            // Copies stay in registers.
            let (mut stream, means) = (*words, [means[0], means[1]]);
            let first = R::splat(token, 0.0);
            for rewards in rewards {
                let word = stream.next_word();
                rewards[0] = model.draw(word, first, means[0]);
                rewards[1] = model.draw(word, first + 1.0, means[1]);
            }
            *words = stream;
        },
    );
}

/// One run in each lane.
struct Run<R: Real, const N: usize> {
    actions: Stream<R>,
    /// Those of the rounds ahead, if the policy draws them.
    uniforms: [R; AHEAD],
    /// Sums of the scores so far.
    score: [R; N],
    /// Sums over rounds of (return - reference) * score.
    gradient: [R; N],
    /// This round's return.
    value: R,
    /// Is this run differentiated, or only a reference?
    scored: bool,
}

/// A run and its state. Where that is, is looked up: as one long array the compiler steps through it with a dozen pointers, all of
/// which it keeps in memory.
type Played<'a, R, const N: usize> = (Run<R, N>, &'a mut [R]);

/// One instance in each lane.
struct Instances<'a, R: Real> {
    words: Stream<R>,
    /// The word of the round, from which the rewards of its arms are made.
    word: R::Word,
    /// With two arms both rewards of the rounds ahead, which serve all runs.
    both: [[R; 2]; AHEAD],
    means: &'a [R],
    best: Best<R>,
    /// What returns are measured from.
    offset: R,
}

/// Rounds whose random numbers are drawn at a time. A core looks ahead no further than a run's arithmetic: drawn in between they would keep
/// the next run's away from it.
const AHEAD: usize = 16;

/// A job on a few vectors of lanes at a time. `K` is the number of arms if known, else 0.
struct Rollout<'a, R: Real, P: ?Sized, M, const K: usize, const N: usize> {
    token: R::Token,
    policy: &'a P,
    needs: Needs,
    model: M,
    job: &'a Job<'a>,
    /// The problem's, where the compiler sees that nothing changes it.
    arms: usize,
    returns: Returns,
}

impl<'a, R: Real, P: ArmsChooser<R, K, N> + ?Sized, M: RewardModel, const K: usize, const N: usize>
    Rollout<'a, R, P, M, K, N>
{
    /// Are random numbers drawn ahead? With many arms a round has more than one chain of its own to hide them.
    const LOOKS_AHEAD: bool = K == 2;
    /// Are rewards 0 or 1 and arms many, so that an arm's numbers are best found together?
    const TOGETHER: bool = !M::ANY && K == 0;

    #[inline(always)]
    fn run(token: R::Token, model: M, policy: &'a P, play: Play<'a, '_>) -> Result<()> {
        let Play { armed, job, first, out } = play;
        let (arms, runs) = (job.problem.arms, job.task.runs());
        let needs = policy.needs(arms);
        // Of state per run: pulls, sums and means of the arms, then the policy's own.
        let slots = 3 * arms + needs.slots;
        let rollout = Self { token, policy, needs, model, job, arms, returns: job.task.returns() };
        let zero = R::splat(token, 0.0);
        let vectors = if M::ANY { 1 } else { R::FLIGHT };
        let mut exact = vec![0.0; vectors * R::WIDTH * arms];
        let mut means = vec![zero; vectors * arms];
        let mut state = vec![zero; vectors * runs * slots];
        let mut late = if M::ANY { Late::new(token, job, needs) } else { None };
        let Output { outcomes, gradients, curves } = out;
        for (i, chunk) in outcomes.chunks_mut(vectors * R::WIDTH).enumerate() {
            let at = i * vectors * R::WIDTH;
            let first = first + at as u64;
            let vectors = chunk.len().div_ceil(R::WIDTH);
            let (exact, state) =
                (&mut exact[..vectors * R::WIDTH * arms], &mut state[..vectors * runs * slots]);
            instances::draw(job, armed, first, chunk, exact)?;
            for (i, mean) in means[..vectors * arms].iter_mut().enumerate() {
                let (first, arm) = (i / arms * R::WIDTH, i % arms);
                *mean = R::from_fn(
                    token,
                    #[inline(always)]
                    |lane| exact[(first + lane) * arms + arm],
                );
            }
            state.fill(zero);
            if let Some(late) = &mut late {
                late.start(first);
                for state in state.chunks_exact_mut(slots) {
                    state[2 * arms..3 * arms].fill(late.past_mean());
                }
            }
            let mut instances = Vec::with_capacity(vectors);
            let mut players = Vec::with_capacity(vectors * runs);
            let parts = means.chunks_exact(arms).zip(state.chunks_exact_mut(runs * slots));
            for (vector, (means, state)) in parts.enumerate() {
                let first = first + (vector * R::WIDTH) as u64;
                instances.push(rollout.instances(first, means));
                for (r, state) in state.chunks_exact_mut(slots).enumerate() {
                    players.push((rollout.start(first, r, &mut state[3 * arms..]), state));
                }
            }
            let (mut round, horizon) = (0, job.problem.horizon);
            // One loop, marks or not: its body is the whole engine.
            for (m, &mark) in job.marks.iter().chain([&horizon]).enumerate() {
                while round < mark {
                    if Self::LOOKS_AHEAD && round.is_multiple_of(AHEAD) {
                        rollout.draw_ahead(round, &mut instances, &mut players);
                    }
                    for (instances, players) in instances.iter_mut().zip(players.chunks_exact_mut(runs)) {
                        rollout.step(round, instances, players, late.as_mut());
                    }
                    round += 1;
                }
                if m < job.marks.len() {
                    for i in 0..chunk.len() {
                        let tally = rollout.tally(i, exact, &players, late.as_ref());
                        curves[(at + i) * job.marks.len() + m] = tally.regret(runs);
                    }
                }
            }
            for (i, outcome) in chunk.iter_mut().enumerate() {
                rollout.tally(i, exact, &players, late.as_ref()).settle(runs, outcome);
                let own = (at + i) * needs.params..(at + i + 1) * needs.params;
                if let Some(gradient) = gradients.get_mut(own) {
                    let players = &players[i / R::WIDTH * runs..][..runs];
                    rollout.gradient(i % R::WIDTH, players, gradient);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn arms(&self) -> usize {
        if K == 0 { self.arms } else { K }
    }

    #[inline(always)]
    fn instances<'b>(&self, first: u64, means: &'b [R]) -> Instances<'b, R> {
        let best = Best::of(means);
        let offset = instances::offset(self.job.task, best.value);
        let words = Stream::new(self.token, self.job.reward_key(), first);
        let word = R::word(self.token, |_| 0);
        Instances { words, word, both: [[offset; 2]; AHEAD], means, best, offset }
    }

    #[inline(always)]
    fn start(&self, first: u64, r: usize, own: &mut [R]) -> Run<R, N> {
        let mut actions = Stream::new(self.token, self.job.action_key(r), first);
        let zero = R::splat(self.token, 0.0);
        let mut score = [zero; N];
        self.policy.start(self.job.task != Task::Evaluate, own, &mut actions, &mut score);
        let scored = self.job.task.scores(r);
        Run { actions, uniforms: [zero; AHEAD], score, gradient: [zero; N], value: zero, scored }
    }

    /// Does the policy begin by pulling each arm once, in their order?
    #[inline(always)]
    fn is_in_order(&self, round: usize, late: bool) -> bool {
        self.needs.each_arm_once && round < self.arms() && !(M::ANY && late)
    }

    /// The random numbers of the rounds from `first` on.
    #[inline(always)]
    fn draw_ahead(&self, first: usize, instances: &mut [Instances<R>], players: &mut [Played<R, N>]) {
        for Instances { words, means, both, .. } in instances {
            draw_both(self.token, self.model, words, means, both);
        }
        if self.needs.draws {
            // In order no choice is made.
            let skipped = (first..first + AHEAD).take_while(|&round| self.is_in_order(round, false)).count();
            for (run, _) in players {
                run.actions.fill_uniforms(self.token, &mut run.uniforms[skipped..]);
            }
        }
    }

    /// One round of every run.
    #[inline(always)]
    fn step(
        &self,
        round: usize,
        instances: &mut Instances<R>,
        players: &mut [Played<R, N>],
        mut late: Option<&mut Late<R>>,
    ) {
        if !Self::LOOKS_AHEAD {
            instances.word = instances.words.next_word();
        }
        for (r, (run, state)) in players.iter_mut().enumerate() {
            let arm = self.choose(round, (r, run), self.parts(state), late.as_deref_mut());
            self.pull(round, arm, instances, (r, run), self.parts(state), late.as_deref_mut());
        }
        if let Task::Gradient(baseline, _) = self.job.task {
            let weight = if M::ANY { late.and_then(|late| late.weight(round)) } else { None };
            self.accumulate(baseline, round, instances, players, weight);
        }
    }

    /// The statistics of a run, and the policy's own numbers.
    #[inline(always)]
    fn parts<'b>(&self, state: &'b mut [R]) -> Statistics<'b, R> {
        let (pulls, rest) = state.split_at_mut(self.arms());
        let (sums, rest) = rest.split_at_mut(self.arms());
        let (means, own) = rest.split_at_mut(self.arms());
        Statistics { pulls, sums, means, own }
    }

    /// The arm of run `r` in a round.
    #[inline(always)]
    fn choose(
        &self,
        round: usize,
        (r, run): (usize, &mut Run<R, N>),
        mut seen: Statistics<R>,
        mut late: Option<&mut Late<R>>,
    ) -> R {
        if M::ANY
            && let Some(late) = &mut late
        {
            late.credit(self.policy, r, round, &mut seen);
        }
        let before = run.score;
        let arm = if self.is_in_order(round, late.is_some()) {
            R::splat(self.token, round as f64)
        } else {
            let uniform = match (self.needs.draws, Self::LOOKS_AHEAD) {
                (true, true) => run.uniforms[round % AHEAD],
                (true, false) => run.actions.uniform(),
                (false, _) => R::splat(self.token, 0.0),
            };
            let Statistics { pulls, sums, means, own } = &mut seen;
            let history = History { round, pulls, sums, means, uniform };
            self.policy.act(run.scored, &history, own, &mut run.actions, &mut run.score)
        };
        match late {
            Some(late) if M::ANY => late.decide(self.policy, r, arm, &mut seen, (run, before)),
            _ => arm,
        }
    }

    /// Pulls it.
    #[inline(always)]
    fn pull(
        &self,
        round: usize,
        arm: R,
        instances: &Instances<R>,
        (r, run): (usize, &mut Run<R, N>),
        mut seen: Statistics<R>,
        late: Option<&mut Late<R>>,
    ) {
        let (zero, true_means) = (R::splat(self.token, 0.0), &instances.means[..self.arms()]);
        // With many arms the numbers of one are found together.
        let rewards = if self.needs.uses == Uses::Means { &*seen.means } else { &*seen.sums };
        let [mean, count, of_rewards] = match Self::TOGETHER {
            true => pick_each([true_means, seen.pulls, rewards], arm),
            false => [pick(true_means, arm), zero, zero],
        };
        let mut reward = match Self::LOOKS_AHEAD {
            true => pick(&instances.both[round % AHEAD], arm),
            false => self.model.draw(instances.word, arm, mean),
        };
        run.value = match self.returns {
            Returns::Realized => reward,
            Returns::Mean => mean - instances.offset,
        };
        if self.needs.bernoulli_rounding && !self.model.binary() {
            reward = R::only(run.actions.uniform().lt(reward), reward.one());
        }
        if M::ANY
            && let Some(late) = late
        {
            return late.pull(self.policy, r, round, (arm, reward), &mut seen);
        }
        let Statistics { pulls, sums, means, own } = seen;
        let seen = Statistics { pulls, sums, means, own: &mut [] };
        let known = match Self::TOGETHER {
            true => self.learn_together(arm, reward, (count, of_rewards), seen),
            false => self.learn(arm, reward, seen),
        };
        if self.needs.learns {
            self.policy.update(arm, reward, known, own);
        }
    }

    /// A pull and its reward become part of the statistics.
    #[inline(always)]
    fn learn(&self, arm: R, reward: R, seen: Statistics<R>) -> Counted<R> {
        let zero = R::splat(self.token, 0.0);
        let count = add(seen.pulls, arm, zero.one());
        let mut known = Counted { count, known: count, mean: zero, sum: zero };
        if self.needs.uses != Uses::Pulls {
            known.sum = add(seen.sums, arm, reward);
            if self.needs.uses != Uses::Sums {
                known.mean = known.sum / count;
                put(seen.means, arm, known.mean);
            }
        }
        known
    }

    /// The same from the arm's count, and the sum or the mean of its rewards, before it.
    #[inline(always)]
    fn learn_together(
        &self,
        arm: R,
        reward: R,
        (count, of_rewards): (R, R),
        seen: Statistics<R>,
    ) -> Counted<R> {
        let Statistics { pulls, sums, means, .. } = seen;
        let sum = reward
            + match self.needs.uses {
                Uses::Means => sum_of(of_rewards, count),
                _ => of_rewards,
            };
        let count = count + 1.0;
        let mean = sum / count;
        match self.needs.uses {
            Uses::Pulls => put(pulls, arm, count),
            Uses::Sums => put_each([pulls, sums], arm, [count, sum]),
            Uses::Means => put_each([pulls, means], arm, [count, mean]),
            Uses::All => put_each([pulls, sums, means], arm, [count, sum, mean]),
        }
        Counted { count, known: count, mean, sum }
    }

    /// Adds the round's (return - reference) * score to the gradients.
    #[inline(always)]
    fn accumulate(
        &self,
        baseline: Baseline,
        round: usize,
        instances: &Instances<R>,
        players: &mut [Played<R, N>],
        weight: Option<R>,
    ) {
        let best = instances.best;
        let reference = baseline.reference(
            Centre::Sum,
            #[inline(always)]
            |r| players[r].0.value,
            #[inline(always)]
            || match self.returns {
                Returns::Realized if Self::LOOKS_AHEAD => pick(&instances.both[round % AHEAD], best.arm),
                Returns::Realized => self.model.draw(instances.word, best.arm, best.value),
                Returns::Mean => best.value - instances.offset,
            },
        );
        for (r, (run, _)) in players.iter_mut().enumerate() {
            if baseline.scores(r) {
                let excess = reference.excess(run.value);
                let excess = weight.map_or(excess, |weight| excess * weight);
                for i in 0..N {
                    run.gradient[i] = excess.fma(run.score[i], run.gradient[i]);
                }
            }
        }
    }

    /// What instance `i` earned so far.
    #[inline(always)]
    fn tally<'b>(
        &self,
        i: usize,
        exact: &'b [f64],
        players: &[Played<R, N>],
        late: Option<&Late<R>>,
    ) -> Tally<'b> {
        let (arms, lane) = (self.arms(), i % R::WIDTH);
        let runs = self.job.task.runs();
        let mut tally = Tally::new(&exact[i * arms..(i + 1) * arms]);
        for (r, (_, state)) in players[i / R::WIDTH * runs..][..runs].iter().enumerate() {
            match late.and_then(|late| late.pulls(r, lane)) {
                Some(weighted) => tally.add(weighted),
                None => tally.add(state[..arms].iter().map(|pulls| pulls.lane(lane))),
            }
        }
        tally
    }

    #[inline(always)]
    fn gradient(&self, lane: usize, players: &[Played<R, N>], gradient: &mut [f64]) {
        let Task::Gradient(baseline, _) = self.job.task else { return };
        for (i, out) in gradient.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (run, _) in players {
                sum += run.gradient[i].lane(lane);
            }
            *out = sum / baseline.divisor(Centre::Sum);
        }
    }
}

#[cfg(test)]
mod tests;
