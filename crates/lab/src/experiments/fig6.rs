//! Figure 6: the covariances of the four synthetic problems.

use crate::experiment::{Experiment, Results, Series, Size};
use crate::plot::figure;
use crate::work::Work;
use gradband_report::{Block, Matrix, Palette, Panel};

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig6",
    title: "The synthetic problems",
    section: "7.7",
    text: &[
        "The covariance of an arm's parameters in linear-1 to linear-4: which features matter, and how they go together.",
    ],
    plan,
    blocks,
    rows: |_| Vec::new(),
};

fn plan(_: &Size) -> gradband::Result<Vec<Series>> {
    let series = |i| {
        let problem = format!("linear-{i}");
        let work = Work::Matrix { problem: problem.as_str().into(), of: "covariance".into() };
        Series::new(problem, work, 1)
    };
    Ok((1..=4).map(series).collect())
}

fn blocks(results: &Results) -> Vec<Block> {
    let numbers = || (1..=8).map(|i| i.to_string()).collect::<Vec<_>>();
    let panel = |i: usize| {
        let values = results.matrix("fig6", &format!("linear-{i}"))?.to_vec();
        Some(Panel::Matrix(Matrix {
            title: format!("Problem {i}"),
            rows: numbers(),
            columns: numbers(),
            row_label: String::new(),
            column_label: "feature".into(),
            values,
            palette: Palette::Sequential,
            range: Some((0.0, 1.0)),
            digits: None,
        }))
    };
    let panels = (1..=4).filter_map(panel).collect();
    vec![figure("fig6", "Covariance of the parameters", "1, 0.95 and 0, as in the paper.", panels)]
}
