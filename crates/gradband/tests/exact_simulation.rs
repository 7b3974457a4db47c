//! Exact and simulated Bayes regret agree, for every policy that has both, on random problems.
#![allow(clippy::unwrap_used)]

mod numbers;

use gradband::batch;
use gradband::exact::{self, unhurried};
use gradband::problem::{Points, Prior, Problem, Rewards, Split, Table};
use gradband::registry::{Agent, Choice, ready};
use gradband::simulate::{Job, Outcome, Task};
use gradband::stream::Key;
use numbers::Numbers;
use std::ops::ControlFlow;

/// Points, asymmetric Betas, a table of means or a table of counts, by turns, with a random horizon.
fn problem(numbers: &mut Numbers, turn: usize) -> Problem {
    let arms = 2 + turn / 4 % 2;
    let horizon = match arms {
        2 => 5 + (45.0 * numbers.unit()) as usize,
        _ => 5 + (10.0 * numbers.unit()) as usize,
    };
    let prior = match turn % 4 {
        0 => {
            let instances = (0..3).map(|_| (0..arms).map(|_| numbers.unit()).collect()).collect();
            let weights = (0..3).map(|_| 0.1 + numbers.unit()).collect();
            Prior::Points(Points::new(instances, Some(weights)).unwrap())
        }
        1 => {
            let mut list = || (0..arms).map(|_| 0.3 + 3.0 * numbers.unit()).collect();
            Prior::beta(list(), list()).unwrap()
        }
        2 => {
            let mut rows: Vec<String> =
                vec![(0..arms).map(|arm| format!("arm{arm}")).collect::<Vec<_>>().join(",")];
            rows.extend(
                (0..6).map(|_| (0..arms).map(|_| numbers.unit().to_string()).collect::<Vec<_>>().join(",")),
            );
            Prior::Table(Table::read(rows.join("\n").as_bytes(), "means", 0.4).unwrap())
        }
        _ => {
            let mut rows = vec!["instance,arm,successes,trials".to_string()];
            for instance in 0..6 {
                for arm in 0..arms {
                    let trials = (12.0 * numbers.unit()).floor();
                    rows.push(format!("{instance},{arm},{},{trials}", (trials * numbers.unit()).floor()));
                }
            }
            Prior::Table(Table::read(rows.join("\n").as_bytes(), "counts", 0.4).unwrap())
        }
    };
    Problem::new(format!("random {turn}"), Rewards::Bernoulli, prior, horizon).unwrap()
}

/// 40,000 instances, 4 standard errors: a table's rows are the whole prior here, so that instances are
/// independent.
#[test]
fn exact_and_simulated_regret_agree() {
    const INSTANCES: usize = 40_000;
    let mut numbers = Numbers(11);
    let mut compared = 0;
    for turn in 0..8 {
        let problem = problem(&mut numbers, turn);
        let choices: Vec<Choice> = ready(&problem)
            .filter(|info| info.is_exact())
            .map(|info| {
                let initial = Choice::initial(info, &problem).unwrap();
                let random = |info: &gradband::registry::ParamInfo| {
                    let (low, high) = info.feasible.on(&problem);
                    low + (high.min(3.0) - low) * (0.1 + 0.8 * numbers.unit())
                };
                let params: Vec<f64> = info.params.iter().map(random).collect();
                initial.with_params(&problem, &params).unwrap()
            })
            .collect();
        let agents: Vec<_> = choices.iter().map(|choice| choice.agent(&problem)).collect();
        let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
        let job = Job::new(&problem, Key::new(5), Split::HeldOut, Task::Evaluate);
        let mut regrets = vec![Vec::with_capacity(INSTANCES); agents.len()];
        let each = |row: &[Outcome]| regrets.iter_mut().zip(row).for_each(|(all, one)| all.push(one.regret));
        let _ = batch::play(&agents, &job, INSTANCES, each, |_| ControlFlow::Continue(()));
        for (choice, regrets) in choices.iter().zip(&regrets) {
            let exact = exact::evaluate(&problem, choice, Split::HeldOut, &mut unhurried).unwrap().unwrap();
            let exact = exact.bayes_regret;
            let n = INSTANCES as f64;
            let mean = regrets.iter().sum::<f64>() / n;
            let variance = regrets.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
            // And rounding, for a policy that is certain of the best arm.
            let allowed = 4.0 * (variance / n).sqrt() + 1e-9;
            let label = choice.label();
            assert!((mean - exact).abs() < allowed, "{label} on {}: {mean}, exact {exact}", problem.name);
            compared += 1;
        }
    }
    assert!(compared >= 70, "{compared}");
}
