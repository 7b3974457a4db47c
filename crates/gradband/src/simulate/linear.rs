//! The engine of linear contextual policies: an estimate of each arm's mean by ridge regression in a projected
//! space, and the gradient of the reward by the projection W in closed form.
//!
//! A policy depends on W through M = W'W alone. With y = M x, each arm keeps a symmetric matrix Q and a vector z,
//! both zero at first:
//!
//! ```text
//! h  = x / lambda - Q y                         (= (lambda I + A M)^-1 x, with A the sum of the arm's x x')
//! mu = y'z,  v = y'h                            (estimated mean and variance)
//! the pulled arm, with reward Y:   Q += h h' / (1 + v),   z += h (Y - mu) / (1 + v)
//! grad_W mu = lambda W (z h' + h z'),   grad_W v = 2 lambda W h h'
//! ```
//!
//! This holds for singular and for wide W too, and no product with M is needed but y, once for all runs of an
//! instance. The gradient of an instance is lambda W (P + P'), with P the sum over rounds and arms of
//! h (a z + b h)', where a and b are the round's advantage times d log pi / d mu and d log pi / d v. In a round that the
//! world's floor takes from the policy both are zero. Rewards that come late are in `linear/late.rs`.
//!
//! Along directions that W hardly sees Q grows with every pull, and its roundings soon drown what W does see. So where W
//! has fewer rows than there are features, or is badly conditioned, the same recursion runs on W x alone: with
//! y = W x and Q = -I/lambda at first, h = -Q y = (lambda I + sum of y y')^-1 y, and nothing ever grows. Its gradient is
//! in `linear/back.rs`.

mod back;
mod blocks;
mod gradient;
mod late;
mod pack;
mod packed;
mod play;
mod player;
mod regression;
mod rounds;
mod side;
mod sparse;

pub(crate) use player::LinearPlayer;
pub(crate) use regression::{Glimpse, Moments, Regression};

use super::job::{Job, Output};
use crate::error::Result;
use crate::numeric::lanes::{Lane, One, Real};
use crate::numeric::matmul::Element;
#[cfg(target_arch = "x86_64")]
use crate::numeric::simd::Long;
use crate::numeric::simd::{Eight, Lanes, Wide, proof, vectorized, vectorized_in, wide};
use crate::numeric::stream::{Key, fill_normals, fill_uniforms};
use crate::problem::Delay;
use fearless_simd::Simd;
#[cfg(target_arch = "x86_64")]
use fearless_simd::f32x16;

/// The projection W with the ridge lambda.
#[derive(Clone, Debug)]
pub struct Projection {
    w: Vec<f64>,
    /// M = W'W, row by row.
    gram: Vec<f64>,
    rank: usize,
    /// Columns of W.
    dim: usize,
    ridge: f64,
    /// Is the last column that of a constant feature, which no context has?
    intercept: bool,
    /// What is subtracted from rewards.
    offset: f64,
    /// The least eigenvalue of M, or a lower bound.
    least: f64,
}

/// Where the state of an arm lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Among the features: dense matrices, fast products.
    Features,
    /// In the space of W x.
    Projected,
}

impl Projection {
    /// W is `rank` x `dim`, row by row.
    ///
    /// # Panics
    /// If `w` has another length, or `ridge` is not positive.
    pub fn new(w: &[f64], rank: usize, dim: usize, ridge: f64) -> Self {
        assert_eq!(w.len(), rank * dim, "W is {rank} x {dim}");
        assert!(ridge > 0.0, "the ridge is positive");
        let mut gram = vec![0.0; dim * dim];
        for row in w.chunks_exact(dim) {
            for (out, &x) in gram.chunks_exact_mut(dim).zip(row) {
                for (out, &y) in out.iter_mut().zip(row) {
                    *out += x * y;
                }
            }
        }
        let least = if rank < dim { 0.0 } else { least_eigenvalue(&gram, dim) };
        Self { w: w.to_vec(), gram, rank, dim, ridge, intercept: false, offset: 0.0, least }
    }

    /// The same with a constant feature, whose column of W is the last.
    #[must_use]
    pub fn with_intercept(self, intercept: bool) -> Self {
        Self { intercept, ..self }
    }

    /// The same on rewards less a constant.
    #[must_use]
    pub fn with_offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// W = I.
    pub fn identity(dim: usize, ridge: f64) -> Self {
        let w: Vec<_> = (0..dim * dim).map(|i| f64::from(i % (dim + 1) == 0)).collect();
        Self::new(&w, dim, dim, ridge)
    }

    /// Frobenius norm of M.
    fn gram_norm(&self) -> f64 {
        self.gram.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Where to keep the state, and in which numbers, for contexts up to that squared length and so many rounds.
    fn engine(&self, longest_squared: f64, rounds: usize) -> Engine {
        let longest = longest_squared + f64::from(u8::from(self.intercept));
        let spread = longest * self.gram_norm() / self.ridge;
        // What the largest entry of Q does to an estimated variance; spread itself if M is a multiple of the identity.
        let most = (rounds as f64 * longest / self.ridge).min(1.0 / self.least);
        let unseen = longest * self.gram_norm().powi(2) * most / self.ridge;
        let (basis, precision) = if self.rank >= self.dim && unseen <= SINGLE_PRECISION_SPREAD {
            (Basis::Features, Precision::Single)
        } else if spread <= SINGLE_PRECISION_SPREAD {
            (Basis::Projected, Precision::Single)
        } else {
            (Basis::Projected, Precision::Double)
        };
        Engine { basis, precision }
    }

    /// Numbers in a vector of the state.
    fn size(&self, basis: Basis) -> usize {
        match basis {
            Basis::Features => self.dim,
            Basis::Projected => self.rank,
        }
    }
}

/// How a policy is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    basis: Basis,
    precision: Precision,
}

impl Engine {
    /// Are small states in single precision played side by side, as many instances as a register has lanes?
    fn is_side_by_side(self, projection: &Projection, job: &Job) -> bool {
        let (problem, dim) = (job.problem, projection.size(self.basis));
        let (prompt, scored) = (problem.world().is_prompt(), job.task.scored_runs());
        // Late rewards leave h and k.
        let vectors = problem.arms * if prompt { 1 } else { 2 };
        let trace = problem.horizon.saturating_mul(vectors * dim).saturating_mul(scored);
        // Lanes with schedules of their own would take three steps a round, and gather what each saw: slower from d = 8 on.
        let even = matches!(problem.world().delay, Delay::Rounds(_));
        self.precision == Precision::Single
            && even
            && dim <= side::LARGEST_DIM
            && trace <= side::LARGEST_TRACE
    }
}

/// The least eigenvalue of a symmetric matrix, 0 where it would take long.
fn least_eigenvalue(matrix: &[f64], dim: usize) -> f64 {
    const LARGEST: usize = 256;
    if dim > LARGEST {
        return 0.0;
    }
    let eigenvalues = nalgebra::DMatrix::from_row_slice(dim, dim, matrix).symmetric_eigenvalues();
    eigenvalues.min().max(0.0)
}

/// Single precision is for prior variances x'M x / lambda (here an upper bound) up to this. Among features an estimated
/// variance, of order one or less, is their difference with what was learned, so that it is off by about this many
/// roundings, a thousandth; a hundred times more and Q, which only grows, overshoots and runs away. In the projected space
/// roundings shrink with the variance, but for the first pull's.
const SINGLE_PRECISION_SPREAD: f64 = 3e4;

/// The random numbers that a policy needs in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// A uniform one.
    Uniform,
    /// A standard normal one for each arm.
    Normal,
    /// None.
    None,
}

impl Draws {
    /// Numbers in a round.
    fn per_round(self, arms: usize) -> usize {
        match self {
            Self::Uniform => 1,
            Self::Normal => arms,
            Self::None => 0,
        }
    }

    /// Those of all rounds of a run of instance `index`.
    fn fill(self, key: Key, index: u64, out: &mut [f32]) {
        match self {
            Self::Uniform => fill_uniforms(key, index, out),
            Self::Normal => fill_normals(key, index, out),
            Self::None => {}
        }
    }
}

/// Where a policy leaves the derivatives of the log-probability of its choice. Without a score, scratch of the same
/// lengths.
pub struct Slopes<'a, R> {
    /// d log pi / d mu_i.
    pub mean: &'a mut [R],
    /// d log pi / d v_i.
    pub variance: &'a mut [R],
    /// d log pi by the policy's own scalars.
    pub scalars: &'a mut [R],
}

/// From the estimated means and variances of a round to an arm: what a linear policy's file implements.
///
/// Everything in `act` must be `#[inline(always)]`, closures included, or it loses the vector instructions.
pub trait LinearKernel: Send + Sync {
    /// What it draws.
    fn draws(&self) -> Draws;

    /// Is the projection learned? Then the gradient begins with W, row by row.
    fn learns_projection(&self) -> bool;

    /// Number of learned scalars, after W in the gradient.
    fn scalars(&self) -> usize {
        0
    }

    /// Why there is no score at these parameters, if there is none.
    fn unscored(&self) -> Option<&'static str> {
        None
    }

    /// After some runs: refuses them if something went wrong on the way.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Does it choose with certainty?
    fn is_certain(&self) -> bool {
        false
    }

    /// Writes the probability of each arm, up to a common factor: that of `act`.
    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]);

    /// Chooses an arm in each lane and, if `SCORE`, writes every entry of `slopes` that is learned.
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R;
}

/// The same as an object: the engine is compiled once, and calls the policy's choice (compiled into each of its kernels
/// that would take minutes).
pub(crate) trait LinearChooser:
    Chooses<One<f32>> + Chooses<One<f64>> + ChoosesWide + Send + Sync
{
    fn draws(&self) -> Draws;
    fn learns_projection(&self) -> bool;
    fn scalars(&self) -> usize;
    fn unscored(&self) -> Option<&'static str>;
    fn check(&self) -> Result<()>;
}

/// The same for wide lanes.
#[cfg(target_arch = "x86_64")]
pub(crate) trait ChoosesWide: Chooses<Eight> + Chooses<f32x16<Long>> {}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait ChoosesWide: Chooses<Eight> {}
impl<P: LinearKernel> ChoosesWide for P {}

/// The policy's choice in one kind of lanes.
pub(crate) trait Chooses<R> {
    fn act(&self, scored: bool, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R;
}

impl<P: LinearKernel> LinearChooser for P {
    fn draws(&self) -> Draws {
        LinearKernel::draws(self)
    }
    fn learns_projection(&self) -> bool {
        LinearKernel::learns_projection(self)
    }
    fn scalars(&self) -> usize {
        LinearKernel::scalars(self)
    }
    fn unscored(&self) -> Option<&'static str> {
        LinearKernel::unscored(self)
    }
    fn check(&self) -> Result<()> {
        LinearKernel::check(self)
    }
}

impl<P: LinearKernel, R: Real> Chooses<R> for P {
    fn act(&self, scored: bool, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R {
        vectorized_in::<R, _>(
            mu[0].token(),
            #[inline(always)]
            || {
                if scored {
                    LinearKernel::act::<R, true>(self, mu, v, draws, slopes)
                } else {
                    LinearKernel::act::<R, false>(self, mu, v, draws, slopes)
                }
            },
        )
    }
}

/// An arm drawn from unnormalised `weights` by a uniform number, and their sum.
#[inline(always)]
pub fn draw_arm<R: Real>(weights: &[R], u: R) -> (R, R) {
    let mut total = weights[0];
    for &weight in &weights[1..] {
        total = total + weight;
    }
    let (mark, mut sum, mut arm) = (u * total, u.zero(), u.zero());
    for &weight in &weights[..weights.len() - 1] {
        sum = sum + weight;
        arm = arm + R::only(mark.ge(sum), u.one());
    }
    (arm, total)
}

/// Certainty of one arm.
pub(crate) fn certain(arm: usize, weights: &mut [f64]) {
    weights.fill(0.0);
    weights[arm] = 1.0;
}

/// In which numbers the engine computes. Random draws are single in both, so that runs can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`: for tests, and for horizons or conditions that single precision cannot bear.
    Double,
}

/// Length of one instance's gradient.
pub(crate) fn gradient_len(policy: &dyn LinearChooser, projection: &Projection) -> usize {
    usize::from(policy.learns_projection()) * projection.rank * projection.dim + policy.scalars()
}

/// Plays a policy on instances `first..` of a contextual problem.
///
/// # Panics
/// If a buffer of the output or of an instance has a wrong length.
pub(crate) fn rollout(
    policy: &dyn LinearChooser,
    projection: &Projection,
    engine: Engine,
    job: &Job,
    first: u64,
    out: Output,
) -> Result<()> {
    let Engine { basis, precision } = engine;
    if engine.is_side_by_side(projection, job) {
        return match wide().filter(|_| job.lanes == Lanes::Auto) {
            #[cfg(target_arch = "x86_64")]
            Some(Wide::Long(simd)) => simd.vectorize(
                #[inline(always)]
                || side::with::<f32x16<_>>(simd, policy, projection, job, basis, first, out),
            ),
            Some(Wide::Short(simd)) => simd.vectorize(
                #[inline(always)]
                || side::with::<Eight>(proof(simd), policy, projection, job, basis, first, out),
            ),
            None => side::with::<One<f32>>((), policy, projection, job, basis, first, out),
        };
    }
    let how = (basis, play::Pace::of(job.problem.world(), projection.size(basis)));
    match precision {
        Precision::Single => play::with::<One<f32>>(policy, projection, job, how, first, out),
        Precision::Double => play::with::<One<f64>>(policy, projection, job, how, first, out),
    }
}

/// Lanes of the engine: one number, or those of one register.
trait Numbers: Lane {
    /// One of them.
    type One: Number;

    /// The policy as these lanes ask it.
    fn chooser(policy: &dyn LinearChooser) -> &dyn Chooses<Self>;
}

/// One number of the engine.
trait Number: Numbers<Token = (), Mask = bool> + Element + Into<f64> {
    /// Distance from 1 to the next number.
    const EPSILON: f64;

    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::splat((), x)
    }
}

impl Numbers for One<f32> {
    type One = Self;
    fn chooser(policy: &dyn LinearChooser) -> &dyn Chooses<Self> {
        policy
    }
}

impl Numbers for One<f64> {
    type One = Self;
    fn chooser(policy: &dyn LinearChooser) -> &dyn Chooses<Self> {
        policy
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
impl Numbers for Eight {
    type One = One<f32>;
    fn chooser(policy: &dyn LinearChooser) -> &dyn Chooses<Self> {
        policy
    }
}

#[cfg(target_arch = "x86_64")]
impl Numbers for f32x16<Long> {
    type One = One<f32>;
    fn chooser(policy: &dyn LinearChooser) -> &dyn Chooses<Self> {
        policy
    }
}

impl Number for One<f32> {
    const EPSILON: f64 = f32::EPSILON as f64;
}

impl Number for One<f64> {
    const EPSILON: f64 = f64::EPSILON;
}

#[cfg(test)]
mod tests;
