//! Long loops over several numbers of each lane, on a part of the lanes at a time.
//!
//! Where a vector of all lanes takes several registers, a loop that keeps a dozen numbers finds no room for them and goes through
//! memory; half of the lanes after the other does not. The bits are the same: a lane does not see the others.

use super::{Real, halves};

/// Some of the lanes of `R`.
pub trait Part<R>: Copy {
    /// Those lanes.
    type Lanes: Real;
    /// The part of a number.
    fn of(self, number: &R) -> Self::Lanes;
    /// Replaces it.
    fn set(self, number: &mut R, part: Self::Lanes);
}

/// All of them.
#[derive(Clone, Copy)]
struct Whole;

/// The first or the second half.
#[derive(Clone, Copy)]
struct Half(usize);

impl<R: Real> Part<R> for Whole {
    type Lanes = R;
    #[inline(always)]
    fn of(self, number: &R) -> R {
        *number
    }
    #[inline(always)]
    fn set(self, number: &mut R, part: R) {
        *number = part;
    }
}

impl<R: Real> Part<R> for Half {
    type Lanes = R::Half;
    #[inline(always)]
    fn of(self, number: &R) -> R::Half {
        number.half(self.0)
    }
    #[inline(always)]
    fn set(self, number: &mut R, part: R::Half) {
        number.set_half(self.0, part);
    }
}

/// Work on some of the lanes.
pub trait PartWork<R> {
    /// Does it.
    fn run<P: Part<R>>(&mut self, part: P);
}

/// Does the work for all lanes.
#[inline(always)]
pub fn by_parts<R: Real>(work: &mut impl PartWork<R>) {
    if R::REGISTERS == 1 {
        return work.run(Whole);
    }
    for half in 0..halves::<R>() {
        work.run(Half(half));
    }
}
