//! Ours, not the paper's: what `gradband train` does with no flags on the paper's problems with contexts, on the rows that
//! training saw, as in the paper, and on rows that it did not see.

use super::data_sets::PUBLISHED;
use crate::experiment::{Experiment, OURS, Results, Series, Size, across};
use crate::found::Found;
use crate::problems::ProblemSource;
use crate::record::Record;
use crate::row::{Reason, Row};
use crate::transfer::{Transfer, Transferred};
use crate::work::Work;
use gradband::{Estimate, Result};
use gradband_files::TrainSpec;
use gradband_report::{Block, Cell, Column, Table, Tone};

pub static EXPERIMENT: Experiment = Experiment {
    id: ID,
    title: "What training does by itself",
    section: OURS,
    text: &[
        "Ours: gradband train with no flags but the problem. Soft-UCB starts where the history says and climbs from there. Beside \
         it LinUCB, whose width and ridge were searched for on the same training instances, and linear Thompson sampling; all \
         of them on the same instances.",
        "In sample, evaluation draws from the rows that training saw, as in the paper: regret says how well the rows were \
         learned, and nothing about others. Held out, a quarter of the rows was kept from training, five times; the error is that \
         of five splits.",
    ],
    plan,
    blocks,
    rows,
};

const ID: &str = "defaults";
const POLICY: &str = "soft-ucb";
const OTHERS: [&str; 2] = ["linucb(width=tuned)", "lin-thompson"];
/// The policies of a series, in the order of its records.
const OURS_POLICY: usize = 0;
const LINUCB: usize = 1;
const THOMPSON: usize = 2;

/// How many of the others play, and on how many instances: held out, the error is that of the splits.
const IN_SAMPLE: (usize, usize) = (2, 4_000);
const HELD_OUT: (usize, usize) = (1, 1_000);
const RUNS: usize = 3;
const SPLITS: u64 = 5;
const HOLDOUT: f64 = 0.25;
/// The linear problems: what was asked for, and the regret of LinUCB with the true prior.
const LINEAR: [(&str, f64, f64); 4] =
    [("linear-1", 29.5, 28.5), ("linear-2", 15.4, 14.9), ("linear-3", 23.9, 23.3), ("linear-4", 21.5, 20.4)];
/// The data sets: what was asked for, in the order of the paper's.
const MOST: [(&str, f64); 11] = [
    ("adult", 75.0),
    ("australian", 54.0),
    ("breast-cancer", 12.5),
    ("covertype", 167.0),
    ("iris", 31.0),
    ("segment", 87.0),
    ("satimage", 110.0),
    ("mushroom", 0.8),
    ("shuttle", 40.0),
    ("vehicle", 106.0),
    ("wine", 2.5),
];
/// Three seeds on 4,000 instances each are not enough to tell.
const LINEAR_3: Reason = Reason::within(
    "On 40,000 instances the policies of seeds 1 to 3 have 23.71, 23.69 and 24.15, 23.85 on average: the limit is within the \
     error of 4,000.",
    23.9,
    24.4,
);

/// Held out.
const MOST_HELD_OUT: [(&str, f64); 3] = [("segment", 100.0), ("satimage", 126.0), ("adult", 83.0)];
/// Too large for a first look.
const LARGE: [&str; 4] = ["adult", "covertype", "mushroom", "satimage"];
/// Worse by so many standard errors is worse.
const SEEN: f64 = 2.0;

fn plan(size: &Size) -> Result<Vec<Series>> {
    let runs = size.runs(RUNS);
    let mut all: Vec<Series> =
        LINEAR.iter().map(|(name, ..)| series(size, name, (*name).into(), IN_SAMPLE, runs)).collect();
    for (set, _) in MOST.iter().filter(|(set, _)| !size.quick || !LARGE.contains(set)) {
        all.push(series(size, set, (*set).into(), IN_SAMPLE, runs));
        for split in 1..=size.pick(SPLITS, 1) {
            let source = ProblemSource::Split { data: (*set).into(), holdout: HOLDOUT, split };
            all.push(series(size, &held_out(set, split), source, HELD_OUT, 1));
        }
    }
    Ok(all)
}

fn series(
    size: &Size,
    name: &str,
    problem: ProblemSource,
    (others, instances): (usize, usize),
    runs: usize,
) -> Series {
    let transfer = Transfer {
        problem: problem.clone(),
        policy: POLICY.into(),
        train: TrainSpec {
            start: Some("history".into()),
            iterations: size.pick(None, Some(20)),
            ..TrainSpec::default()
        },
        tuned_on: vec![problem],
        others: OTHERS[..others].iter().map(|policy| policy.to_string()).collect(),
        instances: size.pick(instances, 200),
    };
    Series::new(name, Work::from(transfer), runs)
}

fn held_out(set: &str, split: u64) -> String {
    format!("{set}, split {split}")
}

fn regret(found: &Transferred) -> Estimate {
    found.regret
}

fn behind(found: &Transferred) -> Estimate {
    found.behind
}

/// A number of a policy over the splits of a set, which are the observations.
fn over_splits(
    results: &Results,
    set: &str,
    policy: usize,
    of: fn(&Transferred) -> Estimate,
) -> Option<Estimate> {
    let runs = (1..=SPLITS).filter_map(|split| results.transferred(ID, &held_out(set, split), policy, of));
    across(&runs.collect::<Vec<_>>())
}

/// Seconds of one core that a unit takes, on average: training, the search for LinUCB, and the evaluation.
fn seconds(records: &[Record]) -> Option<f64> {
    let trained = records.iter().filter(|record| matches!(record.estimate, Found::Transferred(_)));
    let seconds: Vec<f64> = trained.map(|record| record.core_seconds).collect();
    (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
}

fn shown(estimate: Option<Estimate>) -> Cell {
    estimate.map_or(String::new(), |found| format!("{:.2} ± {:.2}", found.mean, found.std_error)).into()
}

fn blocks(results: &Results) -> Vec<Block> {
    let sets = PUBLISHED.iter().map(|set| (set.set, format!("{:.1}", set.after.mean)));
    let problems = LINEAR.iter().map(|(name, ..)| (*name, String::new())).chain(sets);
    let rows = problems.filter_map(|(name, paper)| {
        let ours = results.transferred(ID, name, OURS_POLICY, regret)?;
        let lost = over_splits(results, name, LINUCB, behind).is_some_and(|gain| gain.mean < 0.0);
        let held_out = shown(over_splits(results, name, OURS_POLICY, regret));
        Some(vec![
            name.into(),
            paper.into(),
            shown(results.transferred(ID, name, THOMPSON, regret)),
            shown(results.transferred(ID, name, LINUCB, regret)),
            Cell::toned(shown(Some(ours)).text, Tone::Good),
            shown(over_splits(results, name, LINUCB, regret)),
            Cell::toned(held_out.text, if lost { Tone::Muted } else { Tone::Plain }),
            shown(over_splits(results, name, LINUCB, behind)),
            seconds(results.runs(ID, name)).map_or(String::new(), |seconds| format!("{seconds:.0}")).into(),
        ])
    });
    let table = Table {
        id: "defaults-table".into(),
        title: "Regret with no flags".into(),
        columns: vec![
            Column::text(""),
            Column::number("paper, tuned"),
            Column::number("Thompson"),
            Column::number("LinUCB, tuned"),
            Column::number("gradband"),
            Column::number("held out: LinUCB"),
            Column::number("held out: gradband"),
            Column::number("held out: gain"),
            Column::number("seconds of a core"),
        ],
        rows: rows.collect(),
    };
    vec![Block::Table(table)]
}

fn rows(results: &Results) -> Vec<Row> {
    let at_most = |what: String, found: Option<Estimate>, most: f64, runs: usize| {
        let seen = found.map(|found| (found.to_string(), found.mean <= most));
        Row::ours(what, format!("at most {most}"), seen).of_runs(runs)
    };
    let linear = LINEAR.iter().map(|&(name, most, prior)| {
        let what = format!("{name} (LinUCB with the true prior: {prior})");
        let found = results.transferred(ID, name, OURS_POLICY, regret);
        let row = at_most(what, found, most, results.runs(ID, name).len());
        let why = (name == "linear-3").then_some(LINEAR_3);
        Row { why, value: found.map(|found| found.mean), ..row }
    });
    let in_sample = MOST.iter().map(|&(set, most)| {
        let found = results.transferred(ID, set, OURS_POLICY, regret);
        at_most(format!("{set}, in sample"), found, most, results.runs(ID, set).len())
    });
    let apart = MOST_HELD_OUT.iter().map(|&(set, most)| {
        let found = over_splits(results, set, OURS_POLICY, regret);
        at_most(format!("{set}, held out"), found, most, SPLITS as usize)
    });
    let no_worse = MOST.iter().map(|&(set, _)| {
        let gain = over_splits(results, set, LINUCB, behind);
        let seen = gain.map(|gain| (format!("gains {gain}"), gain.mean >= -SEEN * gain.std_error));
        let claim =
            "no worse than LinUCB with a tuned width and ridge, by two standard errors of five splits";
        Row::ours(format!("{set}, held out, against LinUCB"), claim, seen).of_runs(SPLITS as usize)
    });
    linear.chain(in_sample).chain(apart).chain(no_worse).collect()
}
