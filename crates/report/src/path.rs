//! Series as SVG path data; `draw.js` writes the same paths after a zoom.

use crate::model::{Look, Point};
use crate::number::px;
use crate::scale::Ruler;
use std::fmt::Write;

/// The rulers of a chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub x: Ruler,
    pub y: Ruler,
    /// Intervals are along x.
    pub sideways: bool,
    /// Moves points across their category, in pixels.
    pub shift: f64,
}

/// The drawn parts of a series: area, error bars, and line or marks.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub band: String,
    pub bars: String,
    pub main: String,
}

impl Plot {
    /// Path data of a series; what has no place leaves a gap.
    pub fn paths(&self, look: Look, points: &[Point]) -> Paths {
        let bars = !look.is_line() || self.sideways;
        Paths {
            band: if bars { String::new() } else { self.band(points) },
            bars: if bars { self.bars(points) } else { String::new() },
            main: match look {
                Look::Marks => self.marks(points),
                Look::Bars => self.columns(points),
                _ => self.line(points),
            },
        }
    }

    /// Where a point is drawn, if it can be.
    pub fn place(&self, point: &Point) -> Option<(f64, f64)> {
        let (mut x, mut y) = (self.x.px(point.x), self.y.px(point.y));
        *(if self.sideways { &mut y } else { &mut x }) += self.shift;
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }

    /// The ends of the interval, in pixels.
    fn interval(&self, point: &Point) -> Option<(f64, f64)> {
        let ruler = if self.sideways { &self.x } else { &self.y };
        let (low, high) = (ruler.px(point.low?), ruler.px(point.high?));
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    fn line(&self, points: &[Point]) -> String {
        let mut out = String::new();
        for run in runs(points.iter().map(|point| self.place(point))) {
            out.push('M');
            pairs(&mut out, &run);
            // A lone point is a dot: the caps are round.
            if run.len() == 1 {
                out.push_str("h0");
            }
        }
        out
    }

    fn marks(&self, points: &[Point]) -> String {
        let mut out = String::new();
        for (x, y) in points.iter().filter_map(|point| self.place(point)) {
            let _ = write!(out, "M{} {}h0", px(x), px(y));
        }
        out
    }

    /// Bars from zero, or from the end of the axis where there is no zero.
    fn columns(&self, points: &[Point]) -> String {
        let ruler = if self.sideways { &self.x } else { &self.y };
        let zero = ruler.px(0.0);
        let (least, most) = (ruler.from.min(ruler.to), ruler.from.max(ruler.to));
        let zero = if zero.is_finite() { zero.clamp(least, most) } else { ruler.from };
        let mut out = String::new();
        for (x, y) in points.iter().filter_map(|point| self.place(point)) {
            let _ = match self.sideways {
                true => write!(out, "M{} {}H{}", px(zero), px(y), px(x)),
                false => write!(out, "M{} {}V{}", px(x), px(zero), px(y)),
            };
        }
        out
    }

    fn bars(&self, points: &[Point]) -> String {
        let mut out = String::new();
        for point in points {
            let (Some((x, y)), Some((low, high))) = (self.place(point), self.interval(point)) else {
                continue;
            };
            let _ = match self.sideways {
                true => write!(out, "M{} {}H{}", px(low), px(y), px(high)),
                false => write!(out, "M{} {}V{}", px(x), px(low), px(high)),
            };
        }
        out
    }

    fn band(&self, points: &[Point]) -> String {
        let ends = points.iter().map(|point| self.place(point).zip(self.interval(point)));
        let mut out = String::new();
        for run in runs(ends).filter(|run| run.len() > 1) {
            let upper = run.iter().map(|&((x, _), (_, high))| (x, high));
            let lower = run.iter().rev().map(|&((x, _), (low, _))| (x, low));
            out.push('M');
            pairs(&mut out, &upper.chain(lower).collect::<Vec<_>>());
            out.push('Z');
        }
        out
    }
}

/// Pairs after an `M`: further ones are joined by lines.
fn pairs(out: &mut String, places: &[(f64, f64)]) {
    for (i, &(x, y)) in places.iter().enumerate() {
        let gap = if i > 0 { " " } else { "" };
        let _ = write!(out, "{gap}{} {}", px(x), px(y));
    }
}

/// Stretches with no gap.
fn runs<T>(items: impl Iterator<Item = Option<T>>) -> impl Iterator<Item = Vec<T>> {
    let mut out = vec![Vec::new()];
    for item in items {
        match (item, out.last_mut()) {
            (Some(item), Some(run)) => run.push(item),
            _ => out.push(Vec::new()),
        }
    }
    out.into_iter().filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Scale;

    fn plot(sideways: bool) -> Plot {
        let x = Ruler { scale: Scale::Linear, low: 0.0, high: 10.0, from: 0.0, to: 100.0 };
        Plot { x, y: Ruler { from: 100.0, to: 0.0, ..x }, sideways, shift: 0.0 }
    }

    #[test]
    fn lines_have_gaps_and_dots() {
        let ys = [0.0, 1.0, f64::NAN, 2.0, f64::INFINITY];
        let points: Vec<Point> = ys.iter().zip(0..).map(|(&y, x)| Point::new(f64::from(x), y)).collect();
        assert_eq!(plot(false).paths(Look::Line, &points).main, "M0 100 10 90M30 80h0");
        assert_eq!(plot(false).paths(Look::Line, &[]).main, "");
    }

    #[test]
    fn intervals_are_bands_or_bars() {
        let points = [Point::with_error(0.0, 5.0, 1.0), Point::with_error(10.0, 5.0, 2.0)];
        let line = plot(false).paths(Look::Dashed, &points);
        assert_eq!((line.band.as_str(), line.bars.as_str()), ("M0 40 100 30 100 70 0 60Z", ""));
        assert_eq!(plot(false).paths(Look::Marks, &points).bars, "M0 60V40M100 70V30");
        assert_eq!(plot(true).paths(Look::Marks, &[Point::in_row(5.0, 1.0, 2.0)]).bars, "M30 90H70");
    }

    #[test]
    fn bars_begin_at_zero() {
        let points = [Point::new(5.0, 1.0), Point::new(f64::NAN, 2.0)];
        assert_eq!(plot(true).paths(Look::Bars, &points).main, "M0 90H50");
        assert_eq!(plot(false).paths(Look::Bars, &points).main, "M50 100V90");
    }
}
