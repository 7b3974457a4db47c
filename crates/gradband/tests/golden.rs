//! Golden numbers: a change of what a seed gives is value-breaking, and must be meant (and said in the
//! changelog).
//!
//! `GRADBAND_GOLDEN=write cargo test -p gradband --test golden` writes the files anew.
#![allow(clippy::unwrap_used)]

mod problems;

use gradband::measure::{Estimator, evaluate, gradient_key};
use gradband::policy::{Choice, applicable, ready};
use gradband::problem::{Prior, Problem};
use gradband::simulate::{Baseline, Job, Key, Player, Returns, Task};
use problems::{SPLITS, Told, armed, choice, in_worlds, play, shorten, tasks};
use std::fmt::Write;

/// Compares with a golden file, or writes it.
#[track_caller]
fn compare(file: &str, found: &str) {
    let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("GRADBAND_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    for (line, expected) in found.lines().zip(golden.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(found.lines().count(), golden.lines().count());
}

/// Numbers that can be read: mean regrets, and the first entry of a gradient.
fn numbers() -> String {
    let normal = Prior::normals(vec![0.0, 0.5, 1.0], vec![1.0, 0.5, 0.1]).unwrap();
    let problems = [
        Problem::named("bernoulli-2").unwrap(),
        shorten("beta-2", 50),
        shorten("bernoulli-10", 100),
        Problem::gaussian(normal, 1.0).name("normal-3").horizon(60).build().unwrap(),
    ];
    let mut out = String::new();
    for problem in &problems {
        for kind in ready(problem) {
            let choice = Choice::initial(kind, problem).unwrap();
            let regret = evaluate(&[&choice], problem, 1, 100, &[], &mut ()).unwrap().regret(0);
            write!(out, "{} {} {}", problem.name(), choice.label(), regret.mean).unwrap();
            let player = choice.player(problem, &mut ()).unwrap();
            if !kind.params().is_empty() && player.unscored().is_none() {
                let estimator =
                    Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 50 };
                let gradient = estimator.estimate(&*player, problem, gradient_key(1), &mut ()).unwrap();
                write!(out, " {}", gradient.mean()[0]).unwrap();
            }
            out.push('\n');
        }
    }
    out
}

#[test]
fn seeds_give_the_numbers_they_gave() {
    compare("golden.txt", &numbers());
}

/// FNV-1a over the bits of all that was told, instance by instance.
fn hash(player: &dyn Player, job: &Job) -> u64 {
    const INSTANCES: usize = 23;
    let Told { outcomes, gradients, .. } = play(player, job, 0, INSTANCES);
    let length = gradients.len() / INSTANCES;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |x: f64| {
        for byte in x.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for (i, outcome) in outcomes.iter().enumerate() {
        [outcome.reward, outcome.regret, f64::from(outcome.cluster)].into_iter().for_each(&mut mix);
        gradients[i * length..(i + 1) * length].iter().copied().for_each(&mut mix);
    }
    hash
}

/// Every bit of every multi-armed policy, networks included: a line `problem policy task split hash` for each
/// evaluation and each estimate of the gradient.
fn bits(problems: &[Problem]) -> String {
    let mut out = String::new();
    for problem in problems {
        for kind in applicable(problem) {
            let choice = choice(kind, problem);
            let player = choice.player(problem, &mut ()).unwrap();
            for task in tasks(&choice, &*player) {
                let name = match task {
                    Task::Evaluate => "evaluate".to_string(),
                    Task::Gradient(baseline, returns) => {
                        format!("{} {returns:?}", baseline.name()).to_lowercase()
                    }
                };
                for split in SPLITS {
                    let hash = hash(&*player, &Job::new(problem, Key::new(9), split, task));
                    writeln!(out, "{} {} {name} {split:?} {hash:016x}", problem.name(), kind.name()).unwrap();
                }
            }
        }
    }
    out
}

#[test]
fn seeds_give_the_bits_they_gave() {
    let plain: Vec<_> = armed().into_iter().filter(|problem| problem.world().is_plain()).collect();
    compare("golden_bits.txt", &bits(&plain));
}

/// The same where rewards come late, arms have a floor, or the end is unknown.
#[test]
fn seeds_give_the_bits_they_gave_in_every_world() {
    let worlds: Vec<_> = in_worlds(&shorten("bernoulli-2", 33)).into_iter().skip(1).collect();
    compare("golden_worlds.txt", &bits(&worlds));
}
