//! `gb.Rule`: a policy of the user's own, asked for many runs at once. Arrays go to `gradband/rule.py` and back as bytes.

use crate::error::Result;
use gradband::policy::{POLICIES, PolicyKind};
use gradband::{Catalogue, Error, JointRule, JointSeen, Param, Policy};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// The rules that this process has made: files name them as they name any policy.
static RULES: Mutex<Vec<PolicyKind>> = Mutex::new(Vec::new());

/// All policies that are known here.
pub fn catalogue() -> Catalogue {
    let rules = RULES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    rules.into_iter().fold(Catalogue::default(), Catalogue::with)
}

struct Own {
    name: String,
    params: Vec<Param>,
    each_arm_once: bool,
    logits: Py<PyAny>,
    gradient: Option<Py<PyAny>>,
}

impl Own {
    /// Asks a function for as many numbers as there is room for.
    fn ask(&self, function: &Py<PyAny>, params: &[f64], seen: &JointSeen, out: &mut [f64]) -> PyResult<()> {
        Python::attach(|py| {
            let [pulls, sums, means] = [seen.pulls, seen.sums, seen.means].map(|column| bytes(py, column));
            let shape = (seen.round, seen.horizon, seen.arms);
            let answer = function.bind(py).call1((params.to_vec(), shape, pulls?, sums?, means?))?;
            let answer = answer.cast_into::<PyBytes>()?;
            for (x, bytes) in out.iter_mut().zip(answer.as_bytes().as_chunks::<8>().0) {
                *x = f64::from_ne_bytes(*bytes);
            }
            Ok(())
        })
    }
}

fn bytes<'py>(py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * numbers.len(), |bytes| {
        for (out, x) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *out = x.to_ne_bytes();
        }
        Ok(())
    })
}

/// What the user's function raised comes back as itself.
fn raised(error: PyErr) -> Error {
    Error::outside("policy", error)
}

impl JointRule for Own {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn params(&self) -> Vec<Param> {
        self.params.clone()
    }

    fn logits(&self, params: &[f64], seen: &JointSeen, logits: &mut [f64]) -> gradband::Result<()> {
        self.ask(&self.logits, params, seen, logits).map_err(raised)
    }

    fn slopes(&self, params: &[f64], seen: &JointSeen, slopes: &mut [f64]) -> gradband::Result<bool> {
        let Some(gradient) = &self.gradient else { return Ok(false) };
        self.ask(gradient, params, seen, slopes).map_err(raised).map(|()| true)
    }

    fn each_arm_once(&self) -> bool {
        self.each_arm_once
    }
}

/// A rule. `gradband.Rule` has one.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Rule {
    /// The rule at the parameters that it starts from.
    pub policy: Policy,
}

#[pymethods]
impl Rule {
    #[new]
    fn new(
        name: String,
        params: Vec<(String, f64, f64, f64)>,
        each_arm_once: bool,
        logits: Py<PyAny>,
        gradient: Option<Py<PyAny>>,
    ) -> Result<Self> {
        if POLICIES.iter().any(|kind| kind.name() == name) {
            return Err(
                Error::new("name", format!("'{name}' is a policy of gradband; choose another")).into()
            );
        }
        let params = params.into_iter().map(|(name, initial, low, high)| param(name, initial, low, high));
        let rule = Own { name, params: params.collect(), each_arm_once, logits, gradient };
        let policy = Policy::own_joint(rule);
        let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
        let old = rules.extract_if(.., |kind| kind.name() == policy.name()).collect::<Vec<_>>();
        rules.push(policy.kind().clone());
        // What an older rule of that name held is let go when nobody else waits.
        drop(rules);
        drop(old);
        Ok(Self { policy })
    }
}

/// A parameter between two numbers; training moves it by its logarithm if both are positive.
fn param(name: String, initial: f64, low: f64, high: f64) -> Param {
    // A name lives as long as the process: there are few of them.
    let name: &'static str = name.leak();
    let param = if low > 0.0 { Param::positive(name, initial) } else { Param::real(name, initial) };
    param.domain(low, high).feasible(low, high)
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Rule>()
}
