//! Which problem it is, for those who have it too: the digest of what the user gave, and how it was made of that.

use super::origin::{Origin, Step};
use super::{Contextual, Model, Prior, Problem, Rewards, Split, Table};
use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::sync::Arc;

impl Problem {
    /// A digest (SHA-256) of all that is played: arms, world, data and their split, but not the name. Problems with the same
    /// digest give the same results to the last bit. Code of one's own counts by what it prints with `{:?}`.
    ///
    /// ```
    /// use gradband::Problem;
    /// let problem = Problem::named("bernoulli-2")?;
    /// assert_eq!(problem.digest(), Problem::named("bernoulli-2")?.digest());
    /// assert_ne!(problem.digest(), problem.with_horizon(50)?.digest());
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.0.get_or_init(|| {
            let mut hash = Sha256::new();
            let Self { arms, world, arm_names, .. } = self;
            hash.update(format!("gradband {arms} {world:?} {arm_names:?} {}\n", self.kind()));
            match &self.model {
                Model::Contextual(contextual) => contextual.content(&mut hash),
                Model::Armed(armed) => {
                    hash.update(format!("{:?}", armed.rewards.values()));
                    if let Rewards::Own(own) = &armed.rewards {
                        hash.update(format!("{:?}", own.bandit()));
                    }
                    armed.prior.content(&mut hash);
                }
            }
            hash.finalize().into()
        })
    }

    /// The digest of the problem that the user gave, and the steps that lead from there to this one.
    pub(crate) fn address(&self) -> ([u8; 32], &[Step]) {
        match &self.origin {
            Some(origin) => (origin.root.digest(), &origin.steps),
            None => (self.digest(), &[]),
        }
    }

    /// The problem that a step leads to.
    pub(crate) fn step(&self, step: Step) -> Result<Self> {
        let missing = || Error::new("problem", format!("{self} has no such fold"));
        match step {
            Step::Fold(i) => self.folds().into_iter().nth(i).ok_or_else(missing),
            Step::Horizon(horizon) => self.shortened(horizon),
        }
    }

    /// The same problem over another number of rounds, which knows where it comes from.
    pub(crate) fn shortened(&self, horizon: usize) -> Result<Self> {
        Ok(self.with_horizon(horizon)?.derived(self, Step::Horizon(horizon)))
    }

    /// Notes that it is one step from another.
    pub(super) fn derived(self, from: &Self, step: Step) -> Self {
        let (root, mut steps) = match &from.origin {
            Some(origin) => (origin.root.clone(), origin.steps.clone()),
            None => (from.clone(), Vec::new()),
        };
        steps.push(step);
        Self { origin: Some(Arc::new(Origin { root, steps })), ..self }
    }
}

impl Contextual {
    fn content(&self, hash: &mut Sha256) {
        let Some(examples) = self.examples() else {
            return hash.update(format!("{:?}", self.model()));
        };
        hash.update(format!(
            "{:?} {:?} {:?}",
            examples.classes(),
            examples.feature_names(),
            examples.scaling()
        ));
        for example in 0..examples.len() {
            let row: Vec<u8> = examples.features(example).iter().flat_map(|x| x.to_le_bytes()).collect();
            hash.update(row);
            hash.update((examples.label(example) as u64).to_le_bytes());
        }
        for split in [Split::Train, Split::HeldOut] {
            hash.update(format!("{:?}", examples.rows(split)));
        }
    }
}

impl Prior {
    fn content(&self, hash: &mut Sha256) {
        match self {
            Self::Table(table) => table.content(hash),
            other => hash.update(format!("{other:?}")),
        }
    }
}

impl Table {
    fn content(&self, hash: &mut Sha256) {
        hash.update(format!("{:?} {:?}", self.arm_names(), self.fitted()));
        for split in [Split::Train, Split::HeldOut] {
            for row in self.rows(split) {
                hash.update(format!("{:?} {:?}\n", row.id, row.arms));
            }
            hash.update("\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Cell, Fit, Row};

    fn past(successes: f64, fit: &str) -> Problem {
        let cell = |i: u32| Cell::Counts { successes: f64::from(i % 9) + successes, trials: 100.0 };
        let row = |i: u32| Row::new(vec![cell(i), cell(3 * i + 1)]);
        let table = Table::builder().arm_names(["a", "b"]).holdout(0.3).fit(Fit::named(fit).unwrap());
        let table = table.build((0..60).map(row).collect()).unwrap();
        Problem::bernoulli(Prior::table(table)).horizon(50).build().unwrap()
    }

    /// Equal if built alike, whatever the name; else not.
    #[test]
    fn a_digest_is_of_the_content() {
        let named = |name: &str| Problem::named(name).unwrap();
        let problems = [
            named("bernoulli-2"),
            named("bernoulli-10"),
            named("linear-1"),
            named("linear-2"),
            past(1.0, "beta"),
            past(1.0, "flat"),
            past(2.0, "beta"),
        ];
        for (i, a) in problems.iter().enumerate() {
            assert_eq!(a.digest(), a.clone().digest());
            assert_eq!(a.digest(), Problem { name: "other".into(), ..a.clone() }.digest());
            assert!(problems[..i].iter().all(|b| a.digest() != b.digest()), "{a}");
        }
        assert_eq!(past(1.0, "beta").digest(), past(1.0, "beta").digest());
    }

    /// The steps of a derived problem lead to a problem with the same content.
    #[test]
    fn steps_can_be_walked_again() {
        let root = past(1.0, "beta");
        let part = root.folds()[2].folds().swap_remove(1).shortened(20).unwrap();
        let (digest, steps) = part.address();
        assert_eq!(digest, root.digest());
        assert_eq!(steps, [Step::Fold(2), Step::Fold(1), Step::Horizon(20)]);
        let again = steps.iter().try_fold(past(1.0, "beta"), |problem, &step| problem.step(step)).unwrap();
        assert_eq!(again.digest(), part.digest());
        assert_ne!(part.digest(), root.digest());
        // What the user makes of it is a problem of its own.
        let changed = part.with_horizon(30).unwrap();
        assert_eq!(changed.address(), (changed.digest(), &[][..]));
        assert!(root.step(Step::Fold(9)).is_err());
    }
}
