//! Trainings for Python.

use crate::convert::Keywords;
use crate::error::Result;
use crate::jobs::{caller, json, told};
use crate::policy::{Policy, named};
use crate::problem::Problem;
use crate::run::{Caller, Front, run};
use gradband::StopReason;
use gradband_files::PolicyFile;
use gradband_jobs::policies::Wanted;
use gradband_jobs::train::{Document, Job, Learned, Outcome, Request};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A training that was done, with what its report needs.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Trained {
    job: Job,
    outcome: Outcome,
    document: Document,
    file: PolicyFile,
    remarks: Vec<String>,
    threads: Option<usize>,
}

/// Trains and measures. What was learned is not lost, whenever the caller has enough of it.
fn learn(request: &Request, problem: &Problem, front: &Front) -> gradband::Result<(Job, Outcome)> {
    let mut job = Job::new(request, problem.target.clone(), front)?;
    let learned: Learned = job.train(front)?;
    if learned.trained.stop_reason() == StopReason::Interrupted {
        front.answer();
    }
    let played = match job.play(&learned, front) {
        Err(error) if error.stopped().is_some() && front.answer() => {
            job.hurry = true;
            job.play(&learned, front)?
        }
        played => played?,
    };
    Ok((job, Outcome { learned, played }))
}

#[pyfunction]
#[pyo3(signature = (problem, policy, keywords, progress=None))]
fn train(
    py: Python,
    problem: &Bound<Problem>,
    policy: Option<&Bound<PyAny>>,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<Trained> {
    let (problem, keywords) = (problem.get(), Keywords(keywords));
    let policy = policy.map(|policy| named(policy, problem, "policy")).transpose()?;
    let request = Request {
        policy: Wanted { policy, params: keywords.params()? },
        train: keywords.train()?,
        seed: keywords.seed()?,
        report: true,
    };
    let caller = caller(&keywords, Some(problem), progress)?;
    let done = run(py, &caller, |front| {
        let (job, outcome) = learn(&request, problem, front)?;
        let file = job.policy_file(&outcome.learned.trained)?;
        Ok((job, outcome, file))
    })?;
    let remarks = told(&done);
    let (job, outcome, file) = done.value;
    let document = job.document(&outcome);
    Ok(Trained { document, job, outcome, file, remarks, threads: caller.threads })
}

#[pymethods]
impl Trained {
    /// The document as JSON.
    fn json(&self) -> Result<String> {
        json(&self.document)
    }

    /// What was learned.
    fn policy(&self) -> Result<Policy> {
        Ok(Policy::new(self.file.clone())?)
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// What a report shows, as JSON; with the regret of iterates, which takes a second or two.
    fn session(&self, py: Python, command: &str) -> Result<String> {
        let caller = Caller { threads: self.threads, progress: None, slot: None, crew: None };
        let done = run(py, &caller, |front| self.job.session(&self.document, &self.outcome, command, front))?;
        json(&done.value)
    }
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Trained>()?;
    module.add_function(wrap_pyfunction!(train, module)?)
}
