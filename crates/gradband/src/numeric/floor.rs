//! The least that a round of a multi-armed policy takes: two random numbers, one for the action and one for the reward,
//! and exponentials. Benchmarks compare kernels with it.

use super::lanes::Lane;
use super::simd::{LaneWork, Lanes, in_lanes};
use super::stream::{Key, Stream};
use crate::error::Result;

struct Floor<'a> {
    exponentials: usize,
    rounds: usize,
    sum: &'a mut f64,
}

impl LaneWork for Floor<'_> {
    const LONG: bool = true;

    #[inline(always)]
    fn run<R: Lane>(self, token: R::Token) -> Result<()> {
        let mut stream = Stream::<R>::new(token, Key::new(1), 0);
        let mut sum = R::splat(token, 0.0);
        for _ in 0..self.rounds {
            let (action, reward) = (stream.uniform(), stream.uniform());
            sum = sum + reward;
            for k in 0..self.exponentials {
                sum = sum + (action * -(1.0 + k as f32)).exp();
            }
        }
        *self.sum = sum.lane(0);
        Ok(())
    }
}

/// Does the work of so many rounds in the widest lanes: a run in each. The number that comes out is of no use.
pub fn floor(exponentials: usize, rounds: usize) -> f64 {
    let mut sum = 0.0;
    // Nothing in it can fail.
    let _ = in_lanes(Lanes::Auto, Floor { exponentials, rounds, sum: &mut sum });
    sum
}
