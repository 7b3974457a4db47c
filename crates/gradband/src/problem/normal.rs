//! Normal vectors with any mean and covariance, degenerate ones included.

use crate::error::{Error, Result, within};
use crate::numeric::simd::vectorized;

/// The largest dimension of a context.
pub const MAX_DIM: usize = 10_000;

/// A covariance matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum Covariance {
    /// Independent entries: their variances.
    Diagonal(Vec<f64>),
    /// The whole matrix, row by row.
    Full(Vec<f64>),
}

/// A normal distribution of vectors.
#[derive(Clone, Debug)]
pub struct Normal {
    mean: Vec<f64>,
    covariance: Covariance,
    factor: Factor,
}

/// What turns independent standard normal numbers into a vector.
#[derive(Clone, Debug)]
enum Factor {
    /// Means and standard deviations of some vectors one after the other, so that there is a loop of some length.
    Scales([Vec<f32>; 2]),
    /// The lower triangle L of the covariance L L', row by row.
    Triangle(Vec<f64>),
}

impl Normal {
    /// From a mean and a covariance, which may be singular. Errors name `mean` or `cov`.
    pub fn new(mean: Vec<f64>, covariance: Covariance) -> Result<Self> {
        let dim = mean.len();
        for (i, &x) in mean.iter().enumerate() {
            within(format!("mean[{i}]"), x, -1e6, 1e6)?;
        }
        let factor = match &covariance {
            Covariance::Diagonal(variances) => {
                same_size("cov", variances.len(), dim)?;
                for (i, &x) in variances.iter().enumerate() {
                    within(format!("cov[{i}]"), x, 0.0, 1e12)?;
                }
                let sd: Vec<_> = variances.iter().map(|x| x.sqrt()).collect();
                let some = |numbers: &[f64]| -> Vec<f32> {
                    let times = 64_usize.div_ceil(dim.max(1));
                    numbers.iter().map(|&x| x as f32).collect::<Vec<_>>().repeat(times)
                };
                Factor::Scales([some(&mean), some(&sd)])
            }
            Covariance::Full(matrix) => {
                same_size("cov", matrix.len(), dim * dim)?;
                Factor::Triangle(cholesky(matrix, dim)?)
            }
        };
        Ok(Self { mean, covariance, factor })
    }

    /// The same; errors name `what_mean` or `what_cov`.
    pub(super) fn named(what: &str, mean: Vec<f64>, covariance: Covariance) -> Result<Self> {
        Self::new(mean, covariance).map_err(|error| {
            let path = error.place().to_string();
            error.at(format!("{what}_{path}"))
        })
    }

    /// The dimension of the vectors.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean vector.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance matrix.
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// The expected squared length of a vector.
    pub fn mean_square(&self) -> f64 {
        let dim = self.dim();
        let trace: f64 = match &self.covariance {
            Covariance::Diagonal(variances) => variances.iter().sum(),
            Covariance::Full(matrix) => (0..dim).map(|i| matrix[i * dim + i]).sum(),
        };
        trace + self.mean.iter().map(|x| x * x).sum::<f64>()
    }

    /// Turns independent standard normal numbers into vectors of this distribution, one after the other.
    pub(crate) fn transform(&self, vectors: &mut [f32]) {
        match &self.factor {
            Factor::Scales([mean, sd]) => {
                vectorized(
                    #[inline(always)]
                    || {
                        for x in vectors.chunks_mut(mean.len()) {
                            // Not fused: without a promise of the instruction that would be a call.
                            for ((x, mean), sd) in x.iter_mut().zip(mean).zip(sd) {
                                *x = *x * sd + mean;
                            }
                        }
                    },
                );
            }
            // From the last entry up: an entry needs only those before it.
            Factor::Triangle(l) => {
                let dim = self.dim();
                for x in vectors.chunks_exact_mut(dim) {
                    for i in (0..dim).rev() {
                        let row = &l[i * dim..i * dim + i + 1];
                        let sum: f64 = row.iter().zip(&*x).map(|(l, &x)| l * f64::from(x)).sum();
                        x[i] = (self.mean[i] + sum) as f32;
                    }
                }
            }
        }
    }
}

fn same_size(place: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::new(place, format!("found {found} numbers, expected {expected}")))
}

/// The lower triangle L with matrix = L L'. A pivot of zero is fine if its column is zero too: a singular
/// covariance confines the vectors to a subspace, which is what linear-2 to linear-4 are about.
fn cholesky(matrix: &[f64], dim: usize) -> Result<Vec<f64>> {
    let scale = (0..dim).map(|i| matrix[i * dim + i].abs()).fold(0.0, f64::max);
    let tolerance = 1e-9 * scale;
    let mut l = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let place = || format!("cov[{i}][{j}]");
            let (x, mirrored) = (matrix[i * dim + j], matrix[j * dim + i]);
            within(place(), x, -1e12, 1e12)?;
            if (x - mirrored).abs() > tolerance {
                let message = format!(
                    "found {x}, but {mirrored} on the other side of the diagonal: a covariance is symmetric"
                );
                return Err(Error::new(place(), message));
            }
            let rest = x - (0..j).map(|k| l[i * dim + k] * l[j * dim + k]).sum::<f64>();
            let pivot = l[j * dim + j];
            l[i * dim + j] = match (i == j, rest) {
                (true, rest) if rest > tolerance => rest.sqrt(),
                (false, rest) if pivot > 0.0 => rest / pivot,
                (_, rest) if rest.abs() <= tolerance.max(1e-300) => 0.0,
                _ => {
                    return Err(Error::new(
                        place(),
                        "is not possible: the matrix has a negative eigenvalue, which no covariance has",
                    ));
                }
            };
        }
    }
    Ok(l)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_to_the_covariance() {
        let singular = vec![1.0, 0.95, 0.0, 0.95, 1.0, 0.0, 0.0, 0.0, 0.0];
        let ones = vec![1.0; 9];
        for matrix in [singular, ones] {
            let l = cholesky(&matrix, 3).unwrap();
            for i in 0..3 {
                for j in 0..3 {
                    let product: f64 = (0..3).map(|k| l[i * 3 + k] * l[j * 3 + k]).sum();
                    assert!((product - matrix[i * 3 + j]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn impossible_covariances_are_refused() {
        let refused = |matrix: Vec<f64>| Normal::new(vec![0.0; 2], Covariance::Full(matrix)).unwrap_err();
        assert!(refused(vec![1.0, 2.0, 2.0, 1.0]).to_string().contains("negative eigenvalue"));
        assert!(refused(vec![0.0, 1.0, 1.0, 1.0]).to_string().contains("negative eigenvalue"));
        assert!(refused(vec![1.0, 0.5, 0.2, 1.0]).to_string().contains("symmetric"));
        assert!(refused(vec![f64::NAN, 0.5, 0.5, 1.0]).to_string().contains("NaN"));
        assert!(Normal::new(vec![0.0], Covariance::Diagonal(vec![-1.0])).is_err());
    }

    #[test]
    fn a_full_transform_is_mean_plus_l_times_x() {
        let normal = Normal::new(vec![1.0, -1.0], Covariance::Full(vec![4.0, 2.0, 2.0, 5.0])).unwrap();
        let mut x = [0.5, -1.5];
        normal.transform(&mut x);
        assert_eq!(x, [1.0 + 2.0 * 0.5, -1.0 + 0.5 - 2.0 * 1.5]);
        assert_eq!(normal.mean_square(), 11.0);
    }

    /// However many vectors: fewer and more than are gone through at a time, a last part of them among those.
    #[test]
    fn an_independent_transform_is_mean_plus_deviation_times_x() {
        for (dim, vectors) in [(1, 1), (3, 2), (3, 70), (64, 3), (65, 2)] {
            let number = |i: usize| (i * 7 % 5) as f64;
            let variances = (0..dim).map(|i| number(i).powi(2)).collect();
            let mean = (0..dim).map(|i| number(i + 1)).collect();
            let normal = Normal::new(mean, Covariance::Diagonal(variances)).unwrap();
            let drawn: Vec<_> = (0..dim * vectors).map(|i| (i % 11) as f32 - 5.0).collect();
            let mut x = drawn.clone();
            normal.transform(&mut x);
            // Whole numbers: nothing is rounded.
            for (i, (&x, &z)) in x.iter().zip(&drawn).enumerate() {
                let expected = number(i % dim) * f64::from(z) + number(i % dim + 1);
                assert_eq!(f64::from(x), expected, "{dim} {i}");
            }
        }
    }
}
