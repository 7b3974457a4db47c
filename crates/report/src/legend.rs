//! One legend for all panels of a figure: series of one name are one entry and have one colour.

use crate::model::{Figure, Look, Panel, Series};
use crate::theme::COLOURS;

/// A line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub name: String,
    pub look: Look,
    pub colour: usize,
}

/// The entries, in order of first appearance.
pub(crate) fn entries(figure: &Figure) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let charts = figure.panels.iter().filter_map(|panel| match panel {
        Panel::Chart(chart) => Some(chart),
        Panel::Matrix(_) => None,
    });
    for series in charts.flat_map(|chart| &chart.series) {
        if out.iter().all(|entry| entry.name != series.name) {
            let colour = series.colour.unwrap_or(out.len()) % COLOURS;
            out.push(Entry { name: series.name.clone(), look: series.look, colour });
        }
    }
    out
}

/// The entry of a series: its place and its colour.
pub(crate) fn find(entries: &[Entry], series: &Series) -> (usize, usize) {
    let place = entries.iter().position(|entry| entry.name == series.name).unwrap_or(0);
    let colour = series.colour.map(|colour| colour % COLOURS);
    (place, colour.unwrap_or_else(|| entries.get(place).map_or(0, |entry| entry.colour)))
}

/// A sample of a look, 22 × 12 pixels, with its left end at x and its middle at y.
pub(crate) fn swatch(look: Look, x: f64, y: f64) -> String {
    let (x, y) = (crate::number::px(x), crate::number::px(y));
    match look {
        Look::Marks => format!(r#"<path class="marks" d="M{x} {y}m11 0h0"/>"#),
        look => format!(r#"<path class="line {}" d="M{x} {y}m1 0h20"/>"#, class(look)),
    }
}

/// The class of a line.
pub(crate) fn class(look: Look) -> &'static str {
    match look {
        Look::Line => "solid",
        Look::Dashed => "dashed",
        Look::Dotted => "dotted",
        Look::Marks => "points",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Axis, Chart};

    #[test]
    fn equal_names_share_an_entry() {
        let chart = |names: &[&str]| {
            let series = names.iter().map(|&name| Series::line(name, Vec::new())).collect();
            Panel::Chart(Chart { title: String::new(), x: Axis::linear("x"), y: Axis::linear("y"), series })
        };
        let figure = Figure { panels: vec![chart(&["a", "b"]), chart(&["b", "c"])], ..Figure::default() };
        let entries = entries(&figure);
        let seen: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.colour)).collect();
        assert_eq!(seen, [("a", 0), ("b", 1), ("c", 2)]);
        assert_eq!(find(&entries, &Series::line("b", Vec::new())), (1, 1));
        assert_eq!(find(&entries, &Series::line("b", Vec::new()).colour(4)), (1, 4));
    }
}
