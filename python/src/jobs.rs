//! Everything that is computed but trainings: keywords in, JSON documents out.

use crate::convert::Keywords;
use crate::crew::Hired;
use crate::error::Result;
use crate::policy::named;
use crate::problem::Problem;
use crate::run::{Caller, Done, run};
use gradband::problem::Split;
use gradband::{Crew, Error, Estimate};
use gradband_jobs::policies::Wanted;
use gradband_jobs::{compare, evaluate, exact, gittins, gradient};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use std::sync::Arc;

/// A document as JSON.
pub fn json(document: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(document).map_err(|error| Error::new("", error.to_string()))?)
}

/// What Python gets of something that was done: the JSON, and remarks.
pub fn told<T>(done: &Done<T>) -> Vec<String> {
    done.remarks.iter().map(ToString::to_string).collect()
}

/// How the caller wants it, from the keywords.
pub fn caller<'a, 'py>(
    keywords: &Keywords,
    problem: Option<&Problem>,
    progress: Option<&'a Bound<'py, PyAny>>,
) -> Result<Caller<'a, 'py>> {
    let slot = problem.and_then(|problem| problem.slot.clone());
    let crew = keywords.get("workers")?.map(|workers| Hired::new(&workers)).transpose()?;
    let crew = crew.map(|crew| Arc::new(crew) as Arc<dyn Crew>);
    Ok(Caller { threads: keywords.count("threads")?, progress, slot, crew })
}

fn wanted(keywords: &Keywords, policy: Option<&Bound<PyAny>>, problem: &Problem) -> Result<Wanted> {
    let policy = policy.map(|policy| named(policy, problem, "policy")).transpose()?;
    Ok(Wanted { policy, params: keywords.params()? })
}

/// A document, the number of independent observations, and remarks.
type Measured = (String, usize, Vec<String>);

#[pyfunction(name = "evaluate")]
#[pyo3(signature = (problem, policy, keywords, progress=None))]
fn evaluate_(
    py: Python,
    problem: &Bound<Problem>,
    policy: Option<&Bound<PyAny>>,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<Measured> {
    let (problem, keywords) = (problem.get(), Keywords(keywords));
    let request = evaluate::Request {
        policy: wanted(&keywords, policy, problem)?,
        instances: keywords.count("instances")?,
        seed: keywords.seed()?,
    };
    let caller = caller(&keywords, Some(problem), progress)?;
    let done = run(py, &caller, |front| evaluate::run(&request, &problem.target, front))?;
    Ok((json(&done.value.0)?, done.value.2, told(&done)))
}

#[pyfunction(name = "exact")]
#[pyo3(signature = (problem, policy, keywords, progress=None))]
fn exact_(
    py: Python,
    problem: &Bound<Problem>,
    policy: Option<&Bound<PyAny>>,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<(String, Vec<String>)> {
    let (problem, keywords) = (problem.get(), Keywords(keywords));
    let wanted = wanted(&keywords, policy, problem)?;
    let caller = caller(&keywords, Some(problem), progress)?;
    let done = run(py, &caller, |front| exact::run(&wanted, &problem.target, front))?;
    Ok((json(&done.value.0)?, told(&done)))
}

#[pyfunction(name = "gradient")]
#[pyo3(signature = (problem, policy, keywords, progress=None))]
fn gradient_(
    py: Python,
    problem: &Bound<Problem>,
    policy: Option<&Bound<PyAny>>,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<Measured> {
    let (problem, keywords) = (problem.get(), Keywords(keywords));
    let request = gradient::Request {
        policy: wanted(&keywords, policy, problem)?,
        estimator: keywords.train()?,
        seed: keywords.seed()?,
    };
    let caller = caller(&keywords, Some(problem), progress)?;
    let done = run(py, &caller, |front| gradient::run(&request, &problem.target, front))?;
    // Simulations of one past problem are not independent.
    let observations = problem.target.problem.clusters(Split::Train).unwrap_or(done.value.0.instances);
    Ok((json(&done.value.0)?, observations, told(&done)))
}

/// What `compare` leaves: the document, the session of its report, names as asked for with all paired differences, remarks.
type Compared = (String, String, String, Vec<String>);

#[pyfunction(name = "compare")]
#[pyo3(signature = (problem, policies, tuned, keywords, progress=None))]
fn compare_(
    py: Python,
    problem: &Bound<Problem>,
    policies: Option<Vec<Bound<PyAny>>>,
    tuned: Vec<Bound<PyAny>>,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<Compared> {
    let (problem, keywords) = (problem.get(), Keywords(keywords));
    let all = |policies: Vec<Bound<PyAny>>| {
        policies.iter().map(|policy| named(policy, problem, "policies")).collect::<Result<Vec<_>>>()
    };
    let request = compare::Request {
        policies: policies.map(all).transpose()?,
        tuned: all(tuned)?,
        instances: keywords.count("instances")?,
        seed: keywords.seed()?,
        report: true,
    };
    let caller = caller(&keywords, Some(problem), progress)?;
    let done = run(py, &caller, |front| {
        let job = compare::Job::new(&request, problem.target.clone(), front)?;
        let outcome = job.run(front)?;
        let session = job.session(&outcome, "gradband.compare")?;
        Ok((outcome, session))
    })?;
    let (outcome, session) = &done.value;
    let count = outcome.names.len();
    let differences: Vec<Vec<Estimate>> =
        (0..count).map(|i| (0..count).map(|j| outcome.measured.difference(i, j)).collect()).collect();
    let pairs = json(&(&outcome.names, differences))?;
    Ok((json(&outcome.document)?, json(session)?, pairs, told(&done)))
}

/// The indices of a Beta(1, 1) arm, by successes and failures, row by row; NaN where no round is left.
#[pyfunction(name = "gittins")]
#[pyo3(signature = (keywords, progress=None))]
fn gittins_(
    py: Python,
    keywords: &Bound<PyDict>,
    progress: Option<&Bound<PyAny>>,
) -> Result<(usize, Vec<f32>)> {
    let keywords = Keywords(keywords);
    let horizon = gittins::check_horizon(keywords.count("horizon")?.unwrap_or_default())?;
    let caller = caller(&keywords, None, progress)?;
    let done = run(py, &caller, |front| gittins::run(horizon, front))?;
    let table = done.value.1;
    let n = horizon as u32;
    let index = |s: u32, f: u32| if s + f < n { table.index(s, f, n - s - f) } else { f32::NAN };
    Ok((horizon, (0..n).flat_map(|s| (0..n).map(move |f| (s, f))).map(|(s, f)| index(s, f)).collect()))
}

/// The 95 % interval of the mean of so many independent observations.
#[pyfunction]
fn interval(mean: f64, std_error: f64, observations: usize) -> (f64, f64) {
    let interval = Estimate { mean, std_error }.interval(observations);
    (interval.low, interval.high)
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(evaluate_, module)?)?;
    module.add_function(wrap_pyfunction!(exact_, module)?)?;
    module.add_function(wrap_pyfunction!(gradient_, module)?)?;
    module.add_function(wrap_pyfunction!(compare_, module)?)?;
    module.add_function(wrap_pyfunction!(gittins_, module)?)?;
    module.add_function(wrap_pyfunction!(interval, module)?)
}
