//! A multi-armed rule of one's own, asked for one choice: weights of the arms and their slopes, in double precision.
//!
//! ```text
//! logits:   pi_i = exp(l_i - max l) / sum,  d log pi_a / d param = l_a' - sum_i pi_i l_i'
//! weights:  pi_i = w_i / sum,               d log pi_a / d param = w_a' / w_a - sum_i w_i' / sum
//! ```

use crate::error::{Error, Result};
use crate::exact::CountKernel;
use crate::exact::index::{certain, unpulled};
use crate::numeric::special::exp;
use crate::numeric::stream::Random;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now};
use crate::policy::record::ProblemRecord;
use crate::policy::rule::{Form, Rule, Seen};
use crate::problem::{Horizon, Problem};
use crate::simulate::plain::{PlainKernel, Round, draw, score};
use num_dual::Dual64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a rule ever gave what is no distribution over the arms. It is asked millions of times, on all threads: what it
/// gave is looked at each time, and refused once a piece of work is done.
#[derive(Default)]
pub(super) struct Broken(AtomicBool);

impl Broken {
    /// Notes whether an answer is fine.
    #[inline(always)]
    pub fn note(&self, fine: bool) {
        if !fine {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Refuses everything if some answer was not.
    pub fn check(&self, name: &str) -> Result<()> {
        if !self.0.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(broken(name))
    }
}

/// What is said of a rule that broke its word.
pub(super) fn broken(name: &str) -> Error {
    let message = format!(
        "{name} gives logits, weights or derivatives that are not finite numbers, or weights that are negative or \
         all zero"
    );
    Error::new("policy", message)
}

/// A rule at its parameters.
pub(super) struct OwnKernel<R> {
    rule: Arc<R>,
    name: String,
    params: Vec<f64>,
    horizon: Horizon,
    arms: usize,
    pub form: Form,
    pub each_arm_once: bool,
    pub broken: Broken,
}

/// What a rule computes for one choice; kept, so that a round allocates nothing.
pub(super) struct Scratch {
    weights: Vec<f64>,
    /// d logit_i / d param_p at p K + i.
    slopes: Vec<f64>,
    room: Room,
}

/// Room for what a rule computes with.
#[derive(Default)]
pub(super) struct Room {
    /// Parameters and logits that carry a derivative along.
    params: Vec<Dual64>,
    logits: Vec<Dual64>,
    /// Logits without, and derivatives that the rule gives itself.
    plain: Vec<f64>,
    slopes: Vec<f64>,
}

/// How what a rule wrote is brought to a size that lanes can bear.
#[derive(Clone, Copy)]
struct Centre {
    shift: f64,
    scale: f64,
}

impl Centre {
    #[inline(always)]
    fn apply(self, x: f64) -> f64 {
        (x - self.shift) * self.scale
    }
}

impl<R: Rule> OwnKernel<R> {
    /// Asks the rule once, for arms that were each pulled once: a rule that is not a number there is refused.
    pub fn new(rule: &Arc<R>, problem: &Problem, choice: &Choice) -> Result<Self> {
        let kernel = Self::unasked(rule, choice, problem.world().horizon, problem.arms);
        let statistics = [vec![1.0; kernel.arms], vec![0.5; 2 * kernel.arms]].concat();
        let seen = kernel.seen(kernel.arms.min(problem.horizon - 1), &statistics, 1);
        let mut scratch = kernel.scratch();
        kernel.weigh(&seen, &mut scratch, false);
        kernel.weigh(&seen, &mut scratch, true);
        kernel.check()?;
        Ok(kernel)
    }

    fn unasked(rule: &Arc<R>, choice: &Choice, horizon: Horizon, arms: usize) -> Self {
        Self {
            rule: rule.clone(),
            name: choice.name().into(),
            params: choice.params().to_vec(),
            horizon,
            arms,
            form: rule.form(),
            each_arm_once: rule.each_arm_once(),
            broken: Broken::default(),
        }
    }

    /// The rule as an agent asks it.
    pub fn decider(rule: &Arc<R>, problem: &ProblemRecord, choice: &Choice) -> Result<Box<dyn Decide>> {
        let horizon = problem.world()?.horizon;
        Ok(Box::new(OwnDecider { rule: rule.clone(), choice: choice.clone(), horizon }))
    }

    /// Number of parameters.
    pub fn dim(&self) -> usize {
        self.params.len()
    }

    /// Refuses what the rule gave, if it broke its word.
    pub fn check(&self) -> Result<()> {
        self.broken.check(&self.name)
    }

    /// Pulls, sums and means of the arms as the rule sees them.
    #[inline(always)]
    pub fn seen<'a>(&self, round: usize, statistics: &'a [f64], stride: usize) -> Seen<'a> {
        Seen::new((round, self.horizon.end(round)), self.arms, statistics, stride)
    }

    fn scratch(&self) -> Scratch {
        let mut room = Room::default();
        self.furnish(&mut room);
        Scratch { weights: vec![0.0; self.arms], slopes: vec![0.0; self.arms * self.params.len()], room }
    }

    /// Makes the room large enough.
    pub fn furnish(&self, room: &mut Room) {
        room.params.clear();
        room.params.extend(self.params.iter().map(|&x| Dual64::from(x)));
        room.logits.resize(self.arms, Dual64::from(0.0));
        room.plain.resize(self.arms, 0.0);
        room.slopes.resize(self.arms * self.params.len(), 0.0);
    }

    /// What the rule writes: logits minus the largest of them, or weights in parts of the largest. `write` gets that of
    /// each arm. Nothing is checked.
    #[inline(always)]
    pub fn ask(&self, seen: &Seen, room: &mut Room, mut write: impl FnMut(usize, f64)) {
        self.rule.logits::<f64>(&self.params, seen, &mut room.plain);
        let centre = self.centre(room.plain.iter().copied());
        for (i, &x) in room.plain.iter().enumerate() {
            write(i, centre.apply(x));
        }
    }

    /// The same with its derivatives: `slope` gets that of arm i in parameter p at p K + i. Those of an arm that is never
    /// pulled do not matter.
    #[inline(always)]
    pub fn ask_with_slopes(
        &self,
        seen: &Seen,
        room: &mut Room,
        mut write: impl FnMut(usize, f64),
        mut slope: impl FnMut(usize, f64),
    ) {
        if self.params.is_empty() || self.rule.slopes(&self.params, seen, &mut room.slopes) {
            self.ask(seen, room, write);
            let scale = self.centre(room.plain.iter().copied()).scale;
            return room.slopes.iter().enumerate().for_each(|(i, x)| slope(i, x * scale));
        }
        let Room { params, logits, .. } = room;
        let mut scale = 1.0;
        for p in 0..self.params.len() {
            params[p].eps = 1.0;
            self.rule.logits::<Dual64>(params, seen, logits);
            params[p].eps = 0.0;
            if p == 0 {
                let centre = self.centre(logits.iter().map(|logit| logit.re));
                scale = centre.scale;
                for (i, logit) in logits.iter().enumerate() {
                    write(i, centre.apply(logit.re));
                }
            }
            for (i, logit) in logits.iter().enumerate() {
                let x = if logit.re == f64::NEG_INFINITY { 0.0 } else { logit.eps };
                slope(p * self.arms + i, x * scale);
            }
        }
    }

    /// The largest logit is to be taken from all of them, weights are to be divided by the largest: neither changes the
    /// probabilities.
    #[inline(always)]
    fn centre(&self, mut written: impl Iterator<Item = f64>) -> Centre {
        let mut top = written.next().unwrap_or(f64::NAN);
        for x in written {
            top = if x > top { x } else { top };
        }
        match self.form {
            Form::Logits => Centre { shift: top, scale: 1.0 },
            Form::Weights => Centre { shift: 0.0, scale: if top > 0.0 { 1.0 / top } else { f64::NAN } },
        }
    }

    /// Whether what [`Self::ask`] gave can be weights of the arms.
    #[inline(always)]
    fn is_fine(&self, asked: &[f64]) -> bool {
        match self.form {
            // Infinite ones are not: infinity minus infinity, and its part of itself, is no number.
            Form::Logits => asked.iter().fold(true, |fine, &logit| fine & (logit <= 0.0)),
            Form::Weights => asked.iter().fold(true, |fine, &weight| fine & (weight >= 0.0)),
        }
    }

    /// Weights of the arms, and their sum; with slopes, if they are wanted.
    #[inline(always)]
    fn weigh(&self, seen: &Seen, scratch: &mut Scratch, with_slopes: bool) -> f64 {
        let Scratch { weights, slopes, room } = scratch;
        if with_slopes {
            self.ask_with_slopes(seen, room, |i, x| weights[i] = x, |i, x| slopes[i] = x);
            self.broken.note(slopes.iter().fold(true, |fine, slope| fine & slope.is_finite()));
        } else {
            self.ask(seen, room, |i, x| weights[i] = x);
        }
        self.broken.note(self.is_fine(weights));
        let mut total = 0.0;
        for weight in weights {
            *weight = match self.form {
                Form::Weights => *weight,
                Form::Logits => exp(*weight),
            };
            total += *weight;
        }
        total
    }

    /// d log pi_a / d param_p, from weights and slopes.
    #[inline(always)]
    fn score(&self, arm: usize, total: f64, p: usize, scratch: &Scratch) -> f64 {
        let slopes = &scratch.slopes[p * self.arms..(p + 1) * self.arms];
        match self.form {
            Form::Logits => score(&scratch.weights, slopes, arm, total),
            Form::Weights => slopes[arm] / scratch.weights[arm] - slopes.iter().sum::<f64>() / total,
        }
    }
}

/// A rule for any number of arms.
struct OwnDecider<R> {
    rule: Arc<R>,
    choice: Choice,
    horizon: Horizon,
}

impl<R: Rule> Decide for OwnDecider<R> {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let arms = now.arms;
        let kernel = OwnKernel::unasked(&self.rule, &self.choice, self.horizon, arms.len());
        let pulls = arms.iter().map(|arm| arm.pulls);
        let sums = arms.iter().map(|arm| arm.pulls * arm.mean);
        let statistics: Vec<_> = pulls.chain(sums).chain(arms.iter().map(|arm| arm.mean)).collect();
        // A run goes on beyond its end: it always ends later.
        let end = now.horizon.end(now.round).max(now.round + 1);
        let seen = Seen::new((now.round, end), arms.len(), &statistics, 1);
        let mut scratch = kernel.scratch();
        kernel.weigh(&seen, &mut scratch, false);
        weights.copy_from_slice(&scratch.weights);
        kernel.check()
    }
    fn each_arm_once(&self) -> bool {
        self.rule.each_arm_once()
    }
}

/// One run at a time: for rules with more parameters than lanes take.
impl<R: Rule> PlainKernel for OwnKernel<R> {
    type State = Scratch;

    fn dim(&self) -> usize {
        self.params.len()
    }

    fn each_arm_once(&self) -> bool {
        self.each_arm_once
    }

    fn start(&self, _: bool, _: &mut Random, _: &mut [f64]) -> Scratch {
        self.scratch()
    }

    #[inline(always)]
    fn act(
        &self,
        scratch: &mut Scratch,
        round: &Round,
        actions: &mut Random,
        score: Option<&mut [f64]>,
    ) -> usize {
        let total = self.weigh(&round.seen, scratch, score.is_some());
        let arm = draw(&scratch.weights, actions.uniform() * total);
        for (p, out) in score.into_iter().flatten().enumerate() {
            *out += self.score(arm, total, p, scratch);
        }
        arm
    }

    fn check(&self) -> Result<()> {
        self.check()
    }
}

impl<R: Rule> CountKernel for OwnKernel<R> {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let round: u32 = pulls.iter().sum();
        if let Some(arm) = unpulled(pulls).filter(|_| self.each_arm_once) {
            return certain(arm, pulls.len(), pi, dpi);
        }
        let arms = pulls.len();
        let numbers = pulls.iter().chain(successes).map(|&count| f64::from(count));
        let mut statistics: Vec<f64> = numbers.collect();
        for arm in 0..arms {
            statistics.push(statistics[arms + arm] / statistics[arm].max(1.0));
        }
        let seen = self.seen(round as usize, &statistics, 1);
        let mut scratch = self.scratch();
        let total = self.weigh(&seen, &mut scratch, true);
        for (arm, p) in pi.iter_mut().enumerate() {
            *p = scratch.weights[arm] / total;
            for param in 0..self.params.len() {
                dpi[param * arms + arm] =
                    if *p > 0.0 { *p * self.score(arm, total, param, &scratch) } else { 0.0 };
            }
        }
    }

    fn check(&self) -> Result<()> {
        self.check()
    }
}
