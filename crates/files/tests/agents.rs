//! Agents in files: older ones are read, damaged ones are refused and leave the last good one; policy files of older versions play.
#![allow(clippy::unwrap_used)]

use gradband::agent::{Context, FORMAT, Row};
use gradband::policy::Choice;
use gradband::{Agent, Playable, Problem, Pull};
use gradband_files::{load_agent, load_playable, save_agent};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// An agent with all that a state can hold: contexts, pending, late and withdrawn decisions, ids that were given, a retired arm.
fn agent() -> Agent {
    let problem = Problem::named("linear-3").unwrap().with_horizon(50).unwrap();
    let choice = Choice::parse("soft-ucb(rank=2)", &problem).unwrap();
    let mut agent =
        Agent::new(Playable::new(&choice, &problem).unwrap(), ["a", "b", "c"]).unwrap().seed(11).floor(0.02);
    agent = agent.window(5.0, 0.0);
    for i in 0..12 {
        let x = (0..8).map(|j| f64::from((i * 7 + j * 3) % 11) / 8.0 - 0.5).collect::<Vec<_>>();
        let pull = Pull { id: (i % 4 == 1).then(|| format!("id {i}")), ..Pull::context(x) };
        let decision = agent.pull(Pull { at: Some(f64::from(i)), ..pull }).unwrap();
        if i % 3 == 0 {
            agent.update(&decision.id, 0.25 * f64::from(i)).unwrap();
        } else if i == 10 {
            agent.withdraw(&decision.id).unwrap();
        }
    }
    agent.update("id 1", 3.0).unwrap();
    agent.retire("c").unwrap();
    agent
}

/// `GRADBAND_GOLDEN=write` writes the newest: only ever for a new format.
#[test]
fn a_state_of_every_format_is_read() {
    for format in 1..=FORMAT {
        let path = golden(&format!("agent-{format}.json"));
        if std::env::var_os("GRADBAND_GOLDEN").is_some_and(|word| word == "write") && !path.exists() {
            save_agent(&path, &agent()).unwrap();
        }
        let (mut old, mut new) = (load_agent(&path).unwrap(), agent());
        assert_eq!(old.stats(), new.stats());
        assert_eq!((old.stats().pending, old.stats().counts.late, old.stats().counts.withdrawn), (4, 1, 1));
        for (old, new) in old.log().zip(new.log()) {
            assert!((old.probability - new.probability).abs() < 1e-12);
            assert_eq!(Row { probability: new.probability, ..old }, new);
        }
        for at in 12..40 {
            let pull = || Pull { at: Some(f64::from(at)), ..Pull::context([0.1; 8]) };
            let (old, new) = (old.pull(pull()).unwrap(), new.pull(pull()).unwrap());
            assert_eq!((old.id, old.arm, old.round), (new.id, new.arm, new.round));
            assert!((old.probability - new.probability).abs() < 1e-12);
        }
    }
}

/// Policy files that versions before agents wrote.
#[test]
fn older_policy_files_play() {
    let flowers = Context::Named([("petal", 1.0)].map(|(name, x)| (name.to_string(), x)).into());
    for name in ["softelim", "cosoftelim", "lstm"] {
        let policy = load_playable(golden(name)).unwrap();
        let problem = policy.problem().clone();
        let names = problem.arm_names.unwrap_or_else(|| (0..problem.arms).map(|i| i.to_string()).collect());
        let mut agent = Agent::new(policy, names).unwrap();
        let context = match &problem.features {
            None => Context::None,
            Some(features) => {
                assert!(agent.pull(Pull::context(flowers.clone())).is_err());
                Context::Named(features.iter().map(|feature| (feature.name.clone(), feature.shift)).collect())
            }
        };
        for _ in 0..5 {
            let decision = agent.pull(Pull::context(context.clone())).unwrap();
            agent.update(&decision.id, 1.0).unwrap();
        }
        assert_eq!(agent.stats().counts.credited, 5);
    }
}

#[test]
fn a_damaged_file_is_refused_and_the_last_good_one_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.json");
    save_agent(&path, &agent()).unwrap();
    let good = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8], says: &str| {
        std::fs::write(&path, bytes).unwrap();
        let error = load_agent(&path).unwrap_err().to_string();
        assert!(error.contains("agent.json") && error.contains(says), "{error}");
    };
    refused(&good[..good.len() / 2], "is damaged, or was cut off");
    refused(b"", "is empty");
    refused(&std::fs::read(golden("softelim/policy.json")).unwrap(), "is not a saved agent");
    let mut flipped = good.clone();
    let at = good.windows(5).position(|five| five == b"floor").unwrap() + 9;
    flipped[at] ^= 1;
    refused(&flipped, "sha256: is not that of the content");
    std::fs::write(&path, &good).unwrap();
    // A file that cannot be written leaves the old one.
    assert!(save_agent(dir.path().join("no/agent.json"), &agent()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), good);
    assert_eq!(load_agent(&path).unwrap().stats(), agent().stats());
}
