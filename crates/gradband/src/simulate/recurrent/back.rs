//! Backpropagation through time of one run in each lane.

use super::cell::{self, Trace, leaky_relu, leaky_slope, product, products};
use super::contract::{CHUNK, Rounds, contract};
use super::rollout::{Kernel, Run};
use super::weights::Sums;
use crate::numeric::lanes::{Lane, total};

impl<R: Lane> Kernel<'_, R> {
    /// Adds the gradient of sum over rounds of advantage * log-probability to `sums`.
    #[inline(always)]
    pub(super) fn backward(&self, run: &mut Run<R>, advantages: &[R], sums: &mut Sums) {
        self.scores(run, advantages, sums);
        self.through_time(run);
        let horizon = run.arms.len();
        for from in (0..horizon).step_by(CHUNK) {
            self.weight_gradients(run, from, (from + CHUNK).min(horizon), sums);
        }
    }

    /// Probabilities become gradients of the logits.
    #[inline(always)]
    fn scores(&self, run: &mut Run<R>, advantages: &[R], sums: &mut Sums) {
        let arms = self.lstm.arms;
        let zero = R::splat(self.token, 0.0);
        let factor = R::splat(self.token, 1.0 / self.temperature);
        let mut biases = vec![zero; arms];
        let rounds = run.heads.chunks_exact_mut(arms.next_multiple_of(4));
        for ((heads, &arm), &advantage) in rounds.zip(&run.arms).zip(advantages) {
            let heads = &mut heads[..arms];
            for (i, (p, bias)) in heads.iter_mut().zip(&mut biases).enumerate() {
                let hit = R::only(arm.is(i as f32), p.one());
                *p = (hit - *p) * advantage * factor;
                *bias = *bias + *p;
            }
        }
        for (sum, bias) in sums.head_bias.iter_mut().zip(biases) {
            *sum += total(bias);
        }
    }

    /// Gates become gradients of their inputs, from the last round to the first.
    #[inline(always)]
    fn through_time(&self, run: &mut Run<R>) {
        let (token, units) = (self.token, self.lstm.sizes.hidden);
        let padded = self.lstm.arms.next_multiple_of(4);
        let zero = R::splat(token, 0.0);
        let (mut dh, mut dc) = (vec![zero; units], vec![zero; units]);
        let horizon = run.arms.len();
        for t in (0..horizon).rev() {
            let at = t * units..(t + 1) * units;
            let gates = &mut run.gates[4 * at.start..4 * at.end];
            if t + 1 < horizon {
                let trace = Trace { gates: &mut *gates, tanhs: &mut run.tanhs[at.clone()] };
                cell::backward(&dh, &mut dc, trace, &run.cells[at.clone()]);
            } else {
                gates.fill(zero);
            }
            let heads = &run.heads[t * padded..(t + 1) * padded];
            let hidden = &run.hidden[at];
            products(
                token,
                &self.weights.hidden_back,
                gates,
                #[inline(always)]
                |quad| {
                    let head = &self.weights.head_back[quad * padded..(quad + 1) * padded];
                    let [mut sums] = product(token, [[zero; 4]], [head], heads);
                    for (sum, &h) in sums.iter_mut().zip(&hidden[4 * quad..]) {
                        *sum = *sum * leaky_slope(h);
                    }
                    sums
                },
                #[inline(always)]
                |quad, sums| {
                    for (dh, sum) in dh[4 * quad..].iter_mut().zip(sums) {
                        *dh = sum;
                    }
                },
            );
        }
    }

    /// Gradients of the weights from rounds `from..to`.
    #[inline(always)]
    fn weight_gradients(&self, run: &mut Run<R>, from: usize, to: usize, sums: &mut Sums) {
        let (token, units) = (self.token, self.lstm.sizes.hidden);
        let padded = self.lstm.arms.next_multiple_of(4);
        let gates = Rounds { data: &run.gates[from * 4 * units..to * 4 * units], width: 4 * units };
        let hidden = Rounds { data: &run.hidden[from * units..to * units], width: units };
        contract(token, gates, hidden, &mut sums.hidden);
        self.input_gradients(gates, &run.arms[from..to], &run.rewards[from..to], sums);
        // The head reads h through the leaky ReLU, and nobody else reads it any more.
        for h in &mut run.hidden[from * units..to * units] {
            *h = leaky_relu(*h);
        }
        let heads = Rounds { data: &run.heads[from * padded..to * padded], width: padded };
        let hidden = Rounds { data: &run.hidden[from * units..to * units], width: units };
        contract(token, heads, hidden, &mut sums.head);
    }

    /// Gradients of the table of arms and of the reward's vector: the input of a round is the pulled arm among those
    /// that appear, and the reward.
    #[inline(always)]
    fn input_gradients(&self, gates: Rounds<R>, arms: &[R], rewards: &[R], sums: &mut Sums) {
        let units = self.lstm.sizes.hidden;
        let mut seen: Vec<u32> =
            arms.iter().flat_map(|arm| arm.indices().into_iter().take(R::WIDTH)).collect();
        seen.sort_unstable();
        seen.dedup();
        let width = seen.len() + 1;
        let mut inputs = Vec::with_capacity(width * arms.len());
        for (&arm, &reward) in arms.iter().zip(rewards) {
            for &index in &seen {
                inputs.push(R::only(arm.is(index as f32), arm.one()));
            }
            inputs.push(reward);
        }
        let mut found = vec![[0.0; 4]; units * width];
        contract(self.token, gates, Rounds { data: &inputs, width }, &mut found);
        for (unit, row) in found.chunks_exact(width).enumerate() {
            for (&arm, &quad) in seen.iter().zip(row) {
                add(&mut sums.arms[arm as usize * units + unit], quad);
            }
            add(&mut sums.reward[unit], row[width - 1]);
        }
    }
}

fn add(sum: &mut [f64; 4], quad: [f64; 4]) {
    sum.iter_mut().zip(quad).for_each(|(sum, x)| *sum += x);
}
