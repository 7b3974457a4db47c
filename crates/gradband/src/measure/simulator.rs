//! The front door of measuring: which problem, how many instances, which seed; then policies.

use super::evaluate::{Comparison, Evaluation, evaluate};
use super::exact::exact;
use super::gradient::{Estimator, Gradient, gradient_key};
use crate::error::Result;
use crate::exact::Exact;
use crate::observe::Observer;
use crate::policy::{Choice, IntoPolicy};
use crate::problem::{Problem, Split};

/// Measures policies on simulated instances of a problem: the held-out ones, where the problem has any.
///
/// ```
/// use gradband::{Problem, Simulator};
/// let problem = Problem::named("bernoulli-2")?;
/// let comparison = Simulator::new(&problem).instances(2_000).compare(["thompson", "softelim(w=0.53)", "ucb1"])?;
/// let gain = comparison.difference(0, 1);           // paired: the same instances, the same rewards
/// assert!(comparison.interval(&gain).low > 0.0, "{comparison}");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Simulator<'a> {
    problem: &'a Problem,
    seed: u64,
    instances: usize,
    rounds: Vec<usize>,
}

impl<'a> Simulator<'a> {
    /// On a problem: 10,000 instances, seed 1.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem, seed: 1, instances: 10_000, rounds: Vec::new() }
    }

    /// How many instances.
    pub fn instances(self, instances: usize) -> Self {
        Self { instances, ..self }
    }

    /// The same seed gives the same numbers, bit for bit, on any number of threads.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// After which rounds the regret so far is noted too, in rising order: see [`Comparison::curve`].
    pub fn rounds(self, rounds: impl Into<Vec<usize>>) -> Self {
        Self { rounds: rounds.into(), ..self }
    }

    fn choose(&self, policy: impl IntoPolicy) -> Result<Choice> {
        policy.into_policy()?.on(self.problem)
    }

    /// Bayes regret and reward of one policy.
    pub fn evaluate(&self, policy: impl IntoPolicy) -> Result<Evaluation> {
        self.compare([policy]).map(Evaluation)
    }

    /// Several policies on the same instances and rewards.
    pub fn compare<P: IntoPolicy>(&self, policies: impl IntoIterator<Item = P>) -> Result<Comparison> {
        self.compare_observed(policies, &mut ())
    }

    /// The same, with progress and a way to stop.
    pub fn compare_observed<P: IntoPolicy>(
        &self,
        policies: impl IntoIterator<Item = P>,
        observer: &mut dyn Observer,
    ) -> Result<Comparison> {
        let fitted = |policy: P| self.choose(policy)?.fitted(self.problem, observer);
        let choices = policies.into_iter().map(fitted).collect::<Result<Vec<_>>>()?;
        let choices: Vec<&Choice> = choices.iter().collect();
        evaluate(&choices, self.problem, self.seed, self.instances, &self.rounds, observer)
    }

    /// The gradient of the Bayes reward at a policy's parameters.
    ///
    /// ```
    /// use gradband::learn::{Baseline, Estimator, Returns};
    /// use gradband::{Problem, Simulator};
    /// let problem = Problem::named("bernoulli-2")?;
    /// let estimator = Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 2_000 };
    /// let slope = Simulator::new(&problem).gradient("softelim(w=1)", &estimator)?.estimate[0];
    /// let exact = Simulator::new(&problem.with_horizon(50)?).exact("softelim(w=1)")?;
    /// assert!(slope.mean < 0.0 && exact.gradient[0] < 0.0);
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn gradient(&self, policy: impl IntoPolicy, estimator: &Estimator) -> Result<Gradient> {
        let player = self.choose(policy)?.scored_player(self.problem, &mut ())?;
        estimator.estimate(&*player, self.problem, gradient_key(self.seed), &mut ())
    }

    /// Bayes regret, reward and gradient without sampling error: Bernoulli rewards, few arms.
    pub fn exact(&self, policy: impl IntoPolicy) -> Result<Exact> {
        exact(self.problem, &self.choose(policy)?, Split::HeldOut, &mut ())
    }
}
