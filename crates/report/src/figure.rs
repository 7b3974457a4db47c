//! A figure as a file of its own: panels in a grid, title above, legend below.

use crate::legend::{self, Entry};
use crate::model::{Figure, Matrix, Panel};
use crate::number::px;
use crate::text::{attribute, escape, fit, width};
use crate::theme;
use crate::{chart, matrix};
use std::fmt::Write;

/// A panel that has been drawn.
pub(crate) struct Drawn {
    /// The inside of an `<svg>`.
    pub body: String,
    pub width: f64,
    pub height: f64,
}

/// The size of a chart among so many panels.
pub(crate) fn chart_size(panels: usize) -> (f64, f64) {
    if panels == 1 { (860.0, 420.0) } else { (460.0, 340.0) }
}

/// The width of a matrix: small enough for a phone, unless many cells need room for their numbers.
pub(crate) fn matrix_width(matrix: &Matrix, panels: usize) -> f64 {
    let columns = matrix.values.first().map_or(0, Vec::len);
    if panels == 1 && matrix.digits.is_some() && columns > 9 { 760.0 } else { 460.0 }
}

/// Do the labels of lines take so much that a third of the page is too little for this panel?
pub(crate) fn has_long_labels(panel: &Panel, panels: usize) -> bool {
    let (width, height) = chart_size(panels);
    match panel {
        Panel::Chart(chart) => chart::Layout::new(chart, width, height).frame.right > 0.25 * width,
        Panel::Matrix(_) => false,
    }
}

/// Draws a panel; `id` is unique in the document.
pub(crate) fn draw(panel: &Panel, panels: usize, entries: &[Entry], id: &str) -> Drawn {
    match panel {
        Panel::Chart(chart) => {
            let (width, height) = chart_size(panels);
            let layout = chart::Layout::new(chart, width, height);
            Drawn { body: layout.draw(entries, id), width: layout.frame.width, height: layout.frame.height }
        }
        Panel::Matrix(matrix) => {
            let layout = matrix::Layout::new(matrix, matrix_width(matrix, panels));
            Drawn { body: layout.draw(), width: layout.size.0, height: layout.size.1 }
        }
    }
}

/// Air around and between panels.
const GAP: f64 = 24.0;
/// The fonts of drawings, in the page and in files.
pub(crate) const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

impl Figure {
    /// A stand-alone SVG file in light colours, with a background of its own.
    pub fn svg(&self) -> String {
        let entries = legend::entries(self);
        let id = attribute(&self.id);
        let count = self.panels.len();
        let drawn: Vec<Drawn> = (self.panels.iter().enumerate())
            .map(|(i, panel)| draw(panel, count, &entries, &format!("{id}-{i}-clip")))
            .collect();
        let columns = match count {
            0..=3 => count.max(1),
            4 => 2,
            _ => 3,
        };
        let each = drawn.iter().map(|panel| panel.width).fold(chart_size(count.max(2)).0, f64::max);
        let full = GAP + columns as f64 * (each + GAP);
        let mut body = String::new();
        let mut y = GAP;
        if !self.title.is_empty() {
            let title = escape(&fit(&self.title, 0.8 * (full - 2.0 * GAP)));
            let _ =
                write!(body, r#"<text class="label title" x="{GAP}" y="{}">{title}</text>"#, px(y + 12.0));
            y += 34.0;
        }
        for (row, panels) in drawn.chunks(columns).enumerate() {
            let named =
                self.panels[row * columns..].iter().take(columns).any(|panel| !panel.title().is_empty());
            for (i, (panel, drawn)) in self.panels[row * columns..].iter().zip(panels).enumerate() {
                let x = GAP + i as f64 * (each + GAP);
                let _ = write!(body, r#"<g transform="translate({} {})">"#, px(x), px(y));
                if named {
                    let name = escape(&fit(panel.title(), 0.85 * each));
                    let _ = write!(body, r#"<text class="name" x="2" y="10">{name}</text>"#);
                    let _ = write!(body, r#"<g transform="translate(0 22)">{}</g></g>"#, drawn.body);
                } else {
                    let _ = write!(body, "{}</g>", drawn.body);
                }
            }
            let tallest = panels.iter().map(|panel| panel.height).fold(0.0, f64::max);
            y += tallest + GAP + if named { 22.0 } else { 0.0 };
        }
        body.push_str(&legend_row(&entries, full, &mut y));
        let (w, h) = (px(full), px(y));
        let style = theme::figure_style();
        let title = escape(&self.title);
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="{FONTS}" role="img"><title>{title}</title><style>{style}.title{{font-size:16px;font-weight:700}}</style><rect class="background" width="100%" height="100%" rx="6"/>{body}</svg>
"#
        )
    }
}

/// The legend in as many lines as it needs; moves `y` below it.
fn legend_row(entries: &[Entry], full: f64, y: &mut f64) -> String {
    let mut out = String::new();
    let mut x = GAP;
    let named = || entries.iter().filter(|entry| !entry.name.is_empty());
    for entry in named() {
        let name = fit(&entry.name, 320.0);
        let room = legend::SWATCH + 6.0 + width(&name) + 22.0;
        if x > GAP && x + room > full {
            x = GAP;
            *y += 20.0;
        }
        let swatch = entry.swatch(x, *y - 4.0);
        let (tx, ty, colour) = (px(x + legend::SWATCH + 6.0), px(*y), entry.colour);
        let _ = write!(
            out,
            r#"<g class="c{colour}">{swatch}</g><text class="label" x="{tx}" y="{ty}">{}</text>"#,
            escape(&name)
        );
        x += room;
    }
    if named().next().is_some() {
        *y += GAP;
    }
    out
}
