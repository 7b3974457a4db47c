//! Processor time, and the best of several measurements.
#![allow(dead_code)] // not every benchmark uses all of it

/// Best of this many: noise of a shared machine only adds.
pub const REPEATS: usize = 9;

/// Processor seconds of this thread.
pub fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Processor seconds of `work`, which runs once before to warm caches and branch predictors.
pub fn best_of(mut work: impl FnMut()) -> f64 {
    work();
    let measure = |_| {
        let start = now();
        work();
        now() - start
    };
    (0..REPEATS).map(measure).fold(f64::INFINITY, f64::min)
}
