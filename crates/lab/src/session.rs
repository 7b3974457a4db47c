//! A user's own training or comparison: what its report needs, as one record, and the page that is made of it.

use crate::plot::{chart, figure, heat, line, over_rounds, projection, ranking};
use gradband::statistics::Estimate;
use gradband_report::{Axis, Block, Cell, Column, Page, Panel, Section, Table};
use serde::{Deserialize, Serialize};

/// What a command found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// `train` or `compare`.
    pub kind: String,
    /// The problem, for people.
    pub problem: String,
    /// What was typed.
    pub command: String,
    /// Everything that was asked for, defaults included, as TOML.
    pub spec: String,
    /// By which gradband.
    pub version: String,
    /// Of the random numbers.
    pub seed: u64,
    /// Instances of the evaluation.
    pub instances: usize,
    /// The policies that were measured.
    pub policies: Vec<Measured>,
    /// Untuned minus tuned regret, paired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Estimate>,
    /// Where training went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Way>,
}

/// A policy's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name, with `untuned` or `tuned` where that applies.
    pub name: String,
    /// Bayes regret.
    pub regret: Estimate,
    /// Regret minus that of the best, paired.
    pub difference: Estimate,
    /// Regret after so many rounds.
    pub curve: Vec<(usize, Estimate)>,
}

/// A training's way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Regret after so many iterations.
    pub regret: Vec<(usize, Estimate)>,
    /// (iteration, length of the gradient).
    pub gradient: Vec<(usize, f64)>,
    /// Names of the parameters that are single numbers, and their values over iterations.
    pub params: Vec<(String, Vec<(usize, f64)>)>,
    /// A learned W, row by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projection: Vec<f64>,
    /// The names of its columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// The page of one or more sessions.
pub fn page(sessions: &[Session]) -> Page {
    let title = sessions.first().map_or("gradband".into(), |session| match session.kind.as_str() {
        "train" => format!("Trained on {}", session.problem),
        _ => format!("Policies on {}", session.problem),
    });
    Page {
        title,
        lead: sessions.iter().filter_map(lead).collect(),
        sections: sessions.iter().map(section).collect(),
        footer: format!("gradband {}", env!("CARGO_PKG_VERSION")),
    }
}

/// What the training was worth, in a sentence.
fn lead(session: &Session) -> Option<String> {
    let gain = session.gain?;
    let (low, high) = (gain.mean - 1.96 * gain.std_error, gain.mean + 1.96 * gain.std_error);
    let before = session.policies.first()?.regret.mean;
    Some(format!(
        "Tuning lowers the Bayes regret by {:.3} (95 % interval {low:.3} to {high:.3}), {:.0} % of what the untuned policy has, \
         on {} instances that training never saw.",
        gain.mean,
        100.0 * gain.mean / before,
        session.instances
    ))
}

fn section(session: &Session) -> Section {
    let ranked = session.policies.iter().map(|policy| (policy.name.clone(), policy.regret)).collect();
    let curves = session.policies.iter().map(|policy| (policy.name.clone(), policy.curve.clone()));
    let mut blocks = vec![
        figure(
            &format!("{}-policies", session.kind),
            "Bayes regret",
            &format!("{} instances; bars and bands are standard errors.", session.instances),
            vec![ranking("At the end", ranked), over_rounds("Over rounds", curves)],
        ),
        Block::Table(table(session)),
    ];
    blocks.extend(session.training.as_ref().and_then(way));
    blocks.extend(session.training.as_ref().and_then(learned));
    Section {
        id: session.kind.clone(),
        title: session.problem.clone(),
        text: vec![format!("Seed {}, gradband {}.", session.seed, session.version)],
        command: Some(session.command.clone()),
        spec: Some(session.spec.clone()),
        blocks,
    }
}

fn table(session: &Session) -> Table {
    let number = |x: Estimate| Cell::from(format!("{:.4} ± {:.4}", x.mean, x.std_error));
    let rows = session
        .policies
        .iter()
        .map(|policy| vec![policy.name.as_str().into(), number(policy.regret), number(policy.difference)]);
    Table {
        id: format!("{}-table", session.kind),
        title: "Policies".into(),
        columns: vec![
            Column::text("Policy"),
            Column::number("Bayes regret"),
            Column::number("Behind the best"),
        ],
        rows: rows.collect(),
    }
}

/// Regret, gradients and parameters over iterations, as far as they are known.
fn way(path: &Way) -> Option<Block> {
    let known = |points: &[(usize, f64)]| -> Vec<(f64, Estimate)> {
        points.iter().map(|&(i, mean)| (i as f64, Estimate { mean, std_error: 0.0 })).collect()
    };
    let regret = path.regret.iter().map(|&(i, regret)| (i as f64, regret));
    let params = path.params.iter().enumerate().map(|(i, (name, points))| line(name, i + 1, known(points)));
    let panels: Vec<Panel> = [
        ("Regret", "Bayes regret", vec![line("regret of the iterate", 0, regret)]),
        ("Parameters", "value", params.collect()),
        ("Gradient", "length", vec![line("length of the gradient", 6, known(&path.gradient))]),
    ]
    .into_iter()
    .filter(|(.., series)| series.iter().any(|series| !series.points.is_empty()))
    .map(|(title, label, series)| chart(title, Axis::linear("iteration"), Axis::linear(label), series))
    .collect();
    let caption = "Iterates as they came; what is handed out may be their mean.";
    (!panels.is_empty()).then(|| figure("train-way", "Training", caption, panels))
}

/// The projection, with the features' names.
fn learned(path: &Way) -> Option<Block> {
    let columns = path.features.len();
    let mut panels = projection("learned", &path.projection, columns)?.to_vec();
    for panel in &mut panels {
        if let Panel::Matrix(matrix) = panel {
            matrix.columns.clone_from(&path.features);
            if matrix.rows.len() == columns && matrix.title.ends_with("W′W") {
                matrix.rows.clone_from(&path.features);
            }
        }
    }
    let lengths = (0..columns)
        .map(|j| path.projection.iter().skip(j).step_by(columns).map(|x| x * x).sum::<f64>().sqrt());
    let mut lengths = heat("how much each feature matters", vec![lengths.collect()]);
    if let Panel::Matrix(matrix) = &mut lengths {
        matrix.columns.clone_from(&path.features);
        matrix.rows = vec!["length".into()];
    }
    panels.push(lengths);
    Some(figure(
        "train-learned",
        "What was learned",
        "W projects contexts; the policy depends on M = W′W alone.",
        panels,
    ))
}
