//! The numbers of a figure, in long form: one row for each point or cell.

use crate::matrix;
use crate::model::{Axis, Figure, Panel};
use crate::text::csv_field;
use std::fmt::Write;

impl Figure {
    /// Charts as `panel,series,x,y,low,high`, matrices as `panel,row,column,value`; an empty field is no value, and
    /// categories have their names.
    ///
    /// A figure that has both holds two such tables, one after the other, with an empty line between.
    pub fn csv(&self) -> String {
        let (mut charts, mut matrices) = (String::new(), String::new());
        for (i, panel) in self.panels.iter().enumerate() {
            let title = match panel.title() {
                "" => (i + 1).to_string(),
                title => csv_field(title),
            };
            match panel {
                Panel::Chart(chart) => {
                    for series in &chart.series {
                        let name = csv_field(&series.name);
                        for point in &series.points {
                            let (x, y) = (place(&chart.x, point.x), place(&chart.y, point.y));
                            let (low, high) = (number(point.low), number(point.high));
                            let _ = writeln!(charts, "{title},{name},{x},{y},{low},{high}");
                        }
                    }
                }
                Panel::Matrix(panel) => {
                    let layout = matrix::Layout::new(panel, 400.0);
                    let (rows, columns) = layout.names();
                    for (row, values) in rows.iter().zip(&panel.values) {
                        for (column, &value) in columns.iter().zip(values) {
                            let (row, column, value) =
                                (csv_field(row), csv_field(column), number(Some(value)));
                            let _ = writeln!(matrices, "{title},{row},{column},{value}");
                        }
                    }
                }
            }
        }
        let parts = [("panel,series,x,y,low,high\n", charts), ("panel,row,column,value\n", matrices)];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(header, rows)| header.to_owned() + &rows)
            .collect();
        parts.join("\n")
    }
}

/// A number, or the category that it stands for.
fn place(axis: &Axis, value: f64) -> String {
    let index = (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
    index.and_then(|index| axis.names.get(index)).map_or_else(|| number(Some(value)), |name| csv_field(name))
}

fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::model::{Axis, Chart, Figure, Matrix, Point, Series};

    #[test]
    fn every_number_has_a_row() {
        let series =
            vec![Series::line("a,\"b\"", vec![Point::with_error(1.0, 2.5, 0.5), Point::new(2.0, f64::NAN)])];
        let chart = Chart { title: String::new(), x: Axis::linear(""), y: Axis::linear(""), series };
        let matrix = Matrix { title: "W".to_owned(), values: vec![vec![1.0, f64::NAN]], ..Matrix::default() };
        let figure = Figure { panels: vec![chart.into(), matrix.into()], ..Figure::default() };
        let expected = "panel,series,x,y,low,high\n1,\"a,\"\"b\"\"\",1,2.5,2,3\n1,\"a,\"\"b\"\"\",2,,,\n\
                        \npanel,row,column,value\nW,1,1,1\nW,1,2,\n";
        assert_eq!(figure.csv(), expected);
    }

    #[test]
    fn categories_have_names() {
        let series = vec![Series::marks("s", vec![Point::in_row(3.0, 1.0, 0.5), Point::new(1.0, 7.0)])];
        let chart =
            Chart { title: "t".to_owned(), x: Axis::linear(""), y: Axis::named("", ["a", "b"]), series };
        let figure = Figure { panels: vec![chart.into()], ..Figure::default() };
        assert_eq!(figure.csv(), "panel,series,x,y,low,high\nt,s,3,b,2.5,3.5\nt,s,1,7,,\n");
    }
}
