//! Where a prior enters: the weight with which every state of the last layer counts towards the Bayes reward.

use super::mixture::{Mixture, SuccessTable};
use super::space::{self, Layer};

/// E[prod_i Binomial(s_i; T_i, theta_i)] sum_i s_i for every state: the probability of the counts given the
/// pulls, times the rewards collected. `weights` is a buffer to reuse.
pub(super) fn reward_weights(
    prior: &Mixture,
    layer: &Layer,
    horizon: usize,
    mut weights: Vec<f64>,
) -> Vec<f64> {
    weights.clear();
    weights.resize(layer.states(), 0.0);
    let last = prior.arms() - 1;
    let (mut mass, mut grown) = (Vec::new(), Vec::new());
    for component in prior.components() {
        let tables: Vec<SuccessTable> =
            component.arms.iter().map(|arm| SuccessTable::new(arm, horizon)).collect();
        layer.for_each_block(|block, pulls| {
            // The product over all arms but the last, which is added row by row.
            mass.clear();
            mass.push(component.weight);
            for (table, &count) in tables[..last].iter().zip(pulls) {
                let row = table.row(count as usize);
                grown.clear();
                grown.extend(mass.iter().flat_map(|m| row.iter().map(move |p| m * p)));
                std::mem::swap(&mut mass, &mut grown);
            }
            let row = tables[last].row(pulls[last] as usize);
            for (weights, m) in weights[layer.block(block)].chunks_exact_mut(row.len()).zip(&mass) {
                weights.iter_mut().zip(row).for_each(|(weight, p)| *weight += m * p);
            }
        });
    }
    layer.for_each_block(|block, pulls| {
        let weights = &mut weights[layer.block(block)];
        space::for_each_outcome(pulls, |state, successes| {
            weights[state] *= f64::from(successes.iter().sum::<u32>());
        });
    });
    weights
}
