//! Refused, never answered with zero: a policy on a problem that it cannot play, weights that nobody trained, numbers of
//! the wrong length, rules and problems of one's own that break their word. From every public way in.
#![allow(clippy::unwrap_used)]

use crate::problems;
use crate::problems::{choice, discrete, shorten};
use gradband::learn::{Ascent, Estimator, GradientSource, Options, Plan, QLearning, Recipe, RecipeName};
use gradband::measure::{check_exact, evaluate, exact};
use gradband::policy::{Choice, Form, POLICIES, PolicyKind, named};
use gradband::problem::{Prior, Problem, Split};
use gradband::simulate::{Baseline, Job, Key, Outcome, Output, Returns, Task};
use gradband::{
    Bandit, ContextModel, Draw, Error, ErrorKind, Instance, LinearRule, Param, Policy, Random, Rule, Scalar,
    Seen, Simulator, Trainer,
};

const ESTIMATOR: Estimator =
    Estimator { baseline: Baseline::LeaveOneOut(2), returns: Returns::Mean, batch_size: 4 };

/// What every way in answers to a policy on a problem.
fn answers(policy: &Policy, problem: &Problem) -> Vec<(&'static str, Option<Error>)> {
    let simulator = Simulator::new(problem).instances(4);
    vec![
        ("on", policy.on(problem).err()),
        ("evaluate", simulator.evaluate(policy).err()),
        ("compare", simulator.compare([&"random".parse().unwrap(), policy]).err()),
        ("gradient", simulator.gradient(policy, &ESTIMATOR).err()),
        ("exact", simulator.exact(policy).err()),
        ("train", Trainer::new(policy).iterations(1).train(problem).err()),
    ]
}

/// Every policy of the catalogue on every kind of problem that it does not play.
#[test]
fn policies_refuse_problems_that_they_cannot_play() {
    let mut refused = 0;
    for problem in problems::problems() {
        for kind in POLICIES.iter().filter(|kind| kind.refusal(&problem).is_some()) {
            for (way, error) in answers(&Policy::of(kind.clone()), &problem) {
                let error = error.unwrap_or_else(|| panic!("{way} takes {} on {problem}", kind.name()));
                let ErrorKind::Refused { policy, reason, instead } = error.kind() else {
                    panic!("{way}, {}: {error}", kind.name())
                };
                assert_eq!(policy, kind.name());
                assert!(!reason.is_empty() && !instead.is_empty() && !instead.contains(policy), "{error}");
                for other in instead {
                    assert!(named(other).unwrap().refusal(&problem).is_none(), "{other} on {problem}");
                }
            }
            refused += 1;
        }
    }
    assert!(refused > 70, "{refused}");
}

#[test]
fn networks_without_weights_do_not_play() {
    let problem = shorten("bernoulli-2", 30);
    for name in ["lstm", "dqn"] {
        let policy: Policy = name.parse().unwrap();
        for (way, error) in answers(&policy, &problem) {
            // Complete, they can be trained; training gives them weights.
            if matches!(way, "on" | "train") {
                continue;
            }
            let error = error.unwrap_or_else(|| panic!("{way} plays {name} without weights"));
            let untrained = matches!(error.kind(), ErrorKind::Untrained { policy } if policy == name);
            // There is no exact result of a network, with or without weights.
            assert!(untrained || way == "exact", "{way}: {error}");
        }
        let untrained = policy.on(&problem).unwrap();
        assert!(!untrained.is_trained());
        let error = untrained.player(&problem, &mut ()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Untrained { .. }), "{error}");
        assert!(untrained.scored_player(&problem, &mut ()).is_err());
        assert!(evaluate(&[&untrained], &problem, 1, 4, &[], &mut ()).is_err());
        // A setting that changes the network forgets its weights.
        let zeros = vec![0.0; untrained.params().len()];
        let trained = untrained.with_params(&problem, &zeros).unwrap();
        assert!(trained.is_trained() && trained.player(&problem, &mut ()).is_ok());
        assert!(!trained.with(&problem, "hidden", "7").unwrap().is_trained());
    }
}

/// The same policy set up on one problem and used on another: other arms, other features, another kind.
#[test]
fn a_choice_is_for_problems_of_its_own_shape() {
    let problems = problems::problems();
    let mut refused = 0;
    for problem in &problems {
        for kind in POLICIES.iter().filter(|kind| kind.refusal(problem).is_none()) {
            let chosen = choice(kind, problem);
            for other in &problems {
                let dim = |problem: &Problem| problem.contextual().map_or(0, |contextual| contextual.dim());
                if (problem.arms(), dim(problem)) == (other.arms(), dim(other)) {
                    continue;
                }
                let errors = [
                    chosen.player(other, &mut ()).err(),
                    chosen.scored_player(other, &mut ()).err(),
                    evaluate(&[&chosen], other, 1, 4, &[], &mut ()).err(),
                    exact(other, &chosen, Split::Train, &mut ()).err(),
                    check_exact(other, &chosen, Split::Train).err(),
                    plans(other).iter().find_map(|plan| plan.train(other, &chosen, 1, &mut ()).err()),
                ];
                for (way, error) in errors.iter().enumerate() {
                    assert!(error.is_some(), "{}, set up on {problem}, on {other}: {way}", kind.name());
                }
                assert!(errors[0].as_ref().unwrap().to_string().starts_with("problem: "), "{errors:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

/// One plan of each kind.
fn plans(problem: &Problem) -> Vec<Plan> {
    let ascent = ascent();
    let network = problem.contextual().is_none().then(|| Plan::Recurrent(Recipe::paper(problem)));
    let q_learning = Plan::QLearning(QLearning { updates: 1, ..QLearning::default() });
    [Plan::Ascent(ascent), Plan::ExactAscent(ascent), Plan::Search(ascent), q_learning]
        .into_iter()
        .chain(network)
        .collect()
}

fn ascent() -> Ascent {
    let problem = shorten("bernoulli-2", 20);
    let initial = Choice::parse("softelim", &problem).unwrap();
    let options = Options { iterations: Some(1), batch_size: Some(4), ..Options::default() };
    match options.plan(&problem, &initial).unwrap() {
        Plan::Ascent(ascent) => ascent,
        other => panic!("{other:?}"),
    }
}

/// Every plan refuses a choice of another shape, and choices that it cannot train.
#[test]
fn plans_refuse_what_they_cannot_train() {
    let (two, ten) = (shorten("bernoulli-2", 20), shorten("bernoulli-10", 20));
    for plan in plans(&ten) {
        for name in ["softelim", "lstm", "dqn"] {
            let chosen = choice(&named(name).unwrap(), &two);
            assert!(plan.train(&ten, &chosen, 1, &mut ()).is_err(), "{plan:?}, {name}");
        }
        // Nothing to learn.
        let ucb1 = Choice::parse("ucb1", &ten).unwrap();
        assert!(plan.train(&ten, &ucb1, 1, &mut ()).is_err(), "{plan:?}");
    }
    let softelim = Choice::parse("softelim", &two).unwrap();
    for plan in [Plan::Recurrent(Recipe::paper(&two)), Plan::QLearning(QLearning::default())] {
        assert!(plan.train(&two, &softelim, 1, &mut ()).is_err(), "{plan:?} trains softelim");
    }
    let dqn = choice(&named("dqn").unwrap(), &two);
    for plan in [Plan::Ascent(ascent()), Plan::ExactAscent(ascent()), Plan::Search(ascent())] {
        assert!(plan.train(&two, &dqn, 1, &mut ()).is_err(), "{plan:?} trains dqn");
    }
    let exact = Trainer::new("exp3").gradient(GradientSource::Exact).train(&two);
    assert!(exact.unwrap_err().to_string().contains("no exact result"));
}

/// A player plays what it was prepared for: other arms, features or rounds would be read past its tables.
#[test]
fn a_player_is_for_the_problem_that_it_was_prepared_for() {
    let problem = shorten("bernoulli-2", 30);
    let others =
        [shorten("bernoulli-2", 31), shorten("bernoulli-10", 30), shorten("linear-1", 30), discrete()];
    for kind in POLICIES.iter().filter(|kind| kind.refusal(&problem).is_none()) {
        let player = choice(kind, &problem).player(&problem, &mut ()).unwrap();
        for other in &others {
            let job = Job::new(other, Key::new(1), Split::Train, Task::Evaluate);
            let mut outcomes = [Outcome::default(); 3];
            let out = Output { outcomes: &mut outcomes, gradients: &mut [], curves: &mut [] };
            let error = player.rollout(&job, 0, out).unwrap_err().to_string();
            assert!(error.contains("is prepared for 2 arms"), "{}: {error}", kind.name());
        }
    }
}

#[test]
fn numbers_of_the_wrong_length_or_size_are_refused() {
    let (armed, linear) = (shorten("bernoulli-2", 30), shorten("linear-1", 20));
    let with =
        |name: &str, param: &str, numbers: &[f64]| name.parse::<Policy>().unwrap().with_param(param, numbers);
    for (policy, problem, expected) in [
        (with("softelim", "w", &[]), &armed, "softelim.w: found 0 number(s), expected 1"),
        (with("softelim", "w", &[1.0, 2.0]), &armed, "softelim.w: found 2 number(s), expected 1"),
        (with("softelim", "w", &[f64::NAN]), &armed, "softelim.w: found NaN"),
        (with("softelim", "w", &[-1.0]), &armed, "softelim.w: found -1"),
        (with("softelim", "v", &[1.0]), &armed, "softelim.v: unknown name 'v'"),
        (with("cosoftelim", "W", &[1.0; 63]), &linear, "cosoftelim.W: found 63 number(s), expected 64"),
        (with("lstm", "b_out", &[0.0; 3]), &armed, "lstm.b_out: found 3 number(s), expected 2"),
    ] {
        for (way, error) in answers(&policy, problem) {
            let error = error.unwrap_or_else(|| panic!("{way} takes {policy}")).to_string();
            assert!(error.starts_with(expected), "{way}: {error}, expected {expected}");
        }
    }
    let softelim = Choice::parse("softelim", &armed).unwrap();
    assert!(softelim.with_params(&armed, &[]).is_err() && softelim.with_params(&armed, &[1.0; 2]).is_err());
}

/// A part of the weights is not enough.
#[test]
fn a_network_with_some_of_its_weights_does_not_play() {
    let problem = shorten("bernoulli-2", 30);
    let some = "lstm(hidden=3,embedding=2)".parse::<Policy>().unwrap().with_param("b_out", &[0.0; 2]);
    let error = Simulator::new(&problem).instances(4).evaluate(&some).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Untrained { .. }), "{error}");
}

/// Amounts of which nothing comes.
#[test]
fn nothing_is_measured_on_nothing() {
    let problem = shorten("bernoulli-2", 30);
    let softelim = Choice::parse("softelim", &problem).unwrap();
    for instances in [0, 1] {
        let simulator = Simulator::new(&problem).instances(instances);
        let error = simulator.evaluate("softelim").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
        assert!(evaluate(&[&softelim], &problem, 1, instances, &[], &mut ()).is_err());
    }
    let none: [&str; 0] = [];
    let error = Simulator::new(&problem).compare(none).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Missing(_)), "{error}");
    for estimator in [
        Estimator { batch_size: 0, ..ESTIMATOR },
        Estimator { baseline: Baseline::LeaveOneOut(0), ..ESTIMATOR },
        Estimator { baseline: Baseline::LeaveOneOut(1), ..ESTIMATOR },
        Estimator { baseline: Baseline::LeaveOneOut(Baseline::MAX_RUNS + 1), ..ESTIMATOR },
    ] {
        let error = Simulator::new(&problem).gradient("softelim", &estimator).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{estimator:?}: {error}");
        let trainer = Trainer::new("softelim").baseline(estimator.baseline).batch_size(estimator.batch_size);
        assert!(trainer.train(&problem).is_err(), "{estimator:?}");
    }
    assert!(Trainer::new("softelim").iterations(0).train(&problem).is_err());
    // Without parameters or without a score there is no gradient.
    for policy in ["thompson", "random"] {
        assert!(Simulator::new(&problem).gradient(policy, &ESTIMATOR).is_err(), "{policy}");
        let player = Choice::parse(policy, &problem).unwrap().player(&problem, &mut ()).unwrap();
        let error = ESTIMATOR.estimate(&*player, &problem, Key::new(1), &mut ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unscored { .. }), "{error}");
    }
    let linear = shorten("linear-1", 20);
    let error = Simulator::new(&linear).gradient("linucb", &ESTIMATOR).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unscored { .. }), "{error}");
}

#[test]
fn exact_results_are_refused_where_there_are_none() {
    let gaussian = Problem::gaussian(Prior::normal(2, 0.0, 1.0).unwrap(), 1.0).horizon(20).build().unwrap();
    let large = shorten("bernoulli-10", 1000);
    for (problem, policy) in
        [(&gaussian, "softelim"), (&large, "softelim"), (&shorten("bernoulli-2", 20), "exp3")]
    {
        let error = Simulator::new(problem).exact(policy).unwrap_err();
        assert!(!error.to_string().is_empty(), "{policy} on {problem}");
        let trainer = Trainer::new(policy).gradient(GradientSource::Exact).iterations(1);
        assert!(trainer.train(problem).is_err(), "{policy} on {problem}");
    }
}

/// A rule that is fine at first and breaks after some rounds.
struct Breaks {
    form: Form,
    after: usize,
    weight: f64,
}

impl Rule for Breaks {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("w", 1.0)]
    }

    fn form(&self) -> Form {
        self.form
    }

    fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
        logits.fill(params[0]);
        if seen.round >= self.after {
            logits[1] = params[0] * self.weight;
        }
    }
}

/// Not numbers, infinite ones, negative weights, weights of zero alone: nothing is played as if it were an arm's share.
#[test]
fn rules_that_break_their_word_are_refused() {
    let problem = shorten("bernoulli-2", 30);
    for (form, after, weight) in [
        (Form::Logits, 2, f64::NAN),
        (Form::Logits, 9, f64::NAN),
        (Form::Logits, 9, f64::INFINITY),
        (Form::Weights, 9, f64::NAN),
        (Form::Weights, 9, f64::INFINITY),
        (Form::Weights, 9, -0.5),
        (Form::Weights, 9, -2.0),
    ] {
        let policy = Policy::own(Breaks { form, after, weight });
        for (way, error) in answers(&policy, &problem) {
            // It may be complete: that it breaks is seen when it is played.
            assert!(error.is_some() || way == "on", "{way}: {form:?}, {weight} after {after} rounds");
        }
    }
    // A logit of minus infinity is an arm that is never pulled.
    let never = Policy::own(Breaks { form: Form::Logits, after: 9, weight: f64::NEG_INFINITY });
    assert!(Simulator::new(&problem).instances(20).evaluate(never).unwrap().regret().mean > 0.0);
}

struct BreaksWithContexts(f64);

impl LinearRule for BreaksWithContexts {
    fn params(&self) -> Vec<Param> {
        vec![Param::positive("w", 1.0)]
    }

    fn logits<T: Scalar>(&self, params: &[T], means: &[T], _: &[T], logits: &mut [T]) {
        logits.copy_from_slice(means);
        if means.iter().any(|mean| mean.re() != 0.0) {
            logits[0] = params[0] * self.0;
        }
    }
}

#[test]
fn contextual_rules_that_break_their_word_are_refused() {
    let problem = shorten("linear-1", 20);
    for broken in [f64::NAN, f64::INFINITY] {
        let policy = Policy::own_linear(BreaksWithContexts(broken));
        for (way, error) in answers(&policy, &problem) {
            assert!(error.is_some() || way == "on", "{way}: {broken}");
        }
    }
}

#[derive(Debug)]
struct BadMeans(f64);

impl Bandit for BadMeans {
    fn arms(&self) -> usize {
        2
    }

    fn instance(&self, _: &mut Random, means: &mut [f64]) {
        means.copy_from_slice(&[0.5, self.0]);
    }
}

#[derive(Debug)]
struct BadRewards(f64);

impl Bandit for BadRewards {
    fn arms(&self) -> usize {
        2
    }

    fn instance(&self, _: &mut Random, means: &mut [f64]) {
        means.fill(0.5);
    }

    fn reward(&self, _: &mut Random, _: usize, _: f64) -> f64 {
        self.0
    }
}

#[derive(Debug)]
struct BadContexts(&'static str);

impl ContextModel for BadContexts {
    fn dim(&self) -> usize {
        2
    }

    fn draw(&self, _: &Draw, instance: &mut Instance) {
        match self.0 {
            "short" => instance.means.truncate(3),
            "contexts" => instance.contexts[1] = f32::NAN,
            "means" => instance.means[1] = f32::INFINITY,
            _ => instance.rewards[1] = f32::NAN,
        }
    }
}

#[test]
fn problems_that_break_their_word_are_refused() {
    for bad in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
        let problem = Problem::own(BadMeans(bad)).horizon(20).build().unwrap();
        for policy in ["softelim", "ucb1", "random"] {
            assert!(Simulator::new(&problem).instances(4).evaluate(policy).is_err(), "{policy}: mean {bad}");
        }
        assert!(Trainer::new("softelim").iterations(1).train(&problem).is_err(), "mean {bad}");
        assert!(Trainer::new("dqn").iterations(1).train(&problem).is_err(), "mean {bad}");
        let problem = Problem::own(BadRewards(bad)).horizon(20).build().unwrap();
        for policy in ["softelim", "ucb1", "random"] {
            assert!(
                Simulator::new(&problem).instances(4).evaluate(policy).is_err(),
                "{policy}: reward {bad}"
            );
        }
        for policy in ["softelim", "dqn", "lstm(hidden=3,embedding=2)"] {
            let trainer = Trainer::new(policy).iterations(1);
            let trainer =
                if policy.starts_with("lstm") { trainer.recipe(RecipeName::Paper) } else { trainer };
            let problem = Problem::own(BadRewards(bad)).horizon(20).build().unwrap();
            assert!(trainer.train(&problem).is_err(), "{policy}: reward {bad}");
        }
    }
    for bad in ["short", "contexts", "means", "rewards"] {
        let problem = Problem::contexts(BadContexts(bad), 2).horizon(20).build().unwrap();
        for policy in ["cosoftelim", "linucb", "random"] {
            assert!(Simulator::new(&problem).instances(4).evaluate(policy).is_err(), "{policy}: {bad}");
        }
    }
}

/// All that is learned by a search must have one parameter.
#[test]
fn only_one_number_is_searched_for() {
    let problem = shorten("linear-1", 20);
    let hard = "soft-ucb(hard=true)".parse::<Policy>().unwrap();
    let error = Trainer::new(&hard).iterations(2).train(&problem).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unscored { .. }), "{error}");
    let chosen = hard.on(&problem).unwrap();
    assert!(Plan::Search(ascent()).train(&problem, &chosen, 1, &mut ()).is_err());
}

/// Names and words that there are not.
#[test]
fn unknown_names_are_refused() {
    assert!(Problem::named("bernoulli-1").is_err());
    assert!(named("softelm").is_err());
    for text in ["softelm", "softelim(", "softelim(w)", "softelim(w=x)", "softelim(v=1)", "exp3(score=half)"]
    {
        assert!(text.parse::<Policy>().is_err(), "{text}");
        assert!(Simulator::new(&shorten("bernoulli-2", 20)).evaluate(text).is_err(), "{text}");
        assert!(Trainer::new(text).train(&shorten("bernoulli-2", 20)).is_err(), "{text}");
    }
    let kinds: Vec<&str> = POLICIES.iter().map(PolicyKind::name).collect();
    assert_eq!(kinds.len(), 21);
}
