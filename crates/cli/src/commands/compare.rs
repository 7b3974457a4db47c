//! `gradband compare`: several policies on the same instances and rewards.

use super::{fitted, measure, open, report, verdict};
use crate::args::{Compare, whole};
use crate::failure::Result;
use crate::output::{self, Printer};
use crate::policies::{self, Asked};
use crate::{flags, interrupt, session};
use gradband::measure::{Against, Comparison, Verdict};
use gradband::policy::{Choice, PolicyKind, ready};
use gradband::problem::Ground;
use gradband::{Estimate, Problem};
use gradband_files::{ProblemRecord, Target};
use gradband_lab::session::{Measured, Session};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The result, in its directory.
const FILE: &str = "compare.json";
/// Seconds that the preparation of a policy may take that nobody asked for.
const PATIENCE: f64 = 3.0;

#[derive(Serialize)]
struct Document {
    problem: ProblemRecord,
    rows: Vec<Row>,
    /// The first policy file, else the best on training instances, beside the others.
    verdict: Verdict,
    /// Its gain over Thompson sampling that was tuned to the same past.
    sharpened: Option<Against>,
    ground: Ground,
    observations: usize,
    instances: usize,
    seed: u64,
    seconds: f64,
    version: &'static str,
}

#[derive(Serialize)]
struct Row {
    policy: String,
    /// Does it have parameters to learn, none of which anyone gave?
    untuned: bool,
    params: Vec<f64>,
    bayes_regret: Estimate,
    bayes_reward: Estimate,
    difference: Estimate,
    /// Regret beyond that of `bayes-optimal`, where it plays too.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Estimate>,
    #[serde(skip)]
    short_name: String,
    /// Regret over rounds, if a report is to show it.
    #[serde(skip)]
    curve: Vec<(usize, Estimate)>,
}

impl Row {
    fn estimates(&self) -> impl Iterator<Item = Estimate> {
        [self.bayes_regret, self.bayes_reward, self.difference].into_iter().chain(self.distance)
    }
}

pub fn run(args: &Compare, seed: u64, printer: Printer) -> Result<()> {
    let target = open(&args.problem)?;
    let problem = &target.problem;
    let policies = policies(args, &target)?;
    let instances = target.instances(args.instances.map(whole))?;
    if let Some(dir) = &args.output {
        output::claim_dir(dir, FILE, args.force)?;
    }
    let start = Instant::now();
    let policies = fitted(policies, problem)?;
    let choices: Vec<&Choice> = policies.iter().map(|policy| &policy.choice).collect();
    let marks = if args.output.is_some() { session::rounds(problem) } else { Vec::new() };
    let measured = measure(&choices, problem, seed, instances, &marks)
        .map_err(|error| flags::at_policy(error, "--policies"))?;
    let subject = match args.policy_file.len() {
        0 => None,
        files => Some(policies.len() - files),
    };
    let mut rivals = verdict::rivals(&policies, problem, seed, instances, |i| Some(i) != subject)?;
    let subject = subject.unwrap_or_else(|| if rivals.is_empty() { 0 } else { rivals.remove(0) });
    let verdicts = verdict::verdicts(&measured, subject, &rivals, &policies, problem);
    let document = Document {
        problem: problem.into(),
        rows: rows(&policies, problem, &measured),
        verdict: measured.verdict_named(subject, &rivals, |i| policies[i].name()),
        sharpened: verdict::sharpened(&measured, subject, &rivals, &policies),
        ground: problem.ground(),
        observations: measured.observations(),
        instances,
        seed,
        seconds: start.elapsed().as_secs_f64(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let saved = args.output.as_deref().map_or(Ok(()), |dir| save(dir, &document));
    // What was measured is shown even if it cannot be kept, and kept even if nobody looks.
    let shown = printer.result(&document, || text(&document, &verdicts, problem));
    saved?;
    if let Some(dir) = &args.output {
        report::session(dir, &session(&document, &verdicts, &target)?)?;
    }
    shown
}

fn text(document: &Document, verdicts: &[Verdict], problem: &Problem) -> String {
    let rows = document.rows.iter().map(|row| {
        let numbers = row.estimates().map(|estimate| estimate.to_string());
        let role = if row.untuned { "untuned" } else { "" };
        [role.into(), row.short_name.clone()].into_iter().chain(numbers).collect()
    });
    let mut header = vec!["", "policy", "Bayes regret", "Bayes reward", "behind the best"];
    header.extend(document.rows[0].distance.map(|_| "from bayes-optimal"));
    let table = output::table(&header, 2, rows);
    let mut lines = vec![verdict::header(problem, document.instances), table];
    lines.extend(verdicts.iter().map(Verdict::to_string));
    lines.extend(document.ground.cautions().into_iter().map(|caution| format!("note: {caution}")));
    lines.join("\n")
}

/// For the report: the rows as they are.
fn session(document: &Document, verdicts: &[Verdict], target: &Target) -> Result<Session> {
    let measured = document.rows.iter().map(|row| Measured {
        name: if row.untuned { format!("{} (untuned)", row.short_name) } else { row.short_name.clone() },
        regret: row.bayes_regret,
        difference: row.difference,
        curve: row.curve.clone(),
    });
    let spec = target.problem_keys();
    let session = session::of(
        "compare",
        &target.problem,
        &spec,
        document.seed,
        document.instances,
        measured.collect(),
    )?;
    let lead = verdicts.iter().map(|verdict| format!("{verdict}.")).chain(verdict::cautions(&target.problem));
    Ok(Session { lead: lead.collect(), ..session })
}

/// Those that were asked for, else every one that applies; then those from files.
fn policies(args: &Compare, target: &Target) -> Result<Vec<Asked>> {
    let problem = &target.problem;
    let [fitted, sharpened] = policies::INFORMED;
    let mut informed = vec![fitted, sharpened, policies::INFORMED_INDEX];
    // Without a table the optimum knows the prior anyway.
    informed.extend(
        matches!(problem.ground(), Ground::PastProblems { .. }).then_some(policies::INFORMED_OPTIMUM),
    );
    let informed = policies::informed(&informed, problem, PATIENCE);
    let mut policies = match &args.policies {
        Some(text) => policies::parse_list(text, problem, "--policies")?,
        None => ready(problem)
            .filter(|kind| is_cheap(kind, problem))
            .map(|kind| Choice::initial(kind, problem).map(Asked::untuned))
            .chain(informed.into_iter().map(Ok))
            .collect::<gradband::Result<_>>()?,
    };
    for path in &args.policy_file {
        policies.push(Asked::in_full(policies::from_file(path, problem)?));
    }
    Ok(policies)
}

/// Policies that need a long preparation play only if they are asked for.
fn is_cheap(kind: &PolicyKind, problem: &Problem) -> bool {
    let seconds = kind.preparation_seconds(problem);
    if seconds <= PATIENCE {
        return true;
    }
    output::note(&format!(
        "note: {0} is left out, because its preparation takes about {seconds:.0} s; to have it, name it: --policies {0},...",
        kind.name()
    ));
    false
}

/// Sorted by regret, equal ones in the order in which they were asked for.
fn rows(policies: &[Asked], problem: &Problem, measured: &Comparison) -> Vec<Row> {
    let mut order: Vec<usize> = (0..policies.len()).collect();
    order.sort_by(|&i, &j| measured.regret(i).mean.total_cmp(&measured.regret(j).mean));
    let optimal = policies.iter().position(Asked::is_bound);
    let row = |&i: &usize| Row {
        policy: policies[i].name(),
        untuned: policies[i].is_untuned(),
        params: policies[i].choice.params().to_vec(),
        bayes_regret: measured.regret(i),
        bayes_reward: measured.reward(i),
        difference: measured.difference(i, order[0]),
        distance: optimal.map(|optimal| measured.difference(i, optimal)),
        short_name: policies[i].short_name(problem),
        curve: measured.curve(i),
    };
    order.iter().map(row).collect()
}

fn save(dir: &Path, document: &Document) -> Result<()> {
    let _hold = interrupt::hold();
    output::write(&dir.join(FILE), output::to_json(document)? + "\n")?;
    let records = document.rows.iter().map(|row| {
        let numbers = row.estimates().flat_map(|x| [x.mean.to_string(), x.std_error.to_string()]);
        std::iter::once(row.policy.clone()).chain(numbers).collect()
    });
    let header = "policy,bayes_regret,bayes_regret_std_error,bayes_reward,bayes_reward_std_error,difference,difference_std_error";
    let distance = document.rows[0].distance.map(|_| ["distance", "distance_std_error"]);
    let header = header.split(',').chain(distance.into_iter().flatten());
    output::write(&dir.join("compare.csv"), output::to_csv(header, records)?)
}
