//! What changes around an agent (arms, policies, logs of others), and what it tells of itself.

use super::context::Context;
use super::deciding::{Agent, ROUNDING, check_name};
use super::decision::{ArmStats, Row, Stats};
use super::ledger::{Ledger, Outcome};
use super::playable::Playable;
use super::state::{ArmState, Credit};
use crate::error::{Error, Place, Result, abridged, within};
use crate::policy::decide::View;

impl Agent {
    /// Another arm, or one that was retired: it comes back with its statistics.
    pub fn add(&mut self, name: &str) -> Result<()> {
        check_name("arm", name)?;
        if let Some(arm) = self.state.arms.iter_mut().find(|arm| &*arm.name == name) {
            if arm.active {
                return Err(Error::new("arm", format!("'{}' is there already", abridged(name))));
            }
            arm.active = true;
            self.state.look(&self.policy);
            return Ok(());
        }
        self.policy.check_arms(self.state.arms.len() + 1)?;
        self.state.add(name, &self.policy);
        Ok(())
    }

    /// An arm that is no longer pulled. Its statistics stay, and late rewards still find it.
    pub fn retire(&mut self, name: &str) -> Result<()> {
        let arm = self.state.arm("arm", name)?;
        self.state.arms[arm].active = false;
        self.state.look(&self.policy);
        Ok(())
    }

    /// Another policy takes over, with all that is known.
    pub fn replace(&mut self, policy: impl Into<Playable>) -> Result<()> {
        let policy = policy.into();
        policy.check_arms(self.state.arms.len())?;
        let (old, new) = (self.policy.problem(), policy.problem());
        if (old.context_dim, &old.features) != (new.context_dim, &new.features) {
            let message = "the new policy looks at other features, or scales them in another way";
            return Err(Error::new("problem.features", message));
        }
        let credited = self.state.arms.iter().any(|arm| arm.pulls > 0);
        if policy.decider().reads() && !self.policy.decider().reads() && credited {
            let message =
                format!("{} reads rewards one by one, and they were not kept so far", policy.name());
            return Err(Error::new("policy", message));
        }
        self.policy = policy;
        let coin = self.coin();
        self.state.take(&self.policy, coin);
        self.versions.push(self.policy.shared_version().clone());
        Ok(())
    }

    /// Learns from the rows of a log: those that have a reward. Nothing is learned if one of them is wrong.
    pub fn learn<'a>(&mut self, rows: impl IntoIterator<Item = &'a Row>) -> Result<usize> {
        let check = |(i, row): (usize, &'a Row)| {
            let here = || Place::key("rows").index(i);
            let Some(reward) = row.reward else { return Ok(None) };
            let arm = self.state.arm("arm", &row.arm).map_err(|error| error.within(here()))?;
            self.check_reward("reward", reward).map_err(|error| error.within(here()))?;
            within("probability", row.probability, f64::MIN_POSITIVE, 1.0)
                .map_err(|error| error.within(here()))?;
            let (x, _) = row.context.scaled(self.policy.problem()).map_err(|error| error.within(here()))?;
            Ok(Some((arm, reward, row.probability, x)))
        };
        let rows = rows.into_iter().enumerate().map(check).collect::<Result<Vec<_>>>()?;
        let rows: Vec<_> = rows.into_iter().flatten().collect();
        for (i, (arm, reward, probability, x)) in rows.iter().enumerate() {
            let seen = &mut self.scratch.seen;
            if let View::Estimates(projection) = self.policy.decider().view() {
                seen.look(projection, x);
            }
            self.state.pull(*arm, x, seen);
            let rounding = self.key.child(ROUNDING).child(self.ledger.next()).child(i as u64);
            let one = rounding.uniform() < *reward;
            let credit = Credit { arm: *arm, reward: *reward, one, probability: *probability, context: x };
            self.state.credit(&credit, &self.policy, seen);
        }
        Ok(rows.len())
    }

    /// The decisions that are remembered, and what became of them.
    pub fn log(&self) -> impl Iterator<Item = Row> + '_ {
        let silent = self.ledger.window.map(|window| window.default_reward);
        self.ledger.entries().map(move |(number, entry)| Row {
            id: Ledger::id(number, entry),
            round: entry.round,
            arm: self.state.arms[entry.arm as usize].name.to_string(),
            probability: entry.probability,
            version: self.versions[entry.version as usize].to_string(),
            context: Context::raw(&entry.context, self.policy.problem()),
            reward: match entry.outcome {
                Outcome::Credited(reward) => Some(reward),
                Outcome::Silent | Outcome::Late(_) => silent,
                Outcome::Pending | Outcome::Noted(_) | Outcome::Withdrawn => None,
            },
            late: if let Outcome::Late(reward) = entry.outcome { Some(reward) } else { None },
            withdrawn: entry.outcome == Outcome::Withdrawn,
        })
    }

    /// What its user should know of this policy with these arms and this floor.
    pub fn notes(&self) -> Vec<String> {
        let (name, trained) = (self.policy.name(), self.policy.problem().arms);
        let arms = self.state.arms.iter().filter(|arm| arm.active).count();
        let other =
            (arms != trained).then(|| format!("{name} was trained with {trained} arms, and plays {arms}"));
        let certain = (self.policy.is_certain() && self.floor == 0.0).then(|| {
            format!("{name} is certain of its arm; with a floor its log says something about other arms too")
        });
        other.into_iter().chain(certain).collect()
    }

    /// The number of decisions made, ever.
    pub fn decisions(&self) -> u64 {
        self.ledger.next()
    }

    /// The bytes that the decisions that are remembered take: about a hundred each, and their contexts.
    pub fn memory(&self) -> usize {
        self.ledger.memory()
    }

    /// What the agent has done so far.
    pub fn stats(&self) -> Stats {
        let arm = |arm: &ArmState| ArmStats {
            name: arm.name.clone(),
            active: arm.active,
            pulls: arm.pulls,
            pending: arm.pending,
            sum: arm.sum,
            squares: arm.squares,
            mean: arm.mean(),
        };
        Stats {
            policy: self.policy.name().into(),
            version: self.policy.shared_version().clone(),
            round: self.state.round() as u64,
            horizon: self.policy.problem().horizon as u64,
            decisions: self.decisions(),
            pending: self.state.arms.iter().map(|arm| arm.pending).sum(),
            counts: self.ledger.counts,
            arms: self.state.arms.iter().map(arm).collect(),
        }
    }
}
