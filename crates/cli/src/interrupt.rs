//! Ctrl-C: ends a command at once, unless it has something to keep; a second one always ends it.

use crate::failure::{Failure, INTERRUPTED, Result};
use crate::output;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static HOLDS: AtomicUsize = AtomicUsize::new(0);

/// Listens from now on.
pub fn install() -> Result<()> {
    let handler = || {
        let again = REQUESTED.swap(true, Ordering::SeqCst);
        if again || HOLDS.load(Ordering::SeqCst) == 0 {
            end();
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Other(format!("cannot listen for Ctrl-C: {error}")))
}

fn end() -> ! {
    output::note("interrupted");
    std::process::exit(i32::from(INTERRUPTED));
}

/// While this is there, the first Ctrl-C only asks: what is to be kept is kept first. A request that nobody has
/// answered ends the command when the last hold is gone.
#[must_use]
pub struct Hold(());

/// Makes Ctrl-C wait.
pub fn hold() -> Hold {
    HOLDS.fetch_add(1, Ordering::SeqCst);
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        if HOLDS.fetch_sub(1, Ordering::SeqCst) == 1 && requested() {
            end();
        }
    }
}

/// Has the user asked to stop?
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// The command has stopped and says so itself; the next Ctrl-C is a new request.
pub fn answer() {
    REQUESTED.store(false, Ordering::SeqCst);
}
