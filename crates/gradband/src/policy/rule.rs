//! Policies of one's own: parameters with their domains, and the logits of the arms. Derivatives are automatic.

use super::params::Param;
use crate::error::Result;
use crate::problem::Problem;
use num_dual::DualNum;

pub use crate::simulate::plain::{JointSeen, Seen};

/// A number that a rule computes with: `f64`, or one that carries its derivative along.
///
/// All functions of `num_dual::DualNum` are there: `exp`, `ln`, `sqrt`, `powi`, `recip`, …
pub trait Scalar: DualNum<Primitive = f64> + Copy {}

impl<T: DualNum<Primitive = f64> + Copy> Scalar for T {}

/// What a rule gives for each arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Logits: pi_i ∝ exp(logit_i).
    Logits,
    /// Weights that are not negative: pi_i ∝ weight_i.
    Weights,
}

/// A multi-armed policy of one's own. It trains, evaluates, compares, is saved and loaded like a built-in one.
///
/// ```
/// use gradband::{Param, Problem, Rule, Scalar, Seen, Trainer};
///
/// struct Optimist;
/// impl Rule for Optimist {
///     fn params(&self) -> Vec<Param> {
///         vec![Param::positive("width", 1.0), Param::positive("temperature", 0.1)]
///     }
///     fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
///         for (arm, logit) in logits.iter_mut().enumerate() {
///             *logit = (params[0] * (1.0 / seen.pulls(arm)).sqrt() + seen.mean(arm)) / params[1];
///         }
///     }
/// }
/// let trained = Trainer::own(Optimist).iterations(50).seed(1).train(&Problem::named("bernoulli-2")?)?;
/// assert!(trained.policy().param("width").is_some());
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait Rule: Send + Sync + 'static {
    /// What is learned.
    fn params(&self) -> Vec<Param>;

    /// Writes a logit (or what [`Self::form`] says) for each arm.
    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]);

    /// Its name in results and files; by default that of the type.
    fn name(&self) -> String {
        type_name::<Self>()
    }

    /// One line about it.
    fn summary(&self) -> String {
        "a rule of one's own".into()
    }

    /// What [`Self::logits`] writes.
    fn form(&self) -> Form {
        Form::Logits
    }

    /// Is each arm pulled once before the rule is asked?
    fn each_arm_once(&self) -> bool {
        true
    }

    /// Writes d logit_i / d param_p to `slopes[p * K + i]` and returns true, if the rule knows its derivative better than
    /// automatic differentiation does.
    fn slopes(&self, _params: &[f64], _seen: &Seen, _slopes: &mut [f64]) -> bool {
        false
    }

    /// Why it does not apply to a problem, if it does not.
    fn refuses(&self, _: &Problem) -> Option<String> {
        None
    }
}

/// A multi-armed policy of one's own that is asked for many runs at once: for rules that are written in another language, where a
/// call is dear. An error of it comes back as it is, see [`Error::outside`](crate::Error::outside).
///
/// ```
/// use gradband::{JointRule, JointSeen, Param, Policy, Problem, Result, Simulator};
///
/// /// A softmax of means.
/// struct Greedy;
/// impl JointRule for Greedy {
///     fn name(&self) -> String {
///         "greedy".into()
///     }
///     fn params(&self) -> Vec<Param> {
///         vec![Param::positive("temperature", 0.1)]
///     }
///     fn logits(&self, params: &[f64], seen: &JointSeen, logits: &mut [f64]) -> Result<()> {
///         logits.iter_mut().zip(seen.means).for_each(|(logit, mean)| *logit = mean / params[0]);
///         Ok(())
///     }
/// }
/// let problem = Problem::named("bernoulli-2")?.with_horizon(50)?;
/// let regret = Simulator::new(&problem).instances(100).evaluate(Policy::own_joint(Greedy))?.regret();
/// assert!(regret.mean > 0.0);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait JointRule: Send + Sync + 'static {
    /// Its name in results and files.
    fn name(&self) -> String;

    /// What is learned.
    fn params(&self) -> Vec<Param>;

    /// Writes the logit of each arm, run after run.
    fn logits(&self, params: &[f64], seen: &JointSeen, logits: &mut [f64]) -> Result<()>;

    /// Writes the derivatives of the logits by each parameter, one parameter after the other, and returns true; if not, they are
    /// central differences.
    fn slopes(&self, _params: &[f64], _seen: &JointSeen, _slopes: &mut [f64]) -> Result<bool> {
        Ok(false)
    }

    /// Is each arm pulled once before the rule is asked?
    fn each_arm_once(&self) -> bool {
        true
    }
}

/// A contextual policy of one's own: from the estimated mean and variance of each arm, by ridge regression in the
/// learned projection W, to logits.
///
/// ```
/// use gradband::{LinearRule, Param, Policy, Problem, Scalar, Simulator};
///
/// /// A softmax of upper confidence bounds.
/// struct Bounds;
/// impl LinearRule for Bounds {
///     fn params(&self) -> Vec<Param> {
///         vec![Param::positive("alpha", 0.7), Param::positive("temperature", 0.05)]
///     }
///     fn logits<T: Scalar>(&self, params: &[T], means: &[T], variances: &[T], logits: &mut [T]) {
///         for i in 0..logits.len() {
///             logits[i] = (means[i] + params[0] * variances[i].sqrt()) / params[1];
///         }
///     }
/// }
/// let problem = Problem::named("linear-1")?.with_horizon(50)?;
/// let regret = Simulator::new(&problem).instances(100).evaluate(Policy::own_linear(Bounds))?.regret();
/// assert!(regret.mean > 0.0);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait LinearRule: Send + Sync + 'static {
    /// What is learned beside W.
    fn params(&self) -> Vec<Param>;

    /// Writes a logit for each arm.
    fn logits<T: Scalar>(&self, params: &[T], means: &[T], variances: &[T], logits: &mut [T]);

    /// Its name in results and files; by default that of the type.
    fn name(&self) -> String {
        type_name::<Self>()
    }

    /// One line about it.
    fn summary(&self) -> String {
        "a contextual rule of one's own".into()
    }

    /// Is the projection W learned too?
    fn learns_projection(&self) -> bool {
        true
    }
}

/// The last part of a type's path.
fn type_name<T: ?Sized>() -> String {
    let path = std::any::type_name::<T>();
    path.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(path).into()
}
