//! The choice of the instruction set, made here and nowhere else.
//!
//! Kernels are compiled once with the machine's vector instructions and once without; everything in them must be
//! `#[inline(always)]`, closures included, or it is compiled without.

use super::lanes::{Lane, One};
use crate::error::Result;
use fearless_simd::{Simd, f32x16};

/// The vector instructions that are worth sixteen lanes: AVX2 with fused multiply-adds, NEON, simd128.
#[cfg(target_arch = "x86_64")]
pub(crate) type Machine = fearless_simd::x86::Avx2;
#[cfg(target_arch = "aarch64")]
pub(crate) type Machine = fearless_simd::aarch64::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) type Machine = fearless_simd::wasm32::WasmSimd128;
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
pub(crate) type Machine = fearless_simd::Fallback;

/// The machine's, if it has them.
#[inline(always)]
fn machine() -> Option<Machine> {
    #[cfg(target_arch = "x86_64")]
    return fearless_simd::Level::new().as_avx2();
    #[cfg(target_arch = "aarch64")]
    return fearless_simd::Level::new().as_neon();
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return fearless_simd::Level::new().as_wasm_simd128();
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )))]
    None
}

/// The same, as tests may have it.
#[inline(always)]
pub(crate) fn wide() -> Option<Machine> {
    #[cfg(test)]
    if tests::without_vectors() {
        return None;
    }
    machine()
}

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
    let Some(simd) = wide() else {
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
    match wide() {
        Some(simd) => simd.vectorize(work),
        None => work(),
    }
}

/// Does this machine play sixteen runs at a time?
pub fn has_wide_lanes() -> bool {
    wide().is_some()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Machine, machine};
    use std::cell::Cell;

    thread_local! {
        static WITHOUT: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn without_vectors() -> bool {
        WITHOUT.get()
    }

    /// Does the work, on this thread, as a machine without vector instructions would.
    pub(crate) fn on_a_plain_machine<T>(work: impl FnOnce() -> T) -> T {
        WITHOUT.set(true);
        let result = work();
        WITHOUT.set(false);
        result
    }

    /// The wide lanes that a test is about. It fails where the machine has none: a test that passes without having run
    /// what it names is worth nothing. `GRADBAND_NO_WIDE_LANES=1` says that such tests may be left out.
    pub(crate) fn wide_lanes() -> Option<Machine> {
        let found = machine();
        let excused = std::env::var_os("GRADBAND_NO_WIDE_LANES").is_some();
        assert!(
            found.is_some() || excused,
            "this machine has no wide lanes to test; GRADBAND_NO_WIDE_LANES=1 leaves such tests out"
        );
        found
    }
}
