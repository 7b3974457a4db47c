//! The `[train]` part of a spec, which is also what the flags of `train` say.

use super::{INSTANCES, read};
use gradband::learn::{
    Average, Baseline, GradientSource, LearningRate, Optimizer, Options, Plan, RECIPES, RecipeName, Returns,
    Start,
};
use gradband::measure::check_instances;
use gradband::policy::Choice;
use gradband::{Error, ErrorKind, Problem, Result};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How to train, as far as it was said: names as they are typed, which [`Self::resolve`] checks.
///
/// ```
/// use gradband::policy::Choice;
/// use gradband_files::TrainSpec;
/// let problem = gradband_files::named("bernoulli-2")?;
/// let softelim = Choice::parse("softelim", &problem)?;
/// let said = TrainSpec { baseline: Some("self".into()), iterations: Some(50), ..TrainSpec::default() };
/// let training = said.resolve(&problem, &softelim)?;
/// assert_eq!(training.spec.batch_size, Some(1000));
/// assert_eq!(training.plan.iterations(), 50);
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    /// Where gradients come from: `sampled` or `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient: Option<String>,
    /// Where training starts: `history` or `identity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// What returns are compared with: `none`, `opt`, `self` or `loo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// How often an instance is played for `loo` (the paper's M).
    #[serde(default, deserialize_with = "read::count", skip_serializing_if = "Option::is_none")]
    pub runs_per_instance: Option<usize>,
    /// What returns are made of: `realized` or `mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// How to climb: `sgd`, `adam` or `yogi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<String>,
    /// The size of a step (the paper's alpha): `auto`, or a number.
    #[serde(skip_serializing_if = "Option::is_none", default, with = "rate")]
    pub learning_rate: Option<LearningRate>,
    /// The number of steps (the paper's L).
    #[serde(default, deserialize_with = "read::count", skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// The number of instances per gradient (the paper's m).
    #[serde(default, deserialize_with = "read::count", skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<usize>,
    /// What is handed out: `tail`, the mean of the last half of the iterates, or `none`, the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<String>,
    /// The number of instances of the evaluation that follows.
    #[serde(default, deserialize_with = "read::count", skip_serializing_if = "Option::is_none")]
    pub eval_instances: Option<usize>,
    /// The length to which longer gradients are cut.
    #[serde(default, deserialize_with = "read::number", skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// What the rate is multiplied by after each iteration.
    #[serde(default, deserialize_with = "read::number", skip_serializing_if = "Option::is_none")]
    pub decay: Option<f64>,
    /// Networks: how they are trained, `default` or `paper`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Networks: the horizons that are trained one after the other.
    #[serde(default, deserialize_with = "read::counts", skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<Vec<usize>>,
    /// Networks: whether the policy starts out softer than it will play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<bool>,
    /// The time after which training ends, in seconds.
    #[serde(default, deserialize_with = "read::number", skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

/// A training with nothing left open.
#[derive(Clone, Debug)]
pub struct Training {
    /// What was said, with every default filled in.
    pub spec: TrainSpec,
    /// What will be done, ready to run.
    pub plan: Plan,
    /// The number of instances of the evaluation that follows.
    pub eval_instances: usize,
    /// The time after which training ends, in seconds.
    pub time_limit: Option<f64>,
}

const RETURNS: [(&str, Returns); 2] = [("realized", Returns::Realized), ("mean", Returns::Mean)];
const SOURCES: [(&str, GradientSource); 2] =
    [("sampled", GradientSource::Sampled), ("exact", GradientSource::Exact)];
const STARTS: [(&str, Start); 2] = [("history", Start::History), ("identity", Start::Identity)];
const AVERAGES: [(&str, Average); 2] = [("tail", Average::Tail), ("none", Average::None)];

fn one_of<T: Copy>(place: &str, name: &Option<String>, known: &[(&str, T)]) -> Result<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    let found = known.iter().find(|(known, _)| known == name).map(|&(_, value)| value);
    found.map(Some).ok_or_else(|| Error::unknown(place, name, known.iter().map(|&(name, _)| name)))
}

fn name_of<T: PartialEq>(value: &T, known: &[(&str, T)]) -> Option<String> {
    known.iter().find(|(_, known)| known == value).map(|(name, _)| name.to_string())
}

impl TrainSpec {
    /// What is said here, then what is said in `other`.
    pub fn over(self, other: &Self) -> Self {
        let mut other = other.clone();
        if self.gradient.as_deref() == Some("exact") && other.gradient.as_deref() != Some("exact") {
            // What was said about sampled gradients was not meant for exact ones.
            let Self {
                gradient,
                start,
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
                start,
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
        let takes_runs = |name: &str| Baseline::new(name, Some(Baseline::DEFAULT_RUNS)).is_ok();
        let keeps_runs = self.baseline.as_deref().is_none_or(takes_runs);
        let runs = self.runs_per_instance.or(other.runs_per_instance.filter(|_| keeps_runs));
        Self {
            gradient: self.gradient.or(other.gradient),
            start: self.start.or(other.start),
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

    /// Whether a key of `[train]` is given.
    pub fn has(&self, key: &str) -> bool {
        serde_json::to_value(self).is_ok_and(|table| table.get(key).is_some())
    }

    /// What is said, as a [`Trainer`](gradband::Trainer) takes it. Errors name keys of this part.
    pub fn options(&self) -> Result<Options> {
        let recipe = one_of("recipe", &self.recipe, &RECIPES)?;
        let baseline = match (&self.baseline, self.runs_per_instance) {
            (None, None) => None,
            (Some(name), runs) => Some(Baseline::new(name, runs)?),
            // The baseline that takes a number of runs is the usual one, but not the paper's.
            (None, runs) => {
                let name = if recipe == Some(RecipeName::Paper) { "self" } else { "loo" };
                Some(Baseline::new(name, runs)?)
            }
        };
        Ok(Options {
            gradient: one_of("gradient", &self.gradient, &SOURCES)?,
            start: one_of("start", &self.start, &STARTS)?,
            baseline,
            returns: one_of("returns", &self.returns, &RETURNS)?,
            optimizer: self.optimizer.as_deref().map(Optimizer::new).transpose()?,
            learning_rate: self.learning_rate,
            iterations: self.iterations,
            batch_size: self.batch_size,
            average: one_of("average", &self.average, &AVERAGES)?,
            clip: self.clip,
            decay: self.decay,
            recipe,
            curriculum: self.curriculum.clone(),
            temperature: self.temperature,
        })
    }

    /// Fills in the defaults for a policy on a problem. Errors name keys of this part.
    pub fn resolve(&self, problem: &Problem, choice: &Choice) -> Result<Training> {
        let eval_instances = self.eval_instances.unwrap_or(INSTANCES);
        check_instances("eval_instances", eval_instances)?;
        if let Some(found) = self.time_limit.filter(|seconds| !(*seconds > 0.0 && *seconds <= 1e9)) {
            let kind = ErrorKind::Range { found, low: f64::MIN_POSITIVE, high: 1e9 };
            return Err(Error::of("time_limit", kind));
        }
        let plan = self.options()?.plan(problem, choice).map_err(|error| self.as_said(error))?;
        let spec = Self { eval_instances: Some(eval_instances), ..self.filled(&plan) };
        Ok(Training { spec, plan, eval_instances, time_limit: self.time_limit })
    }

    /// A number of runs alone is a baseline too, but it is not called that.
    fn as_said(&self, error: Error) -> Error {
        match *error.place() == "baseline".into() && self.baseline.is_none() {
            true => error.at("runs_per_instance"),
            false => error,
        }
    }

    /// What a spec would say of a plan, everything included.
    fn filled(&self, plan: &Plan) -> Self {
        match plan {
            Plan::QLearning(settings) => Self { iterations: Some(settings.updates), ..self.clone() },
            Plan::Recurrent(recipe) => Self {
                gradient: name_of(&GradientSource::Sampled, &SOURCES),
                baseline: Some(recipe.baseline.name().into()),
                runs_per_instance: runs(recipe.baseline),
                returns: name_of(&recipe.returns, &RETURNS),
                optimizer: Some(recipe.optimizer.name().into()),
                learning_rate: Some(self.learning_rate.unwrap_or(LearningRate::Auto)),
                batch_size: Some(recipe.instances),
                clip: recipe.clip,
                recipe: Some(self.recipe.clone().unwrap_or_else(|| "default".into())),
                curriculum: Some(recipe.stages.iter().map(|stage| stage.horizon).collect()),
                temperature: Some(recipe.temperature),
                ..self.clone()
            },
            Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) => {
                let (exact, estimator) = (ascent.is_exact(), &ascent.estimator);
                let sampled = |name: Option<String>| name.filter(|_| !exact);
                Self {
                    gradient: name_of(&ascent.gradient, &SOURCES),
                    start: name_of(&ascent.start, &STARTS),
                    baseline: sampled(Some(estimator.baseline.name().into())),
                    runs_per_instance: runs(estimator.baseline).filter(|_| !exact),
                    returns: sampled(name_of(&estimator.returns, &RETURNS)),
                    optimizer: Some(ascent.optimizer.name().into()),
                    learning_rate: Some(self.learning_rate.unwrap_or(LearningRate::Auto)),
                    iterations: Some(ascent.iterations),
                    batch_size: (!exact).then_some(estimator.batch_size),
                    average: name_of(&ascent.average, &AVERAGES),
                    clip: self.clip,
                    decay: self.decay.or((!exact).then_some(ascent.decay)),
                    time_limit: self.time_limit,
                    ..Self::default()
                }
            }
        }
    }
}

fn runs(baseline: Baseline) -> Option<usize> {
    matches!(baseline, Baseline::LeaveOneOut(_)).then(|| baseline.runs())
}

/// `auto`, or a number.
mod rate {
    use super::*;

    pub fn serialize<S: Serializer>(rate: &Option<LearningRate>, serializer: S) -> Result<S::Ok, S::Error> {
        match rate {
            None => serializer.serialize_none(),
            Some(LearningRate::Auto) => serializer.serialize_str("auto"),
            Some(LearningRate::Fixed(x)) => serializer.serialize_f64(*x),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LearningRate>, D::Error> {
        deserializer.deserialize_any(Either).map(Some)
    }

    struct Either;

    impl Visitor<'_> for Either {
        type Value = LearningRate;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("\"auto\" or a number")
        }
        fn visit_f64<E>(self, x: f64) -> Result<LearningRate, E> {
            Ok(LearningRate::Fixed(x))
        }
        fn visit_i64<E>(self, x: i64) -> Result<LearningRate, E> {
            Ok(LearningRate::Fixed(x as f64))
        }
        fn visit_u64<E>(self, x: u64) -> Result<LearningRate, E> {
            Ok(LearningRate::Fixed(x as f64))
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<LearningRate, E> {
            match text {
                "auto" => Ok(LearningRate::Auto),
                _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
            }
        }
    }

    type Result<T, E> = std::result::Result<T, E>;
}
