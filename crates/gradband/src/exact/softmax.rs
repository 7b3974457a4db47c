//! What SoftElim and Boltzmann exploration share over counts: a softmax, with its derivative.

use super::index::mean;
use crate::numeric::lanes::math::f64::exp as exp_in_range;
use crate::numeric::simd::vectorized;
use crate::numeric::special::exp;

/// Entry: x_i >= 0 in `dpi`. Exit: pi_i ∝ exp(-x_i), and `dpi` = pi_i `slope` (x_i - sum_j pi_j x_j).
pub(crate) fn softmax_of_minus(pi: &mut [f64], dpi: &mut [f64], slope: f64) {
    pi.iter_mut().zip(&*dpi).for_each(|(p, &x)| *p = exp(-x));
    let total: f64 = pi.iter().sum();
    pi.iter_mut().for_each(|p| *p /= total);
    let centre: f64 = pi.iter().zip(&*dpi).map(|(p, x)| p * x).sum();
    dpi.iter_mut().zip(pi).for_each(|(x, p)| *x = *p * slope * (*x - centre));
}

/// A block of two arms: `lead(mean_0 - mean_1)` is x_1 - x_0, one of which is zero.
pub(crate) fn two_arms(pulls: [u32; 2], pi: &mut [f64], dpi: &mut [f64], slope: f64, lead: Lead) {
    vectorized(
        #[inline(always)]
        || match lead {
            Lead::Linear(rate) => {
                gaps(pulls, pi);
                scale(pi, rate);
                logistic(pi, dpi, slope);
            }
            Lead::Square(rates) => {
                gaps(pulls, pi);
                square(pi, rates);
                logistic(pi, dpi, slope);
            }
        },
    );
}

/// x_1 - x_0 as a function of the gap mean_0 - mean_1.
#[derive(Clone, Copy)]
pub(crate) enum Lead {
    /// gap times a rate.
    Linear(f64),
    /// gap |gap| times the second rate if arm 0 leads, else the first.
    Square([f64; 2]),
}

/// mean_0 - mean_1 of every state, into the part of arm 0.
#[inline(always)]
fn gaps([first, second]: [u32; 2], pi: &mut [f64]) {
    let width = second as usize + 1;
    let per_success = 1.0 / f64::from(second);
    for (s0, row) in (0..=first).zip(pi.chunks_exact_mut(width)) {
        let mean0 = mean(s0, first);
        // An i32 counter, because its conversion to f64 vectorises.
        for (s1, z) in (0..width as i32).zip(row) {
            *z = mean0 - f64::from(s1) * per_success;
        }
    }
}

#[inline(always)]
fn scale(pi: &mut [f64], rate: f64) {
    let half = pi.len() / 2;
    for z in &mut pi[..half] {
        *z *= rate;
    }
}

#[inline(always)]
fn square(pi: &mut [f64], [first, second]: [f64; 2]) {
    let half = pi.len() / 2;
    for z in &mut pi[..half] {
        *z = *z * z.abs() * if *z >= 0.0 { second } else { first };
    }
}

/// Entry: z = x_1 - x_0 in arm 0's part of `pi`. Exit: [`softmax_of_minus`], without a branch. What the
/// bounds change is below 1e-300.
#[inline(always)]
fn logistic(pi: &mut [f64], dpi: &mut [f64], slope: f64) {
    let (pi0, pi1) = pi.split_at_mut(pi.len() / 2);
    let (dpi0, dpi1) = dpi.split_at_mut(dpi.len() / 2);
    for ((p0, p1), (d0, d1)) in pi0.iter_mut().zip(pi1).zip(dpi0.iter_mut().zip(dpi1)) {
        let z = *p0;
        let bounded = if z < -700.0 { -700.0 } else { z };
        let e = exp_in_range(if bounded > 700.0 { -700.0 } else { -bounded });
        *p0 = 1.0 / (1.0 + e);
        *p1 = e * *p0;
        *d1 = *p0 * *p1 * z * slope;
        *d0 = -*d1;
    }
}
