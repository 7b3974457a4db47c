//! Ctrl-C: ends a command at once, unless it has something to keep; a second one always ends it, and so does work that does not
//! listen. What is being written is written first.

use crate::failure::INTERRUPTED;
use crate::output;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long whoever holds Ctrl-C up may take to answer, and then to finish.
const PATIENCE: Duration = Duration::from_millis(1500);
const FINISH: Duration = Duration::from_secs(10);

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Requests so far, and how many of them were answered.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static ANSWERS: AtomicU64 = AtomicU64::new(0);
static HOLDS: AtomicUsize = AtomicUsize::new(0);
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// Listens from now on. Where no thread can be had for that, Ctrl-C ends a command as it ends any other.
pub fn install() {
    let handler = || {
        // Counted before anybody can answer it.
        let request = REQUESTS.fetch_add(1, Ordering::SeqCst) + 1;
        let again = REQUESTED.swap(true, Ordering::SeqCst);
        if again || HOLDS.load(Ordering::SeqCst) == 0 {
            end();
        }
        // A second Ctrl-C is heard by this thread alone, so another one waits.
        let waits = std::thread::Builder::new().spawn(move || insist(request));
        if waits.is_err() {
            insist(request);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        output::note(&format!("note: nobody listens for Ctrl-C: {error}"));
    }
}

/// Ends the command if the request is not answered soon, or if what follows takes long.
fn insist(request: u64) {
    let answered = || ANSWERS.load(Ordering::SeqCst) >= request;
    let start = Instant::now();
    while !answered() {
        if start.elapsed() > PATIENCE {
            end();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(FINISH);
    end();
}

fn end() -> ! {
    // Files are short, and whole.
    while WRITES.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    output::note("interrupted");
    gradband_files::release_locks();
    std::process::exit(i32::from(INTERRUPTED));
}

/// While this is there, the first Ctrl-C only asks: what is to be kept is kept first. A request that nobody has
/// answered ends the command when the last hold is gone.
#[must_use]
pub struct Hold(());

/// Makes Ctrl-C wait, for a while.
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

/// While this is there, files are being written.
#[must_use]
pub struct Writing {
    _hold: Hold,
}

/// Makes Ctrl-C wait until a file is whole.
pub fn writing() -> Writing {
    WRITES.fetch_add(1, Ordering::SeqCst);
    Writing { _hold: hold() }
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Has the user asked to stop?
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// The command has stopped and says so itself; the next Ctrl-C is a new request.
pub fn answer() {
    ANSWERS.store(REQUESTS.load(Ordering::SeqCst), Ordering::SeqCst);
    REQUESTED.store(false, Ordering::SeqCst);
}
