//! The choice of the instruction set, made here and nowhere else.
//!
//! Kernels are compiled for the vector instructions that machines of an architecture have, and once without; everything in them must be
//! `#[inline(always)]`, closures included, or it is compiled without.

use super::lanes::{Lane, One, Real};
use crate::error::Result;
use fearless_simd::Simd;

cfg_select! {
    any(target_arch = "x86_64", target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "simd128")) => {
        /// The vector instructions that are worth sixteen lanes: AVX2 with fused multiply-adds, NEON, simd128.
        #[cfg(target_arch = "x86_64")]
        pub(crate) type Machine = fearless_simd::x86::Avx2;
        #[cfg(target_arch = "aarch64")]
        pub(crate) type Machine = fearless_simd::aarch64::Neon;
        #[cfg(target_arch = "wasm32")]
        pub(crate) type Machine = fearless_simd::wasm32::WasmSimd128;

        /// Wide lanes.
        pub(crate) type Sixteen = fearless_simd::f32x16<Machine>;
        /// As many as a register has, or two.
        pub(crate) type Eight = fearless_simd::f32x8<Machine>;

        /// Proof that the machine has what the lanes need.
        #[inline(always)]
        pub(crate) fn proof(machine: Machine) -> Machine {
            machine
        }
    }
    // Other machines have one lane, and nothing else is compiled for them.
    _ => {
        pub(crate) type Machine = fearless_simd::Fallback;
        pub(crate) type Sixteen = One<f32>;
        pub(crate) type Eight = One<f32>;

        pub(crate) fn proof(_: Machine) {}
    }
}

/// Those that hold sixteen lanes in one register. For lanes alone: what the compiler makes vectors of itself has the sizes of AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) type Long = fearless_simd::x86::Avx512;

/// Where wide lanes run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wide {
    /// In one register.
    #[cfg(target_arch = "x86_64")]
    Long(Long),
    /// In two or four.
    Short(Machine),
}

impl Wide {
    /// Short registers, which every machine with long ones has.
    #[inline(always)]
    pub(crate) fn short(self) -> Machine {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Long(simd) => match simd.level().as_avx2() {
                Some(simd) => simd,
                None => unreachable!("AVX-512 comes with AVX2"),
            },
            Self::Short(simd) => simd,
        }
    }
}

/// The machine's, if it has them.
#[inline(always)]
fn machine() -> Option<Machine> {
    cfg_select! {
        target_arch = "x86_64" => fearless_simd::Level::new().as_avx2(),
        target_arch = "aarch64" => fearless_simd::Level::new().as_neon(),
        all(target_arch = "wasm32", target_feature = "simd128") => fearless_simd::Level::new().as_wasm_simd128(),
        _ => None,
    }
}

/// The widest of the machine, as tests may have it.
#[inline(always)]
pub(crate) fn wide() -> Option<Wide> {
    #[cfg(test)]
    match tests::pretended() {
        tests::Pretended::Nothing => return None,
        tests::Pretended::Short => return machine().map(Wide::Short),
        tests::Pretended::Everything => {}
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(long) = fearless_simd::Level::new().as_avx512() {
        return Some(Wide::Long(long));
    }
    machine().map(Wide::Short)
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
    /// Does it gain from long registers? Else it is not compiled for them.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // others have none
    const LONG: bool = false;

    /// Does it in lanes of type `R`.
    fn run<R: Lane>(self, token: R::Token) -> Result<()>;
}

/// Does the work in the lanes asked for. One lane of single precision is compiled once, for all machines: it is for tests and for machines
/// without vectors.
#[inline(always)]
pub(crate) fn in_lanes<W: LaneWork>(lanes: Lanes, work: W) -> Result<()> {
    match (lanes, wide()) {
        (Lanes::Auto, Some(wide)) => in_wide_lanes(wide, work),
        (Lanes::Auto | Lanes::Single, _) => work.run::<One<f32>>(()),
        // Even one lane gains from the instruction set: it has a fused multiply-add.
        (Lanes::Double, _) => vectorized(
            #[inline(always)]
            || work.run::<One<f64>>(()),
        ),
    }
}

/// Does the work in these lanes.
#[inline(always)]
pub(crate) fn in_wide_lanes<W: LaneWork>(wide: Wide, work: W) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if let (Wide::Long(simd), true) = (wide, W::LONG) {
        return simd.vectorize(
            #[inline(always)]
            || work.run::<fearless_simd::f32x16<_>>(simd),
        );
    }
    let simd = wide.short();
    simd.vectorize(
        #[inline(always)]
        || work.run::<Sixteen>(proof(simd)),
    )
}

/// Does the work with the machine's vector instructions. The bits are the same with and without: what is fused is fused
/// in both.
#[inline(always)]
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(test)]
    if tests::pretended() == tests::Pretended::Nothing {
        return work();
    }
    match machine() {
        Some(simd) => simd.vectorize(work),
        None => work(),
    }
}

/// The same with those of the lanes that the work is done in.
#[inline(always)]
pub(crate) fn vectorized_in<R: Real, T>(token: R::Token, work: impl FnOnce() -> T) -> T {
    if R::WIDTH == 1 { vectorized(work) } else { R::apart(token, work) }
}

/// Does this machine play sixteen runs at a time?
pub fn has_wide_lanes() -> bool {
    wide().is_some()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Wide, wide};
    use std::cell::Cell;

    /// The vector instructions that a test lets a thread have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Pretended {
        Everything,
        /// No long registers.
        Short,
        Nothing,
    }

    thread_local! {
        static PRETENDED: Cell<Pretended> = const { Cell::new(Pretended::Everything) };
    }

    pub(super) fn pretended() -> Pretended {
        PRETENDED.get()
    }

    /// Does the work, on this thread, as such a machine would.
    pub(crate) fn on_a_machine_with<T>(instructions: Pretended, work: impl FnOnce() -> T) -> T {
        PRETENDED.set(instructions);
        let result = work();
        PRETENDED.set(Pretended::Everything);
        result
    }

    /// Does the work on every machine that has less than this one.
    pub(crate) fn on_lesser_machines<T>(mut work: impl FnMut() -> T) -> [T; 2] {
        [Pretended::Short, Pretended::Nothing].map(|instructions| on_a_machine_with(instructions, &mut work))
    }

    /// The wide lanes that a test is about, the longest first. It fails where the machine has none: a test that passes without having run
    /// what it names is worth nothing. `GRADBAND_NO_WIDE_LANES=1` says that such tests may be left out.
    pub(crate) fn wide_lanes() -> Vec<Wide> {
        let excused = std::env::var_os("GRADBAND_NO_WIDE_LANES").is_some();
        let short = on_a_machine_with(Pretended::Short, wide);
        assert!(
            short.is_some() || excused,
            "this machine has no wide lanes to test; GRADBAND_NO_WIDE_LANES=1 leaves such tests out"
        );
        // Where there are no longer ones the same comes twice.
        wide().into_iter().chain(short).collect()
    }

    /// Does something with each of the wide lanes, compiled for it.
    macro_rules! in_wide_lanes {
        ($simd:ident => $check:expr) => {
            for wide in $crate::numeric::simd::tests::wide_lanes() {
                match wide {
                    #[cfg(target_arch = "x86_64")]
                    $crate::numeric::simd::Wide::Long($simd) => $simd.vectorize(|| $check),
                    $crate::numeric::simd::Wide::Short($simd) => $simd.vectorize(|| $check),
                }
            }
        };
    }
    pub(crate) use in_wide_lanes;
}
