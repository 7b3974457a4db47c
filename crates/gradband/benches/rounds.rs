use gradband::{baseline::*, policy::*, problem::Split, simulate::*, stream::Key, *};
fn bench<P: Policy>(name: &str, policy: &P, problem: &Problem, task: Task, m: usize, iters: u64) {
    for lanes in [Lanes::Auto, Lanes::Single] {
        let mut out = vec![Outcome::default(); m];
        let mut best = f64::MAX;
        let mut sum = Outcome::default();
        let mut sq = 0.0;
        let iters = if lanes == Lanes::Auto { iters } else { iters / 8 + 1 };
        for rep in 0..3 {
            let t = std::time::Instant::now();
            sum = Outcome::default();
            sq = 0.0;
            for it in 0..iters {
                let job = Job {
                    problem,
                    key: Key::new(rep).child(it),
                    split: Split::Train,
                    task,
                    lanes,
                    block: 32,
                };
                for (b, c) in out.chunks_mut(32).enumerate() {
                    rollout(policy, &job, b as u64 * 32, c);
                }
                for o in &out {
                    sum.reward += o.reward;
                    sum.regret += o.regret;
                    sum.gradient += o.gradient;
                    sq += o.regret * o.regret;
                }
            }
            best = best.min(t.elapsed().as_secs_f64());
        }
        let n = (m as u64 * iters) as f64;
        println!(
            "{name:10} {:12} {lanes:?}: {:.3} ns/round  regret {:.4} ± {:.4} grad {:.4}",
            problem.name,
            best * 1e9 / (n * (problem.horizon * task.runs()) as f64),
            sum.regret / n,
            ((sq / n - (sum.regret / n).powi(2)) / n).sqrt(),
            sum.gradient / n
        );
    }
}
fn main() {
    let p2 = Problem::named("bernoulli-2").unwrap();
    let p10 = Problem::named("bernoulli-10").unwrap();
    let g = Task::Gradient(Baseline::SelfPlay, Returns::Realized);
    let l = Task::Gradient(Baseline::LeaveOneOut(8), Returns::Mean);
    bench("softelim", &SoftElim::new(1.0), &p2, g, 1024, 100);
    bench("softelim", &SoftElim::new(1.0), &p2, l, 256, 100);
    bench("softelim", &SoftElim::new(1.0), &p10, g, 1024, 4);
    bench("softelim", &SoftElim::new(1.0), &p10, l, 256, 4);
    for p in [p2, p10, Problem::named("beta-2").unwrap(), Problem::named("beta-10").unwrap()] {
        let it = if p.arms == 2 { 100 } else { 4 };
        let e = Task::Evaluate;
        bench("softelim", &SoftElim::new(1.0), &p, e, 1024, it);
        bench("exp3", &Exp3::new(0.24, p.arms, exp3::Score::Total), &p, e, 1024, it);
        bench("boltzmann", &Boltzmann::new(0.1), &p, e, 1024, it);
        bench("eps", &EpsilonGreedy::new(0.1), &p, e, 1024, it);
        bench("ucb1", &Ucb1::new(p.horizon), &p, e, 1024, it);
        bench("ucbv", &UcbV::new(p.arms, p.horizon), &p, e, 1024, it);
        bench("thompson", &Thompson, &p, e, 1024, it);
        bench("random", &Random, &p, e, 1024, it);
    }
}
