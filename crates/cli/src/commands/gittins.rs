//! `gradband gittins`: the finite-horizon index table of a Beta(1, 1) arm.

use super::{interrupted, work};
use crate::args::{Gittins, whole};
use crate::failure::Result;
use crate::files;
use crate::output::{self, Printer, grouped};
use gradband::Error;
use gradband::exact::gittins::{Table, shared};
use gradband::policy::gittins::MAX_HORIZON;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Successes and failures of the excerpt go up to this.
const SHOWN: u32 = 6;

#[derive(Serialize)]
struct Document<'a> {
    horizon: usize,
    entries: usize,
    start: f32,
    seconds: f64,
    output: Option<&'a Path>,
}

pub fn run(args: &Gittins, printer: Printer) -> Result<()> {
    let horizon = whole(args.horizon);
    if !(1..=MAX_HORIZON).contains(&horizon) {
        let message = format!(
            "found {horizon}, expected 1 to {MAX_HORIZON}: {:.1e} indices would take {:.1} GB",
            (horizon as f64).powi(3) / 6.0,
            (horizon as f64).powi(3) / 1.5e9
        );
        return Err(Error::new("--horizon", message).into());
    }
    let form = args.output.as_deref().map(|path| Form::of(path).map(|form| (path, form))).transpose()?;
    let start = Instant::now();
    let table = shared(horizon, &mut work("computing indices")).ok_or_else(interrupted)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some((path, form)) = form {
        files::write_with(path, |file| form.write(&table, horizon, file))?;
    }
    let document = Document {
        horizon,
        entries: Table::entries(horizon),
        start: table.index(0, 0, horizon as u32),
        seconds,
        output: args.output.as_deref(),
    };
    printer.result(&document, || {
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
        let written = args.output.as_deref().map_or(String::new(), |path| format!("; all are in {}", path.display()));
        format!(
            "Gittins indices of one Beta(1, 1) arm in a run of {horizon} rounds, by successes and failures\n{}\n\
             {} indices in {seconds:.2} s{written}",
            output::table(&header, 1, rows),
            grouped(document.entries),
        )
    })
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
                Err(Error::new("--output", message))
            }
        }
    }

    fn write(self, table: &Table, horizon: usize, out: &mut dyn Write) -> std::io::Result<()> {
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
