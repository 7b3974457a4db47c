//! A multi-armed problem of the user's own.

use crate::numeric::stream::Random;
use std::fmt::Debug;

/// A multi-armed problem of one's own: code that draws instances and rewards.
///
/// ```
/// use gradband::{Bandit, Problem, Random, Simulator};
///
/// /// One arm in four is good, and pays two coins at a time.
/// #[derive(Debug)]
/// struct OneGood;
/// impl Bandit for OneGood {
///     fn arms(&self) -> usize {
///         4
///     }
///     fn instance(&self, random: &mut Random, means: &mut [f64]) {
///         means.fill(0.2);
///         means[random.below(4)] = 0.6;
///     }
///     fn reward(&self, random: &mut Random, _arm: usize, mean: f64) -> f64 {
///         let coin = |random: &mut Random| f64::from(u8::from(random.uniform() < mean));
///         (coin(random) + coin(random)) / 2.0
///     }
/// }
/// let problem = Problem::own(OneGood).horizon(200).build()?;
/// let comparison = Simulator::new(&problem).instances(500).compare(["softelim", "random"])?;
/// assert!(comparison.difference(0, 1).mean < 0.0);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait Bandit: Debug + Send + Sync {
    /// The number of arms.
    fn arms(&self) -> usize;

    /// Draws an instance: writes the mean reward of each arm.
    fn instance(&self, random: &mut Random, means: &mut [f64]);

    /// Draws a reward of an arm whose mean is `mean`; by default 1 with that probability, else 0. The mean of what is drawn
    /// must be `mean`: regret is computed from it.
    fn reward(&self, random: &mut Random, _arm: usize, mean: f64) -> f64 {
        f64::from(u8::from(random.uniform() < mean))
    }

    /// Whether all rewards are in [0, 1], which many policies need.
    fn unit_rewards(&self) -> bool {
        true
    }
}
