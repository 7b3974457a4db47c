//! `gradband compare`: several policies on the same instances and rewards.

use super::{measure, report, title};
use crate::args::{Compare, whole};
use crate::failure::{Failure, Result};
use crate::output::{self, Printer, grouped, with_error};
use crate::policies::{self, Named};
use crate::session::{self, Shown};
use crate::target::Target;
use crate::{files, interrupt};
use gradband::Problem;
use gradband::evaluate::Evaluation;
use gradband::registry::{self, Choice, PolicyInfo};
use gradband::spec::ProblemRecord;
use gradband::statistics::Estimate;
use gradband_lab::session::Session;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Seconds that the preparation of a policy may take that nobody asked for.
const PATIENCE: f64 = 3.0;

#[derive(Serialize)]
struct Document {
    problem: ProblemRecord,
    rows: Vec<Row>,
    instances: usize,
    seed: u64,
    seconds: f64,
    version: &'static str,
}

#[derive(Serialize)]
struct Row {
    policy: String,
    params: Vec<f64>,
    bayes_regret: Estimate,
    bayes_reward: Estimate,
    difference: Estimate,
    /// Regret beyond that of `bayes-optimal`, where it plays too.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Estimate>,
    #[serde(skip)]
    short: String,
    /// Among the policies as they were asked for.
    #[serde(skip)]
    place: usize,
}

pub fn run(args: &Compare, seed: u64, printer: Printer) -> Result<()> {
    let target = Target::load(&args.problem)?;
    let problem = &target.problem;
    let policies = policies(args, &target)?;
    let instances = target.instances(args.instances.map(whole))?;
    if let Some(dir) = &args.output {
        files::create_dir(dir)?;
    }
    let start = Instant::now();
    let evaluation = measure(policies.iter().map(|policy| &policy.choice), problem, seed, instances)?;
    let document = Document {
        problem: problem.into(),
        rows: rows(&policies, &evaluation),
        instances,
        seed,
        seconds: start.elapsed().as_secs_f64(),
        version: env!("CARGO_PKG_VERSION"),
    };
    if let Some(dir) = &args.output {
        interrupt::hold();
        save(dir, &document)?;
        interrupt::release();
    }
    printer.result(&document, || {
        let rows = document.rows.iter().map(|row| {
            let numbers =
                [row.bayes_regret, row.bayes_reward, row.difference].into_iter().chain(row.distance);
            std::iter::once(row.short.clone()).chain(numbers.map(with_error)).collect()
        });
        let mut header = vec!["policy", "Bayes regret", "Bayes reward", "behind the best"];
        header.extend(document.rows[0].distance.map(|_| "from bayes-optimal"));
        let table = output::table(&header, 1, rows);
        format!("{}, {} instances\n{table}", title(problem), grouped(instances))
    })?;
    match &args.output {
        Some(dir) => report::session(dir, &session(&document, &target, &policies)?),
        None => Ok(()),
    }
}

/// For the report: the rows as they are.
fn session(document: &Document, target: &Target, policies: &[Named]) -> Result<Session> {
    let shown = document.rows.iter().map(|row| Shown {
        name: row.short.clone(),
        choice: &policies[row.place].choice,
        regret: row.bayes_regret,
        difference: row.difference,
    });
    let spec = target.problem_spec();
    session::of("compare", &target.problem, &spec, document.seed, document.instances, shown.collect())
}

/// Those that were asked for, else every one that applies; then those from files.
fn policies(args: &Compare, target: &Target) -> Result<Vec<Named>> {
    let problem = &target.problem;
    let mut policies = match &args.policies {
        Some(text) => policies::parse_list(text, problem, "--policies")?,
        None => registry::ready(problem)
            .filter(|info| is_cheap(info, problem))
            .map(|info| Choice::initial(info, problem).map(Named::untuned))
            .collect::<gradband::Result<_>>()?,
    };
    for path in &args.policy_file {
        policies.push(Named::in_full(policies::from_file(path, problem)?));
    }
    Ok(policies)
}

/// Policies that need a long preparation play only if they are asked for.
fn is_cheap(info: &PolicyInfo, problem: &Problem) -> bool {
    let seconds = info.preparation_seconds(problem);
    if seconds <= PATIENCE {
        return true;
    }
    output::note(&format!(
        "note: {0} is left out, because its preparation takes about {seconds:.0} s; to have it, name it: --policies {0},...",
        info.name
    ));
    false
}

/// Sorted by regret, equal ones in the order in which they were asked for.
fn rows(policies: &[Named], evaluation: &Evaluation) -> Vec<Row> {
    let mut order: Vec<usize> = (0..policies.len()).collect();
    order.sort_by(|&i, &j| evaluation.regret(i).mean.total_cmp(&evaluation.regret(j).mean));
    let optimal = policies.iter().position(|policy| policy.choice.info.name == "bayes-optimal");
    let row = |&i: &usize| Row {
        policy: policies[i].name.clone(),
        params: policies[i].choice.params.clone(),
        bayes_regret: evaluation.regret(i),
        bayes_reward: evaluation.reward(i),
        difference: evaluation.difference(i, order[0]),
        distance: optimal.map(|optimal| evaluation.difference(i, optimal)),
        short: policies[i].short.clone(),
        place: i,
    };
    order.iter().map(row).collect()
}

fn save(dir: &Path, document: &Document) -> Result<()> {
    files::write(&dir.join("compare.json"), &(output::to_json(document)? + "\n"))?;
    let records = document.rows.iter().map(|row| {
        let numbers = [row.bayes_regret, row.bayes_reward, row.difference].into_iter().chain(row.distance);
        let numbers = numbers.flat_map(|x| [x.mean.to_string(), x.std_error.to_string()]);
        std::iter::once(row.policy.clone()).chain(numbers).collect()
    });
    let header = "policy,bayes_regret,bayes_regret_std_error,bayes_reward,bayes_reward_std_error,difference,difference_std_error";
    let distance = document.rows[0].distance.map(|_| ["distance", "distance_std_error"]);
    let header = header.split(',').chain(distance.into_iter().flatten());
    files::write(&dir.join("compare.csv"), &csv(header, records)?)
}

/// A CSV file as text.
pub(super) fn csv<'a>(
    header: impl Iterator<Item = &'a str>,
    records: impl Iterator<Item = Vec<String>>,
) -> Result<String> {
    let failed = |error: csv::Error| Failure::Other(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    for record in records {
        writer.write_record(record).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Other(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
