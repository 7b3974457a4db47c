//! Finite-horizon Gittins indices of a Bernoulli arm with a Beta(1, 1) prior, for every state and every
//! remaining time.
//!
//! The index of (successes s, failures f) with r rounds left is the charge lambda per pull at which an
//! optimal stopper is indifferent between stopping and going on, the root of Q in
//!
//! ```text
//! Q_r(s, f; lambda) = p - lambda + p V_{r-1}(s + 1, f) + (1 - p) V_{r-1}(s, f + 1)
//! V = max(0, Q),  V_0 = 0,  p = (s + 1) / (s + f + 2)
//! ```
//!
//! What makes it fast: s + f + r = N never changes, so each N is a programme of its own with one row in
//! cache, and
//! - a state whose last pull would pay even after failures only, (s + 1)/(N + 1) > lambda, never stops, and
//!   has V = r (p - lambda) in closed form;
//! - the smallest s that goes on, as a function of the pulls i = s + f, falls by 0 or 1 when i falls by 1:
//!   with s < b - 1 both children of (i, s) stop and p < lambda; with s >= b the failure child goes on, and
//!   having seen one failure less is better still. So one candidate per row decides, everything between it
//!   and "never stops" goes on, and the row needs no comparison.
//!
//! Accuracy: Q is convex and piecewise linear in lambda, with slope -E\[pulls until stopping\], which follows
//! the same recursion. The index is taken as the larger root of the tangents at the two nearest charges:
//! exact if at most one kink lies between them, never too large. The charges are multiples of 1/(m (N + 1)),
//! which contain all kinks that the last round causes. Measured against bisection: see [`MAX_ERROR`].

use crate::error::{Error, Result};
use crate::numeric::simd::vectorized;
use crate::observe::{Observer, go_on};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Largest error of an index, measured against bisection in f64: 1e-4 up to a horizon of 798 (mean error
/// 1.5e-5 or less), 3e-4 beyond (mean 4e-5), where charges have a spacing of 1/(N + 1). Regret at n = 200 is
/// off by less than 1e-5.
pub const MAX_ERROR: f32 = 3e-4;

/// The longest horizon: its table takes 1 GB.
pub const MAX_HORIZON: usize = 1143;

/// Charges per programme, at least; a larger number lowers the error with its square, and takes time in
/// proportion.
const CHARGES: usize = 800;

/// Indices for all `successes + failures + remaining <= horizon` with `remaining >= 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct GittinsTable {
    horizon: usize,
    /// Slices by N = successes + failures + remaining, in each rows by pulls, in each row by successes: the
    /// table of a shorter horizon is a prefix.
    values: Vec<f32>,
}

impl GittinsTable {
    /// Computes the table.
    pub fn new(horizon: usize, observer: &mut dyn Observer) -> Result<Self> {
        let mut values = vec![0.0; Self::entries(horizon)];
        let mut stopping = Stopping::new(horizon);
        let all = Self::entries(horizon) as u64;
        for total in 1..=horizon {
            go_on(observer, "preparing gittins", "indices", Self::entries(total - 1) as u64, all)?;
            let slice = &mut values[Self::entries(total - 1)..Self::entries(total)];
            vectorized(
                #[inline(always)]
                || stopping.fill(total, slice),
            );
        }
        Ok(Self { horizon, values })
    }

    /// A table stored by the caller: [`Self::values`] of a table with this horizon.
    pub fn from_parts(horizon: usize, values: Vec<f32>) -> Result<Self> {
        let entries = Self::entries(horizon);
        if values.len() != entries {
            let found = values.len();
            return Err(Error::new(
                "table",
                format!("a Gittins table of horizon {horizon} has {entries} entries, not {found}"),
            ));
        }
        // An index lies between the posterior mean and 1.
        let table = Self { horizon, values };
        for total in 1..=horizon {
            for pulls in 0..total {
                let row = Self::entries(total - 1) + pulls * (pulls + 1) / 2;
                for (s, &index) in table.values[row..row + pulls + 1].iter().enumerate() {
                    let mean = (s + 1) as f32 / (pulls + 2) as f32;
                    if !(index >= mean - MAX_ERROR && index < 1.0) {
                        let (failures, remaining) = (pulls - s, total - pulls);
                        return Err(Error::new(
                            "table",
                            format!(
                                "a Gittins table holds {index} for {s} successes, {failures} failures, {remaining} rounds left"
                            ),
                        ));
                    }
                }
            }
        }
        Ok(table)
    }

    /// Number of entries up to a horizon: n (n + 1) (n + 2) / 6. Each takes four bytes.
    pub fn entries(horizon: usize) -> usize {
        horizon * (horizon + 1) * (horizon + 2) / 6
    }

    /// The longest horizon the table serves.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// The entries, for storing.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The index with `remaining >= 1` rounds left, this one included. Panics outside the table.
    #[inline]
    pub fn index(&self, successes: u32, failures: u32, remaining: u32) -> f32 {
        debug_assert!(remaining > 0, "no round is left");
        let pulls = (successes + failures) as usize;
        let total = pulls + remaining as usize;
        self.values[Self::entries(total - 1) + pulls * (pulls + 1) / 2 + successes as usize]
    }
}

/// Keeps tables between runs of a program.
pub trait Store: Send + Sync {
    /// Is there a table for this horizon, as far as can be told at once?
    fn has(&self, horizon: usize) -> bool;
    /// A table for this horizon or a longer one.
    fn load(&self, horizon: usize) -> Option<GittinsTable>;
    /// Keeps a table, if possible.
    fn save(&self, table: &GittinsTable);
}

static STORE: OnceLock<Box<dyn Store>> = OnceLock::new();
static MEMO: Mutex<Option<Arc<GittinsTable>>> = Mutex::new(None);

/// Sets where tables are kept; the first call counts.
pub fn keep_in(store: Box<dyn Store>) {
    let _ = STORE.set(store);
}

/// The table in memory, if it serves this horizon.
fn remembered(horizon: usize) -> Option<Arc<GittinsTable>> {
    let memo = MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    memo.as_ref().filter(|table| table.horizon() >= horizon).cloned()
}

/// Would [`shared`] return at once, or nearly so?
pub fn at_hand(horizon: usize) -> bool {
    remembered(horizon).is_some() || STORE.get().is_some_and(|store| store.has(horizon))
}

/// A table for this horizon or a longer one: from memory, from the store, or computed and kept in both.
pub fn shared(horizon: usize, observer: &mut dyn Observer) -> Result<Arc<GittinsTable>> {
    if let Some(table) = remembered(horizon) {
        return Ok(table);
    }
    let stored = STORE.get().and_then(|store| store.load(horizon)).filter(|table| table.horizon() >= horizon);
    let table = match stored {
        Some(table) => table,
        None => {
            let table = GittinsTable::new(horizon, observer)?;
            if let Some(store) = STORE.get() {
                store.save(&table);
            }
            table
        }
    };
    let table = Arc::new(table);
    *MEMO.lock().unwrap_or_else(PoisonError::into_inner) = Some(table.clone());
    Ok(table)
}

/// What the previous charge left in one row (one number of pulls): the smallest s that went on, and Q and the
/// expected number of pulls there and one above.
#[derive(Clone, Copy, Default)]
struct Row {
    border: u32,
    value: [f32; 2],
    pulls: [f32; 2],
}

/// The optimal stopping programmes of one N, for rising charges.
struct Stopping {
    /// V and the expected pulls until stopping, by successes, of the row below the one being computed.
    value: Vec<f32>,
    pulls: Vec<f32>,
    rows: Vec<Row>,
    /// 0, 1, 2, … and their inverses as floats: conversions are slow.
    count: Vec<f32>,
    inverse: Vec<f32>,
}

const LANES: usize = 4;

impl Stopping {
    fn new(horizon: usize) -> Self {
        let size = horizon + 4 + LANES;
        let count: Vec<f32> = (0..size as u32).map(|j| j as f32).collect();
        let inverse = count.iter().map(|j| 1.0 / j).collect();
        Self {
            value: vec![0.0; size],
            pulls: vec![0.0; size],
            rows: vec![Row::default(); horizon],
            count,
            inverse,
        }
    }

    /// Writes the slice of one N.
    #[inline(always)]
    fn fill(&mut self, total: usize, out: &mut [f32]) {
        let per_unit = CHARGES.div_ceil(total + 1);
        // At charge 0 nobody stops: Q = r p after r pulls.
        for (i, row) in self.rows[..total].iter_mut().enumerate() {
            let left = self.count[total - i];
            let first = left * self.inverse[i + 2];
            *row = Row { border: 0, value: [first, 2.0 * first], pulls: [left, left] };
        }
        for s in 0..total {
            out[total * (total - 1) / 2 + s] = self.count[s + 1] / self.count[total + 1]; // the last round: p
        }
        let step = 1.0 / (per_unit * (total + 1)) as f64;
        let mut open = 0; // rows before this one are done: all of their states have stopped
        for charge in 1..per_unit * (total + 1) {
            if open + 1 >= total {
                break;
            }
            open = self.sweep(total, charge / per_unit, charge as f64 * step, step, open, out);
        }
    }

    /// One backward programme at charge `lambda`; `never` is the smallest s that never stops. Writes the
    /// indices between the previous charge and this one, and returns the first row that still has states to
    /// come.
    #[inline(always)]
    fn sweep(
        &mut self,
        total: usize,
        never: usize,
        lambda: f64,
        step: f64,
        open: usize,
        out: &mut [f32],
    ) -> usize {
        let charge = lambda as f32;
        let mut border = never; // smallest s that goes on, in the row below
        for i in (open..total - 1).rev() {
            let left = self.count[total - i - 1]; // rounds left in the row below
            let inverse = self.inverse[i + 2];
            if never <= i + 1 {
                self.value[never] = left * (self.count[never + 1] * self.inverse[i + 3] - charge);
                self.pulls[never] = left;
            }
            // The candidate: one below the border; its failure child stops.
            let (mut value, mut pulls) = (0.0, 1.0);
            if border > 0 && border <= i + 1 {
                let p = self.count[border] * inverse;
                value = p - charge + p * self.value[border];
                pulls = 1.0 + p * self.pulls[border];
            }
            self.between(border, never.min(i + 1), charge, inverse);
            let below = border;
            if value > 0.0 {
                border -= 1;
                self.value[border] = value;
                self.pulls[border] = pulls;
            }
            let stopped = border.min(i + 1);
            let first = self.rows[i].border as usize;
            for s in first..stopped {
                let now =
                    if s + 1 == below { (value, pulls) } else { (self.count[s + 1] * inverse - charge, 1.0) };
                out[i * (i + 1) / 2 + s] = self.rows[i].root(s - first, lambda - step, lambda, now);
            }
            if stopped == i + 1 {
                // Nobody goes on here, so nobody does with fewer pulls.
                for j in open..i {
                    for s in self.rows[j].border as usize..=j {
                        let now = (self.count[s + 1] * self.inverse[j + 2] - charge, 1.0);
                        let before = s - self.rows[j].border as usize;
                        out[j * (j + 1) / 2 + s] = self.rows[j].root(before, lambda - step, lambda, now);
                    }
                }
                self.rows[i].border = stopped as u32;
                return i + 1;
            }
            let row = &mut self.rows[i];
            row.border = stopped as u32;
            for k in 0..2 {
                let s = stopped + k;
                (row.value[k], row.pulls[k]) = if s < never {
                    (self.value[s], self.pulls[s])
                } else {
                    ((left + 1.0) * (self.count[s + 1] * inverse - charge), left + 1.0)
                };
            }
        }
        open
    }

    /// The states that go on but may stop later: V = p - lambda + p V(s + 1) + (1 - p) V(s), in place, and
    /// likewise the expected pulls. Whole vectors only: what is written beyond `end` is never read.
    #[inline(always)]
    fn between(&mut self, start: usize, end: usize, charge: f32, inverse: f32) {
        if start >= end {
            return;
        }
        let len = (end - start).next_multiple_of(LANES);
        let value = &mut self.value[start..start + len + 1];
        let pulls = &mut self.pulls[start..start + len + 1];
        let count = &self.count[start + 1..start + len + 1];
        for (j, count) in (0..len).step_by(LANES).zip(count.as_chunks::<LANES>().0) {
            let (low, high) = (lanes(value, j), lanes(value, j + 1));
            let (shorter, longer) = (lanes(pulls, j), lanes(pulls, j + 1));
            let (mut v, mut d) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                let p = count[l] * inverse;
                v[l] = (p - charge) + (low[l] + p * (high[l] - low[l]));
                d[l] = 1.0 + (shorter[l] + p * (longer[l] - shorter[l]));
            }
            value[j..j + LANES].copy_from_slice(&v);
            pulls[j..j + LANES].copy_from_slice(&d);
        }
    }
}

#[inline(always)]
fn lanes(values: &[f32], start: usize) -> [f32; LANES] {
    std::array::from_fn(|l| values[start..start + LANES][l])
}

impl Row {
    /// The index of the k-th state above the old border, which went on at charge `low` and stops at `high`,
    /// where it has Q and expected pulls `now`: the larger root of the two tangents.
    #[inline(always)]
    fn root(&self, k: usize, low: f64, high: f64, now: (f32, f32)) -> f32 {
        let right = high + f64::from(now.0 / now.1);
        // More than two states of a row between two charges: none known, and the right tangent is a lower
        // bound too.
        let left = self.value.get(k).map_or(low, |value| low + f64::from(value / self.pulls[k]));
        left.max(right) as f32
    }
}

#[cfg(test)]
mod tests;
