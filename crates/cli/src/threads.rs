//! Threads: as many as were asked for, or as the system gives.

use crate::failure::{Failure, Result};
use crate::output;
use rayon::ThreadPoolBuilder;

/// Starts the threads that simulate. Numbers do not depend on how many there are.
pub fn start(asked: Option<u16>) -> Result<()> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = asked.map_or(all, usize::from);
    let mut count = wanted;
    // The pool of the process can be built once only: another one tries what the system gives.
    while count > 1 && ThreadPoolBuilder::new().num_threads(count).build().is_err() {
        count /= 2;
    }
    if count < wanted {
        output::note(&format!("note: the system gives {count} of {wanted} threads"));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count);
    let pool = if count == 1 { pool.use_current_thread() } else { pool };
    pool.build_global().map_err(|error| Failure::Other(format!("cannot start threads: {error}")))
}
