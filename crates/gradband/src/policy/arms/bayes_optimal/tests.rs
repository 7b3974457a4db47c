//! The best policy under other priors than the problem's.

use crate::measure::exact;
use crate::policy::Choice;
use crate::problem::{Cell, Points, Prior, Problem, Row, Split, Table};

/// The best policy for Beta arms, told of them or fitted to them, is the best one where arms are drawn so, and elsewhere
/// no better than the one that knows.
#[test]
fn bayes_optimal_for_beta_arms_is_optimal_for_them() {
    let regret = |problem: &Problem, policy: &str| {
        let choice = Choice::parse(policy, problem).unwrap();
        exact(problem, &choice, Split::HeldOut, &mut ()).unwrap().bayes_regret
    };
    let betas = Problem::bernoulli(Prior::beta(3, 0.8, 2.5).unwrap()).horizon(14).build().unwrap();
    let best = regret(&betas, "bayes-optimal");
    for policy in ["bayes-optimal(prior=fit)", "bayes-optimal(prior=beta,alpha=0.8,beta=2.5)"] {
        assert!((regret(&betas, policy) - best).abs() < 1e-11, "{policy}");
    }
    for policy in ["bayes-optimal(prior=beta)", "gittins(alpha=1,beta=3)", "thompson(prior=fit)"] {
        assert!(regret(&betas, policy) > best + 1e-6, "{policy}");
    }
    let points = Problem::named("bernoulli-2").unwrap().with_horizon(40).unwrap();
    let (known, fitted) = (regret(&points, "bayes-optimal"), regret(&points, "bayes-optimal(prior=fit)"));
    assert!(known < fitted && fitted < regret(&points, "thompson(prior=fit)"), "{known}, {fitted}");
}

/// Two instances, one of which is next to impossible: the belief starts beyond the grid.
#[test]
fn weights_far_apart_are_as_good_as_known() {
    let points = Points::new(vec![vec![0.6, 0.4], vec![0.4, 0.6]], Some(vec![1.0, 1e-15])).unwrap();
    let problem = Problem::bernoulli(Prior::Points(points)).horizon(20).build().unwrap();
    let choice = Choice::parse("bayes-optimal", &problem).unwrap();
    let found = exact(&problem, &choice, Split::HeldOut, &mut ()).unwrap();
    assert!(found.bayes_regret.abs() < 1e-10 && (found.bayes_reward - 12.0).abs() < 1e-10, "{found:?}");
}

/// Whether it plays depends on its setting: over beliefs two known instances of 24 arms are easy, Betas are not; tables
/// with exchangeable arms have a fitted prior alone.
#[test]
fn bayes_optimal_refuses_by_its_prior() {
    let said = |problem: &Problem, policy: &str| Choice::parse(policy, problem).unwrap_err().to_string();
    let many = Problem::named("distractors-24").unwrap();
    assert!(Choice::parse("bayes-optimal", &many).is_ok());
    let message = said(&many, "bayes-optimal(prior=fit)");
    assert!(message.contains("24 arms over 200 rounds have") && message.contains("largest horizon"), "{message}");
    let beta = Problem::named("beta-2").unwrap();
    assert!(said(&beta, "bayes-optimal(prior=fit)").contains("needs Bernoulli rewards"));
    let small = Problem::named("bernoulli-2").unwrap();
    let message = said(&small, "bayes-optimal(alpha=2)");
    assert!(message.contains("alpha: is a parameter only with prior = beta or fit"), "{message}");
    let cell = |successes: usize| Cell::Counts { successes: successes as f64, trials: 90.0 };
    let rows = (0..6).map(|i| Row::new((0..2 + i % 3).map(|arm| cell(1 + 3 * i + arm)).collect()));
    let table = Table::builder().arms(3).holdout(0.4).build(rows.collect()).unwrap();
    let problem = Problem::bernoulli(Prior::table(table)).horizon(20).build().unwrap();
    let message = said(&problem, "bayes-optimal");
    assert!(message.contains("arms = 3") && message.contains("; bayes-optimal(prior=fit) has one"), "{message}");
    let fitted = Choice::parse("bayes-optimal(prior=fit)", &problem).unwrap();
    assert!(fitted.player(&problem, &mut ()).is_ok());
}
