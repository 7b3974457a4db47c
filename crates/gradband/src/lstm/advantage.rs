//! Advantages from returns: what a round's choice is blamed or praised for.
//!
//! The advantage of round t is the sum over s >= t of (own return - reference), as in [`crate::baseline`].

use super::lane::Lane;
use super::rollout::Run;
use crate::baseline::Baseline;

/// Turns returns into advantages, the estimate's own weights included.
#[inline(always)]
pub(super) fn advantages<R: Lane>(baseline: Baseline, weight: R, optimal: &[R], runs: &mut [Run<R>]) {
    let count = runs.len();
    let horizon = runs[0].values.len();
    let mut ahead = vec![weight.zero(); count];
    for t in (0..horizon).rev() {
        let own = runs[0].values[t];
        match baseline {
            Baseline::None => ahead[0] = ahead[0] + own,
            // Means are measured from the best one.
            Baseline::Opt => ahead[0] = ahead[0] + optimal.get(t).map_or(own, |&best| own - best),
            Baseline::SelfPlay => ahead[0] = ahead[0] + (own - runs[1].values[t]),
            Baseline::LeaveOneOut(_) => {
                let total = runs[1..].iter().fold(own, |total, run| total + run.values[t]);
                for (ahead, run) in ahead.iter_mut().zip(runs.iter()) {
                    *ahead = *ahead + run.values[t].fma(total.lit(count as f64), -total);
                }
            }
        }
        let weight = match baseline {
            Baseline::LeaveOneOut(_) => weight * weight.lit(1.0 / (count * (count - 1)) as f64),
            _ => weight,
        };
        for (run, &ahead) in runs.iter_mut().zip(&ahead) {
            run.values[t] = ahead * weight;
        }
    }
}
