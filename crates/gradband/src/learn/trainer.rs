//! The front door of learning: a policy, typed options with the right defaults, and a problem to train on.

use super::ascent::{Average, GradientSource};
use super::auto::choose;
use super::optimizer::Optimizer;
use super::options::{LearningRate, Options, RecipeName};
use super::start::Start;
use super::trained::Trained;
use crate::error::Result;
use crate::observe::Observer;
use crate::policy::{IntoPolicy, LinearRule, Policy, Rule};
use crate::problem::Problem;
use crate::simulate::{Baseline, Returns};

/// Tunes a policy to a problem.
///
/// ```
/// use gradband::{Problem, Trainer};
/// let trained = Trainer::new("softelim").seed(1).train(&Problem::named("bernoulli-2")?)?;
/// let w = trained.policy().param("w").unwrap()[0];
/// assert!((w - 0.53).abs() < 0.05); // the best w is 0.5304
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Trainer {
    /// None: whichever is best.
    policy: Result<Option<Policy>>,
    options: Options,
    seed: u64,
}

impl Trainer {
    /// A policy, or its name; a name that there is not is said when training starts.
    pub fn new(policy: impl IntoPolicy) -> Self {
        Self { policy: policy.into_policy().map(Some), options: Options::default(), seed: 1 }
    }

    /// A multi-armed rule of one's own.
    pub fn own(rule: impl Rule) -> Self {
        Self::new(Policy::own(rule))
    }

    /// A contextual rule of one's own.
    pub fn own_linear(rule: impl LinearRule) -> Self {
        Self::new(Policy::own_linear(rule))
    }

    /// Whichever policy is best: every class that applies and is quick to train is tried, see [`choose`].
    ///
    /// ```
    /// use gradband::{Problem, Trainer};
    /// let problem = Problem::named("bernoulli-2")?.with_horizon(30)?;
    /// let trained = Trainer::auto().iterations(20).batch_size(20).train(&problem)?;
    /// println!("{}", trained.policy());
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn auto() -> Self {
        Self { policy: Ok(None), options: Options::default(), seed: 1 }
    }

    /// All options at once.
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The same seed gives the same policy, bit for bit, on any number of threads.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// What returns are compared with; leave-one-out of eight runs by default.
    pub fn baseline(mut self, baseline: Baseline) -> Self {
        self.options.baseline = Some(baseline);
        self
    }

    /// What returns are made of; means by default.
    pub fn returns(mut self, returns: Returns) -> Self {
        self.options.returns = Some(returns);
        self
    }

    /// How to climb.
    pub fn optimizer(mut self, optimizer: Optimizer) -> Self {
        self.options.optimizer = Some(optimizer);
        self
    }

    /// The step size; chosen automatically by default.
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.options.learning_rate = Some(LearningRate::Fixed(rate));
        self
    }

    /// L: the number of steps; 100 by default.
    pub fn iterations(mut self, iterations: usize) -> Self {
        self.options.iterations = Some(iterations);
        self
    }

    /// m: instances per gradient.
    pub fn batch_size(mut self, instances: usize) -> Self {
        self.options.batch_size = Some(instances);
        self
    }

    /// What is handed out: the mean of the last half of the iterates by default.
    pub fn average(mut self, average: Average) -> Self {
        self.options.average = Some(average);
        self
    }

    /// Where gradients come from: simulation by default.
    pub fn gradient(mut self, source: GradientSource) -> Self {
        self.options.gradient = Some(source);
        self
    }

    /// Where training starts: from the history by default, where the policy has a projection.
    pub fn start(mut self, start: Start) -> Self {
        self.options.start = Some(start);
        self
    }

    /// How a network is trained.
    pub fn recipe(mut self, recipe: RecipeName) -> Self {
        self.options.recipe = Some(recipe);
        self
    }

    /// Trains on the training instances of a problem.
    pub fn train(&self, problem: &Problem) -> Result<Trained> {
        self.train_observed(problem, &mut ())
    }

    /// The same, with progress and a way to stop: what was learned so far is handed out.
    pub fn train_observed(&self, problem: &Problem, observer: &mut dyn Observer) -> Result<Trained> {
        let initial = match &self.policy.clone()? {
            Some(policy) => policy.on(problem)?,
            None => {
                let chosen = choose(problem, &self.options, self.seed, false, observer)?;
                match chosen.trained {
                    Some(trained) => return Ok(trained),
                    None => chosen.initial,
                }
            }
        };
        self.options.plan(problem, &initial)?.train(problem, &initial, self.seed, observer)
    }
}
