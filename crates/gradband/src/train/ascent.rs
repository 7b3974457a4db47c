//! Gradient ascent without noise: exact rewards allow steps that are checked, exact gradients steps of the
//! right length.
//!
//! 1/(c sqrt L) is made for noise, and neither reaches the optimum nor stops there. Instead:
//!
//! ```text
//! accept w' = project(w + alpha g) if r(w') >= r(w); else alpha /= 4
//! next alpha = |s|^2 / -(s . y), s = w' - w, y = g' - g       (Barzilai and Borwein, 1988: a secant step)
//!              2 alpha if the reward is not concave along s
//! stop when the step is shorter than 1e-7 of the parameters
//! ```
//! An iteration is one evaluation, accepted or not, so that L bounds the cost.

use super::{Average, Observer, Record, Settings, StopReason, Tail, Trained};
use crate::Result;
use crate::exact::{self, Exact};
use crate::optimizer::norm;
use crate::problem::{Problem, Split};
use crate::registry::Choice;
use std::ops::ControlFlow;

/// The first step moves the parameters by this part of their size.
const FIRST_STEP: f64 = 0.1;
/// Steps that are shorter than this part of the parameters' size are none.
const SHORTEST_STEP: f64 = 1e-7;

/// Trains with exact gradients and an automatic rate.
pub(super) fn ascend(
    problem: &Problem,
    initial: &Choice,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    let mut reason = None;
    let mut evaluate = |w: &[f64], observer: &mut dyn Observer| -> Result<Option<Exact>> {
        exact::evaluate(problem, &initial.with_params(problem, w)?, Split::Train, &mut |_, _| {
            reason = observer.stop();
            if reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let mut w = initial.params.clone();
    let mut tail = Tail::new(w.len(), settings.iterations);
    let mut history = Vec::new();
    let (mut learning_rate, mut converged) = (0.0, false);
    if let Some(mut now) = evaluate(&w, observer)? {
        let mut rate = FIRST_STEP * norm(&w).max(FIRST_STEP) / norm(&now.gradient).max(1e-12);
        learning_rate = rate;
        for iteration in 1..=settings.iterations {
            let mut trial: Vec<f64> = w.iter().zip(&now.gradient).map(|(w, g)| w + rate * g).collect();
            initial.project(problem, &mut trial);
            let step: Vec<f64> = trial.iter().zip(&w).map(|(to, from)| to - from).collect();
            if norm(&step) <= SHORTEST_STEP * norm(&w).max(1.0) {
                converged = true;
                break;
            }
            let Some(next) = evaluate(&trial, observer)? else { break };
            if next.bayes_reward >= now.bayes_reward {
                rate = secant(&step, &next.gradient, &now.gradient).unwrap_or(2.0 * rate);
                (w, now) = (trial, next);
            } else {
                rate /= 4.0;
            }
            tail.push(&w);
            history.push(Record { iteration, params: Some(w.clone()), gradient_norm: norm(&now.gradient) });
            if let Some(record) = history.last() {
                observer.iteration(record, &w);
            }
        }
    }
    let last = initial.with_params(problem, &w)?;
    let policy = match settings.average {
        Average::Tail => initial.with_params(problem, &tail.mean(&history, &w))?,
        Average::None => last.clone(),
    };
    let stop_reason = match reason {
        _ if converged => StopReason::Converged,
        Some(reason) if history.len() < settings.iterations => reason,
        _ => StopReason::Iterations,
    };
    Ok(Trained { policy, last, learning_rate, history, stop_reason })
}

/// The rate at which a quadratic with the same change of gradient would be at its top; none if it is not
/// concave.
fn secant(step: &[f64], after: &[f64], before: &[f64]) -> Option<f64> {
    let bend: f64 = step.iter().zip(after.iter().zip(before)).map(|(s, (a, b))| s * (a - b)).sum();
    (bend < 0.0).then(|| step.iter().map(|s| s * s).sum::<f64>() / -bend)
}
