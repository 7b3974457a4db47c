//! Charts as SVG: axes, grid and series, in classes that the page's script redraws.

use crate::coincide::coincide;
use crate::legend::{Entry, class, find};
use crate::model::{Axis, Chart, Look, Point, Series};
use crate::number::px;
use crate::path::Plot;
use crate::scale::{Ruler, domain};
use crate::text::{escape, fit, width};
use crate::theme::COLOURS;
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
/// The distance of labels of lines, in pixels.
const LINE: f64 = 14.0;

/// What a chart may be wider for the sake of long names on its y axis.
const EXTRA: f64 = 90.0;

/// The longest name of a category on the y axis, in pixels: names have room before dots have.
fn longest(width: f64) -> f64 {
    (0.5 * width + EXTRA).max(NAME)
}

/// The longest label of a line, in pixels.
fn longest_label(width: f64) -> f64 {
    0.4 * width
}

/// From the end of the axis to so many labels of lines: a stroke leads from each line to its label.
fn lead(labels: usize) -> f64 {
    if labels > 1 { 28.0 } else { 14.0 }
}

impl<'a> Layout<'a> {
    /// Margins that hold the labels.
    pub fn new(chart: &'a Chart, width: f64, height: f64) -> Self {
        let names = |axis: &Axis, most: f64| {
            axis.names.iter().map(|name| self::width(&fit(name, most))).fold(0.0, f64::max)
        };
        let (x_name, y_name) = (names(&chart.x, NAME), names(&chart.y, longest(width)));
        let width = width + (y_name - 0.34 * width).clamp(0.0, EXTRA);
        let slanted = (x_name + 10.0) * chart.x.names.len() as f64 > NARROW;
        let labels = if slanted { 0.6 * x_name + 16.0 } else { 20.0 };
        let top = if chart.y.label.is_empty() { 10.0 } else { 28.0 };
        let bottom = labels + if chart.x.label.is_empty() { 6.0 } else { 26.0 };
        let texts: Vec<&str> = self::labels(chart).into_iter().flatten().collect();
        let widest =
            texts.iter().map(|text| self::width(&fit(text, longest_label(width)))).fold(0.0, f64::max);
        let height = match chart.y.names.len() {
            0 => {
                let height = height + if slanted { labels - 20.0 } else { 0.0 };
                height.max(top + bottom + LINE * texts.len() as f64)
            }
            rows => {
                let spread = shifts(chart).into_iter().fold(0.0, f64::max) * 2.0;
                top + bottom + (spread + 16.0).max(26.0) * rows as f64 + 8.0
            }
        };
        let right = if texts.is_empty() { 16.0 } else { lead(texts.len()) + widest + 8.0 };
        let mut frame = Frame { width, height, left: 40.0, right, top, bottom };
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
        out.push_str(&self.ends(entries));
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
            let text = escape(&fit(&tick.label, left - 12.0));
            let (x, y) = (px(left - 8.0), px(y + 4.0));
            write(&mut y_text, format!(r#"<text class="tick" x="{x}" y="{y}">{text}</text>"#));
        }
        let slanted = if self.slanted { " slanted" } else { "" };
        format!(
            r#"<path class="grid" d="{grid}"/><path class="minor" d="{minor}"/><g class="x{slanted}">{x_text}</g><g class="y">{y_text}</g>"#
        )
    }

    fn plot(&self, shift: f64) -> Plot {
        Plot { x: self.x_ruler(), y: self.y_ruler(), sideways: !self.chart.y.names.is_empty(), shift }
    }

    /// Lines in pixels; series that are no lines have no places.
    fn lines(&self) -> Vec<Vec<(f64, f64)>> {
        let plot = self.plot(0.0);
        let line = |series: &Series| match series.look.is_line() && !plot.sideways {
            true => series.points.iter().filter_map(|point| plot.place(point)).collect(),
            false => Vec::new(),
        };
        self.chart.series.iter().map(line).collect()
    }

    fn series(&self, entries: &[Entry]) -> String {
        let lines = self.lines();
        let mut out = String::new();
        for (i, (series, shift)) in self.chart.series.iter().zip(shifts(self.chart)).enumerate() {
            let style = find(entries, series);
            let (entry, colour) = (style.entry, style.colour);
            let paths = self.plot(shift).paths(series.look, &series.points);
            // A line that another one covers looks out on both sides of it.
            let under =
                series.look.is_line() && lines[i + 1..].iter().any(|above| coincide(&lines[i], above));
            let strong = if series.strong { " strong" } else { "" };
            let main = class(style.look).to_owned() + if under { " under" } else { strong };
            let _ = write!(out, r#"<g class="series c{colour}" data-entry="{entry}">"#);
            for (class, d) in [("band", &paths.band), ("bars", &paths.bars), (main.as_str(), &paths.main)] {
                let _ = write!(out, r#"<path class="{class}" d="{d}"/>"#);
            }
            out.push_str("</g>");
        }
        out
    }
}

impl Layout<'_> {
    /// Labels at the ends of lines, each with a stroke of its line's colour that leads to it.
    fn ends(&self, entries: &[Entry]) -> String {
        let Frame { width, height, right, top, bottom, .. } = self.frame;
        let lines = self.lines();
        let ends: Vec<(&Series, &str, (f64, f64))> = (self.chart.series.iter().zip(labels(self.chart)))
            .zip(&lines)
            .filter_map(|((series, label), line)| Some((series, label?, *line.last()?)))
            .collect();
        if ends.is_empty() {
            return String::new();
        }
        let wanted: Vec<f64> = ends.iter().map(|(.., (_, y))| *y).collect();
        let places = spread(&wanted, top, height - bottom);
        let x = width - right + lead(ends.len());
        let mut out = String::from(r#"<g class="ends">"#);
        for ((series, text, (end, from)), to) in ends.into_iter().zip(places) {
            let style = find(entries, series);
            let (entry, colour) = (style.entry, style.colour);
            let (text, look) = (escape(&fit(text, longest_label(width))), class(style.look));
            let _ = write!(
                out,
                r#"<g class="named c{colour}" data-entry="{entry}"><path class="{look} lead" d="M{} {} {} {}"/><text class="label" x="{}" y="{}">{text}</text></g>"#,
                px(end + 3.0),
                px(from),
                px(x - 3.0),
                px(to),
                px(x),
                px(to + 4.0)
            );
        }
        out + "</g>"
    }
}

/// What stands at the end of each series' line: what it was given or, where lines outnumber colours, its name.
pub(crate) fn labels(chart: &Chart) -> Vec<Option<&str>> {
    let is_line =
        |series: &Series| series.look.is_line() && !series.points.is_empty() && chart.y.names.is_empty();
    let mut names: Vec<&str> =
        chart.series.iter().filter(|series| is_line(series)).map(|series| series.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let many = names.len() > COLOURS;
    let mut out: Vec<Option<&str>> = Vec::new();
    for series in &chart.series {
        let text = series.label.as_deref().or(many.then_some(series.name.as_str()));
        // Lines of one name have one label.
        let wanted = |text: &&str| is_line(series) && !text.is_empty() && !out.contains(&Some(text));
        out.push(text.filter(wanted));
    }
    out
}

/// Places near the wanted ones, far enough from each other to be read: a crowd stands around its middle.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&i, &j| wanted[i].total_cmp(&wanted[j]));
    // Crowds, each with the sum of where its members want it to begin. One that reaches the crowd before joins it.
    let mut crowds: Vec<(f64, usize)> = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        crowds.push((wanted[i] - LINE * place as f64, 1));
        while let [.., (above, many), (below, few)] = crowds[..] {
            if above / many as f64 <= below / few as f64 {
                break;
            }
            crowds.truncate(crowds.len() - 2);
            crowds.push((above + below, many + few));
        }
    }
    let starts = crowds.iter().flat_map(|&(sum, size)| std::iter::repeat_n(sum / size as f64, size));
    let mut places = wanted.to_vec();
    for ((place, &i), start) in order.iter().enumerate().zip(starts) {
        places[i] = start + LINE * place as f64;
    }
    let mut least = top;
    for &i in &order {
        places[i] = places[i].max(least);
        least = places[i] + LINE;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        places[i] = places[i].min(most);
        most = places[i] - LINE;
    }
    places
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
    let zero = chart.series.iter().any(|series| series.look == Look::Bars).then_some(0.0);
    let (x_zero, y_zero) = if sideways { (zero, None) } else { (None, zero) };
    let x = domain(&chart.x, points().map(|p| p.x).chain(ends(sideways)).chain(x_zero), air, sideways);
    let y = domain(&chart.y, points().map(|p| p.y).chain(ends(!sideways)).chain(y_zero), 0.05, true);
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
        let name = "tuned: softelim(w=0.5388)";
        let series = vec![Series::marks("a", vec![Point::new(1.0, 0.0)])];
        let chart = Chart { y: Axis::named("", [name, "b"]), ..chart(series) };
        let layout = Layout::new(&chart, 460.0, 300.0);
        assert!(layout.frame.left > 150.0 && layout.frame.left < 230.0, "{:?}", layout.frame);
        assert!(layout.draw(&[], "c").contains(name), "there is room for the whole name");
        let named = Chart { x: Axis::named("", ["some policy"; 9]), ..chart };
        assert!(Layout::new(&named, 400.0, 300.0).slanted);
    }

    fn flat(name: &str, y: f64) -> Series {
        Series::line(name, (0..5).map(|x| Point::new(f64::from(x), y)).collect())
    }

    /// The numbers of an attribute of all labels of lines.
    fn numbers(text: &str, key: &str) -> Vec<f64> {
        let part = text.split(r#"<g class="ends">"#).nth(1).and_then(|part| part.split("</g></g>").next());
        let part = part.unwrap_or_default();
        let texts = part.split("<text").skip(1).filter_map(|rest| rest.split(&format!(" {key}=\"")).nth(1));
        texts.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
    }

    #[test]
    fn many_lines_have_their_names_beside_them() {
        let names: Vec<String> = (0..12).map(|i| format!("policy {i}")).collect();
        let eight = chart(names[..8].iter().map(|name| flat(name, 1.0)).collect());
        assert!(labels(&eight).iter().all(Option::is_none));
        // All of them end at one place, the lowest of the chart.
        let twelve = chart(names.iter().map(|name| flat(name, 1.0)).chain([flat("other", 9.0)]).collect());
        let layout = Layout::new(&twelve, 460.0, 340.0);
        let text = layout.draw(&[], "c");
        assert!(names.iter().all(|name| text.contains(&format!(">{name}</text>"))), "{text}");
        let mut ys = numbers(&text, "y");
        ys.sort_by(f64::total_cmp);
        assert_eq!(ys.len(), 13);
        assert!(ys.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 0.2), "{ys:?}");
        assert!(ys[0] > 0.0 && ys[12] < layout.frame.height, "{ys:?}");
        let longest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        assert!(numbers(&text, "x").iter().all(|x| x + longest < 460.0));
    }

    #[test]
    fn crowded_labels_stand_around_their_middle() {
        assert_eq!(spread(&[100.0, 300.0], 0.0, 400.0), [100.0, 300.0]);
        assert_eq!(spread(&[100.0, 98.0, 102.0, 300.0], 0.0, 400.0), [100.0, 86.0, 114.0, 300.0]);
        assert_eq!(spread(&[2.0, 1.0], 0.0, 400.0), [14.0, 0.0]);
        assert_eq!(spread(&[399.0, 400.0], 0.0, 400.0), [386.0, 400.0]);
    }

    #[test]
    fn a_line_is_labelled_where_it_ends() {
        let series = vec![flat("a", 1.0), flat("b", 3.0).label("tuned"), flat("c", 9.0)];
        let chart = chart(series);
        assert_eq!(labels(&chart), [None, Some("tuned"), None]);
        let layout = Layout::new(&chart, 460.0, 340.0);
        let [x, y] = ["x", "y"].map(|key| numbers(&layout.draw(&[], "c"), key));
        let end = layout.lines()[1].last().copied().unwrap();
        assert!(
            x[0] > end.0 && x[0] < end.0 + 40.0 && (y[0] - 4.0 - end.1).abs() < 0.2,
            "{x:?} {y:?} {end:?}"
        );
    }

    #[test]
    fn covered_lines_stay_visible() {
        let chart = chart(vec![flat("a", 1.0), flat("b", 5.0), flat("c", 1.0), flat("d", 9.0)]);
        let text = Layout::new(&chart, 460.0, 340.0).draw(&[], "c");
        let classes: Vec<&str> =
            text.split(r#"<path class="line "#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(classes, ["solid under", "solid", "solid", "solid"]);
    }

    #[test]
    fn bars_are_seen_from_zero() {
        let points = vec![Point::new(5.0, 0.0), Point::new(4.0, 1.0)];
        let chart = Chart { y: Axis::named("", ["a", "b"]), ..chart(vec![Series::bars("size", points)]) };
        let layout = Layout::new(&chart, 460.0, 340.0);
        assert_eq!(layout.domains.map(|domains| domains[0].0), Some(0.0));
        assert!(layout.draw(&[], "c").contains(r#"class="columns""#));
    }
}
