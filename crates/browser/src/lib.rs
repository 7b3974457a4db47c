//! Opens a report in a real browser and looks whether it works: test support.
//!
//! Chromium is driven over its DevTools protocol through a pipe. We looked at `headless_chrome` and `chromiumoxide`:
//! both compile the whole protocol (four minutes for the first), and a report needs a dozen of its commands.

mod check;
mod pipe;
mod tab;
mod there;

pub use check::{Checked, Seen, check};
pub use pipe::{Browser, Error};
pub use tab::{Tab, View};
pub use there::is_there;

use std::path::Path;

/// Writes a picture of a page, for people; a height of 0 is the whole page.
pub fn screenshot(page: &Path, to: &Path, width: u32, height: u32, dark: bool) -> Result<(), Error> {
    let mut browser = Browser::launch()?;
    let mut tab = browser.open(page, View { width, height: height.max(400), dark, scripts: true })?;
    let bytes = tab.screenshot(height == 0)?;
    std::fs::write(to, bytes)?;
    Ok(())
}

/// Writes a page as it would be printed, as PDF.
pub fn print(page: &Path, to: &Path) -> Result<(), Error> {
    let mut browser = Browser::launch()?;
    let bytes = browser.open(page, View { dark: true, ..View::DESKTOP })?.pdf()?;
    std::fs::write(to, bytes)?;
    Ok(())
}
