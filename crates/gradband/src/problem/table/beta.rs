//! The Beta distribution of arms' means that counts of the past are most likely under (the beta-binomial model), and the
//! one that matches moments.

use super::Doubt;
use crate::numeric::gamma::rising;
use crate::numeric::special::{exp, ln};

/// The least and largest parameter, as [`Prior::betas`](crate::Prior::betas) takes them.
pub(in crate::problem) const RANGE: (f64, f64) = (1e-3, 1e6);

/// The Beta distribution with this mean and this strength (the sum of its parameters), as near as [`RANGE`] allows. The
/// strength gives way, not the mean.
pub(in crate::problem) fn bounded(mean: f64, strength: f64) -> (f64, f64) {
    let mean = mean.clamp(RANGE.0 / RANGE.1, 1.0 - RANGE.0 / RANGE.1);
    let (less, more) = (mean.min(1.0 - mean), mean.max(1.0 - mean));
    let strength = strength.max(RANGE.0 / less).min(RANGE.1 / more);
    let parameter = |share: f64| (strength * share).clamp(RANGE.0, RANGE.1);
    (parameter(mean), parameter(1.0 - mean))
}

/// The Beta distribution with this mean and variance, as near as [`RANGE`] allows.
pub(in crate::problem) fn matching(mean: f64, variance: f64) -> (f64, f64) {
    let strength = mean * (1.0 - mean) / variance - 1.0;
    // Without variance the mean is known; 0 / 0 is a mean of 0 or 1, which is known as well.
    bounded(mean, if strength.is_nan() { f64::INFINITY } else { strength.max(0.0) })
}

/// Mean and variance of Beta(a, b).
pub(in crate::problem) fn moments((a, b): (f64, f64)) -> (f64, f64) {
    let mean = a / (a + b);
    (mean, mean * (b / (a + b)) / (a + b + 1.0))
}

/// How often each number occurs, and with it the logarithm of a product of rising factorials.
struct Histogram(Vec<(f64, f64)>);

impl Histogram {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.filter(|&x| x > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let same = sorted.chunk_by(|x, y| x == y);
        Self(same.map(|same| (same[0], same.len() as f64)).collect())
    }

    /// The sum over all numbers n of ln(x (x + 1) … (x + n - 1)), and its first two derivatives by x.
    fn rising(&self, x: f64) -> [f64; 3] {
        let (mut total, mut one, mut reached) = ([0.0; 3], [0.0; 3], 0.0);
        for &(number, times) in &self.0 {
            let step = rising(x + reached, number - reached);
            for ((total, one), step) in total.iter_mut().zip(&mut one).zip(step) {
                *one += step;
                *total += times * *one;
            }
            reached = number;
        }
        total
    }
}

/// The counts of the past as the likelihood needs them. It is a sum over successes, failures and trials apart, and few of
/// these numbers are different.
struct Counts {
    successes: Histogram,
    failures: Histogram,
    trials: Histogram,
}

/// The log-likelihood at a point, its gradient and its second derivatives, by the log-odds of the mean and the logarithm
/// of the strength.
struct Slope {
    value: f64,
    gradient: [f64; 2],
    /// By the log-odds twice, by both, by the strength twice.
    second: [f64; 3],
}

impl Counts {
    fn slope(&self, point: [f64; 2]) -> Slope {
        let (a, b) = parameters(point);
        let strength = a + b;
        let [x, y, z] = [self.successes.rising(a), self.failures.rising(b), self.trials.rising(strength)];
        let (by_a, by_b) = (x[1] - z[1], y[1] - z[1]);
        let (aa, ab, bb) = (x[2] - z[2], -z[2], y[2] - z[2]);
        let along = a * b / strength; // da / d log-odds
        let bend = along * (b - a) / strength;
        Slope {
            value: x[0] + y[0] - z[0],
            gradient: [along * (by_a - by_b), a * by_a + b * by_b],
            second: [
                along * along * (aa - 2.0 * ab + bb) + bend * (by_a - by_b),
                along * (a * aa + (b - a) * ab - b * bb + by_a - by_b),
                a * a * aa + 2.0 * a * b * ab + b * b * bb + a * by_a + b * by_b,
            ],
        }
    }

    /// The top of the hill on which a point stands: Newton's method, which goes uphill by at most 2 where the likelihood is
    /// not concave, and back by halves where it overshot.
    fn climb(&self, mut point: [f64; 2]) -> ([f64; 2], f64) {
        let mut here = self.slope(point);
        for _ in 0..200 {
            let mut step = here.step(at_bound(point, here.gradient[1]));
            let longest = step[0].abs().max(step[1].abs());
            if longest < 1e-10 {
                break;
            }
            let mut shrink = (2.0 / longest).min(1.0);
            let next = loop {
                step = step.map(|x| x * shrink);
                let next = within([point[0] + step[0], point[1] + step[1]]);
                let slope = self.slope(next);
                if slope.value > here.value {
                    break Some((next, slope));
                }
                if step[0].abs().max(step[1].abs()) < 1e-10 {
                    break None;
                }
                shrink = 0.5;
            };
            let Some((next, slope)) = next else { break };
            (point, here) = (next, slope);
        }
        (point, here.value)
    }
}

impl Slope {
    /// Newton's step where the likelihood is concave; else uphill, in each coordinate by its own curvature or by 1. At a
    /// bound of the strength, the mean moves alone.
    fn step(&self, at_bound: bool) -> [f64; 2] {
        let ([g, h], [gg, gh, hh]) = (self.gradient, self.second);
        let alone = |slope: f64, curve: f64| if curve < 0.0 { -slope / curve } else { slope.signum() };
        let determinant = gg * hh - gh * gh;
        if at_bound {
            [alone(g, gg), 0.0]
        } else if gg < 0.0 && determinant > 0.0 {
            [(gh * h - hh * g) / determinant, (gh * g - gg * h) / determinant]
        } else {
            [alone(g, gg), alone(h, hh)]
        }
    }
}

/// From the log-odds of the mean and the logarithm of the strength.
fn parameters([odds, strength]: [f64; 2]) -> (f64, f64) {
    let (mean, strength) = (1.0 / (1.0 + exp(-odds)), exp(strength));
    (strength * mean, strength / (1.0 + exp(odds)))
}

fn point((a, b): (f64, f64)) -> [f64; 2] {
    [ln(a / b), ln(a + b)]
}

/// The nearest point whose parameters are within [`RANGE`], with the same mean.
fn within([odds, strength]: [f64; 2]) -> [f64; 2] {
    let odds = odds.clamp(-20.0, 20.0);
    point(bounded(1.0 / (1.0 + exp(-odds)), exp(strength.clamp(-20.0, 20.0))))
}

/// Whether the strength is as large or small as it may be and should go further.
fn at_bound(here: [f64; 2], slope: f64) -> bool {
    let beyond = within([here[0], here[1] + 1e-6 * slope.signum()]);
    (beyond[1] - here[1]).abs() < 0.5e-6
}

/// (a, b) under which the counts of successes and trials are most likely, if each arm's mean is drawn from Beta(a, b). Where
/// the counts do not say, a doubt does.
pub(super) fn most_likely(cells: &[(f64, f64)]) -> ((f64, f64), Option<Doubt>) {
    let sum = |number: fn(&(f64, f64)) -> f64| cells.iter().map(number).sum::<f64>();
    let (successes, trials) = (sum(|cell| cell.0), sum(|cell| cell.1));
    if trials == 0.0 {
        return ((1.0, 1.0), Some(Doubt::NoTrials));
    }
    let mean = successes / trials;
    if successes == 0.0 || successes == trials {
        // What is known of one rate that never, or always, succeeded so far (Jeffreys).
        let (a, b) = (successes + 0.5, trials - successes + 0.5);
        return (bounded(a / (a + b), a + b), Some(Doubt::OneOutcome));
    }
    if cells.iter().all(|cell| cell.1 <= 1.0) {
        // Any strength is as likely as any other: the flattest one without a pole, uniform for a mean of 1/2.
        return (bounded(mean, 1.0 / mean.min(1.0 - mean)), Some(Doubt::OneTrial));
    }
    let counts = Counts {
        successes: Histogram::of(cells.iter().map(|cell| cell.0)),
        failures: Histogram::of(cells.iter().map(|cell| cell.1 - cell.0)),
        trials: Histogram::of(cells.iter().map(|cell| cell.1)),
    };
    let equal = point(bounded(mean, f64::INFINITY));
    let start = point(bounded(mean, strength_by_moments(cells, mean)));
    let tops = [counts.climb(start), counts.climb(equal)];
    let top = if tops[1].1 > tops[0].1 { tops[1].0 } else { tops[0].0 };
    let (a, b) = parameters(top);
    let doubt = (a.max(b) > 0.99 * RANGE.1).then_some(Doubt::Equal);
    (bounded(a / (a + b), a + b), doubt)
}

/// Var(s) = t p (1 - p) (1 + (t - 1) / (strength + 1)), summed over cells.
fn strength_by_moments(cells: &[(f64, f64)], mean: f64) -> f64 {
    let spread: f64 = cells.iter().map(|&(s, t)| (s - t * mean).powi(2)).sum();
    let once: f64 = cells.iter().map(|cell| cell.1).sum();
    let pairs: f64 = cells.iter().map(|cell| cell.1 * (cell.1 - 1.0)).sum();
    let correlation = (spread / (mean * (1.0 - mean)) - once) / pairs;
    1.0 / correlation.clamp(1e-5, 0.9) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::lanes::One;
    use crate::numeric::stream::{Key, Stream};

    /// Counts of arms whose means are drawn from Beta(a, b).
    fn drawn(cells: u64, trials: u32, a: f64, b: f64) -> Vec<(f64, f64)> {
        let cell = |i| {
            let mut stream = Stream::<One<f64>>::new((), Key::new(3), i);
            let mean = stream.beta(One(a), One(b)).0;
            let successes = (0..trials).filter(|_| stream.uniform().0 < mean).count();
            (successes as f64, f64::from(trials))
        };
        (0..cells).map(cell).collect()
    }

    /// The plain sum over cells, by logarithms of the Gamma function.
    fn likelihood(cells: &[(f64, f64)], a: f64, b: f64) -> f64 {
        let beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        cells.iter().map(|&(s, t)| beta(a + s, b + t - s) - beta(a, b)).sum()
    }

    /// 141 strengths by 121 means, over all that is allowed: none is more likely than what is found, whatever the counts.
    #[test]
    fn no_grid_point_is_more_likely() {
        let mut numbers = Stream::<One<f64>>::new((), Key::new(5), 0);
        let mut unit = || numbers.uniform().0;
        let mut tables: Vec<Vec<(f64, f64)>> = (0..40)
            .map(|size| {
                let (most, skew) = (2.0 + 300.0 * unit() * unit(), 1.0 + 4.0 * unit());
                let mut cell = || {
                    let trials = (1.0 + most * unit()).floor();
                    ((trials * unit().powf(skew)).floor(), trials)
                };
                (0..3 + size).map(|_| cell()).collect()
            })
            .collect();
        tables.push(vec![(1.0, 1.0), (0.0, 1.0), (0.0, 2.0)]);
        tables.push(vec![(0.0, 5.0), (1.0, 5.0), (5.0, 5.0), (0.0, 0.0)]);
        tables.push(vec![(0.0, 20.0), (20.0, 20.0), (20.0, 20.0)]);
        tables.push(vec![(8.0, 10.0), (0.0, 1.0), (8.0, 10.0), (0.0, 1.0)]);
        tables.push(vec![(500_000.0, 1e6), (400_000.0, 1e6), (450_000.0, 1e6)]);
        let mut compared = 0;
        for cells in tables {
            let ((a, b), doubt) = most_likely(&cells);
            if doubt == Some(Doubt::OneOutcome) {
                continue; // The likelihood has no top.
            }
            compared += 1;
            let found = likelihood(&cells, a, b);
            for i in 0..=140 {
                let strength = (-3.0 + 0.06 * f64::from(i)) * std::f64::consts::LN_10;
                for j in -60..=60 {
                    let (a, b) = parameters(within([0.2 * f64::from(j), strength]));
                    let grid = likelihood(&cells, a, b);
                    // The oracle's own rounding where logarithms are in the millions.
                    let allowed = 1e-6 + 1e-12 * libm::lgamma(cells[0].1 + a + b);
                    assert!(grid <= found + allowed, "{cells:?}: ({a}, {b}) {grid} above {found}");
                }
            }
        }
        assert!(compared >= 40, "{compared}");
    }

    /// Two trials in each cell: n0, n1, n2 cells with 0, 1, 2 successes in 2 trials. The likelihood is that of a
    /// multinomial with P(0) = q² + c, P(1) = 2 (p q - c), P(2) = p² + c, which is matched exactly: p = (n1 / 2 + n2) / n,
    /// c = n2 / n - p², strength = p q / c - 1.
    #[test]
    fn two_trials_have_a_closed_form() {
        let (n0, n1, n2) = (50, 20, 30);
        let cells = [vec![(0.0, 2.0); n0], vec![(1.0, 2.0); n1], vec![(2.0, 2.0); n2]].concat();
        let p = 0.4;
        let covariance = 0.3 - p * p;
        let strength = p * (1.0 - p) / covariance - 1.0;
        let ((a, b), doubt) = most_likely(&cells);
        assert!((a - p * strength).abs() < 1e-8 && (b - (1.0 - p) * strength).abs() < 1e-8, "{a}, {b}");
        assert_eq!(doubt, None);
    }

    /// 20,000 cells of 200 trials: within 4 standard errors, which are about 2 % of either parameter.
    #[test]
    fn what_was_drawn_is_found() {
        for (a, b) in [(2.0, 198.0), (0.5, 0.5), (30.0, 10.0)] {
            let ((found_a, found_b), doubt) = most_likely(&drawn(20_000, 200, a, b));
            assert!(
                (found_a / a - 1.0).abs() < 0.08 && (found_b / b - 1.0).abs() < 0.08,
                "{found_a}, {found_b}"
            );
            assert_eq!(doubt, None);
        }
    }

    #[test]
    fn edges_have_an_answer_and_a_doubt() {
        let ((a, b), doubt) = most_likely(&[(0.0, 100.0); 5]);
        assert_eq!(doubt, Some(Doubt::OneOutcome));
        assert!((a / (a + b) - 0.5 / 501.0).abs() < 1e-12 && (a - 0.5).abs() < 1e-9, "{a}, {b}");
        let ((a, b), doubt) = most_likely(&[(100.0, 100.0); 5]);
        assert_eq!((doubt, a > b), (Some(Doubt::OneOutcome), true));
        // Any strength is as likely: the rarer outcome counts once.
        let one = [vec![(1.0, 1.0); 2], vec![(0.0, 1.0); 198]].concat();
        let ((a, b), doubt) = most_likely(&one);
        assert_eq!(doubt, Some(Doubt::OneTrial));
        assert!((a - 1.0).abs() < 1e-9 && (b - 99.0).abs() < 1e-9, "{a}, {b}");
        // The same rate everywhere: as strong as may be, with the mean of all.
        let ((a, b), doubt) = most_likely(&[(10.0, 1_000.0); 50]);
        assert_eq!(doubt, Some(Doubt::Equal));
        assert!((a / (a + b) - 0.01).abs() < 1e-5 && b > 0.99e6, "{a}, {b}");
        assert_eq!(most_likely(&[(0.0, 0.0)]), ((1.0, 1.0), Some(Doubt::NoTrials)));
        // As different as can be.
        let ((a, b), _) = most_likely(&[(0.0, 1e6), (1e6, 1e6)]);
        assert!(a >= RANGE.0 && a < 0.2 && (a - b).abs() < 1e-6, "{a}, {b}");
    }

    #[test]
    fn moments_are_matched_within_bounds() {
        for pair in [(2.0, 198.0), (0.3, 0.1), (1e5, 3.0)] {
            let (mean, variance) = moments(pair);
            let (a, b) = matching(mean, variance);
            assert!((a / pair.0 - 1.0).abs() < 1e-9 && (b / pair.1 - 1.0).abs() < 1e-9, "{a}, {b}");
        }
        for (mean, variance) in [(0.3, 0.0), (0.0, 0.0), (1.0, 0.0), (0.5, 0.25), (0.0, 1.0), (1e-12, 1e-30)]
        {
            let (a, b) = matching(mean, variance);
            assert!([a, b].iter().all(|x| (RANGE.0..=RANGE.1).contains(x)), "{mean}, {variance}: {a}, {b}");
        }
        assert_eq!(matching(0.5, 0.25), (RANGE.0, RANGE.0));
        assert_eq!(matching(0.5, 0.0), (RANGE.1, RANGE.1));
    }
}
