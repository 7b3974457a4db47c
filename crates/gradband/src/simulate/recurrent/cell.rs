//! One round of the cell, forwards and backwards, a run in each lane.

use super::SLOPE;
use super::weights::Weights;
use crate::numeric::lanes::Lane;
use std::f64::consts::LOG2_E;

/// Units whose hyperbolic tangents are computed step by step.
const UNITS: usize = 5;

/// start + sum over columns of weights * x: four rows of each of some products, in the order of the columns.
#[inline(always)]
pub(super) fn product<R: Lane, const N: usize>(
    token: R::Token,
    mut sums: [[R; 4]; N],
    weights: [&[[R::Scalar; 4]]; N],
    x: &[R],
) -> [[R; 4]; N] {
    let weights = weights.each_ref().map(
        #[inline(always)]
        |weights| &weights[..x.len()],
    );
    for (k, &x) in x.iter().enumerate() {
        for n in 0..N {
            for i in 0..4 {
                sums[n][i] = R::spread(token, weights[n][k][i]).fma(x, sums[n][i]);
            }
        }
    }
    sums
}

/// A matrix times x, four rows at a time: `start` says what they begin with, `done` takes them. Of numbers that are one register each, eight
/// rows at a time: fewer sums wait for each other, instead of for a core that multiplies.
#[inline(always)]
pub(super) fn products<R: Lane>(
    token: R::Token,
    weights: &[[R::Scalar; 4]],
    x: &[R],
    start: impl Fn(usize) -> [R; 4],
    mut done: impl FnMut(usize, [R; 4]),
) {
    let (mut quad, mut rest) = (0, weights);
    if R::REGISTERS == 1 {
        let mut pairs = weights.chunks_exact(2 * x.len());
        for pair in &mut pairs {
            let (first, second) = pair.split_at(x.len());
            let [first, second] = product(token, [start(quad), start(quad + 1)], [first, second], x);
            done(quad, first);
            done(quad + 1, second);
            quad += 2;
        }
        rest = pairs.remainder();
    }
    for row in rest.chunks_exact(x.len()) {
        let [sums] = product(token, [start(quad)], [row], x);
        done(quad, sums);
        quad += 1;
    }
}

/// The same weights in every lane.
#[inline(always)]
pub(super) fn spread<R: Lane>(token: R::Token, weights: [R::Scalar; 4]) -> [R; 4] {
    [
        R::spread(token, weights[0]),
        R::spread(token, weights[1]),
        R::spread(token, weights[2]),
        R::spread(token, weights[3]),
    ]
}

/// e^-x, at most 2^30: so the product of four such numbers is finite, and sigmoid is off by 1e-9 at most. `log2_e` is log2 e for each.
#[inline(always)]
fn decays<R: Lane, const N: usize>(mut x: [R; N], log2_e: [f64; N]) -> [R; N] {
    for (x, log2_e) in x.iter_mut().zip(log2_e) {
        *x = -(*x * x.lit(log2_e)).max(x.lit(-30.0));
    }
    R::exp2_each(x)
}

/// sigmoid(i), sigmoid(f), tanh(g), sigmoid(o), with one division.
#[inline(always)]
fn activate<R: Lane>(z: [R; 4]) -> [R; 4] {
    let [i, f, g, o] = decays(z, [LOG2_E, LOG2_E, 2.0 * LOG2_E, LOG2_E]);
    let (di, df, dg, d_o) = (i + 1.0, f + 1.0, g + 1.0, o + 1.0);
    let (first, second) = (di * df, dg * d_o);
    let inverse = g.one() / (first * second);
    let (first, second) = (inverse * second, inverse * first);
    [first * df, first * di, second * d_o * (g.one() - g), second * dg]
}

#[inline(always)]
fn tanhs<R: Lane, const N: usize>(x: [R; N]) -> [R; N] {
    let mut e = decays(x, [2.0 * LOG2_E; N]);
    for e in &mut e {
        *e = (e.one() - *e) / (*e + 1.0);
    }
    e
}

/// What a round brings: for each arm that some lane pulled, the lanes that did (1, else 0); and the rewards.
pub(super) struct Input<R> {
    pub arms: Vec<(usize, R)>,
    pub reward: R,
}

impl<R: Lane> Input<R> {
    #[inline(always)]
    pub fn set(&mut self, arm: R, reward: R) {
        self.reward = reward;
        self.arms.clear();
        for &index in &arm.indices()[..R::WIDTH] {
            let index = index as usize;
            if !self.arms.iter().any(|&(known, _)| known == index) {
                self.arms.push((index, R::only(arm.is(index as f32), arm.one())));
            }
        }
    }
}

/// What a step leaves for the way back.
pub(super) struct Trace<'a, R> {
    /// Four gates of each unit.
    pub gates: &'a mut [R],
    /// tanh of the new cell of each unit.
    pub tanhs: &'a mut [R],
}

/// (h, c) after an input.
#[inline(always)]
pub(super) fn forward<R: Lane>(
    token: R::Token,
    weights: &Weights<R>,
    input: &Input<R>,
    (h, c): (&[R], &[R]),
    trace: Trace<R>,
    (next_h, next_c): (&mut [R], &mut [R]),
) {
    let units = h.len();
    let zero = R::splat(token, 0.0);
    let gates = trace.gates.as_chunks_mut::<4>().0;
    products(
        token,
        &weights.hidden,
        h,
        #[inline(always)]
        |_| [zero; 4],
        #[inline(always)]
        |unit, mut z| {
            let slope = spread::<R>(token, weights.reward[unit]);
            for gate in 0..4 {
                z[gate] = slope[gate].fma(input.reward, z[gate]);
            }
            for &(arm, lanes) in &input.arms {
                let row = spread::<R>(token, weights.arms[arm * units + unit]);
                for gate in 0..4 {
                    z[gate] = row[gate].fma(lanes, z[gate]);
                }
            }
            gates[unit] = z;
        },
    );
    // Loops of their own: a unit's chain of exponentials and divisions is longer than a core looks ahead.
    for ((gates, &c), next_c) in gates.iter_mut().zip(c).zip(&mut *next_c) {
        *gates = activate(*gates);
        let [i, f, g, _] = *gates;
        *next_c = f.fma(c, i * g);
    }
    let (cells, last_cells) = next_c.as_chunks::<UNITS>();
    let (tanhs_c, last_tanhs) = trace.tanhs.as_chunks_mut::<UNITS>();
    for (&c, out) in cells.iter().zip(tanhs_c) {
        *out = tanhs(c);
    }
    for (&c, out) in last_cells.iter().zip(last_tanhs) {
        [*out] = tanhs([c]);
    }
    for ((gates, &tanh_c), next_h) in gates.iter().zip(&*trace.tanhs).zip(next_h) {
        *next_h = gates[3] * tanh_c;
    }
}

/// The logits of the arms, padded to fours; `relu` is scratch.
#[inline(always)]
pub(super) fn logits<R: Lane>(
    token: R::Token,
    weights: &Weights<R>,
    h: &[R],
    relu: &mut [R],
    logits: &mut [R],
) {
    for (x, &h) in relu.iter_mut().zip(h) {
        *x = leaky_relu(h);
    }
    let rows = weights.head.chunks_exact(h.len()).zip(&weights.head_bias);
    for ((row, &bias), logits) in rows.zip(logits.chunks_exact_mut(4)) {
        let [sums] = product(token, [spread(token, bias)], [row], relu);
        logits.copy_from_slice(&sums);
    }
}

/// Turns the gates of a step into the gradient of their inputs. `dh` and `dc` are gradients of the state after it;
/// `dc` becomes that of the cell before it.
#[inline(always)]
pub(super) fn backward<R: Lane>(dh: &[R], dc: &mut [R], trace: Trace<R>, c: &[R]) {
    let step = trace.gates.chunks_exact_mut(4).zip(trace.tanhs.iter()).zip(c);
    for (((gates, &tanh_c), &c), (&dh, dc)) in step.zip(dh.iter().zip(dc)) {
        let (i, f, g, o) = (gates[0], gates[1], gates[2], gates[3]);
        let one = i.one();
        let d = (dh * o).fma(one - tanh_c * tanh_c, *dc);
        *dc = d * f;
        gates[0] = d * g * i * (one - i);
        gates[1] = d * c * f * (one - f);
        gates[2] = d * i * (one - g * g);
        gates[3] = dh * tanh_c * o * (one - o);
    }
}

/// x above zero, a hundredth of it below.
#[inline(always)]
pub(super) fn leaky_relu<R: Lane>(x: R) -> R {
    x.max(x * x.lit(SLOPE))
}

/// Its derivative.
#[inline(always)]
pub(super) fn leaky_slope<R: Lane>(x: R) -> R {
    R::select(x.lt(x.zero()), x.lit(SLOPE), x.one())
}
