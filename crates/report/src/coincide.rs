//! Lines that lie on each other: the one above would hide the one below.

/// How near lines are that cannot be told apart, in pixels.
const NEAR: f64 = 1.5;
/// The share of their length that must be common.
const COMMON: f64 = 0.8;

/// Do two lines run along the same places? Their points are in pixels, from left to right.
pub(crate) fn coincide(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
    let (Some(of_a), Some(of_b)) = (ends(a), ends(b)) else { return false };
    let (from, to) = (of_a.0.max(of_b.0), of_a.1.min(of_b.1));
    if to - from <= 0.0 || to - from < COMMON * (of_a.1 - of_a.0).max(of_b.1 - of_b.0) {
        return false;
    }
    let stops = a.iter().chain(b).map(|&(x, _)| x).filter(|&x| x >= from && x <= to);
    stops.into_iter().all(|x| (height(a, x) - height(b, x)).abs() < NEAR)
}

/// Where a line begins and ends; nothing if it turns back.
fn ends(line: &[(f64, f64)]) -> Option<(f64, f64)> {
    let forward = line.windows(2).all(|pair| pair[0].0 <= pair[1].0);
    forward.then_some((line.first()?.0, line.last()?.0))
}

/// The height of a line at x, which is within it.
fn height(line: &[(f64, f64)], x: f64) -> f64 {
    let after = line.partition_point(|&(at, _)| at < x).min(line.len() - 1);
    let (right, before) = (line[after], line[after.saturating_sub(1)]);
    let share = (x - before.0) / (right.0 - before.0);
    if share.is_finite() { before.1 + share * (right.1 - before.1) } else { right.1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_where_both_are() {
        let line = [(0.0, 0.0), (50.0, 50.0), (100.0, 100.0)];
        assert!(coincide(&line, &[(0.0, 1.0), (100.0, 100.0)]));
        assert!(!coincide(&line, &[(0.0, 0.0), (50.0, 60.0), (100.0, 100.0)]));
        // They only share a part, or a place.
        assert!(!coincide(&line, &[(60.0, 60.0), (100.0, 100.0)]));
        assert!(!coincide(&line, &[(100.0, 100.0), (200.0, 200.0)]));
        assert!(!coincide(&line, &[]));
        assert!(!coincide(&[(3.0, 3.0)], &[(3.0, 3.0)]));
    }
}
