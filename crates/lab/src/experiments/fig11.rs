//! Figure 11: all eleven data sets. Wine and Iris are figure 9's.

use super::data_sets::{self, PUBLISHED};
use crate::experiment::{Experiment, Results, Series, Size};
use crate::plot::{behind, figure, projection, rounds_of};
use crate::row::Row;
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig11",
    title: "All data sets",
    section: "appendix",
    text: &[
        "Tuning lowers CoSoftElim's regret on every set. LinUCB with a tuned width, which the paper does not show, is \
         drawn as a dashed line: on some sets it is better than any policy that the paper tunes.",
    ],
    plan,
    blocks,
    rows,
};

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let mut all = Vec::new();
    for set in PUBLISHED.iter().filter(|set| data_sets::home(set.set) == "fig11") {
        all.extend(data_sets::plan(set.set, size)?);
    }
    Ok(all)
}

fn blocks(results: &Results) -> Vec<Block> {
    let panels = PUBLISHED.iter().map(|set| data_sets::panel(results, set)).collect();
    let (w, m): (Vec<_>, Vec<_>) = PUBLISHED
        .iter()
        .filter_map(|set| {
            let runs = results.trained(data_sets::home(set.set), &format!("{}, cosoftelim", set.set));
            projection(set.name, &runs.first()?.params, set.size.1)
        })
        .map(|[w, m]| (w, m))
        .unzip();
    let rounds = PUBLISHED.iter().map(|set| {
        let tuned = data_sets::POLICIES.map(|policy| (format!("{}, {policy}", set.set), policy));
        rounds_of(results, data_sets::home(set.set), set.name, &tuned, &format!("{}, others", set.set))
    });
    vec![
        figure(
            "fig11",
            "Regret over iterations of GradBand",
            "n = 500; L = 100 and m = 1000, for d of 20 and more L = 1000 and m = 80; means over runs.",
            panels,
        ),
        figure("fig11-w", "CoSoftElim's projection W", "First run.", w),
        figure("fig11-m", "M = W′W, on which alone the policy depends", "First run.", m),
        figure(
            "fig11-rounds",
            "Regret over rounds",
            &format!(
                "{} Where d is 20 or more: {}",
                behind(results, "fig9", "wine, cosoftelim", "wine, others"),
                behind(results, "fig11", "adult, cosoftelim", "adult, others")
            ),
            rounds.collect(),
        ),
    ]
}

fn rows(results: &Results) -> Vec<Row> {
    let others = PUBLISHED.iter().filter(|set| data_sets::home(set.set) == "fig11");
    others.flat_map(|set| data_sets::rows(results, set)).collect()
}
