//! The report: every figure, and every number of the paper beside ours; what is not the paper's is said to be ours. It reads
//! records only.

use crate::experiment::{Experiment, Results, Size};
use crate::row::{Row, Verdict};
use crate::{EXPERIMENTS, record::Record};
use gradband_report::{Block, Cell, Column, Page, Section, Table, Tone};
use std::collections::BTreeMap;

/// The page of a directory of records.
pub fn page(results: &Results) -> Page {
    let recorded = results.experiments();
    let rows = |ours: bool| -> Vec<Row> {
        let chosen = recorded.iter().filter(|experiment| experiment.is_ours() == ours);
        chosen.flat_map(|experiment| experiment.known_rows(results)).collect()
    };
    let (papers, ours) = (rows(false), rows(true));
    let small = recorded.iter().any(|experiment| is_small(experiment, results));
    let mut sections = vec![overview(&recorded, results)];
    sections.extend(recorded.iter().map(|experiment| section(experiment, results)));
    Page {
        title: "Meta-Learning Bandit Policies by Gradient Ascent, reproduced".into(),
        lead: lead(&papers, &ours, small),
        sections,
        footer: format!("gradband {}", env!("CARGO_PKG_VERSION")),
    }
}

/// What is said first: how the paper's numbers compare with ours, and apart from it what is ours alone.
fn lead(papers: &[Row], ours: &[Row], small: bool) -> Vec<String> {
    let mut lead = vec![
        "Every figure and every number of the paper's experiments, computed by gradband. Hover or use the arrow keys for \
         values, click a name to hide its line, drag to zoom."
            .into(),
        summary(papers),
        if small { SMALL.into() } else { reasons(papers) },
    ];
    if !ours.is_empty() {
        lead.push(format!(
            "Sections marked \"ours\" are not the paper's: they have no numbers of it and are not counted above. Of the {} claims \
             that we make there, {} hold.",
            ours.len(),
            count(ours, &[Verdict::Agrees])
        ));
    }
    lead
}

fn count(rows: &[Row], of: &[Verdict]) -> usize {
    rows.iter().filter(|row| of.contains(&row.verdict())).count()
}

/// How many numbers and claims agree.
fn summary(rows: &[Row]) -> String {
    let faster = count(rows, &[Verdict::Faster]);
    let (checked, agree) = (rows.len() - faster, count(rows, &[Verdict::Agrees]));
    format!(
        "{checked} numbers and claims of the paper are checked here: {agree} agree, {} differ. A number differs if it is more \
         than three standard errors (of ours and the paper's together) away. Computing times ({faster} of them) that are \
         shorter than the paper's count neither way.",
        checked - agree
    )
}

/// Whether every difference is understood.
fn reasons(rows: &[Row]) -> String {
    match count(rows, &[Verdict::Unexplained]) {
        0 => "Every difference has its reason beside it, with a bound within which ours is explained by it, and is within \
              the bound."
            .into(),
        unexplained => {
            format!("Differences have their reasons beside them, but {unexplained} of them have none that explains them.")
        }
    }
}

const SMALL: &str =
    "This is a quick look: experiments have small sizes, and policies are trained less than in the paper.";

/// Has anything other sizes than the paper's?
fn is_small(experiment: &Experiment, results: &Results) -> bool {
    let plan = (experiment.plan)(&Size::default()).unwrap_or_default();
    let full: BTreeMap<_, _> =
        plan.into_iter().map(|series| (series.name, serde_json::to_value(series.work).ok())).collect();
    let is_full =
        |record: &Record| full.get(&record.series).is_some_and(|work| work.as_ref() == Some(&record.setting));
    !results.of(experiment.id).all(is_full)
}

/// How long each experiment took, and how often it agrees.
fn overview(recorded: &[&'static Experiment], results: &Results) -> Section {
    let rows = recorded.iter().map(|experiment| {
        let rows = experiment.known_rows(results);
        let faster = count(&rows, &[Verdict::Faster]);
        let agree = count(&rows, &[Verdict::Agrees]);
        let records: Vec<_> = results.of(experiment.id).collect();
        let runs = records.iter().map(|record| record.seed).max().unwrap_or(0);
        vec![
            experiment.id.into(),
            experiment.section.into(),
            experiment.title.into(),
            records.len().to_string().into(),
            runs.to_string().into(),
            minutes(&records).into(),
            match experiment.is_ours() {
                true => format!("{agree} of {} hold", rows.len()),
                false => format!("{agree} of {}", rows.len() - faster),
            }
            .into(),
        ]
    });
    let table = Table {
        id: "overview-table".into(),
        title: "Experiments".into(),
        columns: vec![
            Column::text("Experiment"),
            Column::text("Section"),
            Column::text("Title"),
            Column::number("Units"),
            Column::number("Runs"),
            Column::number("Minutes of two cores"),
            Column::number("Agree"),
        ],
        rows: rows.collect(),
    };
    Section {
        id: "overview".into(),
        title: "Overview".into(),
        text: Vec::new(),
        command: Some("gradband reproduce all".into()),
        spec: None,
        blocks: vec![Block::Table(table)],
    }
}

/// Minutes that records take on two cores with nothing else to do.
fn minutes(records: &[&Record]) -> String {
    format!("{:.1}", records.iter().map(|record| record.core_seconds).sum::<f64>() / 120.0)
}

fn section(experiment: &Experiment, results: &Results) -> Section {
    let mut blocks = (experiment.blocks)(results);
    let rows = experiment.known_rows(results);
    if !rows.is_empty() {
        let small = is_small(experiment, results);
        blocks.push(Block::Table(match experiment.is_ours() {
            true => claims(experiment.id, &rows, small),
            false => comparison(experiment.id, &rows, small),
        }));
    }
    Section {
        // The figure of that name is within it.
        id: format!("{}-section", experiment.id),
        title: match experiment.is_ours() {
            true => format!("{}: {} (ours, not the paper's)", experiment.id, experiment.title),
            false => format!("{}: {}", experiment.id, experiment.title),
        },
        text: experiment.text.iter().map(|text| text.to_string()).collect(),
        command: Some(format!("gradband reproduce {}", experiment.id)),
        spec: Some(settings(experiment, results)),
        blocks,
    }
}

/// The paper's numbers beside ours.
fn comparison(id: &str, rows: &[Row], small: bool) -> Table {
    let cells = rows.iter().map(|row| {
        vec![
            row.what.as_str().into(),
            row.paper.as_str().into(),
            row.ours.as_deref().unwrap_or_default().into(),
            row.errors.map_or(String::new(), |errors| format!("{errors:+.1}")).into(),
            verdict(row, small),
        ]
    });
    Table {
        id: format!("{id}-numbers"),
        title: "The paper's numbers and ours".into(),
        columns: vec![
            Column::text("What"),
            Column::text("Paper"),
            Column::text("Ours"),
            Column::number("Standard errors"),
            Column::text("Verdict"),
        ],
        rows: cells.collect(),
    }
}

/// What we say where the paper says nothing, and what was measured.
fn claims(id: &str, rows: &[Row], small: bool) -> Table {
    let cells = rows.iter().map(|row| {
        let (text, tone) = match (row.agrees, small) {
            (true, _) => ("holds", Tone::Good),
            (false, true) => ("does not hold, at these sizes", Tone::Muted),
            (false, false) => ("does not hold", Tone::Bad),
        };
        vec![
            row.what.as_str().into(),
            row.claim.as_deref().unwrap_or_default().into(),
            row.ours.as_deref().unwrap_or_default().into(),
            Cell { text: text.into(), tone },
        ]
    });
    Table {
        id: format!("{id}-claims"),
        title: "What we say, and what was measured".into(),
        columns: ["What", "Claim", "Measured", "Verdict"].map(Column::text).into(),
        rows: cells.collect(),
    }
}

/// Whether a row agrees, and the reason if not.
fn verdict(row: &Row, small: bool) -> Cell {
    let why = row.why.map_or("", |why| why.text);
    let (text, tone) = match (row.verdict(), row.why) {
        (Verdict::Agrees, _) => ("agrees".into(), Tone::Good),
        (Verdict::Faster, _) => (format!("faster. {why}"), Tone::Muted),
        _ if small => ("differs, at these sizes".into(), Tone::Muted),
        (Verdict::Explained, _) => (format!("differs. {why}"), Tone::Bad),
        (Verdict::Unexplained, None) => ("differs, and it is not known why".into(), Tone::Bad),
        (Verdict::Unexplained, Some(reason)) => {
            let (low, high) = (reason.low, reason.high);
            (
                format!("differs beyond the known reason, which explains {low:.4} to {high:.4}. {why}"),
                Tone::Bad,
            )
        }
    };
    Cell { text, tone }
}

/// The setting of every series, as it is in the records.
fn settings(experiment: &Experiment, results: &Results) -> String {
    let mut series: BTreeMap<&str, (usize, &Record)> = BTreeMap::new();
    for record in results.of(experiment.id) {
        series.entry(&record.series).or_insert((0, record)).0 += 1;
    }
    let lines =
        series.iter().map(|(name, (runs, record))| format!("{name} ({runs} runs): {}", record.setting));
    lines.collect::<Vec<_>>().join("\n")
}

/// The paper's numbers beside ours, and how long each experiment took: for README.
pub fn markdown(results: &Results) -> String {
    let mut lines = vec!["| | | paper | ours | s.e. |".to_string(), "|---|---|---|---|---|".into()];
    for experiment in EXPERIMENTS {
        for row in experiment.known_rows(results).into_iter().filter(|row| row.errors.is_some()) {
            let errors = row.errors.map_or(String::new(), |errors| format!("{errors:+.1}"));
            let ours = row.ours.unwrap_or_default();
            lines.push(format!("| {} | {} | {} | {ours} | {errors} |", experiment.id, row.what, row.paper));
        }
    }
    for experiment in EXPERIMENTS.iter().filter(|experiment| experiment.is_ours()) {
        for block in (experiment.blocks)(results) {
            if let Block::Table(table) = block
                && !table.rows.is_empty()
            {
                lines.push(String::new());
                lines.extend(table_lines(&table));
            }
        }
    }
    lines.push(String::new());
    lines.push("| experiment | section | units | minutes of two cores |".into());
    lines.push("|---|---|---|---|".into());
    for experiment in EXPERIMENTS {
        let records: Vec<_> = results.of(experiment.id).collect();
        if !records.is_empty() {
            let (id, title, section) = (experiment.id, experiment.title, experiment.section);
            lines.push(format!("| {id}: {title} | {section} | {} | {} |", records.len(), minutes(&records)));
        }
    }
    lines.join("\n") + "\n"
}

/// A table as Markdown.
fn table_lines(table: &Table) -> Vec<String> {
    let line = |cells: Vec<&str>| format!("| {} |", cells.join(" | "));
    let header = line(table.columns.iter().map(|column| column.name.as_str()).collect());
    let rule = format!("|{}", "---|".repeat(table.columns.len()));
    let rows = table.rows.iter().map(|row| line(row.iter().map(|cell| cell.text.as_str()).collect()));
    [header, rule].into_iter().chain(rows).collect()
}
