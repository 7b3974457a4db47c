//! The experiment that is ours: its claims can fail, and nobody takes it for the paper's.
#![allow(clippy::unwrap_used)]

use gradband_lab::found::Found;
use gradband_lab::problems::Problems;
use gradband_lab::work::Work;
use gradband_lab::{Experiment, Results, Row, Size, experiments, record, report};
use gradband_report::Block;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction")
}

fn world() -> &'static Experiment {
    experiments::named("world").unwrap()
}

/// The committed records after a change to the policies of each.
fn changed(change: impl Fn(&str, &mut Vec<Value>)) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(record::path(&committed(), "world")).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let series = line["series"].as_str().unwrap().to_string();
        change(&series, line["estimate"]["transferred"].as_array_mut().unwrap());
        format!("{line}\n")
    });
    std::fs::write(record::path(dir.path(), "world"), lines.collect::<String>()).unwrap();
    (world().rows)(&Results::read(dir.path()).unwrap())
}

/// No claim holds whatever is measured.
#[test]
fn every_claim_can_fail() {
    let rows = changed(|_, _| {});
    assert!(rows.iter().all(|row| row.agrees && row.claim.is_some() && row.paper.is_empty()), "{rows:?}");
    let worse = changed(|_, policies| {
        for policy in policies {
            policy["regret"]["mean"] = json!(9.0);
            policy["behind"]["mean"] = json!(0.0);
        }
    });
    let holding: Vec<_> = worse.iter().filter(|row| row.agrees).map(|row| row.what.as_str()).collect();
    assert_eq!(holding, ["Delay 20: SoftElim tuned without it"], "nine is more than 5.7");
    let better = changed(|_, policies| policies[1]["regret"]["mean"] = json!(5.6));
    assert_eq!(better.iter().filter(|row| !row.agrees).count(), 1);
    // One of many worlds is enough, and so is a difference that cannot be seen.
    let unseen = changed(|series, policies| {
        if series == "six arms, geometric with mean 200" {
            policies[1]["behind"]["std_error"] = json!(0.1);
        }
    });
    assert_eq!(unseen.iter().filter(|row| !row.agrees).count(), 1);
}

/// The report says so, and counts the paper's numbers without it.
#[test]
fn it_is_said_to_be_ours() {
    let dir = tempfile::tempdir().unwrap();
    let page = || report::page(&Results::read(dir.path()).unwrap());
    std::fs::copy(record::path(&committed(), "tab1"), record::path(dir.path(), "tab1")).unwrap();
    let before = page();
    std::fs::copy(record::path(&committed(), "world"), record::path(dir.path(), "world")).unwrap();
    let after = page();
    assert_eq!(after.lead[..before.lead.len()], before.lead);
    assert!(after.lead.last().unwrap().contains("not the paper's"), "{:?}", after.lead);
    assert_eq!(before.sections[1].blocks.len(), after.sections[1].blocks.len());
    let section = after.sections.last().unwrap();
    assert!(section.title.ends_with("(ours, not the paper's)"), "{}", section.title);
    let tables: Vec<_> = section
        .blocks
        .iter()
        .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
        .collect();
    assert_eq!(tables.len(), 1);
    assert!(tables[0].columns.iter().all(|column| column.name != "Paper"));
    assert_eq!(section.blocks.len(), 4, "three figures and the claims");
}

/// Without a delay nothing is gained by tuning for it: the same problem, the same seed, the same bits.
#[test]
fn a_world_that_is_plain_is_the_same_problem() {
    let plan = (world().plan)(&Size { quick: true, runs: None }).unwrap();
    let run = |name: &str| {
        let series = plan.iter().find(|series| series.name == name).unwrap();
        let Work::Transfer(mut transfer) = series.work.clone() else { panic!("{name}") };
        transfer.train.iterations = Some(5);
        transfer.instances = 200;
        let Found::Transferred(found) =
            Work::from(*transfer).run(1, &mut Problems::default(), &mut ()).unwrap()
        else {
            panic!("{name}")
        };
        found
    };
    let prompt = run("delay 0");
    assert_eq!((prompt[1].regret, &prompt[1].params), (prompt[0].regret, &prompt[0].params));
    assert_eq!(prompt[1].behind.mean, 0.0);
    assert_eq!(prompt, run("floor 0"));
    let late = run("delay 20");
    assert_eq!(late[1].params, prompt[1].params, "tuned without it, whatever it is");
    assert_ne!(late[1].regret, prompt[1].regret, "and played with it");
}
