//! Processor time, the best of several measurements, and the floor of products.
#![allow(dead_code)] // not every benchmark uses all of it

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch};
use std::hint::black_box;

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

/// Nanoseconds of a multiply-add in single precision where nothing else is to be done: sums in registers, vectors full.
pub fn multiply_add_ns() -> f64 {
    let mut done = 0;
    let seconds = best_of(|| done = multiply_adds(100_000));
    seconds * 1e9 / done as f64
}

/// Does them; how many they were.
pub fn multiply_adds(steps: usize) -> usize {
    black_box(dispatch!(Level::new(), simd => chains(simd, black_box(0.999), steps)))
}

/// The number of multiply-adds that were done.
#[inline(always)]
fn chains<S: Simd>(simd: S, x: f32, steps: usize) -> usize {
    const SUMS: usize = 12;
    let x = S::f32s::splat(simd, x);
    let mut sums = [x; SUMS];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = sum.mul_add(x, x);
        }
    }
    steps * black_box(sums).iter().map(|sum| sum.as_slice().len()).sum::<usize>()
}
