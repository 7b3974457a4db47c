//! Finitely many contexts, each a bandit by itself: a K x L table of means (theorem 2).

use super::builder::ContextKind;
use super::normal::MAX_DIM;
use super::{
    ContextModel, Contextual, Draw, Instance, Keys, MAX_ARMS, Points, Problem, ProblemBuilder, Value,
};
use crate::error::{Error, Result, count, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::{Stream, fill_uniforms};
use std::any::Any;

/// The order in which contexts come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Drawn anew in each round.
    Random,
    /// 1, 2, ..., L, 1, 2, ...: a fixed sequence, as in theorem 2.
    Cyclic,
}

/// The model with finitely many contexts: an instance is a table of means, and contexts are shown as one-hot vectors.
///
/// ```
/// use gradband::problem::{Discrete, Order, Points};
/// use gradband::Problem;
/// // Two arms (rows), two contexts (columns); which arm suits which context differs between the two instances.
/// let tables = Points::new(vec![vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 1.0, 1.0, 0.0]], None)?;
/// let discrete = Discrete::new(tables, 2, 0.0, 0.5, None, Order::Cyclic)?;
/// let problem = Problem::discrete(discrete).horizon(100).build()?;
/// assert_eq!((problem.arms(), problem.contextual().unwrap().dim()), (2, 2));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Discrete {
    /// Each instance is a table of K x L means, row by row.
    tables: Points,
    /// Standard deviation of a normal prior around the table.
    mean_sd: f64,
    /// Standard deviation of the rewards.
    noise_sd: f64,
    /// Probability of each context; they sum to one.
    weights: Vec<f64>,
    order: Order,
}

impl Discrete {
    /// Each of `tables` holds the means of the arms in the contexts, arm by arm. Means are redrawn with a standard deviation of
    /// `mean_sd` around them, rewards with `noise_sd`. `weights` are those of the contexts; they need not sum to one, and
    /// are equal if not given.
    pub fn new(
        tables: Points,
        contexts: usize,
        mean_sd: f64,
        noise_sd: f64,
        weights: Option<Vec<f64>>,
        order: Order,
    ) -> Result<Self> {
        within("mean_sd", mean_sd, 0.0, 1e6)?;
        within("noise_sd", noise_sd, 0.0, 1e6)?;
        if weights.is_some() && order == Order::Cyclic {
            return Err(Error::new("context_weights", "has no meaning with context_order = \"cyclic\""));
        }
        let weights = weights.unwrap_or_else(|| vec![1.0; contexts]);
        if weights.len() != contexts {
            let message = format!("found {}, expected one per context ({contexts})", weights.len());
            return Err(Error::new("context_weights", message));
        }
        for (i, &weight) in weights.iter().enumerate() {
            within(format!("context_weights[{i}]"), weight, f64::MIN_POSITIVE, 1e12)?;
        }
        if contexts == 0 || !tables.len().is_multiple_of(contexts) {
            let message = format!("found {} means, expected a multiple of {contexts} contexts", tables.len());
            return Err(Error::new("means", message));
        }
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|weight| weight / total).collect();
        Ok(Self { tables, mean_sd, noise_sd, weights, order })
    }

    /// The number of contexts (the paper's L).
    pub fn contexts(&self) -> usize {
        self.weights.len()
    }

    /// The number of rounds that the rarest context is expected to have.
    pub fn rarest_rounds(&self, horizon: usize) -> usize {
        let share = self.weights.iter().copied().fold(1.0, f64::min);
        match self.order {
            Order::Random => (share * horizon as f64 + 1e-9) as usize,
            Order::Cyclic => horizon / self.contexts(),
        }
    }

    /// The number of arms.
    pub fn arms(&self) -> usize {
        self.tables.len() / self.contexts()
    }

    /// The tables of means and their probabilities.
    pub fn tables(&self) -> &Points {
        &self.tables
    }

    /// The mean of all arms in all contexts.
    pub fn mean(&self) -> f64 {
        let average = |table: &[f64]| table.iter().sum::<f64>() / table.len() as f64;
        self.tables.iter().map(|(table, weight)| weight * average(table)).sum()
    }

    pub(super) const KIND: ContextKind = ContextKind {
        name: "discrete-context",
        keys: &["noise_sd", "means", "weights", "mean_sd", "context_weights", "context_order"],
        build: Self::from_keys,
    };

    fn from_keys(keys: &Keys) -> Result<ProblemBuilder> {
        let kind = Self::KIND.name;
        let means = keys.needed(kind, "means")?;
        let single = means.depth() == 2;
        let tables: Vec<&Value> = match means {
            Value::List(tables) if !single => tables.iter().collect(),
            table => vec![table],
        };
        let place = |i: usize| if single { "means".to_string() } else { format!("means[{i}]") };
        let Some(first) = tables.first() else {
            let why = "is empty; give for each arm a list with a mean for each context";
            return Err(Error::new("means", why));
        };
        let (arms, contexts) = match first {
            Value::List(rows) if !rows.is_empty() => (rows.len(), rows[0].len().unwrap_or(0)),
            _ => (0, 0),
        };
        if contexts == 0 {
            return Err(Error::new(
                place(0),
                "expected a table: for each arm a list with a mean for each context",
            ));
        }
        count("means", arms, 2, MAX_ARMS)?;
        count("means[0]", contexts, 1, MAX_DIM)?;
        let flat = tables
            .iter()
            .enumerate()
            .map(|(i, table)| Ok(table.matrix(place(i), arms, contexts)?.concat()))
            .collect::<Result<Vec<_>>>()?;
        let tables = Points::new(flat, keys.optional_numbers("weights")?)?;
        let order = match keys.optional_text("context_order")? {
            None | Some("random") => Order::Random,
            Some("cyclic") => Order::Cyclic,
            Some(other) => return Err(Error::unknown("context_order", other, ["random", "cyclic"])),
        };
        let mean_sd = keys.optional_number("mean_sd")?.unwrap_or(0.0);
        let (noise_sd, weights) = (keys.number(kind, "noise_sd")?, keys.optional_numbers("context_weights")?);
        Ok(Problem::discrete(Self::new(tables, contexts, mean_sd, noise_sd, weights, order)?))
    }
}

impl Problem {
    /// A contextual problem with finitely many contexts, each a bandit by itself.
    pub fn discrete(discrete: Discrete) -> ProblemBuilder {
        let arms = discrete.arms();
        Self::contexts(discrete, arms)
    }
}

impl Contextual {
    /// The model with finitely many contexts, if that is what it is.
    pub fn discrete(&self) -> Option<&Discrete> {
        (self.model() as &dyn Any).downcast_ref()
    }
}

impl ContextModel for Discrete {
    fn dim(&self) -> usize {
        self.contexts()
    }

    fn kind(&self) -> &'static str {
        Self::KIND.name
    }

    fn describe(&self, _arms: usize, keys: &mut Keys) {
        let (tables, weights): (Vec<Value>, Vec<f64>) =
            self.tables.iter().map(|(table, weight)| (Value::rows(table, self.contexts()), weight)).unzip();
        keys.set("means", tables);
        keys.set("weights", weights);
        keys.set("mean_sd", self.mean_sd);
        keys.set("noise_sd", self.noise_sd);
        keys.set(
            "context_order",
            match self.order {
                Order::Random => "random",
                Order::Cyclic => "cyclic",
            },
        );
        if self.order == Order::Random {
            keys.set("context_weights", &self.weights[..]);
        }
    }

    fn noise_sd(&self) -> Option<f64> {
        Some(self.noise_sd)
    }

    fn longest_squared(&self) -> f64 {
        1.0
    }

    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        let dim = self.contexts();
        let mut stream = Stream::<One<f64>>::new((), draw.prior, draw.index);
        let table = self.tables.sample(&mut stream);
        let theta: Vec<f32> =
            table.iter().map(|mean| (mean + self.mean_sd * stream.normal_pair().0.0) as f32).collect();
        match self.order {
            Order::Cyclic => {
                for (t, x) in instance.contexts.chunks_exact_mut(dim).enumerate() {
                    x[t % dim] = 1.0;
                }
            }
            Order::Random => {
                let mut uniforms = vec![0.0; draw.horizon];
                fill_uniforms(draw.contexts, draw.index, &mut uniforms);
                for (x, &u) in instance.contexts.chunks_exact_mut(dim).zip(&uniforms) {
                    let mut left = f64::from(u);
                    let drawn = self.weights.iter().position(|weight| {
                        left -= weight;
                        left < 0.0
                    });
                    x[drawn.unwrap_or(dim - 1)] = 1.0;
                }
            }
        }
        draw.linear_means(&theta, dim, instance);
        draw.gaussian_rewards(self.noise_sd, instance);
    }
}
