//! Answers without sampling error on a two-armed Bernoulli problem: regrets, a gradient, the optimum, Gittins indices.

use gradband::exact::GittinsTable;
use gradband::learn::GradientSource;
use gradband::{Problem, Result, Simulator, Trainer};

/// Compares exact with simulated regrets, then climbs along exact gradients.
pub fn main() -> Result<()> {
    let problem = Problem::named("bernoulli-2")?.with_horizon(100)?;
    let simulator = Simulator::new(&problem).instances(10_000);
    for policy in ["softelim(w=1)", "epsilon-greedy(epsilon=0.1)", "ucb1", "gittins", "bayes-optimal"] {
        let exact = simulator.exact(policy)?;
        let simulated = simulator.evaluate(policy)?.regret();
        println!("{policy:28} regret {:.6}, simulated {simulated}", exact.bayes_regret);
    }
    let slope = simulator.exact("softelim(w=1)")?.gradient[0];
    println!("\nd reward / d w of softelim at w = 1: {slope:.6}");

    let trained = Trainer::new("softelim").gradient(GradientSource::Exact).train(&problem)?;
    let tuned = simulator.exact(trained.policy())?;
    println!("{trained}: regret {:.6}, slope {:.1e}", tuned.bayes_regret, tuned.gradient[0]);

    // The more rounds are left, the more an arm is worth beyond its mean of one half.
    let table = GittinsTable::new(100, &mut ())?;
    for remaining in [1, 10, 98] {
        println!("index after 1 success in 2 pulls, {remaining:2} left: {:.4}", table.index(1, 1, remaining));
    }
    Ok(())
}
