//! A contextual problem so small that everything that can happen is enumerated, in any world with a fixed delay; and
//! policies as the paper writes them.
#![allow(dead_code, clippy::unwrap_used)]

use super::numbers::normal_cdf;
use gradband::problem::{Delay, ExamplesBuilder, Problem, Scale, World};

/// Three examples of two features in two classes.
pub const EXAMPLES: [([f64; 2], usize); 3] = [([0.5, -1.0], 0), ([1.0, 0.25], 1), ([-0.75, 0.5], 1)];

/// Any of them in each round.
pub fn enumerable(world: World) -> Problem {
    let mut builder = ExamplesBuilder::new(Scale::None, 0.0).unwrap();
    for (x, label) in EXAMPLES {
        builder.push(&x, &label.to_string()).unwrap();
    }
    let (examples, _) = builder.finish(None).unwrap();
    let plain = Problem::classification(examples).name("three").horizon(1).build().unwrap();
    plain.with_world(world).unwrap()
}

/// Is the reward of round `s` known in round `t`? From the definition: after the delay, at the end of a batch.
pub fn known(world: &World, s: usize, t: usize) -> bool {
    let Delay::Rounds(delay) = world.delay else { panic!("a fixed delay") };
    s + delay < t / world.batch * world.batch
}

/// A policy's probabilities from estimated means and variances, as the paper writes them.
pub type Rule<'a> = &'a dyn Fn(&[f64; 2], &[f64; 2]) -> [f64; 2];

/// A round: its example and the arm that was pulled.
type Step = (([f64; 2], usize), usize);

/// Expected reward by complete enumeration. In every round an arm is fitted anew: its variance from all of its past, its
/// mean from the part that is known.
pub fn enumerated(world: &World, w: &[f64; 4], ridge: f64, rule: Rule) -> f64 {
    ahead(world, w, ridge, rule, &mut Vec::new())
}

/// The reward to come after a past: every example, then every arm, by its probability.
fn ahead(world: &World, w: &[f64; 4], ridge: f64, rule: Rule, past: &mut Vec<Step>) -> f64 {
    let t = past.len();
    if t == world.horizon.rounds() {
        return 0.0;
    }
    let mut total = 0.0;
    for (x, label) in EXAMPLES {
        let (mut mu, mut v) = ([0.0; 2], [0.0; 2]);
        for arm in 0..2 {
            let of = |from: &dyn Fn(usize) -> bool| -> Vec<_> {
                let steps = past.iter().enumerate().filter(|(s, step)| step.1 == arm && from(*s));
                steps.map(|(_, &((x, label), _))| (x, f64::from(u8::from(label == arm)))).collect()
            };
            mu[arm] = fitted(w, ridge, &of(&|s| known(world, s, t)), x).0;
            v[arm] = fitted(w, ridge, &of(&|_| true), x).1;
        }
        for (arm, pi) in rule(&mu, &v).into_iter().enumerate() {
            let probability = (world.floor + (1.0 - 2.0 * world.floor) * pi) / EXAMPLES.len() as f64;
            let reward = world.horizon.weight(t) * f64::from(u8::from(label == arm));
            past.push(((x, label), arm));
            total += probability * (reward + ahead(world, w, ridge, rule, past));
            past.pop();
        }
    }
    total
}

fn fitted(w: &[f64; 4], ridge: f64, past: &[([f64; 2], f64)], x: [f64; 2]) -> (f64, f64) {
    let project = |x: [f64; 2]| [w[0] * x[0] + w[1] * x[1], w[2] * x[0] + w[3] * x[1]];
    let (mut g, mut c) = ([ridge, 0.0, ridge], [0.0; 2]);
    for &(x, y) in past {
        let u = project(x);
        (g[0], g[1], g[2]) = (g[0] + u[0] * u[0], g[1] + u[0] * u[1], g[2] + u[1] * u[1]);
        (c[0], c[1]) = (c[0] + u[0] * y, c[1] + u[1] * y);
    }
    let determinant = g[0] * g[2] - g[1] * g[1];
    let solve =
        |b: [f64; 2]| [(g[2] * b[0] - g[1] * b[1]) / determinant, (g[0] * b[1] - g[1] * b[0]) / determinant];
    let (u, theta) = (project(x), solve(c));
    let h = solve(u);
    (u[0] * theta[0] + u[1] * theta[1], u[0] * h[0] + u[1] * h[1])
}

pub fn cosoftelim(gamma: f64) -> impl Fn(&[f64; 2], &[f64; 2]) -> [f64; 2] {
    move |mu, v| {
        let best = mu[0].max(mu[1]);
        let weight = |i: usize| (-gamma * (best - mu[i]).powi(2) / v[i]).exp();
        let total = weight(0) + weight(1);
        [weight(0) / total, weight(1) / total]
    }
}

pub fn soft_ucb(alpha: f64, temperature: f64) -> impl Fn(&[f64; 2], &[f64; 2]) -> [f64; 2] {
    move |mu, v| {
        let weight = |i: usize| ((mu[i] + alpha * v[i].sqrt()) / temperature).exp();
        [weight(0) / (weight(0) + weight(1)), weight(1) / (weight(0) + weight(1))]
    }
}

/// The chance that one of two independent normal samples is the larger.
pub fn lin_thompson(noise_sd: f64) -> impl Fn(&[f64; 2], &[f64; 2]) -> [f64; 2] {
    move |mu, v| {
        let z = (mu[0] - mu[1]) / (noise_sd * (v[0] + v[1]).sqrt());
        [normal_cdf(z), normal_cdf(-z)]
    }
}

pub fn greedy(epsilon: f64) -> impl Fn(&[f64; 2], &[f64; 2]) -> [f64; 2] {
    move |mu, _| {
        let first = if mu[1] > mu[0] { epsilon / 2.0 } else { 1.0 - epsilon / 2.0 };
        [first, 1.0 - first]
    }
}

/// A projection that is not symmetric.
pub const W: [f64; 4] = [0.9, -0.4, 0.7, 1.6];
