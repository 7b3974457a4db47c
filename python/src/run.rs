//! Work on threads of our own, while the caller waits, looks for signals and hears of progress.

use crate::error::{Failure, Result};
use crate::pool;
use crate::sampled::Slot;
use gradband::{Crew, Iteration, Observer, Progress, StopReason};
use gradband_jobs::{Client, Remark, Work};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the caller looks up.
const STEP: Duration = Duration::from_millis(100);

/// What the work is asked to do.
const GO_ON: u8 = 0;
/// Ctrl-C: to stop, and keep what there is.
const INTERRUPTED: u8 = 1;
/// A callback failed: to stop.
const FAILED: u8 = 2;

/// How the caller wants it.
pub struct Caller<'a, 'py> {
    /// Threads, all cores if nobody says.
    pub threads: Option<usize>,
    /// Called with a dict now and then.
    pub progress: Option<&'a Bound<'py, PyAny>>,
    /// Where a sampler of the user's leaves its exception.
    pub slot: Option<Arc<Slot>>,
    /// Who simulates, if not this process.
    pub crew: Option<Arc<dyn Crew>>,
}

/// What came of it.
pub struct Done<T> {
    /// The answer.
    pub value: T,
    /// What was said on the way.
    pub remarks: Vec<Remark>,
}

/// The client of jobs: the one place where the work's observers are made.
#[derive(Clone, Default)]
pub struct Front(Arc<Shared>);

#[derive(Default)]
struct Shared {
    asked: AtomicU8,
    slot: Option<Arc<Slot>>,
    crew: Option<Arc<dyn Crew>>,
    latest: Mutex<Option<Latest>>,
    remarks: Mutex<Vec<Remark>>,
}

/// The last that was heard of the work.
#[derive(Clone)]
struct Latest {
    what: String,
    unit: &'static str,
    done: u64,
    total: u64,
    iteration: Option<Iteration>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Front {
    /// Work that was interrupted goes on with something short. Is that so, and is it not to stop for good?
    pub fn answer(&self) -> bool {
        let asked = &self.0.asked;
        asked.compare_exchange(INTERRUPTED, GO_ON, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn ask(&self, what: u8) {
        self.0.asked.fetch_max(what, Ordering::SeqCst);
    }
}

impl Client for Front {
    fn watch(&self, work: &Work) -> Box<dyn Observer> {
        let iterations = match work {
            Work::Training(plan, _) => Some(plan.iterations() as u64),
            Work::Choosing => Some(0),
            Work::Measuring => None,
        };
        Box::new(Watch { shared: self.0.clone(), iterations })
    }

    fn remark(&self, remark: &Remark) {
        locked(&self.0.remarks).push(remark.clone());
    }
}

struct Watch {
    shared: Arc<Shared>,
    /// Of a training, of which single simulations say little.
    iterations: Option<u64>,
}

impl Observer for Watch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        let Progress { what, unit, done, total, .. } = progress;
        if self.iterations.is_none() || ["folds", "policies"].contains(&unit) {
            let latest = Latest { what: what.into(), unit, done, total, iteration: None };
            *locked(&self.shared.latest) = Some(latest);
        }
        let failed = self.shared.slot.as_ref().is_some_and(|slot| slot.is_full());
        match self.shared.asked.load(Ordering::SeqCst) {
            GO_ON if !failed => ControlFlow::Continue(()),
            _ => ControlFlow::Break(StopReason::Interrupted),
        }
    }

    fn iteration(&mut self, record: &Iteration, _: &[f64]) {
        let Some(total) = self.iterations else { return };
        let (what, done) = ("training".to_string(), record.iteration as u64);
        let iteration = Some(record.clone());
        *locked(&self.shared.latest) = Some(Latest { what, unit: "iterations", done, total, iteration });
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.shared.crew.clone()
    }
}

/// Does the work on another thread. An exception of a callback or sampler comes back as itself; Ctrl-C as what there is,
/// or as `KeyboardInterrupt` if there is nothing.
pub fn run<T: Send>(
    py: Python,
    caller: &Caller,
    work: impl FnOnce(&Front) -> gradband::Result<T> + Send,
) -> Result<Done<T>> {
    let pool = pool::of(caller.threads)?;
    let front =
        Front(Arc::new(Shared { slot: caller.slot.clone(), crew: caller.crew.clone(), ..Shared::default() }));
    let mut raised = None;
    let answer = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let worker = front.clone();
        scope.spawn(move || {
            let done = pool.install(|| work(&worker));
            // Whoever asked is still there: nobody leaves the loop below before.
            let _ = sender.send(done);
        });
        loop {
            match py.detach(|| locked(&receiver).recv_timeout(STEP)) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => attend(py, caller, &front, &mut raised),
            }
        }
    });
    let Some(answer) = answer else {
        return Err(PyRuntimeError::new_err("gradband failed unexpectedly; please report it").into());
    };
    finish(py, caller, &front, raised, answer)
}

/// Looks for signals, and tells of progress.
fn attend(py: Python, caller: &Caller, front: &Front, raised: &mut Option<PyErr>) {
    let told = py.check_signals().and_then(|()| {
        let Some(progress) = caller.progress else { return Ok(()) };
        let latest = locked(&front.0.latest).take();
        latest.map_or(Ok(()), |latest| progress.call1((latest.to_dict(py)?,)).map(|_| ()))
    });
    let Err(error) = told else { return };
    // Ctrl-C may find the callback at work.
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        raised.get_or_insert(error);
        front.ask(INTERRUPTED);
    } else {
        *raised = Some(error);
        front.ask(FAILED);
    }
}

fn finish<T>(
    py: Python,
    caller: &Caller,
    front: &Front,
    raised: Option<PyErr>,
    answer: gradband::Result<T>,
) -> Result<Done<T>> {
    if let Some(error) = caller.slot.as_ref().and_then(|slot| slot.take()) {
        return Err(error.into());
    }
    let interrupted = raised.as_ref().is_some_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py));
    match (answer, raised) {
        (_, Some(error)) if !interrupted => Err(error.into()),
        (Err(error), Some(raised)) if error.stopped().is_some() => Err(raised.into()),
        (Err(error), _) => Err(Failure::from(error)),
        (Ok(value), _) => {
            let remarks = std::mem::take(&mut *locked(&front.0.remarks));
            Ok(Done { value, remarks })
        }
    }
}

impl Latest {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("what", &self.what)?;
        dict.set_item("unit", self.unit)?;
        dict.set_item("done", self.done)?;
        dict.set_item("total", self.total)?;
        if let Some(record) = &self.iteration {
            dict.set_item("gradient_norm", record.gradient_norm)?;
            dict.set_item("params", record.params.clone())?;
        }
        Ok(dict)
    }
}
