//! The feature matrix while examples are gathered: single precision, relative to the first row, so that a long table takes
//! little memory and a large offset (a time stamp, a serial number) costs no digits.

use super::{Scale, Scaling};
use crate::problem::split::hash;

/// Numbers in a matrix: 400 MB. Three times covertype.
pub(super) const MAX_NUMBERS: usize = 96 << 20;
/// Rows, each of which takes twenty bytes beside its numbers.
pub(super) const MAX_ROWS: usize = 16 << 20;
/// Ranges below this are constants: their inverse would not fit.
const SMALLEST_RANGE: f64 = 1e-30;

#[derive(Clone, Copy, Default)]
struct Column {
    /// What values are relative to.
    origin: f64,
    low: f64,
    high: f64,
    /// Of the relative values.
    sum: f64,
    squares: f64,
}

pub(super) struct Matrix {
    rows: usize,
    /// Places per row: at least the number of columns.
    stride: usize,
    values: Vec<f32>,
    columns: Vec<Column>,
    /// Of the rows, if they will be split.
    pub hashes: Option<Vec<u64>>,
    relative: bool,
}

impl Matrix {
    pub fn new(scale: Scale, hashed: bool) -> Self {
        let hashes = hashed.then(Vec::new);
        let relative = scale != Scale::None;
        Self { rows: 0, stride: 0, values: Vec::new(), columns: Vec::new(), hashes, relative }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn dim(&self) -> usize {
        self.columns.len()
    }

    /// Is there room for another row of this length?
    pub fn has_room(&self, dim: usize) -> bool {
        self.rows < MAX_ROWS && (self.rows + 1).saturating_mul(dim.max(self.dim())) <= MAX_NUMBERS
    }

    /// Columns that appear late were 0 so far.
    fn widen(&mut self, dim: usize) {
        self.columns.resize(dim, Column::default());
        if dim <= self.stride {
            return;
        }
        let (old, new) = (self.stride, if self.rows == 0 { dim } else { dim + dim / 4 });
        self.values.resize(self.rows * new, 0.0);
        for row in (1..self.rows).rev() {
            self.values.copy_within(row * old..(row + 1) * old, row * new);
        }
        // What earlier rows left behind stands where later columns begin.
        for row in 0..self.rows {
            self.values[row * new + old..(row + 1) * new].fill(0.0);
        }
        self.stride = new;
    }

    /// A row, which may be longer than those before (they get zeros) or shorter (it gets zeros).
    pub fn push(&mut self, row: &[f64]) {
        if row.len() > self.dim() {
            self.widen(row.len());
        }
        if self.rows == 0 {
            for (column, &x) in self.columns.iter_mut().zip(row) {
                let origin = if self.relative { x } else { 0.0 };
                *column = Column { origin, low: x, high: x, ..Column::default() };
            }
        }
        let rest = std::iter::repeat_n(&0.0, self.dim() - row.len());
        let values = self.columns.iter_mut().zip(row.iter().chain(rest)).map(|(column, &x)| {
            let relative = x - column.origin;
            column.low = column.low.min(x);
            column.high = column.high.max(x);
            column.sum += relative;
            column.squares += relative * relative;
            relative as f32
        });
        self.values.extend(values);
        self.rows += 1;
        self.values.resize(self.rows * self.stride, 0.0);
        if let Some(hashes) = &mut self.hashes {
            // Zeros are left out: a sparse row is the same as a dense one.
            let present = row.iter().zip(0_u32..).filter(|&(&x, _)| x != 0.0);
            let bytes =
                present.flat_map(|(x, i)| i.to_le_bytes().into_iter().chain(x.to_bits().to_le_bytes()));
            hashes.push(hash(bytes));
        }
    }

    /// The scaled values row by row, and how they were scaled.
    pub fn finish(mut self, scale: Scale) -> (Vec<f32>, Vec<Scaling>) {
        let dim = self.dim();
        if self.stride > dim {
            for row in 1..self.rows {
                self.values.copy_within(row * self.stride..row * self.stride + dim, row * dim);
            }
            self.values.truncate(self.rows * dim);
        }
        let scaling: Vec<_> = self.columns.iter().map(|column| column.scaling(scale, self.rows)).collect();
        let bounds = match scale {
            Scale::MinMax => (-1.0, 1.0),
            Scale::Unit => (0.0, 1.0),
            Scale::Standard | Scale::None => (f64::MIN, f64::MAX),
        };
        let offsets: Vec<f64> = self.columns.iter().zip(&scaling).map(|(c, s)| c.origin - s.shift).collect();
        for row in self.values.chunks_exact_mut(dim.max(1)) {
            for ((x, offset), Scaling { factor, .. }) in row.iter_mut().zip(&offsets).zip(&scaling) {
                *x = ((f64::from(*x) + offset) * factor).clamp(bounds.0, bounds.1) as f32;
            }
        }
        self.values.shrink_to_fit();
        (self.values, scaling)
    }
}

impl Column {
    fn scaling(&self, scale: Scale, rows: usize) -> Scaling {
        let range = self.high - self.low;
        // The last digits of a number are noise of whoever computed it.
        let noise = 8.0 * f64::EPSILON * self.low.abs().max(self.high.abs());
        let constant = range <= noise.max(SMALLEST_RANGE);
        match scale {
            Scale::None => Scaling { shift: 0.0, factor: 1.0 },
            _ if constant => Scaling { shift: self.low, factor: 0.0 },
            Scale::MinMax => Scaling { shift: self.low + range / 2.0, factor: 2.0 / range },
            Scale::Unit => Scaling { shift: self.low, factor: 1.0 / range },
            Scale::Standard => {
                let mean = self.sum / rows as f64;
                let variance = self.squares / rows as f64 - mean * mean;
                Scaling { shift: self.origin + mean, factor: variance.max(f64::MIN_POSITIVE).sqrt().recip() }
            }
        }
    }
}
