//! `gradband gittins`: the finite-horizon index table of a Beta(1, 1) arm.

use crate::args::{Gittins, whole};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{self, Printer};
use crate::watch::Terminal;
use gradband::exact::GittinsTable;
use gradband::{Error, Place};
use gradband_jobs::gittins::{self, Document};
use gradband_jobs::grouped;
use std::io::Write;
use std::path::Path;

/// Successes and failures of the excerpt go up to this.
const SHOWN: u32 = 6;

pub fn run(args: &Gittins, printer: Printer) -> Result<()> {
    let typed = |error: Error| error.at(Place::key("--horizon"));
    let horizon = gittins::check_horizon(whole(args.horizon)).map_err(typed)?;
    let form = args.output.as_deref().map(|path| Form::of(path).map(|form| (path, form))).transpose()?;
    let (document, table) = gittins::run(horizon, &Terminal)?;
    if let Some((path, form)) = form {
        write(path, form, &table, horizon)?;
    }
    let document = Document { output: args.output.as_deref(), ..document };
    printer.result(&document, || text(&document, &table))
}

/// Writes all indices; Ctrl-C leaves no half of the file.
fn write(path: &Path, form: Form, table: &GittinsTable, horizon: usize) -> Result<()> {
    let hold = interrupt::hold();
    let written = output::write_with(path, |file| form.write(table, horizon, file));
    if written.is_err() && interrupt::requested() {
        interrupt::answer();
        return Err(Failure::interrupted());
    }
    drop(hold);
    written
}

fn text(document: &Document, table: &GittinsTable) -> String {
    let Document { horizon, seconds, .. } = *document;
    let shown = SHOWN.min(horizon as u32 - 1);
    let header: Vec<String> = (0..=shown).map(|f| f.to_string()).collect();
    let header: Vec<&str> = std::iter::once("successes").chain(header.iter().map(String::as_str)).collect();
    let rows = (0..=shown).map(|s| {
        let cell = |f: u32| match (horizon as u32).checked_sub(s + f) {
            None | Some(0) => String::new(),
            Some(remaining) => format!("{:.4}", table.index(s, f, remaining)),
        };
        std::iter::once(s.to_string()).chain((0..=shown).map(cell)).collect()
    });
    let written = document.output.map_or(String::new(), |path| format!("; all are in {}", path.display()));
    format!(
        "Gittins indices of one Beta(1, 1) arm in a run of {horizon} rounds, by successes and failures\n{}\n\
         {} indices in {seconds:.2} s{written}",
        output::table(&header, 1, rows),
        grouped(document.entries),
    )
}

/// How the table is written down.
#[derive(Clone, Copy)]
enum Form {
    Csv,
    Json,
}

impl Form {
    fn of(path: &Path) -> gradband::Result<Self> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            _ => {
                let message = format!("found {}, expected a name that ends in .csv or .json", path.display());
                Err(Error::new(Place::key("--output"), message))
            }
        }
    }

    fn write(self, table: &GittinsTable, horizon: usize, out: &mut dyn Write) -> std::io::Result<()> {
        let n = horizon as u32;
        let (open, close, last) = match self {
            Self::Csv => ("", "\n", ""),
            Self::Json => ("[", "],\n", "]\n]}\n"),
        };
        match self {
            Self::Csv => writeln!(out, "successes,failures,remaining,index")?,
            Self::Json => writeln!(
                out,
                "{{\"horizon\": {n}, \"columns\": [\"successes\", \"failures\", \"remaining\", \"index\"], \"rows\": ["
            )?,
        }
        for pulls in 0..n {
            if interrupt::requested() {
                return Err(std::io::Error::other("interrupted"));
            }
            for s in 0..=pulls {
                for remaining in 1..=n - pulls {
                    let index = table.index(s, pulls - s, remaining);
                    let end = (pulls, s, remaining) == (n - 1, n - 1, 1);
                    let close = if end && matches!(self, Self::Json) { last } else { close };
                    write!(out, "{open}{s},{},{remaining},{index}{close}", pulls - s)?;
                }
            }
        }
        Ok(())
    }
}
