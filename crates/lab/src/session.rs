//! A user's own training or comparison: what its report needs, as one record, and the page that is made of it.

use crate::found::{check_estimates, check_numbers};
use crate::plot::{MOST_BARS, Styles, TUNED, bars, chart, figure, line, over_rounds, projection, ranking};
use gradband::Estimate;
use gradband_report::{Axis, Block, Cell, Column, Page, Panel, Section, Series, Table};
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
    /// What the evaluation stands on, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ground: String,
    /// What is said of it first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lead: Vec<String>,
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
    /// The regret of what is handed out, on the same instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_out: Option<Estimate>,
    /// The number of these instances, the first of the evaluation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
    /// The length of the gradient by iteration.
    pub gradient: Vec<(usize, f64)>,
    /// The parameters that are single numbers: their names, and their values by iteration.
    pub params: Vec<(String, Vec<(usize, f64)>)>,
    /// Their values in what is handed out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed_out_params: Vec<f64>,
    /// A learned projection W, row by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projection: Vec<f64>,
    /// The names of its columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The standard deviations of these features, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<f64>,
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
        if !self.spreads.is_empty() && self.spreads.len() != columns {
            let message = format!("found {} spreads of {columns} features", self.spreads.len());
            return Err(gradband::Error::new("training.spreads", message));
        }
        check_estimates(self.regret.iter().map(|&(_, regret)| regret).chain(self.handed_out))?;
        check_numbers("training.projection", &self.projection)?;
        check_numbers("training.handed_out_params", &self.handed_out_params)?;
        check_numbers("training.spreads", &self.spreads)?;
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
    // One colour for each policy, on the whole page.
    let names = sessions.iter().flat_map(|session| &session.policies).map(|policy| policy.name.as_str());
    let styles = Styles::of(names);
    Page {
        title,
        lead: sessions.iter().flat_map(|session| session.lead.clone()).collect(),
        sections: sessions.iter().map(|session| section(session, &styles)).collect(),
        footer: format!("gradband {}", env!("CARGO_PKG_VERSION")),
    }
}

fn section(session: &Session, styles: &Styles) -> Section {
    let ranked = session.policies.iter().map(|policy| (policy.name.clone(), policy.regret)).collect();
    let curves = session.policies.iter().map(|policy| (policy.name.clone(), policy.curve.clone()));
    let mut blocks = vec![
        figure(
            &format!("{}-policies", session.kind),
            "Bayes regret",
            &format!(
                "{}, as in the table; a line ends at its dot. Bars and bands are standard errors.",
                stands_on(session)
            ),
            vec![
                ranking("At the end", ranked, |name| styles.get(name)),
                over_rounds("Over rounds", curves, |name| styles.get(name)),
            ],
        ),
        Block::Table(table(session)),
    ];
    let tuned = session.policies.iter().find(|policy| policy.name.starts_with(TUNED));
    let colour = tuned.map_or(0, |policy| styles.get(&policy.name).colour);
    blocks
        .extend(session.training.as_ref().and_then(|history| iterations(history, session.instances, colour)));
    blocks.extend(session.training.as_ref().and_then(|history| learned(history, colour)));
    Section {
        id: session.kind.clone(),
        title: session.problem.clone(),
        text: vec![format!("Seed {}, gradband {}.", session.seed, session.version)],
        command: Some(session.command.clone()),
        spec: Some(session.spec.clone()),
        blocks,
    }
}

/// Records of earlier versions do not say what the instances were.
fn stands_on(session: &Session) -> String {
    match session.ground.as_str() {
        "" => format!("{} instances", session.instances),
        ground => ground.into(),
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

/// Regret, gradients and parameters over iterations, as far as they are known, in the colour of the tuned policy.
fn iterations(history: &TrainingHistory, evaluated: usize, colour: usize) -> Option<Block> {
    let regret = history.regret.iter().map(|&(i, regret)| (i as f64, regret)).collect();
    let handed_out = history.handed_out.map(|regret| regret.mean);
    let gradient = known(&history.gradient);
    let panels: Vec<Panel> = [
        among("Regret", "Bayes regret", &[("", regret, handed_out)], colour),
        parameters(history, colour),
        among("Gradient", "length", &[("", gradient, None)], colour),
    ]
    .into_iter()
    .flatten()
    .collect();
    let instances = match history.instances {
        Some(all) if all == evaluated => format!(", on the {all} instances of the table"),
        Some(some) => format!(", on the first {some} of the table's {evaluated} instances"),
        None => String::new(),
    };
    let drawn = history.handed_out.is_some() || !history.handed_out_params.is_empty();
    let level = if drawn { "The dashed level is what is handed out: it" } else { "What is handed out" };
    let caption = format!(
        "Iterates as they came{instances}. {level} may be an iterate, or a mean of the last ones that was polished."
    );
    (!panels.is_empty()).then(|| figure("train-way", "Training", &caption, panels))
}

/// A curve with no error.
fn known(points: &[(usize, f64)]) -> Vec<(f64, Estimate)> {
    points.iter().map(|&(i, mean)| (i as f64, Estimate { mean, std_error: 0.0 })).collect()
}

/// What became of the parameters that are numbers.
fn parameters(history: &TrainingHistory, colour: usize) -> Option<Panel> {
    let handed_out = history.handed_out_params.iter().copied().map(Some).chain(std::iter::repeat(None));
    let lines = history.params.iter().zip(handed_out);
    let lines: Vec<_> = lines.map(|((name, points), end)| (name.as_str(), known(points), end)).collect();
    match &lines[..] {
        [(name, points, end)] => among("Parameter", name, &[("", points.clone(), *end)], colour),
        _ => among("Parameters", "value", &lines, colour),
    }
}

/// A name, a value by iteration, and the value that is handed out.
type Way<'a> = (&'a str, Vec<(f64, Estimate)>, Option<f64>);

/// Iterates, and among them what is handed out. Several lines have their names beside them.
fn among(title: &str, label: &str, ways: &[Way], colour: usize) -> Option<Panel> {
    let mut series = Vec::new();
    let drawn = || ways.iter().filter(|(_, points, _)| !points.is_empty());
    for (name, points, _) in drawn() {
        series.push(match *name {
            "" => line("iterates", colour, points.clone()),
            // Lines of one colour get other dashes.
            name => line(name, colour, points.clone()).label(name),
        });
    }
    for (name, points, handed_out) in drawn() {
        let (Some(value), Some(&(last, _))) = (handed_out, points.last()) else { continue };
        let from = points.first().map_or(last, |&(first, _)| first);
        let level = Series::level(HANDED_OUT, *value, from, last).colour(colour);
        series.push(if name.is_empty() { level.label(HANDED_OUT) } else { level });
        series
            .push(Series::marks(HANDED_OUT, vec![gradband_report::Point::new(last, *value)]).colour(colour));
    }
    (!series.is_empty()).then(|| chart(title, Axis::linear("iteration"), Axis::linear(label), series))
}

const HANDED_OUT: &str = "handed out";

/// The projection, with the features' names, and what each feature does.
fn learned(history: &TrainingHistory, colour: usize) -> Option<Block> {
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
    let label =
        if history.spreads.is_empty() { "length of its column" } else { "length of its column × spread" };
    panels.push(bars("What each feature does", label, colour, effects(history)));
    let known = match history.spreads.is_empty() {
        true => "Features are ranked by the length of their column",
        false => "Features are ranked by the length of their column times their standard deviation",
    };
    let some =
        if columns > MOST_BARS { format!("; the first {MOST_BARS} of {columns}") } else { String::new() };
    let caption = format!("W projects contexts; the policy depends on M = W′W alone. {known}{some}.");
    Some(figure("train-learned", "What was learned", &caption, panels))
}

/// How far a feature moves a projected context: the length of its column, times its spread if that is known.
fn effects(history: &TrainingHistory) -> Vec<(String, f64)> {
    let columns = history.features.len();
    let column = |j: usize| history.projection.iter().skip(j).step_by(columns);
    let length = |j: usize| column(j).map(|x| x * x).sum::<f64>().sqrt();
    let effect = |j: usize| length(j) * history.spreads.get(j).copied().unwrap_or(1.0);
    history.features.iter().enumerate().map(|(j, name)| (name.clone(), effect(j))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64) -> Estimate {
        Estimate { mean, std_error: 0.1 }
    }

    fn charts(block: &Block) -> Vec<&gradband_report::Chart> {
        let Block::Figure(figure) = block else { return Vec::new() };
        let charts = figure.panels.iter().filter_map(|panel| match panel {
            Panel::Chart(chart) => Some(chart),
            Panel::Matrix(_) => None,
        });
        charts.collect()
    }

    fn history() -> TrainingHistory {
        TrainingHistory {
            regret: vec![(1, estimate(6.0)), (40, estimate(4.5))],
            handed_out: Some(estimate(4.4)),
            instances: Some(2000),
            gradient: vec![(1, 3.0), (40, 0.5)],
            params: vec![("w".into(), vec![(1, 1.0), (40, 0.5)])],
            handed_out_params: vec![0.54],
            ..TrainingHistory::default()
        }
    }

    #[test]
    fn what_is_handed_out_is_among_the_iterates() {
        let block = iterations(&history(), 2000, 1).unwrap();
        let charts = charts(&block);
        for (chart, value) in charts.iter().zip([4.4, 0.54]) {
            let handed_out = chart.series.iter().filter(|series| series.name == HANDED_OUT);
            let ys: Vec<f64> = handed_out.flat_map(|series| &series.points).map(|point| point.y).collect();
            assert_eq!(ys, [value; 3]);
        }
        assert!(charts.iter().flat_map(|chart| &chart.series).all(|series| series.colour == Some(1)));
    }

    #[test]
    fn captions_count_the_instances() {
        let caption = |evaluated| match iterations(&history(), evaluated, 0) {
            Some(Block::Figure(figure)) => figure.caption,
            _ => String::new(),
        };
        assert!(caption(2000).contains("on the 2000 instances of the table"), "{}", caption(2000));
        assert!(caption(9000).contains("on the first 2000 of the table's 9000 instances"));
    }

    #[test]
    fn features_are_ranked_by_what_they_do() {
        let mut history = TrainingHistory {
            projection: vec![3.0, 1.0, 4.0, 0.0],
            features: vec!["long".into(), "wide".into()],
            ..TrainingHistory::default()
        };
        let names = |history: &TrainingHistory| {
            let block = learned(history, 0).unwrap();
            let chart = charts(&block)[0];
            (chart.y.names.clone(), chart.series[0].points[0].x)
        };
        assert_eq!(names(&history), (vec!["long".to_string(), "wide".into()], 5.0));
        history.spreads = vec![0.1, 20.0];
        assert_eq!(names(&history), (vec!["wide".to_string(), "long".into()], 20.0));
        history.spreads.pop();
        assert!(history.check().is_err());
    }
}
