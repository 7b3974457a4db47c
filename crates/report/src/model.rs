//! What a report says, as plain data: every drawing (SVG, PNG, page, CSV) is made from these types.

use crate::table::Table;
use serde::Serialize;

/// A whole report: one HTML page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Page {
    /// The heading of the page.
    pub title: String,
    /// Paragraphs before the first section.
    pub lead: Vec<String>,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
    /// One line at the end: version, seed, date.
    pub footer: String,
}

/// A titled part of a page, such as one experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// The anchor, unique in the page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Paragraphs before the blocks.
    pub text: Vec<String>,
    /// The command that made these results.
    pub command: Option<String>,
    /// The spec that the command ran.
    pub spec: Option<String>,
    /// Figures and tables, in reading order.
    pub blocks: Vec<Block>,
}

/// A figure or a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Block {
    /// Panels side by side.
    Figure(Figure),
    /// Rows and columns of text.
    Table(Table),
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

/// Panels that share a legend and a caption.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// The anchor, unique in the page; also the name of downloaded files.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// Side by side; they wrap on narrow screens.
    pub panels: Vec<Panel>,
}

/// One drawing of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Panel {
    /// Lines and marks over two axes.
    Chart(Chart),
    /// Coloured cells.
    Matrix(Matrix),
}

impl Panel {
    /// The heading of the panel.
    pub fn title(&self) -> &str {
        match self {
            Self::Chart(chart) => &chart.title,
            Self::Matrix(matrix) => &matrix.title,
        }
    }
}

impl From<Chart> for Panel {
    fn from(chart: Chart) -> Self {
        Self::Chart(chart)
    }
}

impl From<Matrix> for Panel {
    fn from(matrix: Matrix) -> Self {
        Self::Matrix(matrix)
    }
}

/// Lines and marks over two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// The heading; may be empty.
    pub title: String,
    /// Left to right.
    pub x: Axis,
    /// Bottom to top; with names, top to bottom.
    pub y: Axis,
    /// Drawn in this order.
    pub series: Vec<Series>,
}

/// What one direction of a chart means.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    /// How numbers become positions.
    pub scale: Scale,
    /// What is shown; from the data if not given.
    pub range: Option<(f64, f64)>,
    /// Category labels at 0, 1, 2, …; empty: numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// Numbers at equal distances.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, names: Vec::new() }
    }

    /// Positive numbers, ratios at equal distances.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// Logarithmic on both sides of zero, linear within ± `threshold`.
    pub fn symlog(label: impl Into<String>, threshold: f64) -> Self {
        Self { scale: Scale::Symlog(threshold), ..Self::linear(label) }
    }

    /// Categories at 0, 1, 2, …
    pub fn named<N: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::linear(label) }
    }

    /// Shows exactly `low` to `high`.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }
}

/// How numbers become positions on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Scale {
    /// Equal differences, equal distances.
    Linear,
    /// Equal ratios, equal distances; only positive numbers are shown.
    Log,
    /// Linear within ± the threshold, logarithmic beyond it.
    Symlog(f64),
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The legend entry; series of one name in several panels of a figure share it.
    pub name: String,
    /// Line or marks.
    pub look: Look,
    /// Index into the palette; by default the place of its name in the figure's legend.
    pub colour: Option<usize>,
    /// In the order in which a line joins them.
    pub points: Vec<Point>,
    /// What stands at the end of its line; where lines outnumber the colours, all of them have their names there.
    pub label: Option<String>,
    /// A wider line: what the figure is about.
    pub strong: bool,
}

impl Series {
    /// Points joined by a line.
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), look: Look::Line, colour: None, points, label: None, strong: false }
    }

    /// Points on their own.
    pub fn marks(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { look: Look::Marks, ..Self::line(name, points) }
    }

    /// Bars from zero.
    pub fn bars(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { look: Look::Bars, ..Self::line(name, points) }
    }

    /// A horizontal dashed line, such as a known optimum.
    pub fn level(name: impl Into<String>, y: f64, x_from: f64, x_to: f64) -> Self {
        Self { look: Look::Dashed, ..Self::line(name, vec![Point::new(x_from, y), Point::new(x_to, y)]) }
    }

    /// The same points with another look.
    #[must_use]
    pub fn look(self, look: Look) -> Self {
        Self { look, ..self }
    }

    /// The same points in a colour of the palette.
    #[must_use]
    pub fn colour(self, index: usize) -> Self {
        Self { colour: Some(index), ..self }
    }

    /// The same line with some words at its end.
    #[must_use]
    pub fn label(self, text: impl Into<String>) -> Self {
        Self { label: Some(text.into()), ..self }
    }
}

/// Line, marks or bars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Look {
    /// A solid line.
    #[default]
    Line,
    /// A dashed line.
    Dashed,
    /// A dotted line.
    Dotted,
    /// A line of dashes and dots.
    DashDotted,
    /// Points only.
    Marks,
    /// Bars from zero: along x where the y axis has names, else along y.
    Bars,
}

impl Look {
    /// The lines that can be told apart, the plainest first.
    pub const LINES: [Self; 4] = [Self::Line, Self::Dashed, Self::DashDotted, Self::Dotted];

    /// Are points joined?
    pub fn is_line(self) -> bool {
        Self::LINES.contains(&self)
    }
}

/// A point, perhaps with an interval: along y, or along x where the y axis has names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Position on the y axis.
    pub y: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

impl Point {
    /// A point with no interval.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: None, high: None }
    }

    /// y ± `se`.
    pub fn with_error(x: f64, y: f64, se: f64) -> Self {
        Self::with_interval(x, y, y - se, y + se)
    }

    /// x ± `se`, in row `y` of a chart whose y axis has names.
    pub fn in_row(x: f64, y: f64, se: f64) -> Self {
        Self::with_interval(x, y, x - se, x + se)
    }

    /// A point with its interval.
    pub const fn with_interval(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, low: Some(low), high: Some(high) }
    }
}

/// Coloured cells: weights, covariances, tables of many numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// The heading; may be empty.
    pub title: String,
    /// Names of the rows, top to bottom; missing ones are counted from 1.
    pub rows: Vec<String>,
    /// Names of the columns, left to right; missing ones are counted from 1.
    pub columns: Vec<String>,
    /// What the rows are.
    pub row_label: String,
    /// What the columns are.
    pub column_label: String,
    /// Row by row; NaN is "no value".
    pub values: Vec<Vec<f64>>,
    /// From low to high, or around zero.
    pub palette: Palette,
    /// The values of the first and last colour; from the data if not given.
    pub range: Option<(f64, f64)>,
    /// Prints the numbers in the cells, with so many decimals.
    pub digits: Option<usize>,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Palette {
    /// One hue, from low to high.
    #[default]
    Sequential,
    /// Two hues around zero.
    Diverging,
}
