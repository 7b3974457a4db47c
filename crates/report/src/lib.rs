//! Figures as data: one model, drawn as SVG and PNG files, or explored in one self-contained HTML page.
//!
//! The SVG writer is our own. plotters writes flat SVG with fixed colours, which no script can redraw and no dark mode
//! can recolour; plotly puts 4 MB of script into every page.
//!
//! ```
//! use gradband_report::{Axis, Chart, Figure, Page, Point, Section, Series};
//!
//! let points = (0..50).map(|t| Point::with_error(f64::from(t), f64::from(t).sqrt(), 0.2)).collect();
//! let chart = Chart {
//!     title: String::new(),
//!     x: Axis::linear("round"),
//!     y: Axis::linear("Bayes regret"),
//!     series: vec![Series::line("softelim", points), Series::level("optimum", 2.5, 0.0, 49.0)],
//! };
//! let figure = Figure { id: "regret".into(), title: "Regret".into(), panels: vec![chart.into()], ..Figure::default() };
//! assert!(figure.svg().starts_with("<svg"));
//!
//! let section = Section { id: "first".into(), title: "First".into(), blocks: vec![figure.into()], ..Section::default() };
//! let page = Page { title: "Report".into(), sections: vec![section], ..Page::default() };
//! assert!(page.html().contains("</html>"));
//! ```

mod chart;
mod coincide;
mod csv;
mod embed;
mod figure;
mod legend;
mod matrix;
mod model;
mod number;
mod page;
mod path;
#[cfg(feature = "png")]
mod png;
mod scale;
mod table;
mod text;
mod theme;
mod ticks;

pub use model::{
    Axis, Block, Chart, Figure, Look, Matrix, Page, Palette, Panel, Point, Scale, Section, Series,
};
#[cfg(feature = "png")]
pub use png::{Error, png};
pub use table::{Cell, Column, Table, Tone};
pub use theme::COLOURS;
