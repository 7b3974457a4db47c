//! An agent against the simulator: the frequencies of simulated rounds, and the regret of whole runs.

use super::deciding::*;
use super::state::Credit;
use super::weigh::{Asking, Scratch};
use super::*;
use crate::exact::index::argmax;
use crate::measure::evaluate;
use crate::numeric::simd::Lanes;
use crate::numeric::stream::Key;
use crate::numeric::stream::{Random, Stream};
use crate::policy::tests::{problems, rules};
use crate::policy::{Choice, POLICIES, Policy};
use crate::problem::{Delay, Discrete, Order, Points, Prior, Problem, Split, World};
use crate::simulate::{Episode, Job, Task};
use std::collections::BTreeMap;

/// So many that every policy has two of its own.
fn problems() -> Vec<Problem> {
    let three = Problem::bernoulli(Prior::beta(3, 1.0, 1.0).unwrap()).name("three").horizon(40);
    let tables = Points::new(vec![vec![0.7, 0.1, 0.2, 0.5], vec![0.1, 0.6, 0.3, 0.2]], None).unwrap();
    let cyclic = Discrete::new(tables, 2, 0.0, 0.5, None, Order::Cyclic).unwrap();
    vec![
        problems::shorten("bernoulli-2", 50),
        three.build().unwrap(),
        problems::shorten("bernoulli-2-uniform", 30),
        problems::shorten("linear-3", 25),
        problems::shorten("linear-1", 20),
        problems::discrete(),
        Problem::discrete(cyclic).name("cyclic").horizon(40).build().unwrap(),
    ]
}

/// Every policy on a problem, rules of one's own among them.
fn policies(problem: &Problem) -> Vec<Choice> {
    let own = [
        Policy::own(rules::SoftElimRule { knows_slopes: false }),
        Policy::own(rules::EpsilonGreedyRule),
        Policy::own_linear(rules::SoftUcbRule),
    ];
    let kinds = POLICIES.iter().cloned().chain(own.iter().map(|policy| policy.kind().clone()));
    let mut all: Vec<_> = kinds
        .filter(|kind| kind.refusal(problem).is_none())
        .map(|kind| problems::choice(&kind, problem))
        .collect();
    let variants = ["soft-ucb(hard=true)", "thompson(alpha=0.5,beta=2,sharpness=1.5)", "exp3(w=0.3)"];
    all.extend(variants.iter().filter_map(|text| Choice::parse(text, problem).ok()));
    all
}

fn agent(choice: &Choice, problem: &Problem, seed: u64) -> Agent {
    agent_of(Playable::new(choice, problem).unwrap(), seed)
}

fn agent_of(policy: Playable, seed: u64) -> Agent {
    let arms = policy.problem().arms;
    Agent::new(policy, (0..arms).map(|arm| arm.to_string())).unwrap().seed(seed)
}

/// A simulated run: the arm and the reward of each round, and its context.
struct Simulated {
    rounds: Vec<(usize, f64, Vec<f64>)>,
}

/// Runs of the real engine. Which arm a round pulled is read off the regret, whose steps are the gaps of the arms.
fn simulated(choice: &Choice, problem: &Problem, first: u64, count: usize) -> Vec<Simulated> {
    let marks: Vec<usize> = (1..=problem.horizon).collect();
    let job = Job { lanes: Lanes::Double, marks: &marks, ..job(problem) };
    let player = choice.player(problem, &mut ()).unwrap();
    let told = problems::play(&*player, &job, first, count);
    let curves = told.curves.chunks_exact(problem.horizon).zip(first..);
    curves.map(|(curve, index)| one_run(choice, &job, index, curve)).collect()
}

fn job(problem: &Problem) -> Job<'_> {
    Job::new(problem, Key::new(9), Split::HeldOut, Task::Evaluate)
}

fn episode(job: &Job, index: u64) -> Episode {
    Episode::new(job.problem, job.key, job.split, index).unwrap()
}

fn one_run(choice: &Choice, job: &Job, index: u64, curve: &[f64]) -> Simulated {
    let world = episode(job, index);
    let arms = job.problem.arms;
    let mut before = 0.0;
    let mut rounds = Vec::new();
    for (t, &regret) in curve.iter().enumerate() {
        let off = |arm: &usize| (world.gap(t, *arm) - (regret - before)).abs();
        let arm = (0..arms).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        assert!(off(&arm) < 1e-9, "a step of the regret is the gap of an arm");
        before = regret;
        // The network plays in single precision, rewards too.
        let reward = match choice.name() {
            "dqn" => world.single_reward(job.problem, t, arm),
            _ => world.reward(job.problem, t, arm),
        };
        rounds.push((arm, reward, world.context(t)));
    }
    Simulated { rounds }
}

impl Agent {
    fn asking(&self) -> Asking<'_> {
        Asking { policy: &self.policy, floor: self.floor, after: self.after }
    }

    /// A round of somebody else's run.
    fn force(&mut self, arm: usize, x: &[f64], reward: f64, pi: f64, scratch: &mut Scratch) {
        let mut memory = std::mem::take(&mut self.state.memory);
        self.policy.decider().pulled(&self.asking().now(&self.state, x, &[], scratch), &mut memory);
        self.state.memory = memory;
        self.state.pull(arm, x, &scratch.seen);
        let credit = Credit { arm, reward, one: reward == 1.0, probability: pi, context: x };
        self.state.credit(&credit, &self.policy, &mut scratch.seen);
    }
}

/// In bins of predicted probability: how often an arm was pulled, how often it was to be expected, and the variance.
#[derive(Default)]
struct Tally(BTreeMap<usize, [f64; 3]>);

impl Tally {
    fn add(&mut self, p: f64, pulled: bool) {
        let bin = self.0.entry((p * 50.0) as usize).or_default();
        bin[0] += f64::from(u8::from(pulled));
        bin[1] += p;
        bin[2] += p * (1.0 - p);
    }

    /// The sum of squares is chi-square with as many degrees of freedom as there are bins: its normal deviate (Wilson and
    /// Hilferty, 1931).
    fn deviate(&self) -> f64 {
        let bins: Vec<_> = self.0.values().filter(|bin| bin[2] > 10.0).collect();
        if bins.is_empty() {
            return 0.0;
        }
        let square: f64 = bins.iter().map(|bin| (bin[0] - bin[1]).powi(2) / bin[2]).sum();
        let (m, spread) = (bins.len() as f64, 2.0 / (9.0 * bins.len() as f64));
        ((square / m).cbrt() - (1.0 - spread)) / spread.sqrt()
    }
}

/// Chi-square of so many simulated rounds against the probabilities, p > 1e-4.
fn frequencies(rounds: usize, slow_rounds: usize) {
    for problem in &problems() {
        for mut choice in policies(problem) {
            // Whether its coin fell up is not to be seen in the rounds.
            if choice.param("h").is_some() {
                choice = choice.with_param(problem, "h", &[3.0]).unwrap();
            }
            let policy = Playable::new(&choice, problem).unwrap();
            let slow = choice.name().contains("thompson") || choice.name() == "lstm";
            let runs = (if slow { slow_rounds } else { rounds }).div_ceil(problem.horizon);
            let (mut tally, mut scratch) = (Tally::default(), Scratch::default());
            for (r, run) in simulated(&choice, problem, 0, runs).into_iter().enumerate() {
                let mut agent = agent_of(policy.clone(), r as u64);
                agent.state.allowed(None, &mut scratch.which).unwrap();
                for (t, (arm, reward, x)) in run.rounds.into_iter().enumerate() {
                    agent.asking().weigh(&agent.state, &x, &mut scratch).unwrap();
                    let (pi, name) = (&scratch.pi, choice.name());
                    assert!((pi.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}: {pi:?}");
                    assert!(pi[arm] > 0.0, "{name} on {problem}, run {r}, round {t}: {arm} of {pi:?}");
                    // The textbook's world tries arms in their order, an agent in any.
                    if !(policy.decider().each_arm_once() && t < problem.arms) {
                        tally.add(pi[t % problem.arms], arm == t % problem.arms);
                    }
                    let probability = pi[arm];
                    agent.force(arm, &x, reward, probability, &mut scratch);
                }
            }
            // 3.72 standard deviations: one in ten thousand.
            let deviate = tally.deviate();
            assert!(deviate < 3.72, "{} on {problem}: {deviate}", choice.label());
        }
    }
}

#[test]
fn simulated_rounds_have_the_probabilities_of_an_agent() {
    frequencies(20_000, 1_500);
}

/// 10^6 rounds for every policy on each problem.
#[test]
#[ignore = "minutes: make test-slow"]
fn a_million_simulated_rounds_have_the_probabilities_of_an_agent() {
    frequencies(1_000_000, 1_000_000);
}

/// Mean and standard error of the regret of agents that meet a problem, rewards as late as its world says.
fn regret(policy: &Playable, problem: &Problem, runs: usize) -> (f64, f64) {
    let Delay::Rounds(delay) = problem.world().delay else { panic!("delays are fixed here") };
    let mut sums = [0.0; 2];
    for index in 0..runs as u64 {
        let world = episode(&job(problem), index);
        let mut agent = agent_of(policy.clone(), 1000 + index);
        let (mut ids, mut regret) = (Vec::new(), 0.0);
        for t in 0..problem.horizon {
            if let Some(s) = t.checked_sub(1 + delay) {
                let (id, arm): &(String, usize) = &ids[s];
                assert_eq!(agent.update(id, world.reward(problem, s, *arm)).unwrap(), Status::Applied);
            }
            let context = match problem.contextual() {
                None => Context::None,
                Some(_) => Context::Values(world.context(t)),
            };
            let decision = agent.pull(Pull::context(context)).unwrap();
            regret += world.gap(t, decision.index);
            ids.push((decision.id, decision.index));
        }
        sums[0] += regret;
        sums[1] += regret * regret;
    }
    let (n, mean) = (runs as f64, sums[0] / runs as f64);
    (mean, ((sums[1] / n - mean * mean) / n).sqrt())
}

/// So many agents have the regret that `evaluate` gives, within 3 standard errors of the difference.
fn regrets(problem: &Problem, runs: usize, slow_runs: usize) {
    for choice in policies(problem) {
        let slow = choice.name().contains("thompson") || choice.name() == "lstm";
        let runs = if slow { slow_runs } else { runs };
        let (mean, error) = regret(&Playable::new(&choice, problem).unwrap(), problem, runs);
        let simulated = evaluate(&[&choice], problem, 5, 20_000, &[], &mut ()).unwrap().regret(0);
        let off = (mean - simulated.mean).abs() / error.hypot(simulated.std_error).max(1e-9);
        assert!(off < 3.0, "{} on {problem}: {mean} ± {error}, simulated {simulated}", choice.label());
    }
}

fn late(problem: &Problem) -> Problem {
    let world = World { delay: Delay::Rounds(20), floor: 0.02, ..*problem.world() };
    problem.with_world(world).unwrap()
}

#[test]
fn agents_have_the_regret_of_the_simulator() {
    for problem in problems() {
        regrets(&problem, 1_500, 150);
    }
}

#[test]
fn agents_in_a_late_world_have_the_regret_of_the_simulator() {
    for problem in &problems()[..2] {
        regrets(&late(problem), 1_500, 100);
    }
    regrets(&late(&problems::shorten("linear-3", 30)), 300, 60);
}

/// 20,000 agents for every policy and problem, with and without delay and floor.
#[test]
#[ignore = "minutes: make test-slow"]
fn twenty_thousand_agents_have_the_regret_of_the_simulator() {
    for problem in problems() {
        regrets(&problem, 20_000, 20_000);
    }
    for problem in [&problems()[0], &problems()[1], &problems::shorten("linear-3", 30)] {
        regrets(&late(problem), 20_000, 20_000);
    }
}

/// The coin of explore-then-commit falls up as often as it should: 20,000 agents, 4 standard deviations.
#[test]
fn explore_then_commit_tosses_its_coin() {
    let problem = problems::shorten("bernoulli-2", 50);
    let choice = Choice::parse("explore-then-commit(h=4.3)", &problem).unwrap();
    let policy = Playable::new(&choice, &problem).unwrap();
    let ups = (0..20_000).filter(|&seed| agent_of(policy.clone(), seed).state.memory[0] == 10.0).count();
    assert!((ups as f64 - 6_000.0).abs() < 4.0 * (20_000.0_f64 * 0.3 * 0.7).sqrt(), "{ups}");
}

/// Thompson sampling by quadrature against so many draws of its samples, each arm within 4 standard deviations.
fn thompson(draws: u64) {
    let arms = [(9.0, 31.0), (4.0, 11.0), (0.0, 1.0), (25.0, 80.0)];
    let problem = Problem::bernoulli(Prior::beta(4, 1.0, 1.0).unwrap()).horizon(1000).build().unwrap();
    for (alpha, beta, sharpness) in [(1.0, 1.0, 1.0), (2.0, 6.0, 0.5), (0.4, 0.9, 2.0)] {
        let text = format!("thompson(alpha={alpha},beta={beta},sharpness={sharpness})");
        let mut agent = agent(&Choice::parse(&text, &problem).unwrap(), &problem, 1);
        for (arm, (successes, failures)) in agent.state.arms.iter_mut().zip(arms) {
            (arm.pulls, arm.sum, arm.ones) = ((successes + failures) as u64, successes, successes as u64);
        }
        agent.state.look(&agent.policy);
        let pi: Vec<f64> = agent.probabilities(&Pull::default()).unwrap().into_iter().map(|x| x.1).collect();
        let mut random = Random(Stream::new((), Key::new(3), 0));
        let mut counts = [0.0; 4];
        for _ in 0..draws {
            let sample = |&(s, f): &(f64, f64), random: &mut Random| {
                random.beta(sharpness * (alpha + s), sharpness * (beta + f))
            };
            let samples: Vec<f64> = arms.iter().map(|arm| sample(arm, &mut random)).collect();
            counts[argmax(samples.into_iter()).0] += 1.0;
        }
        for (count, p) in counts.iter().zip(&pi) {
            let sd = (draws as f64 * p * (1.0 - p)).sqrt();
            assert!((count - draws as f64 * p).abs() < 4.0 * sd, "{text}: {counts:?}, {pi:?}");
        }
    }
}

#[test]
fn thompson_by_quadrature_agrees_with_draws() {
    thompson(200_000);
}

#[test]
#[ignore = "a minute: make test-slow"]
fn thompson_by_quadrature_agrees_with_ten_million_draws() {
    thompson(10_000_000);
}

/// Means and variances as they are kept, one reward after the other, are those that follow from the moments.
#[test]
fn regressions_follow_from_moments() {
    let problem = problems::shorten("linear-3", 60);
    let projection = "cosoftelim(rank=3)";
    for text in ["soft-ucb", "lin-thompson(ridge=0.1)", projection] {
        let choice = Choice::parse(text, &problem).unwrap();
        let mut agent = agent(&choice, &problem, 3);
        let world = episode(&job(&problem), 0);
        let mut open = Vec::new();
        for t in 0..60 {
            let decision = agent.pull(Pull::context(world.context(t))).unwrap();
            open.push((decision.id, world.reward(&problem, t, decision.index)));
            if t % 3 != 0 {
                let (id, reward) = open.swap_remove(t * 7 % open.len());
                agent.update(&id, reward).unwrap();
            }
        }
        let x = Pull::context(world.context(5));
        let kept = agent.probabilities(&x).unwrap();
        agent.state.take(&agent.policy, 0.0);
        for (kept, anew) in kept.iter().zip(agent.probabilities(&x).unwrap()) {
            assert!((kept.1 - anew.1).abs() < 1e-9, "{text}: {kept:?}, {anew:?}");
        }
        let before = agent.probabilities(&x).unwrap();
        let decision = agent.pull(Pull::context(world.context(7))).unwrap();
        agent.withdraw(&decision.id).unwrap();
        for (before, after) in before.iter().zip(agent.probabilities(&x).unwrap()) {
            assert!((before.1 - after.1).abs() < 1e-9, "{text}: {before:?}, {after:?}");
        }
    }
}
