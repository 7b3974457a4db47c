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

use super::ascent::{Ascent, Average, Tail};
use super::kept::{Found, kept};
use super::optimizer::norm;
use super::trained::Trained;
use crate::error::Result;
use crate::exact::Exact;
use crate::measure::exact;
use crate::observe::{Iteration, Observer, unless_stopped};
use crate::policy::Choice;
use crate::problem::{Problem, Split};
use crate::stop::StopReason;

/// The first step moves the parameters by this part of their size.
const FIRST_STEP: f64 = 0.1;
/// Steps that are shorter than this part of the parameters' size are none.
const SHORTEST_STEP: f64 = 1e-7;

kept!(Exact { bayes_reward, bayes_regret, gradient, states });

/// Trains with exact gradients and an automatic rate.
pub(super) fn train(
    problem: &Problem,
    initial: &Choice,
    ascent: &Ascent,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    initial.scored_player(problem, observer)?;
    let mut w = initial.params().to_vec();
    let mut tail = Tail::new(w.len(), ascent.iterations);
    let mut history: Vec<Iteration> = Vec::new();
    let (mut reason, mut learning_rate) = (None, None);
    let whole = |value: &Exact| value.gradient.len() == initial.params().len();
    let mut found = Found::fitting("climb", whole, observer);
    let mut evaluate = |w: &[f64], observer: &mut dyn Observer| -> Result<Option<Exact>> {
        let value = |observer: &mut dyn Observer| {
            exact(problem, &initial.with_params(problem, w)?, Split::Train, observer)
        };
        Ok(unless_stopped(found.next(observer, value))?.map_err(|why| reason = Some(why)).ok())
    };
    let mut converged = false;
    if let Some(mut now) = evaluate(&w, observer)? {
        let mut rate = FIRST_STEP * norm(&w).max(FIRST_STEP) / norm(&now.gradient).max(1e-12);
        learning_rate = Some(rate);
        for iteration in 1..=ascent.iterations {
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
            let record = Iteration::new(iteration, &w, Some(norm(&now.gradient)));
            observer.iteration(&record, &w);
            history.push(record);
        }
    }
    let last = initial.with_params(problem, &w)?;
    let policy = match ascent.average {
        Average::Tail => initial.with_params(problem, &tail.mean(&history, &w))?,
        Average::None => last.clone(),
    };
    let stop_reason = match reason {
        _ if converged => StopReason::Converged,
        Some(reason) if history.len() < ascent.iterations => reason,
        _ => StopReason::Iterations,
    };
    Ok(Trained { learning_rate, history, stop_reason, ..Trained::new(initial.clone(), policy, last) })
}

/// The rate at which a quadratic with the same change of gradient would be at its top; none if it is not
/// concave.
fn secant(step: &[f64], after: &[f64], before: &[f64]) -> Option<f64> {
    let bend: f64 = step.iter().zip(after.iter().zip(before)).map(|(s, (a, b))| s * (a - b)).sum();
    (bend < 0.0).then(|| step.iter().map(|s| s * s).sum::<f64>() / -bend)
}
