//! What the page's script must know of a figure: its numbers, in columns of six digits.

use crate::legend::{Entry, find};
use crate::model::{Axis, Chart, Figure, Look, Matrix, Panel, Scale, Series};
use crate::number::six_digits;
use crate::ticks::Tick;
use crate::{chart, figure, matrix};
use serde::Serialize;
use std::ops::Not;

/// The figure as JSON.
pub(crate) fn json(figure: &Figure, entries: &[Entry]) -> String {
    let count = figure.panels.len();
    let panels: Vec<Embedded> = figure
        .panels
        .iter()
        .map(|panel| match panel {
            Panel::Chart(chart) => Embedded::Chart(chart_model(chart, count, entries)),
            Panel::Matrix(matrix) => Embedded::Matrix(matrix_model(matrix, count)),
        })
        .collect();
    // Only numbers and text: this cannot fail.
    serde_json::to_string(&panels).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Embedded<'a> {
    Chart(ChartModel<'a>),
    Matrix(MatrixModel),
}

#[derive(Serialize)]
struct ChartModel<'a> {
    title: &'a str,
    frame: chart::Frame,
    slanted: bool,
    /// Full precision: the script must draw what was drawn here.
    domains: Option<[(f64, f64); 2]>,
    x: AxisModel<'a>,
    y: AxisModel<'a>,
    series: Vec<SeriesModel<'a>>,
}

#[derive(Serialize)]
struct AxisModel<'a> {
    label: &'a str,
    scale: &'static str,
    threshold: f64,
    names: &'a [String],
    /// Those of the whole range, with their labels.
    ticks: Vec<(f64, String)>,
}

#[derive(Serialize)]
struct SeriesModel<'a> {
    name: &'a str,
    entry: usize,
    /// Points that no line joins.
    marks: bool,
    #[serde(skip_serializing_if = "Not::not")]
    bars: bool,
    /// What stands at the end of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    /// Pixels across the category.
    shift: f64,
    x: Vec<Option<f64>>,
    y: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    high: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct MatrixModel {
    title: String,
    /// Left, top, width and height of the cells.
    plot: [f64; 4],
    rows: Vec<String>,
    columns: Vec<String>,
    values: Vec<Vec<Option<f64>>>,
}

fn chart_model<'a>(chart: &'a Chart, panels: usize, entries: &[Entry]) -> ChartModel<'a> {
    let (width, height) = figure::chart_size(panels);
    let layout = chart::Layout::new(chart, width, height);
    ChartModel {
        title: &chart.title,
        frame: layout.frame,
        slanted: layout.slanted,
        domains: layout.domains,
        x: axis(&chart.x, layout.x_ticks()),
        y: axis(&chart.y, layout.y_ticks()),
        series: (chart.series.iter().zip(chart::shifts(chart)).zip(chart::labels(chart)))
            .map(|((series, shift), label)| series_model(series, shift, label, entries))
            .collect(),
    }
}

fn axis(axis: &Axis, ticks: Vec<Tick>) -> AxisModel<'_> {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
        Scale::Symlog(_) => "symlog",
    };
    let ticks = ticks.into_iter().map(|tick| (tick.at, tick.label)).collect();
    AxisModel { label: &axis.label, scale, threshold: axis.scale.threshold(), names: &axis.names, ticks }
}

fn series_model<'a>(
    series: &'a Series,
    shift: f64,
    label: Option<&'a str>,
    entries: &[Entry],
) -> SeriesModel<'a> {
    let points = || series.points.iter();
    let ends = points().any(|point| point.low.is_some() || point.high.is_some());
    let optional = |end: fn(&crate::model::Point) -> Option<f64>| match ends {
        true => points().map(|point| end(point).and_then(six_digits)).collect(),
        false => Vec::new(),
    };
    SeriesModel {
        name: &series.name,
        entry: find(entries, series).entry,
        marks: !series.look.is_line(),
        bars: series.look == Look::Bars,
        label,
        shift,
        x: points().map(|point| six_digits(point.x)).collect(),
        y: points().map(|point| six_digits(point.y)).collect(),
        low: optional(|point| point.low),
        high: optional(|point| point.high),
    }
}

fn matrix_model(matrix: &Matrix, panels: usize) -> MatrixModel {
    let layout = matrix::Layout::new(matrix, figure::matrix_width(matrix, panels));
    let (width, height) = layout.extent();
    let (rows, columns) = layout.names();
    MatrixModel {
        title: matrix.title.clone(),
        plot: [layout.left, layout.top, width, height],
        rows: rows.to_vec(),
        columns: columns.to_vec(),
        values: matrix
            .values
            .iter()
            .map(|row| row.iter().map(|&value| six_digits(value)).collect())
            .collect(),
    }
}
