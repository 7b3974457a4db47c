//! Job c: nanoseconds of processor time per policy-round of CoSoftElim's gradient (baseline self, realised returns),
//! drawing the instances included, and of the parts that can be left out.
//!
//! `cargo bench --bench linear -- [sizes, as 8 36 123]` prints one JSON object per line.

use gradband::baseline::{Baseline, Returns};
use gradband::linear::{Instance, Job, LinearPolicy, Precision, Projection, gradient_len, rollout};
use gradband::policy::{CoSoftElim, LinThompson, SoftUcb};
use gradband::simulate::{Outcome, Task};
use gradband::stream::{Key, fill_normals};
use std::hint::black_box;

/// Best of this many measurements: noise of a shared machine only adds.
const REPEATS: usize = 7;
const NOISE_SD: f32 = 0.5;

/// Processor seconds of this thread.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn best_of(mut work: impl FnMut()) -> f64 {
    work(); // warms caches and branch predictors
    let measure = |_| {
        let start = now();
        work();
        now() - start
    };
    (0..REPEATS).map(measure).fold(f64::INFINITY, f64::min)
}

#[derive(Clone, Copy)]
struct Size {
    dim: usize,
    arms: usize,
    horizon: usize,
    instances: usize,
}

const SIZES: [Size; 3] = [
    Size { dim: 8, arms: 4, horizon: 200, instances: 500 },
    Size { dim: 36, arms: 6, horizon: 500, instances: 80 },
    Size { dim: 123, arms: 2, horizon: 500, instances: 80 },
];

/// Contexts (normal + 1) sqrt(8/d); parameters normal on the first half of the dimensions, 0 on the rest.
fn sample(size: Size, index: u64, instance: &mut Instance) {
    let Size { dim, arms, horizon, .. } = size;
    let key = Key::new(1);
    let half = dim / 2;
    let mut theta = vec![0.0; half * arms];
    fill_normals(key.child(0), index, &mut theta);
    instance.contexts.resize(horizon * dim, 0.0);
    fill_normals(key.child(1), index, &mut instance.contexts);
    let scale = (8.0 / dim as f32).sqrt();
    for x in &mut instance.contexts {
        *x = (*x + 1.0) * scale;
    }
    instance.rewards.resize(horizon * arms, 0.0);
    fill_normals(key.child(2), index, &mut instance.rewards);
    instance.means.resize(horizon * arms, 0.0);
    // Arms in the inner loop, which then needs no sum across a vector.
    for (x, means) in instance.contexts.chunks_exact(dim).zip(instance.means.chunks_exact_mut(arms)) {
        means.fill(0.0);
        for (x, theta) in x.iter().zip(theta.chunks_exact(arms)) {
            for (mean, theta) in means.iter_mut().zip(theta) {
                *mean += x * theta;
            }
        }
    }
    for (reward, mean) in instance.rewards.iter_mut().zip(&instance.means) {
        *reward = mean + NOISE_SD * *reward;
    }
}

/// W = I plus a small random matrix.
fn projection(dim: usize) -> Projection {
    let mut w = vec![0.0; dim * dim];
    fill_normals(Key::new(2), 0, &mut w);
    let size = 0.1 / (dim as f64).sqrt();
    let w: Vec<_> = w
        .iter()
        .enumerate()
        .map(|(i, &x)| f64::from(x) * size + f64::from(u8::from(i % (dim + 1) == 0)))
        .collect();
    Projection::new(&w, dim, dim, 1.0)
}

fn measure<P: LinearPolicy>(policy: &P, size: Size, task: Task, precision: Precision) -> f64 {
    let Size { dim, arms, horizon, instances } = size;
    let projection = projection(dim);
    let sample = |index: u64, instance: &mut Instance| sample(size, index, instance);
    let job =
        Job { projection: &projection, horizon, arms, task, key: Key::new(3), precision, sample: &sample };
    let mut out = vec![Outcome::default(); instances];
    let length = if task == Task::Evaluate { 0 } else { gradient_len(policy, &projection) };
    let mut gradients = vec![0.0; instances * length];
    let seconds = best_of(|| rollout(policy, &job, 0, black_box(&mut out), black_box(&mut gradients)));
    seconds * 1e9 / (instances * horizon * task.runs()) as f64
}

fn report(size: Size, variant: &str, nanoseconds: f64) {
    let Size { dim, arms, horizon, instances } = size;
    println!(
        r#"{{"bench":"job","job":"c","lib":"gradband","variant":"{variant}","d":{dim},"K":{arms},"n":{horizon},"m":{instances},"cpu_ns_per_policy_round":{nanoseconds:.2}}}"#
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let realised = |baseline| Task::Gradient(baseline, Returns::Realized);
    let both = realised(Baseline::SelfPlay);
    for size in SIZES {
        if !wanted.is_empty() && !wanted.contains(&size.dim.to_string()) {
            continue;
        }
        let policy = CoSoftElim { gamma: 4.0, learn_gamma: false };
        report(size, "cosoftelim", measure(&policy, size, both, Precision::Single));
        report(size, "cosoftelim f64", measure(&policy, size, both, Precision::Double));
        report(size, "cosoftelim evaluated", measure(&policy, size, Task::Evaluate, Precision::Single));
        let loo = realised(Baseline::LeaveOneOut(8));
        report(size, "cosoftelim loo 8", measure(&policy, size, loo, Precision::Single));
        let soft = SoftUcb { alpha: 1.0, temperature: 0.25, hard: false };
        report(size, "soft-ucb", measure(&soft, size, both, Precision::Single));
        let thompson = LinThompson { noise_sd: 0.5, learn: true };
        report(size, "lin-thompson", measure(&thompson, size, both, Precision::Single));
        // The share of drawing instances, which serves two runs.
        let mut instance = Instance::default();
        let seconds = best_of(|| {
            for index in 0..size.instances as u64 {
                sample(size, index, black_box(&mut instance));
            }
        });
        report(size, "instances alone", seconds * 1e9 / (2 * size.instances * size.horizon) as f64);
    }
}
