//! Contexts: which of eight features matter is learned, first on a synthetic problem, then on labelled examples.

use gradband::problem::{ExamplesBuilder, Scale};
use gradband::{Problem, Result, Simulator, Trainer};

/// Learns two projections and shows them, a length per feature.
pub fn main() -> Result<()> {
    // Only the first four of its eight features matter.
    tune(&Problem::named("linear-1")?, "soft-ucb")?;

    // Points in the unit cube whose class is the half in which their first coordinate lies.
    let mut examples = ExamplesBuilder::new(Scale::MinMax, 0.3)?;
    for i in 1..=200 {
        let coordinate = |step: f64| (f64::from(i) * step).fract();
        let row = [coordinate(0.618), coordinate(0.414), coordinate(0.732)];
        examples.push(&row, if row[0] < 0.5 { "left" } else { "right" })?;
    }
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let (examples, notes) = examples.finish(Some(names))?;
    notes.iter().for_each(|note| println!("{note}"));
    tune(&Problem::classification(examples).name("halves").horizon(100).build()?, "cosoftelim")
}

fn tune(problem: &Problem, policy: &str) -> Result<()> {
    let trained = Trainer::new(policy).seed(1).iterations(40).batch_size(60).train(problem)?;
    let policies = [trained.policy(), &trained.initial().policy(), &"linucb".parse()?];
    println!("{problem}\n{}", Simulator::new(problem).instances(1_000).compare(policies)?);
    let w = trained.policy().param("W").unwrap_or_default();
    let dim = problem.contextual().map_or(1, |contextual| contextual.dim());
    let length = |column: usize| w.iter().skip(column).step_by(dim).map(|x| x * x).sum::<f64>().sqrt();
    println!("column lengths of W: {:.2?}\n", (0..dim).map(length).collect::<Vec<_>>());
    Ok(())
}
