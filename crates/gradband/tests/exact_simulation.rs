//! Exact and simulated Bayes regret agree, for every policy that has both, on random problems.
#![allow(clippy::unwrap_used)]

use crate::numbers::Numbers;
use crate::problems::play;
use crate::rules;
use gradband::Policy;
use gradband::measure::exact;
use gradband::policy::{Choice, POLICIES, Param};
use gradband::problem::{Cell, Points, Prior, Problem, Row, Split, Table};
use gradband::simulate::{Job, Key, Task};

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
            Prior::betas(list(), list()).unwrap()
        }
        2 => table(arms, || Cell::Mean(numbers.unit())),
        _ => table(arms, || {
            let trials = (12.0 * numbers.unit()).floor();
            Cell::Counts { successes: (trials * numbers.unit()).floor(), trials }
        }),
    };
    Problem::bernoulli(prior).name(format!("random {turn}")).horizon(horizon).build().unwrap()
}

/// Six past instances, some of them held out.
fn table(arms: usize, mut cell: impl FnMut() -> Cell) -> Prior {
    let rows = (0..6).map(|_| Row::new((0..arms).map(|_| cell()).collect())).collect();
    let names = (0..arms).map(|arm| format!("arm{arm}")).collect();
    Prior::table(Table::new(names, rows, 0.4).unwrap())
}

/// Every policy with exact results, a rule of one's own among them, at random numbers; and policies that are told of another
/// prior than the problem's, or of what fits it.
fn choices(problem: &Problem, numbers: &mut Numbers) -> Vec<Choice> {
    let own = Policy::own(rules::Restless).kind().clone();
    let kinds = POLICIES.iter().chain([&own]).filter(|kind| kind.is_exact());
    let mut chosen: Vec<Choice> = kinds
        .filter(|kind| kind.refusal(problem).is_none())
        .map(|kind| {
            let initial = Choice::initial(kind, problem).unwrap();
            let mut random = |param: &Param| {
                let (low, high) = param.feasible.on(problem);
                let low = low.max(0.0);
                low + (high.min(3.0) - low) * (0.1 + 0.8 * numbers.unit())
            };
            let params: Vec<f64> = initial.slots().iter().map(|slot| random(&slot.param)).collect();
            initial.with_params(problem, &params).unwrap()
        })
        .collect();
    let informed = ["thompson", "thompson(prior=fit,sharpness=8)", "bayes-optimal(prior=fit)"];
    let told = "bayes-optimal(prior=beta,alpha=0.7,beta=2.5)";
    chosen.extend(informed.iter().chain([&told]).map(|policy| Choice::parse(policy, problem).unwrap()));
    chosen
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
        for choice in choices(&problem, &mut numbers) {
            let player = choice.player(&problem, &mut ()).unwrap();
            let job = Job::new(&problem, Key::new(5), Split::HeldOut, Task::Evaluate);
            let outcomes = play(&*player, &job, 0, INSTANCES).outcomes;
            let exact = exact(&problem, &choice, Split::HeldOut, &mut ()).unwrap().bayes_regret;
            let n = INSTANCES as f64;
            let mean = outcomes.iter().map(|outcome| outcome.regret).sum::<f64>() / n;
            let squares = outcomes.iter().map(|outcome| (outcome.regret - mean).powi(2)).sum::<f64>();
            // And rounding, for a policy that is certain of the best arm.
            let allowed = 4.0 * (squares / (n * (n - 1.0))).sqrt() + 1e-9;
            let label = choice.label();
            assert!((mean - exact).abs() < allowed, "{label} on {problem}: {mean}, exact {exact}");
            compared += 1;
        }
    }
    assert!(compared >= 110, "{compared}");
}
