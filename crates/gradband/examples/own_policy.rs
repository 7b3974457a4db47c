//! A policy of one's own, with two parameters: written as logits, differentiated and tuned like a built-in one.

use gradband::{Param, Policy, Problem, Result, Rule, Scalar, Seen, Simulator, Trainer};

/// A softmax of upper confidence bounds.
struct Optimist;

impl Rule for Optimist {
    fn name(&self) -> String {
        "optimist".into()
    }

    fn params(&self) -> Vec<Param> {
        vec![Param::positive("width", 1.0), Param::positive("temperature", 0.1)]
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        let [width, temperature] = [params[0], params[1]];
        for (arm, logit) in logits.iter_mut().enumerate() {
            *logit = (width * (1.0 / seen.pulls(arm)).sqrt() + seen.mean(arm)) / temperature;
        }
    }
}

/// Tunes the rule and compares it, tuned and untuned, with built-in policies.
pub fn main() -> Result<()> {
    let problem = Problem::named("bernoulli-2-uniform")?;
    let trained = Trainer::own(Optimist).seed(1).train(&problem)?;
    println!("{trained}");
    for record in trained.history().iter().step_by(20) {
        println!("iteration {:3}: {:.4?}", record.iteration, record.params.as_deref().unwrap_or_default());
    }
    let untuned = Policy::own(Optimist).with_param("width", &[1.0]).with_param("temperature", &[0.1]);
    let policies = [trained.policy(), &untuned, &"softelim(w=0.53)".parse()?, &"thompson".parse()?];
    println!("{}", Simulator::new(&problem).instances(5_000).compare(policies)?);
    Ok(())
}
