//! Threads: one pool for each number of them, and never the global one.

use gradband::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Threads do not survive a fork, so that a pool belongs to its process.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// Locked only while the interpreter is held, which a fork waits for: no child finds it locked for ever.
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The pool of so many threads; of all cores if nobody says.
pub fn of(threads: Option<usize>) -> Result<Arc<ThreadPool>> {
    let threads = match threads {
        Some(threads) if (1..=1024).contains(&threads) => threads,
        Some(threads) => {
            return Err(Error::new("threads", format!("found {threads}, expected 1 to 1024")));
        }
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pools = pools.get_or_insert_default();
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = Arc::new(pool.map_err(|error| Error::new("threads", format!("cannot start: {error}")))?);
    pools.insert(key, pool.clone());
    Ok(pool)
}
