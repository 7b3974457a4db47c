//! From what is known to the probabilities of the arms that may be pulled.

use super::After;
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
    /// What the policy says of those, and the probabilities of the arms that may be pulled.
    weights: Vec<f64>,
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
    pub fn now<'a>(&self, state: &State, x: &[f64], memory: &'a [f64], scratch: &'a Scratch) -> Now<'a> {
        let each = matches!(self.policy.decider().view(), View::EachContext);
        let round =
            if each { scratch.arms.iter().map(|arm| arm.pulls).sum::<f64>() as usize } else { state.round() };
        Now {
            round,
            end: self.policy.world().horizon.end(round).max(round + 1),
            arms: &scratch.arms,
            means: &scratch.means,
            variances: &scratch.variances,
            context: x.iter().position(|&x| x != 0.0).unwrap_or(0),
            memory,
        }
    }

    /// Writes the probabilities of the arms `scratch.which`.
    pub fn weigh(&self, state: &State, x: &[f64], scratch: &mut Scratch) -> Result<()> {
        let decider = self.policy.decider();
        let view = decider.view();
        let context = x.iter().position(|&x| x != 0.0).unwrap_or(0);
        if matches!(view, View::EachContext)
            && (x[context] != 1.0 || x[context + 1..].iter().any(|&x| x != 0.0))
        {
            return Err(Error::new(
                "context",
                "expected one feature to be 1 and the others 0: the policy knows contexts one by one",
            ));
        }
        scratch.asked.clear();
        match decider.arms() {
            Some(_) => scratch.asked.extend(0..state.arms.len()),
            None => scratch.asked.extend(&scratch.which),
        }
        state.show(&view, &scratch.asked, context, &mut scratch.arms);
        if let View::Estimates(projection) = view {
            scratch.seen.look(projection, x);
            scratch.means.clear();
            scratch.variances.clear();
            for &arm in &scratch.asked {
                let estimate = state.arms[arm].regression.as_ref().map(|arm| arm.estimate(&scratch.seen));
                let (mean, variance) = estimate.unwrap_or((One(0.0), One(0.0)));
                scratch.means.push(mean);
                scratch.variances.push(variance);
            }
        }
        let (over, once) = (self.policy.world().horizon.is_over(state.round()), decider.each_arm_once());
        let commits = over && (decider.ends() || self.after == Some(After::Commit));
        let mut weights = std::mem::take(&mut scratch.weights);
        weights.clear();
        weights.resize(scratch.asked.len(), 0.0);
        if once && scratch.arms.iter().any(|arm| arm.pulls == 0.0) {
            // Arms that were never tried come first, in random order.
            let untried = |arm: &Arm| f64::from(u8::from(arm.pulls == 0.0));
            weights.iter_mut().zip(&scratch.arms).for_each(|(weight, arm)| *weight = untried(arm));
        } else if !commits {
            decider.weigh(&self.now(state, x, &state.memory, scratch), &mut weights)?;
        }
        let Scratch { which, asked, arms, means, pi, .. } = scratch;
        pi.clear();
        // Both lists are in the order of the arms, and `which` is among `asked`.
        let mut places = asked.iter().enumerate();
        pi.extend(
            which.iter().filter_map(|arm| places.find(|(_, asked)| *asked == arm)).map(|(at, _)| weights[at]),
        );
        let mut total: f64 = pi.iter().sum();
        if total == 0.0 {
            // After its end, or if its arm is not allowed, the best mean stands in for the policy.
            let mean = |at: usize| means.get(at).map_or_else(|| arms[at].mean, |mean| mean.0);
            let allowed = (0..asked.len()).filter(|&at| which.contains(&asked[at]));
            pi[argmax(allowed.map(mean)).0] = 1.0;
            total = 1.0;
        }
        scratch.weights = weights;
        if !(total > 0.0 && total < f64::INFINITY) {
            return Err(Error::new("policy", format!("{} gives no probabilities here", self.policy.name())));
        }
        let count = scratch.pi.len() as f64;
        if !(0.0..=1.0 + 1e-12).contains(&(self.floor * count)) {
            let kind = ErrorKind::Range { found: self.floor, low: 0.0, high: 1.0 / count };
            return Err(Error::of("floor", kind));
        }
        let free = (1.0 - self.floor * count).max(0.0) / total;
        scratch.pi.iter_mut().for_each(|p| *p = self.floor + free * *p);
        Ok(())
    }
}
