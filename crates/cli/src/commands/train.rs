//! `gradband train`: learns a policy, and shows what the learning was worth.

use super::{command, open, report};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::output::{self, Printer};
use crate::resume::{Resumed, Saving, Settings};
use crate::{interrupt, picture};
use gradband::learn::{Plan, Trained};
use gradband::measure::Verdict;
use gradband::policy::Choice;
use gradband::{Problem, StopReason};
use gradband_files::{CHECKPOINT_FILE, Checkpoint, Lock, POLICY_FILE, Target, TrainSpec, has_weights_file};
use gradband_jobs::policies::Asked;
use gradband_jobs::train::{Chosen, Document, Job, Learned, Outcome, Request};
use gradband_jobs::{grouped, session, verdict};
use gradband_lab::session::Session;
use std::path::Path;

pub fn run(args: &Train, seed: u64, resumed: Option<Resumed>, printer: Printer) -> Result<()> {
    let (target, output) = (open(&args.problem)?, args.output.as_deref());
    let command = resumed.as_ref().map_or_else(command, |resumed| resumed.settings.command.clone());
    let client = Saving::default();
    let request = Request {
        policy: args.policy.or_file(None),
        train: TrainSpec::from(args),
        seed,
        report: output.is_some(),
    };
    // A choice among policies is work: its place is made sure of before it.
    let early = resumed.is_some() || request.is_auto(&target)?;
    let mut lock = match resumed {
        Some(Resumed { checkpoint, lock, .. }) => {
            client.begin(checkpoint);
            Some(lock)
        }
        None if early => claim(args, &command, &target, &client)?,
        None => None,
    };
    let mut job = Job::new(&request, target, &client)?;
    if !early {
        lock = claim(args, &command, &job.target, &client)?;
    }
    let hold = interrupt::hold();
    let learned = job.train(&client)?;
    client.write();
    let interrupted = interrupt::requested() || learned.trained.stop_reason() == StopReason::Interrupted;
    if interrupted {
        interrupt::answer();
        job.hurry = true;
    }
    drop(hold);

    let outcome = job.evaluate(learned, &client)?;
    let document = job.document(&outcome);
    // What was learned is shown even if it cannot be kept, and kept even if nobody looks.
    let shown = printer.result(&document, || text(&document, &job, &outcome));
    if let Some(dir) = output {
        let session = job.session(&document, &outcome, &command, &client)?;
        save(dir, &job, &outcome.learned.trained, &session, interrupted)?;
    }
    drop(lock);
    if interrupted {
        return Err(Failure::Interrupted(kept(output, &outcome.learned.trained)));
    }
    shown
}

/// Makes sure that the results will have a place, and begins the checkpoint there.
fn claim(args: &Train, command: &str, target: &Target, client: &Saving) -> Result<Option<Lock>> {
    let Some(dir) = &args.output else { return Ok(None) };
    let earlier = [
        (POLICY_FILE, "is there already; choose another directory, or --force"),
        (
            CHECKPOINT_FILE,
            "is of a training that was broken off: --resume goes on with it, --force starts anew",
        ),
    ];
    let lock = output::claim_dir(dir, &earlier, args.force)?;
    let settings = Settings::now(command.into(), &args.problem, target)?;
    client.begin(Checkpoint::new(dir, &settings)?);
    client.write();
    Ok(Some(lock))
}

/// All that a training leaves, together; the checkpoint goes with it, unless there is something left to do.
fn save(dir: &Path, job: &Job, trained: &Trained, session: &Session, interrupted: bool) -> Result<()> {
    let (file, history) = (job.policy_file(trained)?, history(trained)?);
    output::publish(dir, |edition| {
        edition.write("history.csv", history).map_err(|error| Failure::unwritable(dir, &error))?;
        file.save_in(edition).map_err(|error| Failure::unwritable(dir, &error))?;
        if !interrupted {
            edition.without(CHECKPOINT_FILE);
        }
        report::session(edition, dir, session)
    })?;
    report::tell(dir);
    Ok(())
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
            let dir = dir.display();
            format!(
                "interrupted after {done} iterations; the policy so far is in {dir}, and --resume goes on"
            )
        }
        None => format!("interrupted after {done} iterations; with -o DIR the policy would have been kept"),
    }
}
