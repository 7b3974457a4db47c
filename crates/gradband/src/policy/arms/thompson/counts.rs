//! Thompson sampling over counts: the exact probability that each arm's posterior sample is the largest.

use super::Thompson;
use crate::error::{Error, Result};
use crate::exact::mixture::{ArmPrior, SuccessTable};
use crate::exact::space::{self, block_len, for_each_outcome};
use crate::exact::{Cost, CountKernel, LIMIT};
use crate::numeric::quadrature::gauss_legendre;
use crate::numeric::special::{beta_cdf, exp, ln, ln_gamma};
use std::ops::Range;

/// The same policy as exact probabilities given the counts, by tables for up to a given number of rounds.
#[derive(Clone, Debug)]
pub struct Counts {
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    /// Binomial(T, 1/2) probabilities.
    Two(SuccessTable),
    /// Densities and distribution functions of the posteriors at the nodes of a quadrature.
    Many(Nodes),
}

/// A quadrature, and the posteriors of an arm at its nodes by (pulls, successes).
#[derive(Clone, Debug)]
struct Nodes {
    weights: Vec<f64>,
    densities: Vec<f64>,
    cdfs: Vec<f64>,
    /// The nodes at which a density counts.
    support: Vec<Range<usize>>,
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
        let support = vec![0..count; size / count];
        Self { tables: Tables::Many(Nodes { weights, densities, cdfs, support }) }
    }

    /// For any prior and sharpness: the trapezoidal rule in the log-odds u of an arm's mean x, where
    ///
    /// ```text
    /// f(u) = x^a (1 - x)^b / B(a, b),   a = c (alpha + s),   b = c (beta + T - s)
    /// ```
    /// is smooth and falls off exponentially on both sides, whatever a and b. A product of K functions no steeper than
    /// a normal one of deviation sigma has an error of about exp(-2 pi² sigma² / (K h²)) in steps of h: 1e-12 here.
    pub fn in_log_odds(policy: &Thompson, arms: usize, horizon: usize) -> Result<Self> {
        let Thompson { alpha, beta, sharpness } = *policy;
        let ends = |horizon: usize| {
            let most = |x: f64| sharpness * (x + horizon as f64);
            [lowest(sharpness * alpha, most(beta)), -lowest(sharpness * beta, most(alpha))]
        };
        let step = |horizon: usize| {
            let sigma = 2.0 / (sharpness * (alpha + beta + horizon as f64)).sqrt();
            (0.84 * sigma / (arms as f64).sqrt()).min(0.5)
        };
        let [low, high] = ends(horizon);
        if low.min(-high) <= -FARTHEST {
            let message = format!(
                "thompson's samples come too close to 0 or 1 for exact results: sharpness times alpha, and times beta, must be \
                 at least about {SMALLEST}, not {}",
                sharpness * alpha.min(beta)
            );
            return Err(Error::new("policy", message));
        }
        space::check(arms, horizon, &LIMIT, |horizon| {
            let [low, high] = ends(horizon);
            let nodes = ((high - low) / step(horizon)) as u128 + 2;
            let posteriors = (horizon + 1) as u128 * (horizon + 2) as u128 / 2;
            let Cost { states, bytes, steps } = Cost::evaluation(arms, horizon, 0, 1);
            let tables = nodes * posteriors;
            // Few of the nodes count, and several are added at once.
            let steps = steps.saturating_mul(1 + nodes / 8).saturating_add(20 * tables);
            Cost { states, bytes: bytes.saturating_add(16 * tables), steps }
        })?;
        let h = step(horizon);
        let nodes: Vec<f64> = (0..).map(|k| low + f64::from(k) * h).take_while(|&u| u < high + h).collect();
        let mut tables = Nodes { weights: vec![h; nodes.len()], densities: vec![], cdfs: vec![], support: vec![] };
        for pulls in 0..=horizon {
            for s in 0..=pulls {
                tables.push(&nodes, sharpness * (alpha + s as f64), sharpness * (beta + (pulls - s) as f64));
            }
        }
        Ok(Self { tables: Tables::Many(tables) })
    }
}

/// The log-odds below which means are zero for a computer, and about what sharpness times alpha must be to stay above.
const FARTHEST: f64 = 700.0;
const SMALLEST: f64 = 0.06;
/// What is left out on either side of a density, relative to its maximum, and of a distribution.
const LEFT_OUT: f64 = 1e-17;

/// The log-odds below which Beta(a, b) has next to nothing.
fn lowest(a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (-FARTHEST, ln(a) - ln(b));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if cdf(a, b, middle) < LEFT_OUT { low = middle } else { high = middle }
    }
    low
}

/// The distribution function of Beta(a, b) at these log-odds, which no rounding of 1 - x disturbs.
fn cdf(a: f64, b: f64, u: f64) -> f64 {
    if u <= 0.0 { beta_cdf(a, b, odds(u)) } else { 1.0 - beta_cdf(b, a, odds(-u)) }
}

/// x of log-odds u <= 0.
fn odds(u: f64) -> f64 {
    exp(u) / (1.0 + exp(u))
}

impl Nodes {
    /// Beta(a, b) at log-odds.
    fn push(&mut self, nodes: &[f64], a: f64, b: f64) {
        let norm = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
        // ln x = u + ln(1 - x) for u <= 0, and so on the other side.
        let log_density = |&u: &f64| {
            let less = -libm::log1p(exp(-u.abs()));
            norm + if u <= 0.0 { a * (u + less) + b * less } else { a * less + b * (less - u) }
        };
        let logs: Vec<f64> = nodes.iter().map(log_density).collect();
        let counts = logs.iter().fold(f64::MIN, |most, &log| most.max(log)) + ln(LEFT_OUT);
        let first = logs.iter().position(|&log| log > counts).unwrap_or(0);
        let last = logs.iter().rposition(|&log| log > counts).unwrap_or(0);
        self.support.push(first..last + 1);
        self.densities.extend(logs.iter().map(|&log| if log > counts { exp(log) } else { 0.0 }));
        self.cdfs.extend(nodes.iter().enumerate().map(|(q, &u)| match q {
            _ if q < first => 0.0,
            _ if q > last => 1.0,
            _ => cdf(a, b, u),
        }));
    }

    /// Densities or distribution functions of an arm at the nodes.
    fn row<'a>(&self, table: &'a [f64], posterior: usize) -> &'a [f64] {
        &table[posterior * self.weights.len()..][..self.weights.len()]
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
            Tables::Many(nodes) => {
                let at = |arm: usize| offset(pulls[arm] as usize, successes[arm] as usize);
                for (arm, p) in pi.iter_mut().enumerate() {
                    let density = nodes.row(&nodes.densities, at(arm));
                    *p = nodes.support[at(arm)]
                        .clone()
                        .map(|q| {
                            let others = (0..pulls.len()).filter(|&j| j != arm);
                            let others = others.map(|j| nodes.row(&nodes.cdfs, at(j))[q]);
                            nodes.weights[q] * density[q] * others.product::<f64>()
                        })
                        .sum();
                }
            }
        }
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], _: &mut [f64]) {
        let half = match &self.tables {
            Tables::Two(half) => half,
            Tables::Many(nodes) => return many(pulls, pi, nodes),
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
fn many(pulls: &[u32], pi: &mut [f64], nodes: &Nodes) {
    let Nodes { weights, densities, cdfs, support } = nodes;
    let last = pulls.len() - 1;
    let (len, width) = (block_len(pulls), pulls[last] as usize + 1);
    let own = offset(pulls[last] as usize, 0);
    let mut shared = vec![0.0; weights.len()];
    for_each_outcome(&pulls[..last], |row, successes| {
        let at = |arm: usize| offset(pulls[arm] as usize, successes[arm] as usize);
        for arm in 0..=last {
            // weight times f_arm (unless it is the last arm) times F_j of all other arms but the last.
            let counts = if arm == last { 0..weights.len() } else { support[at(arm)].clone() };
            let shared = &mut shared[counts.clone()];
            shared.copy_from_slice(&weights[counts.clone()]);
            for j in 0..last {
                let table = if j == arm { densities } else { cdfs };
                let factors = &nodes.row(table, at(j))[counts.clone()];
                shared.iter_mut().zip(factors).for_each(|(product, factor)| *product *= factor);
            }
            for (s, p) in pi[arm * len + row * width..][..width].iter_mut().enumerate() {
                *p = if arm == last {
                    let counts = support[own + s].clone();
                    dot(&shared[counts.clone()], &nodes.row(densities, own + s)[counts])
                } else {
                    dot(shared, &nodes.row(cdfs, own + s)[counts.clone()])
                };
            }
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
