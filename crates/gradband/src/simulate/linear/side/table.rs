//! Instances in lanes, computed once for all runs: what `linear/packed.rs` is to one instance.

use super::Shape;
use super::late::Steps;
use crate::numeric::lanes::{Best, pick};
use crate::numeric::matmul::{Into, Matrix, product};
use crate::problem::{Instance, Sparse};
use crate::simulate::job::{Job, Task};
use crate::simulate::linear::pack::{PACK, Pack, add_products, sum, zeros};
use crate::simulate::linear::packed::{FLOOR, NOTHING};
use crate::simulate::linear::sparse::Rows;
use crate::simulate::linear::{Basis, Number, Numbers, Projection};
use crate::simulate::returns::Returns;

/// Shared by all runs of the instances.
pub(super) struct Table<R: Numbers> {
    pub basis: Basis,
    pub horizon: usize,
    pub arms: usize,
    /// Of the state: features, or rows of W.
    pub dim: usize,
    pub ridge: f64,
    /// What is subtracted from rewards.
    pub offset: R,
    /// Are returns those of the means?
    pub of_means: bool,
    /// x / lambda among features, else zeros; y: row by row.
    pub x: Vec<R>,
    pub y: Vec<R>,
    /// The least variance of each round.
    pub floor: Vec<R>,
    /// Of each round and arm.
    pub rewards: Vec<R>,
    pub means: Vec<R>,
    /// Of each round: the best mean, and the return of its arm.
    pub best: Vec<R>,
    pub optimal: Vec<R>,
    /// In the projected space: the contexts of each lane, with the constant feature if there is one.
    pub contexts: Vec<Vec<R::One>>,
    /// M among features, row by row.
    gram: Vec<R::Scalar>,
    /// W transposed in the projected space, in packs, row by row.
    map: Vec<Pack<R::One>>,
    /// In the projected space: y of each lane, and |x|^2 of its rounds.
    projected: Vec<Vec<R::One>>,
    squares: Vec<Vec<R::One>>,
    features: usize,
    drawn: usize,
    largest: f64,
    /// Where rewards come late.
    pub steps: Option<Steps>,
}

impl<R: Numbers> Table<R> {
    pub fn new(token: R::Token, shape: Shape) -> Self {
        let Shape { basis, horizon, arms, dim, features, .. } = shape;
        let zeros = |len: usize| vec![R::splat(token, 0.0); len];
        Self {
            basis,
            horizon,
            arms,
            dim,
            ridge: 1.0,
            offset: R::splat(token, 0.0),
            of_means: false,
            x: zeros(horizon * dim),
            y: zeros(horizon * dim),
            floor: zeros(horizon),
            rewards: zeros(horizon * arms),
            means: zeros(horizon * arms),
            best: zeros(horizon),
            optimal: zeros(horizon),
            contexts: vec![Vec::new(); R::WIDTH],
            gram: Vec::new(),
            map: Vec::new(),
            projected: vec![Vec::new(); R::WIDTH],
            squares: vec![Vec::new(); R::WIDTH],
            features,
            drawn: features,
            largest: 0.0,
            steps: shape.late.then(Steps::default),
        }
    }

    /// Takes over a projection and what returns are made of.
    pub fn fit(&mut self, token: R::Token, projection: &Projection, job: &Job) {
        let (dim, features) = (self.dim, self.features);
        self.ridge = projection.ridge;
        self.offset = R::splat(token, projection.offset);
        self.of_means = job.task == Task::Evaluate || job.task.returns() == Returns::Mean;
        self.drawn = features - usize::from(projection.intercept);
        // M is positive semidefinite: its largest entry is on the diagonal.
        self.largest = projection.gram.iter().copied().fold(0.0, f64::max);
        if let Some(steps) = &mut self.steps {
            *steps = Steps::of(job);
        }
        match self.basis {
            Basis::Features => self.gram = projection.gram.iter().map(|&x| R::scalar(x)).collect(),
            Basis::Projected => {
                let width = dim.div_ceil(PACK);
                self.map.clear();
                self.map.resize(features * width, zeros());
                for (j, row) in self.map.chunks_exact_mut(width).enumerate() {
                    for (i, out) in row.as_flattened_mut()[..dim].iter_mut().enumerate() {
                        *out = R::One::of(projection.w[i * features + j]);
                    }
                }
            }
        }
    }

    /// Takes over instances, one for each lane; further lanes repeat the last.
    #[inline(always)]
    pub fn load(&mut self, token: R::Token, instances: &[Instance], sparse: Option<&Sparse>) {
        let (arms, count) = (self.arms, instances.len());
        for instance in instances {
            let contexts = if let Some(examples) = &instance.examples {
                examples.len() * self.drawn
            } else {
                instance.contexts.len()
            };
            assert_eq!(contexts, self.horizon * self.drawn, "contexts of an instance");
            assert_eq!(instance.rewards.len(), self.horizon * arms, "rewards of an instance");
            assert_eq!(instance.means.len(), self.horizon * arms, "means of an instance");
        }
        spread(&mut self.means, count, |i| &instances[i].means);
        spread(&mut self.rewards, count, |i| &instances[i].rewards);
        for t in 0..self.horizon {
            let best = Best::of(&self.means[t * arms..][..arms]);
            self.best[t] = best.value;
            self.optimal[t] = match self.of_means {
                true => best.value,
                false => pick(&self.rewards[t * arms..][..arms], best.arm),
            };
        }
        match self.basis {
            Basis::Features => self.scale(token, instances),
            Basis::Projected => self.project(token, instances, sparse),
        }
    }

    /// y = M x, and the floor of a difference of two variances.
    #[inline(always)]
    fn scale(&mut self, token: R::Token, instances: &[Instance]) {
        let (dim, drawn, count) = (self.dim, self.drawn, instances.len());
        let zero = R::splat(token, 0.0);
        let shrink = R::splat(token, 1.0 / self.ridge);
        let floor = R::splat(token, FLOOR * R::One::EPSILON / self.ridge);
        let nothing = R::splat(token, NOTHING * R::One::EPSILON * self.largest);
        // The constant feature takes a place in each row: contexts come first to the end, then to their rows.
        let rows = &mut self.x[self.horizon * (dim - drawn)..];
        spread(rows, count, |i| &instances[i].contexts);
        for t in 0..self.horizon {
            if drawn < dim {
                let from = self.horizon + t * drawn;
                self.x.copy_within(from..from + drawn, t * dim);
                self.x[t * dim + drawn] = R::splat(token, 1.0);
            }
            let x = &mut self.x[t * dim..][..dim];
            let y = &mut self.y[t * dim..][..dim];
            let (mut prior, mut square) = (zero, zero);
            for ((y, &own), row) in y.iter_mut().zip(&*x).zip(self.gram.chunks_exact(dim)) {
                let mut sum = zero;
                for (&x, &m) in x.iter().zip(row) {
                    sum = x.fma(R::spread(token, m), sum);
                }
                *y = sum;
                prior = sum.fma(own, prior);
                square = own.fma(own, square);
            }
            // A product, not a selection: see `lanes::put`.
            let seen = R::only((square * nothing).lt(prior), shrink.one());
            self.floor[t] = seen * prior * floor;
            for (x, y) in x.iter_mut().zip(y) {
                *x = *x * shrink;
                *y = *y * seen;
            }
        }
    }

    /// y = W x. No pulls leave less variance than those of all rounds, with the longest context in the same direction.
    #[inline(always)]
    fn project(&mut self, token: R::Token, instances: &[Instance], sparse: Option<&Sparse>) {
        let (dim, features, count) = (self.dim, self.features, instances.len());
        for (lane, instance) in instances.iter().enumerate() {
            let (contexts, squares) = (&mut self.contexts[lane], &mut self.squares[lane]);
            squares.resize(self.horizon, R::One::of(0.0));
            self.projected[lane].resize(self.horizon * dim, R::One::of(0.0));
            let width = dim.div_ceil(PACK);
            if let Some(rows) = Rows::of(instance, sparse) {
                let constant = (features - self.drawn) as f64;
                for (out, square) in squares.iter_mut().zip(rows.squares()) {
                    *out = R::One::of(square + constant);
                }
                let projected = &mut self.projected[lane];
                rows.project(
                    (&self.map, width),
                    #[inline(always)]
                    |t, y| {
                        let out = &mut projected[t * dim..][..dim];
                        out.iter_mut().zip(y.as_flattened()).for_each(|(out, y)| *out = *y);
                    },
                );
                continue;
            }
            contexts.resize(self.horizon * features, R::One::of(0.0));
            let rows = contexts.chunks_exact_mut(features).zip(instance.contexts.chunks_exact(self.drawn));
            for ((row, x), squared) in rows.zip(squares) {
                for (out, &x) in row.iter_mut().zip(x) {
                    *out = R::One::of(f64::from(x));
                }
                row[self.drawn..].fill(R::One::of(1.0));
                *squared = square(row);
            }
            product(
                Matrix::new(contexts, self.horizon, features, features),
                Matrix::new(self.map.as_flattened(), features, dim, width * PACK),
                Into::Replace,
                &mut self.projected[lane],
                dim,
            );
        }
        let zero = R::splat(token, 0.0);
        let nothing = R::splat(token, (NOTHING * R::One::EPSILON).powi(2) * self.largest);
        spread(&mut self.y, count, |i| &self.projected[i]);
        spread(&mut self.floor, count, |i| &self.squares[i]);
        let mut longest = zero;
        for t in 0..self.horizon {
            let (y, whole) = (&mut self.y[t * dim..][..dim], self.floor[t]);
            let mut square = zero;
            for &y in &*y {
                square = y.fma(y, square);
            }
            let seen = R::only((whole * nothing).lt(square), zero.one());
            for y in y {
                *y = *y * seen;
            }
            longest = longest.max(square);
            self.floor[t] = seen * square;
        }
        let most = longest.one() / longest.fma(longest.lit(self.horizon as f64), longest.lit(self.ridge));
        for floor in &mut self.floor {
            *floor = *floor * most;
        }
    }
}

/// The numbers of rows to lanes, one row each; lanes beyond them repeat the last.
#[inline(always)]
pub(super) fn spread<'a, R: Numbers, X>(out: &mut [R], rows: usize, row: impl Fn(usize) -> &'a [X])
where
    X: Copy + std::convert::Into<f64> + 'a,
{
    let mut square = [[R::scalar(0.0); 16]; 16];
    for (block, out) in out.chunks_mut(R::WIDTH).enumerate() {
        for (lane, numbers) in square[..R::WIDTH].iter_mut().enumerate() {
            let row = &row(lane.min(rows - 1))[block * R::WIDTH..];
            // Of a known size it is one load.
            match row.first_chunk::<16>() {
                Some(row) => copy::<R, _>(row, &mut numbers[..R::WIDTH]),
                None => copy::<R, _>(&row[..out.len()], numbers),
            }
        }
        R::transpose(out[0].token(), &square, out);
    }
}

#[inline(always)]
fn copy<R: Numbers, X: Copy + std::convert::Into<f64>>(from: &[X], to: &mut [R::Scalar]) {
    for (&from, to) in from.iter().zip(to) {
        *to = R::scalar(from.into());
    }
}

/// |x|^2.
#[inline(always)]
fn square<R: Number>(x: &[R]) -> R {
    let (packs, rest) = x.as_chunks::<PACK>();
    let (mut total, mut square) = (zeros(), R::of(0.0));
    for x in packs {
        add_products(&mut total, x, x);
    }
    for &x in rest {
        square = x.fma(x, square);
    }
    sum(&total) + square
}
