//! What the past says about arms, and whether a policy that is tuned to a table of counts is tuned to the world they came
//! from.
#![allow(clippy::unwrap_used)]

use crate::numbers::Numbers;
use gradband::problem::{Cell, Fit, PastArms, Points, Row, Table};
use gradband::{Bandit, Policy, Prior, Problem, Random, Simulator, Trainer};

fn past(problem: &Problem) -> PastArms {
    problem.past_arms().unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-6), "{found}, not {expected}");
}

fn bernoulli(prior: Prior) -> Problem {
    Problem::bernoulli(prior).horizon(100).build().unwrap()
}

#[test]
fn equal_betas_are_themselves_and_others_match_moments() {
    let equal = past(&bernoulli(Prior::beta(3, 2.0, 198.0).unwrap()));
    assert_eq!(equal.beta, Some((2.0, 198.0)));
    near(equal.mean, 0.01);
    near(equal.variance, 0.01 * 0.99 / 201.0);
    // Uniform and Beta(2, 1): means 1/2 and 2/3, second moments 1/3 and 1/2.
    let two = past(&bernoulli(Prior::betas(vec![1.0, 2.0], vec![1.0, 1.0]).unwrap()));
    let (mean, square) = (7.0 / 12.0, 5.0 / 12.0);
    near(two.mean, mean);
    near(two.variance, square - mean * mean);
    let (a, b) = two.beta.unwrap();
    near(a / (a + b), mean);
    near(a * (a + 1.0) / ((a + b) * (a + b + 1.0)), square);
}

#[test]
fn points_count_by_their_weights() {
    let points = Points::new(vec![vec![0.2, 0.4], vec![0.8, 0.6]], Some(vec![3.0, 1.0])).unwrap();
    let found = past(&bernoulli(Prior::Points(points)));
    near(found.mean, 0.75 * 0.3 + 0.25 * 0.7);
    near(found.variance, 0.75 * 0.1 + 0.25 * 0.5 - 0.4 * 0.4);
    let known = past(&bernoulli(Prior::points(vec![vec![0.3, 0.3]]).unwrap()));
    let (a, b) = known.beta.unwrap();
    near(a / (a + b), 0.3);
    assert!(known.variance == 0.0 && a + b > 1e6 && b <= 1e6);
    let coins = past(&bernoulli(Prior::points(vec![vec![0.0, 1.0]]).unwrap()));
    assert_eq!(coins.beta, Some((1e-3, 1e-3)));
}

#[test]
fn normal_arms_have_no_beta_and_contexts_no_arms() {
    let prior = Prior::normals(vec![0.0, 2.0], vec![1.0, 3.0]).unwrap();
    let found = past(&Problem::gaussian(prior, 1.0).horizon(9).build().unwrap());
    assert_eq!(found, PastArms { mean: 1.0, variance: 6.0, beta: None });
    assert_eq!(Problem::named("linear-1").unwrap().past_arms(), None);
}

#[derive(Debug)]
struct Squares;
impl Bandit for Squares {
    fn arms(&self) -> usize {
        3
    }
    fn instance(&self, random: &mut Random, means: &mut [f64]) {
        means.fill_with(|| random.uniform().powi(2));
    }
}

/// The square of a uniform number has mean 1/3 and variance 4/45; 12,288 of them, 4 standard errors.
#[test]
fn instances_of_ones_own_are_looked_at() {
    let problem = Problem::own(Squares).horizon(9).build().unwrap();
    let found = past(&problem);
    assert_eq!(found, past(&problem));
    let variance: f64 = 4.0 / 45.0;
    assert!((found.mean - 1.0 / 3.0).abs() < 4.0 * (variance / 12_288.0).sqrt(), "{found:?}");
    assert!((found.variance / variance - 1.0).abs() < 0.05, "{found:?}");
}

/// Past problems of four arms with means from Beta(2, 198), 200 trials each.
fn clicks(problems: usize) -> Vec<Row> {
    let mut numbers = Numbers(5);
    let mut cell = || {
        // The second smallest of 199 uniform numbers is Beta(2, 198).
        let mut least = [1.0, 1.0];
        for _ in 0..199 {
            let x = numbers.unit();
            least = if x < least[0] { [x, least[0]] } else { [least[0], least[1].min(x)] };
        }
        let successes = (0..200).filter(|_| numbers.unit() < least[1]).count() as f64;
        Cell::Counts { successes, trials: 200.0 }
    };
    (0..problems).map(|_| Row::new((0..4).map(|_| cell()).collect())).collect()
}

/// 400 past problems, 30 % held out: w tuned on them has at most 5 % more regret in the true world than w tuned in it,
/// on 20,000 common instances. The table says its Beta to anybody who asks.
#[test]
fn a_policy_tuned_to_counts_is_tuned_to_their_world() {
    let names = ["a", "b", "c", "d"];
    let table = Table::builder().arm_names(names).holdout(0.3).fit(Fit::Beta).build(clicks(400)).unwrap();
    let problem = |prior| Problem::bernoulli(prior).horizon(2_000).build().unwrap();
    let (counted, truth) = (problem(Prior::table(table)), problem(Prior::beta(4, 2.0, 198.0).unwrap()));
    let (a, b) = past(&counted).beta.unwrap();
    assert!((1.5..2.6).contains(&a) && (150.0..260.0).contains(&b), "Beta({a}, {b})");
    let tuned = |problem: &Problem| -> Policy {
        Trainer::new("softelim").seed(1).iterations(60).train(problem).unwrap().policy().clone()
    };
    let (ours, best) = (tuned(&counted), tuned(&truth));
    let comparison = Simulator::new(&truth).instances(20_000).compare([&ours, &best]).unwrap();
    let regret = |i: usize| comparison.regret(i).mean;
    assert!(regret(0) <= 1.05 * regret(1), "{comparison}");
}

/// What `Ground::least_gain` takes for granted: on 200 past problems of four Beta worlds the gain of tuned SoftElim over
/// Thompson sampling varies between past problems by less than a quarter of the latter's regret. Eight seeds gave 0.09 to
/// 0.23 of it, and gains of 10 to 32 %. Each past problem is simulated 200 times; with 50, the noise of simulations adds so
/// much that the second world had 0.27.
#[test]
#[ignore = "a minute: make test-slow"]
fn gains_vary_by_at_most_a_quarter_of_the_regret() {
    let mut numbers = Numbers(9);
    for (arms, horizon, a, b) in [(6, 500, 4, 76), (2, 200, 1, 1), (5, 200, 1, 1), (3, 300, 20, 20)] {
        // The a-th smallest of a + b - 1 uniform numbers is Beta(a, b).
        let mut mean = || {
            let mut all: Vec<f64> = (1..a + b).map(|_| numbers.unit()).collect();
            all.sort_by(f64::total_cmp);
            Cell::Mean(all[a - 1])
        };
        let rows = (0..200).map(|_| Row::new((0..arms).map(|_| mean()).collect())).collect();
        let names = (0..arms).map(|arm| arm.to_string());
        let problem = bernoulli(Prior::table(Table::builder().arm_names(names).build(rows).unwrap()));
        let problem = problem.with_horizon(horizon).unwrap();
        let tuned = Trainer::new("softelim").seed(1).iterations(40).train(&problem).unwrap();
        let policies = [tuned.policy().clone(), "thompson".parse().unwrap()];
        let comparison = Simulator::new(&problem).instances(40_000).compare(&policies).unwrap();
        let (gain, regret) = (comparison.difference(1, 0), comparison.regret(1).mean);
        let spread = gain.std_error * 200.0_f64.sqrt() / regret;
        assert!(
            (0.05..0.25).contains(&spread) && gain.mean > 0.08 * regret,
            "{arms}, {horizon}: {spread}, {gain:?}"
        );
    }
}
