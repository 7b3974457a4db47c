//! Contextual problems in a spec: what `[problem]` says with kind linear, classification or discrete-context.

use super::problem::{Nested, ProblemSpec, needed};
use super::train::one_of;
use super::{DataFile, defaults};
use crate::problem::{
    Contexts, Covariance, DATASETS, Discrete, Examples, Linear, MAX_ARMS, MAX_DIM, Normal, Order, Points,
    Problem, Scale,
};
use crate::{Error, Result, error::within};

const ORDERS: [(&str, Order); 2] = [("random", Order::Random), ("cyclic", Order::Cyclic)];

impl ProblemSpec {
    /// The linear-Gaussian problem that is described.
    pub(super) fn linear(&self, name: &str) -> Result<Problem> {
        let arms = count("arms", *needed(&self.kind, "arms", &self.arms)?, 2, MAX_ARMS)?;
        let theta_cov = needed(&self.kind, "theta_cov", &self.theta_cov)?;
        let lengths = [&self.context_mean, &self.context_cov, &self.theta_cov]
            .map(|value| value.as_ref().and_then(Nested::length));
        let dim = self.context_dim.or_else(|| lengths.into_iter().flatten().next());
        let dim = dim.ok_or_else(|| {
            Error::new("context_dim", "is missing: only numbers are given, so it must say how many features")
        })?;
        count("context_dim", dim, 1, MAX_DIM)?;
        let normal = |what: &str, mean: Vec<f64>, cov: Covariance| {
            Normal::new(mean, cov)
                .map_err(|error| Error::new(format!("{what}_{}", error.place), error.message))
        };
        let or = |value: &Option<Nested>, default: f64| value.clone().unwrap_or(Nested::Number(default));
        let context = normal(
            "context",
            or(&self.context_mean, 0.0).vector("context_mean", dim)?,
            or(&self.context_cov, 1.0).covariance("context_cov", dim)?,
        )?;
        let theta_mean = or(&self.theta_mean, 0.0);
        let means = if theta_mean.depth() == 2 {
            theta_mean.matrix("theta_mean", arms, dim)?
        } else {
            vec![theta_mean.vector("theta_mean", dim)?]
        };
        let theta = means
            .into_iter()
            .map(|mean| normal("theta", mean, theta_cov.covariance("theta_cov", dim)?))
            .collect::<Result<_>>()?;
        let &noise_sd = needed(&self.kind, "noise_sd", &self.noise_sd)?;
        Problem::with_contexts(
            name,
            Contexts::Linear(Linear::new(context, theta, noise_sd)?),
            arms,
            self.horizon,
        )
    }

    /// The table of examples and how to read it.
    pub(super) fn classification(&self, name: &str, file: DataFile) -> Result<(Problem, Vec<String>)> {
        let scale = Scale::named(self.scale.as_deref().unwrap_or("minmax"))?;
        let holdout = self.holdout.unwrap_or(defaults::EXAMPLES_HOLDOUT);
        within("holdout", holdout, 0.0, 0.9)?;
        let label = match &self.label {
            None => None,
            Some(toml::Value::String(label)) => Some(label.clone()),
            Some(toml::Value::Integer(column)) => Some(column.to_string()),
            Some(other) => {
                let message =
                    format!("found a {}, expected the name or number of a column", other.type_str());
                return Err(Error::new("label", message));
            }
        };
        let (examples, notes) = Examples::read(file.reader, &file.name, label.as_deref(), scale, holdout)?;
        Ok((Problem::of_examples(name, examples, self.horizon)?, notes))
    }

    /// The problem with finitely many contexts that is described.
    pub(super) fn discrete(&self, name: &str) -> Result<Problem> {
        let means = needed(&self.kind, "means", &self.means)?;
        let single = means.depth() == 2;
        let tables = match means {
            Nested::List(tables) if !single => tables.clone(),
            table => vec![table.clone()],
        };
        let place = |i: usize| if single { "means".to_string() } else { format!("means[{i}]") };
        let size = |i: usize| -> Result<(usize, usize)> {
            match &tables[i] {
                Nested::List(rows) if !rows.is_empty() => match rows[0].length() {
                    Some(contexts) if contexts > 0 => Ok((rows.len(), contexts)),
                    _ => Err(Error::new(
                        place(i),
                        "expected a list with a mean for each context, for each arm",
                    )),
                },
                _ => Err(Error::new(
                    place(i),
                    "expected a table: for each arm a list with a mean for each context",
                )),
            }
        };
        if tables.is_empty() {
            return Err(Error::new(
                "means",
                "is empty; give for each arm a list with a mean for each context",
            ));
        }
        let (arms, contexts) = size(0)?;
        count("means", arms, 2, MAX_ARMS)?;
        count("means[0]", contexts, 1, MAX_DIM)?;
        let flat = tables
            .iter()
            .enumerate()
            .map(|(i, table)| Ok(table.matrix(&place(i), arms, contexts)?.concat()))
            .collect::<Result<Vec<_>>>()?;
        let tables = Points::new(flat, self.weights.clone())?;
        let order = one_of("context_order", self.context_order.as_deref().unwrap_or("random"), &ORDERS)?;
        let &noise_sd = needed(&self.kind, "noise_sd", &self.noise_sd)?;
        let mean_sd = self.mean_sd.unwrap_or(0.0);
        let discrete =
            Discrete::new(tables, contexts, mean_sd, noise_sd, self.context_weights.clone(), order)?;
        Problem::with_contexts(name, Contexts::Discrete(discrete), arms, self.horizon)
    }

    /// What a spec would say of a contextual problem that did not come from a file.
    pub(super) fn of_contextual(&mut self, problem: &Problem, source: &Contexts) {
        match source {
            Contexts::Linear(linear) => {
                let cov = |normal: &Normal| match normal.covariance() {
                    Covariance::Diagonal(variances) => Nested::list(variances),
                    Covariance::Full(matrix) => Nested::rows(matrix, normal.dim()),
                };
                self.arms = Some(problem.arms);
                self.context_dim = Some(linear.context.dim());
                self.context_mean = Some(Nested::list(linear.context.mean()));
                self.context_cov = Some(cov(&linear.context));
                self.theta_mean = Some(match &linear.theta[..] {
                    [theta] => Nested::list(theta.mean()),
                    many => Nested::List(many.iter().map(|theta| Nested::list(theta.mean())).collect()),
                });
                self.theta_cov = Some(cov(&linear.theta[0]));
                self.noise_sd = Some(linear.noise_sd);
            }
            Contexts::Classification(_) => {
                self.data = Some(problem.name.clone());
                let set = DATASETS.iter().find(|set| set.name == problem.name);
                self.scale = set.map(|set| set.scale.name().into());
            }
            Contexts::Discrete(discrete) => {
                let (tables, weights): (Vec<_>, Vec<_>) = discrete
                    .tables
                    .iter()
                    .map(|(table, weight)| (Nested::rows(table, discrete.contexts()), weight))
                    .unzip();
                self.means = Some(Nested::List(tables));
                self.weights = Some(weights);
                self.mean_sd = Some(discrete.mean_sd);
                self.noise_sd = Some(discrete.noise_sd);
                let random = discrete.order == Order::Random;
                self.context_weights = random.then(|| discrete.weights.clone());
                self.context_order = Some(if random { "random" } else { "cyclic" }.into());
            }
        }
    }
}

fn count(place: &str, found: usize, least: usize, most: usize) -> Result<usize> {
    if (least..=most).contains(&found) {
        return Ok(found);
    }
    Err(Error::new(place, format!("found {found}, expected {least} to {most}")))
}

impl Nested {
    /// All its numbers, row by row.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            &Self::Number(x) => vec![x],
            Self::List(items) => items.iter().flat_map(Self::numbers).collect(),
        }
    }

    fn list(values: &[f64]) -> Self {
        Self::List(values.iter().map(|&x| Self::Number(x)).collect())
    }

    fn rows(values: &[f64], width: usize) -> Self {
        Self::List(values.chunks(width).map(Self::list).collect())
    }

    fn length(&self) -> Option<usize> {
        match self {
            Self::Number(_) => None,
            Self::List(items) => Some(items.len()),
        }
    }

    /// 0 for a number, 1 for a list of numbers, 2 for a matrix.
    fn depth(&self) -> usize {
        match self {
            Self::Number(_) => 0,
            Self::List(items) => 1 + items.first().map_or(0, Self::depth),
        }
    }

    /// A number for all entries, or a list of them.
    fn vector(&self, place: &str, dim: usize) -> Result<Vec<f64>> {
        match self {
            &Self::Number(x) => Ok(vec![x; dim]),
            Self::List(items) => numbers(place, items, dim),
        }
    }

    /// A number for all variances, a list of them, or a matrix.
    fn covariance(&self, place: &str, dim: usize) -> Result<Covariance> {
        match self.depth() {
            0 | 1 => self.vector(place, dim).map(Covariance::Diagonal),
            _ => Ok(Covariance::Full(self.matrix(place, dim, dim)?.concat())),
        }
    }

    fn matrix(&self, place: &str, rows: usize, columns: usize) -> Result<Vec<Vec<f64>>> {
        match self {
            Self::List(items) if items.len() == rows => {
                let row = |(i, row): (usize, &Self)| {
                    let place = format!("{place}[{i}]");
                    match row {
                        Self::List(items) => numbers(&place, items, columns),
                        Self::Number(_) => {
                            Err(Error::new(place, format!("expected a list of {columns} numbers")))
                        }
                    }
                };
                items.iter().enumerate().map(row).collect()
            }
            other => {
                let found = other.length().map_or("a number".into(), |length| format!("{length} rows"));
                Err(Error::new(place, format!("found {found}, expected {rows} lists of {columns} numbers")))
            }
        }
    }
}

fn numbers(place: &str, items: &[Nested], expected: usize) -> Result<Vec<f64>> {
    if items.len() != expected {
        return Err(Error::new(place, format!("found {} entries, expected {expected}", items.len())));
    }
    let number = |(i, item): (usize, &Nested)| match item {
        &Nested::Number(x) => Ok(x),
        Nested::List(_) => Err(Error::new(format!("{place}[{i}]"), "found a list, expected a number")),
    };
    items.iter().enumerate().map(number).collect()
}
