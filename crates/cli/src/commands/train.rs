//! `gradband train`: learns a policy, and shows what the learning was worth.

use super::compare::csv;
use super::{measure, named_as_typed, report, title};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::output::{self, Printer, grouped, with_error};
use crate::policies::{self, Named};
use crate::progress::Progress;
use crate::session::{self, Shown};
use crate::target::{Fallback, Target};
use crate::{files, interrupt, picture, weights};
use gradband::Problem;
use gradband::evaluate::Evaluation;
use gradband::problem::{Contexts, Split};
use gradband::registry::Choice;
use gradband::spec::{
    FORMAT, PolicyFile, PolicyRecord, ProblemRecord, Spec, TrainSpec, Training, TrainingRecord,
};
use gradband::statistics::Estimate;
use gradband::train::{Observer, Record, Source, StopReason, Trained};
use gradband_lab::session::Session;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a tuned policy is shown beside, where they apply.
const COMPARATORS: [&str; 6] =
    ["thompson", "ucb1", "bayes-optimal", "lin-thompson", "linucb", "linucb(width=tuned)"];
/// Seconds that the preparation of a comparator may take.
const PATIENCE: f64 = 0.5;
/// Iterates whose regret the report shows.
const ITERATES: usize = 20;
/// After Ctrl-C the evaluation is cut to about as many rounds: less than a second.
const HURRIED_ROUNDS: usize = 50_000_000;
/// Where the policies stand in the evaluation; comparators follow.
const INITIAL: usize = 0;
const FINAL: usize = 1;
const LAST: usize = 2;

#[derive(Serialize)]
struct Document {
    problem: ProblemRecord,
    policy: PolicyRecord,
    initial: Point,
    r#final: Point,
    last: Point,
    gain: Estimate,
    learning_rate: f64,
    history: Vec<Record>,
    comparison: Vec<Compared>,
    stop_reason: StopReason,
    seed: u64,
    seconds: f64,
    version: &'static str,
}

#[derive(Serialize)]
struct Point {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<f64>,
    bayes_regret: Estimate,
    bayes_reward: Estimate,
    instances: usize,
}

#[derive(Serialize)]
struct Compared {
    policy: String,
    bayes_regret: Estimate,
    #[serde(skip)]
    short: String,
}

pub fn run(args: &Train, seed: u64, printer: Printer) -> Result<()> {
    let target = Target::load(&args.problem)?;
    let problem = &target.problem;
    let initial = target.policy(&args.policy, Some(Fallback))?.choice;
    let training = target.training(&TrainSpec::from(args), initial.info)?;
    target.check_start(&initial, &args.policy)?;
    if training.settings.gradient == Source::Exact {
        gradband::exact::check(problem, &initial, Split::Train).map_err(named_as_typed)?;
    }
    if let Some(dir) = &args.output {
        files::create_dir(dir)?;
    }

    interrupt::hold();
    let start = Instant::now();
    let mut watch = Watch::new(&training, start, args.output.is_some());
    let trained = gradband::train::run(problem, &initial, &training, seed, &mut watch)?;
    let iterates = watch.iterates;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(dir) = &args.output {
        save(dir, &target, &initial, &training, &trained, seed)?;
    }
    interrupt::release();

    let shown = shown(problem, &initial, &trained);
    let evaluation = evaluate(&shown, problem, &training, &trained, seed)?;
    let document = document(problem, &shown, &evaluation, &trained, seed, seconds);
    printer.result(&document, || text(&document, &training, problem, &trained.policy))?;
    if let Some(dir) = &args.output {
        let spec = target.effective(&initial, &training);
        let session = session(&document, &evaluation, &target, &spec, &shown, &trained, &iterates)?;
        report::session(dir, &session)?;
    }
    match trained.stop_reason {
        StopReason::Interrupted => Err(Failure::Interrupted(kept(args.output.as_deref(), &trained))),
        StopReason::Iterations | StopReason::Converged | StopReason::Time => Ok(()),
    }
}

/// Shows progress, and stops for Ctrl-C and the time limit.
struct Watch {
    progress: Progress,
    deadline: Option<Instant>,
    /// Iterates for the report, this many iterations apart; 0 keeps none.
    every: usize,
    iterates: Vec<(usize, Vec<f64>)>,
}

impl Watch {
    fn new(training: &Training, start: Instant, keeps: bool) -> Self {
        let every = if keeps { training.settings.iterations.div_ceil(ITERATES) } else { 0 };
        let progress = Progress::new("training", "iterations", training.settings.iterations);
        let limit = training.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let deadline = limit.and_then(|limit| start.checked_add(limit));
        Self { progress, deadline, every, iterates: Vec::new() }
    }
}

impl Observer for Watch {
    fn iteration(&mut self, record: &Record, params: &[f64]) {
        self.progress.set(record.iteration);
        let due = self.every > 0 && (record.iteration == 1 || record.iteration.is_multiple_of(self.every));
        if due && !params.is_empty() {
            self.iterates.push((record.iteration, params.to_vec()));
        }
    }

    fn stop(&mut self) -> Option<StopReason> {
        if interrupt::requested() {
            return Some(StopReason::Interrupted);
        }
        self.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| StopReason::Time)
    }
}

/// The untuned and the tuned policy, the last iterate, and comparators.
fn shown(problem: &Problem, initial: &Choice, trained: &Trained) -> Vec<Named> {
    let mut shown =
        [initial, &trained.policy, &trained.last].map(|choice| Named::in_full(choice.clone())).to_vec();
    let comparators = COMPARATORS.iter().filter_map(|text| policies::parse(text, problem, "").ok());
    shown.extend(comparators.filter(|named| named.choice.info.preparation_seconds(problem) <= PATIENCE));
    shown
}

fn evaluate(
    shown: &[Named],
    problem: &Problem,
    training: &Training,
    trained: &Trained,
    seed: u64,
) -> Result<Evaluation> {
    let mut instances = training.eval_instances;
    if trained.stop_reason == StopReason::Interrupted {
        let affordable = HURRIED_ROUNDS / shown.len() / problem.horizon;
        instances = instances.min(affordable.max(2));
        output::note(&format!("stopping; a short evaluation on {} instances follows", grouped(instances)));
    }
    measure(shown.iter().map(|named| &named.choice), problem, seed, instances)
}

fn document(
    problem: &Problem,
    shown: &[Named],
    evaluation: &Evaluation,
    trained: &Trained,
    seed: u64,
    seconds: f64,
) -> Document {
    let measured = |i: usize| Point {
        params: document_params(&shown[i].choice),
        bayes_regret: evaluation.regret(i),
        bayes_reward: evaluation.reward(i),
        instances: evaluation.instances,
    };
    let compared = shown.iter().enumerate().filter(|&(i, _)| i != LAST).map(|(i, named)| Compared {
        policy: named.name.clone(),
        bayes_regret: evaluation.regret(i),
        short: named.short.clone(),
    });
    Document {
        problem: problem.into(),
        policy: PolicyRecord { params: document_params(&trained.policy), ..(&trained.policy).into() },
        initial: measured(INITIAL),
        r#final: measured(FINAL),
        last: measured(LAST),
        gain: evaluation.difference(INITIAL, FINAL),
        learning_rate: trained.learning_rate,
        history: trained.history.clone(),
        comparison: compared.collect(),
        stop_reason: trained.stop_reason,
        seed,
        seconds,
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Weights of neural policies are for files.
fn document_params(choice: &Choice) -> Vec<f64> {
    if weights::in_file(choice) { Vec::new() } else { choice.params.clone() }
}

fn text(document: &Document, training: &Training, problem: &Problem, policy: &Choice) -> String {
    let rows = document.comparison.iter().enumerate().map(|(i, row)| {
        let role = ["untuned", "tuned"].get(i).copied().unwrap_or_default();
        vec![role.into(), row.short.clone(), with_error(row.bayes_regret)]
    });
    let table = output::table(&["", "policy", "Bayes regret"], 2, rows);
    let Estimate { mean, std_error } = document.gain;
    let (low, high) = (mean - 1.96 * std_error, mean + 1.96 * std_error);
    let done = document.history.len();
    let estimator = &training.settings.estimator;
    let rounds = training.rounds(done, problem);
    let million = rounds as f64 / document.seconds.max(1e-9) / 1e6;
    let stopped = match document.stop_reason {
        StopReason::Iterations => "",
        StopReason::Converged => ", converged",
        StopReason::Interrupted => ", interrupted",
        StopReason::Time => ", out of time",
    };
    [
        format!("{}, {} instances that training never saw", title(problem), grouped(document.r#final.instances)),
        table,
        format!("gain {mean:.4} ± {std_error:.4} (95 % interval {low:.4} to {high:.4})"),
        learned(policy, problem),
        match training.settings.gradient {
            Source::Exact => {
                format!("trained in {:.2} s: {done} iterations with exact gradients{stopped}", document.seconds)
            }
            Source::Sampled if training.q_learning.is_some() => {
                format!("trained in {:.2} s by Q-learning{stopped}", document.seconds)
            }
            Source::Sampled => format!(
                "trained in {:.2} s ({million:.0} million rounds/s): {done} iterations of {} instances x {} run(s){stopped}",
                document.seconds,
                grouped(estimator.batch_size),
                estimator.baseline.runs(),
            ),
        },
    ]
    .join("\n")
}

/// Numbers as numbers, a projection as a picture.
fn learned(policy: &Choice, problem: &Problem) -> String {
    let slots = policy.slots();
    let numbers = slots.iter().filter(|slot| slot.shape.is_empty());
    let numbers: Vec<_> =
        numbers.map(|slot| format!("{} = {:.4}", slot.info.name, policy.params[slot.range.start])).collect();
    let features = match problem.contextual().map(|contextual| &contextual.source) {
        Some(Contexts::Classification(set)) => Some(set.examples.feature_names()),
        _ => None,
    };
    let pictures = slots.iter().filter_map(|slot| match slot.shape[..] {
        [_, columns] => Some(picture::projection(&policy.params[slot.range.clone()], columns, features)),
        _ => None,
    });
    let numbers = (!numbers.is_empty()).then(|| format!("learned {}", numbers.join(", ")));
    if weights::in_file(policy) {
        return format!("learned {} weights; -o DIR writes them", grouped(policy.params.len()));
    }
    pictures.chain(numbers).collect::<Vec<_>>().join("\n")
}

fn save(
    dir: &Path,
    target: &Target,
    initial: &Choice,
    training: &Training,
    trained: &Trained,
    seed: u64,
) -> Result<()> {
    let mut policy = PolicyRecord::from(&trained.policy);
    if weights::in_file(&trained.policy) {
        weights::write(&dir.join(weights::FILE), &trained.policy)?;
        policy.params.clear();
        policy.weights = Some(weights::FILE.into());
    }
    let file = PolicyFile {
        gradband: FORMAT,
        policy,
        problem: (&target.problem).into(),
        training: Some(TrainingRecord {
            spec: target.effective(initial, training),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            iterations: trained.history.len(),
            stop_reason: trained.stop_reason,
        }),
    };
    let recorded = trained.history.iter().any(|record| record.params.is_some());
    let names = if recorded { trained.policy.number_names() } else { Vec::new() };
    let header = ["iteration", "gradient_norm"].into_iter().chain(names.iter().map(String::as_str));
    let records = trained.history.iter().map(|record| {
        let params = record.params.iter().flatten().map(f64::to_string);
        [record.iteration.to_string(), record.gradient_norm.to_string()].into_iter().chain(params).collect()
    });
    files::write(&dir.join("history.csv"), &csv(header, records)?)?;
    files::write(&dir.join("policy.json"), &(output::to_json(&file)? + "\n"))
}

/// For the report: the document's policies with their roles, and where training went.
fn session(
    document: &Document,
    evaluation: &Evaluation,
    target: &Target,
    spec: &Spec,
    shown: &[Named],
    trained: &Trained,
    iterates: &[(usize, Vec<f64>)],
) -> Result<Session> {
    let roles = ["untuned: ", "tuned: "].into_iter().chain(std::iter::repeat(""));
    let kept = || shown.iter().enumerate().filter(|&(i, _)| i != LAST);
    let regret = |i: usize| evaluation.regret(i).mean;
    let best = kept().map(|(i, _)| i).min_by(|&i, &j| regret(i).total_cmp(&regret(j))).unwrap_or(FINAL);
    let policies = kept().zip(&document.comparison).zip(roles).map(|(((i, named), row), role)| Shown {
        name: format!("{role}{}", row.short),
        choice: &named.choice,
        regret: row.bayes_regret,
        difference: evaluation.difference(i, best),
    });
    let problem = &target.problem;
    let mut session =
        session::of("train", problem, spec, document.seed, document.r#final.instances, policies.collect())?;
    session.gain = Some(document.gain);
    session.training = Some(session::way(problem, trained, iterates, document.seed)?);
    Ok(session)
}

/// What is left of an interrupted training.
fn kept(dir: Option<&Path>, trained: &Trained) -> String {
    let done = trained.history.len();
    match dir {
        Some(dir) => {
            format!("interrupted after {done} iterations; the policy so far is in {}", dir.display())
        }
        None => format!("interrupted after {done} iterations; with -o DIR the policy would have been kept"),
    }
}
