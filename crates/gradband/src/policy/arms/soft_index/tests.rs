//! The bound in lanes against the one over counts, its derivatives against differences, and both at their edges.

use super::*;
use crate::measure::exact;
use crate::numeric::lanes::One;
use crate::numeric::simd::Lanes;
use crate::numeric::stream::Key;
use crate::policy::named;
use crate::problem::{Cell, Delay, Prior, Row, Split, Table, World};
use crate::simulate::{Baseline, Job, Outcome, Output, Player, Returns, Task};

fn policy(params: [f64; 6], horizon: usize, noise: Option<f64>) -> SoftIndex {
    SoftIndex { noise, ..SoftIndex::new(params, Horizon::Fixed(horizon)) }
}

/// Prior means and strengths, widths and how they fall, pulls and successes, rounds to come: all the way to what is allowed.
fn edges() -> Vec<([f64; 6], u32, u32, usize)> {
    let mut found = Vec::new();
    for mean in [0.0, 1e-6, 0.5, 0.97, 1.0] {
        for strength in [1e-6, 1e-3, 2.0, 1e6] {
            for (alpha, gamma, delta) in
                [(1.0, 0.35, 1.0), (0.0, 0.0, 1e-6), (1e3, 10.0, 1e6), (0.7, 1.0, 1e-3)]
            {
                for (pulls, successes) in
                    [(0, 0), (1, 0), (1, 1), (7, 3), (900_000, 0), (900_000, 900_000), (1_000_000, 999_999)]
                {
                    for left in [1, 200, 1_000_000] {
                        found.push(([mean, strength, alpha, gamma, delta, 0.01], pulls, successes, left));
                    }
                }
            }
        }
    }
    found
}

/// The bound and its derivatives in some lanes.
fn in_lanes<R: Real<Token = ()>>(policy: &SoftIndex, pulls: u32, sum: f64, left: usize) -> (f64, [f64; 5]) {
    let (pulls, sum) = (R::splat((), f64::from(pulls)), R::splat((), sum));
    let (bound, slopes) = policy.bound::<R, true>(pulls, sum, left as f64);
    assert_eq!(policy.bound::<R, false>(pulls, sum, left as f64).0.lane(0), bound.lane(0), "{policy:?}");
    (bound.lane(0), slopes.map(|slope| slope.lane(0)))
}

#[test]
fn lanes_agree_with_counts_up_to_the_edges() {
    for (params, pulls, successes, left) in edges() {
        let policy = policy(params, left + pulls as usize, None);
        let (bound, slopes) = Counts(policy).bound(pulls as usize, pulls, successes);
        let double = in_lanes::<One<f64>>(&policy, pulls, f64::from(successes), left);
        let single = in_lanes::<One<f32>>(&policy, pulls, f64::from(successes), left);
        let what = format!("{params:?}, {successes} of {pulls}, {left} to come");
        assert!((double.0 - bound).abs() <= 1e-12 * bound.abs(), "{what}: {} {bound}", double.0);
        assert!((single.0 - bound).abs() <= 1e-4 * bound.abs().max(1e-6), "{what}: {} {bound}", single.0);
        for (i, &exact) in slopes.iter().enumerate() {
            let (double, single) = (double.1[i], single.1[i]);
            // The derivative by p is 1 plus a number that may be almost -1: digits cancel there.
            let allowed = 0.02 * exact.abs().max(1e-3);
            assert!((single - exact).abs() <= allowed, "{what}, parameter {i}: {single} {exact}");
            assert!(
                (double - exact).abs() <= 1e-9 * exact.abs().max(1e-9),
                "{what}, parameter {i}: {double} {exact}"
            );
        }
    }
}

/// Central differences of the bound in double precision, with the variance of rewards in [0, 1] and with a given one.
#[test]
fn slopes_are_derivatives_of_the_bound() {
    for noise in [None, Some(0.7)] {
        for (mean, strength) in [(0.3, 0.4), (0.62, 2.8), (0.05, 80.0)] {
            for (pulls, sum) in [(0, 0.0), (1, 1.0), (5, 1.6), (60, 59.0)] {
                for left in [1, 9, 400] {
                    let params = [mean, strength, 0.8, 0.35, 1.7, 0.01];
                    let at = |params| in_lanes::<One<f64>>(&policy(params, 500, noise), pulls, sum, left);
                    for (i, slope) in at(params).1.into_iter().enumerate() {
                        let step = 1e-6 * params[i];
                        let [up, down] = [step, -step].map(|step| {
                            let mut params = params;
                            params[i] += step;
                            at(params).0
                        });
                        let difference = (up - down) / (2.0 * step);
                        let what = format!("{noise:?}, {sum} of {pulls}, {left} to come, parameter {i}");
                        assert!(
                            (slope - difference).abs() < 1e-7 * (1.0 + slope.abs()),
                            "{what}: {slope}, {difference}"
                        );
                    }
                }
            }
        }
    }
}

fn played(player: &dyn Player, job: &Job, count: usize) -> (Vec<Outcome>, Vec<f64>) {
    let dim = if job.task == Task::Evaluate { 0 } else { player.dim() };
    let (mut outcomes, mut gradients) = (vec![Outcome::default(); count], vec![f64::NAN; count * dim]);
    let out = Output { outcomes: &mut outcomes, gradients: &mut gradients, curves: &mut [] };
    player.rollout(job, 0, out).unwrap();
    (outcomes, gradients)
}

/// Arms that always pay, never pay, or are alike; temperatures down to the least; late rewards; a million rounds.
#[test]
fn nothing_is_ever_not_a_number() {
    let points =
        |means: &[[f64; 2]]| Prior::points(means.iter().map(|means| means.to_vec()).collect()).unwrap();
    let short = Problem::bernoulli(points(&[[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])).horizon(50);
    let short = short.build().unwrap();
    let late = short.with_world(World { delay: Delay::Geometric { mean: 9.0 }, ..*short.world() }).unwrap();
    let ended =
        short.with_world(World { horizon: Horizon::Geometric { mean: 1.0 }, ..*short.world() }).unwrap();
    let long = Problem::bernoulli(points(&[[0.0, 1e-6]])).horizon(1_000_000).build().unwrap();
    let silent = Problem::gaussian(points(&[[-3.0, -3.0]]), 0.0).horizon(20).build().unwrap();
    let task = Task::Gradient(Baseline::LeaveOneOut(2), Returns::Mean);
    for (problem, instances) in [(&short, 40), (&late, 40), (&ended, 40), (&silent, 20), (&long, 1)] {
        let initial = Choice::initial(&named("soft-index").unwrap(), problem).unwrap();
        for (strength, temperature) in [("1e-6", "1e-9"), ("1e6", "1e-9"), ("2", "1e-9"), ("0.1", "1e6")] {
            let choice = initial.with(problem, "strength", strength).unwrap();
            let choice = choice.with(problem, "temperature", temperature).unwrap();
            let player = choice.player(problem, &mut ()).unwrap();
            for lanes in [Lanes::Auto, Lanes::Single, Lanes::Double] {
                let job = Job { lanes, ..Job::new(problem, Key::new(1), Split::Train, task) };
                let (outcomes, gradients) = played(&*player, &job, instances);
                assert!(
                    outcomes.iter().all(|outcome| outcome.regret.is_finite()),
                    "{} {problem}",
                    choice.label()
                );
                assert!(
                    gradients.iter().all(|slope| slope.is_finite()),
                    "{} {problem}: {gradients:?}",
                    choice.label()
                );
            }
        }
    }
}

/// The largest bound is the limit of low temperatures; under a symmetric prior it does not matter who wins ties.
#[test]
fn hard_is_the_limit_of_low_temperatures() {
    let problem = Problem::named("bernoulli-2-uniform").unwrap().with_horizon(25).unwrap();
    let regret = |policy: &str| {
        let choice = Choice::parse(policy, &problem).unwrap();
        exact(&problem, &choice, Split::Train, &mut ()).unwrap()
    };
    let (hard, cold) = (regret("soft-index(hard=true)"), regret("soft-index(temperature=1e-9)"));
    assert!((hard.bayes_regret - cold.bayes_regret).abs() < 1e-9, "{hard:?} {cold:?}");
    assert_eq!((hard.gradient.len(), cold.gradient.len()), (0, 6));
    let choice = Choice::parse("soft-index(hard=true)", &problem).unwrap();
    assert!(choice.scored_player(&problem, &mut ()).is_err());
}

/// Training starts where the past says: Betas, points, tables, and normal means with normal noise.
#[test]
fn the_prior_is_that_of_the_past() {
    let start = |problem: Problem| {
        let choice = Choice::initial(&named("soft-index").unwrap(), &problem).unwrap();
        [0, 1].map(|i| choice.params()[i])
    };
    let close = |[mean, strength]: [f64; 2], expected: [f64; 2]| {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        assert!(near(mean, expected[0]) && near(strength, expected[1]), "{mean}, {strength}: {expected:?}");
    };
    let bernoulli = |prior| Problem::bernoulli(prior).horizon(50).build().unwrap();
    close(start(bernoulli(Prior::beta(3, 4.0, 76.0).unwrap())), [0.05, 80.0]);
    // Means of 0.4 and 0.6: 0.24 / 0.01 - 1 pulls.
    close(start(bernoulli(Prior::points(vec![vec![0.6, 0.4]]).unwrap())), [0.5, 24.0]);
    let rows =
        [[0.6, 0.4], [0.4, 0.6], [0.4, 0.6], [0.6, 0.4]].map(|row| Row::new(row.map(Cell::Mean).to_vec()));
    let table = Table::new(["a", "b"].map(String::from).to_vec(), rows.to_vec(), 0.5).unwrap();
    let found = start(bernoulli(Prior::table(table)));
    assert!((found[0] - 0.5).abs() < 1e-6 && found[1] > 2.0, "{found:?}");
    let normal =
        |noise| Problem::gaussian(Prior::normal(2, -1.5, 2.0).unwrap(), noise).horizon(50).build().unwrap();
    close(start(normal(3.0)), [-1.5, 2.25]);
    // Without noise one pull tells all.
    close(start(normal(0.0)), [-1.5, 1e-3]);
}
