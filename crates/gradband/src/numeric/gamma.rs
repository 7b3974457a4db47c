//! Rising factorials and their derivatives: what likelihoods of counts are made of, without the cancellation that the
//! difference of two large logarithms of the Gamma function would have.

use super::special::{ln, ln_gamma};

/// ln(x (x + 1) … (x + n - 1)) = ln Gamma(x + n) - ln Gamma(x), and its first two derivatives by x, for x > 0 and a whole
/// number n.
pub fn rising(x: f64, n: f64) -> [f64; 3] {
    // The sum is exact to rounding and, for so few terms, not slower.
    if n <= 16.0 {
        let mut sums = [0.0; 3];
        for j in 0..n as u32 {
            let term = x + f64::from(j);
            let inverse = 1.0 / term;
            sums[0] += ln(term);
            sums[1] += inverse;
            sums[2] -= inverse * inverse;
        }
        return sums;
    }
    [ln_rising(x, n), digamma(x + n) - digamma(x), trigamma(x + n) - trigamma(x)]
}

/// Stirling's series term by term where both logarithms are large; below, nothing cancels.
fn ln_rising(x: f64, n: f64) -> f64 {
    if x < 100.0 {
        return ln_gamma(x + n) - ln_gamma(x);
    }
    let end = x + n;
    let tail = |x: f64| (1.0 / 12.0 - 1.0 / (360.0 * x * x)) / x;
    (x - 0.5) * libm::log1p(n / x) + n * (ln(end) - 1.0) + tail(end) - tail(x)
}

/// The derivative of ln Gamma, for x > 0.
pub fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    sum + ln(x) - 0.5 / x - series
}

/// The derivative of [`digamma`], for x > 0.
pub fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0))));
    sum + (1.0 + 0.5 / x + series) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 2e-13 * expected.abs().max(1.0), "{found}, not {expected}");
    }

    /// psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2; psi'(1) = pi²/6, psi'(1/2) = pi²/2.
    #[test]
    fn polygammas_agree_with_closed_forms() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let square = std::f64::consts::PI * std::f64::consts::PI;
        near(digamma(1.0), -EULER);
        near(digamma(0.5), -EULER - 2.0 * std::f64::consts::LN_2);
        near(trigamma(1.0), square / 6.0);
        near(trigamma(0.5), square / 2.0);
        for x in [0.001, 0.3, 4.0, 11.5, 40.0, 1e6] {
            near(digamma(x + 1.0) - digamma(x), 1.0 / x);
            near(trigamma(x) - trigamma(x + 1.0), 1.0 / (x * x));
        }
    }

    /// Against the plain sums, on both sides of every change of method.
    #[test]
    fn rising_factorials_are_sums() {
        for x in [0.001, 0.7, 11.0, 99.0, 101.0, 3e4, 1e6] {
            for n in [0, 1, 16, 17, 100, 1_000] {
                let [value, first, second] = rising(x, f64::from(n));
                let terms = || (0..n).map(|j| x + f64::from(j));
                let sums = [
                    terms().map(f64::ln).sum::<f64>(),
                    terms().map(|x| 1.0 / x).sum(),
                    terms().map(|x| -1.0 / (x * x)).sum(),
                ];
                for (found, expected) in [value, first, second].into_iter().zip(sums) {
                    let allowed = 1e-11 * expected.abs() + 1e-13;
                    assert!((found - expected).abs() <= allowed, "{x}, {n}: {found}, not {expected}");
                }
            }
        }
    }
}
