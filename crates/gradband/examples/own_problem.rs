//! A problem of one's own: the arms are prices, and a sale pays the price. One product is like another, so a policy
//! can learn from past products how to price the next one.

use gradband::{Bandit, Problem, Random, Result, Simulator, Trainer};

const PRICES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// Customers buy if the product is worth its price to them; what it is worth on average differs from product to product.
#[derive(Debug)]
struct Pricing;

impl Bandit for Pricing {
    fn arms(&self) -> usize {
        PRICES.len()
    }

    fn instance(&self, random: &mut Random, means: &mut [f64]) {
        let worth = random.beta(3.0, 2.0);
        for (mean, price) in means.iter_mut().zip(PRICES) {
            let buyers = 1.0 / (1.0 + ((price - worth) / 0.1).exp());
            *mean = price * buyers;
        }
    }

    fn reward(&self, random: &mut Random, arm: usize, mean: f64) -> f64 {
        let price = PRICES[arm];
        if random.uniform() < mean / price { price } else { 0.0 }
    }
}

/// Tunes SoftElim to the products and compares it with policies that know nothing of them.
pub fn main() -> Result<()> {
    let problem = Problem::own(Pricing).name("pricing").horizon(300).build()?;
    let trained = Trainer::new("softelim").seed(1).train(&problem)?;
    let policies = [trained.policy(), &"softelim(w=1)".parse()?, &"ucb1".parse()?, &"random".parse()?];
    println!("{}", Simulator::new(&problem).instances(5_000).compare(policies)?);
    Ok(())
}
