//! The network forwards and backwards, on [`WIDTH`] states at a time.
//!
//! Every product is a sum of scalars times lanes in a fixed order, and nothing is fused: the bits are the same on
//! every machine.

use super::Dqn;

/// States that are computed together.
pub const WIDTH: usize = 16;
/// One number of each of these states.
pub(super) type States = [f32; WIDTH];

/// Adds to `out[r]`, for each r, the sum over c of `w[r * strides.0 + c * strides.1] x[c]`.
#[inline(always)]
fn add_product(w: &[f32], strides: (usize, usize), x: &[States], out: &mut [States]) {
    for (row, out) in out.iter_mut().enumerate() {
        let mut place = row * strides.0;
        let mut chunks = x.chunks_exact(8);
        for x in &mut chunks {
            columns::<8>(std::array::from_fn(|c| w[place + c * strides.1]), x, out);
            place += 8 * strides.1;
        }
        for x in chunks.remainder().chunks_exact(1) {
            columns::<1>([w[place]], x, out);
            place += strides.1;
        }
    }
}

/// The same for one row and N columns: a sum that goes through memory only once is what compilers turn into wide
/// instructions.
#[inline(always)]
fn columns<const N: usize>(w: [f32; N], x: &[States], out: &mut States) {
    let Some(x) = x.first_chunk::<N>() else { return };
    for (lane, out) in out.iter_mut().enumerate() {
        let mut sum = *out;
        for c in 0..N {
            sum += w[c] * x[c][lane];
        }
        *out = sum;
    }
}

/// What a pass computes: the inputs, both hidden layers and the values.
pub struct Trace {
    layers: [Vec<States>; 4],
}

impl Trace {
    /// Room for a network of that size.
    pub fn new(dqn: &Dqn) -> Self {
        let sizes = [dqn.inputs(), dqn.hidden, dqn.hidden, dqn.arms];
        Self { layers: sizes.map(|size| vec![[0.0; WIDTH]; size]) }
    }

    /// What the network sees.
    #[inline(always)]
    pub fn inputs(&mut self) -> &mut [States] {
        &mut self.layers[0]
    }

    /// The values of the last pass.
    #[inline(always)]
    pub fn values(&self) -> &[States] {
        &self.layers[3]
    }
}

/// A network with its weights in single precision.
#[derive(Clone)]
pub struct Network {
    pub dqn: Dqn,
    weights: Vec<f32>,
}

impl Network {
    pub fn new(dqn: &Dqn, params: &[f64]) -> Self {
        let mut network = Self { dqn: *dqn, weights: vec![0.0; dqn.len()] };
        network.set(params);
        network
    }

    /// Replaces the weights.
    pub fn set(&mut self, params: &[f64]) {
        for (weight, &param) in self.weights.iter_mut().zip(params) {
            *weight = param as f32;
        }
    }

    /// The value of each arm for the inputs of a trace.
    #[inline(always)]
    pub fn forward<'a>(&self, trace: &'a mut Trace) -> &'a [States] {
        let mut weights = &self.weights[..];
        for (layer, (rows, columns)) in self.dqn.layers().into_iter().enumerate() {
            let (matrix, rest) = weights.split_at(rows * columns);
            let (biases, rest) = rest.split_at(rows);
            weights = rest;
            let (before, after) = trace.layers.split_at_mut(layer + 1);
            let out = &mut after[0][..];
            for (out, &bias) in out.iter_mut().zip(biases) {
                out.fill(bias);
            }
            add_product(matrix, (columns, 1), &before[layer], out);
            if layer < 2 {
                for x in out.as_flattened_mut() {
                    *x = if *x > 0.0 { *x } else { 0.0 };
                }
            }
        }
        &trace.layers[3]
    }

    /// Adds to `gradient` that of a sum over the states of a trace, given its derivatives in the values.
    #[inline(always)]
    pub fn backward(&self, trace: &Trace, errors: &mut Errors, gradient: &mut WeightSums) {
        let mut end = self.weights.len();
        for (layer, (rows, columns)) in self.dqn.layers().into_iter().enumerate().rev() {
            let start = end - rows * (columns + 1);
            let (input, matrix) = (&trace.layers[layer], &self.weights[start..start + rows * columns]);
            end = start;
            let (before, after) = errors.layers.split_at_mut(layer);
            let error = &after[0];
            gradient.add(layer, input, error);
            if let Some(before) = before.last_mut() {
                before.fill([0.0; WIDTH]);
                add_product(matrix, (1, columns), error, before);
                for (error, x) in before.as_flattened_mut().iter_mut().zip(input.as_flattened()) {
                    *error = if *x > 0.0 { *error } else { 0.0 };
                }
            }
        }
    }
}

/// Derivatives in what each layer puts out.
pub struct Errors {
    layers: [Vec<States>; 3],
}

impl Errors {
    pub fn new(dqn: &Dqn) -> Self {
        Self { layers: dqn.layers().map(|(rows, _)| vec![[0.0; WIDTH]; rows]) }
    }

    /// The derivatives in the values.
    pub fn values(&mut self) -> &mut [States] {
        &mut self.layers[2]
    }
}

/// A gradient in the weights; in each layer lanes are inputs, the last of which is the bias.
pub struct WeightSums {
    layers: [Vec<States>; 3],
    sizes: [(usize, usize); 3],
}

impl WeightSums {
    pub fn new(dqn: &Dqn) -> Self {
        let sizes = dqn.layers();
        let layers = sizes.map(|(rows, columns)| vec![[0.0; WIDTH]; rows * (columns + 1).div_ceil(WIDTH)]);
        Self { layers, sizes }
    }

    #[inline(always)]
    fn add(&mut self, layer: usize, input: &[States], error: &[States]) {
        let rows = self.sizes[layer].0;
        for (i, out) in self.layers[layer].chunks_exact_mut(rows).enumerate() {
            let mut by_state = [[0.0; WIDTH]; WIDTH];
            for lane in 0..WIDTH {
                let ones = [1.0; WIDTH];
                let place = i * WIDTH + lane;
                let column = if place == input.len() { Some(&ones) } else { input.get(place) };
                for (state, &x) in by_state.iter_mut().zip(column.into_iter().flatten()) {
                    state[lane] = x;
                }
            }
            add_product(error.as_flattened(), (WIDTH, 1), &by_state, out);
        }
    }

    /// Moves the gradient times `scale` to `out`, in the order of the weights; zeros remain.
    pub fn take(&mut self, scale: f64, out: &mut [f64]) {
        let mut place = 0;
        for (layer, &(rows, columns)) in self.layers.iter_mut().zip(&self.sizes) {
            for row in 0..rows {
                for column in 0..=columns {
                    let x = layer[column / WIDTH * rows + row][column % WIDTH];
                    let at = if column < columns { row * columns + column } else { rows * columns + row };
                    out[place + at] = scale * f64::from(x);
                }
            }
            layer.fill([0.0; WIDTH]);
            place += rows * (columns + 1);
        }
    }
}
