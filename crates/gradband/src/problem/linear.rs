//! The linear-Gaussian bandit: normal contexts, and rewards that are linear in them (section 7.7).

use super::builder::ContextKind;
use super::normal::MAX_DIM;
use super::{
    ContextModel, Contextual, Covariance, Draw, Instance, Keys, MAX_ARMS, Normal, Problem, ProblemBuilder,
    Value,
};
use crate::error::{Error, ErrorKind, Result, count, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::{Stream, fill_normals};
use std::any::Any;

/// The linear-Gaussian model: x ~ N(mu_x, Sigma_x), theta_i ~ N(mu_i, Sigma_theta), reward = x'theta_i + N(0, sd²).
///
/// ```
/// use gradband::problem::{Covariance, Linear, Normal};
/// use gradband::Problem;
/// // Three features, of which only the first matters to an arm.
/// let context = Normal::new(vec![1.0; 3], Covariance::Diagonal(vec![1.0; 3]))?;
/// let theta = Normal::new(vec![0.0; 3], Covariance::Diagonal(vec![1.0, 0.0, 0.0]))?;
/// let problem = Problem::linear(Linear::new(context, vec![theta], 0.5)?, 4).horizon(200).build()?;
/// assert_eq!(problem.to_string(), "linear (4 arms, horizon 200)");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linear {
    context: Normal,
    /// The distribution of each arm's parameter vector, or a single one for all arms.
    theta: Vec<Normal>,
    noise_sd: f64,
}

impl Linear {
    /// From the distributions of contexts and of the arms' parameters (one for all arms, or one for each), which must have the
    /// same dimension.
    pub fn new(context: Normal, theta: Vec<Normal>, noise_sd: f64) -> Result<Self> {
        let dim = context.dim();
        if let Some(wrong) = theta.iter().find(|theta| theta.dim() != dim) {
            let message = format!("has {} entries, contexts have {dim}", wrong.dim());
            return Err(Error::new("theta_mean", message));
        }
        if theta.is_empty() {
            return Err(Error::new("theta_mean", "is empty; give one for all arms, or one for each"));
        }
        within("noise_sd", noise_sd, 0.0, 1e6)?;
        Ok(Self { context, theta, noise_sd })
    }

    /// The distribution of contexts.
    pub fn context(&self) -> &Normal {
        &self.context
    }

    /// The distribution of each arm's parameter vector, or a single one for all arms.
    pub fn theta(&self) -> &[Normal] {
        &self.theta
    }

    /// The standard deviation of the rewards' noise.
    pub(super) fn noise(&self) -> f64 {
        self.noise_sd
    }

    pub(super) const KIND: ContextKind = ContextKind {
        name: "linear",
        keys: &["noise_sd", "arms", "context_dim", "context_mean", "context_cov", "theta_mean", "theta_cov"],
        build: Self::from_keys,
    };

    fn from_keys(keys: &Keys) -> Result<ProblemBuilder> {
        const KIND: &str = "linear";
        keys.needed(KIND, "arms")?;
        let arms = count("arms", keys.optional_count("arms")?.unwrap_or_default(), 2, MAX_ARMS)?;
        let theta_cov = keys.needed(KIND, "theta_cov")?;
        let lengths =
            ["context_mean", "context_cov", "theta_cov"].map(|key| keys.get(key).and_then(Value::len));
        let dim = keys.optional_count("context_dim")?.or_else(|| lengths.into_iter().flatten().next());
        let dim = dim.ok_or_else(|| {
            let why = "only numbers are given, so it must say how many features";
            Error::of("context_dim", ErrorKind::Missing(why.into()))
        })?;
        count("context_dim", dim, 1, MAX_DIM)?;
        let or = |key: &str, default: f64| keys.get(key).cloned().unwrap_or(Value::Number(default));
        let context = Normal::named(
            "context",
            or("context_mean", 0.0).vector("context_mean", dim)?,
            or("context_cov", 1.0).covariance("context_cov", dim)?,
        )?;
        let theta_mean = or("theta_mean", 0.0);
        let means = if theta_mean.depth() == 2 {
            theta_mean.matrix("theta_mean", arms, dim)?
        } else {
            vec![theta_mean.vector("theta_mean", dim)?]
        };
        let theta = means
            .into_iter()
            .map(|mean| Normal::named("theta", mean, theta_cov.covariance("theta_cov", dim)?))
            .collect::<Result<_>>()?;
        let noise_sd = keys.number(KIND, "noise_sd")?;
        Ok(Problem::linear(Self::new(context, theta, noise_sd)?, arms))
    }
}

impl Problem {
    /// A contextual problem with rewards that are linear in the contexts.
    pub fn linear(linear: Linear, arms: usize) -> ProblemBuilder {
        Self::contexts(linear, arms)
    }
}

impl Contextual {
    /// The linear-Gaussian model, if that is what it is.
    pub fn linear(&self) -> Option<&Linear> {
        (self.model() as &dyn Any).downcast_ref()
    }
}

impl ContextModel for Linear {
    fn dim(&self) -> usize {
        self.context.dim()
    }

    fn kind(&self) -> &'static str {
        Self::KIND.name
    }

    fn describe(&self, arms: usize, keys: &mut Keys) {
        let cov = |normal: &Normal| match normal.covariance() {
            Covariance::Diagonal(variances) => Value::from(&variances[..]),
            Covariance::Full(matrix) => Value::rows(matrix, normal.dim()),
        };
        keys.set("arms", arms);
        keys.set("context_dim", self.context.dim());
        keys.set("context_mean", self.context.mean());
        keys.set("context_cov", cov(&self.context));
        keys.set(
            "theta_mean",
            match &self.theta[..] {
                [theta] => Value::from(theta.mean()),
                many => Value::List(many.iter().map(|theta| Value::from(theta.mean())).collect()),
            },
        );
        keys.set("theta_cov", cov(&self.theta[0]));
        keys.set("noise_sd", self.noise_sd);
    }

    fn noise_sd(&self) -> Option<f64> {
        Some(self.noise_sd)
    }

    /// Three times the mean.
    fn longest_squared(&self) -> f64 {
        3.0 * self.context.mean_square()
    }

    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        let dim = self.context.dim();
        let mut stream = Stream::<One<f64>>::new((), draw.prior, draw.index);
        let mut theta = vec![0.0_f32; draw.arms * dim];
        stream.fill_normals(&mut theta);
        let apart = self.theta.len().min(draw.arms) - 1;
        let (own, shared) = theta.split_at_mut(apart * dim);
        for (normal, theta) in self.theta.iter().zip(own.chunks_exact_mut(dim)) {
            normal.transform(theta);
        }
        self.theta[apart].transform(shared);
        fill_normals(draw.contexts, draw.index, &mut instance.contexts);
        self.context.transform(&mut instance.contexts);
        draw.linear_means(&theta, dim, instance);
        draw.gaussian_rewards(self.noise_sd, instance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::stream::Key;
    use crate::problem::{Covariance, Problem, Split};

    /// One prior for all arms draws what the same prior for each draws; different ones belong to their arms.
    #[test]
    fn priors_are_of_all_arms_or_of_each() {
        let normal = |mean: f64| Normal::new(vec![mean; 2], Covariance::Diagonal(vec![1.0, 4.0])).unwrap();
        let means = |theta: Vec<Normal>| {
            let linear = Linear::new(normal(1.0), theta, 0.5).unwrap();
            let problem = Problem::linear(linear, 3).name("linear").horizon(5).build().unwrap();
            let mut instance = Instance::default();
            problem.draw_contexts(Split::Train, Key::new(1), 0, &mut instance).unwrap();
            instance.means
        };
        let one = means(vec![normal(0.0)]);
        assert_eq!(one, means(vec![normal(0.0); 3]));
        let each = means(vec![normal(0.0), normal(9.0), normal(-9.0)]);
        for (one, each) in one.chunks_exact(3).zip(each.chunks_exact(3)) {
            assert_eq!(one[0], each[0]);
            assert!(one[1] != each[1] && one[2] != each[2]);
        }
    }
}
