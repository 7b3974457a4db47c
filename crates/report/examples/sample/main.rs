//! Writes a page that uses every feature, and its figures as files, into a directory.
#![allow(clippy::print_stdout)]

mod page;

use gradband_report::{Block, png};
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "sample".to_owned()));
    std::fs::create_dir_all(&out)?;
    let page = page::sample();
    std::fs::write(out.join("page.html"), page.html())?;
    for block in page.sections.iter().flat_map(|section| &section.blocks) {
        let Block::Figure(figure) = block else { continue };
        let svg = figure.svg();
        std::fs::write(out.join(format!("{}.png", figure.id)), png(&svg, 1.5)?)?;
        std::fs::write(out.join(format!("{}.svg", figure.id)), svg)?;
        std::fs::write(out.join(format!("{}.csv", figure.id)), figure.csv())?;
    }
    println!("{}", out.join("page.html").display());
    Ok(())
}
