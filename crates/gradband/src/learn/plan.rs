//! A training with nothing left open: one variant per way to learn.

use super::ascent::Ascent;
use super::q_learning::QLearning;
use super::recurrent::Recipe;
use super::trained::Trained;
use super::{exact_ascent, history, search};
use crate::error::{Error, Result};
use crate::observe::{Observer, unless_stopped};
use crate::policy::{Choice, Learns};
use crate::problem::Problem;

/// How a policy will learn.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Along the gradient of its score (algorithm 1).
    Ascent(Ascent),
    /// Along exact gradients, in steps that are checked.
    ExactAscent(Ascent),
    /// By a search over its one parameter: it chooses without chance, so that it has no score.
    Search(Ascent),
    /// Through time, in stages: a recurrent network.
    Recurrent(Recipe),
    /// By Q-learning.
    QLearning(QLearning),
}

impl Plan {
    /// Trains a policy, from its parameters or, if it is a network without weights, from random ones.
    pub fn train(
        &self,
        problem: &Problem,
        initial: &Choice,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        initial.check_start(problem)?;
        self.check_policy(initial)?;
        let found = unless_stopped(self.learn(problem, initial, seed, observer))?;
        // Stopped before the first iteration: nothing was learned.
        let nothing = |stop_reason| {
            let trained = Trained::new(initial.clone(), initial.clone(), initial.clone());
            Trained { stop_reason, ..trained }
        };
        Ok(found.unwrap_or_else(nothing))
    }

    fn learn(
        &self,
        problem: &Problem,
        initial: &Choice,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        match self {
            Self::Ascent(ascent) if history::matters(ascent, problem, initial) => {
                history::train(ascent, problem, initial, seed, observer)
            }
            Self::Ascent(ascent) => ascent.train(problem, initial, seed, observer),
            Self::ExactAscent(ascent) => exact_ascent::train(problem, initial, ascent, observer),
            Self::Search(ascent) => search::train(problem, initial, ascent, seed, observer),
            Self::Recurrent(recipe) => recipe.train(problem, initial, seed, observer),
            Self::QLearning(settings) => settings.train(problem, initial, seed, observer),
        }
    }

    /// Refuses policies that learn in another way.
    fn check_policy(&self, policy: &Choice) -> Result<()> {
        let learns = match self {
            Self::Ascent(_) | Self::ExactAscent(_) | Self::Search(_) => Learns::Score,
            Self::Recurrent(_) => Learns::Recurrent,
            Self::QLearning(_) => Learns::QLearning,
        };
        if policy.kind().learns() == learns {
            return Ok(());
        }
        Err(Error::new("policy", format!("{} does not learn by this plan; ask for its own", policy.name())))
    }

    /// L: iterations in all, at most.
    pub fn iterations(&self) -> usize {
        match self {
            Self::Ascent(ascent) | Self::ExactAscent(ascent) | Self::Search(ascent) => ascent.iterations,
            Self::Recurrent(recipe) => recipe.stages.iter().map(|stage| stage.iterations).sum(),
            Self::QLearning(settings) => settings.updates,
        }
    }

    /// Simulated runs of an iteration; none with exact gradients.
    pub fn runs_per_iteration(&self) -> usize {
        match self {
            Self::ExactAscent(_) => 0,
            Self::Ascent(ascent) if ascent.is_exact() => 0,
            Self::Ascent(ascent) | Self::Search(ascent) => ascent.estimator.runs(),
            Self::Recurrent(recipe) => recipe.instances * recipe.baseline.runs(),
            Self::QLearning(_) => 0,
        }
    }

    /// Policy-rounds of the first `done` iterations.
    pub fn rounds(&self, done: usize, problem: &Problem) -> usize {
        let Self::Recurrent(recipe) = self else { return done * self.runs_per_iteration() * problem.horizon };
        let (mut left, mut rounds) = (done, 0);
        for stage in &recipe.stages {
            let iterations = left.min(stage.iterations);
            rounds += iterations * stage.horizon * self.runs_per_iteration();
            left -= iterations;
        }
        rounds
    }
}
