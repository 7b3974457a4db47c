//! Processor time, the best of several measurements, and the floor of products.
#![allow(dead_code)] // not every benchmark uses all of it

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f32x8};
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
    const STEPS: usize = 100_000;
    const SUMS: usize = 12;
    let level = Level::new();
    let seconds = best_of(|| {
        black_box(dispatch!(level, simd => chains::<_, SUMS>(simd, black_box(0.999), STEPS)));
    });
    seconds * 1e9 / (STEPS * SUMS * 8) as f64
}

#[inline(always)]
fn chains<S: Simd, const SUMS: usize>(simd: S, x: f32, steps: usize) -> f32 {
    let x = f32x8::splat(simd, x);
    let mut sums = [x; SUMS];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = sum.mul_add(x, x);
        }
    }
    sums.iter().map(|sum| sum.as_slice()[0]).sum()
}
