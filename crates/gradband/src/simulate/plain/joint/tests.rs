//! All runs at once against one run after the other.

use crate::numeric::stream::Key;
use crate::policy::tests::{problems, rules};
use crate::policy::{JointRule, JointSeen, Param, Policy, Rule, Seen};
use crate::problem::{Prior, Problem, Split};
use crate::simulate::Job;
use crate::{Error, Result, Simulator};
use num_dual::Dual64;

/// A rule that is asked for one run, asked for many.
struct Jointly<R> {
    rule: R,
    knows_slopes: bool,
}

fn each_run(seen: &JointSeen, mut visit: impl FnMut(usize, &Seen)) {
    let JointSeen { round, horizon, arms, pulls, sums, means } = *seen;
    for first in (0..pulls.len()).step_by(arms) {
        let statistics = [pulls, sums, means].map(|column| &column[first..first + arms]).concat();
        visit(first, &Seen::new((round, horizon), arms, &statistics, 1));
    }
}

impl<R: Rule> JointRule for Jointly<R> {
    fn name(&self) -> String {
        "jointly".into()
    }

    fn params(&self) -> Vec<Param> {
        self.rule.params()
    }

    fn logits(&self, params: &[f64], seen: &JointSeen, logits: &mut [f64]) -> Result<()> {
        each_run(seen, |first, run| {
            self.rule.logits::<f64>(params, run, &mut logits[first..first + seen.arms])
        });
        Ok(())
    }

    fn slopes(&self, params: &[f64], seen: &JointSeen, slopes: &mut [f64]) -> Result<bool> {
        let numbers = seen.pulls.len();
        let mut logits = vec![Dual64::from(0.0); seen.arms];
        for p in 0..params.len() {
            let mut params: Vec<_> = params.iter().map(|&x| Dual64::from(x)).collect();
            params[p].eps = 1.0;
            each_run(seen, |first, run| {
                self.rule.logits::<Dual64>(&params, run, &mut logits);
                for (slope, logit) in slopes[p * numbers + first..].iter_mut().zip(&logits) {
                    *slope = logit.eps;
                }
            });
        }
        Ok(self.knows_slopes)
    }
}

/// The same bits in every world and for every estimate; derivatives by differences agree to seven digits.
#[test]
fn runs_at_once_have_the_bits_of_runs_one_after_the_other() {
    let armed = Problem::bernoulli(Prior::beta(3, 1.0, 2.0).unwrap()).horizon(30).build().unwrap();
    for problem in &problems::in_worlds(&armed) {
        let single = Policy::own(rules::FiveStages).on(problem).unwrap();
        let single = (single.player(problem, &mut ()).unwrap(), single);
        for knows_slopes in [true, false] {
            let joint = Policy::own_joint(Jointly { rule: rules::FiveStages, knows_slopes });
            let joint = joint.on(problem).unwrap().player(problem, &mut ()).unwrap();
            for task in problems::tasks(&single.1, &*single.0) {
                let marks = [1, 9, 30];
                let job = Job { marks: &marks, ..Job::new(problem, Key::new(8), Split::Train, task) };
                let expected = problems::play(&*single.0, &job, 5, 6);
                let found = problems::play(&*joint, &job, 5, 6);
                let what = format!("{problem}, {task:?}");
                assert_eq!(found.outcomes, expected.outcomes, "{what}");
                assert_eq!(found.curves, expected.curves, "{what}");
                if knows_slopes {
                    assert_eq!(found.gradients, expected.gradients, "{what}");
                }
                for (found, expected) in found.gradients.iter().zip(&expected.gradients) {
                    assert!(
                        (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                        "{what}: {found}, {expected}"
                    );
                }
            }
        }
    }
}

/// Several chunks are played by one call; their sums are taken one by one all the same.
#[test]
fn chunks_that_are_played_together_are_added_one_by_one() {
    let problem = Problem::named("bernoulli-2").unwrap().with_horizon(20).unwrap();
    let regret = |policy: Policy| {
        let found = Simulator::new(&problem).instances(5_003).evaluate(policy).unwrap();
        (found.regret().mean, found.regret().std_error)
    };
    let joint = Policy::own_joint(Jointly { rule: rules::FiveStages, knows_slopes: false });
    assert_eq!(regret(joint), regret(Policy::own(rules::FiveStages)));
}

/// Fails after some rounds.
struct Failing;

impl JointRule for Failing {
    fn name(&self) -> String {
        "failing".into()
    }
    fn params(&self) -> Vec<Param> {
        vec![]
    }
    fn logits(&self, _: &[f64], seen: &JointSeen, logits: &mut [f64]) -> Result<()> {
        logits.fill(0.0);
        if seen.round > 7 { Err(Error::outside("policy", std::fmt::Error)) } else { Ok(()) }
    }
}

#[test]
fn errors_of_a_rule_come_back_as_they_are() {
    let problem = Problem::named("bernoulli-2").unwrap().with_horizon(20).unwrap();
    let error = Simulator::new(&problem).evaluate(Policy::own_joint(Failing)).unwrap_err();
    let crate::ErrorKind::Outside(outside) = error.kind() else { panic!("{error}") };
    assert!(outside.get().is::<std::fmt::Error>());
}
