//! Thompson sampling over counts: the exact probability that each arm's posterior sample is the largest.

use crate::exact::CountKernel;
use crate::exact::mixture::{ArmPrior, SuccessTable};
use crate::exact::space::{block_len, for_each_outcome};
use crate::numeric::quadrature::gauss_legendre;

/// The same policy as exact probabilities given the counts, by tables for up to a given number of rounds.
#[derive(Clone, Debug)]
pub struct Counts {
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    /// Binomial(T, 1/2) probabilities.
    Two(SuccessTable),
    /// Densities and distribution functions of Beta(1 + s, 1 + T - s) at the nodes of an exact quadrature.
    Many { weights: Vec<f64>, densities: Vec<f64>, cdfs: Vec<f64> },
}

impl Counts {
    /// For `arms` arms and at most `horizon` rounds.
    pub fn new(arms: usize, horizon: usize) -> Self {
        if arms == 2 {
            return Self { tables: Tables::Two(SuccessTable::new(&ArmPrior::Point(0.5), horizon + 2)) };
        }
        Self::by_quadrature(arms, horizon)
    }

    /// P(arm i is largest) = integral of f_i prod_{j != i} F_j, a polynomial of degree t + K - 1:
    /// Gauss-Legendre with enough nodes is exact. Slower than the closed form for two arms, and its oracle.
    pub fn by_quadrature(arms: usize, horizon: usize) -> Self {
        let nodes = gauss_legendre((horizon + arms) / 2 + 1);
        let count = nodes.len();
        let size = count * (horizon + 1) * (horizon + 2) / 2;
        let (mut densities, mut cdfs) = (vec![0.0; size], vec![0.0; size]);
        for (q, &(x, _)) in nodes.iter().enumerate() {
            let table = SuccessTable::new(&ArmPrior::Point(x), horizon + 1);
            for pulls in 0..=horizon {
                // The density of Beta(1 + s, 1 + T - s) is (T + 1) Binomial(s; T, x), its distribution
                // function the probability of at least s + 1 successes in T + 1 trials.
                let mut tail = 0.0;
                for s in (0..=pulls).rev() {
                    tail += table.row(pulls + 1)[s + 1];
                    let at = offset(pulls, s) * count + q;
                    densities[at] = (pulls + 1) as f64 * table.row(pulls)[s];
                    cdfs[at] = tail;
                }
            }
        }
        let weights = nodes.iter().map(|&(_, weight)| weight).collect();
        Self { tables: Tables::Many { weights, densities, cdfs } }
    }
}

/// Position of (pulls, successes) in a triangle.
fn offset(pulls: usize, successes: usize) -> usize {
    pulls * (pulls + 1) / 2 + successes
}

impl CountKernel for Counts {
    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], _: &mut [f64]) {
        match &self.tables {
            Tables::Two(half) => {
                let (t0, t1) = (pulls[0] as usize, pulls[1] as usize);
                let (s0, s1) = (successes[0] as usize, successes[1] as usize);
                pi[0] = (0..=s0).map(|j| hypergeometric(half, t0, t1, s0 + s1, j)).sum();
                pi[1] = 1.0 - pi[0];
            }
            Tables::Many { weights, densities, cdfs } => {
                let count = weights.len();
                let at = |arm: usize| offset(pulls[arm] as usize, successes[arm] as usize) * count;
                for (arm, p) in pi.iter_mut().enumerate() {
                    let density = &densities[at(arm)..][..count];
                    *p = (0..count)
                        .map(|q| {
                            let others = (0..pulls.len()).filter(|&j| j != arm).map(|j| cdfs[at(j) + q]);
                            weights[q] * density[q] * others.product::<f64>()
                        })
                        .sum();
                }
            }
        }
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], _: &mut [f64]) {
        let half = match &self.tables {
            Tables::Two(half) => half,
            Tables::Many { weights, densities, cdfs } => return many(pulls, pi, weights, densities, cdfs),
        };
        // P(s0, s1) = P(s0 - 1, s1 + 1) + one hypergeometric term: the sums of `probabilities`, shared.
        let (t0, t1) = (pulls[0] as usize, pulls[1] as usize);
        let width = t1 + 1;
        let (first, second) = pi.split_at_mut(block_len(pulls));
        let ways1 = &half.row(t1 + 1)[1..];
        let all = half.row(t0 + t1 + 2);
        for s0 in 0..=t0 {
            let (before, from) = first.split_at_mut(s0 * width);
            let row = &mut from[..width];
            row.fill(0.0);
            if s0 > 0 {
                row[..t1].copy_from_slice(&before[(s0 - 1) * width + 1..]);
            }
            let ways0 = half.row(t0 + 1)[s0];
            for ((p, way1), all) in row.iter_mut().zip(ways1).zip(&all[s0 + 1..]) {
                *p += ways0 * way1 / all;
            }
        }
        second.iter_mut().zip(first).for_each(|(q, p)| *q = 1.0 - *p);
    }
}

/// A block by quadrature, row by row over the last arm's successes: what the other arms contribute is shared
/// by a row.
fn many(pulls: &[u32], pi: &mut [f64], weights: &[f64], densities: &[f64], cdfs: &[f64]) {
    let (count, last) = (weights.len(), pulls.len() - 1);
    let (len, width) = (block_len(pulls), pulls[last] as usize + 1);
    let first = offset(pulls[last] as usize, 0) * count;
    let own = first..first + width * count;
    let (density, cdf) = (&densities[own.clone()], &cdfs[own]);
    let mut shared = vec![0.0; count];
    for_each_outcome(&pulls[..last], |row, successes| {
        for arm in 0..=last {
            // weight times f_arm (unless it is the last arm) times F_j of all other arms but the last.
            shared.copy_from_slice(weights);
            for j in 0..last {
                let table = if j == arm { densities } else { cdfs };
                let at = offset(pulls[j] as usize, successes[j] as usize) * count;
                shared.iter_mut().zip(&table[at..]).for_each(|(product, factor)| *product *= factor);
            }
            let own = if arm == last { density } else { cdf };
            let out = &mut pi[arm * len + row * width..][..width];
            out.iter_mut().zip(own.chunks_exact(count)).for_each(|(p, factor)| *p = dot(&shared, factor));
        }
    });
}

/// A dot product in four independent sums, which the processor can overlap.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, b4) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a4.0.iter().zip(b4.0) {
        for l in 0..4 {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a4.1.iter().zip(b4.1).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// P(j of arm 0's points are among the lowest m = total + 1), the j-th term of P(sample 0 > sample 1).
///
/// A sample of Beta(1 + s, 1 + T - s) is the (s + 1)-th smallest of T + 1 uniform points. Sample 0 exceeds
/// sample 1 iff at most s0 of the lowest s0 + s1 + 1 of all T0 + T1 + 2 points are arm 0's: a hypergeometric
/// tail (Thompson 1933), C(T0 + 1, j) C(T1 + 1, m - j) / C(T0 + T1 + 2, m), here with each binomial
/// coefficient divided by its power of two.
fn hypergeometric(half: &SuccessTable, t0: usize, t1: usize, total: usize, j: usize) -> f64 {
    let rest = total + 1 - j;
    if rest > t1 + 1 {
        return 0.0;
    }
    half.row(t0 + 1)[j] * half.row(t1 + 1)[rest] / half.row(t0 + t1 + 2)[total + 1]
}
