//! `gradband compare`: several policies on the same instances and rewards.

use super::{command, open, report};
use crate::args::{Compare, whole};
use crate::failure::Result;
use crate::interrupt;
use crate::output::{self, Printer};
use crate::watch::Terminal;
use gradband::Problem;
use gradband::measure::Verdict;
use gradband_jobs::compare::{Document, Job, Request};
use gradband_jobs::policies::Named;
use gradband_jobs::verdict;
use std::path::Path;

/// The result, in its directory.
const FILE: &str = "compare.json";

pub fn run(args: &Compare, seed: u64, printer: Printer) -> Result<()> {
    let request = Request {
        policies: args.policies.clone().map(|text| vec![Named::Text(text)]),
        tuned: args.policy_file.iter().cloned().map(Named::File).collect(),
        instances: args.instances.map(whole),
        seed,
        report: args.output.is_some(),
    };
    let job = Job::new(&request, open(&args.problem)?, &Terminal)?;
    if let Some(dir) = &args.output {
        output::claim_dir(dir, FILE, args.force)?;
    }
    let outcome = job.run(&Terminal)?;
    let document = &outcome.document;
    let saved = args.output.as_deref().map_or(Ok(()), |dir| save(dir, document));
    // What was measured is shown even if it cannot be kept, and kept even if nobody looks.
    let shown = printer.result(document, || text(document, &outcome.verdicts, &job.target.problem));
    saved?;
    if let Some(dir) = &args.output {
        report::session(dir, &job.session(&outcome, &command())?)?;
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
