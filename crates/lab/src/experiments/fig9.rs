//! Figure 9: the data sets, and the best and the worst result on them.

use super::data_sets::{self, PUBLISHED, Published};
use crate::experiment::{Experiment, Results, Series, Size};
use crate::found::Found;
use crate::plot::{figure, projection};
use crate::row::Row;
use crate::work::Work;
use gradband_report::{Block, Column, Table};

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig9",
    title: "Multi-class classification",
    section: "7.9",
    text: &[
        "The sizes of the eleven data sets; Wine, where tuning helps most, and Iris, where it helps least.",
    ],
    plan,
    blocks,
    rows,
};

/// Those that figure 9 shows; figure 11 shows them again, from these records.
pub(super) const SETS: [&str; 2] = ["wine", "iris"];

fn shown() -> impl Iterator<Item = &'static Published> {
    SETS.into_iter().filter_map(|set| PUBLISHED.iter().find(|published| published.set == set))
}

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let sizes = PUBLISHED.iter().map(|published| {
        Series::new(format!("{}, size", published.set), Work::Size { problem: published.set.into() }, 1)
    });
    let mut all: Vec<_> = sizes.collect();
    for set in SETS {
        all.extend(data_sets::plan(set, size)?);
    }
    Ok(all)
}

/// K, d and the examples of a set.
fn size(results: &Results, set: &str) -> Option<(usize, usize, usize)> {
    match results.runs("fig9", &format!("{set}, size")).first()?.estimate {
        Found::Size { arms, features, examples } => Some((arms, features, examples)),
        _ => None,
    }
}

fn blocks(results: &Results) -> Vec<Block> {
    let columns =
        vec![Column::text("Data set"), Column::number("K"), Column::number("d"), Column::number("Examples")];
    let row = |published: &Published| {
        let (arms, features, examples) = size(results, published.set)?;
        let numbers = [arms, features, examples].map(|number| number.to_string().into());
        Some(std::iter::once(published.name.into()).chain(numbers).collect())
    };
    let panels = shown().map(|set| data_sets::panel(results, set)).collect();
    let learned = shown().flat_map(|set| {
        let runs = results.trained("fig9", &format!("{}, cosoftelim", set.set));
        let panels = runs.first().and_then(|run| projection(set.name, &run.params, set.size.1));
        panels.into_iter().flatten()
    });
    vec![
        Block::Table(Table {
            id: "fig9-sizes".into(),
            title: "The data sets".into(),
            columns,
            rows: PUBLISHED.iter().filter_map(row).collect(),
        }),
        figure(
            "fig9",
            "Regret over iterations of GradBand",
            "n = 500, L = 100, m = 1000; means over runs.",
            panels,
        ),
        figure("fig9-learned", "CoSoftElim's projection", "First run.", learned.collect()),
    ]
}

fn rows(results: &Results) -> Vec<Row> {
    let sizes = PUBLISHED.iter().map(|published| {
        let show = |(k, d, examples): (usize, usize, usize)| format!("{k}, {d}, {examples}");
        let found = size(results, published.set).map(|found| (show(found), found == published.size));
        Row::claim(format!("{}: K, d, examples", published.name), show(published.size), found)
    });
    sizes.chain(shown().flat_map(|set| data_sets::rows(results, set))).collect()
}
