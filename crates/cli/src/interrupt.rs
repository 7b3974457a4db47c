//! Ctrl-C: ends a command at once, unless it has something to keep; a second one always ends it.

use crate::failure::{Failure, INTERRUPTED, Result};
use crate::output;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static HELD: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub fn install() -> Result<()> {
    let handler = || {
        let again = REQUESTED.swap(true, Ordering::SeqCst);
        if again || !HELD.load(Ordering::SeqCst) {
            output::note("interrupted");
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Other(format!("cannot listen for Ctrl-C: {error}")))
}

/// From now on the first Ctrl-C only asks: the command will keep what it has and end by itself.
pub fn hold() {
    HELD.store(true, Ordering::SeqCst);
}

/// What was to be kept is kept: the next Ctrl-C ends the command at once.
pub fn release() {
    REQUESTED.store(false, Ordering::SeqCst);
    HELD.store(false, Ordering::SeqCst);
}

/// Has the user asked to stop?
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
