//! `gradband list`: what there is, straight from the catalogues.

use crate::args::Listed;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband::learn::{BASELINES, Baseline, OPTIMIZERS};
use gradband::policy::{self, End, Initial, POLICIES, Plays, PolicyKind, Range};
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
    /// Its values, for people.
    #[serde(skip)]
    values: String,
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

/// Columns of a terminal that lists fit into.
const COLUMNS: usize = 100;
/// What a table of two columns has around and between them.
const AROUND: usize = 5;

/// A line, folded at spaces that are in no brackets; what follows the first fold is indented by `indent`.
fn folded(line: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let (mut used, mut brackets) = (0, 0);
    let outside = |c: char| {
        brackets += i32::from(c == '[') - i32::from(c == ']');
        c == ' ' && brackets == 0
    };
    for word in line.split(outside) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

/// Parameters and settings, a line each; parameters with the same values share one.
fn details(item: &Item) -> Vec<String> {
    let params = item.params.chunk_by(|a, b| a.values == b.values).map(|alike| {
        let names: Vec<_> = alike.iter().map(|param| param.name).collect();
        format!("{} = {}", names.join(", "), alike[0].values)
    });
    let settings = item.settings.iter();
    let settings = settings
        .map(|setting| format!("{}: {} [{}]", setting.name, setting.values.join(" | "), setting.default));
    params.chain(settings).collect()
}

fn text(title: &str, items: &[Item]) -> String {
    // The family of distractors takes two rows, not twenty-two.
    let shown = items.iter().filter(|item| {
        let number = item.name.strip_prefix("distractors-");
        number.is_none_or(|number| number == "3" || number == "24")
    });
    let name = |item: &Item| if item.name == "distractors-24" { "... distractors-24" } else { item.name };
    let widest = shown.clone().map(|item| name(item).chars().count()).max().unwrap_or(0);
    let width = COLUMNS.saturating_sub(widest.max(title.len()) + AROUND);
    let row = |item: &Item| {
        let details = details(item).into_iter().map(|line| format!("  {}", folded(&line, width - 2, 4)));
        let lines = std::iter::once(folded(item.summary, width, 0)).chain(details);
        vec![name(item).to_string(), lines.collect::<Vec<_>>().join("\n")]
    };
    output::table(&[title, ""], 2, shown.map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_fit_a_terminal() {
        let lists = [("policies", policies()), ("baselines", baselines()), ("problems", problems().unwrap())];
        for (title, items) in lists {
            let list = text(title, &items);
            let widest = list.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= COLUMNS, "{title}: {widest}\n{list}");
            assert!(items.iter().flat_map(|item| &item.params).all(|param| list.contains(param.name)));
        }
    }

    #[test]
    fn lines_are_folded_at_spaces() {
        assert_eq!(folded("one two three", 9, 2), "one two\n  three");
        assert_eq!(folded("one two", 9, 2), "one two");
        assert_eq!(folded("unbreakable", 3, 2), "unbreakable");
        assert_eq!(folded("h in [1, 2]", 8, 2), "h in\n  [1, 2]");
    }
}
