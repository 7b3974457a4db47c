//! `gradband train`: learns a policy, and shows what the learning was worth.

use super::{command, open, report};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::output::{self, Printer};
use crate::watch::Terminal;
use crate::{interrupt, picture};
use gradband::learn::{Plan, Trained};
use gradband::measure::Verdict;
use gradband::policy::Choice;
use gradband::{Problem, StopReason};
use gradband_files::{POLICY_FILE, TrainSpec, has_weights_file};
use gradband_jobs::policies::Asked;
use gradband_jobs::train::{Chosen, Document, Job, Learned, Outcome, Request};
use gradband_jobs::{grouped, session, verdict};
use std::path::Path;

pub fn run(args: &Train, seed: u64, printer: Printer) -> Result<()> {
    let (target, output) = (open(&args.problem)?, args.output.as_deref());
    let request = Request {
        policy: args.policy.or_file(None),
        train: TrainSpec::from(args),
        seed,
        report: output.is_some(),
    };
    if request.is_auto(&target)? {
        // Before the work, not after it.
        claim(output, args.force)?;
    }
    let mut job = Job::new(&request, target, &Terminal)?;
    claim(output, args.force)?;
    let hold = interrupt::hold();
    let learned = job.train(&Terminal)?;
    // What was learned is shown even if it cannot be kept, and kept even if nobody looks.
    let saved = output.map_or(Ok(()), |dir| save(dir, &job, &learned.trained));
    if learned.trained.stop_reason() == StopReason::Interrupted {
        interrupt::answer();
    }
    drop(hold);

    let outcome = job.evaluate(learned, &Terminal)?;
    let document = job.document(&outcome);
    let shown = printer.result(&document, || text(&document, &job, &outcome));
    saved?;
    if let Some(dir) = output {
        report::session(dir, &job.session(&document, &outcome, &command(), &Terminal)?)?;
    }
    let trained = &outcome.learned.trained;
    match trained.stop_reason() {
        StopReason::Interrupted => Err(Failure::Interrupted(kept(output, trained))),
        StopReason::Iterations | StopReason::Converged | StopReason::Time => shown,
    }
}

/// Makes sure that the results will have a place.
fn claim(output: Option<&Path>, force: bool) -> Result<()> {
    output.map_or(Ok(()), |dir| output::claim_dir(dir, POLICY_FILE, force))
}

fn save(dir: &Path, job: &Job, trained: &Trained) -> Result<()> {
    output::write(&dir.join("history.csv"), history(trained)?)?;
    let saved = job.policy_file(trained)?.save(dir);
    saved.map_err(|error| Failure::unwritable(&dir.join(POLICY_FILE), &error))
}

/// What was tried, and why this one was chosen.
fn chosen_text(chosen: &Chosen, problem: &Problem) -> String {
    let rows = chosen.choice.tried.iter().map(|tried| {
        let name = Asked::in_full(tried.choice.clone()).short_name(problem);
        let rounds = format!("{:.0}", tried.rounds as f64 / 1e6);
        vec![name, tried.regret.to_string(), tried.behind.to_string(), rounds]
    });
    let table = output::table(&["tried", "Bayes regret", "behind", "million rounds"], 1, rows);
    format!("{table}\n{}; {:.1} s in all\n", chosen.choice, chosen.seconds)
}

fn text(document: &Document, job: &Job, outcome: &Outcome) -> String {
    let rows = document.comparison.iter().enumerate().map(|(i, row)| {
        let role = ["untuned", "tuned"].get(i).copied().unwrap_or_default();
        vec![role.into(), row.short_name.clone(), row.bayes_regret.to_string()]
    });
    let table = output::table(&["", "policy", "Bayes regret"], 2, rows);
    let problem = job.problem();
    let mut lines: Vec<String> = job.chosen.iter().map(|chosen| chosen_text(chosen, problem)).collect();
    lines.extend([verdict::header(problem, document.r#final.instances), table]);
    lines.extend(outcome.played.verdicts(problem).iter().map(Verdict::to_string));
    lines.extend([
        format!("gain over the untuned policy {} (95 % {})", document.gain, document.gain_interval),
        parameters(outcome.learned.trained.choice(), problem),
        effort(&outcome.learned, &job.training.plan, problem),
    ]);
    lines.extend(document.troubles.iter().map(|trouble| format!("warning: {trouble}")));
    lines.extend(document.ground.cautions().into_iter().map(|caution| format!("note: {caution}")));
    lines.join("\n")
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
