//! The `[train]` part of a spec, which is also what the flags of `train` say.

use super::defaults;
use crate::baseline::{Baseline, DEFAULT_RUNS, Returns};
use crate::dqn;
use crate::gradient::Estimator;
use crate::lstm::train::Recipe;
use crate::optimizer::Rule;
use crate::problem::Problem;
use crate::registry::{PolicyInfo, Trainer};
use crate::train::{Average, Settings, Source};
use crate::{Error, Result, error::within};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

/// How to train, as far as it was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    /// `sampled` or `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient: Option<String>,
    /// A name in [`crate::baseline::BASELINES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// M of leave-one-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_per_instance: Option<usize>,
    /// `realized` or `mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// A name in [`crate::optimizer::OPTIMIZERS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<String>,
    /// alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<LearningRate>,
    /// L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<usize>,
    /// `tail` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<String>,
    /// Instances of the evaluation that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_instances: Option<usize>,
    /// Longest gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// Factor of the rate after each iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<f64>,
    /// Neural policies: `default` or `paper`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Neural policies: horizons that are trained one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<Vec<usize>>,
    /// Neural policies: does the policy start out softer than it will play?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<bool>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

/// A training with nothing left open.
#[derive(Clone, Debug)]
pub struct Training {
    /// The same in words, with every default filled in.
    pub spec: TrainSpec,
    /// For [`crate::train::train`].
    pub settings: Settings,
    /// Instances of the evaluation that follows.
    pub eval_instances: usize,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// The stages of a recurrent policy's training.
    pub recipe: Option<Recipe>,
    /// How a Q-network is trained.
    pub q_learning: Option<dqn::Settings>,
}

pub(super) const RETURNS: [(&str, Returns); 2] = [("realized", Returns::Realized), ("mean", Returns::Mean)];
const SOURCES: [(&str, Source); 2] = [("sampled", Source::Sampled), ("exact", Source::Exact)];
const AVERAGES: [(&str, Average); 2] = [("tail", Average::Tail), ("none", Average::None)];

pub(super) fn one_of<T: Copy>(place: &str, name: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    found.ok_or_else(|| Error::unknown(place, name, known.iter().map(|&(name, _)| name)))
}

impl TrainSpec {
    /// What is said here, then what is said in `other`.
    pub fn over(self, other: &Self) -> Self {
        let mut other = other.clone();
        if self.gradient.as_deref() == Some("exact") && other.gradient.as_deref() != Some("exact") {
            // What was said about sampled gradients was not meant for exact ones.
            let Self {
                gradient,
                optimizer,
                learning_rate,
                iterations,
                average,
                eval_instances,
                time_limit,
                ..
            } = other;
            other = Self {
                gradient,
                optimizer,
                learning_rate,
                iterations,
                average,
                eval_instances,
                time_limit,
                ..Self::default()
            };
        }
        // Another baseline than leave-one-out has no use for a number of runs that was meant for it.
        let takes_runs = |name: &str| Baseline::new(name, Some(DEFAULT_RUNS)).is_ok();
        let keeps_runs = self.baseline.as_deref().is_none_or(takes_runs);
        let runs = self.runs_per_instance.or(other.runs_per_instance.filter(|_| keeps_runs));
        Self {
            gradient: self.gradient.or(other.gradient),
            baseline: self.baseline.or(other.baseline),
            runs_per_instance: runs,
            returns: self.returns.or(other.returns),
            optimizer: self.optimizer.or(other.optimizer),
            learning_rate: self.learning_rate.or(other.learning_rate),
            iterations: self.iterations.or(other.iterations),
            batch_size: self.batch_size.or(other.batch_size),
            average: self.average.or(other.average),
            eval_instances: self.eval_instances.or(other.eval_instances),
            clip: self.clip.or(other.clip),
            decay: self.decay.or(other.decay),
            recipe: self.recipe.or(other.recipe),
            curriculum: self.curriculum.or(other.curriculum),
            temperature: self.temperature.or(other.temperature),
            time_limit: self.time_limit.or(other.time_limit),
        }
    }

    /// Is that key of `[train]` given?
    pub fn has(&self, key: &str) -> bool {
        toml::Table::try_from(self).is_ok_and(|table| table.contains_key(key))
    }

    /// Fills in the defaults, which depend on the kind of problem. Errors name the flags, without their dashes.
    pub fn resolve(&self, problem: &Problem) -> Result<Training> {
        let name = |given: &Option<String>, default: &str| given.clone().unwrap_or_else(|| default.into());
        let gradient_name = name(&self.gradient, defaults::GRADIENT);
        let gradient = one_of("gradient", &gradient_name, &SOURCES)?;
        let exact = gradient == Source::Exact;
        if exact {
            self.refuse_sampling()?;
        }
        let baseline_name = name(&self.baseline, defaults::BASELINE);
        let baseline = Baseline::new(&baseline_name, self.runs_per_instance)?;
        let (returns, optimizer) =
            (name(&self.returns, defaults::RETURNS), name(&self.optimizer, defaults::optimizer(problem)));
        // Exact iterates do not jitter: the last is the best.
        let average = name(&self.average, if exact { "none" } else { defaults::AVERAGE });
        let rate = self.learning_rate.unwrap_or(LearningRate::Auto);
        let affordable = (defaults::runs_per_iteration(problem) / baseline.runs()).max(1);
        let settings = Settings {
            gradient,
            estimator: Estimator {
                baseline,
                returns: one_of("returns", &returns, &RETURNS)?,
                batch_size: self.batch_size.unwrap_or(affordable),
            },
            iterations: self.iterations.unwrap_or(defaults::ITERATIONS),
            rule: Rule::new(&optimizer)?,
            learning_rate: rate.fixed(),
            clip: self.clip,
            decay: self.decay.unwrap_or(defaults::DECAY),
            average: one_of("average", &average, &AVERAGES)?,
        };
        settings.check()?;
        let eval_instances = self.eval_instances.unwrap_or(defaults::INSTANCES);
        defaults::check_instances("eval-instances", eval_instances)?;
        if let Some(seconds) = self.time_limit {
            within("time-limit", seconds, f64::MIN_POSITIVE, 1e9)?;
        }
        let sampled = |name: String| (!exact).then_some(name);
        let spec = Self {
            gradient: Some(gradient_name),
            runs_per_instance: matches!(baseline, Baseline::LeaveOneOut(_) if !exact)
                .then(|| baseline.runs()),
            baseline: sampled(baseline_name),
            returns: sampled(returns),
            optimizer: Some(optimizer),
            learning_rate: Some(rate),
            iterations: Some(settings.iterations),
            batch_size: (!exact).then_some(settings.estimator.batch_size),
            average: Some(average),
            eval_instances: Some(eval_instances),
            clip: self.clip,
            decay: self.decay.or((!exact).then_some(settings.decay)),
            time_limit: self.time_limit,
            ..Self::default()
        };
        Ok(Training {
            spec,
            settings,
            eval_instances,
            time_limit: self.time_limit,
            recipe: None,
            q_learning: None,
        })
    }

    /// Fills in the defaults for a policy: neural ones are trained in stages.
    pub fn resolve_for(&self, problem: &Problem, info: &PolicyInfo) -> Result<Training> {
        match info.trainer {
            Trainer::Score => {}
            Trainer::Lstm => return self.resolve_stages(problem),
            Trainer::QLearning => return self.resolve_q_learning(problem),
        }
        for (place, given) in [
            ("recipe", self.recipe.is_some()),
            ("curriculum", self.curriculum.is_some()),
            ("temperature", self.temperature.is_some()),
        ] {
            if given {
                return Err(Error::new(place, format!("is for neural policies, not for {}", info.name)));
            }
        }
        self.resolve(problem)
    }
}

impl TrainSpec {
    /// An exact gradient is not an average over runs, and an automatic rate needs neither clipping nor decay.
    fn refuse_sampling(&self) -> Result<()> {
        let automatic = self.learning_rate.is_none_or(|rate| rate == LearningRate::Auto);
        let automatic = automatic && self.optimizer.as_deref().is_none_or(|name| name == "sgd");
        for (place, given) in [
            ("baseline", self.baseline.is_some()),
            ("runs-per-instance", self.runs_per_instance.is_some()),
            ("returns", self.returns.is_some()),
            ("batch-size", self.batch_size.is_some()),
            ("clip", self.clip.is_some() && automatic),
            ("decay", self.decay.is_some() && automatic),
        ] {
            if given {
                return Err(Error::new(place, "has no meaning with gradient exact; leave it out"));
            }
        }
        Ok(())
    }
}

/// `auto`, or a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearningRate {
    /// Chosen by the optimizer.
    Auto,
    /// Given.
    Fixed(f64),
}

impl LearningRate {
    pub(super) fn fixed(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Fixed(x) => Some(x),
        }
    }
}

impl FromStr for LearningRate {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            other => other.parse().map(Self::Fixed).map_err(|_| "expected auto or a number".into()),
        }
    }
}

impl Serialize for LearningRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(x) => serializer.serialize_f64(*x),
        }
    }
}

impl<'de> Deserialize<'de> for LearningRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = LearningRate;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("\"auto\" or a number")
            }
            fn visit_f64<E>(self, x: f64) -> std::result::Result<LearningRate, E> {
                Ok(LearningRate::Fixed(x))
            }
            fn visit_i64<E>(self, x: i64) -> std::result::Result<LearningRate, E> {
                Ok(LearningRate::Fixed(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> std::result::Result<LearningRate, E> {
                Ok(LearningRate::Fixed(x as f64))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<LearningRate, E> {
                match text {
                    "auto" => Ok(LearningRate::Auto),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}
