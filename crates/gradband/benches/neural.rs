//! Job d: seconds of processor time for one training iteration of the LSTM (m = 500, n = 200, K = 2, baseline self,
//! realised returns, Adam step included), on one thread.
//!
//! `cargo bench --bench neural` prints one JSON object per line.

mod clock;

use clock::{best_of, multiply_add_ns};
use gradband::Problem;
use gradband::learn::{Baseline, Plan, Rate, Recipe, Stage};
use gradband::policy::Choice;
use std::hint::black_box;

/// Enough for random weights and what training leaves, once each, not to count.
const ITERATIONS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::named("bernoulli-2")?;
    let initial = Choice::parse("lstm", &problem)?;
    // Four gates of 50 x 50 forwards in both runs of an instance, and backwards twice in the one that is differentiated.
    let ns = multiply_add_ns() * f64::from(4 * 50 * 50 * (2 + 2) / 2);
    println!(r#"{{"bench":"floor","job":"d","cpu_ns_per_policy_round":{ns:.2}}}"#);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (variant, baseline, instances) in
        [("self", Baseline::SelfPlay, 500), ("loo 4", Baseline::LeaveOneOut(4), 125)]
    {
        let rate = Rate { initial: 1e-4, end: 1.0, decay: 1.0 };
        let stages = vec![Stage { horizon: problem.horizon(), iterations: ITERATIONS, rate }];
        let recipe = Recipe { stages, instances, baseline, temperature: false, ..Recipe::paper(&problem) };
        let plan = Plan::Recurrent(recipe);
        let mut trained = Ok(());
        let train =
            || trained = plan.train(&problem, &initial, 0, &mut ()).map(|trained| drop(black_box(trained)));
        // Within the pool its one thread does everything, the clock's reading included.
        let seconds = pool.install(|| best_of(train)) / ITERATIONS as f64;
        trained?;
        let rounds = (instances * baseline.runs() * problem.horizon()) as f64;
        let ns = seconds * 1e9 / rounds;
        println!(
            r#"{{"bench":"job","job":"d","lib":"gradband","variant":"{variant}","cpu_s":{seconds:.6},"cpu_ns_per_policy_round":{ns:.2}}}"#
        );
    }
    Ok(())
}
