//! `gradband check`: is a spec valid, and what does it mean in plain words?

mod table;
mod world;

use crate::policies::{self, Unnamed, Wanted};
use crate::{Client, grouped, stands_on};
use gradband::learn::{Plan, Stage};
use gradband::policy::Choice;
use gradband::problem::{Armed, Contextual, Model, Prior, Split};
use gradband::{Error, Problem, Result, Step};
use gradband_files::{
    EvaluateSpec, PolicyRecord, PolicySpec, ProblemRecord, Spec, Target, TrainSpec, Training,
};
use serde::Serialize;

/// What is answered.
#[derive(Serialize)]
pub struct Document {
    /// What is not valid is an error.
    pub valid: bool,
    /// The problem.
    pub problem: ProblemRecord,
    /// Past instances on either side of a table's split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Sides>,
    /// What the training part of a table says about arms, and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past: Option<table::Past>,
    /// The policy.
    pub policy: PolicyRecord,
    /// Can it be trained?
    pub trainable: bool,
    /// Runs of an iteration.
    pub runs_per_iteration: usize,
    /// Runs in all.
    pub training_runs: usize,
    /// What it means, for people.
    pub meaning: Vec<String>,
    /// Everything that is asked for, defaults included.
    pub spec: Spec,
}

/// Past instances.
#[derive(Serialize, Clone, Copy, Debug)]
pub struct Sides {
    /// Those that training draws from.
    pub train: usize,
    /// Those that evaluation draws from.
    pub held_out: usize,
}

/// What a problem means, in sentences.
pub fn words(problem: &Problem) -> Vec<String> {
    let mut words = vec![rewards(problem)];
    words.extend(world::words(problem));
    words.push(prior(problem, sides(problem)));
    words.extend(table::of(problem).into_iter().flat_map(|table| table::words(problem, table)));
    words
}

/// Says what a spec means. The default policy may not fit either: then the spec must name another.
pub fn run(target: &Target, client: &dyn Client) -> Result<Document> {
    let problem = &target.problem;
    let policy = policies::asked(target, &Wanted::default(), Unnamed::Default, client)?;
    let prospect = Prospect::of(target, &policy.choice)?;
    let instances = target.instances(None)?;
    let mut meaning = words(problem);
    if target.leaves_open() {
        let words = "No policy is named: train tries every class that applies and is quick to train, and hands out the best.";
        meaning.push(words.into());
    }
    meaning.extend([
        format!("Policy: {}, {}.", policy.short_name(problem), policy.choice.kind().summary()),
        prospect.words(&policy.choice),
        format!("Evaluation: {}.", stands_on(problem, instances)),
    ]);
    meaning.extend(table::least_gain(problem.ground()));
    meaning.extend(problem.ground().cautions().into_iter().map(|caution| format!("Note: {caution}.")));
    let plan = prospect.training().map(|training| &training.plan);
    let runs = plan.map_or(0, Plan::runs_per_iteration);
    Ok(Document {
        valid: true,
        problem: problem.into(),
        split: sides(problem),
        past: table::of(problem).map(table::Past::of),
        policy: (&policy.choice).into(),
        trainable: matches!(prospect, Prospect::Trains(_)),
        runs_per_iteration: runs,
        training_runs: runs.saturating_mul(plan.map_or(0, Plan::iterations)),
        meaning,
        spec: effective(target, &policy.choice, prospect.training(), instances),
    })
}

/// What training would do. A spec may be for evaluation alone, so that a policy which cannot be trained is no error.
enum Prospect {
    Trains(Training),
    /// Why it cannot start, and what it would do if it could, as far as that is known.
    CannotStart(Error, Option<Training>),
}

impl Prospect {
    /// What `[train]` says must be right in any case.
    fn of(target: &Target, choice: &Choice) -> Result<Self> {
        let blame = |error| policies::blame(error, target, &Wanted::default());
        match target.training(&TrainSpec::default(), choice) {
            Ok(training) => Ok(match choice.check_start(&target.problem) {
                Ok(()) => Self::Trains(training),
                Err(error) => Self::CannotStart(blame(error), Some(training)),
            }),
            Err(error) if is_about_policy(&error) => Ok(Self::CannotStart(blame(error), None)),
            Err(error) => Err(error),
        }
    }

    fn training(&self) -> Option<&Training> {
        match self {
            Self::Trains(training) => Some(training),
            Self::CannotStart(_, training) => training.as_ref(),
        }
    }

    fn words(&self, choice: &Choice) -> String {
        match self {
            Self::Trains(training) => learn(choice, training),
            Self::CannotStart(error, _) => format!("Training cannot start from this policy: {error}."),
        }
    }
}

fn is_about_policy(error: &Error) -> bool {
    let about = |key: &str| ["policy", "params", "problem"].contains(&key);
    matches!(error.place().steps().first(), Some(Step::Key(key)) if about(key))
}

/// Everything that the spec says, defaults included.
fn effective(target: &Target, choice: &Choice, training: Option<&Training>, instances: usize) -> Spec {
    match training {
        Some(training) => target.effective(choice, training),
        None => Spec {
            problem: target.problem_keys(),
            policy: Some(PolicySpec::of(choice)),
            train: target.spec().map(|spec| spec.train.clone()).unwrap_or_default(),
            evaluate: EvaluateSpec { instances: Some(instances) },
        },
    }
}

fn sides(problem: &Problem) -> Option<Sides> {
    let count = |split| match problem.contextual().and_then(Contextual::examples) {
        Some(examples) => Some(examples.rows(split).len()),
        None => problem.clusters(split),
    };
    let (train, held_out) = count(Split::Train).zip(count(Split::HeldOut))?;
    Some(Sides { train, held_out })
}

fn rewards(problem: &Problem) -> String {
    match problem.model() {
        Model::Contextual(contextual) => contexts(problem, contextual),
        Model::Armed(Armed { rewards, .. }) => format!(
            "Problem: {} arms, {} rounds, {}.",
            problem.arms(),
            grouped(problem.horizon()),
            rewards.describe()
        ),
    }
}

fn prior(problem: &Problem, split: Option<Sides>) -> String {
    let prior = match problem.model() {
        Model::Contextual(contextual) => return instances(problem, contextual, split),
        Model::Armed(armed) => &armed.prior,
    };
    let means = match (prior, split) {
        (Prior::Points(points), _) => {
            let some = |(means, weight): (&[f64], f64)| format!("{means:?} with probability {weight:.4}");
            let shown: Vec<_> = points.iter().take(4).map(some).collect();
            let rest = points.iter().count() - shown.len();
            let rest = if rest == 0 { String::new() } else { format!(", and {rest} more") };
            format!("the arms' means are {}{rest}", shown.join(", or "))
        }
        (Prior::Beta { alpha, beta }, _) => per_arm("Beta", alpha, beta),
        (Prior::Normal { mean, sd }, _) => per_arm("Normal(mean, sd) =", mean, sd),
        (Prior::Table(table), Some(Sides { train, held_out })) if table.is_split() => format!(
            "your past problems; training draws from {}, evaluation from {} held-out ones",
            grouped(train),
            grouped(held_out)
        ),
        (Prior::Table(_), Some(Sides { train, .. })) => {
            format!("your past problems; training and evaluation draw from the same {}", grouped(train))
        }
        (Prior::Table(_), None) => "your past problems".into(),
        (Prior::Own(_), _) => "instances are drawn by code".into(),
    };
    format!("Prior: {means}.")
}

fn contexts(problem: &Problem, contextual: &Contextual) -> String {
    let names = match problem.arm_names() {
        Some(names) if names.len() <= 12 => format!(" ({})", names.join(", ")),
        _ => String::new(),
    };
    format!(
        "Problem: {} arms{names}, {} rounds, contexts of {} features.",
        problem.arms(),
        grouped(problem.horizon()),
        contextual.dim()
    )
}

fn instances(problem: &Problem, contextual: &Contextual, split: Option<Sides>) -> String {
    let noise_sd = contextual.model().noise_sd().unwrap_or_default();
    if let Some(discrete) = contextual.discrete() {
        return format!(
            "Instances: {} contexts, {} table(s) of means, rewards with a standard deviation of {noise_sd}.",
            discrete.contexts(),
            discrete.tables().iter().count(),
        );
    }
    match split {
        Some(Sides { train, held_out }) => format!(
            "Instances: {} rounds of examples drawn with replacement, reward 1 for the right class; training draws from {} examples, evaluation from {}{}.",
            grouped(problem.horizon()),
            grouped(train),
            grouped(held_out),
            if problem.ground().held_out() { "" } else { " (the same ones)" }
        ),
        None => format!(
            "Instances: contexts and each arm's parameters are normal vectors, a reward is their product plus noise (sd {noise_sd})."
        ),
    }
}

fn per_arm(name: &str, first: &[f64], second: &[f64]) -> String {
    let pairs: Vec<_> = first.iter().zip(second).collect();
    if pairs.iter().all(|pair| pair == &pairs[0]) {
        return format!("every arm's mean is drawn from {name}({}, {})", first[0], second[0]);
    }
    let some: Vec<_> = pairs.iter().take(4).map(|(a, b)| format!("({a}, {b})")).collect();
    let more = if pairs.len() > some.len() { ", ..." } else { "" };
    format!("the arms' means are drawn from {name}{}{more}", some.join(", "))
}

fn learn(choice: &Choice, training: &Training) -> String {
    let plan = &training.plan;
    let limit = training.time_limit.map_or(String::new(), |seconds| format!(", for at most {seconds} s"));
    let weights = grouped(choice.params().len());
    let names: Vec<_> = choice.slots().iter().map(|slot| slot.name()).collect();
    let names = names.join(", ");
    match plan {
        Plan::QLearning(settings) => {
            format!(
                "Training learns {weights} weights: {} updates of Q-learning{limit}.",
                grouped(settings.updates)
            )
        }
        Plan::Recurrent(recipe) => {
            let stage = |stage: &Stage| {
                format!("{} iterations at horizon {}", grouped(stage.iterations), grouped(stage.horizon))
            };
            let stages: Vec<_> = recipe.stages.iter().map(stage).collect();
            format!(
                "Training learns {weights} weights: {}, of {} instances x {} run(s) (baseline {}){limit}.",
                stages.join(", then "),
                grouped(recipe.instances),
                recipe.baseline.runs(),
                recipe.baseline.name()
            )
        }
        Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) if ascent.is_exact() => {
            let most = grouped(ascent.iterations);
            format!("Training learns {names}: at most {most} iterations with exact gradients{limit}.")
        }
        Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) => format!(
            "Training learns {names}: {} iterations of {} instances x {} run(s) (baseline {}), {} runs in all{limit}.",
            grouped(ascent.iterations),
            grouped(ascent.estimator.batch_size),
            ascent.estimator.baseline.runs(),
            ascent.estimator.baseline.name(),
            grouped(plan.runs_per_iteration().saturating_mul(ascent.iterations)),
        ),
    }
}
