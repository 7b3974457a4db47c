//! Charts as SVG: axes, grid and series, in classes that the page's script redraws.

use crate::legend::{Entry, class, find};
use crate::model::{Axis, Chart, Look, Point, Series};
use crate::number::px;
use crate::path::Plot;
use crate::scale::{Ruler, domain};
use crate::text::{escape, fit, width};
use crate::ticks::{Tick, named, ticks};
use serde::Serialize;
use std::fmt::Write;

/// The drawing's size and its margins, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Frame {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A chart laid out for a width.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    chart: &'a Chart,
    pub frame: Frame,
    /// What the axes show; none where there is no data.
    pub domains: Option<[(f64, f64); 2]>,
    /// Labels of the x axis are slanted.
    pub slanted: bool,
}

/// The longest name of a category on the x axis, in pixels.
const NAME: f64 = 150.0;
/// The distance of marks in one category, in pixels.
const APART: f64 = 8.0;
/// What a chart on a phone can give to labels of categories.
const NARROW: f64 = 250.0;

/// The longest name of a category on the y axis, in pixels.
fn longest(width: f64) -> f64 {
    (0.34 * width).max(NAME)
}

impl<'a> Layout<'a> {
    /// Margins that hold the labels.
    pub fn new(chart: &'a Chart, width: f64, height: f64) -> Self {
        let names = |axis: &Axis, most: f64| {
            axis.names.iter().map(|name| self::width(&fit(name, most))).fold(0.0, f64::max)
        };
        let (x_name, y_name) = (names(&chart.x, NAME), names(&chart.y, longest(width)));
        let slanted = (x_name + 10.0) * chart.x.names.len() as f64 > NARROW;
        let labels = if slanted { 0.6 * x_name + 16.0 } else { 20.0 };
        let top = if chart.y.label.is_empty() { 10.0 } else { 28.0 };
        let bottom = labels + if chart.x.label.is_empty() { 6.0 } else { 26.0 };
        let height = match chart.y.names.len() {
            0 => height + if slanted { labels - 20.0 } else { 0.0 },
            rows => {
                let spread = shifts(chart).into_iter().fold(0.0, f64::max) * 2.0;
                top + bottom + (spread + 16.0).max(26.0) * rows as f64 + 8.0
            }
        };
        let mut frame = Frame { width, height, left: 40.0, right: 16.0, top, bottom };
        let mut layout = Self { chart, frame, domains: domains(chart), slanted };
        frame.left = match chart.y.names.is_empty() {
            false => y_name + 16.0,
            true => layout.y_ticks().iter().map(|tick| self::width(&tick.label)).fold(24.0, f64::max) + 12.0,
        };
        if slanted {
            frame.left = frame.left.max(0.8 * x_name - 10.0);
        }
        layout.frame = frame;
        layout
    }

    fn ruler(&self, axis: &Axis, which: usize, from: f64, to: f64) -> Ruler {
        let (low, high) = self.domains.map_or((0.0, 1.0), |domains| domains[which]);
        Ruler { scale: axis.scale, low, high, from, to }
    }

    fn x_ruler(&self) -> Ruler {
        self.ruler(&self.chart.x, 0, self.frame.left, self.frame.width - self.frame.right)
    }

    fn y_ruler(&self) -> Ruler {
        let (top, bottom) = (self.frame.top, self.frame.height - self.frame.bottom);
        // Names read from the top.
        let (from, to) = if self.chart.y.names.is_empty() { (bottom, top) } else { (top, bottom) };
        self.ruler(&self.chart.y, 1, from, to)
    }

    /// The ticks of the x axis; none where there is no data.
    pub fn x_ticks(&self) -> Vec<Tick> {
        let ruler = self.x_ruler();
        if self.domains.is_none() {
            return Vec::new();
        }
        match self.chart.x.names.is_empty() {
            true => ticks(&ruler, (((ruler.to - ruler.from) / 64.0) as usize).max(2)),
            false => named(&self.chart.x.names, &ruler, if self.slanted { 15.0 } else { 12.0 }),
        }
    }

    /// The ticks of the y axis; none where there is no data.
    pub fn y_ticks(&self) -> Vec<Tick> {
        let ruler = self.y_ruler();
        if self.domains.is_none() {
            return Vec::new();
        }
        match self.chart.y.names.is_empty() {
            true => ticks(&ruler, (((ruler.from - ruler.to) / 40.0) as usize).max(2)),
            false => named(&self.chart.y.names, &ruler, 14.0),
        }
    }

    /// The inside of an `<svg>`; `id` is unique in the document.
    pub fn draw(&self, entries: &[Entry], id: &str) -> String {
        let Frame { width, height, left, right, top, bottom } = self.frame;
        let (x_end, y_end) = (width - right, height - bottom);
        let (w, h) = (px(x_end - left), px(y_end - top));
        let (x0, y0, x1, y1) = (px(left), px(top), px(x_end), px(y_end));
        let mut out =
            format!(r#"<clipPath id="{id}"><rect x="{x0}" y="{y0}" width="{w}" height="{h}"/></clipPath>"#);
        if self.domains.is_some() {
            out.push_str(&self.ticks_and_grid());
        }
        let _ = write!(out, r#"<path class="axes" d="M{x0} {y0}V{y1}H{x1}"/>"#);
        let _ = write!(out, r##"<g class="plot" clip-path="url(#{id})">"##);
        out.push_str(&self.series(entries));
        out.push_str("</g>");
        if self.domains.is_none() {
            let (x, y) = (px((left + x_end) / 2.0), px((top + y_end) / 2.0));
            let _ = write!(out, r#"<text class="empty" x="{x}" y="{y}">no data</text>"#);
        }
        let label = |axis: &Axis| escape(&fit(&axis.label, 0.9 * width));
        if !self.chart.y.label.is_empty() {
            let _ =
                write!(out, r#"<text class="label y-label" x="2" y="14">{}</text>"#, label(&self.chart.y));
        }
        if !self.chart.x.label.is_empty() {
            let (x, y) = (px((left + x_end) / 2.0), px(height - 8.0));
            let text = label(&self.chart.x);
            let _ = write!(out, r#"<text class="label x-label middle" x="{x}" y="{y}">{text}</text>"#);
        }
        out
    }

    fn ticks_and_grid(&self) -> String {
        let Frame { width, height, left, right, top, bottom } = self.frame;
        let (x_end, y_end) = (width - right, height - bottom);
        let (xs, ys) = (self.x_ruler(), self.y_ruler());
        let (mut grid, mut minor, mut x_text, mut y_text) = Default::default();
        let write = |out: &mut String, text: String| out.push_str(&text);
        for tick in self.x_ticks() {
            let x = px(xs.px(tick.at));
            if tick.label.is_empty() {
                write(&mut minor, format!("M{x} {}v4", px(y_end)));
                continue;
            }
            write(&mut grid, format!("M{x} {}V{}", px(top), px(y_end)));
            let text = escape(&fit(&tick.label, NAME));
            let y = px(y_end + if self.slanted { 14.0 } else { 18.0 });
            let slant =
                if self.slanted { format!(r#" transform="rotate(-35 {x} {y})""#) } else { String::new() };
            write(&mut x_text, format!(r#"<text class="tick" x="{x}" y="{y}"{slant}>{text}</text>"#));
        }
        for tick in self.y_ticks() {
            let y = ys.px(tick.at);
            if tick.label.is_empty() {
                write(&mut minor, format!("M{} {}h-4", px(left), px(y)));
                continue;
            }
            write(&mut grid, format!("M{} {}H{}", px(left), px(y), px(x_end)));
            let text = escape(&fit(&tick.label, longest(width)));
            let (x, y) = (px(left - 8.0), px(y + 4.0));
            write(&mut y_text, format!(r#"<text class="tick" x="{x}" y="{y}">{text}</text>"#));
        }
        let slanted = if self.slanted { " slanted" } else { "" };
        format!(
            r#"<path class="grid" d="{grid}"/><path class="minor" d="{minor}"/><g class="x{slanted}">{x_text}</g><g class="y">{y_text}</g>"#
        )
    }

    fn series(&self, entries: &[Entry]) -> String {
        let (x, y, sideways) = (self.x_ruler(), self.y_ruler(), !self.chart.y.names.is_empty());
        let mut out = String::new();
        for (series, shift) in self.chart.series.iter().zip(shifts(self.chart)) {
            let plot = Plot { x, y, sideways, shift };
            let (entry, colour) = find(entries, series);
            let paths = plot.paths(series.look, &series.points);
            let main = match series.look {
                Look::Marks => "marks".to_owned(),
                look => format!("line {}", class(look)),
            };
            let _ = write!(out, r#"<g class="series c{colour}" data-entry="{entry}">"#);
            for (class, d) in [("band", &paths.band), ("bars", &paths.bars), (main.as_str(), &paths.main)] {
                let _ = write!(out, r#"<path class="{class}" d="{d}"/>"#);
            }
            out.push_str("</g>");
        }
        out
    }
}

/// Marks of several series in one category stand side by side: so many pixels from its middle.
pub(crate) fn shifts(chart: &Chart) -> Vec<f64> {
    let category = |p: &Point| if chart.y.names.is_empty() { p.x } else { p.y };
    let categories = !(chart.x.names.is_empty() && chart.y.names.is_empty());
    let marks: Vec<&Series> = chart.series.iter().filter(|series| series.look == Look::Marks).collect();
    let shared =
        |a: &Series, b: &Series| a.points.iter().any(|p| b.points.iter().any(|q| category(p) == category(q)));
    let crowded =
        categories && marks.iter().enumerate().any(|(i, a)| marks[..i].iter().any(|b| shared(a, b)));
    let mut place = 0.0;
    let mut shift = |series: &Series| {
        if !crowded || series.look != Look::Marks {
            return 0.0;
        }
        place += 1.0;
        APART * (place - 0.5 * (marks.len() as f64 + 1.0))
    };
    chart.series.iter().map(&mut shift).collect()
}

/// What the axes show.
fn domains(chart: &Chart) -> Option<[(f64, f64); 2]> {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let sideways = !chart.y.names.is_empty();
    let ends = |along: bool| points().filter(move |_| along).flat_map(|p| [p.low, p.high]).flatten();
    let marks = chart.series.iter().any(|series| series.look == Look::Marks);
    let air = if marks || sideways { 0.04 } else { 0.0 };
    let x = domain(&chart.x, points().map(|p| p.x).chain(ends(sideways)), air, sideways);
    let y = domain(&chart.y, points().map(|p| p.y).chain(ends(!sideways)), 0.05, true);
    let seen = |p: &Point| chart.x.scale.map(p.x).is_finite() && chart.y.scale.map(p.y).is_finite();
    points().any(seen).then_some(())?;
    Some([x?, y?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: Vec<Series>) -> Chart {
        Chart { title: String::new(), x: Axis::linear("x"), y: Axis::linear("y"), series }
    }

    #[test]
    fn no_data_is_said() {
        for points in [
            vec![],
            vec![Point::new(f64::NAN, 1.0)],
            vec![Point::new(f64::NAN, 1.0), Point::new(1.0, f64::NAN)],
        ] {
            let chart = chart(vec![Series::line("a", points)]);
            let text = Layout::new(&chart, 400.0, 300.0).draw(&[], "c");
            assert!(text.contains("no data") && !text.contains("NaN"), "{text}");
        }
    }

    #[test]
    fn marks_of_one_category_stand_apart() {
        let at = |rows: &[f64]| Series::marks("", rows.iter().map(|&row| Point::new(1.0, row)).collect());
        let of = |series| shifts(&Chart { y: Axis::named("", ["a", "b", "c"]), ..chart(series) });
        assert_eq!(of(vec![at(&[0.0, 1.0]), at(&[1.0, 2.0])]), [-4.0, 4.0]);
        assert_eq!(of(vec![at(&[0.0, 1.0]), at(&[2.0])]), [0.0, 0.0]);
        assert_eq!(shifts(&chart(vec![at(&[0.0]), at(&[0.0])])), [0.0, 0.0], "numbers stand where they are");
    }

    #[test]
    fn long_names_get_room() {
        let chart = Chart { y: Axis::named("", ["a policy of a rather long name", "b"]), ..chart(vec![]) };
        let layout = Layout::new(&chart, 400.0, 300.0);
        assert!(layout.frame.left > 140.0 && layout.frame.left < 180.0);
        let named = Chart { x: Axis::named("", ["some policy"; 9]), ..chart };
        assert!(Layout::new(&named, 400.0, 300.0).slanted);
    }
}
