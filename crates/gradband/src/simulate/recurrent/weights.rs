//! Weights as the kernels read them, and their gradients on the way back.
//!
//! The input of a round has an arm and a reward, so its product with `w_ih` is a row of a table plus the reward
//! times a vector; both are made once, and differentiated once.

use super::Lstm;
use crate::numeric::lanes::Lane;

/// Weights in the order of their use; a quad is four rows of a matrix at one column.
pub(super) struct Weights<R: Lane> {
    /// `w_hh`: for each unit, for each k, its four gates.
    pub hidden: Vec<[R::Scalar; 4]>,
    /// The input of an arm with reward 0, bias included: for each arm, for each unit, its four gates.
    pub arms: Vec<[R::Scalar; 4]>,
    /// What reward 1 adds: for each unit, its four gates.
    pub reward: Vec<[R::Scalar; 4]>,
    /// `w_hh` transposed: for four k at a time, for each unit and gate.
    pub hidden_back: Vec<[R::Scalar; 4]>,
    /// `w_out`: for four arms at a time, for each k. Missing arms are zero.
    pub head: Vec<[R::Scalar; 4]>,
    /// `b_out`, for four arms at a time.
    pub head_bias: Vec<[R::Scalar; 4]>,
    /// `w_out` transposed: for four k at a time, for each arm (padded to fours).
    pub head_back: Vec<[R::Scalar; 4]>,
}

impl<R: Lane> Weights<R> {
    pub fn new(lstm: &Lstm, params: &[f64]) -> Self {
        let (h, e, arms) = (lstm.sizes.hidden, lstm.sizes.embedding, lstm.arms);
        let [arm, reward, w_ih, w_hh, b, w_out, b_out] = lstm.layout().map(|piece| &params[piece.range]);
        let quad = |f: &dyn Fn(usize) -> f64| [0, 1, 2, 3].map(|i| R::scalar(f(i)));
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let input = |gate: usize, unit: usize| w_ih[(gate * h + unit) * 2 * e..][..2 * e].split_at(e);
        let slope: Vec<f64> = reward[e..].iter().zip(&reward[..e]).map(|(one, zero)| one - zero).collect();
        let nothing: Vec<[f64; 4]> = (0..h)
            .map(|unit| [0, 1, 2, 3].map(|gate| dot(input(gate, unit).1, &reward[..e]) + b[gate * h + unit]))
            .collect();
        let at = |matrix: &[f64], row: usize, k: usize, rows: usize| {
            if row < rows && k < h { matrix[row * h + k] } else { 0.0 }
        };
        let (quads, arm_quads) = (h.div_ceil(4), arms.div_ceil(4));
        let pairs =
            |outer: usize, inner: usize| (0..outer).flat_map(move |i| (0..inner).map(move |j| (i, j)));
        Self {
            hidden: pairs(h, h).map(|(unit, k)| quad(&|gate| w_hh[(gate * h + unit) * h + k])).collect(),
            arms: pairs(arms, h)
                .map(|(a, unit)| {
                    quad(&|gate| dot(input(gate, unit).0, &arm[a * e..(a + 1) * e]) + nothing[unit][gate])
                })
                .collect(),
            reward: (0..h).map(|unit| quad(&|gate| dot(input(gate, unit).1, &slope))).collect(),
            hidden_back: pairs(quads, 4 * h)
                .map(|(q, j)| quad(&|i| at(w_hh, j % 4 * h + j / 4, 4 * q + i, 4 * h)))
                .collect(),
            head: pairs(arm_quads, h).map(|(q, k)| quad(&|i| at(w_out, 4 * q + i, k, arms))).collect(),
            head_bias: (0..arm_quads).map(|q| quad(&|i| b_out.get(4 * q + i).map_or(0.0, |&x| x))).collect(),
            head_back: pairs(quads, 4 * arm_quads)
                .map(|(q, a)| quad(&|i| at(w_out, a, 4 * q + i, arms)))
                .collect(),
        }
    }
}

/// Sums of gradients of [`Weights`], in double precision.
pub(super) struct Sums {
    /// For each unit, for each k, four gates.
    pub hidden: Vec<[f64; 4]>,
    /// For each arm, for each unit.
    pub arms: Vec<[f64; 4]>,
    /// For each unit.
    pub reward: Vec<[f64; 4]>,
    /// For four arms at a time, for each k.
    pub head: Vec<[f64; 4]>,
    /// For each arm.
    pub head_bias: Vec<f64>,
}

impl Sums {
    pub fn new(lstm: &Lstm) -> Self {
        let (h, arms) = (lstm.sizes.hidden, lstm.arms);
        let zero = [0.0; 4];
        Self {
            hidden: vec![zero; h * h],
            arms: vec![zero; arms * h],
            reward: vec![zero; h],
            head: vec![zero; arms.div_ceil(4) * h],
            head_bias: vec![0.0; arms],
        }
    }

    /// Adds the gradient of the parameters to `gradient`: the chain rule of [`Weights::new`].
    pub fn add_to(&self, lstm: &Lstm, params: &[f64], gradient: &mut [f64]) {
        let (h, e, arms) = (lstm.sizes.hidden, lstm.sizes.embedding, lstm.arms);
        let layout = lstm.layout();
        let [arm, reward, w_ih, ..] = layout.clone().map(|piece| &params[piece.range]);
        let mut rest = gradient;
        let [g_arm, g_reward, g_w_ih, g_w_hh, g_b, g_w_out, g_b_out] = layout.map(|piece| {
            let (one, others) = std::mem::take(&mut rest).split_at_mut(piece.range.len());
            rest = others;
            one
        });
        for gate in 0..4 {
            for unit in 0..h {
                let row = gate * h + unit;
                let w = &w_ih[row * 2 * e..(row + 1) * 2 * e];
                let g_w = &mut g_w_ih[row * 2 * e..(row + 1) * 2 * e];
                let mut total = 0.0;
                for a in 0..arms {
                    let d = self.arms[a * h + unit][gate];
                    if d != 0.0 {
                        add(&mut g_w[..e], d, &arm[a * e..(a + 1) * e]);
                        add(&mut g_arm[a * e..(a + 1) * e], d, &w[..e]);
                        total += d;
                    }
                }
                let slope = self.reward[unit][gate];
                add(&mut g_w[e..], total - slope, &reward[..e]);
                add(&mut g_w[e..], slope, &reward[e..]);
                add(&mut g_reward[..e], total - slope, &w[e..]);
                add(&mut g_reward[e..], slope, &w[e..]);
                g_b[row] += total;
                for k in 0..h {
                    g_w_hh[row * h + k] += self.hidden[unit * h + k][gate];
                }
            }
        }
        for a in 0..arms {
            for k in 0..h {
                g_w_out[a * h + k] += self.head[a / 4 * h + k][a % 4];
            }
            g_b_out[a] += self.head_bias[a];
        }
    }
}

/// y += a x.
fn add(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}
