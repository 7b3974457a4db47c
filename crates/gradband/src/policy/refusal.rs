//! Refusals that name what would do instead: they need the whole catalogue, which a policy's own file does not know.

use super::catalogue::applicable;
use super::choice::Choice;
use super::definition::PolicyKind;
use crate::error::{Error, ErrorKind, Place, Result, within};
use crate::observe::Observer;
use crate::problem::Problem;
use crate::simulate::Player;

impl PolicyKind {
    /// Refuses problems that it does not apply to, whatever its settings.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        refuse(self, problem, self.lasting_refusal(problem))
    }
}

/// An error with what to use instead, if there is a reason.
fn refuse(kind: &PolicyKind, problem: &Problem, reason: Option<String>) -> Result<()> {
    let Some(reason) = reason else { return Ok(()) };
    let others = applicable(problem).map(PolicyKind::name).filter(|&name| name != kind.name());
    let instead = others.map(Into::into).collect();
    Err(Error::of("policy", ErrorKind::Refused { policy: kind.name().into(), reason, instead }))
}

impl Choice {
    /// The policy with its initial parameters and default settings.
    pub fn initial(kind: &PolicyKind, problem: &Problem) -> Result<Self> {
        refuse(kind, problem, kind.refusal(problem))?;
        Self::complete(kind, problem, None)
    }

    /// The same to be changed, on a problem that it may refuse as it is; [`Self::admitted`] says whether it does.
    pub(super) fn unsettled(kind: &PolicyKind, problem: &Problem, rank: Option<&str>) -> Result<Self> {
        kind.check(problem)?;
        Self::complete(kind, problem, rank)
    }

    /// Itself, unless its settings make it refuse the problem.
    pub(super) fn admitted(self, problem: &Problem) -> Result<Self> {
        let reason = self.kind().define().refuses_as().and_then(|refuses| refuses(problem, &self));
        refuse(self.kind(), problem, reason)?;
        Ok(self)
    }

    /// Refuses policies with nothing to learn.
    pub fn check_learnable(&self, problem: &Problem) -> Result<()> {
        if self.kind().learns_something() {
            return Ok(());
        }
        let learnable = applicable(problem).filter(|kind| kind.learns_something());
        let learnable: Vec<_> = learnable.map(PolicyKind::name).collect();
        let message = format!("{} has nothing to learn; use one of {}", self.name(), learnable.join(", "));
        Err(Error::new("policy", message))
    }

    /// Refuses parameters that training cannot start from.
    pub fn check_start(&self, problem: &Problem) -> Result<()> {
        self.check_problem(problem)?;
        self.check_learnable(problem)?;
        for slot in self.slots() {
            let (low, high) = slot.param.feasible.on(problem);
            for (i, &x) in self.params()[slot.range.clone()].iter().enumerate() {
                let place = || Place::key("params").then(slot.place(i)).note("where training starts");
                within("", x, low, high).map_err(|error| error.at(place()))?;
            }
        }
        Ok(())
    }

    /// The policy, ready for its gradient: it must have one at these parameters.
    pub fn scored_player(&self, problem: &Problem, observer: &mut dyn Observer) -> Result<Box<dyn Player>> {
        self.check_learnable(problem)?;
        let player = self.player(problem, observer)?;
        match player.unscored() {
            None => Ok(player),
            Some(reason) => {
                let kind = ErrorKind::Unscored { policy: self.name().into(), reason: reason.into() };
                Err(Error::of("params", kind))
            }
        }
    }

    /// Why the policy has no score at its parameters, if it has none; nothing is searched for or prepared.
    pub(crate) fn unscored(&self, problem: &Problem) -> Result<Option<&'static str>> {
        self.check_learnable(problem)?;
        Ok(self.kind().define().player(problem, self, &mut ())?.unscored())
    }
}
