//! Contextual bandits: each round shows a vector of features before an arm is chosen. One kind, one file.

use super::{Keys, Split};
use crate::error::{Error, Place, Result};
use crate::numeric::matmul::{Into, Matrix, product};
use crate::numeric::simd::vectorized;
use crate::numeric::stream::{Key, Random, Stream, fill_normals};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The purposes of an instance's randomness; the actions of its runs have keys of their own (`simulate::job`).
pub(crate) const PRIOR: u64 = 0;
pub(crate) const REWARDS: u64 = 1;
const CONTEXTS: u64 = 1 << 32;

/// The model of a contextual problem, built in or of one's own: it draws contexts, mean rewards and rewards.
///
/// ```
/// use gradband::{ContextModel, Draw, Instance, Problem, Simulator};
///
/// /// Two users: each likes another of two arms.
/// #[derive(Debug)]
/// struct TwoTastes;
/// impl ContextModel for TwoTastes {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn draw(&self, draw: &Draw, instance: &mut Instance) {
///         let mut random = draw.random();
///         for t in 0..draw.horizon {
///             let user = random.below(2);
///             instance.contexts[2 * t + user] = 1.0;
///             instance.means[2 * t + user] = 0.9;
///             instance.means[2 * t + 1 - user] = 0.1;
///         }
///         for (reward, mean) in instance.rewards.iter_mut().zip(&instance.means) {
///             *reward = f32::from(random.uniform() < f64::from(*mean));
///         }
///     }
///     fn unit_rewards(&self) -> bool {
///         true
///     }
/// }
/// let problem = Problem::contexts(TwoTastes, 2).horizon(100).build()?;
/// let regret = Simulator::new(&problem).instances(200).evaluate("linucb")?.regret();
/// assert!(regret.mean < 40.0);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait ContextModel: Any + Debug + Send + Sync {
    /// The number of features of a context (the paper's d).
    fn dim(&self) -> usize;

    /// Fills in an instance. Its buffers have the right lengths and hold zeros.
    fn draw(&self, draw: &Draw, instance: &mut Instance);

    /// Whether all rewards are in [0, 1].
    fn unit_rewards(&self) -> bool {
        false
    }

    /// The standard deviation of the rewards' noise, if the model knows it; policies use it as their default.
    fn noise_sd(&self) -> Option<f64> {
        None
    }

    /// Roughly the largest squared length of a context. It decides whether single precision is enough.
    fn longest_squared(&self) -> f64 {
        f64::INFINITY
    }

    /// The kind of problem, as a spec names it.
    fn kind(&self) -> &'static str {
        "own"
    }

    /// Adds the keys with which a spec describes it; a model of one's own has none.
    fn describe(&self, _arms: usize, _keys: &mut Keys) {}

    /// The names of the features, if they have any.
    fn feature_names(&self) -> Option<&[String]> {
        None
    }

    /// The names of the arms, if they have any.
    fn arm_names(&self) -> Option<&[String]> {
        None
    }
}

/// The contextual model of a problem.
#[derive(Clone, Debug)]
pub struct Contextual(pub(super) Arc<dyn ContextModel>);

impl Contextual {
    /// The model itself.
    pub fn model(&self) -> &dyn ContextModel {
        &*self.0
    }

    /// The number of features of a context (the paper's d).
    pub fn dim(&self) -> usize {
        self.0.dim()
    }

    /// Draws instance `index` into buffers that are reused.
    pub(crate) fn sample(
        &self,
        (arms, horizon): (usize, usize),
        split: Split,
        key: Key,
        index: u64,
        instance: &mut Instance,
    ) -> Result<()> {
        let mut sizes = [horizon * self.dim(), horizon * arms, horizon * arms];
        if let Some(examples) = &mut instance.examples {
            examples.clear();
            sizes[0] = 0;
        }
        for (buffer, size) in
            [&mut instance.contexts, &mut instance.means, &mut instance.rewards].into_iter().zip(sizes)
        {
            buffer.clear();
            buffer.resize(size, 0.0);
        }
        let [prior, rewards, contexts] = [PRIOR, REWARDS, CONTEXTS].map(|purpose| key.child(purpose));
        self.0.draw(&Draw { arms, horizon, split, index, prior, contexts, rewards }, instance);
        instance.check(sizes)
    }
}

/// One simulated instance of a contextual problem, which all policies and all their runs share.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// The context of each round: horizon x features, row by row.
    pub contexts: Vec<f32>,
    /// The mean reward of each arm in each round, f_i(x_t): horizon x arms, row by row.
    pub means: Vec<f32>,
    /// The reward of each arm in each round (the paper's table Y): horizon x arms, row by row.
    pub rewards: Vec<f32>,
    /// The example of each round in the place of its context, if that is asked for.
    pub(crate) examples: Option<Vec<u32>>,
}

impl Instance {
    /// A model of the user's own may draw anything.
    fn check(&self, sizes: [usize; 3]) -> Result<()> {
        let parts = [("contexts", &self.contexts), ("means", &self.means), ("rewards", &self.rewards)];
        for ((name, values), size) in parts.into_iter().zip(sizes) {
            // All of them, without a branch: vector instructions do it in passing.
            let mut finite = true;
            vectorized(
                #[inline(always)]
                || {
                    for x in values {
                        finite &= x.is_finite();
                    }
                },
            );
            if values.len() != size || !finite {
                let message = format!("expected {size} finite numbers, one row for each round");
                return Err(Error::new(Place::key("problem").then("instance").then(name), message));
            }
        }
        Ok(())
    }
}

/// What a [`ContextModel`] is asked to draw: which instance, of which size, with which randomness.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Draw {
    /// The number of arms.
    pub arms: usize,
    /// The number of rounds.
    pub horizon: usize,
    /// The part of the data that the instance may be drawn from, if the model has data.
    pub split: Split,
    /// The number of the instance.
    pub index: u64,
    pub(super) prior: Key,
    pub(super) contexts: Key,
    rewards: Key,
}

const FEW_ARMS: usize = 8;
const FEW_FEATURES: usize = 64;
/// Rounds whose products are taken together: a column is loaded once for them.
const ROWS: usize = 4;

impl Draw {
    /// Random numbers that belong to this instance alone.
    pub fn random(&self) -> Random {
        Random(Stream::new((), self.prior, self.index))
    }

    /// f_i(x_t) = x_t'theta_i.
    pub(super) fn linear_means(&self, theta: &[f32], dim: usize, instance: &mut Instance) {
        if self.arms <= FEW_ARMS && dim <= FEW_FEATURES {
            return self.few_means(theta, dim, instance);
        }
        product(
            Matrix::new(&instance.contexts, self.horizon, dim, dim),
            Matrix::new(theta, self.arms, dim, dim).transposed(),
            Into::Replace,
            &mut instance.means,
            self.arms,
        );
    }

    /// The same for few arms, all of them in one vector: the call of a library would take longer than the product.
    fn few_means(&self, theta: &[f32], dim: usize, instance: &mut Instance) {
        let mut columns = [[0.0; FEW_ARMS]; FEW_FEATURES];
        for (arm, theta) in theta.chunks_exact(dim).enumerate() {
            columns.iter_mut().zip(theta).for_each(|(column, &x)| column[arm] = x);
        }
        // A round's sums are written whole: what is beyond its arms is the next round's, which comes after it.
        instance.means.resize(self.horizon * self.arms + FEW_ARMS, 0.0);
        let (contexts, means, columns) = (&instance.contexts, &mut instance.means, &columns[..dim]);
        vectorized(
            #[inline(always)]
            || {
                for (block, x) in contexts.chunks(ROWS * dim).enumerate() {
                    let means = &mut means[block * ROWS * self.arms..];
                    if x.len() == ROWS * dim {
                        means_of::<ROWS>(x, columns, means, self.arms);
                        continue;
                    }
                    for (t, x) in x.chunks_exact(dim).enumerate() {
                        means_of::<1>(x, columns, &mut means[t * self.arms..], self.arms);
                    }
                }
            },
        );
        instance.means.truncate(self.horizon * self.arms);
    }

    /// Means plus noise.
    pub(super) fn gaussian_rewards(&self, noise_sd: f64, instance: &mut Instance) {
        fill_normals(self.rewards, self.index, &mut instance.rewards);
        let noise_sd = noise_sd as f32;
        vectorized(
            #[inline(always)]
            || {
                for (reward, &mean) in instance.rewards.iter_mut().zip(&instance.means) {
                    *reward = *reward * noise_sd + mean;
                }
            },
        );
    }
}

/// Products of `N` rows with the columns, the results of a row `stride` numbers after those of the last.
#[inline(always)]
fn means_of<const N: usize>(x: &[f32], columns: &[[f32; FEW_ARMS]], out: &mut [f32], stride: usize) {
    let dim = columns.len();
    let mut sums = [[0.0; FEW_ARMS]; N];
    for (k, column) in columns.iter().enumerate() {
        for (n, sums) in sums.iter_mut().enumerate() {
            let x = x[n * dim + k];
            for i in 0..FEW_ARMS {
                sums[i] = x.mul_add(column[i], sums[i]);
            }
        }
    }
    for (n, sums) in sums.iter().enumerate() {
        out[n * stride..][..FEW_ARMS].copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of few arms and of many are the same, but for roundings.
    #[test]
    fn means_are_products_with_theta() {
        let key = Key::new(2);
        for (arms, dim) in [(2, 1), (4, 8), (8, 64), (9, 3), (3, 65)] {
            let horizon = 7;
            let draw = Draw {
                arms,
                horizon,
                split: Split::Train,
                index: 4,
                prior: key,
                contexts: key,
                rewards: key,
            };
            let mut theta = vec![0.0; arms * dim];
            let mut instance = Instance { means: vec![0.0; horizon * arms], ..Instance::default() };
            instance.contexts.resize(horizon * dim, 0.0);
            fill_normals(key, 1, &mut theta);
            fill_normals(key, 2, &mut instance.contexts);
            draw.linear_means(&theta, dim, &mut instance);
            for (i, &mean) in instance.means.iter().enumerate() {
                let (x, theta) =
                    (&instance.contexts[i / arms * dim..][..dim], &theta[i % arms * dim..][..dim]);
                let exact: f64 = x.iter().zip(theta).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                // Terms are below 20, and each is rounded by 2^-24 of that or so.
                assert!((f64::from(mean) - exact).abs() < 1e-5 * dim as f64, "{arms} {dim}: {mean} {exact}");
            }
        }
    }
}
