//! `gradband list`: what there is, straight from the registries.

use crate::args::Listed;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband::baseline::{BASELINES, DEFAULT_RUNS, MAX_RUNS};
use gradband::optimizer::OPTIMIZERS;
use gradband::problem::{DATASETS, PROBLEMS, ProblemInfo};
use gradband::registry::{High, Initial, POLICIES, ParamInfo, Plays, Range, SettingInfo};
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
    default: &'static str,
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

fn problems() -> Result<Vec<Item>> {
    let item = |info: &'static ProblemInfo| {
        let gradband::problem::Size { kind, arms, horizon, context_dim } = info.size()?;
        let size = Some(Size { kind, arms, horizon, context_dim });
        Ok(Item { size, ..plain(info.name, info.summary) })
    };
    PROBLEMS.iter().map(item).collect()
}

fn policies() -> Vec<Item> {
    let item = |info: &&'static gradband::registry::PolicyInfo| Item {
        params: info.params.iter().map(param).collect(),
        settings: info.settings.iter().map(setting).collect(),
        plays: Some(match info.plays {
            Plays::Arms => "arms",
            Plays::Contexts => "contexts",
            Plays::Both => "both",
        }),
        ..plain(info.name, info.summary)
    };
    POLICIES.iter().map(item).collect()
}

fn baselines() -> Vec<Item> {
    let runs = || Param {
        name: "runs-per-instance",
        default: Value::Number(DEFAULT_RUNS as f64),
        domain: [Value::Number(2.0), Value::Number(MAX_RUNS as f64)],
        feasible: [Value::Number(2.0), Value::Number(MAX_RUNS as f64)],
        text: format!("runs-per-instance = {DEFAULT_RUNS} in [2, {MAX_RUNS}]"),
    };
    let takes_runs = |name| gradband::baseline::Baseline::new(name, Some(DEFAULT_RUNS)).is_ok();
    let item = |&(name, summary)| {
        let params = if takes_runs(name) { vec![runs()] } else { Vec::new() };
        Item { params, ..plain(name, summary) }
    };
    BASELINES.iter().map(item).collect()
}

fn param(info: &ParamInfo) -> Param {
    Param {
        name: info.name,
        default: match info.initial {
            Initial::Fixed(x) => Value::Number(x),
            other => Value::Formula(other.to_string()),
        },
        domain: ends(info.domain),
        feasible: ends(info.feasible),
        text: format!("{} = {} in {}, trained in {}", info.name, info.initial, info.domain, info.feasible),
    }
}

fn setting(info: &SettingInfo) -> Setting {
    Setting {
        name: info.name,
        default: info.default(),
        values: info.values().split(" | ").map(String::from).collect(),
        summary: info.summary,
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
