//! Job c: nanoseconds of processor time per policy-round of a contextual gradient (baseline self, realised returns),
//! drawing the instances included, on dense contexts with W not the identity.
//!
//! `cargo bench --bench linear -- [sizes, as 8 36 123]` prints one JSON object per line.

mod clock;

use clock::best_of;
use gradband::baseline::{Baseline, Returns};
use gradband::problem::{Contexts, Covariance, Linear, Normal, Problem, Split};
use gradband::registry::{Choice, policy};
use gradband::simulate::{Job, Lanes, Outcome, Task};
use gradband::stream::{Key, fill_normals};
use std::hint::black_box;

/// d, K, n and m of the peers' job.
const SIZES: [(usize, usize, usize, usize); 3] = [(8, 4, 200, 500), (36, 6, 500, 80), (123, 2, 500, 80)];

/// Contexts (normal + 1) sqrt(8/d); parameters normal on the first half of the dimensions, 0 on the rest.
fn problem(dim: usize, arms: usize, horizon: usize) -> gradband::Result<Problem> {
    let scale = 8.0 / dim as f64;
    let context = Normal::new(vec![scale.sqrt(); dim], Covariance::Diagonal(vec![scale; dim]))?;
    let half = (0..dim).map(|i| f64::from(u8::from(i < dim / 2))).collect();
    let theta = Normal::new(vec![0.0; dim], Covariance::Diagonal(half))?;
    let source = Contexts::Linear(Linear::new(context, vec![theta], 0.5)?);
    Problem::with_contexts(format!("linear, d = {dim}"), source, arms, horizon)
}

/// The policy's own parameters, W moved away from the identity.
fn choose(name: &str, problem: &Problem) -> gradband::Result<Choice> {
    let initial = Choice::initial(policy(name)?, problem)?;
    let Some(slot) = initial.slots().into_iter().find(|slot| slot.shape.len() == 2) else {
        return Ok(initial);
    };
    let mut noise = vec![0.0; slot.range.len()];
    fill_normals(Key::new(2), 0, &mut noise);
    let size = 0.1 / (slot.shape[1] as f64).sqrt();
    let w: Vec<f64> =
        initial.params[slot.range].iter().zip(&noise).map(|(w, &x)| w + size * f64::from(x)).collect();
    initial.with_param(problem, slot.info.name, &w)
}

fn main() -> gradband::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let realised = |baseline| Task::Gradient(baseline, Returns::Realized);
    let pair = realised(Baseline::SelfPlay);
    for (dim, arms, horizon, instances) in SIZES {
        if !wanted.is_empty() && !wanted.contains(&dim.to_string()) {
            continue;
        }
        let problem = problem(dim, arms, horizon)?;
        let report = |variant: &str, name: &str, task: Task, lanes: Lanes| -> gradband::Result<()> {
            let agent = choose(name, &problem)?.agent(&problem);
            let job = Job { lanes, ..Job::new(&problem, Key::new(3), Split::Train, task) };
            let mut out = vec![Outcome::default(); instances];
            let length = if task == Task::Evaluate { 0 } else { agent.dim() };
            let mut gradients = vec![0.0; instances * length];
            let seconds = best_of(|| agent.rollout(&job, 0, black_box(&mut out), black_box(&mut gradients)));
            let ns = seconds * 1e9 / (instances * horizon * task.runs()) as f64;
            println!(
                r#"{{"bench":"job","job":"c","lib":"gradband","variant":"{variant}","d":{dim},"K":{arms},"n":{horizon},"m":{instances},"cpu_s":{seconds:.6},"cpu_ns_per_policy_round":{ns:.2}}}"#
            );
            Ok(())
        };
        report("cosoftelim", "cosoftelim", pair, Lanes::Auto)?;
        report("cosoftelim f64", "cosoftelim", pair, Lanes::Double)?;
        report("cosoftelim loo 8", "cosoftelim", realised(Baseline::LeaveOneOut(8)), Lanes::Auto)?;
        report("cosoftelim evaluate", "cosoftelim", Task::Evaluate, Lanes::Auto)?;
        report("soft-ucb", "soft-ucb", pair, Lanes::Auto)?;
        report("lin-thompson", "lin-thompson", pair, Lanes::Auto)?;
    }
    Ok(())
}
