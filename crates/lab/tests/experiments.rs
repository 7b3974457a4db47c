//! Every experiment's plan can be run, and the committed records are what it would write.
#![allow(clippy::unwrap_used)]

use gradband::policy::Choice;
use gradband_lab::problems::Problems;
use gradband_lab::work::Work;
use gradband_lab::{EXPERIMENTS, Results, Size, Verdict, record, report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn committed() -> Results {
    Results::read(&root().join("reproduction")).unwrap()
}

/// Series have names of their own, policies parse, trainings resolve: in full and quickly.
#[test]
fn plans_are_sound() {
    let mut problems = Problems::default();
    for experiment in EXPERIMENTS {
        for quick in [false, true] {
            let plan = (experiment.plan)(&Size { quick, runs: None }).unwrap();
            let names: BTreeSet<_> = plan.iter().map(|series| series.name.clone()).collect();
            assert_eq!(names.len(), plan.len(), "{}: two series have one name", experiment.id);
            for series in plan {
                let policies = match &series.work {
                    Work::Train(train) => vec![train.policy.clone()],
                    Work::Play(play) => play.policies.clone(),
                    Work::Transfer(transfer) => transfer.others.clone(),
                    Work::Gradient(gradient) => vec![gradient.policy.clone()],
                    Work::Exact { policy, .. } => vec![policy.clone()],
                    Work::Matrix { .. } | Work::Size { .. } | Work::Gittins { .. } => Vec::new(),
                };
                // Covertype is not part of the repository.
                let Some(source) = series.work.problem() else { continue };
                if let Work::Transfer(transfer) = &series.work {
                    for source in &transfer.tuned_on {
                        let Ok(problem) = problems.open(source) else {
                            assert!(
                                series.name.starts_with("covertype"),
                                "{}: {}",
                                experiment.id,
                                series.name
                            );
                            continue;
                        };
                        let choice = Choice::parse(&transfer.policy, &problem).unwrap();
                        transfer.train.resolve(&problem, &choice).unwrap();
                    }
                }
                let Ok(problem) = problems.open(source) else {
                    assert!(series.name.starts_with("covertype"), "{}: {}", experiment.id, series.name);
                    continue;
                };
                for policy in policies {
                    let choice = Choice::parse(&policy, &problem).unwrap();
                    if let Work::Train(train) = &series.work {
                        train.train.resolve(&problem, &choice).unwrap();
                        choice.check_start(&problem).unwrap();
                    }
                }
            }
        }
    }
}

/// A report can be made at any time: of nothing, and of what is committed.
#[test]
fn every_experiment_can_be_drawn() {
    for results in [Results::default(), committed()] {
        for experiment in EXPERIMENTS {
            (experiment.blocks)(&results);
            (experiment.rows)(&results);
        }
        assert!(report::page(&results).html().contains("</html>"));
    }
}

/// The committed records have the settings of today's plans, to the letter.
#[test]
fn committed_records_are_of_these_plans() {
    let results = committed();
    for experiment in EXPERIMENTS {
        let plan = (experiment.plan)(&Size::default()).unwrap();
        let plan: BTreeMap<_, _> = plan
            .into_iter()
            .map(|series| (series.name, serde_json::to_value(series.work).unwrap()))
            .collect();
        let mut seen = BTreeSet::new();
        for record in results.of(experiment.id) {
            assert_eq!(
                Some(&record.setting),
                plan.get(&record.series),
                "{}: {}",
                experiment.id,
                record.series
            );
            assert!(seen.insert((&record.series, record.seed)), "twice: {} {}", record.series, record.seed);
        }
        let text =
            std::fs::read_to_string(record::path(&root().join("reproduction"), experiment.id)).unwrap();
        for setting in plan.values() {
            let setting = format!("\"setting\":{setting},\"version\":");
            assert!(text.contains(&setting), "{}: {setting}", experiment.id);
        }
    }
}

/// Every series is there: 20 runs as in the paper, but 5 of a recurrent policy and 3 of a data set of fig11.
#[test]
fn committed_records_are_complete() {
    let results = committed();
    for experiment in EXPERIMENTS {
        for series in (experiment.plan)(&Size::default()).unwrap() {
            let least = match experiment.id {
                "fig5" => 5,
                "fig11" => 3,
                _ => series.runs,
            };
            let runs = results.runs(experiment.id, &series.name).len();
            assert!(runs >= least.min(series.runs), "{}: {} has {runs} runs", experiment.id, series.name);
        }
    }
}

/// What is further than three standard errors from the paper, or contradicts it, has a reason, and is within its bound.
#[test]
fn every_difference_has_a_reason() {
    let results = committed();
    for experiment in EXPERIMENTS {
        for row in (experiment.rows)(&results) {
            assert!(row.ours.is_some(), "{}: {} has not been run", experiment.id, row.what);
            assert!(!row.is_unexplained(), "{}: {row:?}", experiment.id);
        }
    }
}

/// A reason for a difference would not explain the paper's number too: its bound is on our side, and near.
#[test]
fn reasons_are_bound_to_our_side() {
    let results = committed();
    let rows = EXPERIMENTS.iter().flat_map(|experiment| (experiment.rows)(&results));
    for row in rows.filter(|row| row.verdict() == Verdict::Explained) {
        let (reason, value) = (row.why.unwrap(), row.value.unwrap());
        assert!(row.published.is_none_or(|paper| !reason.explains(paper)), "{row:?}");
        assert!(!reason.explains(2.0 * value), "{row:?}");
        assert!(!reason.explains(-value), "{row:?}");
    }
}

/// README's table is the one that the committed records give.
#[test]
fn readme_has_the_numbers_of_the_records() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let table = report::markdown(&committed());
    let part = readme.split("<!-- comparison -->\n").nth(1).unwrap();
    assert_eq!(
        part.trim(),
        table.trim(),
        "run: gradband report reproduction, and copy comparison.md into README.md"
    );
}
