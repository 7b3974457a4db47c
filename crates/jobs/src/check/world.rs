//! What `check` says of the world around a problem: late rewards, least shares, an unknown end.

use crate::grouped;
use gradband::Problem;
use gradband::problem::{Delay, Horizon};

/// A sentence, unless it is the textbook's world.
pub fn words(problem: &Problem) -> Option<String> {
    let world = problem.world();
    let mut parts = Vec::new();
    match world.delay {
        Delay::Rounds(0) => {}
        Delay::Rounds(1) => parts.push("a reward is known after one more round".into()),
        Delay::Rounds(rounds) => {
            parts.push(format!("a reward is known after {} more rounds", grouped(rounds)))
        }
        Delay::Geometric { mean } => {
            parts.push(format!("a reward is known after {mean} more rounds on average (geometric)"));
        }
    }
    if world.batch > 1 {
        parts.push(format!("rewards become known at the end of each {} rounds", grouped(world.batch)));
    }
    if world.floor > 0.0 {
        let all = world.floor * problem.arms() as f64;
        parts.push(format!(
            "every arm has a probability of at least {}, {:.1} % in all",
            world.floor,
            100.0 * all
        ));
    }
    match world.horizon {
        Horizon::Fixed(_) => {}
        Horizon::Geometric { mean } => parts.push(format!(
            "a run ends after {mean} rounds on average (geometric); all but a thousandth of its rounds are simulated"
        )),
        Horizon::Uniform { from, to } => {
            parts.push(format!("a run ends after {} to {} rounds, all equally likely", grouped(from), grouped(to)));
        }
    }
    (!parts.is_empty()).then(|| format!("World: {}.", parts.join("; ")))
}
