//! `gradband list`: what there is, straight from the catalogues.

use gradband::Result;
use gradband::learn::{BASELINES, Baseline, OPTIMIZERS};
use gradband::policy::{self, End, Initial, POLICIES, Plays, PolicyKind, Range};
use gradband::problem::{BuiltIn, Contextual, PROBLEMS};
use gradband_files::{DATASET_HORIZON, DATASETS, Dataset};
use gradband_lab::EXPERIMENTS;
use serde::Serialize;

/// A number, or the formula for it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// As it is.
    Number(f64),
    /// In terms of the problem.
    Formula(String),
}

/// A parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Param {
    /// What it is called.
    pub name: &'static str,
    /// Where training starts.
    pub default: Value,
    /// What evaluation accepts.
    pub domain: [Value; 2],
    /// Where training keeps it.
    pub feasible: [Value; 2],
    /// Its values, for people.
    #[serde(skip)]
    pub values: String,
}

/// A setting.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// What it is called.
    pub name: &'static str,
    /// Unless it is said.
    pub default: String,
    /// What it can be.
    pub values: Vec<String>,
    /// What it does.
    pub summary: &'static str,
}

/// Something with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its settings.
    pub settings: Vec<Setting>,
    /// Of a policy: on which problems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plays: Option<&'static str>,
    /// Of a problem.
    #[serde(flatten)]
    pub size: Option<Size>,
}

/// Of a problem.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// Its kind of rewards or contexts.
    pub kind: &'static str,
    /// Arms.
    pub arms: usize,
    /// Rounds.
    pub horizon: usize,
    /// Features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_dim: Option<usize>,
}

/// All lists.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// Built-in problems and data sets.
    pub problems: Vec<Item>,
    /// Policies.
    pub policies: Vec<Item>,
    /// Baselines.
    pub baselines: Vec<Item>,
    /// Optimizers.
    pub optimizers: Vec<Item>,
    /// Experiments.
    pub experiments: Vec<Item>,
    /// Data sets.
    pub data: Vec<Item>,
}

/// Everything there is.
pub fn run() -> Result<Document> {
    Ok(Document {
        problems: problems()?,
        policies: policies(),
        baselines: baselines(),
        optimizers: OPTIMIZERS.iter().map(|&(name, summary)| plain(name, summary)).collect(),
        experiments: EXPERIMENTS.iter().map(|experiment| plain(experiment.id, experiment.title)).collect(),
        data: DATASETS.iter().map(|set| plain(set.name, set.summary)).collect(),
    })
}

fn plain(name: &'static str, summary: &'static str) -> Item {
    Item { name, summary, params: Vec::new(), settings: Vec::new(), plays: None, size: None }
}

/// Those of the library, then the data sets.
fn problems() -> Result<Vec<Item>> {
    let built_in = |info: &'static BuiltIn| {
        let problem = info.build()?;
        let size = Size {
            kind: problem.kind(),
            arms: problem.arms(),
            horizon: problem.horizon(),
            context_dim: problem.contextual().map(Contextual::dim),
        };
        Ok(Item { size: Some(size), ..plain(info.name, info.summary) })
    };
    let of_data = |set: &'static Dataset| {
        let (horizon, context_dim) = (DATASET_HORIZON, Some(set.features));
        let size = Size { kind: "classification", arms: set.classes, horizon, context_dim };
        Ok(Item { size: Some(size), ..plain(set.name, set.summary) })
    };
    PROBLEMS.iter().map(built_in).chain(DATASETS.iter().map(of_data)).collect()
}

fn policies() -> Vec<Item> {
    let item = |kind: &'static PolicyKind| Item {
        params: kind.params().iter().map(param).collect(),
        settings: kind.settings().iter().map(setting).collect(),
        plays: Some(match kind.plays() {
            Plays::Arms => "arms",
            Plays::Contexts => "contexts",
            Plays::Both => "both",
        }),
        ..plain(kind.name(), kind.summary())
    };
    POLICIES.iter().map(item).collect()
}

fn baselines() -> Vec<Item> {
    let (default, most) = (Baseline::DEFAULT_RUNS, Baseline::MAX_RUNS);
    let runs = || Param {
        name: "runs-per-instance",
        default: Value::Number(default as f64),
        domain: [Value::Number(2.0), Value::Number(most as f64)],
        feasible: [Value::Number(2.0), Value::Number(most as f64)],
        values: format!("{default} in [2, {most}]"),
    };
    let takes_runs = |name| Baseline::new(name, Some(default)).is_ok();
    let item = |&(name, summary)| {
        let params = if takes_runs(name) { vec![runs()] } else { Vec::new() };
        Item { params, ..plain(name, summary) }
    };
    BASELINES.iter().map(item).collect()
}

fn param(param: &policy::Param) -> Param {
    let policy::Param { name, initial, domain, feasible, .. } = *param;
    let (all, trained) = (domain.to_string(), feasible.to_string());
    let trained = if trained == all { String::new() } else { format!(", trained in {trained}") };
    Param {
        name,
        default: match initial {
            Initial::Fixed(x) => Value::Number(x),
            other => Value::Formula(other.to_string()),
        },
        domain: ends(domain),
        feasible: ends(feasible),
        values: format!("{initial} in {all}{trained}"),
    }
}

fn setting(setting: &policy::Setting) -> Setting {
    Setting {
        name: setting.name,
        default: setting.default().to_string(),
        values: setting.values().split(" | ").map(String::from).collect(),
        summary: setting.summary,
    }
}

fn ends(range: Range) -> [Value; 2] {
    [range.low, range.high].map(|end| match end {
        End::Fixed(x) => Value::Number(x),
        other => Value::Formula(other.to_string()),
    })
}
