//! A few numbers that look random, priors made of them, and the normal distribution.
#![allow(dead_code, clippy::unwrap_used)]

use gradband::exact::{ArmPrior, Component, Mixture};

/// Phi(x), the normal distribution function.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Splitmix64: the tests need a few numbers that look random.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An asymmetric prior: points, independent Betas, a mixture of Betas, or a mixture of both, by turns.
    pub fn prior(&mut self, arms: usize, turn: usize) -> Mixture {
        let rows = if turn % 4 == 1 { 1 } else { 3 };
        let row = |_| Component {
            weight: 0.1 + self.unit(),
            arms: (0..arms)
                .map(|arm| match turn % 4 {
                    0 => ArmPrior::Point(self.unit()),
                    3 if arm == 0 => ArmPrior::Point(self.unit()),
                    _ => ArmPrior::Beta { alpha: 0.2 + 3.0 * self.unit(), beta: 0.2 + 3.0 * self.unit() },
                })
                .collect(),
        };
        Mixture::new((0..rows).map(row).collect()).unwrap()
    }
}
