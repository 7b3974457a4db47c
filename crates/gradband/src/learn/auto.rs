//! Which policy to train: every class that applies is trained, and the one with the least regret on common training
//! instances is chosen.
//!
//! Where past problems or rows are held out, classes are trained on all but a fold of the training part and judged on that
//! fold; where instances are drawn anew, on new training instances. The evaluation's instances decide nothing, so that what
//! they say of the chosen policy is not biased by the choice.

use super::kept::Within;
use super::options::Options;
use super::trained::Trained;
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Comparison, Estimate, evaluate_job};
use crate::numeric::stream::Key;
use crate::observe::{Observer, Unstoppable, go_on, unless_stopped};
use crate::policy::{Allowed, Choice, Learns, PolicyKind, applicable};
use crate::problem::{Problem, Split};
use crate::simulate::{Job, Task};
use crate::stop::StopReason;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Apart from all other randomness of a training.
const JUDGEMENT: u64 = 12;
/// Nanoseconds that the judgement may take on one core, about; and its instances.
const PATIENCE: f64 = 2e10;
const INSTANCES: (usize, usize) = (200, 10_000);
/// Seconds that preparing a policy may take.
const PREPARATION: f64 = 0.5;

/// A class of policies that was trained.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The trained policy, as it can be typed.
    pub policy: String,
    /// Its Bayes regret on the instances of the judgement.
    pub regret: Estimate,
    /// Its regret minus the chosen one's, on the same instances.
    pub behind: Estimate,
    /// Policy-rounds that its training took.
    pub rounds: usize,
    /// The same policy on what it was trained on.
    #[serde(skip)]
    pub choice: Choice,
}

/// The class that was chosen, and those that were not.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The policy to train, untrained.
    pub initial: Choice,
    /// The same trained, where it was trained on the whole problem already, or there is no time left to do so.
    pub trained: Option<Trained>,
    /// All that were tried, the least regret first.
    pub tried: Vec<Tried>,
    /// Classes that apply but take long to train, and were left out.
    pub left_out: Vec<String>,
    /// On how many instances they were judged, and of what.
    pub instances: usize,
    /// Were they judged on a fold of the training data that they had not seen?
    pub kept_aside: bool,
}

/// Why it was chosen, and what the choice cost.
impl Display for Chosen {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let [first, rest @ ..] = &self.tried[..] else { return Ok(()) };
        let on = if self.kept_aside { "of training data kept aside" } else { "of training" };
        write!(f, "{} is chosen: least regret on {} instances {on}", self.initial.name(), self.instances)?;
        if let Some(second) = rest.first() {
            write!(f, ", {} before {}", second.behind, second.choice.name())?;
        }
        let all: usize = self.tried.iter().map(|tried| tried.rounds).sum();
        let others = all - first.rounds.min(all);
        write!(f, "; the other {} took {:.0} million rounds", rest.len(), others as f64 / 1e6)?;
        if !self.left_out.is_empty() {
            write!(f, "; left out, for the time they take: {}", self.left_out.join(", "))?;
        }
        Ok(())
    }
}

/// One class on the way.
struct Class {
    initial: Choice,
    trained: Trained,
    rounds: usize,
}

impl Class {
    /// Why it did not come to the end of its training, if it did not.
    fn stopped(&self) -> Option<StopReason> {
        Some(self.trained.stop_reason())
            .filter(|reason| matches!(reason, StopReason::Interrupted | StopReason::Time))
    }
}

/// Trains a class; none where it takes long to prepare or the options are not for it.
fn train(
    kind: &PolicyKind,
    problem: &Problem,
    options: &Options,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Class>> {
    let initial = informed(kind, problem, observer)?;
    if initial.preparation_seconds(problem) > PREPARATION {
        return Ok(None);
    }
    let Ok(plan) = options.plan(problem, &initial) else { return Ok(None) };
    let trained = plan.train(problem, &initial, seed, &mut Within::new(kind.name(), observer))?;
    let rounds = plan.rounds(trained.history().len(), problem);
    Ok(Some(Class { initial, trained, rounds }))
}

/// Chooses the class to train on a problem; all are trained with these options, as far as they apply to them. Networks take
/// minutes, and are left out unless asked for.
pub fn choose(
    problem: &Problem,
    options: &Options,
    seed: u64,
    networks: bool,
    observer: &mut dyn Observer,
) -> Result<Chosen> {
    let part = problem.folds().into_iter().next();
    let (tried_on, split) = part.as_ref().map_or((problem, Split::Train), |part| (part, Split::HeldOut));
    let quick = |kind: &&PolicyKind| kind.learns_something() && (networks || kind.learns() == Learns::Score);
    let kinds: Vec<&PolicyKind> = applicable(problem).filter(quick).collect();
    let mut classes = Vec::new();
    let mut stopped = None;
    for (i, kind) in kinds.iter().enumerate() {
        let found =
            go_on(observer, &format!("trying {}", kind.name()), "policies", i as u64, kinds.len() as u64)
                .and_then(|()| train(kind, tried_on, options, seed, observer));
        stopped = match unless_stopped(found)? {
            Ok(class) => {
                let stopped = class.as_ref().and_then(Class::stopped);
                classes.extend(class);
                stopped
            }
            Err(reason) => Some(reason),
        };
        if stopped.is_some() {
            break;
        }
    }
    match (classes.is_empty(), stopped) {
        (true, Some(reason)) => return Err(Error::of("", ErrorKind::Stopped(reason))),
        (true, None) => {
            let message = "no policy that learns applies to this problem and these options";
            return Err(Error::new("policy", message));
        }
        _ => {}
    }
    let job = Job::new(tried_on, Key::new(seed).child(JUDGEMENT), split, Task::Evaluate);
    let instances = ((PATIENCE / problem.cost()) as usize / classes.len()).clamp(INSTANCES.0, INSTANCES.1);
    let choices: Vec<&Choice> = classes.iter().map(|class| class.trained.choice()).collect();
    // What was learned before the time was up is judged all the same.
    let judged = match stopped {
        Some(reason) => Err(reason),
        None => unless_stopped(evaluate_job(&choices, &job, instances, observer))?,
    };
    let comparison = match judged {
        Ok(comparison) => comparison,
        Err(reason) => {
            stopped = Some(reason);
            evaluate_job(&choices, &job, INSTANCES.0, &mut Unstoppable(observer))?
        }
    };
    let left_out = applicable(problem).filter(|kind| kind.learns() != Learns::Score && !networks);
    let left_out = left_out.map(|kind| kind.name().to_string()).collect();
    let mut chosen = ranked(classes, &comparison, left_out, part.is_some());
    if chosen.kept_aside {
        // Without the time to train on all the data, what was learned on all but the fold is handed out.
        match unless_stopped(informed(chosen.initial.kind(), problem, observer))? {
            Ok(initial) if stopped.is_none() => (chosen.initial, chosen.trained) = (initial, None),
            found => stopped = stopped.or(found.err()),
        }
    }
    if let (Some(trained), Some(reason)) = (&mut chosen.trained, stopped) {
        trained.stop_reason = reason;
    }
    Ok(chosen)
}

/// A policy before training that knows what the past tells without learning: its prior is fitted, and what a setting can
/// leave to a search is searched for.
fn informed(kind: &PolicyKind, problem: &Problem, observer: &mut dyn Observer) -> Result<Choice> {
    let mut choice = Choice::initial(kind, problem)?;
    for setting in kind.settings() {
        let Allowed::OneOf(values) = setting.allowed else { continue };
        if let Some(word) = values.iter().find(|word| matches!(**word, "fit" | "tuned")) {
            choice = choice.with(problem, setting.name, word)?;
        }
    }
    choice.fitted(problem, observer)
}

fn ranked(
    mut classes: Vec<Class>,
    comparison: &Comparison,
    left_out: Vec<String>,
    kept_aside: bool,
) -> Chosen {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|&i, &j| comparison.regret(i).mean.total_cmp(&comparison.regret(j).mean));
    let tried = |&i: &usize| Tried {
        policy: comparison.label(i).into(),
        regret: comparison.regret(i),
        behind: comparison.difference(i, order[0]),
        rounds: classes[i].rounds,
        choice: classes[i].trained.choice().clone(),
    };
    let tried = order.iter().map(tried).collect();
    let Class { initial, trained, .. } = classes.swap_remove(order[0]);
    Chosen { initial, trained: Some(trained), tried, left_out, instances: comparison.instances(), kept_aside }
}
