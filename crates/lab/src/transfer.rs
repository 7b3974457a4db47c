//! A policy tuned on several problems and played on one: what it costs to have been tuned for another world.

use crate::compute::{FEW, tune};
use crate::found::{check_estimates, check_numbers, rounded, same_length, short};
use crate::problems::{ProblemSource, Problems};
use gradband::measure::evaluate;
use gradband::policy::Choice;
use gradband::{Estimate, Observer, Result};
use gradband_files::TrainSpec;
use serde::{Deserialize, Serialize};

/// Trainings of one policy on several problems, and other policies, all of which then play on common instances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The problem that is played.
    pub problem: ProblemSource,
    /// The policy that each training starts from.
    pub policy: String,
    /// How it is trained.
    pub train: TrainSpec,
    /// The problems that it is trained on, each by itself.
    pub tuned_on: Vec<ProblemSource>,
    /// Policies that play beside those that were learned, with their parameters.
    pub others: Vec<String>,
    /// The number of instances.
    pub instances: usize,
}

/// What was measured of one of these policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transferred {
    /// The Bayes regret.
    pub regret: Estimate,
    /// Its regret less that of the first policy, on the same instances and rewards.
    pub behind: Estimate,
    /// Its parameters, if there are few.
    pub params: Vec<f64>,
}

impl Transfer {
    /// The policies in the order in which they are recorded: those that were learned first.
    pub(crate) fn run(
        &self,
        seed: u64,
        problems: &mut Problems,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Transferred>> {
        let problem = problems.open(&self.problem)?;
        let mut choices = Vec::new();
        for source in &self.tuned_on {
            let own = problems.open(source)?;
            let start = Choice::parse(&self.policy, &own)?;
            let (trained, _) = tune(&own, &start, &self.train, &[], seed, observer)?;
            choices.push(trained.policy().on(&problem)?);
        }
        for other in &self.others {
            choices.push(Choice::parse(other, &problem)?.fitted(&problem, &mut *observer)?);
        }
        let measured =
            evaluate(&choices.iter().collect::<Vec<_>>(), &problem, seed, self.instances, &[], observer)?;
        let found = choices.iter().enumerate().map(|(i, choice)| Transferred {
            regret: short(measured.regret(i)),
            behind: short(measured.difference(i, 0)),
            params: choice.params().iter().take(FEW).map(|&x| rounded(x, 4)).collect(),
        });
        Ok(found.collect())
    }

    /// Refuses what it cannot have found.
    pub(crate) fn check(&self, found: &[Transferred]) -> Result<()> {
        same_length("transferred", found.len(), self.tuned_on.len() + self.others.len())?;
        found.iter().try_for_each(|found| {
            check_estimates([found.regret, found.behind])?;
            check_numbers("params", &found.params)
        })
    }
}
