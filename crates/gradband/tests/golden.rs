//! Golden numbers: a change of what a seed gives is value-breaking, and must be meant (and said in the
//! changelog).
//!
//! `GRADBAND_GOLDEN=write cargo test -p gradband --test golden` writes the file anew.
#![allow(clippy::unwrap_used)]

use gradband::Problem;
use gradband::baseline::{Baseline, Returns};
use gradband::evaluate::evaluate;
use gradband::gradient::{Estimator, key};
use gradband::problem::{Prior, Rewards};
use gradband::registry::{Choice, ready};
use std::fmt::Write;
use std::ops::ControlFlow;

fn numbers() -> String {
    let normal = Prior::normal(vec![0.0, 0.5, 1.0], vec![1.0, 0.5, 0.1]).unwrap();
    let problems = [
        Problem::named("bernoulli-2").unwrap(),
        Problem { horizon: 50, ..Problem::named("beta-2").unwrap() },
        Problem { horizon: 100, ..Problem::named("bernoulli-10").unwrap() },
        Problem::new("normal-3", Rewards::Gaussian { noise_sd: 1.0 }, normal, 60).unwrap(),
    ];
    let mut out = String::new();
    for problem in &problems {
        for info in ready(problem) {
            let choice = Choice::initial(info, problem).unwrap();
            let agent = choice.agent(problem);
            let regret =
                evaluate(&[&*agent], problem, 1, 100, |_| ControlFlow::Continue(())).unwrap().regret(0);
            write!(out, "{} {} {}", problem.name, choice.label(), regret.mean).unwrap();
            if !info.params.is_empty() {
                let estimator =
                    Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 50 };
                let gradient =
                    estimator.estimate(&*agent, problem, key(1), |_| ControlFlow::Continue(())).unwrap();
                write!(out, " {}", gradient.mean()[0]).unwrap();
            }
            out.push('\n');
        }
    }
    out
}

#[test]
fn seeds_give_the_numbers_they_gave() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
    let found = numbers();
    if std::env::var_os("GRADBAND_GOLDEN").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    for (line, expected) in found.lines().zip(golden.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(found.lines().count(), golden.lines().count());
}
