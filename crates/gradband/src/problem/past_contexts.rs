//! What the past says about contexts, and about what arms make of them: where a policy with a projection can start.
//!
//! ```text
//! A = mean of x x',   theta_i = (A + small I)^-1 mean of x (r_i - offset)
//! C = mean over arms (and instances) of theta_i theta_i',   noise = mean of (r_i - offset - x'theta_i)^2
//! ```
//!
//! An arm whose theta is drawn with covariance C, and whose rewards have that noise, is estimated best with W'W = C / noise
//! and a ridge of 1. Of labelled rows all instances have the same theta, which is centred over the arms: what they have in
//! common decides nothing. A linear problem knows its A, C and noise.

use super::{Contextual, Covariance, Examples, Instance, Linear, Normal, Problem, Split};
use crate::error::Result;
use crate::numeric::matmul::{Into, Matrix, product};
use crate::numeric::stream::Key;
use nalgebra::{Cholesky, DMatrix};

/// What the training part says.
#[derive(Clone, Debug)]
pub(crate) struct PastContexts {
    /// A, with the constant feature last if there is one.
    pub contexts: DMatrix<f64>,
    /// C.
    pub arms: DMatrix<f64>,
    /// The variance of rewards around their means.
    pub noise: f64,
    /// What is subtracted from rewards.
    pub offset: f64,
    /// How many directions of C are worth a row of W.
    pub rank: usize,
}

/// Beyond so many features a matrix of them is not looked at.
const MOST_FEATURES: usize = 1024;
/// Instances that are drawn where the model is known by its draws alone.
const INSTANCES: u64 = 100;
/// What is added to A before it is inverted, per feature and relative to its mean diagonal.
const SMALL: f64 = 1e-6;
/// Directions of C below this part of the largest are noise.
const NEGLIGIBLE: f64 = 1e-6;
const LEAST_NOISE: f64 = 1e-6;
/// Rows that are multiplied at a time.
const ROWS: usize = 1024;

impl Problem {
    /// What its past says about contexts, with a constant feature or without; nothing if it has none, or too many
    /// features.
    pub(crate) fn past_contexts(&self, intercept: bool) -> Result<Option<PastContexts>> {
        let Some(contextual) = self.contextual() else { return Ok(None) };
        if contextual.dim() >= MOST_FEATURES {
            return Ok(None);
        }
        let past = match (contextual.examples(), contextual.linear()) {
            (Some(examples), _) => of_rows(examples, self.arms, intercept),
            (_, Some(linear)) => of_model(linear, intercept),
            _ => of_instances(self, contextual, intercept)?,
        };
        Ok(Some(past))
    }
}

/// Sums over contexts: of x x', of x r', and of r^2.
struct Sums {
    contexts: DMatrix<f64>,
    rewards: DMatrix<f64>,
    squares: f64,
    count: usize,
    /// Contexts and rewards that are still to be added, row by row.
    rows: Vec<f64>,
    targets: Vec<f64>,
}

impl Sums {
    fn new(dim: usize, arms: usize) -> Self {
        Self {
            contexts: DMatrix::zeros(dim, dim),
            rewards: DMatrix::zeros(dim, arms),
            squares: 0.0,
            count: 0,
            rows: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// One context, a constant feature after it if there is one, and the rewards of all arms.
    fn push(&mut self, context: &[f32], rewards: impl Iterator<Item = f64>) {
        let dim = self.contexts.nrows();
        self.rows.extend(context.iter().map(|&x| f64::from(x)));
        self.rows.resize(self.rows.len() + dim - context.len(), 1.0);
        self.targets.extend(rewards);
        if self.rows.len() >= ROWS * dim {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let (dim, arms) = (self.contexts.nrows(), self.rewards.ncols());
        let count = self.rows.len() / dim;
        let rows = Matrix::new(&self.rows, count, dim, dim);
        // Columns come first in these matrices: x x' is symmetric, and x r' is added as r x'.
        product(rows.transposed(), rows, Into::Add, self.contexts.as_mut_slice(), dim);
        let targets = Matrix::new(&self.targets, count, arms, arms);
        product(targets.transposed(), rows, Into::Add, self.rewards.as_mut_slice(), dim);
        self.squares += self.targets.iter().map(|r| r * r).sum::<f64>();
        self.count += count;
        self.rows.clear();
        self.targets.clear();
    }

    /// A, theta (an arm a column) and the mean squared residual.
    fn fit(mut self) -> (DMatrix<f64>, DMatrix<f64>, f64) {
        self.flush();
        let (dim, arms, count) = (self.contexts.nrows(), self.rewards.ncols(), self.count.max(1) as f64);
        let (a, b) = (self.contexts / count, self.rewards / count);
        let small = SMALL * (a.trace() / dim as f64).max(f64::MIN_POSITIVE);
        let regular = &a + DMatrix::identity(dim, dim) * small;
        let theta =
            Cholesky::new(regular).map_or_else(|| DMatrix::zeros(dim, arms), |factor| factor.solve(&b));
        // E (r - x'theta)^2 = E r^2 - 2 theta'B + theta'A theta.
        let explained = 2.0 * theta.dot(&b) - theta.dot(&(&a * &theta));
        let noise = (self.squares / count - explained) / arms as f64;
        (a, theta, noise.max(LEAST_NOISE))
    }
}

fn of_rows(examples: &Examples, arms: usize, intercept: bool) -> PastContexts {
    let dim = examples.dim() + usize::from(intercept);
    let mut sums = Sums::new(dim, arms);
    for &row in examples.rows(Split::Train) {
        let (row, label) = (row as usize, examples.label(row as usize));
        sums.push(examples.features(row), (0..arms).map(|arm| f64::from(u8::from(arm == label))));
    }
    let (contexts, mut theta, noise) = sums.fit();
    let common = theta.column_mean();
    theta.column_iter_mut().for_each(|mut column| column -= &common);
    let arms_moment = &theta * theta.transpose() / arms as f64;
    PastContexts { contexts, arms: arms_moment, noise, offset: 1.0 / arms as f64, rank: (arms - 1).min(dim) }
}

fn of_model(linear: &Linear, intercept: bool) -> PastContexts {
    let moment = |normal: &Normal| {
        let dim = normal.dim();
        let covariance = match normal.covariance() {
            Covariance::Diagonal(variances) => DMatrix::from_diagonal(&variances.clone().into()),
            Covariance::Full(matrix) => DMatrix::from_row_slice(dim, dim, matrix),
        };
        let mean = DMatrix::from_column_slice(dim, 1, normal.mean());
        covariance + &mean * mean.transpose()
    };
    let dim = linear.context().dim();
    let mut contexts = moment(linear.context());
    let mut arms = linear.theta().iter().map(moment).sum::<DMatrix<f64>>() / linear.theta().len() as f64;
    if intercept {
        contexts = contexts.resize(dim + 1, dim + 1, 0.0);
        for (i, &x) in linear.context().mean().iter().chain([&1.0]).enumerate() {
            (contexts[(i, dim)], contexts[(dim, i)]) = (x, x);
        }
        arms = arms.resize(dim + 1, dim + 1, 0.0);
    }
    let (noise, rank) = (linear.noise().powi(2).max(LEAST_NOISE), rank(&arms));
    PastContexts { contexts, arms, noise, offset: 0.0, rank }
}

fn of_instances(problem: &Problem, contextual: &Contextual, intercept: bool) -> Result<PastContexts> {
    let (arms, dim) = (problem.arms, contextual.dim() + usize::from(intercept));
    let mut instance = Instance::default();
    let mut drawn = Vec::new();
    for index in 0..INSTANCES {
        problem.draw_contexts(Split::Train, Key::new(0), index, &mut instance)?;
        drawn.push(instance.clone());
    }
    let total: f64 = drawn.iter().flat_map(|instance| &instance.means).map(|&x| f64::from(x)).sum();
    let count = drawn.iter().map(|instance| instance.means.len()).sum::<usize>().max(1);
    // Elsewhere no value is special.
    let offset = if problem.unit_rewards() { total / count as f64 } else { 0.0 };
    let (mut contexts, mut moment) = (DMatrix::zeros(dim, dim), DMatrix::zeros(dim, dim));
    let mut noise = 0.0;
    for instance in &drawn {
        let mut sums = Sums::new(dim, arms);
        let rounds = instance.contexts.chunks_exact(contextual.dim());
        for (x, means) in rounds.zip(instance.means.chunks_exact(arms)) {
            sums.push(x, means.iter().map(|&mean| f64::from(mean) - offset));
        }
        let (a, theta, misfit) = sums.fit();
        let apart = instance.rewards.iter().zip(&instance.means).map(|(r, mean)| f64::from(r - mean).powi(2));
        noise += misfit + apart.sum::<f64>() / instance.means.len() as f64;
        contexts += a;
        moment += &theta * theta.transpose() / arms as f64;
    }
    let of_instances = drawn.len() as f64;
    let (contexts, moment) = (contexts / of_instances, moment / of_instances);
    let rank = rank(&moment);
    Ok(PastContexts { contexts, arms: moment, noise: noise / of_instances, offset, rank })
}

/// Directions that are not noise; one at least.
fn rank(moment: &DMatrix<f64>) -> usize {
    let eigenvalues = moment.symmetric_eigenvalues();
    let largest = eigenvalues.max();
    eigenvalues.iter().filter(|&&x| x > NEGLIGIBLE * largest).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{ContextModel, Draw, ExamplesBuilder, Scale};

    fn examples(rows: &[(&[f64], &str)]) -> Examples {
        let mut builder = ExamplesBuilder::new(Scale::None, 0.0).unwrap();
        for (features, label) in rows {
            builder.push(features, label).unwrap();
        }
        builder.finish(None).unwrap().0
    }

    /// Two classes that differ along x1 alone, exactly linear: theta_c is +-1/2 of that direction, and nothing is left.
    #[test]
    fn rows_give_the_regression_of_each_class() {
        let rows: [(&[f64], &str); 4] =
            [(&[1.0, 1.0], "a"), (&[1.0, -1.0], "a"), (&[-1.0, 1.0], "b"), (&[-1.0, -1.0], "b")];
        let past = of_rows(&examples(&rows), 2, true);
        assert!((past.contexts.clone() - DMatrix::identity(3, 3)).norm() < 1e-12);
        // r = 1/2 + x1/2 for the first class, 1/2 - x1/2 for the other; the constant is common to both.
        let expected = DMatrix::from_row_slice(3, 3, &[0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!((past.arms - expected).norm() < 1e-5);
        assert_eq!((past.rank, past.offset, past.noise), (1, 0.5, LEAST_NOISE));
        // Without the constant the half that it explained is noise.
        let without = of_rows(&examples(&rows), 2, false);
        assert!((without.noise - 0.25).abs() < 1e-5, "{}", without.noise);
    }

    /// The model behind linear-1, known by its draws alone: 100 instances of 200 rounds.
    #[derive(Debug)]
    struct Hidden(Problem);

    impl ContextModel for Hidden {
        fn dim(&self) -> usize {
            8
        }
        fn draw(&self, draw: &Draw, instance: &mut Instance) {
            self.0.draw_contexts(draw.split, Key::new(7), draw.index, instance).unwrap();
        }
    }

    #[test]
    fn instances_tell_what_a_linear_model_knows() {
        let linear = Problem::named("linear-1").unwrap();
        let known = linear.past_contexts(false).unwrap().unwrap();
        assert_eq!((known.rank, known.noise, known.offset), (4, 0.25, 0.0));
        let hidden = Problem::contexts(Hidden(linear), 4).horizon(200).build().unwrap();
        let drawn = hidden.past_contexts(false).unwrap().unwrap();
        assert_eq!(drawn.rank, 4);
        // Standard errors: noise 0.25 sqrt(2 / 80,000); a diagonal entry of C sqrt(2 / 400); of A 0.02 or less.
        assert!((drawn.noise - known.noise).abs() < 0.005, "{}", drawn.noise);
        assert!((drawn.contexts - known.contexts).amax() < 0.1);
        assert!((drawn.arms - known.arms).amax() < 0.3);
    }
}
