//! Products of dense matrices: a safe face for the `gemm` crate, on one thread.

use super::lanes::One;
use gemm::Parallelism;

/// A number that matrices are made of: `f32`, `f64`, or one lane of them.
pub trait Element: Copy + Send + Sync + seal::Sealed {
    /// What the number is in memory.
    type Scalar: Copy + From<f32> + 'static;
}

mod seal {
    /// Only types with the memory layout of their `Scalar` may be elements: the product relies on it.
    pub trait Sealed {}
}

macro_rules! element {
    ($($t:ty => $scalar:ty),*) => {$(
        impl seal::Sealed for $t {}
        impl Element for $t {
            type Scalar = $scalar;
        }
    )*};
}
element!(f32 => f32, f64 => f64, One<f32> => f32, One<f64> => f64);

/// A matrix to read: entry (i, j) is `data[i * row_stride + j * column_stride]`.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, E> {
    data: &'a [E],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, E> Matrix<'a, E> {
    /// `rows` rows of `columns` numbers; a row begins `stride` numbers after the one before.
    ///
    /// # Panics
    /// If `data` is too short.
    pub fn new(data: &'a [E], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(data.len() >= extent(rows, columns, stride), "a matrix of {rows} x {columns} does not fit");
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// The transposed matrix.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// Numbers from the first entry to the last, row by row; no two entries share a place.
fn extent(rows: usize, columns: usize, stride: usize) -> usize {
    assert!(stride >= columns, "rows of {columns} numbers overlap");
    if rows == 0 || columns == 0 {
        return 0;
    }
    match (rows - 1).checked_mul(stride).and_then(|n| n.checked_add(columns)) {
        Some(n) => n,
        None => usize::MAX,
    }
}

/// What a product does to the numbers in the place of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// They are overwritten.
    Replace,
    /// The product is added to them.
    Add,
}

/// `out = a b`, or `out += a b`; the rows of `out` begin `stride` numbers after each other.
///
/// # Panics
/// If the shapes do not fit each other or `out`.
#[allow(unsafe_code)]
pub fn product<E: Element>(a: Matrix<E>, b: Matrix<E>, into: Into, out: &mut [E], stride: usize) {
    assert_eq!(a.columns, b.rows, "inner dimensions");
    assert!(out.len() >= extent(a.rows, b.columns, stride), "the result is too short");
    let one = E::Scalar::from(1.0);
    // SAFETY: `Matrix::new` and the assertion above checked that every entry lies within its slice (transposing
    // swaps sizes together with strides), `extent` that no two entries of `out` share a place; `out` is borrowed
    // exclusively, so it overlaps neither input. A slice has at most isize::MAX bytes, so strides of matrices
    // with more than one row fit isize; others are never multiplied by more than 0. `Element` is sealed: each has
    // the layout of its `Scalar` (`One` is transparent). Without `Add` the old numbers are not read.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            out.as_mut_ptr().cast::<E::Scalar>(),
            1,
            stride as isize,
            into == Into::Add,
            a.data.as_ptr().cast::<E::Scalar>(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr().cast::<E::Scalar>(),
            b.column_stride as isize,
            b.row_stride as isize,
            one,
            one,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, Into, Matrix, product};

    fn check<E: Element + From<f32> + std::convert::Into<f64> + PartialEq + std::fmt::Debug>() {
        for (m, n, k) in [(0, 3, 2), (1, 1, 1), (3, 5, 0), (7, 9, 4), (17, 33, 20)] {
            // Small integers: every order of addition gives the same bits.
            let number = |i: usize| E::from((i * 7 % 11) as f32 - 5.0);
            let a: Vec<E> = (0..m * (k + 1)).map(number).collect();
            let b: Vec<E> = (0..n * (k + 2)).map(number).collect();
            for into in [Into::Replace, Into::Add] {
                let mut out = vec![E::from(2.0); m * (n + 3)];
                let b_columns = Matrix::new(&b, n, k, k + 2).transposed();
                product(Matrix::new(&a, m, k, k + 1), b_columns, into, &mut out, n + 3);
                for i in 0..m {
                    for j in 0..n + 3 {
                        let start = if j >= n || into == Into::Add { 2.0 } else { 0.0 };
                        let terms = if j < n { k } else { 0 };
                        let dot: f64 =
                            (0..terms).map(|l| a[i * (k + 1) + l].into() * b[j * (k + 2) + l].into()).sum();
                        assert_eq!(out[i * (n + 3) + j].into(), start + dot, "{m} {n} {k} {into:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_exact_on_small_integers_and_leave_the_gaps_alone() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn a_short_slice_is_refused() {
        Matrix::new(&[0.0_f32; 5], 2, 3, 3);
    }

    #[test]
    #[should_panic(expected = "the result is too short")]
    fn a_short_result_is_refused() {
        let a = [0.0_f32; 4];
        product(Matrix::new(&a, 2, 2, 2), Matrix::new(&a, 2, 2, 2), Into::Add, &mut [0.0; 3], 2);
    }
}
