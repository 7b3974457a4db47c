//! Users' own rules as policies of the catalogue: their definitions. Their kernels are below, with and without contexts.

mod chooser;
mod joint;
mod kernel;
mod lanes;

use super::choice::Choice;
use super::decide::{Decide, Linear};
use super::definition::{Define, Plays, needs_each_arm_once};
use super::linear::{RANK, RIDGE, projection};
use super::params::{Param, Setting};
use super::record::ProblemRecord;
use super::rule::{LinearRule, Rule};
use crate::error::Result;
use crate::exact::Part;
use crate::observe::Observer;
use crate::problem::Problem;
use crate::simulate::Player;
use crate::simulate::linear::LinearPlayer;
use crate::simulate::plain::Plain;
use chooser::OwnChooser;
pub(super) use joint::OwnJoint;
use kernel::OwnKernel;
use lanes::{MOST_PARAMS, OwnPlayer};
use std::sync::Arc;

/// A multi-armed rule among the other policies.
pub(super) struct OwnArms<R> {
    name: String,
    summary: String,
    params: Vec<Param>,
    rule: Arc<R>,
}

impl<R: Rule> OwnArms<R> {
    pub fn new(rule: R) -> Self {
        Self { name: rule.name(), summary: rule.summary(), params: rule.params(), rule: Arc::new(rule) }
    }
}

impl<R: Rule> Define for OwnArms<R> {
    fn name(&self) -> &str {
        &self.name
    }
    fn summary(&self) -> &str {
        &self.summary
    }
    fn params(&self) -> &[Param] {
        &self.params
    }
    fn plays(&self) -> Plays {
        Plays::Arms
    }
    fn refuses(&self, problem: &Problem) -> Option<String> {
        let each = || needs_each_arm_once(problem).filter(|_| self.rule.each_arm_once());
        self.rule.refuses(problem).or_else(each)
    }
    fn player(&self, problem: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Player>> {
        let kernel = OwnKernel::new(&self.rule, problem, choice)?;
        Ok(match choice.params().len() {
            0..=MOST_PARAMS => Box::new(OwnPlayer::new(kernel)),
            _ => Box::new(Plain(kernel)),
        })
    }
    fn decider(
        &self,
        problem: &ProblemRecord,
        choice: &Choice,
        _: &mut dyn Observer,
    ) -> Result<Box<dyn Decide>> {
        OwnKernel::decider(&self.rule, problem, choice)
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn parts(&self, problem: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Option<Vec<Part>>> {
        OwnKernel::new(&self.rule, problem, choice).map(|kernel| Some(Part::only(kernel)))
    }
}

/// A contextual rule among the other policies.
pub(super) struct OwnLinear<R> {
    name: String,
    summary: String,
    params: Vec<Param>,
    rule: Arc<R>,
}

impl<R: LinearRule> OwnLinear<R> {
    pub fn new(rule: R) -> Self {
        let w = rule.learns_projection().then_some(Param::PROJECTION);
        let params = w.into_iter().chain(rule.params()).collect();
        Self { name: rule.name(), summary: rule.summary(), params, rule: Arc::new(rule) }
    }

    fn chooser(&self, choice: &Choice) -> OwnChooser<R> {
        let first = if self.rule.learns_projection() { choice.rank() * choice.dim() } else { 0 };
        OwnChooser::new(&self.rule, choice.name(), &choice.params()[first..])
    }
}

impl<R: LinearRule> Define for OwnLinear<R> {
    fn name(&self) -> &str {
        &self.name
    }
    fn summary(&self) -> &str {
        &self.summary
    }
    fn params(&self) -> &[Param] {
        &self.params
    }
    fn settings(&self) -> &[Setting] {
        &[RIDGE, RANK]
    }
    fn plays(&self) -> Plays {
        Plays::Contexts
    }
    fn player(&self, _: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Player>> {
        Ok(Box::new(LinearPlayer::new(self.chooser(choice), projection(choice))))
    }
    fn decider(&self, _: &ProblemRecord, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Decide>> {
        Ok(Box::new(Linear { policy: self.chooser(choice), projection: projection(choice) }))
    }
}
