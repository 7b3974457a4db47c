//! `gradband list`: what there is, straight from the catalogues.

use crate::args::Listed;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband::learn::{BASELINES, Baseline, OPTIMIZERS};
use gradband::policy::{self, High, Initial, POLICIES, Plays, PolicyKind, Range};
use gradband::problem::{BuiltIn, Contextual, PROBLEMS};
use gradband_files::{DATASET_HORIZON, DATASETS, Dataset};
use gradband_lab::EXPERIMENTS;
use serde::Serialize;

/// A number, or the formula for it.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Formula(String),
}

#[derive(Serialize)]
struct Param {
    name: &'static str,
    default: Value,
    domain: [Value; 2],
    feasible: [Value; 2],
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct Setting {
    name: &'static str,
    default: String,
    values: Vec<String>,
    summary: &'static str,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
    summary: &'static str,
    params: Vec<Param>,
    settings: Vec<Setting>,
    /// Of a policy: on which problems.
    #[serde(skip_serializing_if = "Option::is_none")]
    plays: Option<&'static str>,
    #[serde(flatten)]
    size: Option<Size>,
}

/// Of a problem.
#[derive(Serialize)]
struct Size {
    kind: &'static str,
    arms: usize,
    horizon: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_dim: Option<usize>,
}

#[derive(Serialize)]
struct Document {
    problems: Vec<Item>,
    policies: Vec<Item>,
    baselines: Vec<Item>,
    optimizers: Vec<Item>,
    experiments: Vec<Item>,
    data: Vec<Item>,
}

pub fn run(kind: Option<Listed>, printer: Printer) -> Result<()> {
    let Document { problems, policies, baselines, optimizers, experiments, data } = Document {
        problems: problems()?,
        policies: policies(),
        baselines: baselines(),
        optimizers: OPTIMIZERS.iter().map(|&(name, summary)| plain(name, summary)).collect(),
        experiments: EXPERIMENTS.iter().map(|experiment| plain(experiment.id, experiment.title)).collect(),
        data: DATASETS.iter().map(|set| plain(set.name, set.summary)).collect(),
    };
    match kind {
        Some(Listed::Problems) => printer.result(&problems, || text("problems", &problems)),
        Some(Listed::Policies) => printer.result(&policies, || text("policies", &policies)),
        Some(Listed::Baselines) => printer.result(&baselines, || text("baselines", &baselines)),
        Some(Listed::Optimizers) => printer.result(&optimizers, || text("optimizers", &optimizers)),
        Some(Listed::Experiments) => printer.result(&experiments, || text("experiments", &experiments)),
        Some(Listed::Data) => printer.result(&data, || text("data", &data)),
        None => {
            let document = Document { problems, policies, baselines, optimizers, experiments, data };
            printer.result(&document, || {
                let Document { problems, policies, baselines, optimizers, experiments, data } = &document;
                let parts = [
                    ("problems", problems),
                    ("policies", policies),
                    ("baselines", baselines),
                    ("optimizers", optimizers),
                    ("experiments", experiments),
                    ("data", data),
                ];
                parts.map(|(name, items)| text(name, items)).join("\n\n")
            })
        }
    }
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
        text: format!("runs-per-instance = {default} in [2, {most}]"),
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
    Param {
        name,
        default: match initial {
            Initial::Fixed(x) => Value::Number(x),
            other => Value::Formula(other.to_string()),
        },
        domain: ends(domain),
        feasible: ends(feasible),
        text: format!("{name} = {initial} in {domain}, trained in {feasible}"),
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
    let high = match range.high {
        High::Fixed(x) => Value::Number(x),
        other => Value::Formula(other.to_string()),
    };
    [Value::Number(range.low), high]
}

fn text(title: &str, items: &[Item]) -> String {
    let details = |item: &Item| {
        let params = item.params.iter().map(|param| param.text.clone());
        let settings = item.settings.iter();
        let settings = settings
            .map(|setting| format!("{}: {} [{}]", setting.name, setting.values.join(" | "), setting.default));
        params.chain(settings).collect::<Vec<_>>().join("\n")
    };
    // The family of distractors takes two rows, not twenty-two.
    let shown = items.iter().filter(|item| {
        let number = item.name.strip_prefix("distractors-");
        number.is_none_or(|number| number == "3" || number == "24")
    });
    let row = |item: &Item| {
        let name = if item.name == "distractors-24" { "... distractors-24" } else { item.name };
        vec![name.to_string(), item.summary.to_string(), details(item)]
    };
    output::table(&[title, "", ""], 3, shown.map(row))
}
