//! Special functions of our own, so that a result has the same bits whatever the system's libm.

use crate::lanes::math::f64::exp as exp_in_range;
use crate::lanes::{One, Real};
use std::f64::consts::PI;

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

/// ln Gamma(x) for x > 0 (Lanczos, g = 7): relative error about 1e-15, absolute near the zeros at 1 and 2.
pub fn ln_gamma(x: f64) -> f64 {
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return ln_gamma(x + 1.0) - ln(x); // Lanczos' series wants x >= 1/2
    }
    let y = x - 1.0;
    let sum = (1..9).fold(C[0], |sum, j| sum + C[j] / (y + j as f64));
    let t = y + 7.5;
    0.5 * ln(2.0 * PI) + (y + 0.5) * ln(t) - t + ln(sum)
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
    use crate::exact::prior::{ArmPrior, SuccessTable};

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

    #[test]
    fn ln_gamma_at_integers_is_a_log_factorial() {
        let mut log_factorial = 0.0;
        for k in 1..300 {
            assert!((ln_gamma(f64::from(k)) - log_factorial).abs() < 1e-13 * log_factorial.max(1.0));
            log_factorial += f64::from(k).ln();
        }
        assert!((ln_gamma(0.5) - 0.5 * PI.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.1) - 2.252_712_651_734_206).abs() < 1e-14);
    }

    #[test]
    fn beta_cdf_at_integers_is_a_binomial_tail() {
        for (a, b) in [(1, 1), (2, 1), (1, 5), (7, 4), (40, 60), (3, 200)] {
            for x in [0.001, 0.01, 0.2, 0.5, 0.77, 0.999] {
                let table = SuccessTable::new(&ArmPrior::Point(x), a + b - 1);
                let tail: f64 = table.row(a + b - 1)[a..].iter().sum();
                let cdf = beta_cdf(a as f64, b as f64, x);
                assert!((cdf - tail).abs() < 1e-12, "I_{x}({a}, {b}) = {cdf}, not {tail}");
            }
        }
    }
}
