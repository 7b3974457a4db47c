//! The normal distribution of arms' means that measured means of the past are most likely under (a random-effects model).

use crate::numeric::special::{exp, ln};

/// Mean and variance of the normal distribution under which the measured means are most likely, each given with the
/// variance of its error. Either all of these are positive or all are 0: then the means are known.
pub(super) fn most_likely(cells: &[(f64, f64)]) -> (f64, f64) {
    let average = cells.iter().map(|cell| cell.0).sum::<f64>() / cells.len() as f64;
    let squares: f64 = cells.iter().map(|cell| (cell.0 - average).powi(2)).sum();
    if squares == 0.0 || cells.iter().all(|cell| cell.1 == 0.0) {
        return (average, squares / cells.len() as f64);
    }
    // The likelihood may have several tops: the best of a fine grid brackets the one that is looked for. No spread above
    // that of the measured means raises it.
    let largest = cells.iter().map(|cell| (cell.0 - average).abs()).fold(0.0, f64::max);
    const STEPS: i32 = 60;
    let spread = |step: i32| if step < 0 { 0.0 } else { largest * exp(0.2 * f64::from(step - STEPS)) };
    let value = |spread: f64| likelihood(cells, spread * spread).0;
    let best = (-1..=STEPS).max_by(|&x, &y| value(spread(x)).total_cmp(&value(spread(y)))).unwrap_or(-1);
    let (mut low, mut high) = (spread(best - 1), spread((best + 1).min(STEPS)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..60 {
        let [left, right] = [high - golden * (high - low), low + golden * (high - low)];
        if value(left) < value(right) { low = left } else { high = right }
    }
    // At the edge of nothing, nothing is the answer.
    let found = 0.5 * (low + high);
    let found = if value(0.0) >= value(found) { 0.0 } else { found };
    (likelihood(cells, found * found).1, found * found)
}

/// The log-likelihood of a variance, up to a constant, with the mean that is best for it.
fn likelihood(cells: &[(f64, f64)], variance: f64) -> (f64, f64) {
    let (mut weights, mut sum) = (0.0, 0.0);
    for &(x, error) in cells {
        let weight = 1.0 / (variance + error);
        weights += weight;
        sum += weight * x;
    }
    let mean = sum / weights;
    let term = |&(x, error): &(f64, f64)| ln(variance + error) + (x - mean).powi(2) / (variance + error);
    (-0.5 * cells.iter().map(term).sum::<f64>(), mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With equal errors v: the mean is the average, the variance max(0, mean square deviation - v).
    #[test]
    fn equal_errors_have_a_closed_form() {
        let means = [0.3, -1.2, 2.5, 0.9, 0.1, -0.4];
        let average = means.iter().sum::<f64>() / 6.0;
        let square = means.iter().map(|x| (x - average).powi(2)).sum::<f64>() / 6.0;
        for error in [0.0, 0.1, 0.5, 1.0, 5.0] {
            let cells = means.map(|x| (x, error));
            let (mean, variance) = most_likely(&cells);
            let expected = (square - error).max(0.0);
            assert!((mean - average).abs() < 1e-12, "{mean}");
            assert!((variance - expected).abs() < 1e-6, "{error}: {variance}, not {expected}");
        }
        assert_eq!(most_likely(&[(0.5, 0.1); 4]), (0.5, 0.0));
    }

    /// Unequal errors: no point of a fine grid is more likely.
    #[test]
    fn no_grid_point_is_more_likely() {
        let mut state = 7_u32;
        let mut unit = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        for cells in [3, 5, 12, 60] {
            for _ in 0..20 {
                let data: Vec<(f64, f64)> =
                    (0..cells).map(|_| (4.0 * unit() - 2.0, 0.01 + 2.0 * unit() * unit())).collect();
                let (mean, variance) = most_likely(&data);
                let full = |mean: f64, variance: f64| -> f64 {
                    data.iter()
                        .map(|&(x, v)| -0.5 * ((variance + v).ln() + (x - mean).powi(2) / (variance + v)))
                        .sum()
                };
                let found = full(mean, variance);
                for i in 0..=400 {
                    for j in 0..=40 {
                        let grid = full(-2.0 + 0.1 * f64::from(j), 0.01 * f64::from(i));
                        assert!(grid <= found + 1e-9, "{grid} above {found} = ({mean}, {variance})");
                    }
                }
            }
        }
    }
}
