//! Nanoseconds per policy-round.
use gradband::{baseline::*, policy::*, problem::Split, simulate::*, stream::Key, *};
fn cpu() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        * 1e-9
}
fn bench<P: Policy>(
    name: &str,
    policy: &P,
    problem: &Problem,
    task: Task,
    m: usize,
    iters: u64,
    lanes: Lanes,
) {
    let mut out = vec![Outcome::default(); m];
    let mut best = f64::MAX;
    let mut sum = Outcome::default();
    for rep in 0..9 {
        let t = cpu();
        sum = Outcome::default();
        for it in 0..iters {
            let job =
                Job { problem, key: Key::new(rep).child(it), split: Split::Train, task, lanes, block: 32 };
            for (b, c) in out.chunks_mut(32).enumerate() {
                rollout(policy, &job, b as u64 * 32, c);
            }
            for o in &out {
                sum.regret += o.regret;
                sum.gradient += o.gradient;
            }
        }
        best = best.min(cpu() - t);
    }
    let n = (m as u64 * iters) as f64;
    println!(
        "{name:10} {:12} {lanes:?}: {:.3} ns/round  regret {:.4} grad {:.4}",
        problem.name,
        best * 1e9 / (n * (problem.horizon * task.runs()) as f64),
        sum.regret / n,
        sum.gradient / n
    );
}
fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let p2 = Problem::named("bernoulli-2").unwrap();
    let p10 = Problem::named("bernoulli-10").unwrap();
    let g = Task::Gradient(Baseline::SelfPlay, Returns::Realized);
    let l = Task::Gradient(Baseline::LeaveOneOut(8), Returns::Mean);
    let s = SoftElim::new(1.0);
    let a = Lanes::Auto;
    if which.contains('a') {
        bench("softelim", &s, &p2, g, 1024, 100, a);
    }
    if which.contains('l') {
        bench("softelim", &s, &p2, l, 256, 100, a);
    }
    if which.contains('b') {
        bench("softelim", &s, &p10, g, 1024, 4, a);
        bench("softelim", &s, &p10, l, 256, 4, a);
    }
    if which.contains('e') {
        bench("ucb1", &Ucb1::new(1000), &p10, Task::Evaluate, 1024, 4, a);
        bench("softelim", &s, &p10, Task::Evaluate, 1024, 4, a);
        bench("thompson", &Thompson, &p10, Task::Evaluate, 1024, 1, a);
    }
}
