//! From named values to problems and back: every kind of problem and prior, with the keys that go with it.

use super::builder::ContextKind;
use super::keys::{Keys, Value};
use super::{Discrete, Examples, Linear, MAX_ARMS, Model, Points, Prior, Problem, Rewards, Table, World};
use crate::error::{Error, ErrorKind, Result, count};

/// The content of the file that a problem names.
#[derive(Clone, Debug)]
pub enum Data {
    /// Past instances.
    Table(Table),
    /// Labelled examples.
    Examples(Examples),
}

const CONTEXT_KINDS: &[ContextKind] = &[Linear::KIND, Discrete::KIND];

/// The kind whose examples come from a file.
const CLASSIFICATION: (&str, [&str; 5]) = ("classification", ["data", "label", "scale", "holdout", "split"]);
/// The prior whose instances come from a file.
const TABLE: (&str, [&str; 5]) = ("table", ["path", "columns", "arms", "fit", "holdout"]);

impl Problem {
    /// All kinds of problems that keys can describe, with the keys of each (`kind` and the keys of the [`World`] go with all
    /// of them).
    pub fn kinds() -> Vec<(&'static str, Vec<&'static str>)> {
        let armed = Rewards::NAMES.iter().map(|&name| {
            let keys = std::iter::once("prior").chain(Rewards::keys(name));
            (name, keys.collect())
        });
        let contexts = CONTEXT_KINDS.iter().map(|kind| (kind.name, kind.keys.to_vec()));
        armed.chain(contexts).chain([(CLASSIFICATION.0, CLASSIFICATION.1.to_vec())]).collect()
    }

    /// The kind that the keys name, which there must be; refuses keys that do not go with it.
    pub fn check_kind(keys: &Keys) -> Result<&str> {
        let [horizon, delay, batch, floor] = World::KEYS;
        keys.check_kind(&Self::kinds(), &["kind", horizon, delay, batch, floor])
    }

    /// The problem that the keys describe. If they name a file, `data` is its content.
    pub fn from_keys(name: &str, keys: &Keys, data: Option<Data>) -> Result<Self> {
        let kind = Self::check_kind(keys)?;
        let builder = match (CONTEXT_KINDS.iter().find(|known| known.name == kind), data) {
            (Some(known), _) => (known.build)(keys)?,
            (None, Some(Data::Examples(examples))) if kind == CLASSIFICATION.0 => {
                Self::classification(examples)
            }
            (None, _) if kind == CLASSIFICATION.0 => return Err(unread("data")),
            (None, data) => {
                let prior = match keys.needed(kind, "prior")? {
                    Value::Table(prior) => {
                        Prior::from_keys(prior, data).map_err(|error| error.within("prior"))?
                    }
                    other => {
                        let message =
                            format!("found {}, expected a table such as [problem.prior]", other.kind());
                        return Err(Error::new("prior", message));
                    }
                };
                Self::arms_with(rewards(kind, keys, &prior)?, prior)
            }
        };
        let (world, horizon) = World::from_keys(keys)?;
        let builder = builder.name(name).world(world);
        match horizon {
            Some(horizon) => builder.horizon(horizon).build(),
            None => builder.build(),
        }
    }

    /// The same problem where these keys of its world (horizon, delay, batch, floor) are others.
    ///
    /// ```
    /// use gradband::Problem;
    /// use gradband::problem::Keys;
    /// let changes = Keys::default().with("horizon", 50_usize).with("delay", 5_usize);
    /// let problem = Problem::named("bernoulli-2")?.with_keys(&changes)?;
    /// assert_eq!(problem.to_string(), "bernoulli-2 (2 arms, horizon 50, delay 5)");
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn with_keys(&self, changes: &Keys) -> Result<Self> {
        if let Some(key) = changes.names().find(|key| !World::KEYS.contains(key)) {
            return Err(Error::unknown(key, key, World::KEYS));
        }
        let mut keys = self.world.keys();
        for name in changes.names() {
            changes.get(name).into_iter().for_each(|value| keys.set(name, value.clone()));
        }
        let (world, horizon) = World::from_keys(&keys)?;
        self.with_world(World { horizon: horizon.unwrap_or(self.world.horizon), ..world })
    }

    /// The keys that describe the problem; for a table or labelled examples, all but the file.
    pub fn to_keys(&self) -> Keys {
        let mut keys = Keys::kind(self.kind());
        self.world.to_keys(&mut keys);
        match &self.model {
            Model::Armed(armed) => {
                for (key, value) in armed.rewards.values() {
                    keys.set(key, value);
                }
                keys.set("prior", armed.prior.to_keys());
            }
            Model::Contextual(contextual) => contextual.model().describe(self.arms, &mut keys),
        }
        keys
    }
}

/// The rewards that the keys describe. The noise may be left to a table that tells it.
fn rewards(kind: &str, keys: &Keys, prior: &Prior) -> Result<Rewards> {
    let told = match prior {
        Prior::Table(table) => table.noise_sd(),
        _ => None,
    };
    match told {
        Some(noise_sd) if kind == "gaussian" && keys.get("noise_sd").is_none() => {
            Rewards::from_keys(kind, &keys.clone().with("noise_sd", noise_sd))
        }
        _ => Rewards::from_keys(kind, keys),
    }
}

fn unread(key: &str) -> Error {
    Error::of(key, ErrorKind::Missing("it names a file, which was not read".into()))
}

impl Prior {
    /// All kinds of priors that keys can describe, with the keys of each.
    pub fn kinds() -> Vec<(&'static str, Vec<&'static str>)> {
        vec![
            ("points", vec!["instances", "weights"]),
            ("beta", vec!["alpha", "beta", "arms"]),
            ("normal", vec!["mean", "sd", "arms"]),
            (TABLE.0, TABLE.1.to_vec()),
        ]
    }

    /// The kind that the keys name, which there must be; refuses keys that do not go with it.
    pub fn check_kind(keys: &Keys) -> Result<&str> {
        keys.check_kind(&Self::kinds(), &["kind"])
    }

    fn from_keys(keys: &Keys, data: Option<Data>) -> Result<Self> {
        match (Self::check_kind(keys)?, data) {
            ("points", _) => {
                let instances = match keys.needed("points", "instances")? {
                    Value::List(rows) => rows,
                    other => {
                        return Err(Error::new(
                            "instances",
                            format!("found {}, expected a list of lists", other.kind()),
                        ));
                    }
                };
                let row = |(i, row): (usize, &Value)| match row {
                    Value::List(items) => row.list(format!("instances[{i}]"), items.len()),
                    other => Err(Error::new(
                        format!("instances[{i}]"),
                        format!("found {}, expected a list of means", other.kind()),
                    )),
                };
                let instances = instances.iter().enumerate().map(row).collect::<Result<Vec<_>>>()?;
                Points::new(instances, keys.optional_numbers("weights")?).map(Prior::Points)
            }
            ("beta", _) => {
                pair(keys, "beta", "alpha", "beta").and_then(|(alpha, beta)| Self::betas(alpha, beta))
            }
            ("normal", _) => {
                pair(keys, "normal", "mean", "sd").and_then(|(mean, sd)| Self::normals(mean, sd))
            }
            (_, Some(Data::Table(table))) => Ok(Self::table(table)),
            _ => Err(unread("path")),
        }
    }

    fn to_keys(&self) -> Keys {
        match self {
            Self::Points(points) => {
                let (instances, weights): (Vec<Value>, Vec<f64>) =
                    points.iter().map(|(instance, weight)| (Value::from(instance), weight)).unzip();
                Keys::kind("points").with("instances", instances).with("weights", weights)
            }
            Self::Beta { alpha, beta } => {
                Keys::kind("beta").with("alpha", &alpha[..]).with("beta", &beta[..])
            }
            Self::Normal { mean, sd } => Keys::kind("normal").with("mean", &mean[..]).with("sd", &sd[..]),
            Self::Table(table) => {
                let keys = Keys::kind(TABLE.0).with("fit", table.fitted().fit().name());
                if table.is_exchangeable() { keys.with("arms", table.arms()) } else { keys }
            }
            Self::Own(_) => Keys::kind("own"),
        }
    }
}

/// Both parameters of a prior with independent arms, with one entry per arm.
fn pair(keys: &Keys, kind: &str, first: &str, second: &str) -> Result<(Vec<f64>, Vec<f64>)> {
    let (a, b) = (keys.needed(kind, first)?, keys.needed(kind, second)?);
    for (key, value) in [(first, a), (second, b)] {
        if value.as_number().is_none() && value.len().is_none() {
            return Err(value.wrong(key, "a number, or a list with one for each arm"));
        }
    }
    let arms = match (keys.optional_count("arms")?, a.len(), b.len()) {
        (Some(arms), ..) | (None, Some(arms), _) | (None, None, Some(arms)) => arms,
        (None, None, None) => {
            let why = format!("{first} and {second} are numbers, so it must say how many");
            return Err(Error::of("arms", ErrorKind::Missing(why)));
        }
    };
    count("arms", arms, 2, MAX_ARMS)?;
    let spread = |key: &str, value: &Value| match value.len() {
        Some(found) if found != arms => {
            Err(Error::new(key, format!("found {found} entries, expected {arms}: one per arm")))
        }
        _ => value.vector(key, arms),
    };
    Ok((spread(first, a)?, spread(second, b)?))
}
