//! The largest value of a function of one positive number: a grid, then golden-section search around its best point.

use crate::error::Result;

/// Values of the first look, evenly spaced in the logarithm.
const GRID: usize = 13;
/// Part of the bracket that a step of golden-section search keeps.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// The search ends when the bracket's ends are this close, relative to each other.
const CLOSE: f64 = 1.02;

/// Where `value` is largest between `low` and `high`, both positive; none if it was never known. `value` returns none
/// when it is time to stop.
pub(crate) fn largest(
    low: f64,
    high: f64,
    mut value: impl FnMut(f64) -> Result<Option<f64>>,
) -> Result<Option<f64>> {
    let step = (high / low).powf(1.0 / (GRID - 1) as f64);
    let grid: Vec<f64> = (0..GRID).map(|i| low * step.powi(i as i32)).collect();
    let mut best: Option<(f64, f64)> = None;
    let mut offer = |x: f64, found: f64| {
        let better = best.is_none_or(|(_, most)| found > most);
        if better {
            best = Some((x, found));
        }
        better
    };
    let mut bracket = (low, high);
    let mut stopped = false;
    for (i, &x) in grid.iter().enumerate() {
        let Some(found) = value(x)? else {
            stopped = true;
            break;
        };
        if offer(x, found) {
            bracket = (grid[i.saturating_sub(1)], grid[(i + 1).min(GRID - 1)]);
        }
    }
    // In logarithms: at a + (b - a) (1 - golden) and a + (b - a) golden.
    let inner = |(a, b): (f64, f64), part: f64| a * (b / a).powf(part);
    let (mut left, mut right) = (None, None);
    while !stopped && bracket.1 / bracket.0 > CLOSE {
        let points = (inner(bracket, 1.0 - GOLDEN), inner(bracket, GOLDEN));
        for (point, known) in [(points.0, &mut left), (points.1, &mut right)] {
            if known.is_none() {
                *known = value(point)?;
            }
            if let Some(found) = *known {
                offer(point, found);
            }
        }
        let (Some(at_left), Some(at_right)) = (left, right) else { break };
        if at_left > at_right {
            bracket.1 = points.1;
            (left, right) = (None, left);
        } else {
            bracket.0 = points.0;
            (left, right) = (right, None);
        }
    }
    Ok(best.map(|(x, _)| x))
}

/// The point of a grid where `value` is largest, then around it in steps of half the length (in logarithms), `levels`
/// times. Axes are positive and rise by equal factors; one with a single number stays there.
pub(crate) fn on_grid(
    axes: [&[f64]; 2],
    levels: usize,
    mut value: impl FnMut([f64; 2]) -> Result<f64>,
) -> Result<[f64; 2]> {
    let mut best = ([axes[0][0], axes[1][0]], f64::NEG_INFINITY);
    let mut offer = |point: [f64; 2], best: &mut ([f64; 2], f64)| -> Result<()> {
        let found = value(point)?;
        if found > best.1 {
            *best = (point, found);
        }
        Ok(())
    };
    for &x in axes[0] {
        for &y in axes[1] {
            offer([x, y], &mut best)?;
        }
    }
    let mut factors = axes.map(|axis| axis.get(1).map_or(1.0, |second| second / axis[0]));
    for _ in 0..levels {
        factors = factors.map(f64::sqrt);
        for axis in (0..2).filter(|&axis| factors[axis] > 1.0) {
            let centre = best.0;
            for factor in [factors[axis], 1.0 / factors[axis]] {
                let mut point = centre;
                point[axis] *= factor;
                offer(point, &mut best)?;
            }
        }
    }
    Ok(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_top_near_the_grid() {
        let hill = |top: [f64; 2]| {
            move |x: [f64; 2]| -> Result<f64> {
                Ok(-(x[0] / top[0]).ln().powi(2) - (x[1] / top[1]).ln().powi(2))
            }
        };
        let (scales, widths) = ([1.0, 2.0, 4.0, 8.0], [0.03, 0.1, 0.3, 1.0]);
        for top in [[1.0, 0.03], [3.0, 0.2], [10.0, 1.5], [0.7, 0.1]] {
            let found = on_grid([&scales, &widths], 2, hill(top)).unwrap();
            assert!(
                (found[0] / top[0]).ln().abs() < 0.26 && (found[1] / top[1]).ln().abs() < 0.5,
                "{found:?}"
            );
        }
        let fixed = on_grid([&[5.0], &widths], 2, hill([1.0, 0.3])).unwrap();
        assert_eq!(fixed[0], 5.0);
    }

    #[test]
    fn finds_the_top_of_a_hill_and_keeps_what_it_has_when_stopped() {
        for top in [0.02, 0.37, 4.0, 20.0] {
            let found = largest(0.02, 20.0, |x| Ok(Some(-(x / top).ln().powi(2)))).unwrap().unwrap();
            assert!((found / top).ln().abs() < 0.02, "{top}: {found}");
        }
        let mut left = 3;
        let found = largest(1.0, 100.0, |x| {
            left -= 1;
            Ok((left >= 0).then_some(x))
        });
        // The third of thirteen values that are evenly spaced in the logarithm.
        let third = found.unwrap().unwrap();
        assert!((third / 100_f64.powf(2.0 / 12.0) - 1.0).abs() < 1e-12, "{third}");
        assert_eq!(largest(1.0, 2.0, |_| Ok(None)).unwrap(), None);
    }
}
