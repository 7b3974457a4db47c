//! What an agent promises: a reward counts at most once, in any order; what is saved goes on with the same bits; arms come and
//! go; a newcomer is not flooded while its rewards are late.
#![allow(clippy::unwrap_used)]

use gradband::agent::{After, Context, Row, Status};
use gradband::policy::Choice;
use gradband::problem::{Delay, World};
use gradband::{Agent, Decision, ErrorKind, Playable, Prior, Problem, Pull};
use std::collections::BTreeSet;
use std::sync::Mutex;

fn playable(policy: &str, problem: &Problem) -> Playable {
    Playable::new(&Choice::parse(policy, problem).unwrap(), problem).unwrap()
}

fn named(name: &str, horizon: usize) -> Problem {
    Problem::named(name).unwrap().with_horizon(horizon).unwrap()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|arm| format!("arm {arm}")).collect()
}

fn arms(policy: &str, count: usize) -> Agent {
    Agent::new(playable(policy, &named("bernoulli-10", 1000)), names(count)).unwrap().seed(7)
}

/// A number that looks random.
fn hash(i: u64) -> u64 {
    let z = (i.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 29)
}

fn coin(i: u64, p: f64) -> f64 {
    f64::from(u8::from((hash(i) >> 11) as f64 / (1_u64 << 53) as f64 <= p))
}

fn context(i: u64, dim: usize) -> Context {
    let feature = |j: u64| (hash(i * 1000 + j) % 2001) as f64 / 1000.0 - 1.0;
    Context::Values((0..dim as u64).map(feature).collect())
}

fn probabilities(agent: &Agent, pull: &Pull) -> Vec<f64> {
    agent.probabilities(pull).unwrap().into_iter().map(|(_, p)| p).collect()
}

#[test]
fn floors_and_exclusions_act_on_the_vector() {
    let mut agent = arms("softelim(w=0.6)", 4).floor(0.05);
    for i in 0..200 {
        let decision = agent.pull(Pull::default()).unwrap();
        agent.update(&decision.id, coin(i, 0.2 + 0.1 * decision.index as f64)).unwrap();
    }
    let bare = Agent::load(&agent.save().unwrap()).unwrap().floor(0.0);
    let all = Pull::default();
    let (with, without) = (probabilities(&agent, &all), probabilities(&bare, &all));
    for (with, without) in with.iter().zip(&without) {
        assert!((with - (0.05 + (1.0 - 4.0 * 0.05) * without)).abs() < 1e-15);
    }
    let some = Pull { arms: Some(vec!["arm 3".into(), "arm 1".into()]), ..Pull::default() };
    let found = agent.probabilities(&some).unwrap();
    assert_eq!(found.iter().map(|(arm, _)| &**arm).collect::<Vec<_>>(), ["arm 1", "arm 3"]);
    assert!((found[0].1 + found[1].1 - 1.0).abs() < 1e-12 && found.iter().all(|x| x.1 >= 0.05));
    let decision = agent.pull(some.clone()).unwrap();
    assert!(decision.index == 1 || decision.index == 3);
    assert_eq!(decision.probability, found[decision.index / 2].1);
    let one = Pull { arms: Some(vec!["arm 2".into()]), ..Pull::default() };
    assert_eq!(agent.pull(one).unwrap().probability, 1.0);
    let error = agent.pull(Pull { arms: Some(vec!["arm 9".into()]), ..Pull::default() }).unwrap_err();
    assert_eq!(error.place().to_string(), "arms[0]");
    let error = arms("softelim", 4).floor(0.26).pull(Pull::default()).unwrap_err();
    assert_eq!(error.to_string(), "floor: found 0.26, expected a number from 0 to 0.25");
}

/// A policy with a fixed number of arms keeps its probabilities for those that are allowed; if its arm is not, the best mean
/// stands in.
#[test]
fn certain_policies_may_be_refused_their_arm() {
    let problem = named("bernoulli-2", 50);
    for policy in ["explore-then-commit(h=5)", "bayes-optimal", "gittins", "ucb1"] {
        let mut agent = Agent::new(playable(policy, &problem), ["a", "b"]).unwrap().seed(1);
        for i in 0..20 {
            let pull = Pull { arms: (i % 3 == 0).then(|| vec!["b".into()]), ..Pull::default() };
            let decision = agent.pull(pull).unwrap();
            assert!(i % 3 != 0 || &*decision.arm == "b");
            agent.update(&decision.id, coin(i, 0.5)).unwrap();
        }
        agent.retire("a").unwrap();
        assert_eq!(&*agent.pull(Pull::default()).unwrap().arm, "b");
    }
}

#[test]
fn a_reward_counts_once() {
    let mut agent = arms("softelim", 2);
    let first = agent.pull(Pull::default()).unwrap();
    let second = agent.pull(Pull { id: Some("mine".into()), ..Pull::default() }).unwrap();
    assert_eq!((&*second.id, second.round), ("mine", 1));
    assert_eq!(agent.pull(Pull { id: Some("mine".into()), ..Pull::default() }).unwrap(), second);
    assert_eq!(agent.update(&first.id, 1.0).unwrap(), Status::Applied);
    let many = agent.update_many([(&*first.id, 1.0), ("nobody's", 1.0)]);
    assert!(matches!(many[..], [Ok(Status::Duplicate), Err(_)]));
    let error = agent.update(&first.id, 0.0).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Conflict { known: Some(1.0), found: 0.0 });
    for id in ["yours", "", "00000000-0", "mine "] {
        let error = agent.update(id, 0.0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownDecision { .. }), "{id}: {error}");
    }
    assert_eq!(agent.withdraw("mine").unwrap(), Status::Applied);
    assert_eq!(agent.withdraw("mine").unwrap(), Status::Duplicate);
    let error = agent.update("mine", 1.0).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Conflict { known: None, found: 1.0 });
    assert!(agent.withdraw(&first.id).is_err());
    let stats = agent.stats();
    assert_eq!((stats.round, stats.pending, stats.counts.credited, stats.counts.withdrawn), (1, 0, 1, 1));
    for reward in [f64::NAN, 1.5, -0.1, f64::INFINITY] {
        assert_eq!(agent.update(&first.id, reward).unwrap_err().place().to_string(), "reward");
    }
}

/// 10,000 rewards of 10 arms, shuffled, every third reported twice: the same statistics, and `duplicate` for the repeats alone.
#[test]
fn order_and_repeats_do_not_matter() {
    let contextual = named("linear-3", 25);
    let dim = 8;
    for (policy, problem) in [("softelim", named("bernoulli-10", 1000)), ("soft-ucb", contextual)] {
        let count = if policy == "softelim" { 10 } else { 3 };
        let fresh = || {
            let mut agent = Agent::new(playable(policy, &problem), names(count)).unwrap().seed(3);
            let pull = |i| Pull::context(if policy == "softelim" { Context::None } else { context(i, dim) });
            let decisions: Vec<_> =
                agent.pull_many((0..10_000).map(pull)).into_iter().map(Result::unwrap).collect();
            (agent, decisions)
        };
        let (mut straight, decisions) = fresh();
        for (i, decision) in decisions.iter().enumerate() {
            straight.update(&decision.id, coin(i as u64, 0.3)).unwrap();
        }
        let (mut shuffled, _) = fresh();
        let mut order: Vec<usize> = (0..10_000).chain((0..10_000).step_by(3)).collect();
        order.sort_by_key(|&i| hash(i as u64 + 99));
        order.rotate_left(1234);
        let mut seen = BTreeSet::new();
        for i in order {
            let status = shuffled.update(&decisions[i].id, coin(i as u64, 0.3)).unwrap();
            assert_eq!(status == Status::Applied, seen.insert(i));
            assert_eq!(status == Status::Duplicate, status != Status::Applied);
        }
        let (a, b) = (straight.stats(), shuffled.stats());
        assert_eq!((a.arms, a.pending, b.counts.duplicates), (b.arms, 0, 3334));
        let pull = Pull::context(if policy == "softelim" { Context::None } else { context(77, dim) });
        for (a, b) in probabilities(&straight, &pull).iter().zip(probabilities(&shuffled, &pull)) {
            assert!((a - b).abs() < 1e-9, "{a}, {b}");
        }
    }
}

#[test]
fn windows_close_in_the_order_of_decisions() {
    let mut agent = arms("softelim", 2).window(10.0, 0.0);
    let missing = agent.pull(Pull::default()).unwrap_err();
    assert!(missing.to_string().starts_with("at: is missing"), "{missing}");
    let decisions: Vec<_> = (0..4).map(|i| agent.pull(Pull::at(f64::from(i))).unwrap()).collect();
    assert_eq!(decisions[3].until, Some(13.0));
    assert_eq!(agent.update(&decisions[1].id, 1.0).unwrap(), Status::Applied);
    assert_eq!(agent.update(&decisions[3].id, 1.0).unwrap(), Status::Applied);
    assert_eq!(agent.update(&decisions[3].id, 1.0).unwrap(), Status::Duplicate);
    assert_eq!((agent.stats().pending, agent.stats().counts.credited), (4, 0));
    agent.advance(11.5).unwrap();
    assert_eq!(
        (agent.stats().pending, agent.stats().counts.credited, agent.stats().counts.silent),
        (2, 2, 1)
    );
    assert_eq!(agent.update(&decisions[0].id, 1.0).unwrap(), Status::Late);
    assert_eq!(agent.update(&decisions[0].id, 1.0).unwrap(), Status::Duplicate);
    assert_eq!(agent.update(&decisions[1].id, 1.0).unwrap(), Status::Duplicate);
    // Time does not go back.
    agent.advance(2.0).unwrap();
    assert_eq!(agent.stats().pending, 2);
    agent.advance(13.0).unwrap();
    let log: Vec<Row> = agent.log().collect();
    assert_eq!(
        log.iter().map(|row| row.reward).collect::<Vec<_>>(),
        [Some(0.0), Some(1.0), Some(0.0), Some(1.0)]
    );
    assert_eq!((log[0].late, log[1].late), (Some(1.0), None));
    assert_eq!(agent.stats().arms.iter().map(|arm| arm.sum).sum::<f64>(), 2.0);
}

/// An incumbent at 10 %, a newcomer at 5 %, rewards 2,000 rounds late: the newcomer gets at most 20 % of its first window.
#[test]
fn a_newcomer_is_not_flooded() {
    let prior = Prior::beta(2, 2.0, 38.0).unwrap();
    let world = World { delay: Delay::Rounds(2000), ..World::plain(20_000) };
    let problem = Problem::bernoulli(prior).horizon(20_000).build().unwrap().with_world(world).unwrap();
    let mut shares = Vec::new();
    for seed in 0..20 {
        let policy = playable("softelim(w=0.5)", &problem);
        let mut agent = Agent::new(policy, ["old"]).unwrap().seed(seed).window(2000.0, 0.0);
        let mut newcomers = 0;
        for t in 0..8_000_u64 {
            if t == 6_000 {
                agent.add("new").unwrap();
            }
            let decision = agent.pull(Pull::at(t as f64)).unwrap();
            newcomers += u64::from(decision.index == 1);
            if coin(t + (seed << 32), [0.1, 0.05][decision.index]) == 1.0 {
                agent.update(&decision.id, 1.0).unwrap();
            }
        }
        shares.push(newcomers as f64 / 2000.0);
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean > 0.01 && shares.iter().all(|&share| share <= 0.2), "{mean}: {shares:?}");
}

/// Saved and loaded in the middle, an agent goes on with the same bits.
#[test]
fn what_is_saved_goes_on_with_the_same_bits() {
    let three = Problem::bernoulli(Prior::beta(3, 1.0, 1.0).unwrap()).horizon(60).build().unwrap();
    let all = [
        ("softelim", named("bernoulli-10", 5000), 10_000),
        ("exp3(w=0.2)", named("bernoulli-10", 5000), 10_000),
        ("explore-then-commit(h=30.5)", named("bernoulli-2", 200), 300),
        ("thompson", three.clone(), 60),
        ("bayes-optimal", three, 60),
        ("soft-ucb", named("linear-3", 400), 2_000),
        ("cosoftelim(rank=2)", named("linear-3", 400), 2_000),
    ];
    for (policy, problem, rounds) in all {
        let playable = playable(policy, &problem);
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        let mut agent = Agent::new(&playable, names(problem.arms())).unwrap().seed(5).floor(0.01);
        let round = |agent: &mut Agent, i: u64| {
            let pull = Pull::context(if dim == 0 { Context::None } else { context(i, dim) });
            let decision = agent.pull(pull).unwrap();
            if i % 5 != 4 {
                agent.update(&decision.id, coin(i, 0.1 + 0.05 * decision.index as f64)).unwrap();
            }
            decision
        };
        (0..rounds).for_each(|i| drop(round(&mut agent, i)));
        let text = agent.save().unwrap();
        let mut loaded = Agent::load(&text).unwrap();
        assert_eq!(loaded.save().unwrap(), text, "{policy}");
        for i in rounds..2 * rounds {
            assert_eq!(round(&mut agent, i), round(&mut loaded, i), "{policy}");
        }
        assert_eq!(loaded.save().unwrap(), agent.save().unwrap(), "{policy}");
    }
}

#[test]
fn copies_without_a_seed_explore_differently() {
    let policy = playable("random", &named("bernoulli-10", 1000));
    let mut agent = Agent::new(policy, names(10)).unwrap();
    let first = agent.pull(Pull::default()).unwrap();
    let text = agent.save().unwrap();
    let mut copies: Vec<_> = (0..3).map(|_| Agent::load(&text).unwrap()).collect();
    let mut runs = BTreeSet::new();
    for copy in &mut copies {
        assert_eq!(copy.update(&first.id, 1.0).unwrap(), Status::Applied, "old ids are known");
        let decisions: Vec<_> = (0..20).map(|_| copy.pull(Pull::default()).unwrap()).collect();
        assert!(runs.insert(decisions.iter().map(|decision| decision.index).collect::<Vec<_>>()));
        assert!(runs.len() < 2 || agent.update(&decisions[0].id, 1.0).is_err(), "ids carry the copy");
    }
    let unit = |unit: &str| Pull { unit: Some(unit.into()), ..Pull::default() };
    let drawn: Vec<_> = (0..5).map(|_| agent.pull(unit("visitor 1")).unwrap().index).collect();
    assert!(drawn.iter().all(|&arm| arm == drawn[0]), "a unit draws the same number");
}

#[test]
fn damaged_and_foreign_texts_are_refused() {
    let mut agent = arms("softelim", 3);
    for i in 0..30 {
        let decision = agent.pull(Pull::default()).unwrap();
        agent.update(&decision.id, coin(i, 0.5)).unwrap();
    }
    let text = agent.save().unwrap();
    let whole = text.trim_end().len();
    for cut in (0..whole).step_by(37) {
        assert!(Agent::load(&text[..cut]).is_err(), "cut at {cut}");
    }
    for at in (0..whole).step_by(11) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        if let Ok(flipped) = String::from_utf8(bytes) {
            assert!(Agent::load(&flipped).is_err(), "flipped at {at}: {}", &text[at..whole.min(at + 20)]);
        }
    }
    let refused = |text: &str, says: &str| {
        let error = Agent::load(text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused("{}", "is not a saved agent");
    refused("", "is damaged");
    refused("[1, 2]", "is damaged");
    let newer = text.replacen("\"gradband_agent\":2", "\"gradband_agent\":3", 1);
    refused(&newer, "found format 3, this version reads up to 2");
    refused(&text.replacen("\"floor\":0.0", "\"floor\":0.5", 1), "sha256: is not that of the content");
}

#[test]
fn a_policy_that_was_tuned_again_inherits_what_is_known() {
    let problem = named("linear-3", 400);
    let (soft, thompson) = (playable("soft-ucb", &problem), playable("lin-thompson(ridge=0.5)", &problem));
    let mut agent = Agent::new(&soft, names(3)).unwrap().seed(1);
    let mut rows = Vec::new();
    for i in 0..100 {
        let decision = agent.pull(Pull::context(context(i, 8))).unwrap();
        agent.update(&decision.id, coin(i, 0.4)).unwrap();
        let Decision { arm, probability, .. } = decision;
        rows.push(Row {
            arm: arm.to_string(),
            probability,
            reward: Some(coin(i, 0.4)),
            context: context(i, 8),
            ..Row::default()
        });
    }
    agent.replace(&thompson).unwrap();
    let pull = Pull::context(context(1000, 8));
    let replaced = probabilities(&agent, &pull);
    let decision = agent.pull(pull.clone()).unwrap();
    assert_eq!(&*decision.version, thompson.version());
    // The log warms another agent up to the same probabilities.
    let mut warm = Agent::new(&thompson, names(3)).unwrap().seed(2);
    assert_eq!(warm.learn(&rows).unwrap(), 100);
    for (a, b) in replaced.iter().zip(probabilities(&warm, &pull)) {
        assert!((a - b).abs() < 1e-9);
    }
    let log: Vec<Row> = agent.log().collect();
    let mut from_log = Agent::new(&thompson, names(3)).unwrap().seed(2);
    assert_eq!(from_log.learn(&log).unwrap(), 100, "the pending one teaches nothing");
    assert_eq!(from_log.stats().arms, warm.stats().arms);
    let error = agent.replace(playable("softelim", &named("bernoulli-10", 50))).unwrap_err();
    assert_eq!(error.place().to_string(), "problem.features");
    let wrong = Row {
        arm: "arm 1".into(),
        probability: 0.5,
        reward: Some(f64::NAN),
        context: context(1, 8),
        ..Row::default()
    };
    let error = warm.learn([&rows[0], &wrong]).unwrap_err();
    assert!(error.to_string().starts_with("rows[1].reward"), "{error}");
    assert_eq!(warm.stats().arms, from_log.stats().arms, "nothing is learned of a wrong log");
}

#[test]
fn arms_come_and_go() {
    let mut agent = arms("softelim", 2);
    let old =
        (0..50).map(|_| agent.pull(Pull::default()).unwrap()).find(|decision| decision.index == 0).unwrap();
    agent.retire("arm 0").unwrap();
    assert!((0..20).all(|_| agent.pull(Pull::default()).unwrap().index == 1));
    assert_eq!(agent.update(&old.id, 1.0).unwrap(), Status::Applied, "late rewards still find it");
    agent.add("arm 2").unwrap();
    assert_eq!(agent.pull(Pull::default()).unwrap().index, 2, "it was never tried");
    agent.add("arm 0").unwrap();
    assert_eq!(agent.stats().arms[0].sum, 1.0, "its statistics stayed");
    assert!(agent.add("arm 0").is_err() && agent.add("").is_err() && agent.retire("arm 7").is_err());
    agent.retire("arm 0").unwrap();
    agent.retire("arm 1").unwrap();
    agent.retire("arm 2").unwrap();
    assert!(agent.pull(Pull::default()).unwrap_err().to_string().contains("no active arm"));
    let fixed = Agent::new(playable("explore-then-commit", &named("bernoulli-2", 50)), ["a", "b"]);
    let error = fixed.unwrap().add("c").unwrap_err();
    assert!(error.to_string().contains("belong to 2 arms"), "{error}");
    assert!(Agent::new(playable("softelim", &named("bernoulli-2", 50)), ["a", "a"]).is_err());
    assert!(Agent::new(playable("softelim", &named("bernoulli-2", 50)), Vec::<String>::new()).is_err());
}

#[test]
fn after_the_horizon() {
    let problem = named("bernoulli-2", 20);
    let play = |policy: &str, after: Option<After>, rounds: u64| {
        let agent = Agent::new(playable(policy, &problem), ["a", "b"]).unwrap().seed(3);
        let mut agent = after.into_iter().fold(agent, Agent::after);
        for i in 0..rounds {
            let decision = agent.pull(Pull::default())?;
            agent.update(&decision.id, coin(i, [0.2, 0.8][decision.index]))?;
        }
        Ok::<_, gradband::Error>(agent)
    };
    let soft = |agent: &Agent| probabilities(agent, &Pull::default()).iter().all(|&p| p > 0.0);
    let agent = play("softelim(w=2)", None, 25).unwrap();
    assert!(soft(&agent) && agent.stats().counts.beyond_horizon == 5);
    assert!(!soft(&play("softelim(w=2)", Some(After::Commit), 25).unwrap()));
    assert!(!soft(&play("gittins", None, 25).unwrap()));
    assert_eq!(play("softelim", Some(After::Restart), 25).unwrap().stats().round, 5);
    let error = play("softelim", Some(After::Stop), 25).unwrap_err();
    assert!(error.to_string().contains("the horizon of 20 rounds is over"), "{error}");
}

/// The oldest decisions are let go when there are too many newer ones.
#[test]
fn the_ledger_is_bounded() {
    let mut agent = arms("softelim", 3).limit(100);
    let decisions: Vec<_> = (0..250).map(|_| agent.pull(Pull::default()).unwrap()).collect();
    let stats = agent.stats();
    assert_eq!((stats.pending, stats.counts.let_go, stats.round), (100, 150, 100));
    assert_eq!(agent.update(&decisions[10].id, 1.0).unwrap(), Status::Late);
    assert_eq!(agent.update(&decisions[200].id, 1.0).unwrap(), Status::Applied);
    // An open window is never let go.
    let mut agent = arms("softelim", 3).limit(100).window(1e6, 0.0);
    (0..250).for_each(|i| drop(agent.pull(Pull::at(f64::from(i))).unwrap()));
    assert_eq!(agent.stats().pending, 250);
}

/// Contexts by name, raw: scaled as the policy was trained.
#[test]
fn contexts_have_names() {
    use gradband::problem::{ExamplesBuilder, Scale};
    let mut builder = ExamplesBuilder::new(Scale::MinMax, 0.0).unwrap();
    for i in 0..20 {
        builder.push(&[f64::from(i), 100.0 - f64::from(i % 7)], &(i % 2).to_string()).unwrap();
    }
    let names = Some(vec!["age".into(), "height".into()]);
    let problem = Problem::classification(builder.finish(names).unwrap().0).horizon(30).build().unwrap();
    let policy = playable("soft-ucb", &problem);
    let mut agent = Agent::new(&policy, ["no", "yes"]).unwrap().seed(1);
    let decision = agent.pull(Pull::context([("height", 97.0), ("age", 9.5)])).unwrap();
    agent.update(&decision.id, 1.0).unwrap();
    let row = agent.log().next().unwrap();
    assert_eq!(row.context, Context::Values(vec![9.5, 97.0]));
    let listed = probabilities(&agent, &Pull::context([3.0, 99.0]));
    assert_eq!(listed, probabilities(&agent, &Pull::context([("age", 3.0), ("height", 99.0)])));
    let refused = |context: Context, says: &str| {
        let error = agent.probabilities(&Pull::context(context)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused(Context::None, "context: is missing; the policy looks at 2 features");
    refused([1.0].into(), "context: found 1 numbers, expected 2");
    refused(
        [("age", 1.0), ("heigth", 2.0)].into(),
        "context.heigth: unknown name 'heigth'; did you mean 'height'?",
    );
    refused([("age", 1.0)].into(), "context.height: is missing");
    refused([("age", f64::NAN), ("height", 2.0)].into(), "context.age: found NaN");
    refused([f64::INFINITY, 2.0].into(), "context[0]: found inf");
    // Values that training never saw are played, and counted.
    agent.pull(Pull::context([25.0, 99.0])).unwrap();
    assert_eq!(agent.stats().counts.outside, 1);
}

/// 8 threads, 100,000 pulls and updates each, on one agent.
#[test]
fn threads_share_an_agent() {
    let each: u64 = 100_000;
    let agent = Mutex::new(arms("softelim", 5));
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let agent = &agent;
            scope.spawn(move || {
                for i in 0..each {
                    let decision = agent.lock().unwrap().pull(Pull::default()).unwrap();
                    let reward = coin(thread * each + i, 0.3);
                    assert_eq!(agent.lock().unwrap().update(&decision.id, reward).unwrap(), Status::Applied);
                }
            });
        }
    });
    let stats = agent.lock().unwrap().stats();
    let sum: f64 = (0..8 * each).map(|i| coin(i, 0.3)).sum();
    assert_eq!(
        (stats.decisions, stats.round, stats.pending, stats.counts.credited),
        (8 * each, 8 * each, 0, 8 * each)
    );
    assert_eq!(stats.arms.iter().map(|arm| arm.sum).sum::<f64>(), sum);
    assert_eq!(stats.arms.iter().map(|arm| arm.pulls).sum::<u64>(), 8 * each);
}

/// A million pending decisions: what they take is bounded.
#[test]
fn a_million_decisions_can_wait() {
    let mut agent = arms("random", 2).limit(1_000_000);
    for _ in 0..1_000_000 {
        agent.pull(Pull::default()).unwrap();
    }
    assert_eq!(agent.stats().pending, 1_000_000);
    assert!(agent.memory() <= 1 << 27, "{} bytes", agent.memory());
}
