//! From what is known to the probabilities of the arms that may be pulled.

use super::decision::After;
use super::playable::Playable;
use super::state::State;
use crate::error::{Error, ErrorKind, Result};
use crate::exact::index::{Arm, argmax};
use crate::numeric::lanes::One;
use crate::policy::decide::{Now, View};
use crate::simulate::linear::Glimpse;

/// Where a decision is computed; kept, so that it allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The arms that may be pulled, those that the policy is asked about, and what it is told of them.
    pub which: Vec<usize>,
    asked: Vec<usize>,
    arms: Vec<Arm>,
    means: Vec<One<f64>>,
    variances: Vec<One<f64>>,
    pub seen: Glimpse,
    /// What the policy says of those, then the probabilities of the arms that may be pulled.
    pub pi: Vec<f64>,
}

/// Who is asked, and what is made of the answer.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub policy: &'a Playable,
    pub floor: f64,
    pub after: Option<After>,
}

impl Asking<'_> {
    /// What the policy is told; `weigh` has filled the scratch.
    pub fn now<'a>(&self, state: &'a State, x: &[f64], memory: &'a [f64], scratch: &'a Scratch) -> Now<'a> {
        let arms = state.shown(&scratch.arms);
        let each = matches!(self.policy.decider().view(), View::EachContext);
        let round = if each { arms.iter().map(|arm| arm.pulls).sum::<f64>() as usize } else { state.round() };
        Now {
            round,
            horizon: self.policy.world().horizon,
            arms,
            means: &scratch.means,
            variances: &scratch.variances,
            context: which_context(x),
            memory,
        }
    }

    /// Writes the probabilities of the arms `scratch.which`.
    pub fn weigh(&self, state: &State, x: &[f64], scratch: &mut Scratch) -> Result<()> {
        self.show(state, x, scratch)?;
        let mut pi = std::mem::take(&mut scratch.pi);
        pi.clear();
        pi.resize(scratch.asked.len(), 0.0);
        let asked = self.ask(state, x, scratch, &mut pi);
        scratch.pi = pi;
        asked.and_then(|()| self.settle(state, scratch))
    }

    /// What is known of the arms that the policy is asked about.
    fn show(&self, state: &State, x: &[f64], scratch: &mut Scratch) -> Result<()> {
        let (decider, context) = (self.policy.decider(), which_context(x));
        let view = decider.view();
        let one_hot = || x[context] == 1.0 && x[context + 1..].iter().all(|&x| x == 0.0);
        if matches!(view, View::EachContext) && !one_hot() {
            let message =
                "expected one feature to be 1 and the others 0: the policy knows contexts one by one";
            return Err(Error::new("context", message));
        }
        scratch.asked.clear();
        match decider.arms() {
            Some(_) => scratch.asked.extend(0..state.arms.len()),
            None => scratch.asked.extend_from_slice(&scratch.which),
        }
        state.show(&view, &scratch.asked, context, &mut scratch.arms);
        scratch.means.clear();
        scratch.variances.clear();
        if let View::Estimates(projection) = view {
            scratch.seen.look(projection, x);
            let arms = scratch.asked.iter().filter_map(|&arm| state.arms[arm].regression.as_ref());
            for (mean, variance) in arms.map(|arm| arm.estimate(&scratch.seen)) {
                scratch.means.push(mean);
                scratch.variances.push(variance);
            }
        }
        Ok(())
    }

    /// What the policy says of them; nothing where it has nothing to say.
    fn ask(&self, state: &State, x: &[f64], scratch: &Scratch, weights: &mut [f64]) -> Result<()> {
        let (decider, arms) = (self.policy.decider(), state.shown(&scratch.arms));
        let over = self.policy.world().horizon.is_over(state.round());
        if decider.each_arm_once() && arms.iter().any(|arm| arm.pulls == 0.0) {
            // Arms that were never tried come first, in random order.
            for (weight, arm) in weights.iter_mut().zip(arms) {
                *weight = f64::from(u8::from(arm.pulls == 0.0));
            }
        } else if !(over && (decider.ends() || self.after == Some(After::Commit))) {
            decider.weigh(&self.now(state, x, &state.memory, scratch), weights)?;
        }
        Ok(())
    }

    /// From there to probabilities of the arms that may be pulled, floor included.
    fn settle(&self, state: &State, scratch: &mut Scratch) -> Result<()> {
        let Scratch { which, asked, arms, means, pi, .. } = scratch;
        let arms = state.shown(arms);
        // The policy is asked about all arms, or about these.
        let all = asked.len() > which.len();
        let place = |i: usize| if all { which[i] } else { i };
        if all {
            for (i, &arm) in which.iter().enumerate() {
                pi[i] = pi[arm];
            }
            pi.truncate(which.len());
        }
        let mut total: f64 = pi.iter().sum();
        if total == 0.0 {
            // After its end, or if its arm is not allowed, the best mean stands in for the policy.
            let mean = |at: usize| means.get(at).map_or_else(|| arms[at].mean, |mean| mean.0);
            pi[argmax((0..which.len()).map(place).map(mean)).0] = 1.0;
            total = 1.0;
        }
        if !(total > 0.0 && total < f64::INFINITY) {
            return Err(Error::new("policy", format!("{} gives no probabilities here", self.policy.name())));
        }
        let count = pi.len() as f64;
        if !(0.0..=1.0 + 1e-12).contains(&(self.floor * count)) {
            let kind = ErrorKind::Range { found: self.floor, low: 0.0, high: 1.0 / count };
            return Err(Error::of("floor", kind));
        }
        let free = (1.0 - self.floor * count).max(0.0) / total;
        pi.iter_mut().for_each(|p| *p = self.floor + free * *p);
        Ok(())
    }
}

/// The number of a context that has only one feature.
fn which_context(x: &[f64]) -> usize {
    x.iter().position(|&x| x != 0.0).unwrap_or(0)
}
