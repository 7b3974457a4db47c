//! Matrices as SVG: one path for each colour, so that a hundred rows and columns stay small.

use crate::model::{Matrix, Palette};
use crate::number::{fixed, is_drawable, px, short};
use crate::text::{escape, fit, width};
use crate::theme::{STEPS, letter};
use std::fmt::Write;

/// A matrix laid out for a width.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    matrix: &'a Matrix,
    rows: Vec<String>,
    columns: Vec<String>,
    range: Option<(f64, f64)>,
    /// Left, top, and the size of a cell.
    pub left: f64,
    pub top: f64,
    pub cell: (f64, f64),
    slanted: bool,
    /// The size of the drawing.
    pub size: (f64, f64),
}

/// The longest name, in pixels.
const NAME: f64 = 110.0;
/// The least height of the colour bar.
const SHORTEST: f64 = 44.0;
/// Room for the colour bar.
const BAR: f64 = 76.0;

impl<'a> Layout<'a> {
    /// Cells as large as the width allows, square where that looks right.
    pub fn new(matrix: &'a Matrix, width: f64) -> Self {
        let (rows, columns) =
            (names(&matrix.rows, row_count(matrix)), names(&matrix.columns, column_count(matrix)));
        let widest =
            |names: &[String]| names.iter().map(|name| self::width(&fit(name, NAME))).fold(0.0, f64::max);
        let left = widest(&rows) + 14.0;
        let top = if matrix.row_label.is_empty() { 10.0 } else { 26.0 };
        let (down, across) = (rows.len().max(1) as f64, columns.len().max(1) as f64);
        let cell_width = ((width - left - BAR) / across).min(46.0);
        let tallest = 0.85 * width / down;
        let cell_height =
            if tallest >= 14.0 { cell_width.clamp(14.0, tallest.min(46.0)) } else { cell_width.min(tallest) };
        let cell = (cell_width.min(2.2 * cell_height), cell_height);
        let name = widest(&columns);
        let slanted = name + 6.0 > cell.0 && name > 28.0;
        let labels = if slanted { 0.71 * name + 16.0 } else { 20.0 };
        let bottom = labels + if matrix.column_label.is_empty() { 4.0 } else { 24.0 };
        let size = (width, (top + bottom + cell.1 * down).max(top + SHORTEST + 8.0));
        Self { matrix, rows, columns, range: range(matrix), left, top, cell, slanted, size }
    }

    /// The cells' width and height together.
    pub fn extent(&self) -> (f64, f64) {
        (self.cell.0 * self.columns.len() as f64, self.cell.1 * self.rows.len() as f64)
    }

    /// The names of rows and columns, all of them.
    pub fn names(&self) -> (&[String], &[String]) {
        (&self.rows, &self.columns)
    }

    /// The inside of an `<svg>`.
    pub fn draw(&self) -> String {
        let (w, h) = self.extent();
        let Some(range) = self.range else {
            let (x, y) = (px(self.size.0 / 2.0), px(self.size.1 / 2.0));
            return format!(r#"<text class="empty" x="{x}" y="{y}">no data</text>"#);
        };
        let (x, y) = (px(self.left), px(self.top));
        let mut out = format!(
            r#"<g class="cells" transform="translate({x} {y}) scale({:.5} {:.5})">"#,
            self.cell.0, self.cell.1
        );
        out.push_str(&self.cells(range));
        out.push_str("</g>");
        if self.cell.0 >= 9.0 && self.cell.1 >= 9.0 {
            out.push_str(&self.gaps(w, h));
        }
        out.push_str(&self.numbers(range));
        out.push_str(&self.labels(h));
        out.push_str(&self.bar(range, w, h));
        out
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        self.matrix.values.get(row).and_then(|values| values.get(column)).copied().unwrap_or(f64::NAN)
    }

    /// Strokes of one row's height, neighbours of one colour joined.
    fn cells(&self, range: (f64, f64)) -> String {
        let mut paths = vec![String::new(); STEPS + 1];
        for row in 0..self.rows.len() {
            let steps: Vec<usize> = (0..self.columns.len())
                .map(|column| step(self.value(row, column), range).unwrap_or(STEPS))
                .collect();
            let mut column = 0;
            for run in steps.chunk_by(|a, b| a == b) {
                let _ = write!(paths[run[0]], "M{column} {row}.5h{}", run.len());
                column += run.len();
            }
        }
        let mut out = String::new();
        let letter = letter(self.matrix.palette);
        for (i, d) in paths.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
            let class = if i == STEPS { "absent".to_owned() } else { format!("{letter}{i}") };
            let _ = write!(out, r#"<path class="{class}" d="{d}"/>"#);
        }
        out
    }

    fn gaps(&self, w: f64, h: f64) -> String {
        let mut d = String::new();
        for i in 1..self.columns.len() {
            let _ = write!(d, "M{} {}v{}", px(self.left + self.cell.0 * i as f64), px(self.top), px(h));
        }
        for i in 1..self.rows.len() {
            let _ = write!(d, "M{} {}h{}", px(self.left), px(self.top + self.cell.1 * i as f64), px(w));
        }
        format!(r#"<path class="gaps" d="{d}"/>"#)
    }

    /// The numbers in the cells, if asked for and if there is room.
    fn numbers(&self, range: (f64, f64)) -> String {
        let Some(digits) = self.matrix.digits else { return String::new() };
        let places =
            (0..self.rows.len()).flat_map(|row| (0..self.columns.len()).map(move |column| (row, column)));
        let texts: Vec<(usize, usize, Option<usize>, String)> = places
            .map(|(row, column)| {
                let value = self.value(row, column);
                let text = if is_drawable(value) { fixed(value, digits) } else { "–".to_owned() };
                (row, column, step(value, range), text)
            })
            .collect();
        let widest = texts.iter().map(|(.., text)| width(text)).fold(0.0, f64::max);
        let room = self.cell.0 - 4.0;
        let small = match (0.92 * widest <= room, 0.75 * widest <= room, self.cell.1 >= 12.0) {
            (true, _, true) => "",
            (_, true, true) => " small",
            _ => return String::new(),
        };
        let mut out = String::new();
        let letter = letter(self.matrix.palette);
        for (row, column, step, text) in texts {
            let x = px(self.left + self.cell.0 * (column as f64 + 0.5));
            let y =
                px(self.top + self.cell.1 * (row as f64 + 0.5) + if small.is_empty() { 4.0 } else { 3.0 });
            let class = step.map(|i| format!(" t{letter}{i}")).unwrap_or_default();
            let _ = write!(out, r#"<text class="value{small}{class}" x="{x}" y="{y}">{text}</text>"#);
        }
        out
    }

    fn labels(&self, h: f64) -> String {
        let mut out = String::new();
        for (i, name) in thinned(&self.rows, 15.0 / self.cell.1) {
            let (x, y) = (px(self.left - 7.0), px(self.top + self.cell.1 * (i as f64 + 0.5) + 4.0));
            let _ = write!(out, r#"<text class="end" x="{x}" y="{y}">{}</text>"#, escape(&fit(name, NAME)));
        }
        let widest = self.columns.iter().map(|name| width(name)).fold(0.0, f64::max);
        let gap = if self.slanted { 14.0 } else { widest + 6.0 };
        for (i, name) in thinned(&self.columns, gap / self.cell.0) {
            let x = px(self.left + self.cell.0 * (i as f64 + 0.5) + if self.slanted { 4.0 } else { 0.0 });
            let y = px(self.top + h + if self.slanted { 13.0 } else { 17.0 });
            let (class, slant) = match self.slanted {
                true => ("end", format!(r#" transform="rotate(-45 {x} {y})""#)),
                false => ("middle", String::new()),
            };
            let name = escape(&fit(name, NAME));
            let _ = write!(out, r#"<text class="{class}" x="{x}" y="{y}"{slant}>{name}</text>"#);
        }
        if !self.matrix.row_label.is_empty() {
            let label = escape(&fit(&self.matrix.row_label, 0.9 * self.size.0));
            let _ = write!(out, r#"<text class="label" x="2" y="14">{label}</text>"#);
        }
        if !self.matrix.column_label.is_empty() {
            let (x, y) = (px(self.left + self.extent().0 / 2.0), px(self.size.1 - 6.0));
            let label = escape(&fit(&self.matrix.column_label, 0.9 * self.size.0));
            let _ = write!(out, r#"<text class="label middle" x="{x}" y="{y}">{label}</text>"#);
        }
        out
    }

    /// The colours from low (below) to high (above), with three numbers.
    fn bar(&self, (low, high): (f64, f64), w: f64, h: f64) -> String {
        let x = self.left + w + 14.0;
        let height = h.clamp(SHORTEST, 200.0);
        let each = height / STEPS as f64;
        let letter = letter(self.matrix.palette);
        let mut out = format!(r#"<g class="bar" stroke-width="{:.2}">"#, each + 0.2);
        for i in 0..STEPS {
            let y = px(self.top + height - each * (i as f64 + 0.5));
            let _ = write!(out, r#"<path class="{letter}{i}" d="M{} {y}h12"/>"#, px(x));
        }
        out.push_str("</g>");
        let middle = (0.5 * (low + high), 0.5);
        for (value, share) in [(high, 0.0), middle, (low, 1.0)] {
            if share == 0.5 && height < 60.0 {
                continue;
            }
            let y = px(self.top + 4.0 + share * height + 4.0 * (1.0 - 2.0 * share));
            let _ = write!(out, r#"<text x="{}" y="{y}">{}</text>"#, px(x + 17.0), short(value, 3));
        }
        out
    }
}

/// Every first, second, fifth, tenth, … name, at least `least` apart; counted ones at round numbers.
fn thinned(names: &[String], least: f64) -> impl Iterator<Item = (usize, &String)> {
    let strides = [1, 2, 5, 10, 20, 50, 100];
    let stride = strides.into_iter().find(|&stride| stride as f64 >= least).unwrap_or(1000);
    let counted = names.iter().enumerate().all(|(i, name)| *name == (i + 1).to_string());
    names.iter().enumerate().skip(if counted { stride - 1 } else { 0 }).step_by(stride)
}

/// The colour of a value; none for no value.
fn step(value: f64, (low, high): (f64, f64)) -> Option<usize> {
    is_drawable(value)
        .then(|| ((value - low) / (high - low) * STEPS as f64).clamp(0.0, STEPS as f64 - 1.0) as usize)
}

fn row_count(matrix: &Matrix) -> usize {
    matrix.values.len()
}

fn column_count(matrix: &Matrix) -> usize {
    matrix.values.iter().map(Vec::len).max().unwrap_or(0)
}

/// Given names; what is missing is counted from 1.
fn names(given: &[String], count: usize) -> Vec<String> {
    (0..count).map(|i| given.get(i).cloned().unwrap_or_else(|| (i + 1).to_string())).collect()
}

/// The values of the first and the last colour.
fn range(matrix: &Matrix) -> Option<(f64, f64)> {
    let values = || matrix.values.iter().flatten().copied().filter(|&v| is_drawable(v));
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low > high {
        return None;
    }
    if let Some((low, high)) =
        matrix.range.filter(|&(low, high)| low < high && is_drawable(low) && is_drawable(high))
    {
        return Some((low, high));
    }
    let (low, high) = match matrix.palette {
        Palette::Sequential => (low, high),
        Palette::Diverging => (-low.abs().max(high.abs()), low.abs().max(high.abs())),
    };
    Some(if low < high { (low, high) } else { (low - 0.5, high + 0.5) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_colour_are_one_stroke() {
        let values = vec![vec![1.0, 1.0, f64::NAN], vec![0.0, 1.0]];
        let matrix = Matrix { values, ..Matrix::default() };
        let text = Layout::new(&matrix, 300.0).draw();
        assert!(text.contains(r#"<path class="q20" d="M0 0.5h2M1 1.5h1"/>"#), "{text}");
        assert!(text.contains(r#"<path class="absent" d="M2 0.5h1M2 1.5h1"/>"#), "{text}");
    }

    #[test]
    fn large_matrices_stay_small() {
        let cell = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1000) as f64;
        let values = (0..123).map(|i| (0..123).map(|j| cell(i, j)).collect()).collect();
        let text = Layout::new(&Matrix { values, ..Matrix::default() }, 460.0).draw();
        assert!(text.len() < 220_000, "{}", text.len());
    }

    #[test]
    fn diverging_ranges_have_zero_in_the_middle() {
        let matrix =
            Matrix { values: vec![vec![-1.0, 3.0]], palette: Palette::Diverging, ..Matrix::default() };
        assert_eq!(range(&matrix), Some((-3.0, 3.0)));
        assert_eq!(step(0.0, (-3.0, 3.0)), Some(STEPS / 2));
        assert_eq!(range(&Matrix { values: vec![vec![2.0]], ..Matrix::default() }), Some((1.5, 2.5)));
        assert!(Layout::new(&Matrix::default(), 300.0).draw().contains("no data"));
    }
}
