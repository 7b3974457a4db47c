//! From records to panels: the few kinds of pictures that the experiments share.

use crate::experiment::{Results, across};
use gradband::Estimate;
use gradband_report::{Axis, Block, COLOURS, Chart, Figure, Look, Matrix, Palette, Panel, Point, Series};

/// Names of the paper's policies in figures.
const NAMES: [(&str, &str); 14] = [
    ("exp3", "Exp3"),
    ("softelim", "SoftElim"),
    ("cosoftelim", "CoSoftElim"),
    ("lin-thompson", "Thompson sampling"),
    ("lin-epsilon-greedy", "epsilon-greedy"),
    ("thompson", "Thompson sampling"),
    ("gittins", "Gittins index"),
    ("bayes-optimal", "Bayes optimum"),
    ("ucb1", "UCB1"),
    ("ucb-v", "UCB-V"),
    ("linucb", "LinUCB, the paper's width"),
    ("linucb(ridge=1,width=tuned)", "LinUCB, tuned width"),
    ("mom-thompson", "MOM Thompson"),
    ("mom-thompson(centred=true)", "MOM Thompson, centred"),
];

/// The name of a policy in figures.
pub fn name(policy: &str) -> &str {
    NAMES.iter().find(|(id, _)| *id == policy).map_or(policy, |(_, name)| name)
}

/// How a policy is drawn, in every figure of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// A place in the palette.
    pub colour: usize,
    /// The look of its lines.
    pub look: Look,
    /// Tuned policies are what figures are about: on top, wider, and labelled.
    pub tuned: bool,
}

/// Styles of policies by the names in figures. Thirteen policies share eight colours; two of one colour are never
/// alike in a figure, where one of them is dashed.
const STYLES: [(&str, usize, Look); 19] = [
    ("SoftElim", 0, Look::Line),
    ("CoSoftElim", 0, Look::Line),
    ("Thompson sampling", 1, Look::Line),
    ("Exp3", 2, Look::Line),
    ("Gittins index", 3, Look::Line),
    ("LinUCB, the paper's width", 3, Look::Line),
    ("epsilon-greedy", 4, Look::Line),
    ("Bayes optimum", 5, Look::Line),
    ("LinUCB, tuned width", 5, Look::Line),
    ("LSTM", 6, Look::Line),
    ("MOM Thompson", 6, Look::Line),
    ("DQN", 7, Look::Line),
    ("MOM Thompson, centred", 7, Look::Line),
    ("LSTM, the paper's recipe", 7, Look::Line),
    ("UCB1", 4, Look::Dashed),
    ("UCB-V", 6, Look::Dashed),
    ("boltzmann", 2, Look::Dashed),
    ("explore-then-commit", 3, Look::Dashed),
    ("random", 5, Look::Dashed),
];
/// The colours of the baselines none, opt and self; the policies beside them have others.
pub const BASELINE_COLOURS: [usize; 3] = [4, 6, 7];

/// The style of one of the paper's policies, by its name in figures.
pub fn style(label: &str) -> Style {
    let tuned = label.strip_suffix(", tuned").or_else(|| label.strip_suffix(", ours"));
    let untuned = label.strip_suffix(", untuned");
    let policy = tuned.or(untuned).unwrap_or(label);
    let found = STYLES.iter().find(|(name, ..)| *name == policy);
    let (colour, look) = found.map_or((5, Look::DashDotted), |&(_, colour, look)| (colour, look));
    Style { colour, look: if untuned.is_some() { Look::Dotted } else { look }, tuned: tuned.is_some() }
}

/// The colour of one of the paper's policies, by its name in figures.
pub fn colour(label: &str) -> usize {
    style(label).colour
}

/// Styles of policies that nobody knows beforehand: colours in the order of their names, then other lines.
#[derive(Clone, Debug, Default)]
pub struct Styles(Vec<String>);

impl Styles {
    /// Of these policies; each may be named several times.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known: Vec<String> = Vec::new();
        for name in names {
            if known.iter().all(|other| other != name) {
                known.push(name.into());
            }
        }
        Self(known)
    }

    /// The style of a policy.
    pub fn get(&self, name: &str) -> Style {
        let place = self.0.iter().position(|other| other == name).unwrap_or(0);
        let look = Look::LINES[place / COLOURS % Look::LINES.len()];
        Style { colour: place % COLOURS, look, tuned: name.starts_with(TUNED) }
    }
}

/// What the name of a tuned policy begins with in a session.
pub const TUNED: &str = "tuned: ";

/// A figure of several panels.
pub fn figure(id: &str, title: &str, caption: &str, panels: Vec<Panel>) -> Block {
    Block::Figure(Figure { id: id.into(), title: title.into(), caption: caption.into(), panels })
}

/// A panel with lines or marks.
pub fn chart(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
    Panel::Chart(Chart { title: title.into(), x, y, series })
}

/// A line with error bands.
pub fn line(name: &str, colour: usize, points: impl IntoIterator<Item = (f64, Estimate)>) -> Series {
    let points = points.into_iter().map(|(x, y)| Point::with_error(x, y.mean, y.std_error)).collect();
    Series { colour: Some(colour), ..Series::line(name, points) }
}

/// A training's mean regret over iterations.
pub fn learning(results: &Results, experiment: &str, series: &str, name: &str, colour: usize) -> Series {
    let curve = results.curve(experiment, series, across);
    line(name, colour, curve.into_iter().map(|(iteration, regret)| (iteration as f64, regret)))
}

/// A policy that does not learn: a dashed line, with its error.
pub fn level(name: &str, colour: usize, regret: Option<Estimate>, to: f64) -> Option<Series> {
    let regret = regret?;
    let points = [0.0, to].map(|x| Point::with_error(x, regret.mean, regret.std_error)).to_vec();
    Some(Series { look: Look::Dashed, colour: Some(colour), ..Series::line(name, points) })
}

/// Learning curves beside policies that do not learn.
pub fn learning_panel(title: &str, series: impl IntoIterator<Item = Series>) -> Panel {
    chart(title, Axis::linear("iteration"), Axis::linear("Bayes regret"), series.into_iter().collect())
}

/// Regret over rounds, a line for each policy.
pub fn rounds_panel<'a>(
    title: &str,
    lines: impl IntoIterator<Item = (String, &'a [(usize, f64, f64)])>,
) -> Panel {
    let estimate = |&(t, mean, std_error): &(usize, f64, f64)| (t, Estimate { mean, std_error });
    let lines = lines.into_iter().map(|(name, curve)| (name, curve.iter().map(estimate).collect()));
    over_rounds(title, lines, style)
}

/// Regret over rounds of tuned policies (series and policy; their first runs) and of those of a series of others.
pub fn rounds_of(
    results: &Results,
    experiment: &str,
    title: &str,
    tuned: &[(String, &str)],
    others: &str,
) -> Panel {
    let trained = tuned.iter().filter_map(|(series, policy)| {
        let run = results.trained(experiment, series).first().copied()?;
        Some((format!("{}, tuned", name(policy)), run.rounds.as_slice()))
    });
    let played = results.played(experiment, others);
    // Random play would take all the room.
    let played = played.iter().filter(|(policy, _)| policy != "random");
    let played = played.map(|(policy, played)| {
        let untuned = if tuned.iter().any(|(_, tuned)| tuned == policy) { ", untuned" } else { "" };
        (format!("{}{untuned}", name(policy)), played.curve.as_slice())
    });
    rounds_panel(title, trained.chain(played))
}

/// What is behind curves over rounds, for captions: those of a tuned policy are of its first run, and all are of fewer
/// instances than the tables. The numbers are the records'.
pub fn behind(results: &Results, experiment: &str, tuned: &str, others: &str) -> String {
    let count = |series: &str, key: &str| results.runs(experiment, series).first()?.setting[key].as_u64();
    let instances = |count: Option<u64>| count.map_or(String::new(), |count| format!("{count} instances"));
    let (tuned, others) = (instances(count(tuned, "instances")), instances(count(others, "round_instances")));
    match (tuned.as_str(), others.as_str()) {
        ("", _) | (_, "") => "Tuned policies: first run.".into(),
        (tuned, others) => format!("Tuned policies: first run, {tuned}; others: {others}."),
    }
}

/// Regret over rounds from estimates; all lines begin at zero. Those of tuned policies are above the others.
pub fn over_rounds(
    title: &str,
    lines: impl IntoIterator<Item = (String, Vec<(usize, Estimate)>)>,
    style: impl Fn(&str) -> Style,
) -> Panel {
    let drawn = lines.into_iter().filter(|(_, curve)| !curve.is_empty()).map(|(name, curve)| {
        let Style { colour, look, tuned } = style(&name);
        let start = (0.0, Estimate { mean: 0.0, std_error: 0.0 });
        let points = curve.into_iter().map(|(t, regret)| (t as f64, regret));
        let label = if name.starts_with(TUNED) { "tuned" } else { &name };
        let label = tuned.then(|| label.to_string());
        Series { look, label, strong: tuned, ..line(&name, colour, std::iter::once(start).chain(points)) }
    });
    let (above, mut series): (Vec<_>, Vec<_>) = drawn.partition(|series| series.strong);
    series.extend(above);
    chart(title, Axis::linear("round"), Axis::linear("Bayes regret so far"), series)
}

/// A matrix as a heat map.
pub fn heat(title: &str, values: Vec<Vec<f64>>) -> Panel {
    let columns = values.first().map_or(0, Vec::len);
    let numbers = |count: usize| (1..=count).map(|i| i.to_string()).collect();
    Panel::Matrix(Matrix {
        title: title.into(),
        rows: numbers(values.len()),
        columns: numbers(columns),
        row_label: String::new(),
        column_label: "feature".into(),
        values,
        palette: Palette::Diverging,
        range: None,
        digits: None,
    })
}

/// W row by row, and M = W'W, on which alone the policy depends; nothing if these are not the entries of a W.
pub fn projection(title: &str, params: &[f64], columns: usize) -> Option<[Panel; 2]> {
    if columns == 0 || params.is_empty() || !params.len().is_multiple_of(columns) {
        return None;
    }
    let rows: Vec<Vec<f64>> = params.chunks(columns).map(<[f64]>::to_vec).collect();
    let entry = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum();
    let product = (0..columns).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect();
    Some([heat(&format!("{title}: W"), rows), heat(&format!("{title}: M = W′W"), product)])
}

/// Policies on a line each, best first, with error bars, in the colours of their lines.
pub fn ranking(title: &str, mut policies: Vec<(String, Estimate)>, style: impl Fn(&str) -> Style) -> Panel {
    policies.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let dots = policies.iter().enumerate().map(|(i, (name, regret))| {
        let point = Point::in_row(regret.mean, i as f64, regret.std_error);
        Series::marks(name, vec![point]).colour(style(name).colour)
    });
    let names = policies.iter().map(|(name, _)| name.as_str());
    chart(title, Axis::linear("Bayes regret"), Axis::named("", names), dots.collect())
}

/// What each feature does: bars, the longest first, and no more than can be looked at.
pub fn bars(title: &str, label: &str, colour: usize, mut features: Vec<(String, f64)>) -> Panel {
    features.sort_by(|a, b| b.1.total_cmp(&a.1));
    features.truncate(MOST_BARS);
    let points = features.iter().enumerate().map(|(i, &(_, size))| Point::new(size, i as f64)).collect();
    let names = features.iter().map(|(name, _)| name.as_str());
    let series = Series::bars(label, points).colour(colour);
    chart(title, Axis::linear(label), Axis::named("feature", names), vec![series])
}

/// Features that are drawn as bars, at most.
pub const MOST_BARS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn series(panel: &Panel) -> &[Series] {
        match panel {
            Panel::Chart(chart) => &chart.series,
            Panel::Matrix(_) => &[],
        }
    }

    #[test]
    fn a_policy_has_one_colour_everywhere() {
        let names: Vec<String> =
            (0..20).map(|i| format!("policy {i}")).chain(["tuned: policy 3".into()]).collect();
        let styles = Styles::of(names.iter().map(String::as_str));
        let regret = |i: usize| Estimate { mean: 20.0 - i as f64, std_error: 0.1 };
        let ranked = names.iter().enumerate().map(|(i, name)| (name.clone(), regret(i))).collect();
        let curves = names.iter().enumerate().map(|(i, name)| (name.clone(), vec![(10, regret(i))]));
        let (dots, lines) =
            (ranking("", ranked, |name| styles.get(name)), over_rounds("", curves, |name| styles.get(name)));
        for dot in series(&dots) {
            let line = series(&lines).iter().find(|line| line.name == dot.name).unwrap();
            assert_eq!(line.colour, dot.colour);
            // The end of a line is its dot.
            assert_eq!(line.points.last().map(|point| point.y), dot.points.last().map(|point| point.x));
        }
        let looks: Vec<_> = series(&lines).iter().map(|line| (line.colour, line.look)).collect();
        assert!(looks.iter().enumerate().all(|(i, look)| !looks[..i].contains(look)), "{looks:?}");
        let top = series(&lines).last().unwrap();
        assert_eq!((top.name.as_str(), top.label.as_deref()), ("tuned: policy 3", Some("tuned")));
    }

    #[test]
    fn every_policy_of_the_paper_has_a_style() {
        for (_, label) in NAMES {
            assert!(STYLES.iter().any(|(name, ..)| *name == label), "{label}");
        }
        assert_eq!(style("SoftElim, tuned"), Style { tuned: true, ..style("SoftElim") });
        assert_eq!(style("CoSoftElim, untuned").look, Look::Dotted);
    }

    #[test]
    fn features_are_ranked() {
        let features = (0..50).map(|i| (format!("f{i}"), f64::from(i % 7)));
        let panel = bars("", "size", 1, features.collect());
        let sizes: Vec<f64> = series(&panel)[0].points.iter().map(|point| point.x).collect();
        assert_eq!(sizes.len(), MOST_BARS);
        assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]), "{sizes:?}");
        let Panel::Chart(chart) = panel else { return };
        assert_eq!(chart.y.names[..2], ["f6", "f13"]);
    }
}
