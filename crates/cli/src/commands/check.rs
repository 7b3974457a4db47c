//! `gradband check`: is a spec valid, and what does it mean in plain words?

use crate::args::PolicyFlags;
use crate::failure::Result;
use crate::output::{Printer, grouped};
use crate::target::{Fallback, Target};
use gradband::problem::{Armed, Contexts, Contextual, Model, Prior, Rewards, Split};
use gradband::registry::Choice;
use gradband::spec::{PolicyRecord, ProblemRecord, Spec, TrainSpec, Training};
use gradband::train::Source;
use gradband::{Error, Problem};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Document {
    valid: bool,
    problem: ProblemRecord,
    /// Past instances on either side of a table's split.
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<Sides>,
    policy: PolicyRecord,
    trainable: bool,
    runs_per_iteration: usize,
    training_runs: usize,
    meaning: Vec<String>,
    spec: Spec,
}

#[derive(Serialize, Clone, Copy)]
struct Sides {
    train: usize,
    held_out: usize,
}

pub fn run(path: &Path, printer: Printer) -> Result<()> {
    let target = Target::from_file(path)?;
    let problem = &target.problem;
    let policy = target.policy(&PolicyFlags::default(), Some(Fallback)).map_err(|error| {
        Error::new(error.place.replace("--policy", &format!("{}, policy", path.display())), error.message)
    })?;
    let training = target.training(&TrainSpec::default(), policy.choice.info)?;
    // A spec may be for evaluation alone, so this is no error.
    let exact = training.settings.gradient == Source::Exact;
    let obstacle = gradband::train::check_start(problem, &policy.choice)
        .and_then(
            |()| if exact { gradband::exact::check(problem, &policy.choice, Split::Train) } else { Ok(()) },
        )
        .err();
    let split = sides(problem);
    let settings = &training.settings;
    let runs = if exact { 0 } else { settings.estimator.batch_size * settings.estimator.baseline.runs() };
    let instances = target.instances(None)?;
    let meaning = vec![
        rewards(problem),
        prior(problem, split),
        format!("Policy: {}, {}.", policy.short, policy.choice.info.summary),
        match &obstacle {
            None => learn(&policy.choice, &training, runs),
            Some(error) => format!("Training cannot start from this policy: {error}."),
        },
        format!(
            "Evaluation: {} instances{}.",
            grouped(instances),
            if split.is_some() {
                " drawn from the held-out rows; standard errors cluster by row"
            } else {
                ""
            }
        ),
    ];
    let document = Document {
        valid: true,
        problem: problem.into(),
        split,
        policy: (&policy.choice).into(),
        trainable: obstacle.is_none(),
        runs_per_iteration: runs,
        training_runs: runs.saturating_mul(settings.iterations),
        meaning,
        spec: target.effective(&policy.choice, &training),
    };
    printer.result(&document, || format!("{} is valid.\n{}", path.display(), document.meaning.join("\n")))
}

fn sides(problem: &Problem) -> Option<Sides> {
    let count = |split| match problem.contextual().map(|contextual| &contextual.source) {
        Some(Contexts::Classification(set)) => Some(set.examples.rows(split).len()),
        _ => problem.clusters(split),
    };
    let (train, held_out) = count(Split::Train).zip(count(Split::HeldOut))?;
    Some(Sides { train, held_out })
}

fn rewards(problem: &Problem) -> String {
    let rewards = match problem.model {
        Model::Contextual(_) => return contexts(problem),
        Model::Armed(Armed { rewards, .. }) => rewards,
    };
    let rewards = match rewards {
        Rewards::Bernoulli => "rewards of 0 or 1 (Bernoulli)".into(),
        Rewards::Beta { concentration } => {
            format!("rewards in [0, 1] (beta, concentration {concentration})")
        }
        Rewards::Gaussian { noise_sd } => {
            format!("Gaussian rewards with a standard deviation of {noise_sd}")
        }
    };
    format!("Problem: {} arms, {} rounds, {rewards}.", problem.arms, grouped(problem.horizon))
}

fn prior(problem: &Problem, split: Option<Sides>) -> String {
    let prior = match &problem.model {
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
        (Prior::Table(_), Some(Sides { train, held_out })) => format!(
            "your past instances; training draws from {}, evaluation from {} held-out ones",
            grouped(train),
            grouped(held_out)
        ),
        (Prior::Table(_), None) => "your past instances".into(),
    };
    format!("Prior: {means}.")
}

fn contexts(problem: &Problem) -> String {
    let dim = problem.contextual().map_or(0, Contextual::dim);
    let names = match &problem.arm_names {
        Some(names) if names.len() <= 12 => format!(" ({})", names.join(", ")),
        _ => String::new(),
    };
    format!(
        "Problem: {} arms{names}, {} rounds, contexts of {dim} features.",
        problem.arms,
        grouped(problem.horizon)
    )
}

fn instances(problem: &Problem, contextual: &Contextual, split: Option<Sides>) -> String {
    match (&contextual.source, split) {
        (Contexts::Linear(linear), _) => format!(
            "Instances: contexts and each arm's parameters are normal vectors, a reward is their product plus noise (sd {}).",
            linear.noise_sd
        ),
        (Contexts::Classification(_), Some(Sides { train, held_out })) => format!(
            "Instances: {} rounds of examples drawn with replacement, reward 1 for the right class; training draws from {} examples, evaluation from {}{}.",
            grouped(problem.horizon),
            grouped(train),
            grouped(held_out),
            if train == held_out { " (the same ones: set holdout to keep some apart)" } else { "" }
        ),
        (Contexts::Classification(_), None) => "Instances: examples drawn with replacement.".into(),
        (Contexts::Discrete(discrete), _) => format!(
            "Instances: {} contexts, {} table(s) of means, rewards with a standard deviation of {}.",
            discrete.contexts(),
            discrete.tables.iter().count(),
            discrete.noise_sd
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

fn learn(choice: &Choice, training: &Training, runs: usize) -> String {
    let names: Vec<_> = choice.slots().iter().map(|slot| slot.info.name).collect();
    let settings = &training.settings;
    let limit = training.time_limit.map_or(String::new(), |seconds| format!(", for at most {seconds} s"));
    if settings.gradient == Source::Exact {
        let (names, most) = (names.join(", "), grouped(settings.iterations));
        return format!("Training learns {names}: at most {most} iterations with exact gradients{limit}.");
    }
    if let Some(q_learning) = &training.q_learning {
        let (weights, updates) = (grouped(choice.params.len()), grouped(q_learning.updates));
        return format!("Training learns {weights} weights: {updates} updates of Q-learning{limit}.");
    }
    if let Some(recipe) = &training.recipe {
        let stage = |stage: &gradband::lstm::train::Stage| {
            format!("{} iterations at horizon {}", grouped(stage.iterations), grouped(stage.horizon))
        };
        let stages: Vec<_> = recipe.stages.iter().map(stage).collect();
        return format!(
            "Training learns {} weights: {}, of {} instances x {} run(s) (baseline {}){limit}.",
            grouped(choice.params.len()),
            stages.join(", then "),
            grouped(recipe.instances),
            recipe.baseline.runs(),
            recipe.baseline.name()
        );
    }
    format!(
        "Training learns {}: {} iterations of {} instances x {} run(s) (baseline {}), {} runs in all{limit}.",
        names.join(", "),
        grouped(settings.iterations),
        grouped(settings.estimator.batch_size),
        settings.estimator.baseline.runs(),
        settings.estimator.baseline.name(),
        grouped(runs.saturating_mul(settings.iterations)),
    )
}
