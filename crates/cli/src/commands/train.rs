//! `gradband train`: learns a policy, and shows what the learning was worth.

use super::{fitted, measure, open, report, verdict};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::output::{self, Printer, grouped};
use crate::policies::{self, Asked, Unnamed};
use crate::watch::{Iterate, Watch};
use crate::{interrupt, picture, session};
use gradband::learn::{self, Plan, Trained, Tried, Trouble};
use gradband::measure::{Against, Comparison, Interval, Verdict};
use gradband::policy::Choice;
use gradband::problem::Ground;
use gradband::{Error, Estimate, Iteration, Problem, StopReason};
use gradband_files::{
    AUTO, POLICY_FILE, PolicyFile, PolicyRecord, ProblemRecord, Target, TrainSpec, Training, TrainingRecord,
    has_weights_file,
};
use gradband_lab::plot::TUNED;
use gradband_lab::session::{Measured, Session};
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
/// Nanoseconds to which the evaluation is cut after Ctrl-C, about.
const HURRY: f64 = 5e8;
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
    gain_interval: Interval,
    verdict: Verdict,
    /// The gain over Thompson sampling that was tuned to the same past.
    sharpened: Option<Against>,
    /// What the instances of the evaluation are.
    ground: Ground,
    /// Independent observations among them.
    observations: usize,
    troubles: Vec<Trouble>,
    /// The classes among which the policy was chosen, if it was not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<Vec<Tried>>,
    learning_rate: Option<f64>,
    history: Vec<Iteration>,
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
    short_name: String,
}

/// What was asked for, checked.
struct Job<'a> {
    target: &'a Target,
    initial: Choice,
    training: Training,
    /// How the policy was chosen, if it was not named.
    chosen: Option<Chosen>,
    seed: u64,
    output: Option<&'a Path>,
}

/// A policy that was not named but found.
struct Chosen {
    initial: Choice,
    choice: learn::Chosen,
    seconds: f64,
}

impl Chosen {
    /// What was tried, and why this one was chosen.
    fn text(&self, problem: &Problem) -> String {
        let rows = self.choice.tried.iter().map(|tried| {
            let name = Asked::in_full(tried.choice.clone()).short_name(problem);
            let rounds = format!("{:.0}", tried.rounds as f64 / 1e6);
            vec![name, tried.regret.to_string(), tried.behind.to_string(), rounds]
        });
        let table = output::table(&["tried", "Bayes regret", "behind", "million rounds"], 1, rows);
        format!("{table}\n{}; {:.1} s in all\n", self.choice, self.seconds)
    }

    /// The chosen policy, if it is trained already.
    fn take(&mut self) -> Option<(Trained, f64)> {
        Some((self.choice.trained.take()?, self.seconds))
    }
}

/// Tries every class that applies.
fn choose(target: &Target, said: &TrainSpec, seed: u64) -> Result<Chosen> {
    // What is wrong for the usual policy is wrong for all.
    let usual = Choice::parse(target.default_policy(), &target.problem)?;
    target.training(said, &usual)?;
    let (options, limit) = target.choosing(said)?;
    let start = Instant::now();
    let hold = interrupt::hold();
    let mut watch = Watch::choosing(limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()));
    let choice = learn::choose(&target.problem, &options, seed, limit.is_some(), &mut watch)?;
    drop(hold);
    Ok(Chosen { initial: choice.initial.clone(), choice, seconds: start.elapsed().as_secs_f64() })
}

/// What training left.
struct Learned {
    trained: Trained,
    /// Some iterates, for the report.
    iterates: Vec<Iterate>,
    seconds: f64,
}

/// What it was worth.
struct Outcome {
    learned: Learned,
    /// The untuned and the tuned policy, the last iterate, and comparators.
    policies: Vec<Asked>,
    measured: Comparison,
    /// The comparators that a policy can be used instead of, the best on training instances first.
    rivals: Vec<usize>,
}

pub fn run(args: &Train, seed: u64, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let mut job = Job::new(args, &target, seed)?;
    claim(job.output, args.force)?;
    let hold = interrupt::hold();
    let learned = job.train()?;
    // What was learned is shown even if it cannot be kept, and kept even if nobody looks.
    let saved = job.output.map_or(Ok(()), |dir| job.save(dir, &learned.trained));
    if learned.trained.stop_reason() == StopReason::Interrupted {
        interrupt::answer();
    }
    drop(hold);

    let outcome = job.evaluate(learned)?;
    let document = document(&job, &outcome);
    let shown = printer.result(&document, || text(&document, &job, &outcome));
    saved?;
    if let Some(dir) = job.output {
        report::session(dir, &session(&document, &job, &outcome)?)?;
    }
    let trained = &outcome.learned.trained;
    match trained.stop_reason() {
        StopReason::Interrupted => Err(Failure::Interrupted(kept(job.output, trained))),
        StopReason::Iterations | StopReason::Converged | StopReason::Time => shown,
    }
}

/// Makes sure that the results will have a place.
fn claim(output: Option<&Path>, force: bool) -> Result<()> {
    output.map_or(Ok(()), |dir| output::claim_dir(dir, POLICY_FILE, force))
}

impl<'a> Job<'a> {
    fn new(args: &'a Train, target: &'a Target, seed: u64) -> Result<Self> {
        let (said, problem) = (TrainSpec::from(args), &target.problem);
        let open = args.policy.policy.is_none() && target.leaves_open();
        let auto = open || args.policy.policy.as_deref() == Some(AUTO);
        if auto && args.policy.params.is_some() {
            return Err(Error::new("params", "needs a policy: name one with --policy").into());
        }
        let output = args.output.as_deref();
        let chosen = match auto {
            true => {
                // Before the work, not after it.
                claim(output, args.force)?;
                Some(choose(target, &said, seed)?)
            }
            false => None,
        };
        let initial = match &chosen {
            Some(chosen) => Asked::in_full(chosen.initial.clone()),
            None => policies::asked(target, &args.policy, Unnamed::Default)?,
        };
        let blame = |error| policies::blame(error, target, &args.policy);
        let training = target.training(&said, &initial.choice).map_err(blame)?;
        initial.choice.check_start(problem).map_err(blame)?;
        let initial = initial.fitted(problem, &mut Watch::default())?.choice;
        Ok(Self { target, initial, training, chosen, seed, output })
    }

    fn problem(&self) -> &Problem {
        &self.target.problem
    }

    fn train(&mut self) -> Result<Learned> {
        // What was trained on the whole problem to be chosen need not be trained again.
        if let Some((trained, seconds)) = self.chosen.as_mut().and_then(Chosen::take) {
            return Ok(Learned { trained, iterates: Vec::new(), seconds });
        }
        let plan = &self.training.plan;
        let every = if self.output.is_some() { plan.iterations().div_ceil(ITERATES) } else { 0 };
        let limit = self.training.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let start = Instant::now();
        let mut watch = Watch::training(plan, self.problem(), every, limit);
        let trained = plan.train(self.problem(), &self.initial, self.seed, &mut watch)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Learned { trained, iterates: watch.into_iterates(), seconds })
    }

    /// Measures what was learned beside what there was, and beside comparators.
    fn evaluate(&self, learned: Learned) -> Result<Outcome> {
        let (problem, trained) = (self.problem(), &learned.trained);
        let mut policies = [trained.initial(), trained.choice(), trained.last()]
            .map(|choice| Asked::in_full(choice.clone()))
            .to_vec();
        let comparators = COMPARATORS.iter().filter_map(|text| policies::parse(text, problem, "").ok());
        let quick = |policy: &Asked| policy.choice.kind().preparation_seconds(problem) <= PATIENCE;
        policies.extend(comparators.filter(quick));
        policies.extend(policies::informed(&policies::INFORMED, problem, PATIENCE));
        let policies = fitted(policies, problem)?;
        let choices: Vec<&Choice> = policies.iter().map(|policy| &policy.choice).collect();
        let marks = if self.output.is_some() { session::rounds(problem) } else { Vec::new() };
        let instances = self.instances(trained, policies.len());
        let rivals = verdict::rivals(&policies, problem, self.seed, instances, |i| i > LAST)?;
        let measured = measure(&choices, problem, self.seed, instances, &marks)?;
        Ok(Outcome { learned, policies, measured, rivals })
    }

    /// Instances of the evaluation: fewer if the user is in a hurry.
    fn instances(&self, trained: &Trained, policies: usize) -> usize {
        let instances = self.training.eval_instances;
        if trained.stop_reason() != StopReason::Interrupted {
            return instances;
        }
        let affordable =
            (HURRY / trained.choice().kind().run_cost(self.problem()) / policies as f64) as usize;
        let instances = instances.min(affordable.max(2));
        output::note(&format!("stopping; a short evaluation on {} instances follows", grouped(instances)));
        instances
    }

    fn save(&self, dir: &Path, trained: &Trained) -> Result<()> {
        output::write(&dir.join("history.csv"), history(trained)?)?;
        let record = TrainingRecord {
            spec: self.target.effective(&self.initial, &self.training),
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            iterations: trained.history().len(),
            stop_reason: trained.stop_reason(),
        };
        let file = PolicyFile::new(trained.choice(), self.problem())?;
        let file = PolicyFile { training: Some(record), ..file };
        file.save(dir).map_err(|error| Failure::unwritable(&dir.join(POLICY_FILE), &error))
    }
}

fn document(job: &Job, outcome: &Outcome) -> Document {
    let Outcome { learned: Learned { trained, seconds, .. }, policies, measured, rivals } = outcome;
    let gain = measured.difference(INITIAL, FINAL);
    let point = |i: usize| Point {
        params: document_params(&policies[i].choice),
        bayes_regret: measured.regret(i),
        bayes_reward: measured.reward(i),
        instances: measured.instances(),
    };
    let compared = policies.iter().enumerate().filter(|&(i, _)| i != LAST).map(|(i, policy)| Compared {
        policy: policy.name(),
        bayes_regret: measured.regret(i),
        short_name: policy.short_name(job.problem()),
    });
    Document {
        problem: job.problem().into(),
        policy: PolicyRecord { params: document_params(trained.choice()), ..trained.choice().into() },
        initial: point(INITIAL),
        r#final: point(FINAL),
        last: point(LAST),
        gain,
        gain_interval: measured.interval(&gain),
        verdict: measured.verdict_named(FINAL, rivals, |i| policies[i].name()),
        sharpened: verdict::sharpened(measured, FINAL, rivals, policies),
        ground: job.problem().ground(),
        observations: measured.observations(),
        troubles: trained.troubles().to_vec(),
        tried: job.chosen.as_ref().map(|chosen| chosen.choice.tried.clone()),
        learning_rate: trained.learning_rate(),
        history: trained.history().to_vec(),
        comparison: compared.collect(),
        stop_reason: trained.stop_reason(),
        seed: job.seed,
        seconds: *seconds,
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Weights of neural policies are for files.
fn document_params(choice: &Choice) -> Vec<f64> {
    if has_weights_file(choice) { Vec::new() } else { choice.params().to_vec() }
}

fn text(document: &Document, job: &Job, outcome: &Outcome) -> String {
    let rows = document.comparison.iter().enumerate().map(|(i, row)| {
        let role = ["untuned", "tuned"].get(i).copied().unwrap_or_default();
        vec![role.into(), row.short_name.clone(), row.bayes_regret.to_string()]
    });
    let table = output::table(&["", "policy", "Bayes regret"], 2, rows);
    let problem = job.problem();
    let mut lines: Vec<String> = job.chosen.iter().map(|chosen| chosen.text(problem)).collect();
    lines.extend([verdict::header(problem, document.r#final.instances), table]);
    lines.extend(outcome.verdicts(problem).iter().map(Verdict::to_string));
    lines.extend([
        format!("gain over the untuned policy {} (95 % {})", document.gain, document.gain_interval),
        parameters(outcome.learned.trained.choice(), problem),
        effort(&outcome.learned, &job.training.plan, problem),
    ]);
    lines.extend(document.troubles.iter().map(|trouble| format!("warning: {trouble}")));
    lines.extend(document.ground.cautions().into_iter().map(|caution| format!("note: {caution}")));
    lines.join("\n")
}

impl Outcome {
    /// For people, who do not read sixteen digits.
    fn verdicts(&self, problem: &Problem) -> Vec<Verdict> {
        verdict::verdicts(&self.measured, FINAL, &self.rivals, &self.policies, problem)
    }
}

/// How long it took, and for how much work.
fn effort(learned: &Learned, plan: &Plan, problem: &Problem) -> String {
    let Learned { trained, seconds, .. } = learned;
    let done = trained.history().len();
    let stopped = match trained.stop_reason() {
        StopReason::Iterations => String::new(),
        reason => format!(", {reason}"),
    };
    let million = plan.rounds(done, problem) as f64 / seconds.max(1e-9) / 1e6;
    let (instances, runs) = match plan {
        Plan::QLearning(_) => return format!("trained in {seconds:.2} s by Q-learning{stopped}"),
        Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) if ascent.is_exact() => {
            return format!("trained in {seconds:.2} s: {done} iterations with exact gradients{stopped}");
        }
        Plan::Ascent(ascent) | Plan::ExactAscent(ascent) | Plan::Search(ascent) => {
            (ascent.estimator.batch_size, ascent.estimator.baseline.runs())
        }
        Plan::Recurrent(recipe) => (recipe.instances, recipe.baseline.runs()),
    };
    format!(
        "trained in {seconds:.2} s ({million:.0} million rounds/s): {done} iterations of {} instances x {runs} run(s){stopped}",
        grouped(instances)
    )
}

/// Numbers as numbers, a projection as a picture.
fn parameters(policy: &Choice, problem: &Problem) -> String {
    if has_weights_file(policy) {
        return format!("learned {} weights; -o DIR writes them", grouped(policy.params().len()));
    }
    let slots = policy.slots();
    let numbers = slots.iter().filter(|slot| slot.shape.is_empty());
    let numbers: Vec<_> =
        numbers.map(|slot| format!("{} = {:.4}", slot.name(), policy.params()[slot.range.start])).collect();
    let pictures = slots.iter().filter_map(|slot| match slot.shape[..] {
        [_, columns] => {
            let names = session::column_names(problem, columns);
            Some(picture::projection(&policy.params()[slot.range.clone()], columns, names.as_deref()))
        }
        _ => None,
    });
    let numbers = (!numbers.is_empty()).then(|| format!("learned {}", numbers.join(", ")));
    pictures.chain(numbers).collect::<Vec<_>>().join("\n")
}

/// A line per iteration, as CSV: the length of the gradient, the loss where one is known, and the parameters if they
/// were recorded.
fn history(trained: &Trained) -> Result<String> {
    let records = trained.history();
    let recorded = records.iter().any(|record| record.params.is_some());
    let names = if recorded { trained.choice().number_names() } else { Vec::new() };
    let loss = records.iter().any(|record| record.loss.is_some());
    let header = ["iteration", "gradient_norm"].into_iter().chain(loss.then_some("loss"));
    let header = header.chain(names.iter().map(String::as_str));
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    let rows = records.iter().map(|record| {
        let start = [record.iteration.to_string(), number(record.gradient_norm)];
        let params = record.params.iter().flatten().map(f64::to_string);
        start.into_iter().chain(loss.then(|| number(record.loss))).chain(params).collect()
    });
    output::to_csv(header, rows)
}

/// For the report: the document's policies with their roles, and how training went.
fn session(document: &Document, job: &Job, outcome: &Outcome) -> Result<Session> {
    let Outcome { learned: Learned { trained, iterates, .. }, policies, measured, .. } = outcome;
    let roles = ["untuned: ", TUNED].into_iter().chain(std::iter::repeat(""));
    let shown = || (0..policies.len()).filter(|&i| i != LAST);
    let regret = |i: usize| measured.regret(i).mean;
    let best = shown().min_by(|&i, &j| regret(i).total_cmp(&regret(j))).unwrap_or(FINAL);
    let policies = shown().zip(&document.comparison).zip(roles).map(|((i, row), role)| Measured {
        name: format!("{role}{}", row.short_name),
        regret: row.bayes_regret,
        difference: measured.difference(i, best),
        curve: measured.curve(i),
    });
    let problem = job.problem();
    let spec = job.target.effective(&job.initial, &job.training);
    let session = session::of("train", problem, &spec, job.seed, measured.instances(), policies.collect())?;
    let training = session::history(problem, trained, iterates, job.seed, measured.instances())?;
    let lead = verdict::lead(&outcome.verdicts(problem), problem, document.gain, document.gain_interval);
    Ok(Session { lead, gain: Some(document.gain), training: Some(training), ..session })
}

/// What is left of an interrupted training.
fn kept(dir: Option<&Path>, trained: &Trained) -> String {
    let done = trained.history().len();
    match dir {
        Some(dir) => {
            format!("interrupted after {done} iterations; the policy so far is in {}", dir.display())
        }
        None => format!("interrupted after {done} iterations; with -o DIR the policy would have been kept"),
    }
}
