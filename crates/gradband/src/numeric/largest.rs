//! The probability that each of some independent random numbers is the largest, by quadrature on a common grid:
//!
//! ```text
//! p_k = integral of f_k(t) prod_{i != k} F_i(t) dt
//! ```
//! Every law has panels that suit it; their ends together are the grid, and a panel has Gauss-Legendre nodes. F_i at a node is
//! the integral of the polynomial through the values of f_i at the nodes of its panel. Each f_i is divided by its own integral,
//! so that it need not be normalised.

use super::quadrature::gauss_legendre;
use super::special::exp;
use std::sync::LazyLock;

/// The distribution of a random number with a log-concave density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Normal.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation, above zero.
        sd: f64,
    },
    /// ln(X / (1 - X)) with X from Beta(a, b): as large as X is, and smooth whatever a and b.
    LogitBeta {
        /// a > 0.
        a: f64,
        /// b > 0.
        b: f64,
    },
}

impl Law {
    /// Where its density is largest.
    fn mode(self) -> f64 {
        match self {
            Self::Normal { mean, .. } => mean,
            Self::LogitBeta { a, b } => libm::log(a / b),
        }
    }

    /// The logarithm of its density up to a constant; `share` is [`log_share`] at t.
    #[inline(always)]
    fn log_density(self, t: f64, share: f64) -> f64 {
        match self {
            Self::Normal { mean, sd } => -0.5 * ((t - mean) / sd) * ((t - mean) / sd),
            Self::LogitBeta { a, b } => (a + b) * share - b * t,
        }
    }

    /// How far a panel that begins at t may reach to one side: the density must be like a polynomial of low degree in it.
    fn stride(self, t: f64, side: f64) -> f64 {
        let (slope, curvature, smooth) = match self {
            Self::Normal { mean, sd } => ((t - mean) / (sd * sd), 1.0 / (sd * sd), f64::INFINITY),
            Self::LogitBeta { a, b } => {
                let x = libm::exp(log_share(t));
                let curvature = (a + b) * x * (1.0 - x);
                // Powers of F are steeper than f, and are resolved where they are not zero: near its end.
                let near = (0.5 * (t - self.mode()).abs()).max(BEND);
                (a - (a + b) * x, curvature, straight(curvature, side * t > 0.0).min(near))
            }
        };
        (0.9 / curvature.sqrt()).min(4.0 / slope.abs()).min(smooth)
    }

    /// The ends of its panels, each with the stride there: outwards from the mode until nothing is left.
    fn ends(self, ends: &mut Vec<(f64, f64)>) {
        /// e^-42 is less than a rounding.
        const NOTHING: f64 = -42.0;
        let mode = self.mode();
        let top = self.log_density(mode, log_share(mode));
        ends.push((mode, self.stride(mode, 1.0)));
        for side in [-1.0, 1.0] {
            let mut t = mode;
            while self.log_density(t, log_share(t)) - top > NOTHING {
                let stride = self.stride(t, side);
                t += side * stride;
                ends.push((t, stride));
            }
        }
    }
}

/// The length of a panel where the logarithm of a density bends.
const BEND: f64 = 1.0;

/// How far a logarithm of a density with this curvature goes straight on. The bend between its two slopes grows and fades by a
/// factor of e in a length of one.
fn straight(curvature: f64, fades: bool) -> f64 {
    const NEGLIGIBLE: f64 = 1e-9;
    match (curvature > NEGLIGIBLE, fades) {
        (true, _) => BEND,
        (false, true) => f64::INFINITY,
        (false, false) => libm::log(NEGLIGIBLE / curvature).max(BEND),
    }
}

/// ln(1 / (1 + e^-t)).
fn log_share(t: f64) -> f64 {
    if t >= 0.0 { -libm::log1p(libm::exp(-t)) } else { t - libm::log1p(libm::exp(t)) }
}

const NODES: usize = 10;

/// A panel of length one: its nodes with their weights, and the integrals up to each node of the polynomials that are one at a
/// node and zero at the others.
struct Panel {
    nodes: [(f64, f64); NODES],
    integrals: [[f64; NODES]; NODES],
}

static PANEL: LazyLock<Panel> = LazyLock::new(|| {
    let mut nodes = [(0.0, 0.0); NODES];
    nodes.copy_from_slice(&gauss_legendre(NODES));
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let basis = |k: usize, x: f64| -> f64 {
        let others = nodes.iter().enumerate().filter(|&(i, _)| i != k);
        others.map(|(_, &(node, _))| (x - node) / (nodes[k].0 - node)).product()
    };
    let up_to = |end: f64, k: usize| -> f64 {
        nodes.iter().map(|&(x, weight)| end * weight * basis(k, end * x)).sum()
    };
    let integrals = std::array::from_fn(|j| std::array::from_fn(|k| up_to(nodes[j].0, k)));
    Panel { nodes, integrals }
});

/// Writes the probability of each law's number to be the largest.
pub(crate) fn largest(laws: &[Law], out: &mut [f64]) {
    let ends = grid(laws);
    let panel = &*PANEL;
    let count = (ends.len() - 1) * NODES;
    // The densities at all nodes, and their integrals up to each, law by law.
    let (mut densities, mut shares) = (vec![0.0; laws.len() * count], vec![0.0; laws.len() * count]);
    let place = |node: usize| {
        let (from, to) = (ends[node / NODES], ends[node / NODES + 1]);
        (from + (to - from) * panel.nodes[node % NODES].0, to - from)
    };
    let nodes: Vec<_> = (0..count).map(|node| place(node).0).map(|t| (t, log_share(t))).collect();
    for ((law, f), sums) in
        laws.iter().zip(densities.chunks_exact_mut(count)).zip(shares.chunks_exact_mut(count))
    {
        let top = law.log_density(law.mode(), log_share(law.mode()));
        for (f, &(t, share)) in f.iter_mut().zip(&nodes) {
            *f = exp(law.log_density(t, share) - top);
        }
        let mut before = 0.0;
        for (i, (f, sums)) in f.chunks_exact(NODES).zip(sums.chunks_exact_mut(NODES)).enumerate() {
            let length = ends[i + 1] - ends[i];
            for (sum, integrals) in sums.iter_mut().zip(&panel.integrals) {
                *sum = before + length * f.iter().zip(integrals).map(|(f, x)| f * x).sum::<f64>();
            }
            before += length * f.iter().zip(&panel.nodes).map(|(f, node)| f * node.1).sum::<f64>();
        }
        f.iter_mut().for_each(|f| *f /= before);
        sums.iter_mut().for_each(|sum| *sum /= before);
    }
    // Products of the others before and after each.
    let mut after = vec![1.0; laws.len() + 1];
    out.fill(0.0);
    for node in 0..count {
        for k in (0..laws.len()).rev() {
            after[k] = after[k + 1] * shares[k * count + node];
        }
        let weight = place(node).1 * panel.nodes[node % NODES].1;
        let mut before = 1.0;
        for (k, out) in out.iter_mut().enumerate() {
            *out += weight * densities[k * count + node] * before * after[k + 1];
            before *= shares[k * count + node];
        }
    }
}

/// The ends of the panels of all laws; one that hardly shortens the panel before it is left out.
fn grid(laws: &[Law]) -> Vec<f64> {
    const HARDLY: f64 = 0.3;
    let mut ends = Vec::new();
    laws.iter().for_each(|law| law.ends(&mut ends));
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut kept: Vec<f64> = Vec::with_capacity(ends.len());
    for (t, stride) in ends {
        if kept.last().is_none_or(|last| t - last > HARDLY * stride) {
            kept.push(t);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::special::{beta_cdf, ln_gamma};

    fn probabilities(laws: &[Law]) -> Vec<f64> {
        let mut out = vec![0.0; laws.len()];
        largest(laws, &mut out);
        out
    }

    fn close(found: f64, expected: f64, what: &dyn std::fmt::Debug) {
        assert!((found - expected).abs() < 1e-12, "{what:?}: {found}, expected {expected}");
    }

    /// P(X > Y) = Phi((m - l) / sqrt(s^2 + r^2)).
    #[test]
    fn two_normals_have_a_closed_form() {
        for (mean, sd, other, wide) in
            [(0.0, 1.0, 0.3, 0.5), (5.0, 1e-3, 5.001, 2.0), (-2.0, 0.1, -1.5, 0.1), (0.0, 1.0, 9.0, 1.0)]
        {
            let laws = [Law::Normal { mean, sd }, Law::Normal { mean: other, sd: wide }];
            let z = (mean - other) / sd.hypot(wide);
            close(probabilities(&laws)[0], 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2), &laws);
        }
    }

    /// X ~ Beta(a, b) against a whole-numbered Beta(c, d): P(X < Y) = sum over j < c of B(a + j, b + d) / ((d + j) B(1 + j, d) B(a, b)).
    #[test]
    fn two_betas_have_a_closed_form() {
        let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
        for (a, b, c, d) in [
            (1.0, 1.0, 1.0, 1.0),
            (0.01, 5.0, 3.0, 2.0),
            (1e-3, 1e-3, 1.0, 7.0),
            (250.5, 749.5, 3.0, 9.0),
            (4000.0, 96000.0, 40.0, 960.0),
        ] {
            let laws = [Law::LogitBeta { a, b }, Law::LogitBeta { a: c, b: d }];
            let term =
                |j: f64| (ln_beta(a + j, b + d) - (d + j).ln() - ln_beta(1.0 + j, d) - ln_beta(a, b)).exp();
            let less: f64 = (0..c as u32).map(|j| term(f64::from(j))).sum();
            // The oracle is a difference of large logarithms.
            let found = probabilities(&laws)[1];
            assert!((found - less).abs() < 1e-15 * (a + b) + 1e-12, "{laws:?}: {found}, expected {less}");
        }
    }

    /// Against a plain rule on a fine grid, with the distribution function by its continued fraction.
    #[test]
    fn many_betas_agree_with_a_fine_grid() {
        let params = [(3.0, 9.0), (1.0, 1.0), (30.0, 70.0), (2.5, 4.5), (11.0, 21.0)];
        let laws = params.map(|(a, b)| Law::LogitBeta { a, b });
        let found = probabilities(&laws);
        close(found.iter().sum(), 1.0, &laws);
        for (k, &found) in found.iter().enumerate() {
            let steps = 20_000;
            let cdf = |k: usize, x: f64| beta_cdf(params[k].0, params[k].1, x);
            let at = |i: u32| f64::from(i) / f64::from(steps);
            let others = |x: f64| -> f64 { (0..laws.len()).filter(|&i| i != k).map(|i| cdf(i, x)).product() };
            let sum: f64 = (0..steps)
                .map(|i| (cdf(k, at(i + 1)) - cdf(k, at(i))) * others(0.5 * (at(i) + at(i + 1))))
                .sum();
            assert!((found - sum).abs() < 1e-7, "{k}: {found}, expected {sum}");
        }
    }

    #[test]
    fn equal_numbers_are_equally_likely() {
        let betas = [(0.5, 2e5), (1e-3, 1e-3), (0.01, 1e5), (1e6, 2e6)].map(|(a, b)| Law::LogitBeta { a, b });
        for law in betas.into_iter().chain([Law::Normal { mean: 3.0, sd: 1e-2 }]) {
            for p in probabilities(&vec![law; 100]) {
                close(p, 0.01, &law);
            }
        }
    }
}
