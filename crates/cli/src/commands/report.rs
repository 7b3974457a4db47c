//! `gradband report`: pages and pictures from records alone.

use crate::failure::{Failure, Result};
use crate::output::{self, Printer};
use gradband::{Error, Place};
use gradband_files::{Edition, io};
use gradband_lab::session::{self, Session};
use gradband_lab::{Experiment, Results, Row};
use gradband_report::{Block, Page};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The page.
pub const FILE: &str = "report.html";
/// Where pictures go, one SVG and one PNG each.
const FIGURES: &str = "figures";
/// The records of `train` and `compare`.
const SESSIONS: [&str; 2] = ["train", "compare"];

/// The paper's numbers of an experiment, and ours.
#[derive(Serialize)]
pub struct Compared {
    experiment: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Document {
    #[serde(serialize_with = "output::path")]
    output: PathBuf,
    experiments: Vec<Compared>,
}

pub fn run(dir: &Path, printer: Printer) -> Result<()> {
    let _lock = if dir.is_dir() { Some(output::enter(dir)?) } else { None };
    let results = Results::read(dir)?;
    let recorded = results.experiments();
    match (recorded.is_empty(), sessions(dir)?) {
        (false, _) => write(dir, &results)?,
        (true, sessions) if !sessions.is_empty() => {
            output::publish(dir, |edition| page(edition, dir, &session::page(&sessions)))?;
        }
        _ => {
            let message = "has no records; gradband reproduce, train and compare write some with -o DIR";
            return Err(Error::new(Place::file(dir.display().to_string()), message).into());
        }
    }
    let document = Document { output: dir.join(FILE), experiments: compared(&results, &recorded) };
    printer.result(&document, || match document.experiments.is_empty() {
        true => format!("see {}", document.output.display()),
        false => format!("{}\nsee {}", text(&document.experiments), document.output.display()),
    })
}

/// The numbers of experiments, where they have been run.
pub fn compared(results: &Results, experiments: &[&'static Experiment]) -> Vec<Compared> {
    experiments
        .iter()
        .map(|experiment| Compared { experiment: experiment.id, rows: experiment.known_rows(results) })
        .collect()
}

/// The same as a table, and below it what is ours alone.
pub fn text(compared: &[Compared]) -> String {
    let (ours, papers): (Vec<_>, Vec<_>) = rows(compared).partition(|(_, row)| row.claim.is_some());
    match (papers.is_empty(), ours.is_empty()) {
        (_, true) => comparison(&papers),
        (true, false) => claims(&ours),
        (false, false) => format!("{}\n{}", comparison(&papers), claims(&ours)),
    }
}

fn rows(compared: &[Compared]) -> impl Iterator<Item = (&'static str, &Row)> {
    compared.iter().flat_map(|compared| compared.rows.iter().map(|row| (compared.experiment, row)))
}

/// What we say where the paper says nothing.
fn claims(rows: &[(&str, &Row)]) -> String {
    let rows = rows.iter().map(|(experiment, row)| {
        let verdict = if row.agrees { "holds" } else { "does not hold" };
        let [claim, ours] = [&row.claim, &row.ours].map(|text| text.clone().unwrap_or_default());
        vec![experiment.to_string(), row.what.clone(), claim, ours, verdict.into()]
    });
    output::table(&["", "not in the paper", "we say", "measured", ""], 5, rows)
}

fn comparison(rows: &[(&str, &Row)]) -> String {
    let rows = rows.iter().map(|(experiment, row)| {
        let errors = row.errors.map_or(String::new(), |errors| format!("{errors:+.1}"));
        let verdict = if row.agrees { "" } else { "differs" };
        let ours = row.ours.clone().unwrap_or_default();
        vec![experiment.to_string(), row.what.clone(), row.paper.clone(), ours, errors, verdict.into()]
    });
    output::table(&["", "", "paper", "ours", "s.e.", ""], 4, rows)
}

/// Writes the page of experiments and its pictures.
pub fn write(dir: &Path, results: &Results) -> Result<()> {
    output::publish(dir, |edition| {
        page(edition, dir, &gradband_lab::report::page(results))?;
        write_to(edition, dir, "comparison.md", gradband_lab::report::markdown(results))
    })
}

fn write_to(edition: &mut Edition, dir: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
    edition.write(name, content).map_err(|error| Failure::unwritable(&dir.join(name), &error))
}

fn record(kind: &str) -> String {
    format!("{kind}.record.json")
}

/// Adds the record of a session, and the page of it and the others that are in the directory.
pub fn session(edition: &mut Edition, dir: &Path, session: &Session) -> Result<()> {
    let name = record(&session.kind);
    write_to(edition, dir, &name, output::to_json(session)? + "\n")?;
    let new = edition.path(&name).map_err(|error| Failure::unwritable(dir, &error))?;
    let paths = SESSIONS.iter().map(|kind| record(kind));
    let sessions = recorded(paths.map(|other| if other == name { new.clone() } else { dir.join(other) }))?;
    page(edition, dir, &session::page(&sessions))
}

/// Says where the page is.
pub fn tell(dir: &Path) {
    output::note(&format!("report: {}", dir.join(FILE).display()));
}

/// The sessions that were recorded.
fn sessions(dir: &Path) -> Result<Vec<Session>> {
    recorded(SESSIONS.iter().map(|kind| dir.join(record(kind))))
}

fn recorded(paths: impl Iterator<Item = PathBuf>) -> Result<Vec<Session>> {
    let recorded = paths.filter(|path| path.exists()).map(|path| io::read_json(&path));
    Ok(recorded.collect::<gradband::Result<_>>()?)
}

/// Adds any page and the pictures on it, which take the place of all that are there.
fn page(edition: &mut Edition, dir: &Path, page: &Page) -> Result<()> {
    edition.without_others_in(FIGURES);
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    for figure in
        blocks.filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
    {
        let svg = figure.svg();
        write_to(edition, dir, &format!("{FIGURES}/{}.svg", figure.id), &svg)?;
        #[cfg(feature = "png")]
        write_to(edition, dir, &format!("{FIGURES}/{}.png", figure.id), png(&figure.id, &svg)?)?;
    }
    #[cfg(not(feature = "png"))]
    output::note("note: figures are written as SVG alone: this gradband was built without the feature 'png'");
    write_to(edition, dir, FILE, page.html())
}

#[cfg(feature = "png")]
fn png(id: &str, svg: &str) -> Result<Vec<u8>> {
    /// Pixels per unit of an SVG.
    const SCALE: f32 = 2.0;
    gradband_report::png(svg, SCALE)
        .map_err(|error| Failure::Other(format!("{id}: cannot be drawn: {error}")))
}
