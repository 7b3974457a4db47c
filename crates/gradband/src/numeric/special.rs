//! Special functions, our own or pinned ones, so that a result has the same bits whatever the system's libm.

use super::lanes::math::f64::exp as exp_in_range;
use super::lanes::{One, Real};

/// exp(x) for x <= 709; 0 below -708.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    if x < -708.0 { 0.0 } else { exp_in_range(x) }
}

/// ln(x) for a positive, normal x.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    One(x).ln().0
}

/// ln Gamma(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Distribution function of Beta(alpha, beta) at x: the regularised incomplete beta function I_x(alpha,
/// beta).
pub fn beta_cdf(alpha: f64, beta: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if alpha == 1.0 && beta == 1.0 {
        return x;
    }
    // The continued fraction converges fast below the mean; above it, use the complement.
    if x * (alpha + beta + 2.0) > alpha + 1.0 {
        1.0 - beta_lower(beta, alpha, 1.0 - x)
    } else {
        beta_lower(alpha, beta, x)
    }
}

/// The number within which Student's t with `freedom` degrees of freedom stays with probability `level`.
pub fn student_quantile(freedom: f64, level: f64) -> f64 {
    // P(|T| > t) = I_x(freedom / 2, 1/2) at x = freedom / (freedom + t²), which falls from 1 to 0 with t.
    let outside = |t: f64| beta_cdf(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (0.0, 1.0);
    while outside(high) > 1.0 - level {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if outside(middle) > 1.0 - level { low = middle } else { high = middle }
    }
    high
}

/// I_x(a, b) by its continued fraction (DLMF 8.17.22), evaluated by Lentz's method.
fn beta_lower(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x) + b * ln(1.0 - x)) / a;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Printed tables of the two-sided 95 % and 99 % points.
    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, level, expected) in [
            (1.0, 0.95, 12.706_205),
            (2.0, 0.95, 4.302_653),
            (9.0, 0.95, 2.262_157),
            (17.0, 0.95, 2.109_816),
            (9.0, 0.99, 3.249_836),
            (1e6, 0.95, 1.959_966),
        ] {
            let found = student_quantile(freedom, level);
            assert!((found - expected).abs() < 2e-6, "{freedom}, {level}: {found}, not {expected}");
        }
    }

    #[test]
    fn exp_and_ln_agree_with_libm() {
        for j in -7_000..7_000 {
            let x = f64::from(j) * 0.100_37;
            let (ours, theirs) = (exp(x), x.exp());
            assert!((ours / theirs - 1.0).abs() < 4e-16, "exp({x}) = {ours}, not {theirs}");
        }
        for j in 1..20_000 {
            let x = f64::from(j) * 0.003_1;
            let (ours, theirs) = (ln(x), x.ln());
            assert!((ours - theirs).abs() < 9e-16 * theirs.abs().max(0.5), "ln({x}) = {ours}, not {theirs}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1_000.0), 0.0);
        assert_eq!(ln(1.0), 0.0);
    }
}
