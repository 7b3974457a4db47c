//! Finitely many contexts, each a bandit of its own: a K x L table of means (theorem 2).

use super::contextual::Draw;
use super::{Instance, Points};
use crate::lanes::One;
use crate::stream::{Stream, fill_uniforms};
use crate::{Error, Result, error::within};

/// In which order contexts come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Drawn anew in each round.
    Random,
    /// 1, 2, ..., L, 1, 2, ...: a fixed sequence, as in theorem 2.
    Cyclic,
}

/// Tables of means, one of which is the instance; contexts are shown as one-hot vectors.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// Each instance is a table of K x L means, row by row.
    pub tables: Points,
    /// Standard deviation of a normal prior around the table.
    pub mean_sd: f64,
    /// Of rewards.
    pub noise_sd: f64,
    /// Probability of each context; they sum to one.
    pub weights: Vec<f64>,
    /// In which order contexts come.
    pub order: Order,
}

impl Discrete {
    /// `weights` need not sum to one; uniform if not given.
    pub fn new(
        tables: Points,
        contexts: usize,
        mean_sd: f64,
        noise_sd: f64,
        weights: Option<Vec<f64>>,
        order: Order,
    ) -> Result<Self> {
        within("mean_sd", mean_sd, 0.0, 1e6)?;
        within("noise_sd", noise_sd, 0.0, 1e6)?;
        if weights.is_some() && order == Order::Cyclic {
            return Err(Error::new("context_weights", "has no meaning with context_order = \"cyclic\""));
        }
        let weights = weights.unwrap_or_else(|| vec![1.0; contexts]);
        if weights.len() != contexts {
            let message = format!("found {}, expected one per context ({contexts})", weights.len());
            return Err(Error::new("context_weights", message));
        }
        for (i, &weight) in weights.iter().enumerate() {
            within(&format!("context_weights[{i}]"), weight, f64::MIN_POSITIVE, 1e12)?;
        }
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|weight| weight / total).collect();
        Ok(Self { tables, mean_sd, noise_sd, weights, order })
    }

    /// L.
    pub fn contexts(&self) -> usize {
        self.weights.len()
    }

    /// The rounds that the rarest context is expected to have.
    pub fn rarest_rounds(&self, horizon: usize) -> usize {
        let share = self.weights.iter().copied().fold(1.0, f64::min);
        match self.order {
            Order::Random => (share * horizon as f64 + 1e-9) as usize,
            Order::Cyclic => horizon / self.contexts(),
        }
    }

    pub(super) fn sample(&self, draw: &Draw, instance: &mut Instance) {
        let dim = self.contexts();
        let mut stream = Stream::<One<f64>>::new((), draw.prior, draw.index);
        let table = self.tables.sample(&mut stream);
        let theta: Vec<f32> =
            table.iter().map(|mean| (mean + self.mean_sd * stream.normal_pair().0.0) as f32).collect();
        instance.contexts.fill(0.0);
        match self.order {
            Order::Cyclic => {
                for (t, x) in instance.contexts.chunks_exact_mut(dim).enumerate() {
                    x[t % dim] = 1.0;
                }
            }
            Order::Random => {
                let mut uniforms = vec![0.0; instance.contexts.len() / dim];
                fill_uniforms(draw.contexts, draw.index, &mut uniforms);
                for (x, &u) in instance.contexts.chunks_exact_mut(dim).zip(&uniforms) {
                    let mut left = f64::from(u);
                    let drawn = self.weights.iter().position(|weight| {
                        left -= weight;
                        left < 0.0
                    });
                    x[drawn.unwrap_or(dim - 1)] = 1.0;
                }
            }
        }
        draw.linear_means(&theta, dim, instance);
        draw.gaussian_rewards(self.noise_sd, instance);
    }
}
