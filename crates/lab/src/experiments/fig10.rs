//! Figure 10: the projections that the method of moments finds.

use crate::experiment::{Experiment, Results, Series, Size};
use crate::plot::{figure, heat};
use crate::work::Work;
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig10",
    title: "Subspace recovery by the method of moments",
    section: "appendix",
    text: &[
        "Eigenvectors of the sum of Y² x x′ over 100,000 pairs; their number r is the best of all on training instances \
         (the paper chose it by hand). The contexts' mean contaminates the first one; with centred contexts, below, only \
         the relevant features remain.",
    ],
    plan,
    blocks,
    rows: |_| Vec::new(),
};

fn plan(_: &Size) -> gradband::Result<Vec<Series>> {
    let mut all = Vec::new();
    for (kind, policy) in [("raw", "mom-thompson"), ("centred", "mom-thompson(centred=true)")] {
        for i in 1..=4 {
            let work = Work::Matrix { problem: format!("linear-{i}").as_str().into(), of: policy.into() };
            all.push(Series::new(format!("linear-{i}, {kind}"), work, 1));
        }
    }
    Ok(all)
}

fn blocks(results: &Results) -> Vec<Block> {
    let panels = |kind: &str| {
        let panel = |i: usize| {
            let rows = results.matrix("fig10", &format!("linear-{i}, {kind}"))?.to_vec();
            Some(heat(&format!("Problem {i}, r = {}", rows.len()), rows))
        };
        (1..=4).filter_map(panel).collect()
    };
    vec![
        figure("fig10", "Projections W by the method of moments", "As in the paper.", panels("raw")),
        figure("fig10-centred", "The same, contexts centred", "Not in the paper.", panels("centred")),
    ]
}
