//! A multi-armed rule of one's own that is asked for many runs at once.

use super::kernel::broken;
use crate::error::Result;
use crate::numeric::special::exp;
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now};
use crate::policy::definition::{Define, Plays, needs_each_arm_once};
use crate::policy::params::Param;
use crate::policy::record::ProblemRecord;
use crate::policy::rule::{JointRule, JointSeen};
use crate::problem::Problem;
use crate::simulate::Player;
use crate::simulate::plain::{Joint, JointKernel};
use std::sync::Arc;

/// The rule among the other policies.
pub(in crate::policy) struct OwnJoint<R> {
    name: String,
    params: Vec<Param>,
    rule: Arc<R>,
}

impl<R: JointRule> OwnJoint<R> {
    pub fn new(rule: R) -> Self {
        Self { name: rule.name(), params: rule.params(), rule: Arc::new(rule) }
    }

    fn kernel(&self, choice: &Choice) -> Kernel<R> {
        let domains = self.params.iter().map(|param| param.domain.fixed()).collect();
        Kernel { rule: self.rule.clone(), name: self.name.clone(), params: choice.params().to_vec(), domains }
    }
}

impl<R: JointRule> Define for OwnJoint<R> {
    fn name(&self) -> &str {
        &self.name
    }
    fn summary(&self) -> &str {
        "a rule of one's own"
    }
    fn params(&self) -> &[Param] {
        &self.params
    }
    fn plays(&self) -> Plays {
        Plays::Arms
    }
    fn refuses(&self, problem: &Problem) -> Option<String> {
        needs_each_arm_once(problem).filter(|_| self.rule.each_arm_once())
    }
    /// Asks the rule once, for arms that were each pulled once: what it breaks there is broken at once.
    fn player(&self, problem: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Player>> {
        let (kernel, arms) = (self.kernel(choice), problem.arms);
        let (round, pulls, halves) = (arms.min(problem.horizon - 1), vec![1.0; arms], vec![0.5; arms]);
        let horizon = problem.world().horizon.end(round);
        let seen = JointSeen { round, horizon, arms, pulls: &pulls, sums: &halves, means: &halves };
        JointKernel::weigh(&kernel, &seen, &mut vec![0.0; arms])?;
        kernel.slopes(&seen, &mut vec![0.0; arms * kernel.dim()])?;
        Ok(Box::new(Joint(kernel)))
    }
    fn decider(&self, _: &ProblemRecord, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Decide>> {
        Ok(Box::new(self.kernel(choice)))
    }
}

/// The rule at its parameters.
struct Kernel<R> {
    rule: Arc<R>,
    name: String,
    params: Vec<f64>,
    domains: Vec<(f64, f64)>,
}

/// The step of differences, in parts of the parameter.
const STEP: f64 = 1e-5;

impl<R: JointRule> Kernel<R> {
    /// The derivatives by parameter `p`.
    fn difference(&self, p: usize, seen: &JointSeen, slopes: &mut [f64]) -> Result<()> {
        let (x, (low, high)) = (self.params[p], self.domains[p]);
        let h = if x == 0.0 { STEP } else { STEP * x.abs() };
        let ends = [(x - h).max(low), (x + h).min(high)];
        let mut params = self.params.clone();
        params[p] = ends[0];
        let mut before = vec![0.0; slopes.len()];
        self.rule.logits(&params, seen, &mut before)?;
        params[p] = ends[1];
        self.rule.logits(&params, seen, slopes)?;
        for (slope, before) in slopes.iter_mut().zip(before) {
            // An arm that is never pulled has no slope.
            let never = *slope == f64::NEG_INFINITY && before == f64::NEG_INFINITY;
            *slope = if never { 0.0 } else { (*slope - before) / (ends[1] - ends[0]) };
        }
        Ok(())
    }
}

impl<R: JointRule> JointKernel for Kernel<R> {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn each_arm_once(&self) -> bool {
        self.rule.each_arm_once()
    }

    fn weigh(&self, seen: &JointSeen, weights: &mut [f64]) -> Result<()> {
        self.rule.logits(&self.params, seen, weights)?;
        for logits in weights.chunks_exact_mut(seen.arms) {
            let mut top = logits[0];
            for &logit in &logits[1..] {
                top = if logit > top { logit } else { top };
            }
            if !(top.is_finite() && logits.iter().all(|&logit| logit <= top)) {
                return Err(broken(&self.name));
            }
            logits.iter_mut().for_each(|x| *x = exp(*x - top));
        }
        Ok(())
    }

    fn slopes(&self, seen: &JointSeen, slopes: &mut [f64]) -> Result<()> {
        if !self.rule.slopes(&self.params, seen, slopes)? {
            let numbers = seen.pulls.len();
            for (p, slopes) in slopes.chunks_exact_mut(numbers).enumerate() {
                self.difference(p, seen, slopes)?;
            }
        }
        if slopes.iter().all(|slope| slope.is_finite()) { Ok(()) } else { Err(broken(&self.name)) }
    }
}

impl<R: JointRule> Decide for Kernel<R> {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let pulls: Vec<_> = now.arms.iter().map(|arm| arm.pulls).collect();
        let sums: Vec<_> = now.arms.iter().map(|arm| arm.pulls * arm.mean).collect();
        let means: Vec<_> = now.arms.iter().map(|arm| arm.mean).collect();
        // A run goes on beyond its end: it always ends later.
        let horizon = now.horizon.end(now.round).max(now.round + 1);
        let (round, arms) = (now.round, now.arms.len());
        let seen = JointSeen { round, horizon, arms, pulls: &pulls, sums: &sums, means: &means };
        JointKernel::weigh(self, &seen, weights)
    }
    fn each_arm_once(&self) -> bool {
        self.rule.each_arm_once()
    }
}
