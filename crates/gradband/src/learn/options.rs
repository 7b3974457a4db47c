//! What a user may say about a training, and the defaults of what is left unsaid.

use super::ascent::{Ascent, Average, GradientSource};
use super::optimizer::{Optimizer, Rate};
use super::plan::Plan;
use super::q_learning::QLearning;
use super::recurrent::{Recipe, Stage};
use super::start::{self, Start};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Estimator, check_exact};
use crate::policy::{Choice, Learns};
use crate::problem::{Problem, Split};
use crate::simulate::{Baseline, Returns};
use serde::{Deserialize, Serialize};

/// The step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearningRate {
    /// Chosen by the optimizer.
    Auto,
    /// Given.
    Fixed(f64),
}

impl LearningRate {
    /// The number, if it is given.
    pub fn fixed(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Fixed(x) => Some(x),
        }
    }
}

/// How a network is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecipeName {
    /// Ours.
    Default,
    /// The paper's.
    Paper,
}

/// The recipes by name.
pub const RECIPES: [(&str, RecipeName); 2] = [("default", RecipeName::Default), ("paper", RecipeName::Paper)];

/// What is said about a training; the rest follows from the problem and the policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Where gradients come from.
    pub gradient: Option<GradientSource>,
    /// Where training starts.
    pub start: Option<Start>,
    /// What returns are compared with.
    pub baseline: Option<Baseline>,
    /// What returns are made of.
    pub returns: Option<Returns>,
    /// How to climb.
    pub optimizer: Option<Optimizer>,
    /// alpha.
    pub learning_rate: Option<LearningRate>,
    /// L; of a network, in each stage.
    pub iterations: Option<usize>,
    /// m.
    pub batch_size: Option<usize>,
    /// What is handed out.
    pub average: Option<Average>,
    /// Longest gradient.
    pub clip: Option<f64>,
    /// Factor of the rate after each iteration.
    pub decay: Option<f64>,
    /// Of a network: which recipe.
    pub recipe: Option<RecipeName>,
    /// Of a network: horizons that are trained one after the other.
    pub curriculum: Option<Vec<usize>>,
    /// Of a network: does the policy start out softer than it will play?
    pub temperature: Option<bool>,
}

/// Seconds that an iteration may take on one core, as far as that can be told before.
const MOST_SECONDS: f64 = 3600.0;

/// Refuses batches that nobody would wait for.
fn check_time(problem: &Problem, ascent: &Ascent) -> Result<()> {
    let seconds = 1e-9 * problem.cost() * ascent.estimator.runs() as f64;
    if ascent.is_exact() || seconds <= MOST_SECONDS {
        return Ok(());
    }
    let features = problem.contextual().map_or(String::new(), |it| format!(", {} features", it.dim()));
    let message = format!(
        "an iteration would play {} runs of {} rounds ({} arms{features}), which takes about {:.0} hours on one core, at \
         most {:.0} are allowed; shorten the horizon, or ask for fewer instances",
        ascent.estimator.runs(),
        problem.horizon,
        problem.arms,
        seconds / 3600.0,
        MOST_SECONDS / 3600.0
    );
    Err(Error::of("batch_size", ErrorKind::TooLarge(message)))
}

impl Options {
    /// L, unless it is said.
    pub const ITERATIONS: usize = 100;
    /// The same where training starts from the history: more and cheaper iterations, since they have not far to go.
    pub const ITERATIONS_FROM_HISTORY: usize = 150;
    const RUNS_FROM_HISTORY: usize = 320;
    /// What is subtracted, unless it is said.
    pub const BASELINE: Baseline = Baseline::LeaveOneOut(Baseline::DEFAULT_RUNS);
    /// What returns are made of, unless it is said.
    pub const RETURNS: Returns = Returns::Mean;

    /// The optimizer, unless it is said: parameters and their gradients are of all sizes.
    pub const OPTIMIZER: Optimizer = Optimizer::Adam;

    /// Runs of an iteration, unless the batch size is said or the policy has its own number: the price of the paper's self
    /// with m = 1000, and m = 500 with contexts.
    pub fn default_runs(problem: &Problem) -> usize {
        if problem.contextual().is_some() { 1000 } else { 2000 }
    }

    /// Everything that will be done.
    pub fn plan(&self, problem: &Problem, choice: &Choice) -> Result<Plan> {
        match choice.kind().learns() {
            Learns::Score => self.by_score(problem, choice),
            Learns::Recurrent => self.in_stages(problem, choice).map(Plan::Recurrent),
            Learns::QLearning => self.q_learning(problem, choice),
        }
    }

    fn by_score(&self, problem: &Problem, choice: &Choice) -> Result<Plan> {
        for (place, said) in [
            ("recipe", self.recipe.is_some()),
            ("curriculum", self.curriculum.is_some()),
            ("temperature", self.temperature.is_some()),
        ] {
            if said {
                return Err(Error::new(place, format!("is for neural policies, not for {}", choice.name())));
            }
        }
        let exact = self.gradient == Some(GradientSource::Exact);
        if exact {
            self.refuse_sampling()?;
        }
        let ascent = self.ascent(problem, choice, self.start(problem, choice)?);
        ascent.check()?;
        check_time(problem, &ascent)?;
        let unscored = choice.unscored(problem)?;
        if exact {
            check_exact(problem, choice, Split::Train)?;
            if let Some(why) = unscored {
                return Err(Error::new("gradient", format!("found exact, but {} {why}", choice.name())));
            }
        }
        Ok(match unscored {
            _ if exact && ascent.optimizer == Optimizer::Sgd && ascent.learning_rate.is_none() => {
                Plan::ExactAscent(ascent)
            }
            Some(_) if choice.learned() == 1 => Plan::Search(ascent),
            _ => Plan::Ascent(ascent),
        })
    }

    /// From the history where it says anything about the policy.
    fn start(&self, problem: &Problem, choice: &Choice) -> Result<Start> {
        match (self.start, start::applies(problem, choice)?) {
            (Some(Start::Identity), _) | (None, false) => Ok(Start::Identity),
            (Some(Start::History) | None, true) => Ok(Start::History),
            (Some(Start::History), false) => {
                let message = format!(
                    "is for policies with a projection W that is not set, not for {}",
                    choice.label()
                );
                Err(Error::new("start", message))
            }
        }
    }

    fn ascent(&self, problem: &Problem, choice: &Choice, start: Start) -> Ascent {
        let gradient = self.gradient.unwrap_or(GradientSource::Sampled);
        let baseline = self.baseline.unwrap_or(Self::BASELINE);
        let (runs, iterations) = match start {
            Start::History => (Self::RUNS_FROM_HISTORY, Self::ITERATIONS_FROM_HISTORY),
            Start::Identity => (Self::default_runs(problem), Self::ITERATIONS),
        };
        let runs = choice.kind().runs(problem).unwrap_or(runs);
        let affordable = (runs / baseline.runs().max(1)).max(1);
        // Exact iterates do not jitter: steps can be checked, and the last is the best.
        let (optimizer, average) = match gradient {
            GradientSource::Sampled => (Self::OPTIMIZER, Average::Tail),
            GradientSource::Exact => (Optimizer::Sgd, Average::None),
        };
        Ascent {
            gradient,
            start,
            estimator: Estimator {
                baseline,
                returns: self.returns.unwrap_or(Self::RETURNS),
                batch_size: self.batch_size.unwrap_or(affordable),
            },
            iterations: self.iterations.unwrap_or(iterations),
            optimizer: self.optimizer.unwrap_or(optimizer),
            learning_rate: self.learning_rate.and_then(LearningRate::fixed),
            clip: self.clip,
            decay: self.decay.unwrap_or(1.0),
            average: self.average.unwrap_or(average),
        }
    }

    /// An exact gradient is not an average over runs, and an automatic rate needs neither clipping nor decay.
    fn refuse_sampling(&self) -> Result<()> {
        let automatic = self.learning_rate.is_none_or(|rate| rate == LearningRate::Auto);
        let automatic = automatic && self.optimizer.is_none_or(|optimizer| optimizer == Optimizer::Sgd);
        for (place, said) in [
            ("baseline", self.baseline.is_some()),
            ("returns", self.returns.is_some()),
            ("batch_size", self.batch_size.is_some()),
            ("clip", self.clip.is_some() && automatic),
            ("decay", self.decay.is_some() && automatic),
        ] {
            if said {
                return Err(Error::new(place, "has no meaning with exact gradients; leave it out"));
            }
        }
        Ok(())
    }

    /// The recipe that is asked for, with everything that was said on top.
    fn in_stages(&self, problem: &Problem, choice: &Choice) -> Result<Recipe> {
        if self.gradient == Some(GradientSource::Exact) {
            return Err(Error::new("gradient", "neural policies have sampled gradients only"));
        }
        if self.start == Some(Start::History) {
            return Err(Error::new("start", "neural policies start from random weights"));
        }
        let mut recipe = match self.recipe.unwrap_or(RecipeName::Default) {
            RecipeName::Default => Recipe::standard(problem),
            RecipeName::Paper => Recipe::paper(problem),
        };
        self.change_stages(problem, &mut recipe)?;
        recipe.baseline = self.baseline.unwrap_or(recipe.baseline);
        recipe.returns = self.returns.unwrap_or(recipe.returns);
        recipe.optimizer = self.optimizer.unwrap_or(recipe.optimizer);
        if self.average == Some(Average::None) {
            (recipe.average, recipe.checks) = (0.0, 0);
        }
        recipe.instances = self.batch_size.unwrap_or(recipe.instances);
        recipe.clip = self.clip.or(recipe.clip);
        recipe.temperature = self.temperature.unwrap_or(recipe.temperature);
        recipe.check(choice)?;
        Ok(recipe)
    }

    /// Q-learning has one number to choose: `iterations`, the updates of the network.
    fn q_learning(&self, problem: &Problem, choice: &Choice) -> Result<Plan> {
        for (place, said) in [
            ("gradient", self.gradient.is_some()),
            ("start", self.start == Some(Start::History)),
            ("baseline", self.baseline.is_some()),
            ("returns", self.returns.is_some()),
            ("optimizer", self.optimizer.is_some()),
            ("learning_rate", self.learning_rate.is_some()),
            ("batch_size", self.batch_size.is_some()),
            ("average", self.average.is_some()),
            ("clip", self.clip.is_some()),
            ("decay", self.decay.is_some()),
            ("recipe", self.recipe.is_some()),
            ("curriculum", self.curriculum.is_some()),
            ("temperature", self.temperature.is_some()),
        ] {
            if said {
                return Err(Error::new(place, "has no meaning in the Q-learning of dqn; leave it out"));
            }
        }
        let mut settings = QLearning::default();
        settings.updates = self.iterations.unwrap_or(settings.updates);
        Ascent { iterations: settings.updates, ..self.ascent(problem, choice, Start::Identity) }.check()?;
        Ok(Plan::QLearning(settings))
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
