//! A user's own training or comparison: what its report needs, as one record, and the page that is made of it.

use crate::found::{check_estimates, check_numbers};
use crate::plot::{chart, figure, heat, line, over_rounds, projection, ranking};
use gradband::Estimate;
use gradband_report::{Axis, Block, Cell, Column, Page, Panel, Section, Table};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a command found. One that is read from a file has been checked: files can be damaged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Session {
    /// The command, `train` or `compare`; files and figures are named after it.
    pub kind: String,
    /// The problem, for people.
    pub problem: String,
    /// The whole command, as it was typed.
    pub command: String,
    /// Everything that was asked for, defaults included, as TOML.
    pub spec: String,
    /// The version of gradband that ran.
    pub version: String,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of instances of the evaluation.
    pub instances: usize,
    /// The policies that were measured.
    pub policies: Vec<Measured>,
    /// Untuned minus tuned regret, paired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Estimate>,
    /// How training went, if there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingHistory>,
}

/// What was measured of a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The policy, with `untuned` or `tuned` where that applies.
    pub name: String,
    /// The Bayes regret.
    pub regret: Estimate,
    /// Its regret minus that of the best, paired.
    pub difference: Estimate,
    /// The regret so far after some numbers of rounds.
    pub curve: Vec<(usize, Estimate)>,
}

/// How a training went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingHistory {
    /// The regret after some numbers of iterations.
    pub regret: Vec<(usize, Estimate)>,
    /// The length of the gradient by iteration.
    pub gradient: Vec<(usize, f64)>,
    /// The parameters that are single numbers: their names, and their values by iteration.
    pub params: Vec<(String, Vec<(usize, f64)>)>,
    /// A learned projection W, row by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projection: Vec<f64>,
    /// The names of its columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// The commands that leave a record.
const KINDS: [&str; 2] = ["train", "compare"];

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let session = Self::deserialize(deserializer)?;
        session.check().map_err(D::Error::custom)?;
        Ok(session)
    }
}

impl Session {
    fn check(&self) -> gradband::Result<()> {
        if !KINDS.contains(&self.kind.as_str()) {
            return Err(gradband::Error::unknown("kind", &self.kind, KINDS));
        }
        check_estimates(self.gain)?;
        for policy in &self.policies {
            check_estimates([policy.regret, policy.difference])?;
            check_estimates(policy.curve.iter().map(|&(_, regret)| regret))?;
        }
        self.training.as_ref().map_or(Ok(()), TrainingHistory::check)
    }
}

impl TrainingHistory {
    fn check(&self) -> gradband::Result<()> {
        let (entries, columns) = (self.projection.len(), self.features.len());
        if entries != 0 && (columns == 0 || !entries.is_multiple_of(columns)) {
            let message = format!("found {entries} entries in rows of {columns}");
            return Err(gradband::Error::new("training.projection", message));
        }
        check_estimates(self.regret.iter().map(|&(_, regret)| regret))?;
        check_numbers("training.projection", &self.projection)?;
        for points in self.params.iter().map(|(_, points)| points).chain([&self.gradient]) {
            let values: Vec<f64> = points.iter().map(|&(_, value)| value).collect();
            check_numbers("training", &values)?;
        }
        Ok(())
    }
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
    let (low, high) = gain.interval();
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
    blocks.extend(session.training.as_ref().and_then(iterations));
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
fn iterations(history: &TrainingHistory) -> Option<Block> {
    let known = |points: &[(usize, f64)]| -> Vec<(f64, Estimate)> {
        points.iter().map(|&(i, mean)| (i as f64, Estimate { mean, std_error: 0.0 })).collect()
    };
    let regret = history.regret.iter().map(|&(i, regret)| (i as f64, regret));
    let params =
        history.params.iter().enumerate().map(|(i, (name, points))| line(name, i + 1, known(points)));
    let panels: Vec<Panel> = [
        ("Regret", "Bayes regret", vec![line("regret of the iterate", 0, regret)]),
        ("Parameters", "value", params.collect()),
        ("Gradient", "length", vec![line("length of the gradient", 6, known(&history.gradient))]),
    ]
    .into_iter()
    .filter(|(.., series)| series.iter().any(|series| !series.points.is_empty()))
    .map(|(title, label, series)| chart(title, Axis::linear("iteration"), Axis::linear(label), series))
    .collect();
    let caption = "Iterates as they came; what is handed out may be their mean.";
    (!panels.is_empty()).then(|| figure("train-way", "Training", caption, panels))
}

/// The projection, with the features' names.
fn learned(history: &TrainingHistory) -> Option<Block> {
    let columns = history.features.len();
    let mut panels = projection("learned", &history.projection, columns)?.to_vec();
    for panel in &mut panels {
        if let Panel::Matrix(matrix) = panel {
            matrix.columns.clone_from(&history.features);
            if matrix.rows.len() == columns && matrix.title.ends_with("W′W") {
                matrix.rows.clone_from(&history.features);
            }
        }
    }
    let lengths = (0..columns)
        .map(|j| history.projection.iter().skip(j).step_by(columns).map(|x| x * x).sum::<f64>().sqrt());
    let mut lengths = heat("how much each feature matters", vec![lengths.collect()]);
    if let Panel::Matrix(matrix) = &mut lengths {
        matrix.columns.clone_from(&history.features);
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
