//! Job c: nanoseconds of processor time per policy-round of a contextual gradient (baseline self, realised returns),
//! drawing the instances included, on dense contexts with W not the identity.
//!
//! `cargo bench --bench linear -- [sizes, as 8 36 123] [parts of variants, as delay]` prints one JSON object per line.

mod clock;

use clock::{best_of, multiply_add_ns};
use gradband::policy::Choice;
use gradband::problem::{
    Classification, ContextModel, Covariance, Delay, Draw, Examples, ExamplesBuilder, Instance, Linear,
    Normal, Problem, Scale, Split, World,
};
use gradband::simulate::{Baseline, Job, Key, Lanes, Outcome, Output, Returns, Task};
use std::hint::black_box;

/// d, K, n and m of the peers' job.
const SIZES: [(usize, usize, usize, usize); 3] = [(8, 4, 200, 500), (36, 6, 500, 80), (123, 2, 500, 80)];

/// Contexts (normal + 1) sqrt(8/d); parameters normal on the first half of the dimensions, 0 on the rest.
fn problem(dim: usize, arms: usize, horizon: usize) -> gradband::Result<Problem> {
    let scale = 8.0 / dim as f64;
    let context = Normal::new(vec![scale.sqrt(); dim], Covariance::Diagonal(vec![scale; dim]))?;
    let half = (0..dim).map(|i| f64::from(u8::from(i < dim / 2))).collect();
    let theta = Normal::new(vec![0.0; dim], Covariance::Diagonal(half))?;
    let linear = Linear::new(context, vec![theta], 0.5)?;
    Problem::linear(linear, arms).name(format!("linear, d = {dim}")).horizon(horizon).build()
}

/// Two thousand examples with a one-hot feature for every nine dimensions, scaled to [-1, 1], and as many classes as arms.
fn one_hot(dim: usize, arms: usize) -> gradband::Result<Examples> {
    let mut rows = ExamplesBuilder::new(Scale::MinMax, 0.0)?;
    for i in 0..2000 {
        let place = |j: usize| j - j % 9 + (i + 7 * (j / 9) * (i / 9 + 1)) % 9;
        let x: Vec<_> = (0..dim).map(|j| f64::from(u8::from(place(j) == j))).collect();
        rows.push(&x, &format!("class {}", (i % 9 + i % 5) % arms))?;
    }
    Ok(rows.finish(None)?.0)
}

/// The same as contexts of which nothing is known.
#[derive(Debug)]
struct InFull(Classification);

impl ContextModel for InFull {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        self.0.draw(draw, instance);
    }
    fn longest_squared(&self) -> f64 {
        self.0.longest_squared()
    }
}

/// The policy's own parameters, W moved away from the identity.
fn choose(name: &str, problem: &Problem) -> gradband::Result<Choice> {
    let initial = Choice::parse(name, problem)?;
    let Some(slot) = initial.slots().into_iter().find(|slot| slot.shape.len() == 2) else {
        return Ok(initial);
    };
    let size = 0.1 / (slot.shape[1] as f64).sqrt();
    let old = &initial.params()[slot.range.clone()];
    // Sines of multiples of a number look random enough.
    let w: Vec<f64> = old.iter().enumerate().map(|(i, w)| w + size * (7.7 * i as f64).sin()).collect();
    initial.with_param(problem, slot.name(), &w)
}

/// Multiply-adds of a policy-round with baseline self, of whose two runs one is differentiated: M x or W x, which they share; Q y of all
/// arms; the update of one; and the gradient: h u' of all arms, or in the projected space h u' + u h' of all arms, S y of one and
/// gamma x'.
fn multiply_adds(dim: usize, arms: usize, rank: usize) -> f64 {
    let (d, k, r) = (dim as f64, arms as f64, rank as f64);
    let play = r * d / 2.0 + (k + 1.0) * r * r;
    play + if rank == dim { k * d * d / 2.0 } else { (2.0 * k * r * r + r * r + r * d) / 2.0 }
}

fn main() -> gradband::Result<()> {
    let wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let (sizes, variants): (Vec<_>, Vec<_>) = wanted.partition(|word| word.parse::<usize>().is_ok());
    let realised = |baseline| Task::Gradient(baseline, Returns::Realized);
    let pair = realised(Baseline::SelfPlay);
    let each = if variants.is_empty() { multiply_add_ns() } else { 0.0 };
    for (dim, arms, horizon, instances) in SIZES {
        if !sizes.is_empty() && !sizes.contains(&dim.to_string()) {
            continue;
        }
        if variants.is_empty() {
            for (variant, rank) in [("cosoftelim", dim), ("cosoftelim rank 8", 8)] {
                let ns = each * multiply_adds(dim, arms, rank);
                println!(
                    r#"{{"bench":"floor","job":"c","variant":"{variant}","d":{dim},"K":{arms},"cpu_ns_per_policy_round":{ns:.2}}}"#
                );
            }
        }
        let problem = problem(dim, arms, horizon)?;
        let report = |problem: &Problem,
                      variant: &str,
                      name: &str,
                      task: Task,
                      lanes: Lanes|
         -> gradband::Result<()> {
            if !variants.is_empty() && !variants.iter().any(|part| variant.contains(part)) {
                return Ok(());
            }
            let player = choose(name, problem)?.player(problem, &mut ())?;
            let job = Job { lanes, ..Job::new(problem, Key::new(3), Split::Train, task) };
            let mut outcomes = vec![Outcome::default(); instances];
            let length = if task == Task::Evaluate { 0 } else { player.dim() };
            let mut gradients = vec![0.0; instances * length];
            let mut played = Ok(());
            let seconds = best_of(|| {
                // As many at a time as a training plays.
                for (i, outcomes) in black_box(&mut outcomes[..]).chunks_mut(16).enumerate() {
                    let from = 16 * i * length;
                    let gradients = &mut black_box(&mut gradients[..])[from..from + outcomes.len() * length];
                    let out = Output { outcomes, gradients, curves: &mut [] };
                    played = player.rollout(&job, 16 * i as u64, out);
                }
            });
            played?;
            let ns = seconds * 1e9 / (instances * horizon * task.runs()) as f64;
            println!(
                r#"{{"bench":"job","job":"c","lib":"gradband","variant":"{variant}","d":{dim},"K":{arms},"n":{horizon},"m":{instances},"cpu_s":{seconds:.6},"cpu_ns_per_policy_round":{ns:.2}}}"#
            );
            Ok(())
        };
        let all = Lanes::Auto;
        report(&problem, "cosoftelim", "cosoftelim", pair, all)?;
        report(&problem, "cosoftelim f64", "cosoftelim", pair, Lanes::Double)?;
        if dim > 8 {
            let low = "cosoftelim(rank=8)";
            report(&problem, "cosoftelim rank 8", low, pair, all)?;
            report(&problem, "cosoftelim evaluate rank 8", low, Task::Evaluate, all)?;
            let examples = one_hot(dim, arms)?;
            let in_full = Problem::contexts(InFull(Classification::new(examples.clone())), arms);
            let one_hot = Problem::classification(examples).horizon(horizon).build()?;
            report(&one_hot, "cosoftelim rank 8 one-hot", low, pair, all)?;
            report(&in_full.horizon(horizon).build()?, "cosoftelim rank 8 one-hot in full", low, pair, all)?;
        }
        report(&problem, "cosoftelim loo 8", "cosoftelim", realised(Baseline::LeaveOneOut(8)), all)?;
        report(&problem, "cosoftelim evaluate", "cosoftelim", Task::Evaluate, all)?;
        report(&problem, "soft-ucb", "soft-ucb", pair, all)?;
        report(&problem, "lin-thompson", "lin-thompson", pair, all)?;
        for (delay, what) in
            [(Delay::Rounds(20), "delay 20"), (Delay::Geometric { mean: 20.0 }, "random delay 20")]
        {
            let late = problem.with_world(World { delay, ..*problem.world() })?;
            report(&late, &format!("cosoftelim {what}"), "cosoftelim", pair, all)?;
            report(&late, &format!("cosoftelim evaluate {what}"), "cosoftelim", Task::Evaluate, all)?;
        }
    }
    Ok(())
}
