//! Figure 2: Exp3 and SoftElim optimised on bernoulli-2, by baseline, and beside Thompson sampling and Gittins.

use crate::experiment::{Experiment, Results, Series, Size, across, at, paper, training};
use crate::plot::{BASELINE_COLOURS, colour, figure, learning, learning_panel, level, name};
use crate::row::Row;
use crate::work::{Play, Work};
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig2",
    title: "Policy optimization",
    section: "7.2",
    text: &[
        "GradBand from w = 1 with the automatic rate. The paper's regret after training is 10.96 (Exp3) and 4.74 \
         (SoftElim); SoftElim's best w has exactly 4.6665. Iterates are shown as they are: the last one is noisy, which \
         is why gradband hands out the mean of the last half of them by default.",
    ],
    plan,
    blocks,
    rows,
};

const BASELINES: [&str; 3] = ["none", "opt", "self"];

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let mut all = Vec::new();
    for policy in ["exp3", "softelim"] {
        for baseline in BASELINES {
            let train = paper(baseline, 100, size.pick(1000, 500));
            let work = Work::from(training("bernoulli-2", policy, train, at(100, 1, 2)));
            all.push(Series::new(format!("{policy}, {baseline}"), work, size.runs(20)));
        }
    }
    let play = Play {
        problem: "bernoulli-2".into(),
        policies: ["thompson", "gittins", "bayes-optimal"].map(String::from).to_vec(),
        instances: size.pick(50_000, 5_000),
        rounds: Vec::new(),
        round_instances: 0,
    };
    all.push(Series::new("others", Work::Play(play), 1));
    Ok(all)
}

fn blocks(results: &Results) -> Vec<Block> {
    let by_baseline = |policy: &str| {
        let lines = BASELINES.iter().enumerate();
        let lines = lines.map(|(i, baseline)| {
            learning(results, "fig2", &format!("{policy}, {baseline}"), baseline, BASELINE_COLOURS[i])
        });
        learning_panel(name(policy), lines)
    };
    let best = ["exp3", "softelim"]
        .map(|policy| (policy, name(policy)))
        .map(|(policy, name)| learning(results, "fig2", &format!("{policy}, self"), name, colour(name)));
    let others = ["thompson", "gittins", "bayes-optimal"].iter().filter_map(|policy| {
        level(name(policy), colour(name(policy)), results.regret("fig2", "others", policy), 100.0)
    });
    vec![figure(
        "fig2",
        "Regret over iterations of GradBand",
        "bernoulli-2, L = 100, m = 1000; means over runs, bands are standard errors.",
        vec![
            by_baseline("exp3"),
            by_baseline("softelim"),
            learning_panel("Both with self", best.into_iter().chain(others)),
        ],
    )]
}

/// The first iteration from which a training stays below a regret.
fn below(results: &Results, series: &str, limit: f64) -> Option<usize> {
    let curve = results.curve("fig2", series, across);
    let above = curve.iter().rposition(|(_, regret)| regret.mean >= limit);
    curve.get(above.map_or(0, |i| i + 1)).map(|&(iteration, _)| iteration)
}

fn rows(results: &Results) -> Vec<Row> {
    let exp3 = results.tuned("fig2", "exp3, self");
    let near = exp3.and_then(|last| below(results, "exp3, self", last.mean * 1.1));
    let near = near.map(|i| (format!("within a tenth of its last regret from iteration {i}"), i < 20));
    let thompson = results.regret("fig2", "others", "thompson");
    let better = thompson.and_then(|thompson| below(results, "softelim, self", thompson.mean));
    let better = better.map(|i| (format!("from iteration {i}"), i <= 10));
    vec![
        Row::claim("Exp3 with self is near its optimum", "in fewer than 20 iterations", near),
        Row::claim("SoftElim beats Thompson sampling", "after 10 iterations", better),
    ]
}
