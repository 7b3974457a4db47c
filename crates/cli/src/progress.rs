//! Progress of a long job: a bar on a terminal, now and then a line elsewhere, nothing for a short job.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A job shorter than this stays silent off a terminal.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows how far a job is; the bar goes when this is dropped.
pub struct Meter {
    what: String,
    unit: &'static str,
    total: u64,
    start: Instant,
    next: Instant,
    bar: Option<ProgressBar>,
}

impl Meter {
    /// Starts the clock.
    pub fn new(what: impl Into<String>, unit: &'static str, total: u64) -> Self {
        let what = what.into();
        let start = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| bar(&what, unit, total));
        Self { what, unit, total, start, next: start + PATIENCE, bar }
    }

    /// Is it for this job?
    pub fn measures(&self, what: &str, total: u64) -> bool {
        self.what == what && self.total == total
    }

    /// So much is done.
    pub fn set(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            return;
        }
        let now = Instant::now();
        if now < self.next || done >= self.total {
            return;
        }
        self.next = now + PAUSE;
        let rate = done as f64 / (now - self.start).as_secs_f64();
        let left = (self.total - done) as f64 / rate.max(1e-9);
        let Self { what, unit, total, .. } = self;
        output::note(&format!("{what}: {done} of {total} {unit}, {rate:.1}/s, {left:.0} s left"));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str, unit: &str, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let template = format!("{{msg}} [{{bar:30}}] {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what.to_string());
    bar
}
