//! Problems that the user's own code draws: a function of Python as a prior.

use gradband::{Bandit, Random};
use pyo3::prelude::*;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the first exception of a sampler waits for whoever runs it.
#[derive(Default)]
pub struct Slot(Mutex<Option<PyErr>>);

impl Slot {
    /// Is there one?
    pub fn is_full(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes it out.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Draws means by a function `draw(seed) -> list`, which belongs to `gradband/problem.py` and checks what the user's returns.
pub struct Sampler {
    draw: Py<PyAny>,
    arms: usize,
    /// The exception, if there was one.
    pub slot: Arc<Slot>,
}

impl Sampler {
    pub fn new(draw: Py<PyAny>, arms: usize) -> Self {
        Self { draw, arms, slot: Arc::default() }
    }

    fn means(&self, seed: u64) -> PyResult<Vec<f64>> {
        Python::attach(|py| self.draw.call1(py, (seed,))?.extract(py))
    }
}

impl Debug for Sampler {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "a sampler of {} arms", self.arms)
    }
}

/// A seed of 64 bits.
fn seed(random: &mut Random) -> u64 {
    let half = |random: &mut Random| (random.uniform() * 4_294_967_296.0) as u64;
    half(random) << 32 | half(random)
}

impl Bandit for Sampler {
    fn arms(&self) -> usize {
        self.arms
    }

    /// A function of the instance's key alone, whichever thread asks.
    fn instance(&self, random: &mut Random, means: &mut [f64]) {
        means.fill(0.5);
        // After an exception the work is about to stop; it must not call the user's code again.
        if self.slot.is_full() {
            return;
        }
        match self.means(seed(random)) {
            Ok(drawn) => means.copy_from_slice(&drawn),
            Err(error) => self.slot.put(error),
        }
    }
}
