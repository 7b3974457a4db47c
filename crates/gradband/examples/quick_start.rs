//! Tunes SoftElim to campaigns with low click rates and shows what that gains over Thompson sampling.

use gradband::{Policy, Prior, Problem, Result, Simulator, Trainer};

/// Trains, then compares on campaigns that training never saw.
pub fn main() -> Result<()> {
    // Six campaigns with click rates around 5 %, 500 rounds each.
    let problem = Problem::bernoulli(Prior::beta(6, 4.0, 76.0)?).name("clicks").horizon(500).build()?;
    let trained = Trainer::new("softelim").seed(1).train(&problem)?;
    println!("{problem}\n{trained}\n");

    let others = ["softelim(w=1)", "thompson", "ucb1"].map(str::parse::<Policy>);
    let mut policies = others.into_iter().collect::<Result<Vec<_>>>()?;
    policies.push(trained.policy().clone());
    let comparison = Simulator::new(&problem).instances(5_000).compare(&policies)?;
    println!("{comparison}\n");

    // Paired: all policies met the same instances and the same rewards.
    let gain = comparison.difference(1, 3);
    println!("gain over thompson: {gain} (95 % interval {})", comparison.interval(&gain));
    Ok(())
}
