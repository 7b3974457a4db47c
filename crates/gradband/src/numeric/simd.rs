//! The choice of the instruction set, made here and nowhere else.
//!
//! Kernels are compiled once with the machine's vector instructions and once without; everything in them must be
//! `#[inline(always)]`, closures included, or it is compiled without.

use super::lanes::{Lane, One};
use crate::error::Result;
use fearless_simd::{Level, Simd, f32x16};

/// Which lanes to use. The bits of a run do not depend on the width, only on the precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The widest the machine has, in single precision where that is safe.
    Auto,
    /// One lane of single precision: the oracle.
    Single,
    /// One lane of double precision.
    Double,
}

/// Work that is written for any lanes.
pub(crate) trait LaneWork {
    /// Does it in lanes of type `R`.
    fn run<R: Lane>(self, token: R::Token) -> Result<()>;
}

/// Does the work in the lanes asked for.
#[inline(always)]
pub(crate) fn in_lanes<W: LaneWork>(lanes: Lanes, work: W) -> Result<()> {
    let Some(simd) = Level::new().as_avx2() else {
        return match lanes {
            Lanes::Auto | Lanes::Single => work.run::<One<f32>>(()),
            Lanes::Double => work.run::<One<f64>>(()),
        };
    };
    // A single lane gains from the instruction set too: it has a fused multiply-add.
    simd.vectorize(
        #[inline(always)]
        || match lanes {
            Lanes::Auto => work.run::<f32x16<_>>(simd),
            Lanes::Single => work.run::<One<f32>>(()),
            Lanes::Double => work.run::<One<f64>>(()),
        },
    )
}

/// Does the work with the machine's vector instructions. The bits are the same with and without: what is fused is fused
/// in both.
#[inline(always)]
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    match Level::new().as_avx2() {
        Some(simd) => simd.vectorize(work),
        None => work(),
    }
}

/// Does this machine play sixteen runs at a time?
pub fn has_wide_lanes() -> bool {
    Level::new().as_avx2().is_some()
}
