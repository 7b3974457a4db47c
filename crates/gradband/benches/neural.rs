//! Job d: seconds of processor time for one training iteration of the LSTM (m = 500, n = 200, K = 2, baseline self,
//! realised returns, Adam step included), on one thread.
//!
//! `cargo bench --bench neural` prints one JSON object per line.

use gradband::Problem;
use gradband::baseline::{Baseline, Returns};
use gradband::lstm::{Batch, Lstm, Sizes};
use gradband::optimizer::{Optimizer, Rule};
use gradband::simulate::Lanes;
use gradband::stream::Key;
use std::hint::black_box;

const REPEATS: u64 = 7;

/// Processor seconds of all threads.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::named("bernoulli-2")?;
    let lstm = Lstm::new(Sizes::default(), problem.arms)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (variant, baseline, instances) in
        [("self", Baseline::SelfPlay, 500), ("loo 4", Baseline::LeaveOneOut(4), 125)]
    {
        let mut params = lstm.initial(Key::new(0), 1.0);
        let mut optimizer = Optimizer::new(Rule::Adam, None, lstm.len());
        let mut iteration = |i: u64| {
            let returns = Returns::Realized;
            let (key, lanes) = (Key::new(1).child(i), Lanes::Auto);
            let batch =
                Batch { problem: &problem, key, instances, baseline, returns, temperature: 1.0, lanes };
            let (gradient, _) = lstm.gradient(&params, &batch);
            optimizer.step(&mut params, black_box(&gradient), 1e-4);
        };
        let seconds = pool.install(|| {
            iteration(0); // warms caches
            let mut measure = |i| {
                let start = now();
                iteration(i);
                now() - start
            };
            (1..=REPEATS).map(&mut measure).fold(f64::INFINITY, f64::min)
        });
        let rounds = (instances * baseline.runs() * problem.horizon) as f64;
        let ns = seconds * 1e9 / rounds;
        println!(
            r#"{{"bench":"job","job":"d","lib":"gradband","variant":"{variant}","cpu_s":{seconds:.6},"cpu_ns_per_policy_round":{ns:.2}}}"#
        );
    }
    Ok(())
}
