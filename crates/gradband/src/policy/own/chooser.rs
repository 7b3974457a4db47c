//! A contextual rule of one's own, from means and variances to an arm and the derivatives of its log-probability. In double
//! precision, whatever the engine does.

use super::kernel::Broken;
use crate::error::Result;
use crate::numeric::lanes::{One, Real};
use crate::numeric::special::exp;
use crate::policy::rule::LinearRule;
use crate::simulate::linear::{Draws, LinearChooser, Slopes};
use num_dual::Dual64;
use std::sync::Arc;

/// A contextual rule at its parameters.
pub(super) struct OwnChooser<R> {
    rule: Arc<R>,
    name: String,
    params: Vec<f64>,
    learns_projection: bool,
    broken: Broken,
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

    /// The arm, and the derivatives of its log-probability by means, variances and parameters, one after the other.
    fn choose(&self, mu: &[f64], v: &[f64], u: f64, mut slopes: Option<&mut [f64]>) -> usize {
        let arms = mu.len();
        let mut weights = vec![0.0; arms];
        self.rule.logits::<f64>(&self.params, mu, v, &mut weights);
        let mut top = weights[0];
        for &logit in &weights[1..] {
            top = if logit > top { logit } else { top };
        }
        let fine = weights.iter().fold(top.is_finite(), |fine, &logit| fine & (logit <= top));
        self.broken.note(fine);
        weights.iter_mut().for_each(|x| *x = exp(*x - top));
        let total: f64 = weights.iter().sum();
        let (mut bound, mut arm) = (0.0, 0);
        for &weight in &weights[..arms - 1] {
            bound += weight;
            arm += usize::from(u * total >= bound);
        }
        if let Some(slopes) = slopes.as_mut() {
            let dual = |x: &[f64]| x.iter().map(|&x| Dual64::from(x)).collect::<Vec<_>>();
            let mut inputs = [dual(mu), dual(v), dual(&self.params)];
            let mut logits = vec![Dual64::from(0.0); arms];
            let mut place = 0;
            for part in 0..inputs.len() {
                for i in 0..inputs[part].len() {
                    inputs[part][i].eps = 1.0;
                    self.rule.logits::<Dual64>(&inputs[2], &inputs[0], &inputs[1], &mut logits);
                    inputs[part][i].eps = 0.0;
                    let centre: f64 =
                        weights.iter().zip(&logits).map(|(weight, logit)| weight * logit.eps).sum();
                    let slope = logits[arm].eps - centre / total;
                    // At a variance of zero a root has no slope; nothing is learned there.
                    slopes[place] = if slope.is_finite() { slope } else { 0.0 };
                    place += 1;
                }
            }
        }
        arm
    }
}

impl<R: LinearRule> LinearChooser for OwnChooser<R> {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }
    fn learns_projection(&self) -> bool {
        self.learns_projection
    }
    fn scalars(&self) -> usize {
        self.params.len()
    }
    fn unscored(&self) -> Option<&'static str> {
        None
    }
    fn check(&self) -> Result<()> {
        self.broken.check(&self.name)
    }
    fn act_f32(
        &self,
        scored: bool,
        mu: &[One<f32>],
        v: &[One<f32>],
        draws: &[One<f32>],
        slopes: &mut Slopes<One<f32>>,
    ) -> usize {
        self.act(scored, mu, v, draws, slopes)
    }
    fn act_f64(
        &self,
        scored: bool,
        mu: &[One<f64>],
        v: &[One<f64>],
        draws: &[One<f64>],
        slopes: &mut Slopes<One<f64>>,
    ) -> usize {
        self.act(scored, mu, v, draws, slopes)
    }
}

impl<R: LinearRule> OwnChooser<R> {
    /// From the engine's precision to double, and back.
    fn act<T: Real<Token = ()>>(
        &self,
        scored: bool,
        mu: &[T],
        v: &[T],
        draws: &[T],
        slopes: &mut Slopes<T>,
    ) -> usize {
        let plain = |x: &[T]| x.iter().map(|x| x.lane(0)).collect::<Vec<_>>();
        let (mu, v, u) = (plain(mu), plain(v), draws[0].lane(0));
        if !scored {
            return self.choose(&mu, &v, u, None);
        }
        let mut found = vec![0.0; 2 * mu.len() + self.params.len()];
        let arm = self.choose(&mu, &v, u, Some(&mut found));
        let parts = slopes.mean.iter_mut().chain(slopes.variance.iter_mut()).chain(slopes.scalars.iter_mut());
        for (out, x) in parts.zip(found) {
            *out = T::splat((), x);
        }
        arm
    }
}
