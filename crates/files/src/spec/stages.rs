//! `[train]` for neural policies: a recipe, and what the user changes in it.

use super::train::{RETURNS, one_of};
use super::{LearningRate, TrainSpec, Training, defaults};
use crate::baseline::{Baseline, Returns};
use crate::dqn;
use crate::gradient::Estimator;
use crate::lstm::train::{Recipe, Stage};
use crate::optimizer::{Rate, Rule};
use crate::problem::Problem;
use crate::train::{Average, Settings, Source};
use crate::{Error, Result, error::within};

/// Which preset.
#[derive(Clone, Copy)]
enum Preset {
    Default,
    Paper,
}

const PRESETS: [(&str, Preset); 2] = [("default", Preset::Default), ("paper", Preset::Paper)];

impl TrainSpec {
    /// The recipe that is asked for, with everything that was said on top.
    pub(super) fn resolve_stages(&self, problem: &Problem) -> Result<Training> {
        if self.gradient.as_deref().is_some_and(|name| name != defaults::GRADIENT) {
            return Err(Error::new("gradient", "neural policies have sampled gradients only"));
        }
        let preset = self.recipe.clone().unwrap_or_else(|| "default".into());
        let mut recipe = match one_of("recipe", &preset, &PRESETS)? {
            Preset::Default => Recipe::standard(problem),
            Preset::Paper => Recipe::paper(problem),
        };
        self.change_stages(problem, &mut recipe)?;
        if let Some(name) = &self.baseline {
            recipe.baseline = Baseline::new(name, self.runs_per_instance)?;
        } else if let Some(runs) = self.runs_per_instance {
            recipe.baseline = Baseline::new(recipe.baseline.name(), Some(runs))?;
        }
        if let Some(returns) = &self.returns {
            recipe.returns = one_of("returns", returns, &RETURNS)?;
        }
        if let Some(rule) = &self.optimizer {
            recipe.rule = Rule::new(rule)?;
        }
        if self.average.as_deref() == Some("none") {
            (recipe.average, recipe.checks) = (0.0, 0);
        }
        recipe.instances = self.batch_size.unwrap_or(recipe.instances);
        recipe.clip = self.clip.or(recipe.clip);
        recipe.temperature = self.temperature.unwrap_or(recipe.temperature);
        let settings = summary(&recipe);
        settings.check()?;
        let eval_instances = self.eval_instances.unwrap_or(defaults::INSTANCES);
        defaults::check_instances("eval-instances", eval_instances)?;
        if let Some(seconds) = self.time_limit {
            within("time-limit", seconds, f64::MIN_POSITIVE, 1e9)?;
        }
        let spec = Self {
            gradient: Some(defaults::GRADIENT.into()),
            baseline: Some(recipe.baseline.name().into()),
            runs_per_instance: matches!(recipe.baseline, Baseline::LeaveOneOut(_))
                .then(|| recipe.baseline.runs()),
            returns: Some(if recipe.returns == Returns::Mean { "mean" } else { "realized" }.into()),
            optimizer: self.optimizer.clone().or_else(|| Some("adam".into())),
            learning_rate: Some(self.learning_rate.unwrap_or(LearningRate::Auto)),
            batch_size: Some(recipe.instances),
            average: self.average.clone(),
            eval_instances: Some(eval_instances),
            clip: recipe.clip,
            recipe: Some(preset),
            curriculum: Some(recipe.stages.iter().map(|stage| stage.horizon).collect()),
            temperature: Some(recipe.temperature),
            ..self.clone()
        };
        let time_limit = self.time_limit;
        Ok(Training { spec, settings, eval_instances, time_limit, recipe: Some(recipe), q_learning: None })
    }

    /// Q-learning has one number to choose: `iterations`, the updates of the network.
    pub(super) fn resolve_q_learning(&self, problem: &Problem) -> Result<Training> {
        let known = Self { iterations: None, eval_instances: None, time_limit: None, ..self.clone() };
        if let Some(key) = toml::Table::try_from(&known).ok().and_then(|table| table.keys().next().cloned()) {
            return Err(Error::new(
                key.replace('_', "-"),
                "has no meaning in the Q-learning of dqn; leave it out",
            ));
        }
        let mut settings = dqn::Settings::default();
        settings.updates = self.iterations.unwrap_or(settings.updates);
        let asked = Self { iterations: Some(settings.updates), ..self.clone() };
        let training = asked.resolve(problem)?;
        let spec = Self { eval_instances: Some(training.eval_instances), ..asked };
        Ok(Training { spec, q_learning: Some(settings), ..training })
    }

    /// Horizons, iterations and rates. Of the preset's stages the first and the last keep their places, and those
    /// between are like the second.
    fn change_stages(&self, problem: &Problem, recipe: &mut Recipe) -> Result<()> {
        if let Some(horizons) = &self.curriculum {
            let rising = horizons.windows(2).all(|pair| pair[0] < pair[1]);
            let within = horizons.iter().all(|&horizon| (1..=problem.horizon).contains(&horizon));
            if horizons.is_empty() || !rising || !within {
                let message =
                    format!("expected rising horizons from 1 to {}, found {horizons:?}", problem.horizon);
                return Err(Error::new("curriculum", message));
            }
            let preset = recipe.stages.clone();
            let stage = |(i, &horizon): (usize, &usize)| {
                let like =
                    if i + 1 == horizons.len() { preset.len() - 1 } else { i.min(preset.len().max(2) - 2) };
                Stage { horizon, ..preset[like] }
            };
            recipe.stages = horizons.iter().enumerate().map(stage).collect();
        }
        for stage in &mut recipe.stages {
            stage.iterations = self.iterations.unwrap_or(stage.iterations);
            if let Some(LearningRate::Fixed(initial)) = self.learning_rate {
                stage.rate = Rate { initial, end: 1.0, decay: 1.0 };
            }
            stage.rate.decay = self.decay.unwrap_or(stage.rate.decay);
        }
        Ok(())
    }
}

/// What of a recipe fits into the settings of other trainings: for checks and for show.
fn summary(recipe: &Recipe) -> Settings {
    let first = recipe.stages.first().map(|stage| stage.rate);
    Settings {
        gradient: Source::Sampled,
        estimator: Estimator {
            baseline: recipe.baseline,
            returns: recipe.returns,
            batch_size: recipe.instances,
        },
        iterations: recipe.stages.iter().map(|stage| stage.iterations).sum(),
        rule: recipe.rule,
        learning_rate: first.map(|rate| rate.initial),
        clip: recipe.clip,
        decay: first.map_or(1.0, |rate| rate.decay),
        average: Average::None,
    }
}

impl Training {
    /// Policy-rounds of the first `done` iterations.
    pub fn rounds(&self, done: usize, problem: &Problem) -> usize {
        let estimator = &self.settings.estimator;
        let per_round = estimator.batch_size * estimator.baseline.runs();
        let Some(recipe) = &self.recipe else { return done * per_round * problem.horizon };
        let mut left = done;
        let mut rounds = 0;
        for stage in &recipe.stages {
            let iterations = left.min(stage.iterations);
            rounds += iterations * stage.horizon * per_round;
            left -= iterations;
        }
        rounds
    }
}
