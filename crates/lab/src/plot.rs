//! From records to panels: the few kinds of pictures that the experiments share.

use crate::experiment::{Results, across};
use gradband::Estimate;
use gradband_report::{Axis, Block, Chart, Figure, Look, Matrix, Palette, Panel, Point, Series};

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
    ("linucb(width=tuned)", "LinUCB, tuned width"),
    ("mom-thompson", "MOM Thompson"),
    ("mom-thompson(centred=true)", "MOM Thompson, centred"),
];

/// The name of a policy in figures.
pub fn name(policy: &str) -> &str {
    NAMES.iter().find(|(id, _)| *id == policy).map_or(policy, |(_, name)| name)
}

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
    over_rounds(title, lines.into_iter().map(|(name, curve)| (name, curve.iter().map(estimate).collect())))
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
    let played = played.map(|(policy, played)| (name(policy).to_string(), played.curve.as_slice()));
    rounds_panel(title, trained.chain(played))
}

/// Regret over rounds from estimates; all lines begin at zero.
pub fn over_rounds(title: &str, lines: impl IntoIterator<Item = (String, Vec<(usize, Estimate)>)>) -> Panel {
    let drawn = lines.into_iter().filter(|(_, curve)| !curve.is_empty()).enumerate();
    let series = drawn.map(|(i, (name, curve))| {
        let start = (0.0, Estimate { mean: 0.0, std_error: 0.0 });
        let points = curve.into_iter().map(|(t, regret)| (t as f64, regret));
        // Colours repeat after eight; the second eight are dashed.
        let look = if i < 8 { Look::Line } else { Look::Dashed };
        Series { look, ..line(&name, i % 8, std::iter::once(start).chain(points)) }
    });
    chart(title, Axis::linear("round"), Axis::linear("Bayes regret so far"), series.collect())
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

/// Policies on a line each, best first, with error bars.
pub fn ranking(title: &str, mut policies: Vec<(String, Estimate)>) -> Panel {
    policies.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let points = policies.iter().enumerate().map(|(i, (_, regret))| Point {
        x: regret.mean,
        y: i as f64,
        low: Some(regret.mean - regret.std_error),
        high: Some(regret.mean + regret.std_error),
    });
    let series = Series { look: Look::Marks, ..Series::line("Bayes regret", points.collect()) };
    let names = policies.iter().map(|(name, _)| name.as_str());
    chart(title, Axis::linear("Bayes regret"), Axis::named("", names), vec![series])
}
