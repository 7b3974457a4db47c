//! Job d: seconds of processor time for one training iteration of the LSTM (m = 500, n = 200, K = 2, baseline self,
//! realised returns, Adam step included), on one thread.
//!
//! `cargo bench --bench neural` prints one JSON object per line.

mod clock;

use clock::best_of;
use gradband::Problem;
use gradband::baseline::{Baseline, Returns};
use gradband::lstm::{Batch, Lstm, Sizes};
use gradband::optimizer::{Optimizer, Rule};
use gradband::simulate::Lanes;
use gradband::stream::Key;
use std::hint::black_box;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::named("bernoulli-2")?;
    let lstm = Lstm::new(Sizes::default(), problem.arms)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (variant, baseline, instances) in
        [("self", Baseline::SelfPlay, 500), ("loo 4", Baseline::LeaveOneOut(4), 125)]
    {
        let mut params = lstm.initial(Key::new(0), 1.0);
        let mut optimizer = Optimizer::new(Rule::Adam, None, lstm.len());
        let mut i = 0;
        let iteration = || {
            i += 1;
            let (key, lanes, returns) = (Key::new(1).child(i), Lanes::Auto, Returns::Realized);
            let batch =
                Batch { problem: &problem, key, instances, baseline, returns, temperature: 1.0, lanes };
            let (gradient, _) = lstm.gradient(&params, &batch);
            optimizer.step(&mut params, black_box(&gradient), 1e-4);
        };
        // Within the pool its one thread does everything, the clock's reading included.
        let seconds = pool.install(|| best_of(iteration));
        let rounds = (instances * baseline.runs() * problem.horizon) as f64;
        let ns = seconds * 1e9 / rounds;
        println!(
            r#"{{"bench":"job","job":"d","lib":"gradband","variant":"{variant}","cpu_s":{seconds:.6},"cpu_ns_per_policy_round":{ns:.2}}}"#
        );
    }
    Ok(())
}
