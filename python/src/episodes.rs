//! Instances of a problem for `gradband.envs`: what every policy meets there, for whoever plays.

use crate::error::Result;
use crate::problem::Problem;
use gradband::Error;
use gradband::measure::evaluation_key;
use gradband::problem::Split;
use gradband::simulate::{Episode, Key};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The purpose of instances that others train on: none of the library's own.
const ENVIRONMENT: u64 = 1 << 40;

/// Instances that are played side by side.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Episodes {
    problem: gradband::Problem,
    key: Key,
    split: Split,
}

/// Instances that are being played.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Batch {
    problem: gradband::Problem,
    episodes: Vec<Episode>,
}

#[pymethods]
impl Episodes {
    /// Of the training part, or those that an evaluation with this seed plays.
    #[new]
    fn new(problem: &Bound<Problem>, seed: u64, evaluated: bool) -> Result<Self> {
        let problem = problem.get().target.problem.clone();
        if !problem.world().is_plain() {
            let message = format!(
                "is played here only where rewards are known at once, there is no floor, and the end is known; this one has \
                 {}",
                problem.world()
            );
            return Err(Error::new("problem", message).into());
        }
        let (key, split) = match evaluated {
            true => (evaluation_key(seed), Split::HeldOut),
            false => (Key::new(seed).child(ENVIRONMENT), Split::Train),
        };
        Ok(Self { problem, key, split })
    }

    /// Instances `first` to `first + count`.
    fn draw(&self, first: u64, count: u64) -> Result<Batch> {
        let draw = |index| Episode::new(&self.problem, self.key, self.split, index);
        let episodes = (first..first + count).map(draw).collect::<gradband::Result<_>>()?;
        Ok(Batch { problem: self.problem.clone(), episodes })
    }
}

fn bytes<'py>(py: Python<'py>, numbers: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.flat_map(f64::to_ne_bytes).collect();
    PyBytes::new(py, &bytes)
}

#[pymethods]
impl Batch {
    /// The features of a round, instance after instance.
    fn contexts<'py>(&self, py: Python<'py>, round: usize) -> Bound<'py, PyBytes> {
        bytes(py, self.episodes.iter().flat_map(|episode| episode.context(round)))
    }

    /// Rewards and gaps of the arms that are pulled, one of each instance.
    fn pull<'py>(
        &self,
        py: Python<'py>,
        round: usize,
        arms: Vec<usize>,
    ) -> Result<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let most = self.problem.arms();
        if arms.len() != self.episodes.len() || arms.iter().any(|&arm| arm >= most) {
            let message = format!("expected {} numbers from 0 to {}", self.episodes.len(), most - 1);
            return Err(Error::new("actions", message).into());
        }
        let each = || self.episodes.iter().zip(&arms);
        let rewards = each().map(|(episode, &arm)| episode.reward(&self.problem, round, arm));
        let gaps = each().map(|(episode, &arm)| episode.gap(round, arm));
        Ok((bytes(py, rewards), bytes(py, gaps)))
    }
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Episodes>()?;
    module.add_class::<Batch>()
}
