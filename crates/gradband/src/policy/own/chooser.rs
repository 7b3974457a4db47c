//! A contextual rule of one's own, from means and variances to an arm and the derivatives of its log-probability. In double
//! precision, whatever the engine does.

use super::kernel::Broken;
use crate::error::Result;
use crate::numeric::lanes::{One, Real};
use crate::numeric::special::exp;
use crate::policy::rule::LinearRule;
use crate::simulate::linear::{Draws, LinearKernel, Slopes};
use num_dual::Dual64;
use std::cell::Cell;
use std::sync::Arc;

/// A contextual rule at its parameters.
pub(super) struct OwnChooser<R> {
    rule: Arc<R>,
    name: String,
    params: Vec<f64>,
    learns_projection: bool,
    broken: Broken,
}

/// Where a rule computes. A thread keeps it from choice to choice.
#[derive(Default)]
struct Room {
    mu: Vec<f64>,
    v: Vec<f64>,
    weights: Vec<f64>,
    /// Means, variances and parameters that carry a derivative along, and the logits that come of them.
    inputs: [Vec<Dual64>; 3],
    logits: Vec<Dual64>,
    /// The derivatives of the log-probability of the chosen arm by each of the inputs.
    slopes: Vec<f64>,
}

thread_local! {
    static ROOM: Cell<Room> = Cell::default();
}

impl<R: LinearRule> OwnChooser<R> {
    /// The rule with its own parameters, those beside W.
    pub fn new(rule: &Arc<R>, name: &str, params: &[f64]) -> Self {
        Self {
            rule: rule.clone(),
            name: name.into(),
            params: params.to_vec(),
            learns_projection: rule.learns_projection(),
            broken: Broken::default(),
        }
    }

    /// Writes the weights of the arms at the room's means and variances.
    fn weigh_in(&self, room: &mut Room) {
        let Room { mu, v, weights, .. } = room;
        weights.resize(mu.len(), 0.0);
        self.rule.logits::<f64>(&self.params, mu, v, weights);
        let mut top = weights[0];
        for &logit in &weights[1..] {
            top = if logit > top { logit } else { top };
        }
        let fine = weights.iter().fold(top.is_finite(), |fine, &logit| fine & (logit <= top));
        self.broken.note(fine);
        weights.iter_mut().for_each(|x| *x = exp(*x - top));
    }

    /// The arm at the room's means and variances; with a score, its slopes too.
    fn choose(&self, room: &mut Room, u: f64, scored: bool) -> usize {
        self.weigh_in(room);
        let Room { mu, v, weights, inputs, logits, slopes } = room;
        let arms = mu.len();
        let total: f64 = weights.iter().sum();
        let (mut bound, mut arm) = (0.0, 0);
        for &weight in &weights[..arms - 1] {
            bound += weight;
            arm += usize::from(u * total >= bound);
        }
        if !scored {
            return arm;
        }
        for (duals, numbers) in inputs.iter_mut().zip([&mu[..], &v[..], &self.params[..]]) {
            duals.clear();
            duals.extend(numbers.iter().map(|&x| Dual64::from(x)));
        }
        logits.resize(arms, Dual64::from(0.0));
        slopes.clear();
        for part in 0..inputs.len() {
            for i in 0..inputs[part].len() {
                inputs[part][i].eps = 1.0;
                self.rule.logits::<Dual64>(&inputs[2], &inputs[0], &inputs[1], logits);
                inputs[part][i].eps = 0.0;
                let centre: f64 =
                    weights.iter().zip(logits.iter()).map(|(weight, logit)| weight * logit.eps).sum();
                let slope = logits[arm].eps - centre / total;
                // At a variance of zero a root has no slope; nothing is learned there.
                slopes.push(if slope.is_finite() { slope } else { 0.0 });
            }
        }
        arm
    }
}

impl<R: LinearRule> LinearKernel for OwnChooser<R> {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }
    fn learns_projection(&self) -> bool {
        self.learns_projection
    }
    fn scalars(&self) -> usize {
        self.params.len()
    }
    fn check(&self) -> Result<()> {
        self.broken.check(&self.name)
    }

    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]) {
        let plain = |numbers: &[One<f64>]| numbers.iter().map(|x| x.0).collect();
        let mut room = Room { mu: plain(mu), v: plain(v), ..Room::default() };
        self.weigh_in(&mut room);
        weights.copy_from_slice(&room.weights);
    }

    /// Lane by lane, from the engine's precision to double, and back.
    fn act<T: Real, const SCORE: bool>(&self, mu: &[T], v: &[T], draws: &[T], slopes: &mut Slopes<T>) -> T {
        let mut room = ROOM.take();
        let arm = T::from_fn(mu[0].token(), |lane| {
            for (numbers, lanes) in [(&mut room.mu, mu), (&mut room.v, v)] {
                numbers.clear();
                numbers.extend(lanes.iter().map(|x| x.lane(lane)));
            }
            let arm = self.choose(&mut room, draws[0].lane(lane), SCORE);
            if SCORE {
                let parts =
                    slopes.mean.iter_mut().chain(slopes.variance.iter_mut()).chain(slopes.scalars.iter_mut());
                parts.zip(&room.slopes).for_each(|(out, &x)| out.set_lane(lane, x));
            }
            arm as f64
        });
        ROOM.set(room);
        arm
    }
}
