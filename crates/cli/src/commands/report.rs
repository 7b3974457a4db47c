//! `gradband report`: pages and pictures from records alone.

#[cfg(feature = "png")]
use crate::failure::Failure;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband::{Error, Place};
use gradband_files::io;
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
    let results = Results::read(dir)?;
    let recorded = results.experiments();
    match (recorded.is_empty(), sessions(dir)?) {
        (false, _) => write(dir, &results)?,
        (true, sessions) if !sessions.is_empty() => page(dir, &session::page(&sessions))?,
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
    page(dir, &gradband_lab::report::page(results))?;
    output::write(&dir.join("comparison.md"), gradband_lab::report::markdown(results))
}

/// Keeps the record of a session, and writes the page of all that are there.
pub fn session(dir: &Path, session: &Session) -> Result<()> {
    let record = output::to_json(session)? + "\n";
    output::write(&dir.join(format!("{}.record.json", session.kind)), record)?;
    page(dir, &session::page(&sessions(dir)?))?;
    output::note(&format!("report: {}", dir.join(FILE).display()));
    Ok(())
}

/// The sessions that were recorded.
fn sessions(dir: &Path) -> Result<Vec<Session>> {
    let paths = SESSIONS.iter().map(|kind| dir.join(format!("{kind}.record.json")));
    let recorded = paths.filter(|path| path.exists()).map(|path| io::read_json(&path));
    Ok(recorded.collect::<gradband::Result<_>>()?)
}

/// Writes any page and the pictures on it.
fn page(dir: &Path, page: &Page) -> Result<()> {
    let figures = dir.join(FIGURES);
    output::create_dir(&figures)?;
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    for figure in
        blocks.filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
    {
        let svg = figure.svg();
        output::write(&figures.join(format!("{}.svg", figure.id)), &svg)?;
        #[cfg(feature = "png")]
        write_png(&figures.join(format!("{}.png", figure.id)), &svg)?;
    }
    #[cfg(not(feature = "png"))]
    output::note("note: figures are written as SVG alone: this gradband was built without the feature 'png'");
    output::write(&dir.join(FILE), page.html())
}

#[cfg(feature = "png")]
fn write_png(path: &Path, svg: &str) -> Result<()> {
    /// Pixels per unit of an SVG.
    const SCALE: f32 = 2.0;
    let png = gradband_report::png(svg, SCALE)
        .map_err(|error| Failure::Other(format!("{}: cannot be drawn: {error}", path.display())))?;
    output::write(path, png)
}
