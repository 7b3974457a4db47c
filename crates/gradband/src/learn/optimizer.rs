//! Gradient ascent and its adaptive relatives.

use super::kept::{Kept, kept};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Optimizers by name.
pub const OPTIMIZERS: [(&str, &str); 3] = [
    ("sgd", "gradient ascent; automatic rate 1/(c sqrt L), gradient clipped at c"),
    (
        "adam",
        "Adam (Kingma and Ba, 2015); automatic rate 0.06 (0.15 for policies without a matrix), falling linearly to a tenth",
    ),
    ("yogi", "Yogi (Zaheer et al., 2018); automatic rate as for adam"),
];

/// Which update rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// w += rate g.
    Sgd,
    /// Rescaled by running moments of the gradient.
    Adam,
    /// Adam with a second moment that changes additively.
    Yogi,
}

impl Optimizer {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sgd => "sgd",
            Self::Adam => "adam",
            Self::Yogi => "yogi",
        }
    }

    /// The rule of that name.
    pub fn new(name: &str) -> Result<Self> {
        match name {
            "sgd" => Ok(Self::Sgd),
            "adam" => Ok(Self::Adam),
            "yogi" => Ok(Self::Yogi),
            other => Err(Error::unknown("optimizer", other, OPTIMIZERS.iter().map(|&(name, _)| name))),
        }
    }
}

/// By its place.
impl Kept for Optimizer {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u32).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let place = u32::take(from)?;
        [Self::Sgd, Self::Adam, Self::Yogi].into_iter().find(|&rule| rule as u32 == place)
    }
}

/// How fast to learn, over the iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The rate of the first iteration.
    pub initial: f64,
    /// Falls linearly to this fraction of it over the iterations.
    pub end: f64,
    /// And is multiplied by this after each of them.
    pub decay: f64,
}

impl Rate {
    /// The rate of 0-based iteration `i` of `iterations`.
    pub fn at(&self, i: usize, iterations: usize) -> f64 {
        let done = i as f64 / iterations as f64;
        self.initial * (1.0 - (1.0 - self.end) * done) * self.decay.powi(i32::try_from(i).unwrap_or(i32::MAX))
    }
}

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;

/// An update rule with its memory.
#[derive(Clone, Debug)]
pub(crate) struct Climber {
    rule: Optimizer,
    /// Gradients longer than this are shortened to it.
    clip: Option<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

kept!(Climber { rule, clip, first, second, steps });

impl Climber {
    /// For `dim` parameters.
    pub fn new(rule: Optimizer, clip: Option<f64>, dim: usize) -> Self {
        Self { rule, clip, first: vec![0.0; dim], second: vec![0.0; dim], steps: 0 }
    }

    /// Is it for so many parameters?
    pub fn fits(&self, dim: usize) -> bool {
        self.first.len() == dim && self.second.len() == dim
    }

    /// Moves `params` up along `gradient`.
    pub fn step(&mut self, params: &mut [f64], gradient: &[f64], rate: f64) {
        let norm = norm(gradient);
        let scale = match self.clip {
            Some(clip) if norm > clip => clip / norm,
            _ => 1.0,
        };
        let Self { first, second, steps, .. } = self;
        *steps = steps.saturating_add(1);
        let corrections = (1.0 - BETA1.powi(*steps), 1.0 - BETA2.powi(*steps));
        for (i, (param, g)) in params.iter_mut().zip(gradient).enumerate() {
            let g = g * scale;
            let epsilon = match self.rule {
                Optimizer::Sgd => {
                    *param += rate * g;
                    continue;
                }
                Optimizer::Adam => {
                    second[i] += (1.0 - BETA2) * (g * g - second[i]);
                    1e-8
                }
                Optimizer::Yogi => {
                    let excess = second[i] - g * g;
                    second[i] -= (1.0 - BETA2) * g * g * if excess > 0.0 { 1.0 } else { -1.0 };
                    1e-3
                }
            };
            first[i] += (1.0 - BETA1) * (g - first[i]);
            let (mean, square) = (first[i] / corrections.0, second[i] / corrections.1);
            *param += rate * mean / (square.sqrt() + epsilon);
        }
    }
}

/// Euclidean length.
pub(crate) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximises -(x - 3)² - 10 (y + 1)².
    fn climb(rule: Optimizer, rate: Rate, iterations: usize) -> [f64; 2] {
        let mut w = [0.0, 0.0];
        let mut optimizer = Climber::new(rule, None, 2);
        for i in 0..iterations {
            let gradient = [-2.0 * (w[0] - 3.0), -20.0 * (w[1] + 1.0)];
            optimizer.step(&mut w, &gradient, rate.at(i, iterations));
        }
        w
    }

    #[test]
    fn every_rule_climbs_a_quadratic() {
        for (rule, initial, end) in
            [(Optimizer::Sgd, 0.05, 1.0), (Optimizer::Adam, 0.2, 0.01), (Optimizer::Yogi, 0.2, 0.01)]
        {
            let w = climb(rule, Rate { initial, end, decay: 1.0 }, 2000);
            assert!((w[0] - 3.0).abs() < 1e-2 && (w[1] + 1.0).abs() < 1e-2, "{rule:?}: {w:?}");
        }
    }

    /// The first two steps of Adam by hand: sign(g), then the bias-corrected ratio.
    #[test]
    fn adam_takes_its_textbook_steps() {
        let mut w = [0.0];
        let mut adam = Climber::new(Optimizer::Adam, None, 1);
        adam.step(&mut w, &[2.0], 0.1);
        assert!((w[0] - 0.1).abs() < 1e-9);
        adam.step(&mut w, &[-1.0], 0.1);
        let (m, v) =
            ((0.9 * 0.1 * 2.0 - 0.1) / (1.0 - 0.81), (0.999 * 0.001 * 4.0 + 0.001) / (1.0 - 0.999 * 0.999));
        assert!((w[0] - (0.1 + 0.1 * m / f64::sqrt(v))).abs() < 1e-8);
    }

    #[test]
    fn clipping_shortens_and_rates_fall() {
        let mut w = [0.0, 0.0];
        Climber::new(Optimizer::Sgd, Some(1.0), 2).step(&mut w, &[30.0, 40.0], 1.0);
        assert!((w[0] - 0.6).abs() < 1e-12 && (w[1] - 0.8).abs() < 1e-12);
        let rate = Rate { initial: 0.06, end: 0.1, decay: 0.5 };
        assert_eq!(rate.at(0, 10), 0.06);
        assert!((rate.at(5, 10) - 0.06 * 0.55 / 32.0).abs() < 1e-15);
    }
}
