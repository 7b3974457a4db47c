//! The definition, computed naively in double precision: G_i = W A_i W' + lambda I factored anew in each round from
//! the history, once of all pulls and once of those whose rewards are known, trajectories stored, and each round's score
//! multiplied by its advantage.

use crate::numeric::stream::{Random, Stream, fill_normals, fill_uniforms};
use crate::policy::linear_kernels::{CoSoftElim, LinEpsilonGreedy, LinThompson, SoftUcb};
use crate::problem::Instance;
use crate::simulate::late::tests::known_in;
use crate::simulate::linear::{Draws, LinearKernel};
use crate::simulate::{Baseline, Job, Returns, Task};

/// What a policy drew: an arm, and for Thompson sampling the samples behind it; or what was decided for it.
#[derive(Default)]
pub struct Choice {
    pub arm: usize,
    samples: Vec<f64>,
    /// Was the arm the floor's coin's?
    pub forced: bool,
    /// The first round in which its reward is known.
    known_in: usize,
}

impl Choice {
    pub fn of(arm: usize) -> Self {
        Self { arm, ..Self::default() }
    }
}

/// d log pi by means, variances and scalars.
pub struct Slopes {
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub scalars: Vec<f64>,
}

/// A policy by its definition.
pub trait Naive: LinearKernel {
    fn parameters(&self) -> Vec<f64>;
    fn with(&self, parameters: &[f64]) -> Self;
    fn choose(&self, mu: &[f64], v: &[f64], draws: &[f64]) -> Choice;
    /// Log-probability (or density) of the choice.
    fn log(&self, mu: &[f64], v: &[f64], choice: &Choice) -> f64;
    fn slopes(&self, mu: &[f64], v: &[f64], choice: &Choice) -> Slopes;
}

fn argmax(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[best] < values[i] { i } else { best })
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let top = logits[argmax(logits)];
    let total: f64 = logits.iter().map(|x| (x - top).exp()).sum();
    logits.iter().map(|x| (x - top).exp() / total).collect()
}

fn draw(pi: &[f64], u: f64) -> Choice {
    let mut sum = 0.0;
    let arm = pi[..pi.len() - 1].iter().filter(|&&p| {
        sum += p;
        u >= sum
    });
    Choice::of(arm.count())
}

/// d log pi_a = sum_i ([i = a] - pi_i) d logit_i.
fn chain(logits: &[f64], arm: usize, slope: impl Fn(usize) -> f64) -> f64 {
    let pi = softmax(logits);
    (0..pi.len()).map(|i| (f64::from(u8::from(i == arm)) - pi[i]) * slope(i)).sum()
}

fn is(i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j))
}

impl CoSoftElim {
    fn logits(&self, mu: &[f64], v: &[f64]) -> Vec<f64> {
        let best = mu[argmax(mu)];
        mu.iter()
            .zip(v)
            .map(|(m, &v)| if v > 0.0 { -self.gamma * (best - m).powi(2) / v } else { 0.0 })
            .collect()
    }
}

impl Naive for CoSoftElim {
    fn parameters(&self) -> Vec<f64> {
        if self.learn_gamma { vec![self.gamma] } else { Vec::new() }
    }
    fn with(&self, parameters: &[f64]) -> Self {
        Self { gamma: *parameters.first().unwrap_or(&self.gamma), ..*self }
    }
    fn choose(&self, mu: &[f64], v: &[f64], draws: &[f64]) -> Choice {
        draw(&softmax(&self.logits(mu, v)), draws[0])
    }
    fn log(&self, mu: &[f64], v: &[f64], choice: &Choice) -> f64 {
        softmax(&self.logits(mu, v))[choice.arm].ln()
    }
    fn slopes(&self, mu: &[f64], v: &[f64], choice: &Choice) -> Slopes {
        let (logits, top) = (self.logits(mu, v), argmax(mu));
        let slope = |i: usize| if v[i] > 0.0 { -2.0 * self.gamma * (mu[top] - mu[i]) / v[i] } else { 0.0 };
        let by_v = |i: usize| if v[i] > 0.0 { -logits[i] / v[i] } else { 0.0 };
        let arms = 0..mu.len();
        Slopes {
            mean: arms
                .clone()
                .map(|j| chain(&logits, choice.arm, |i| slope(i) * (is(j, top) - is(i, j))))
                .collect(),
            variance: arms.map(|j| chain(&logits, choice.arm, |i| by_v(i) * is(i, j))).collect(),
            scalars: self
                .parameters()
                .iter()
                .map(|g| chain(&logits, choice.arm, |i| logits[i] / g))
                .collect(),
        }
    }
}

impl SoftUcb {
    fn logits(&self, mu: &[f64], v: &[f64]) -> Vec<f64> {
        mu.iter().zip(v).map(|(m, v)| (m + self.alpha * v.sqrt()) / self.temperature).collect()
    }
}

impl Naive for SoftUcb {
    fn parameters(&self) -> Vec<f64> {
        vec![self.alpha, self.temperature]
    }
    fn with(&self, parameters: &[f64]) -> Self {
        Self { alpha: parameters[0], temperature: parameters[1], ..*self }
    }
    fn choose(&self, mu: &[f64], v: &[f64], draws: &[f64]) -> Choice {
        draw(&softmax(&self.logits(mu, v)), draws[0])
    }
    fn log(&self, mu: &[f64], v: &[f64], choice: &Choice) -> f64 {
        softmax(&self.logits(mu, v))[choice.arm].ln()
    }
    fn slopes(&self, mu: &[f64], v: &[f64], choice: &Choice) -> Slopes {
        let (logits, t) = (self.logits(mu, v), self.temperature);
        let by_v = |i: usize| if v[i] > 0.0 { self.alpha / (2.0 * t * v[i].sqrt()) } else { 0.0 };
        let arms = 0..mu.len();
        Slopes {
            mean: arms.clone().map(|j| chain(&logits, choice.arm, |i| is(i, j) / t)).collect(),
            variance: arms.map(|j| chain(&logits, choice.arm, |i| is(i, j) * by_v(i))).collect(),
            scalars: vec![
                chain(&logits, choice.arm, |i| v[i].sqrt() / t),
                chain(&logits, choice.arm, |i| -logits[i] / t),
            ],
        }
    }
}

impl Naive for LinThompson {
    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }
    fn with(&self, _: &[f64]) -> Self {
        *self
    }
    fn choose(&self, mu: &[f64], v: &[f64], draws: &[f64]) -> Choice {
        let samples: Vec<_> = (0..mu.len()).map(|i| mu[i] + self.noise_sd * v[i].sqrt() * draws[i]).collect();
        Choice { arm: argmax(&samples), samples, ..Choice::default() }
    }
    fn log(&self, mu: &[f64], v: &[f64], choice: &Choice) -> f64 {
        let variance = |i: usize| self.noise_sd.powi(2) * v[i];
        let density =
            |i: usize| -0.5 * (choice.samples[i] - mu[i]).powi(2) / variance(i) - 0.5 * variance(i).ln();
        (0..mu.len()).filter(|&i| v[i] > 0.0).map(density).sum()
    }
    fn slopes(&self, mu: &[f64], v: &[f64], choice: &Choice) -> Slopes {
        let noise = self.noise_sd.powi(2);
        let known = |i: usize, x: f64| if v[i] > 0.0 { x } else { 0.0 };
        let off = |i: usize| choice.samples[i] - mu[i];
        let arms = 0..mu.len();
        Slopes {
            mean: arms.clone().map(|i| known(i, off(i) / (noise * v[i]))).collect(),
            variance: arms
                .map(|i| known(i, 0.5 * off(i).powi(2) / (noise * v[i] * v[i]) - 0.5 / v[i]))
                .collect(),
            scalars: Vec::new(),
        }
    }
}

impl Naive for LinEpsilonGreedy {
    fn parameters(&self) -> Vec<f64> {
        vec![self.epsilon]
    }
    fn with(&self, parameters: &[f64]) -> Self {
        Self { epsilon: parameters[0] }
    }
    fn choose(&self, mu: &[f64], _: &[f64], draws: &[f64]) -> Choice {
        let explored = (draws[0] / self.epsilon * mu.len() as f64) as usize;
        let arm = if draws[0] < self.epsilon { explored } else { argmax(mu) };
        Choice::of(arm)
    }
    fn log(&self, mu: &[f64], _: &[f64], choice: &Choice) -> f64 {
        (self.epsilon / mu.len() as f64 + (1.0 - self.epsilon) * is(choice.arm, argmax(mu))).ln()
    }
    fn slopes(&self, mu: &[f64], v: &[f64], choice: &Choice) -> Slopes {
        let share = 1.0 / mu.len() as f64;
        let slope = (share - is(choice.arm, argmax(mu))) / self.log(mu, v, choice).exp();
        Slopes { mean: vec![0.0; mu.len()], variance: vec![0.0; mu.len()], scalars: vec![slope] }
    }
}

/// W with its shape.
#[derive(Clone)]
pub struct Space {
    pub w: Vec<f64>,
    pub rank: usize,
    pub dim: usize,
    pub ridge: f64,
}

/// One arm in one round: estimates, and their gradients by W if wanted.
pub struct Arm {
    pub mu: f64,
    pub v: f64,
    pub grad_mu: Vec<f64>,
    pub grad_v: Vec<f64>,
}

fn times(rows: &[f64], x: &[f64]) -> Vec<f64> {
    rows.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

/// Solves G x = b for symmetric positive G, by Cholesky.
fn solve(g: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = g[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| l[i * n + k] * x[k]).sum::<f64>()) / l[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| l[k * n + i] * x[k]).sum::<f64>()) / l[i * n + i];
    }
    x
}

impl Space {
    /// Arm `arm` in round `t`, from the pulls before it.
    pub fn arm(
        &self,
        instance: &Instance,
        arms: usize,
        pulls: &[Choice],
        t: usize,
        arm: usize,
        slopes: bool,
    ) -> Arm {
        let Self { ref w, rank, dim, ridge } = *self;
        let context = |s: usize| -> Vec<f64> {
            instance.contexts[s * dim..(s + 1) * dim].iter().map(|&x| f64::from(x)).collect()
        };
        let (x, mut c) = (context(t), vec![0.0; dim]);
        let ridges: Vec<_> = (0..rank * rank).map(|i| ridge * is(i / rank, i % rank)).collect();
        let (mut g, mut g_known) = (ridges.clone(), ridges);
        let (mut past, mut known) = (Vec::new(), Vec::new());
        for s in (0..t).filter(|&s| pulls[s].arm == arm) {
            let (x, y) = (context(s), f64::from(instance.rewards[s * arms + arm]));
            let u = times(w, &x);
            let square = |i: usize| u[i / rank] * u[i % rank];
            g.iter_mut().enumerate().for_each(|(i, g)| *g += square(i));
            if pulls[s].known_in <= t {
                g_known.iter_mut().enumerate().for_each(|(i, g)| *g += square(i));
                c.iter_mut().zip(&x).for_each(|(c, x)| *c += x * y);
                known.push(x.clone());
            }
            past.push(x);
        }
        let (u, b) = (times(w, &x), times(w, &c));
        let (q, k, p) = (solve(&g, &u), solve(&g_known, &u), solve(&g_known, &b));
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut out = Arm { mu: inner(&u, &p), v: inner(&u, &q), grad_mu: Vec::new(), grad_v: Vec::new() };
        if slopes {
            // d(u'G^-1 b) with d G = dW A W' + W A dW'; A W'p is the sum of x_s (x_s'W'p).
            let through = |past: &[Vec<f64>], p: &[f64]| {
                let mut sum = vec![0.0; dim];
                for x in past {
                    let share = inner(&times(w, x), p);
                    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += share * x);
                }
                sum
            };
            let (aq, ak, ap) = (through(&past, &q), through(&known, &k), through(&known, &p));
            let entry = |i: usize| (i / dim, i % dim);
            out.grad_mu = (0..rank * dim)
                .map(entry)
                .map(|(i, j)| p[i] * x[j] + k[i] * c[j] - k[i] * ap[j] - p[i] * ak[j])
                .collect();
            out.grad_v = (0..rank * dim).map(entry).map(|(i, j)| 2.0 * q[i] * (x[j] - aq[j])).collect();
        }
        out
    }

    fn estimates(
        &self,
        instance: &Instance,
        arms: usize,
        pulls: &[Choice],
        t: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        (0..arms).map(|i| self.arm(instance, arms, pulls, t, i, false)).map(|arm| (arm.mu, arm.v)).unzip()
    }

    /// The choices of run `r` of instance `index`.
    pub fn play<P: Naive>(
        &self,
        policy: &P,
        job: &Job,
        instance: &Instance,
        index: u64,
        r: usize,
    ) -> Vec<Choice> {
        let key = job.action_key(r);
        let (arms, horizon) = (job.problem.arms, job.problem.horizon);
        let per_round = if LinearKernel::draws(policy) == Draws::Normal { arms } else { 1 };
        let mut draws = vec![0.0; horizon * per_round];
        match LinearKernel::draws(policy) {
            Draws::Normal => fill_normals(key, index, &mut draws),
            _ => fill_uniforms(key, index, &mut draws),
        }
        let (floor, known_in) = (job.problem.world().floor, known_in(job, index));
        let mut coins = Random(Stream::new((), job.coin_key(r), index));
        let mut pulls = Vec::new();
        for (t, draws) in draws.chunks_exact(per_round).enumerate() {
            let (mu, v) = self.estimates(instance, arms, &pulls, t);
            let draws: Vec<_> = draws.iter().map(|&x| f64::from(x)).collect();
            let coin = coins.uniform();
            let choice = match coin < floor * arms as f64 {
                true => Choice { forced: true, ..Choice::of((coin / floor) as usize) },
                false => policy.choose(&mu, &v, &draws),
            };
            pulls.push(Choice { known_in: known_in[t], ..choice });
        }
        pulls
    }

    /// The sum of the rounds' log-probabilities times `advantages`, for given choices.
    pub fn log<P: Naive>(
        &self,
        policy: &P,
        job: &Job,
        instance: &Instance,
        pulls: &[Choice],
        advantages: &[f64],
    ) -> f64 {
        let round = |t: usize| {
            let (mu, v) = self.estimates(instance, job.problem.arms, pulls, t);
            advantages[t] * policy.log(&mu, &v, &pulls[t])
        };
        (0..job.problem.horizon).filter(|&t| !pulls[t].forced).map(round).sum()
    }

    /// Its gradient by W and the scalars.
    pub fn slopes<P: Naive>(
        &self,
        policy: &P,
        job: &Job,
        instance: &Instance,
        pulls: &[Choice],
        advantages: &[f64],
    ) -> Vec<f64> {
        let size = if LinearKernel::learns_projection(policy) { self.w.len() } else { 0 };
        let mut out = vec![0.0; size + LinearKernel::scalars(policy)];
        let count = job.problem.arms;
        for t in (0..job.problem.horizon).filter(|&t| !pulls[t].forced) {
            let arms: Vec<_> = (0..count).map(|i| self.arm(instance, count, pulls, t, i, true)).collect();
            let (mu, v): (Vec<_>, Vec<_>) = arms.iter().map(|arm| (arm.mu, arm.v)).unzip();
            let slopes = policy.slopes(&mu, &v, &pulls[t]);
            for (i, arm) in arms.iter().enumerate() {
                for (out, (by_mu, by_v)) in out[..size].iter_mut().zip(arm.grad_mu.iter().zip(&arm.grad_v)) {
                    *out += advantages[t] * (slopes.mean[i] * by_mu + slopes.variance[i] * by_v);
                }
            }
            for (out, slope) in out[size..].iter_mut().zip(&slopes.scalars) {
                *out += advantages[t] * slope;
            }
        }
        out
    }
}

/// The advantages of run `r`: returns from each round on, minus those of the baseline.
pub fn advantages(job: &Job, instance: &Instance, runs: &[Vec<Choice>], r: usize) -> Vec<f64> {
    let Task::Gradient(baseline, returns) = job.task else { return Vec::new() };
    let (count, horizon) = (job.problem.arms, job.problem.horizon);
    let table = if returns == Returns::Mean { &instance.means } else { &instance.rewards };
    let weight = |t: usize| job.problem.world().horizon.weight(t);
    let value = |t: usize, arm: usize| weight(t) * f64::from(table[t * count + arm]);
    let excess = |t: usize| {
        let others: Vec<_> =
            (0..runs.len()).filter(|&other| other != r).map(|other| value(t, runs[other][t].arm)).collect();
        let means: Vec<_> =
            instance.means[t * count..(t + 1) * count].iter().map(|&x| f64::from(x)).collect();
        value(t, runs[r][t].arm)
            - match baseline {
                Baseline::None => 0.0,
                Baseline::Opt => value(t, argmax(&means)),
                _ => others.iter().sum::<f64>() / others.len() as f64,
            }
    };
    (0..horizon).map(|t| (t..horizon).map(excess).sum()).collect()
}
