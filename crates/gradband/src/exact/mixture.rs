//! Priors under which the arms are independent given a component: points, Betas, and mixtures of either.

use crate::error::{Error, Result};
use crate::numeric::quadrature::integrate;
use crate::numeric::special::beta_cdf;
use crate::problem::{self, Belief, Cell, Problem, Rewards, Row, Split, Table};
use std::sync::OnceLock;

/// What is known of one arm's mean within a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArmPrior {
    /// The mean is known.
    Point(f64),
    /// The mean is drawn from Beta(alpha, beta).
    Beta {
        /// The first parameter: with past counts, the fitted one plus successes.
        alpha: f64,
        /// The second, with failures.
        beta: f64,
    },
}

impl ArmPrior {
    /// Beta(1 + successes, 1 + trials - successes): what counts say by themselves.
    pub fn counts(successes: f64, trials: f64) -> Self {
        Self::Beta { alpha: 1.0 + successes, beta: 1.0 + trials - successes }
    }

    /// Probability that the next pull succeeds after `successes` in `pulls`.
    pub fn predict(&self, successes: usize, pulls: usize) -> f64 {
        match *self {
            Self::Point(mean) => mean,
            Self::Beta { alpha, beta } => (alpha + successes as f64) / (alpha + beta + pulls as f64),
        }
    }

    /// Mixture mean.
    pub fn mean(&self) -> f64 {
        self.predict(0, 0)
    }

    fn cdf(&self, x: f64) -> f64 {
        match *self {
            Self::Point(mean) => f64::from(u8::from(x >= mean)),
            Self::Beta { alpha, beta } => beta_cdf(alpha, beta, x),
        }
    }

    fn validate(&self) -> Result<()> {
        match *self {
            Self::Point(mean) if !(0.0..=1.0).contains(&mean) => {
                Err(wrong(format!("the mean of a Bernoulli arm is between 0 and 1, not {mean}")))
            }
            Self::Beta { alpha, beta } if !(alpha > 0.0 && beta > 0.0 && alpha + beta < f64::INFINITY) => {
                Err(wrong(format!(
                    "Beta(alpha, beta) needs positive, finite parameters, not ({alpha}, {beta})"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Probabilities of `successes` in `pulls` pulls of one arm, for all pulls up to a horizon.
///
/// Binomial for a point, beta-binomial for a Beta. Only positive terms are added, so no digit is lost, and no
/// intermediate result leaves the range of f64 whatever the horizon.
#[derive(Clone, Debug)]
pub struct SuccessTable {
    values: Vec<f64>,
}

impl SuccessTable {
    /// P(T + 1, s) = P(T, s) (1 - p(s, T)) + P(T, s - 1) p(s - 1, T), p the predictive probability of a
    /// success.
    pub fn new(arm: &ArmPrior, horizon: usize) -> Self {
        let mut values = vec![0.0; (horizon + 1) * (horizon + 2) / 2];
        values[0] = 1.0;
        for pulls in 0..horizon {
            let (row, next) = (Self::start(pulls), Self::start(pulls + 1));
            for s in 0..=pulls {
                let (mass, success) = (values[row + s], arm.predict(s, pulls));
                values[next + s] += mass * (1.0 - success);
                values[next + s + 1] = mass * success;
            }
        }
        Self { values }
    }

    /// Probabilities of 0, 1, …, `pulls` successes.
    pub fn row(&self, pulls: usize) -> &[f64] {
        &self.values[Self::start(pulls)..Self::start(pulls + 1)]
    }

    fn start(pulls: usize) -> usize {
        pulls * (pulls + 1) / 2
    }
}

/// One component of a prior: given it, the arms are independent.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its probability; [`Mixture`] normalises them.
    pub weight: f64,
    /// One entry per arm.
    pub arms: Vec<ArmPrior>,
}

/// A distribution over instances of a Bernoulli bandit.
#[derive(Clone, Debug)]
pub struct Mixture {
    components: Vec<Component>,
    /// Takes a while for thousands of Betas, and is not always needed.
    mean_max: OnceLock<f64>,
}

impl PartialEq for Mixture {
    fn eq(&self, other: &Self) -> bool {
        self.components == other.components
    }
}

fn unsupported() -> Error {
    wrong("has no exact results: they need points, Betas or a table".into())
}

fn wrong(message: String) -> Error {
    Error::new("prior", message)
}

impl Mixture {
    /// A mixture; the weights are normalised.
    pub fn new(mut components: Vec<Component>) -> Result<Self> {
        let arms = components.first().map_or(0, |component| component.arms.len());
        if arms == 0 {
            return Err(wrong("a prior needs at least one component with at least one arm".into()));
        }
        for (row, Component { weight, arms: entries }) in components.iter().enumerate() {
            if entries.len() != arms {
                return Err(wrong(format!(
                    "component {row} has {} arms, the first has {arms}",
                    entries.len()
                )));
            }
            if !(*weight >= 0.0 && *weight < f64::INFINITY) {
                return Err(wrong(format!("the weight of component {row} is {weight}, not a number >= 0")));
            }
            entries.iter().try_for_each(ArmPrior::validate)?;
        }
        let total: f64 = components.iter().map(|component| component.weight).sum();
        if !(total > 0.0 && total < f64::INFINITY) {
            return Err(wrong(format!("the weights add up to {total}")));
        }
        components.retain(|component| component.weight > 0.0);
        for component in &mut components {
            component.weight /= total;
        }
        Ok(Self { components, mean_max: OnceLock::new() })
    }

    /// Finitely many instances, each with its weight.
    pub fn points(instances: &[Vec<f64>], weights: &[f64]) -> Result<Self> {
        if instances.len() != weights.len() {
            return Err(wrong(format!("{} instances have {} weights", instances.len(), weights.len())));
        }
        let component = |(means, &weight): (&Vec<f64>, &f64)| Component {
            weight,
            arms: means.iter().map(|&mean| ArmPrior::Point(mean)).collect(),
        };
        Self::new(instances.iter().zip(weights).map(component).collect())
    }

    /// Independent arms, arm i drawn from Beta(`alpha[i]`, `beta[i]`).
    pub fn beta(alpha: &[f64], beta: &[f64]) -> Result<Self> {
        if alpha.len() != beta.len() {
            return Err(wrong(format!("{} values of alpha, {} of beta", alpha.len(), beta.len())));
        }
        let arms = alpha.iter().zip(beta).map(|(&alpha, &beta)| ArmPrior::Beta { alpha, beta }).collect();
        Self::new(vec![Component { weight: 1.0, arms }])
    }

    /// The prior of a problem with Bernoulli rewards, on one side of a table's split.
    pub fn of(problem: &Problem, split: Split) -> Result<Self> {
        match bernoulli_prior(problem)? {
            problem::Prior::Points(points) => {
                let (instances, weights): (Vec<_>, Vec<_>) =
                    points.iter().map(|(means, weight)| (means.to_vec(), weight)).unzip();
                Self::points(&instances, &weights)
            }
            problem::Prior::Beta { alpha, beta } => Self::beta(alpha, beta),
            problem::Prior::Normal { .. } | problem::Prior::Own(_) => Err(unsupported()),
            problem::Prior::Table(table) => {
                let rows = rows(table, split)?;
                let arm = |&cell: &Cell| match table.fitted().belief(cell) {
                    Belief::Known(mean) => Ok(ArmPrior::Point(mean)),
                    Belief::Beta(alpha, beta) => Ok(ArmPrior::Beta { alpha, beta }),
                    Belief::Normal { .. } => Err(unsupported()),
                };
                let component = |row: &Row| {
                    Ok(Component { weight: 1.0, arms: row.arms.iter().map(arm).collect::<Result<_>>()? })
                };
                Self::new(rows.map(component).collect::<Result<_>>()?)
            }
        }
    }

    /// Components that [`Self::of`] would have: what a programme costs depends on it.
    pub(crate) fn count(problem: &Problem, split: Split) -> Result<usize> {
        Ok(match bernoulli_prior(problem)? {
            problem::Prior::Points(points) => points.iter().count(),
            problem::Prior::Beta { .. } => 1,
            problem::Prior::Table(table) => rows(table, split)?.len(),
            problem::Prior::Normal { .. } | problem::Prior::Own(_) => return Err(unsupported()),
        })
    }

    /// Number of arms.
    pub fn arms(&self) -> usize {
        self.components[0].arms.len()
    }

    /// The components, with weights that add up to one.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// E[max_i theta_i], the reward per round of whoever knows the instance; absolute error below 1e-11.
    pub fn mean_max(&self) -> f64 {
        let average =
            || self.components.iter().map(|component| component.weight * mean_max(&component.arms)).sum();
        *self.mean_max.get_or_init(average)
    }
}

/// The prior of a multi-armed bandit with Bernoulli rewards.
fn bernoulli_prior(problem: &Problem) -> Result<&problem::Prior> {
    match problem.armed() {
        Some(armed) if matches!(armed.rewards, Rewards::Bernoulli(_)) => Ok(&armed.prior),
        _ => {
            let message = format!("only Bernoulli rewards have exact results, not {} ones", problem.kind());
            Err(Error::new("problem", message))
        }
    }
}

/// The past problems, each a component, if every one has the same arms.
fn rows(table: &Table, split: Split) -> Result<impl ExactSizeIterator<Item = &Row>> {
    if table.is_exchangeable() {
        let message = format!(
            "has no exact results: with arms = {}, an instance is any of very many choices of arms; leave arms out where \
             every past problem has the same, or simulate",
            table.arms()
        );
        return Err(wrong(message));
    }
    Ok(table.rows(split))
}

/// E[max] = integral over [0, 1] of 1 - prod_i F_i(x).
fn mean_max(arms: &[ArmPrior]) -> f64 {
    // Everything happens above the largest known mean. The integrand is steep near the mean of a concentrated
    // Beta and flat elsewhere: cut there, or the adaptive rule sees a constant.
    let known = arms
        .iter()
        .fold(0.0, |known: f64, arm| if let ArmPrior::Point(mean) = arm { known.max(*mean) } else { known });
    let betas: Vec<ArmPrior> =
        arms.iter().filter(|arm| matches!(arm, ArmPrior::Beta { .. })).copied().collect();
    if betas.is_empty() {
        return known;
    }
    let mut cuts = vec![known, 1.0];
    for arm in &betas {
        let mean = arm.mean();
        let spread = (mean * (arm.predict(1, 1) - mean)).sqrt(); // E[theta^2] = E[theta] P(success after a success)
        let around = [mean - 8.0 * spread, mean, mean + 8.0 * spread];
        cuts.extend(around.into_iter().filter(|&cut| cut > known && cut < 1.0));
    }
    cuts.sort_by(f64::total_cmp);
    let above = |x: f64| 1.0 - betas.iter().map(|arm| arm.cdf(x)).product::<f64>();
    known + cuts.windows(2).map(|cut| integrate(&above, cut[0], cut[1], 1e-13)).sum::<f64>()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn mean_max_agrees_with_closed_forms() {
        for arms in 1..6 {
            let ones = vec![1.0; arms];
            let uniform = Mixture::beta(&ones, &ones).unwrap();
            assert!((uniform.mean_max() - arms as f64 / (arms as f64 + 1.0)).abs() < 1e-12);
        }
        // Max of two Beta(a, 1) is Beta(2a, 1); tiny a is singular at 0.
        for alpha in [0.05, 0.7, 3.0, 5_000.0] {
            let prior = Mixture::beta(&[alpha, alpha], &[1.0, 1.0]).unwrap();
            assert!((prior.mean_max() - 2.0 * alpha / (2.0 * alpha + 1.0)).abs() < 1e-11, "{alpha}");
        }
        // E max(c, U) = c + (1 - c)^2 / 2.
        let arms = vec![ArmPrior::Point(0.3), ArmPrior::Beta { alpha: 1.0, beta: 1.0 }];
        let prior = Mixture::new(vec![Component { weight: 2.0, arms }]).unwrap();
        assert!((prior.mean_max() - (0.3 + 0.245)).abs() < 1e-12);
        // Far apart, the better arm is the maximum; concentrated, the integrand is nearly a step.
        let prior = Mixture::beta(&[9e5, 1e3], &[1e5, 9e3]).unwrap();
        assert!((prior.mean_max() - 0.9).abs() < 1e-11);
    }

    #[test]
    fn mean_max_of_two_betas_agrees_with_a_double_sum() {
        // For integer parameters: midpoint rule with a million cells as the slow oracle.
        let prior = Mixture::beta(&[2.0, 3.0], &[4.0, 1.5]).unwrap();
        let cells = 1_000_000;
        let sum: f64 = (0..cells)
            .map(|j| (f64::from(j) + 0.5) / f64::from(cells))
            .map(|x| 1.0 - beta_cdf(2.0, 4.0, x) * beta_cdf(3.0, 1.5, x))
            .sum();
        assert!((prior.mean_max() - sum / f64::from(cells)).abs() < 1e-10);
    }

    #[test]
    fn beta_cdf_at_integers_is_a_binomial_tail() {
        for (a, b) in [(1, 1), (2, 1), (1, 5), (7, 4), (40, 60), (3, 200)] {
            for x in [0.001, 0.01, 0.2, 0.5, 0.77, 0.999] {
                let table = SuccessTable::new(&ArmPrior::Point(x), a + b - 1);
                let tail: f64 = table.row(a + b - 1)[a..].iter().sum();
                let cdf = beta_cdf(a as f64, b as f64, x);
                assert!((cdf - tail).abs() < 1e-12, "I_{x}({a}, {b}) = {cdf}, not {tail}");
            }
        }
    }

    #[test]
    fn success_tables_are_the_known_distributions() {
        let table = SuccessTable::new(&ArmPrior::Beta { alpha: 1.0, beta: 1.0 }, 300);
        assert!(table.row(300).iter().all(|p| (p * 301.0 - 1.0).abs() < 1e-12));
        let table = SuccessTable::new(&ArmPrior::Point(0.2), 4);
        for (p, expected) in table.row(4).iter().zip([0.4096, 0.4096, 0.1536, 0.0256, 0.0016]) {
            assert!((p - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_priors_are_refused() {
        let points = |means: &[f64], weight: f64| Mixture::points(&[means.to_vec()], &[weight]);
        assert!(points(&[0.5, 1.1], 1.0).is_err());
        assert!(points(&[0.5, f64::NAN], 1.0).is_err());
        assert!(points(&[], 1.0).is_err());
        assert!(points(&[0.5], -1.0).is_err());
        assert!(points(&[0.5], 0.0).is_err());
        assert!(Mixture::points(&[vec![0.5], vec![0.5, 0.5]], &[1.0, 1.0]).is_err());
        assert!(Mixture::beta(&[0.0], &[1.0]).is_err());
        assert!(Mixture::beta(&[1.0, 1.0], &[1.0]).is_err());
    }
}
