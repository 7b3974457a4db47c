//! Integrals that priors and Thompson sampling need: adaptive Gauss-Kronrod, and Gauss-Legendre for
//! polynomials.

use std::f64::consts::PI;

/// Positive nodes of the 15-point Kronrod rule on [-1, 1], outermost first; every second one is a 7-point
/// Gauss node.
const KRONROD_NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
    0.0,
];
const KRONROD_WEIGHTS: [f64; 8] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_56,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_89,
    0.209_482_141_084_727_82,
];
const GAUSS_WEIGHTS: [f64; 4] =
    [0.129_484_966_168_869_7, 0.279_705_391_489_276_64, 0.381_830_050_505_118_9, 0.417_959_183_673_469_4];

/// The integral of `f` from `low` to `high`, halving the interval until the two rules agree within
/// `tolerance`.
pub fn integrate(f: &impl Fn(f64) -> f64, low: f64, high: f64, tolerance: f64) -> f64 {
    halve(f, low, high, tolerance, 60)
}

fn halve(f: &impl Fn(f64) -> f64, low: f64, high: f64, tolerance: f64, depth: u32) -> f64 {
    let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
    let middle = f(centre);
    let mut kronrod = KRONROD_WEIGHTS[7] * middle;
    let mut gauss = GAUSS_WEIGHTS[3] * middle;
    for j in 0..7 {
        let pair = f(centre - half * KRONROD_NODES[j]) + f(centre + half * KRONROD_NODES[j]);
        kronrod += KRONROD_WEIGHTS[j] * pair;
        if j % 2 == 1 {
            gauss += GAUSS_WEIGHTS[j / 2] * pair;
        }
    }
    if ((kronrod - gauss) * half).abs() <= tolerance || depth == 0 {
        return kronrod * half;
    }
    let tolerance = 0.5 * tolerance;
    halve(f, low, centre, tolerance, depth - 1) + halve(f, centre, high, tolerance, depth - 1)
}

/// Nodes and weights on [0, 1] that integrate polynomials of degree below `2 * count` exactly.
pub fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    (0..count)
        .map(|j| {
            // Newton's method on the Legendre polynomial, from the usual first guess.
            let mut x = cos_turns((j as f64 + 0.75) / (count as f64 + 0.5));
            let mut slope = 1.0;
            for _ in 0..20 {
                let (mut previous, mut value) = (0.0, 1.0);
                for k in 0..count {
                    let k = k as f64;
                    (previous, value) = (value, ((2.0 * k + 1.0) * x * value - k * previous) / (k + 1.0));
                }
                slope = count as f64 * (x * value - previous) / (x * x - 1.0);
                let step = value / slope;
                x -= step;
                if step.abs() < 1e-15 {
                    break;
                }
            }
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// cos(pi u) for u in [0, 1], accurate enough to start Newton's method (its fixed point does not depend on
/// the start).
fn cos_turns(u: f64) -> f64 {
    let y = PI * (0.5 - u); // cos(pi u) = sin(y), |y| <= pi/2
    let square = y * y;
    y * (1.0
        - square / 6.0
            * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0 * (1.0 - square / 110.0)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptive_rule_survives_an_endpoint_singularity() {
        assert!((integrate(&|x: f64| x.powf(-0.3), 0.0, 1.0, 1e-13) - 1.0 / 0.7).abs() < 1e-11);
        assert!(
            (integrate(&|x: f64| (50.0 * x).sin(), 0.0, 1.0, 1e-13) - (1.0 - 50f64.cos()) / 50.0).abs()
                < 1e-13
        );
    }

    #[test]
    fn legendre_is_exact_for_polynomials() {
        for count in [1, 2, 5, 27, 103] {
            let nodes = gauss_legendre(count);
            for degree in [0, 1, count, 2 * count - 1] {
                let sum: f64 = nodes.iter().map(|&(x, weight)| weight * x.powi(degree as i32)).sum();
                assert!(
                    (sum * (degree as f64 + 1.0) - 1.0).abs() < 1e-12,
                    "count {count}, degree {degree}: {sum}"
                );
            }
        }
    }
}
