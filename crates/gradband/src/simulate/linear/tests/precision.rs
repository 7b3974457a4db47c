//! Single and double precision together, over W of every rank, scale and conditioning: what a player chooses by itself
//! against double precision.

use super::*;
use crate::numeric::stream::{Random, Stream};

/// Random W whose singular values fall evenly, by their logarithms, over `decades`, the largest being `scale`.
fn conditioned(rank: usize, dim: usize, scale: f64, decades: f64, random: &mut Random) -> Vec<f64> {
    let mut orthonormal = |rows: usize, columns: usize| {
        let entries: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
        nalgebra::DMatrix::from_row_slice(rows, columns, &entries).qr().q()
    };
    let most = rank.min(dim);
    let (left, right) = (orthonormal(rank, most), orthonormal(dim, most));
    let value = |i: usize| scale * 10_f64.powf(-decades * i as f64 / (most.max(2) - 1) as f64);
    let diagonal = nalgebra::DVector::from_iterator(most, (0..most).map(value));
    let w = left * nalgebra::DMatrix::from_diagonal(&diagonal) * right.transpose();
    w.transpose().as_slice().to_vec()
}

/// Mean and standard error of paired differences.
fn paired(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let mean = a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / n;
    let square = a.iter().zip(b).map(|(a, b)| (a - b - mean).powi(2)).sum::<f64>();
    (mean, (square / (n * (n - 1.0))).sqrt())
}

const INSTANCES: usize = 120;
const HORIZON: usize = 150;

/// Regrets and gradients of the instances, as an engine plays them.
type Played = (Vec<f64>, Vec<f64>);

/// 120 instances: nine in ten runs are the same to the last pull, and the gradients of those are, all together, the same to a
/// hundredth of their length; the mean difference of regret is within 4.5 standard errors (a correct engine fails one of the 120 with
/// probability below 1e-3). What the player found.
fn agreed(policy: &impl LinearKernel, w: &[f64], rank: usize, problem: &Problem, what: &str) -> Played {
    let dim = w.len() / rank;
    let projection = Projection::new(w, rank, dim, 1.0);
    // Contexts of this problem rarely have a squared length above three times the mean.
    let how = projection.engine(3.0 * 1.25 * dim as f64, HORIZON);
    let play = |how| -> Played {
        let (out, gradients) = played(policy, &projection, how, &job(problem, SELF), (0, INSTANCES));
        (out.iter().map(|outcome| outcome.regret).collect(), gradients)
    };
    let (own, exact) = (play(how), play(Engine { basis: Basis::Projected, precision: Precision::Double }));
    let what = format!("{what}, {rank} x {dim}, {how:?}");
    let (mean, error) = paired(&own.0, &exact.0);
    assert!(mean.abs() <= 4.5 * error + 1e-6, "{what}: off by {mean} +- {error}");
    let length = own.1.len() / INSTANCES;
    let same_runs = (0..INSTANCES).filter(|&i| (own.0[i] - exact.0[i]).abs() < 1e-4);
    let (mut same, mut off, mut all) = (0, 0.0, 0.0);
    for i in same_runs {
        same += 1;
        let row = i * length..(i + 1) * length;
        for (a, b) in own.1[row.clone()].iter().zip(&exact.1[row]) {
            off += (a - b).powi(2);
            all += b * b;
        }
    }
    let (off, all) = (off.sqrt(), all.sqrt());
    assert!(off <= 0.01 * all + 1e-3, "{what}: gradients are off by {off} of {all}");
    assert!(same >= INSTANCES * 9 / 10, "{what}: {same} runs are the same");
    own
}

fn check_precision(policy: &impl LinearKernel, dim: usize, arms: usize, what: &str) {
    let problem = problem(dim, arms, HORIZON);
    let mut random = Random(Stream::new((), Key::new(dim as u64), arms as u64));
    for rank in [1, dim / 2, dim - 1, dim, dim + 2] {
        for (scale, decades) in [
            (0.02, 0.0),
            (1.0, 0.0),
            (1.0, 3.0),
            (8.0, 0.0),
            (8.0, 1.0),
            (30.0, 4.0),
            (60.0, 0.0),
            (300.0, 2.0),
        ] {
            let w = conditioned(rank.max(1), dim, scale, decades, &mut random);
            let what = format!("{what}, scale {scale}, {decades} decades");
            agreed(policy, &w, rank.max(1), &problem, &what);
        }
    }
}

#[test]
fn players_agree_with_double_precision_for_every_projection() {
    check_precision(&SoftUcb { alpha: 0.5, temperature: 0.1, hard: false }, 6, 3, "soft-ucb");
    check_precision(&SoftUcb { alpha: 0.5, temperature: 0.1, hard: false }, 20, 2, "soft-ucb");
    check_precision(&CoSoftElim { gamma: 4.0, learn_gamma: true }, 6, 3, "cosoftelim");
}

/// Every iterate of trainings of each rank, from small and large starts with steps of a tenth of W: W grows, and
/// its smaller singular values fall behind.
#[test]
fn trainings_agree_with_double_precision() {
    let policy = SoftUcb { alpha: 0.5, temperature: 0.1, hard: false };
    let (dim, arms) = (6, 3);
    let problem = problem(dim, arms, HORIZON);
    let mut random = Random(Stream::new((), Key::new(3), 1));
    for (rank, scale) in [(1, 30.0), (2, 1.0), (2, 30.0), (dim, 1.0), (dim, 30.0)] {
        let mut w = conditioned(rank, dim, scale, 1.0, &mut random);
        let start = norm(&w);
        for step in 0..12 {
            let what = format!("step {step} from scale {scale}");
            let (_, gradients) = agreed(&policy, &w, rank, &problem, &what);
            let length = gradients.len() / INSTANCES;
            // The parameters beyond W stay.
            let mean = |i: usize| gradients.iter().skip(i).step_by(length).sum::<f64>() / INSTANCES as f64;
            let gradient: Vec<f64> = (0..w.len()).map(mean).collect();
            let rate = 0.1 * norm(&w) / norm(&gradient).max(1e-12);
            w.iter_mut().zip(&gradient).for_each(|(w, g)| *w += rate * g);
        }
        assert_ne!(norm(&w), start);
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
