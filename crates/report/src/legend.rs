//! One legend for all panels of a figure: series of one name are one entry and have one colour.

use crate::model::{Figure, Look, Panel, Series};
use crate::number::px;
use crate::theme::COLOURS;

/// A line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub name: String,
    pub colour: usize,
    /// Marks or bars, where the figure has some.
    points: Option<Look>,
    /// The look that its lines were given, and the one that they have.
    line: Option<(Look, Look)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// The place of its entry.
    pub entry: usize,
    pub colour: usize,
    pub look: Look,
}

/// The entries, in order of first appearance.
pub(crate) fn entries(figure: &Figure) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let charts = figure.panels.iter().filter_map(|panel| match panel {
        Panel::Chart(chart) => Some(chart),
        Panel::Matrix(_) => None,
    });
    for series in charts.flat_map(|chart| &chart.series) {
        let place = out.iter().position(|entry| entry.name == series.name).unwrap_or_else(|| {
            let colour = series.colour.unwrap_or(out.len()) % COLOURS;
            out.push(Entry { name: series.name.clone(), colour, points: None, line: None });
            out.len() - 1
        });
        let entry = &mut out[place];
        match series.look {
            look if look.is_line() => _ = entry.line.get_or_insert((look, look)),
            look => _ = entry.points.get_or_insert(look),
        }
    }
    tell_apart(&mut out);
    out
}

/// Lines of one colour get looks of their own, as far as there are some.
fn tell_apart(entries: &mut [Entry]) {
    for i in 1..entries.len() {
        let (before, rest) = entries.split_at_mut(i);
        let Some((own, after)) = rest.split_first_mut() else { continue };
        let Some((given, drawn)) = &mut own.line else { continue };
        let colour = own.colour;
        let taken = |look: Look| {
            let drawn = |entry: &Entry| entry.line.is_some_and(|(_, drawn)| drawn == look);
            before.iter().any(|entry| entry.colour == colour && drawn(entry))
        };
        // Who was given a look keeps it.
        let reserved = |look: Look| {
            let given = |entry: &Entry| entry.line.is_some_and(|(given, _)| given == look);
            after.iter().any(|entry| entry.colour == colour && given(entry))
        };
        if taken(*given) {
            let free = || Look::LINES.into_iter().filter(|&look| !taken(look));
            *drawn = free().find(|&look| !reserved(look)).or_else(|| free().next()).unwrap_or(*given);
        }
    }
}

/// The entry of a series, and how it is drawn.
pub(crate) fn find(entries: &[Entry], series: &Series) -> Style {
    let place = entries.iter().position(|entry| entry.name == series.name).unwrap_or(0);
    let found = entries.get(place);
    let colour = series.colour.map(|colour| colour % COLOURS);
    Style {
        entry: place,
        colour: colour.unwrap_or_else(|| found.map_or(0, |entry| entry.colour)),
        look: match found.and_then(|entry| entry.line) {
            Some((given, drawn)) if given == series.look => drawn,
            _ => series.look,
        },
    }
}

/// The width of a sample in a legend, in pixels.
pub(crate) const SWATCH: f64 = 30.0;

impl Entry {
    /// A sample of what it looks like, 12 pixels high, with its left end at x and its middle at y. A dot stands before its
    /// line: dashes stay visible.
    pub fn swatch(&self, x: f64, y: f64) -> String {
        let both = self.points.is_some() && self.line.is_some();
        let (dot, from) = if both { (x + 4.0, x + 11.0) } else { (x + SWATCH / 2.0, x + 1.0) };
        let (dot, from, to, y) = (px(dot), px(from), px(x + SWATCH - 1.0), px(y));
        let line =
            self.line.map(|(_, look)| format!(r#"<path class="{}" d="M{from} {y}H{to}"/>"#, class(look)));
        let points = self.points.map(|look| match look {
            Look::Bars => format!(r#"<path class="columns" d="M{from} {y}H{to}"/>"#),
            _ => format!(r#"<path class="marks" d="M{dot} {y}h0"/>"#),
        });
        [line, points].into_iter().flatten().collect()
    }
}

/// The classes of a series' main path.
pub(crate) fn class(look: Look) -> &'static str {
    match look {
        Look::Line => "line solid",
        Look::Dashed => "line dashed",
        Look::Dotted => "line dotted",
        Look::DashDotted => "line dash-dotted",
        Look::Marks => "marks",
        Look::Bars => "columns",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Axis, Chart};

    fn chart(series: Vec<Series>) -> Panel {
        Panel::Chart(Chart { title: String::new(), x: Axis::linear("x"), y: Axis::linear("y"), series })
    }

    fn lines(names: &[&str]) -> Vec<Series> {
        names.iter().map(|&name| Series::line(name, Vec::new())).collect()
    }

    fn of(panels: Vec<Panel>) -> Vec<Entry> {
        entries(&Figure { panels, ..Figure::default() })
    }

    #[test]
    fn equal_names_share_an_entry() {
        let entries = of(vec![chart(lines(&["a", "b"])), chart(lines(&["b", "c"]))]);
        let seen: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.colour)).collect();
        assert_eq!(seen, [("a", 0), ("b", 1), ("c", 2)]);
        let style = |colour| Style { entry: 1, colour, look: Look::Line };
        assert_eq!(find(&entries, &Series::line("b", Vec::new())), style(1));
        assert_eq!(find(&entries, &Series::line("b", Vec::new()).colour(4)), style(4));
    }

    #[test]
    fn dots_and_lines_of_one_name_are_one_entry() {
        let dots = ["a", "b"].map(|name| Series::marks(name, Vec::new())).to_vec();
        let entries = of(vec![chart(dots), chart(lines(&["b", "a"]))]);
        assert_eq!(entries.len(), 2);
        for name in ["a", "b"] {
            let (dot, line) = (Series::marks(name, Vec::new()), Series::line(name, Vec::new()));
            assert_eq!(find(&entries, &dot).colour, find(&entries, &line).colour);
            assert_eq!((find(&entries, &dot).look, find(&entries, &line).look), (Look::Marks, Look::Line));
        }
        let swatch = entries[0].swatch(0.0, 6.0);
        assert!(swatch.contains("marks") && swatch.contains("solid"), "{swatch}");
    }

    /// Colours start again after eight lines, but then lines are dashed or dotted.
    #[test]
    fn no_two_lines_look_the_same() {
        let names: Vec<String> = (0..32).map(|i| i.to_string()).collect();
        let series = lines(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let entries = of(vec![chart(series.clone())]);
        let styles: Vec<_> = series.iter().map(|series| find(&entries, series)).collect();
        for (i, a) in styles.iter().enumerate() {
            assert!(styles[..i].iter().all(|b| (a.colour, a.look) != (b.colour, b.look)), "{i}");
        }
        // A look that somebody asked for is not given to others.
        let series = vec![
            Series::line("a", Vec::new()).colour(3),
            Series::line("b", Vec::new()).colour(3),
            Series::level("c", 1.0, 0.0, 1.0).colour(3),
        ];
        let entries = of(vec![chart(series.clone())]);
        let looks: Vec<_> = series.iter().map(|series| find(&entries, series).look).collect();
        assert_eq!(looks, [Look::Line, Look::DashDotted, Look::Dashed]);
    }
}
