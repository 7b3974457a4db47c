//! The recurrent policy among the others: same instances, same rewards.
#![allow(clippy::unwrap_used)]

use gradband::lstm::{Lstm, Player, Sizes};
use gradband::problem::{Problem, Split};
use gradband::registry::{Agent, Choice, policy};
use gradband::simulate::{Job, Outcome, Task};
use gradband::stream::Key;

#[test]
fn an_indifferent_network_plays_at_random() {
    let problem = Problem::named("bernoulli-10").unwrap();
    let problem = Problem { horizon: 50, ..problem };
    let lstm = Lstm::new(Sizes::default(), 10).unwrap();
    let job = Job::new(&problem, Key::new(9), Split::Train, Task::Evaluate);
    let play = |agent: &dyn Agent| {
        let mut out = vec![Outcome::default(); 2000];
        agent.rollout(&job, 0, &mut out, &mut []);
        out
    };
    let network = play(&Player { lstm, params: vec![0.0; lstm.len()] });
    let random = play(&*Choice::initial(policy("random").unwrap(), &problem).unwrap().agent(&problem));
    // Reward and regret add up to what the best arm gives: the instances are the same.
    for (a, b) in network.iter().zip(&random) {
        assert!((a.reward + a.regret - b.reward - b.regret).abs() < 1e-9);
    }
    let mean = |out: &[Outcome]| out.iter().map(|outcome| outcome.regret).sum::<f64>() / 2000.0;
    // Each run's regret has a standard deviation of 2 given its instance: 0.3 is 4.7 standard errors.
    assert!((mean(&network) - mean(&random)).abs() < 0.3, "{} {}", mean(&network), mean(&random));
}
