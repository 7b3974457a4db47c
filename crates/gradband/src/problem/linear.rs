//! The linear-Gaussian bandit: normal contexts, and rewards that are linear in them (section 7.7).

use super::contextual::Draw;
use super::{Instance, Normal};
use crate::lanes::One;
use crate::stream::{Stream, fill_normals};
use crate::{Error, Result, error::within};

/// x ~ N(mu_x, Sigma_x), theta_i ~ N(mu_i, Sigma_theta), reward = x'theta_i + N(0, sd²).
#[derive(Clone, Debug)]
pub struct Linear {
    /// The distribution of contexts.
    pub context: Normal,
    /// For each arm the distribution of its parameter vector; one for all arms if there is only one.
    pub theta: Vec<Normal>,
    /// sigma.
    pub noise_sd: f64,
}

impl Linear {
    /// Checks that contexts and parameters have one dimension.
    pub fn new(context: Normal, theta: Vec<Normal>, noise_sd: f64) -> Result<Self> {
        let dim = context.dim();
        if let Some(wrong) = theta.iter().find(|theta| theta.dim() != dim) {
            let message = format!("has {} entries, contexts have {dim}", wrong.dim());
            return Err(Error::new("theta_mean", message));
        }
        within("noise_sd", noise_sd, 0.0, 1e6)?;
        Ok(Self { context, theta, noise_sd })
    }

    pub(super) fn sample(&self, draw: &Draw, instance: &mut Instance) {
        let dim = self.context.dim();
        let mut stream = Stream::<One<f64>>::new((), draw.prior, draw.index);
        let mut theta = vec![0.0_f32; draw.arms * dim];
        for (arm, theta) in theta.chunks_exact_mut(dim).enumerate() {
            theta.fill_with(|| stream.normal_pair().0.0 as f32);
            self.theta[arm.min(self.theta.len() - 1)].transform(theta);
        }
        fill_normals(draw.contexts, draw.index, &mut instance.contexts);
        self.context.transform(&mut instance.contexts);
        draw.linear_means(&theta, dim, instance);
        draw.gaussian_rewards(self.noise_sd, instance);
    }
}
