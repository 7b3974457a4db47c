//! Threads: as many as were asked for, or as the system gives.

use crate::failure::{Failure, Result};
use crate::output;
use rayon::ThreadPoolBuilder;
use std::sync::{Arc, Mutex};
use std::thread::Builder;

/// Starts the threads that simulate. Numbers do not depend on how many there are.
pub fn start(asked: Option<u16>) -> Result<()> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = asked.map_or(all, usize::from);
    let mut count = wanted;
    // The pool of the process can be built once only: other threads try what the system gives, and one more.
    while count > 1 && !given(count + 1) {
        count /= 2;
    }
    if count < wanted {
        output::note(&format!("note: the system gives {count} of {wanted} threads"));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count);
    let pool = if count == 1 { pool.use_current_thread() } else { pool };
    pool.build_global().map_err(|error| Failure::Other(format!("cannot start threads: {error}")))
}

/// Can so many run at a time?
fn given(count: usize) -> bool {
    let (start, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let spawn = |_| {
        let wait = Arc::clone(&wait);
        // They wait until the sender is gone.
        Builder::new().spawn(move || drop(wait.lock().map(|wait| wait.recv()))).ok()
    };
    let started: Vec<_> = (0..count).map_while(spawn).collect();
    drop(start);
    let all = started.len() == count;
    started.into_iter().for_each(|thread| drop(thread.join()));
    all
}
