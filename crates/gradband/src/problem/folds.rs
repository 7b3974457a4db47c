//! Folds of the training data: problems on which a training can be tried without a look at what is held out.

use super::origin::Step;
use super::{Armed, Classification, Contextual, Model, Prior, Problem, Split};
use crate::error::{Error, Result};
use std::sync::Arc;

/// With fewer rows or past problems than the first number all of five folds are used, with fewer than the second two of
/// four, else one: what a fold says of a policy depends on the number of what is in it.
const ROWS: [usize; 2] = [2_000, 10_000];
const PAST_PROBLEMS: [usize; 2] = [200, 1_000];
/// Fewer past problems are not worth a fold.
const LEAST: usize = 10;

impl Problem {
    /// The same labelled rows with another share of them held out, see [`Examples::resplit`](super::Examples::resplit).
    pub fn resplit(&self, holdout: f64, number: u64) -> Result<Self> {
        let Some(examples) = self.contextual().and_then(Contextual::examples) else {
            return Err(Error::new("problem", format!("{} has no labelled rows to split", self.name)));
        };
        let model = Classification::new(examples.resplit(holdout, number)?);
        Ok(Self { model: Model::Contextual(Contextual(Arc::new(model))), origin: None, ..self.clone() })
    }

    /// The problem with a fold of its training data held out in the place of what is, for a few folds; none if nothing is
    /// held out, or if instances are drawn anew.
    pub(crate) fn folds(&self) -> Vec<Self> {
        if !self.ground().held_out() {
            return Vec::new();
        }
        match &self.model {
            Model::Contextual(contextual) => {
                let Some(examples) = contextual.examples() else { return Vec::new() };
                let part = |fold, folds| {
                    let model = Classification::new(examples.fold(fold, folds)?);
                    Some(Model::Contextual(Contextual(Arc::new(model))))
                };
                self.parts(examples.rows(Split::Train).len(), ROWS, part)
            }
            Model::Armed(armed) => {
                let Prior::Table(table) = &armed.prior else { return Vec::new() };
                let part = |fold, folds| {
                    let prior = Prior::Table(table.fold(fold, folds, armed.rewards.unit())?.into());
                    Some(Model::Armed(Armed { prior, rewards: armed.rewards.clone() }))
                };
                self.parts(table.rows(Split::Train).len(), PAST_PROBLEMS, part)
            }
        }
    }

    fn parts(
        &self,
        count: usize,
        [few, many]: [usize; 2],
        part: impl Fn(usize, usize) -> Option<Model>,
    ) -> Vec<Self> {
        let (used, folds) = match count {
            count if count < LEAST => (0, 1),
            count if count < few => (5, 5),
            count if count < many => (2, 4),
            _ => (1, 4),
        };
        let problem = |fold| Some(Self { model: part(fold, folds)?, ..self.clone() });
        let parts = (0..used).filter_map(problem).enumerate();
        parts.map(|(i, part): (_, Self)| part.derived(self, Step::Fold(i))).collect()
    }
}
