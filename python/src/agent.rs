//! The native half of `gb.Agent`. What takes a microsecond is here in full; `gradband/agent.py` has the rest.

mod decision;
mod read;

use crate::error::Result;
use crate::jobs::json;
use crate::policy::Policy;
use crate::rule;
use decision::PyDecision;
use gradband::agent::{After, Status};
use gradband::{Agent, ErrorKind, Place, Playable};
use gradband_files::PolicyFile;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use read::Maybe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often this process was forked off another one: an agent that knows of fewer draws another key.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// In the child, after a fork.
#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

struct Held {
    agent: Agent,
    forks: u64,
}

/// An agent that threads may share.
#[pyclass(frozen, subclass, name = "Agent", module = "gradband._lib")]
pub struct PyAgent(Mutex<Held>);

impl PyAgent {
    fn of(agent: Agent) -> Self {
        Self(Mutex::new(Held { agent, forks: FORKS.load(Ordering::Relaxed) }))
    }

    /// The agent, once no other thread has it. A thread that waits does not keep others from running.
    #[inline]
    fn lock(&self, py: Python) -> MutexGuard<'_, Held> {
        let mut held = match self.0.try_lock() {
            Ok(held) => held,
            Err(_) => self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner),
        };
        let forks = FORKS.load(Ordering::Relaxed);
        if held.forks != forks {
            held.agent.renew();
            held.forks = forks;
        }
        held
    }
}

fn word<'py>(py: Python<'py>, status: Status) -> &'py Bound<'py, PyString> {
    match status {
        Status::Applied => pyo3::intern!(py, "applied"),
        Status::Duplicate => pyo3::intern!(py, "duplicate"),
        Status::Late => pyo3::intern!(py, "late"),
    }
}

/// Time goes on, if it is told.
fn advance(agent: &mut Agent, at: Maybe) -> Result<()> {
    Ok(at.map_or(Ok(()), |at| agent.advance(read::number("at", at)?))?)
}

/// A policy, or a whole agent that was saved: its text, or its file.
#[derive(FromPyObject)]
enum Source<'py> {
    Policy(Bound<'py, Policy>),
    Saved(String, bool),
}

fn playable(policy: &Bound<Policy>) -> gradband::Result<Playable> {
    let PolicyFile { policy, problem, .. } = &policy.get().file;
    Playable::from_records(policy.clone(), problem.clone(), &rule::catalogue())
}

#[pymethods]
impl PyAgent {
    #[new]
    #[pyo3(signature = (source, arms, floor, seed, window, after, limit))]
    fn new(
        source: Source,
        arms: Maybe,
        floor: Option<f64>,
        seed: Option<u64>,
        window: Option<(f64, f64)>,
        after: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Self> {
        let policy = match &source {
            Source::Policy(policy) => playable(policy)?,
            Source::Saved(text, false) => return Ok(Self::of(Agent::load_from(text, &rule::catalogue())?)),
            Source::Saved(path, true) => {
                return Ok(Self::of(gradband_files::load_agent_from(path, &rule::catalogue())?));
            }
        };
        let arms = match arms {
            Some(arms) => read::texts("arms", arms)?,
            None => policy.arm_names(),
        };
        let agent = Agent::new(policy, arms)?;
        let agent = floor.into_iter().fold(agent, Agent::floor);
        let agent = seed.into_iter().fold(agent, Agent::seed);
        let agent = window.into_iter().fold(agent, |agent, (wait, reward)| agent.window(wait, reward));
        let agent = after.map(mode).transpose()?.into_iter().fold(agent, Agent::after);
        let agent = limit.into_iter().fold(agent, Agent::limit);
        Ok(Self::of(agent))
    }

    /// Decides. Everything may be left out: the context, the names of the arms that may be pulled, an id for the decision, whom it
    /// is for, and the time.
    #[pyo3(signature = (context=None, arms=None, id=None, unit=None, at=None))]
    fn pull(
        &self,
        py: Python,
        context: Maybe,
        arms: Maybe,
        id: Maybe,
        unit: Maybe,
        at: Maybe,
    ) -> Result<PyDecision> {
        let pull = read::pull(context, arms, id, unit, at)?;
        Ok(self.lock(py).agent.pull(pull)?.into())
    }

    /// Reports the reward of a decision: "applied", "duplicate" or "late".
    #[pyo3(signature = (id, reward, at=None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        reward: &Bound<'py, PyAny>,
        at: Maybe,
    ) -> Result<&'py Bound<'py, PyString>> {
        let (id, reward) = (read::text("id", id)?, read::number("reward", reward)?);
        let agent = &mut self.lock(py).agent;
        advance(agent, at)?;
        Ok(word(py, agent.update(id, reward)?))
    }

    /// A decision that was never shown: as if it had not been made.
    fn withdraw<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> Result<&'py Bound<'py, PyString>> {
        Ok(word(py, self.lock(py).agent.withdraw(read::text("id", id)?)?))
    }

    /// Time goes on: windows that have closed are credited.
    fn advance(&self, py: Python, at: &Bound<PyAny>) -> Result<()> {
        advance(&mut self.lock(py).agent, Some(at))
    }

    /// The probability of every arm that may be pulled, by name.
    #[pyo3(signature = (context=None, arms=None))]
    fn probabilities<'py>(&self, py: Python<'py>, context: Maybe, arms: Maybe) -> Result<Bound<'py, PyDict>> {
        let pull = read::pull(context, arms, None, None, None)?;
        let probabilities = self.lock(py).agent.probabilities(&pull)?;
        let dict = PyDict::new(py);
        probabilities.iter().try_for_each(|(arm, p)| dict.set_item(&**arm, p))?;
        Ok(dict)
    }

    /// Another arm, or one that was retired: it comes back with its statistics.
    fn add(&self, py: Python, arm: &Bound<PyAny>) -> Result<()> {
        Ok(self.lock(py).agent.add(read::text("arm", arm)?)?)
    }

    /// An arm that is no longer pulled. Its statistics stay, and late rewards still find it.
    fn retire(&self, py: Python, arm: &Bound<PyAny>) -> Result<()> {
        Ok(self.lock(py).agent.retire(read::text("arm", arm)?)?)
    }

    fn _pull_many(&self, py: Python, pulls: Vec<Bound<PyTuple>>) -> Result<Vec<PyDecision>> {
        let pulls = read::each("pulls", &pulls, read::pull_of)?;
        let agent = &mut self.lock(py).agent;
        let (mut made, mut new) = (Vec::with_capacity(pulls.len()), Vec::new());
        for (i, pull) in pulls.into_iter().enumerate() {
            let before = agent.decisions();
            match agent.pull(pull) {
                Ok(decision) => {
                    new.extend((agent.decisions() > before).then(|| decision.id.clone()));
                    made.push(decision.into());
                }
                Err(error) => {
                    // All or none.
                    new.iter().try_for_each(|id| agent.withdraw(id).map(drop))?;
                    return Err(error.within(Place::key("pulls").index(i)).into());
                }
            }
        }
        Ok(made)
    }

    fn _update_many<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<Bound<'py, PyAny>>,
        rewards: Vec<Bound<'py, PyAny>>,
        at: Maybe,
    ) -> Result<Bound<'py, PyList>> {
        let names = read::each("ids", &ids, |id| read::text("", id).map(String::from))?;
        let rewards = read::each("rewards", &rewards, |reward| read::number("", reward))?;
        let pairs = names.iter().map(String::as_str).zip(rewards);
        let agent = &mut self.lock(py).agent;
        advance(agent, at)?;
        let words = PyList::empty(py);
        for (i, result) in agent.update_many(pairs).into_iter().enumerate() {
            let word = match result {
                Ok(status) => word(py, status),
                Err(error) => match error.kind() {
                    ErrorKind::UnknownDecision { .. } => pyo3::intern!(py, "unknown"),
                    ErrorKind::Conflict { .. } => pyo3::intern!(py, "conflict"),
                    _ => return Err(error.at(Place::key("rewards").index(i)).into()),
                },
            };
            words.append(word)?;
        }
        Ok(words)
    }

    fn _learn(&self, py: Python, rows: Vec<Bound<PyTuple>>) -> Result<usize> {
        let rows = read::each("rows", &rows, read::row_of)?;
        Ok(self.lock(py).agent.learn(&rows)?)
    }

    fn _replace(&self, py: Python, policy: &Bound<Policy>) -> Result<()> {
        let policy = playable(policy)?;
        Ok(self.lock(py).agent.replace(policy)?)
    }

    /// Writes the agent: policy, statistics and pending decisions. An older file is replaced once the new one is complete.
    fn save(&self, py: Python, path: PathBuf) -> Result<()> {
        Ok(gradband_files::save_agent(path, &self.lock(py).agent)?)
    }

    fn _text(&self, py: Python) -> Result<String> {
        Ok(self.lock(py).agent.save()?)
    }

    fn _notes(&self, py: Python) -> Vec<String> {
        self.lock(py).agent.notes()
    }

    fn _stats(&self, py: Python) -> Result<String> {
        json(&self.lock(py).agent.stats())
    }

    fn _log(&self, py: Python) -> Result<String> {
        json(&self.lock(py).agent.log().collect::<Vec<_>>())
    }
}

fn mode(name: &str) -> Result<After> {
    let known = [
        ("continue", After::Continue),
        ("commit", After::Commit),
        ("restart", After::Restart),
        ("stop", After::Stop),
    ];
    let found = known.iter().find(|(known, _)| *known == name).map(|&(_, mode)| mode);
    found.ok_or_else(|| gradband::Error::unknown("after", name, known.map(|(name, _)| name)).into())
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<PyAgent>()?;
    module.add_class::<PyDecision>()?;
    module.add_function(wrap_pyfunction!(forked, module)?)
}
