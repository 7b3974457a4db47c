//! Damaged records give an error that names the place, or are drawn: never a panic, never a report that does not end.
#![allow(clippy::unwrap_used)]

use gradband_lab::session::{self, Session};
use gradband_lab::{EXPERIMENTS, Failure, Results, record, report};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction")
}

/// Numbers for damage: the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count.max(1)
    }
}

/// All values within a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(keys) => keys.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes one of the values within.
fn damage(value: &mut Value, dice: &mut Dice) {
    let mut left = dice.below(count(value));
    fn at<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
        if *left == 0 {
            return Some(value);
        }
        *left -= 1;
        match value {
            Value::Array(items) => items.iter_mut().find_map(|item| at(item, left)),
            Value::Object(keys) => keys.values_mut().find_map(|item| at(item, left)),
            _ => None,
        }
    }
    let Some(found) = at(value, &mut left) else { return };
    match (dice.below(4), &mut *found) {
        (0, Value::Array(items)) => drop(items.pop()),
        (1, Value::Array(items)) => items.extend(items.first().cloned()),
        (2, Value::Object(keys)) => {
            if let Some(key) = keys.keys().nth(dice.below(keys.len())).cloned() {
                keys.remove(&key);
            }
        }
        _ => {
            let others = [
                json!(0),
                json!(-1),
                json!(1.7e308),
                json!(-1e300),
                json!(5e-324),
                json!(1e99),
                json!(u64::MAX),
                json!(null),
                json!("../x"),
                json!([]),
                json!({}),
            ];
            *found = others[dice.below(others.len())].clone();
        }
    }
}

/// What a directory with these lines gives: a page, or an error that names file and line.
fn read(dir: &Path, experiment: &str, lines: &[Value]) -> bool {
    let path = record::path(dir, experiment);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    match Results::read(dir) {
        Ok(results) => {
            assert!(report::page(&results).html().contains("</html>"));
            report::markdown(&results);
            true
        }
        Err(Failure::Input(error)) => {
            let place = format!("{}.jsonl, line ", experiment);
            assert!(error.to_string().contains(&place), "{error}");
            false
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn damaged_records_are_refused_or_drawn() {
    let (mut dice, mut drawn, mut refused) = (Dice(1), 0, 0);
    for experiment in EXPERIMENTS {
        let text = std::fs::read_to_string(record::path(&committed(), experiment.id)).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..80 {
            // A few lines are enough, and quick.
            let mut some: Vec<_> = (0..12).map(|_| lines[dice.below(lines.len())].clone()).collect();
            let line = dice.below(some.len());
            damage(&mut some[line], &mut dice);
            *(if read(dir.path(), experiment.id, &some) { &mut drawn } else { &mut refused }) += 1;
        }
    }
    assert!(drawn > 100 && refused > 100, "{drawn} drawn, {refused} refused");
}

/// Numbers that overflow in a drawing are not measurements.
#[test]
fn numbers_that_no_measurement_gives_are_refused() {
    let text = std::fs::read_to_string(record::path(&committed(), "fig1")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(read(dir.path(), "fig1", &[line.clone()]));
    line["estimate"]["gradients"]["gradients"][2]["mean"] = json!(1.7e308);
    assert!(!read(dir.path(), "fig1", &[line.clone()]));
    line["estimate"]["gradients"]["gradients"][2]["mean"] = json!(1.0);
    assert!(read(dir.path(), "fig1", &[line.clone()]));
    line["estimate"]["gradients"]["gradients"].as_array_mut().unwrap().pop();
    assert!(!read(dir.path(), "fig1", &[line]));
}

fn session() -> Value {
    let estimate = json!({ "mean": 3.0, "std_error": 0.1 });
    let policy = json!({
        "name": "cosoftelim, tuned", "regret": estimate, "difference": estimate,
        "curve": [[10, estimate], [20, estimate]],
    });
    json!({
        "kind": "train", "problem": "iris (3 arms, horizon 500)", "command": "gradband train iris", "spec": "",
        "version": "0.1.0", "seed": 1, "instances": 20, "policies": [policy, policy], "gain": estimate,
        "training": {
            "regret": [[0, estimate], [3, estimate]], "gradient": [[1, 2.0], [2, 1.5]],
            "params": [["gamma", [[1, 2.0], [2, 2.1]]]], "projection": [1.0, 0.5, 0.25, 1.0],
            "features": ["length", "width"], "spreads": [0.5, 0.25],
            "handed_out": estimate, "instances": 20, "handed_out_params": [2.05],
        },
    })
}

#[test]
fn damaged_sessions_are_refused_or_drawn() {
    let (mut dice, mut drawn, mut refused) = (Dice(2), 0, 0);
    for _ in 0..2_000 {
        let mut value = session();
        damage(&mut value, &mut dice);
        match serde_json::from_str::<Session>(&value.to_string()) {
            Ok(session) => {
                assert!(session::page(&[session]).html().contains("</html>"));
                drawn += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(drawn > 100 && refused > 100, "{drawn} drawn, {refused} refused");
}

/// Files and figures are named after the kind: it must not lead out of the directory.
#[test]
fn a_session_is_a_training_or_a_comparison() {
    let mut value = session();
    let read = |value: &Value| serde_json::from_str::<Session>(&value.to_string());
    let whole = read(&value).unwrap();
    assert_eq!(serde_json::to_value(&whole).unwrap(), value);
    value["kind"] = json!("../../escaped");
    assert!(read(&value).unwrap_err().to_string().contains("known: train, compare"));
    value["kind"] = json!("compare");
    value["training"]["features"] = json!(["length", "width", "height"]);
    assert!(read(&value).unwrap_err().to_string().contains("4 entries in rows of 3"));
}
