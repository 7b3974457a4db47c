//! Bayes-optimal play against two possible instances, with any number of arms: the belief is one number.
//!
//! A state is the log-odds of the first instance against the second; a pull moves it by one of two amounts
//! that depend on the arm only. The programme runs on an evenly spaced grid of log-odds and computes two
//! bounds of the least expected regret R(p) to come, p the belief, which is a minimum of linear functions and
//! so concave:
//!
//! - *high*: every grid point keeps the regret, under either instance, of one policy for the rounds to come.
//!   Any of them may be followed from any belief, so the better of the two neighbours' is an upper bound
//!   between the points.
//! - *low*: a concave function lies above its chords.
//!
//! If all moves are multiples of one step the grid is that lattice, and both bounds are exact.

use super::mixture::{ArmPrior, Mixture};
use super::space::Cost;
use crate::error::Result;
use crate::numeric::special::{exp, ln};
use crate::observe::{Observer, go_on};

/// Beyond these log-odds (a belief of 1e-13) an upper bound still holds, and the lower bound is 0.
const LIMIT: f64 = 30.0;
/// Spacing of the grid where the moves have no common step; the gap between the bounds is proportional to it.
const SPACING: f64 = 0.001;

/// The optimal policy against two instances.
#[derive(Clone, Debug)]
pub struct TwoPoints {
    horizon: usize,
    start: f64,
    moves: Vec<[f64; 2]>,
    grid: Grid,
    low: f64,
    high: f64,
    /// By round: the last grid point at which an arm is pulled, and the arm; in increasing order.
    switches: Vec<Vec<(u32, u16)>>,
}

/// Points `first + j * spacing`, j = 0, …, `count` - 1.
#[derive(Clone, Copy, Debug)]
struct Grid {
    first: f64,
    spacing: f64,
    count: usize,
    /// Does every move lead to points only?
    lattice: bool,
}

/// Where an outcome leads: `floor` points up from every point j, and a share `chord[j]` of the way, measured
/// in the belief, from there to the next; empty if it leads to points only.
#[derive(Clone, Debug)]
struct Shift {
    floor: isize,
    chord: Vec<f64>,
}

/// One arm: its means and its gaps to the best arm under either instance, and the shift of a failure and a
/// success.
struct Arm {
    index: u16,
    means: [f64; 2],
    gaps: [f64; 2],
    shifts: [Shift; 2],
}

/// What a grid point knows of the rounds to come.
#[derive(Clone, Copy, Default)]
struct Point {
    /// Regret of its policy under either instance.
    regret: [f64; 2],
    /// Lower bound of the least expected regret.
    low: f64,
}

/// A programme that has not run yet.
pub(crate) struct Unsolved {
    belief: TwoPoints,
    means: Vec<[f64; 2]>,
}

impl Unsolved {
    /// None unless the prior consists of one or two points.
    pub fn new(prior: &Mixture) -> Option<Self> {
        let (belief, means) = TwoPoints::unsolved(prior)?;
        Some(Self { belief, means })
    }

    /// What it takes.
    pub fn cost(&self, horizon: usize) -> Cost {
        let mut distinct: Vec<_> = self.means.iter().map(|pair| pair.map(f64::to_bits)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let count = self.belief.grid.count as u128;
        let states = count * horizon as u128;
        // Five times what a step over counts takes.
        let steps = states * distinct.len() as u128 * 5;
        let bytes = count * (8 * 7 + 16 * distinct.len() as u128) + 64 * horizon as u128;
        Cost { states, bytes, steps }
    }

    /// Is its result exact, rather than between close bounds?
    pub fn is_exact(&self) -> bool {
        self.belief.grid.lattice
    }

    /// Runs it.
    pub fn solve(mut self, horizon: usize, observer: &mut dyn Observer) -> Result<TwoPoints> {
        self.belief.horizon = horizon;
        self.belief.switches = vec![Vec::new(); horizon];
        self.belief.solve(&self.means, observer)?;
        Ok(self.belief)
    }
}

impl TwoPoints {
    /// Before the programme runs; and the arms' means.
    fn unsolved(prior: &Mixture) -> Option<(Self, Vec<[f64; 2]>)> {
        let (first, second) = match prior.components() {
            [only] => (only, only),
            [first, second] => (first, second),
            _ => return None,
        };
        let means: Vec<[f64; 2]> = first
            .arms
            .iter()
            .zip(&second.arms)
            .map(
                |pair| {
                    if let (&ArmPrior::Point(a), &ArmPrior::Point(b)) = pair { Some([a, b]) } else { None }
                },
            )
            .collect::<Option<_>>()?;
        let moves: Vec<[f64; 2]> =
            means.iter().map(|&[a, b]| [log_ratio(1.0 - a, 1.0 - b), log_ratio(a, b)]).collect();
        let start = log_ratio(first.weight, second.weight);
        let grid = Grid::new(start, &moves);
        let belief = Self { horizon: 0, start, moves, grid, low: 0.0, high: 0.0, switches: Vec::new() };
        Some((belief, means))
    }

    /// The least Bayes regret lies between these.
    pub fn regret_bounds(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Number of grid points over all rounds.
    pub fn states(&self) -> u128 {
        self.grid.count as u128 * self.horizon as u128
    }

    /// The arm to pull given the counts.
    pub fn action(&self, pulls: &[u32], successes: &[u32]) -> usize {
        let mut log_odds = self.start;
        for ((moves, &t), &s) in self.moves.iter().zip(pulls).zip(successes) {
            // An outcome that did not happen must not contribute 0 times infinity.
            log_odds += if s > 0 { f64::from(s) * moves[1] } else { 0.0 };
            log_odds += if t > s { f64::from(t - s) * moves[0] } else { 0.0 };
        }
        self.action_at(pulls.iter().sum::<u32>() as usize, log_odds)
    }

    /// The arm to pull in `round` at these log-odds of the first instance.
    pub fn action_at(&self, round: usize, log_odds: f64) -> usize {
        let nearest = ((log_odds - self.grid.first) / self.grid.spacing).round() as u32; // saturates
        let switches = &self.switches[round];
        let at = switches.partition_point(|&(last, _)| last < nearest).min(switches.len() - 1);
        usize::from(switches[at].1)
    }

    fn solve(&mut self, means: &[[f64; 2]], observer: &mut dyn Observer) -> Result<()> {
        let arms = self.arms(means);
        let grid = self.grid;
        let beliefs: Vec<f64> = (0..grid.count).map(|j| sigmoid(grid.at(j as isize))).collect();
        let mut after = vec![Point::default(); grid.count];
        let mut now = after.clone();
        for round in (0..self.horizon).rev() {
            let done = (self.horizon - 1 - round) as u64;
            go_on(observer, "preparing bayes-optimal", "rounds", done, self.horizon as u64)?;
            let switches = &mut self.switches[round];
            for (j, point) in now.iter_mut().enumerate() {
                let (best, arm) = grid.best(&arms, &after, j, beliefs[j]);
                *point = best;
                match switches.last_mut() {
                    Some((last, same)) if *same == arm => *last = j as u32,
                    _ => switches.push((j as u32, arm)),
                }
            }
            std::mem::swap(&mut now, &mut after);
        }
        // A start beyond the grid (a weight of 1e-15) counts as its end.
        let origin = (((self.start - grid.first) / grid.spacing).round() as usize).min(grid.count - 1);
        let Point { regret, low } = after[origin];
        self.high = mix(beliefs[origin], regret);
        self.low = low.min(self.high);
        Ok(())
    }

    /// The arms that differ: of equal arms only the first is ever pulled.
    fn arms(&self, means: &[[f64; 2]]) -> Vec<Arm> {
        let best = [0, 1].map(|k| means.iter().fold(0.0, |best: f64, mean| best.max(mean[k])));
        (0..means.len())
            .filter(|&arm| !means[..arm].contains(&means[arm]))
            .map(|arm| Arm {
                index: arm as u16,
                means: means[arm],
                gaps: [best[0] - means[arm][0], best[1] - means[arm][1]],
                shifts: self.moves[arm].map(|step| self.grid.shift(step)),
            })
            .collect()
    }
}

impl Grid {
    /// A grid through `start` on which every move is a whole number of points, if there is one that is not
    /// too fine.
    fn new(start: f64, moves: &[[f64; 2]]) -> Self {
        let mut finite =
            moves.iter().flatten().map(|step| step.abs()).filter(|&step| step > 1e-9 && step < 2.0 * LIMIT);
        let (spacing, lattice) = match finite.try_fold(0.0, common_step) {
            Some(0.0) => (1.0, true), // no move at all: any grid will do
            Some(step) => (step, true),
            None => (SPACING, false),
        };
        let start = start.clamp(-LIMIT, LIMIT);
        let below = ((start + LIMIT) / spacing).ceil();
        let above = ((LIMIT - start) / spacing).ceil();
        Self { first: start - below * spacing, spacing, count: (below + above) as usize + 1, lattice }
    }

    fn at(&self, j: isize) -> f64 {
        self.first + j as f64 * self.spacing
    }

    fn shift(&self, step: f64) -> Shift {
        let points = (step / self.spacing).clamp(-1e9, 1e9); // an impossible outcome leads beyond the grid
        if (points - points.round()).abs() < 1e-6 {
            return Shift { floor: points.round() as isize, chord: Vec::new() };
        }
        // From log-odds l to l + f h of l + h: (e^(f h) - 1)/(e^h - 1) (1 + e^(l + h))/(1 + e^(l + f h)) in
        // the belief.
        let floor = points.floor() as isize;
        let (whole, part) = (exp(self.spacing), exp((points - points.floor()) * self.spacing));
        let chord = |j: usize| {
            let odds = exp(self.at(j as isize + floor).clamp(-2.0 * LIMIT, 2.0 * LIMIT));
            (part - 1.0) / (whole - 1.0) * (1.0 + odds * whole) / (1.0 + odds * part)
        };
        Shift { floor, chord: (0..self.count).map(chord).collect() }
    }

    /// Bellman's step at grid point j with belief p in the first instance.
    fn best(&self, arms: &[Arm], after: &[Point], j: usize, p: f64) -> (Point, u16) {
        let last = after.len() as isize - 1;
        let (mut best, mut lowest, mut chosen) =
            (Point { regret: [f64::MAX; 2], low: f64::MAX }, f64::MAX, 0);
        for arm in arms {
            let mut point = Point { regret: arm.gaps, low: mix(p, arm.gaps) };
            for (outcome, shift) in arm.shifts.iter().enumerate() {
                // Chance of the outcome under either instance, and jointly with the instance.
                let chance = arm.means.map(|mean| if outcome == 1 { mean } else { 1.0 - mean });
                let joint = [p * chance[0], (1.0 - p) * chance[1]];
                let inside = |k: isize| after[k.clamp(0, last) as usize];
                let floor = j as isize + shift.floor;
                let mut follow = inside(floor);
                if let Some(chord) = shift.chord.get(j) {
                    let ceil = inside(floor + 1);
                    let cost = |q: &Point| joint[0] * q.regret[0] + joint[1] * q.regret[1];
                    let low = follow.low + chord * (ceil.low - follow.low);
                    if cost(&ceil) < cost(&follow) {
                        follow = ceil;
                    }
                    follow.low = low;
                }
                point.regret[0] += chance[0] * follow.regret[0];
                point.regret[1] += chance[1] * follow.regret[1];
                // Beyond the grid only 0 is known to be a lower bound.
                if floor >= 0 && floor < last + isize::from(shift.chord.is_empty()) {
                    point.low += (joint[0] + joint[1]) * follow.low;
                }
            }
            let high = mix(p, point.regret);
            if high < lowest * (1.0 - 1e-12) {
                (lowest, chosen) = (high, arm.index);
                best.regret = point.regret;
            }
            best.low = best.low.min(point.low);
        }
        (best, chosen)
    }
}

fn mix(p: f64, [first, second]: [f64; 2]) -> f64 {
    p * first + (1.0 - p) * second
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + exp(-x)) } else { exp(x) / (1.0 + exp(x)) }
}

/// ln(a / b), infinite if only one is possible, 0 if neither is.
fn log_ratio(a: f64, b: f64) -> f64 {
    match (a > 0.0, b > 0.0) {
        (true, true) => ln(a) - ln(b),
        (true, false) => f64::INFINITY,
        (false, true) => f64::NEG_INFINITY,
        (false, false) => 0.0,
    }
}

/// Euclid's algorithm on real numbers: their largest common measure, unless it is finer than the grid would
/// be.
fn common_step(a: f64, b: f64) -> Option<f64> {
    const ROUNDING: f64 = 1e-9;
    let (mut a, mut b) = (a, b);
    while b > ROUNDING {
        (a, b) = (b, a % b);
        // A remainder just below the divisor is rounding, too.
        b = if a - b < ROUNDING { 0.0 } else { b };
    }
    (a > SPACING).then_some(a)
}
