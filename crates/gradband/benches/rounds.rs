//! Nanoseconds of processor time per policy-round: every policy in one lane and in all, the jobs that the peers in
//! `bench/peers` run too, and the floor below which no kernel of this kind can go.
//!
//! `cargo bench --bench rounds -- [policies] [jobs] [exact] [own] [general] [floor] [threads]` prints one JSON object per line; letters choose among
//! the jobs, as in `jobs b`.
#![allow(clippy::unwrap_used)]

mod clock;
#[path = "../tests/rules/mod.rs"]
mod rules;

use clock::{REPEATS, best_of, multiply_adds, now};
use gradband::exact::GittinsTable;
use gradband::learn::{
    Ascent, Average, Estimator, GradientSource, Optimizer, Plan, Rate, Recipe, Stage, Start,
};
use gradband::measure::{evaluate, exact as exactly};
use gradband::policy::{Choice, ready};
use gradband::problem::{Delay, Prior, Problem, Split, World};
use gradband::simulate::{Baseline, Job, Key, Lanes, Outcome, Output, Player, Returns, Task, has_wide_lanes};
use gradband::{Policy, simulate};
use std::hint::black_box;
use std::time::Instant;

/// K arms with uniform means, Bernoulli rewards.
fn uniform(arms: usize, horizon: usize) -> Problem {
    let prior = Prior::beta(arms, 1.0, 1.0).unwrap();
    Problem::bernoulli(prior).name(format!("uniform-{arms}")).horizon(horizon).build().unwrap()
}

/// The policy on a problem, from how it is typed.
fn choice(policy: &str, problem: &Problem) -> Choice {
    Choice::parse(policy, problem).unwrap()
}

/// Nanoseconds per policy-round of a task.
fn time(player: &dyn Player, job: &Job, instances: usize) -> f64 {
    let mut outcomes = vec![Outcome::default(); instances];
    let length = if job.task == Task::Evaluate { 0 } else { player.dim() };
    let mut gradients = vec![0.0; instances * length];
    let seconds = best_of(|| {
        let (outcomes, gradients) = (black_box(&mut outcomes[..]), black_box(&mut gradients[..]));
        player.rollout(job, 0, Output { outcomes, gradients, curves: &mut [] }).unwrap();
    });
    seconds * 1e9 / (instances * job.problem.horizon() * job.task.runs()) as f64
}

fn policies() {
    for (arms, horizon) in [(2, 200), (10, 1000), (100, 1000)] {
        let problem = uniform(arms, horizon);
        for kind in ready(&problem) {
            let player = Choice::initial(kind, &problem).unwrap().player(&problem, &mut ()).unwrap();
            let time = |lanes, instances: usize| {
                let job = Job { lanes, ..Job::new(&problem, Key::new(1), Split::Train, Task::Evaluate) };
                time(&*player, &job, instances)
            };
            let size = 400_000 / (arms * horizon).max(2000);
            let (one, all) =
                (time(Lanes::Single, size.max(2) / 2), time(Lanes::Auto, size.next_multiple_of(16)));
            println!(
                r#"{{"bench":"policy","policy":"{}","arms":{arms},"one_lane_ns":{one:.2},"all_lanes_ns":{all:.2},"rounds_per_second":{:.3e},"gain":{:.1}}}"#,
                kind.name(),
                1e9 / all,
                one / all
            );
        }
    }
}

/// Jobs a and b: training in the paper's setting. Job e: evaluation of untuned policies.
/// Is this one of the jobs asked for?
fn is_wanted(job: &str) -> bool {
    let mut letters = std::env::args().skip(1).filter(|arg| arg.len() == 1).peekable();
    letters.peek().is_none() || letters.any(|letter| letter == job)
}

fn jobs() {
    let iterations = 100;
    let trained = [("a", "bernoulli-2"), ("b", "bernoulli-10")];
    for (job, problem) in trained.into_iter().filter(|(job, _)| is_wanted(job)) {
        let problem = Problem::named(problem).unwrap();
        let plan = Plan::Ascent(Ascent {
            start: Start::Identity,
            gradient: GradientSource::Sampled,
            estimator: Estimator {
                baseline: Baseline::SelfPlay,
                returns: Returns::Realized,
                batch_size: 1000,
            },
            iterations,
            optimizer: Optimizer::Sgd,
            learning_rate: None,
            clip: None,
            decay: 1.0,
            // The peers hand out the last iterate, too: nothing is compared at the end.
            average: Average::None,
        });
        let initial = choice("softelim", &problem);
        let seconds = best_of(|| {
            black_box(plan.train(&problem, &initial, 1, &mut ()).unwrap());
        });
        // The pilot batch of the automatic rate is timed, but not counted.
        let rounds = iterations * 2 * 1000 * problem.horizon();
        report_job(job, "softelim", seconds * 1e9 / rounds as f64);
    }
    if !is_wanted("e") {
        return;
    }
    let problem = Problem::named("bernoulli-10").unwrap();
    for name in ["ucb1", "softelim", "thompson"] {
        let choice = choice(name, &problem);
        let seconds = best_of(|| {
            black_box(evaluate(&[&choice], &problem, 1, 1000, &[], &mut ()).unwrap());
        });
        report_job("e", name, seconds * 1e9 / (1000 * problem.horizon()) as f64);
    }
}

/// Dynamic programmes: job f is the Gittins table, the others are regret and gradient of SoftElim, and the best
/// possible policy under a uniform prior, all at n = 200.
fn exact() {
    let report = |job: &str, what: &str, seconds: f64| {
        println!(
            r#"{{"bench":"exact","job":"{job}","lib":"gradband","variant":"{what}","cpu_s":{seconds:.4}}}"#
        );
    };
    report("f", "gittins table", best_of(|| drop(black_box(GittinsTable::new(200, &mut ())))));
    for (problem, name) in [("bernoulli-2", "softelim"), ("bernoulli-2-uniform", "bayes-optimal")] {
        let problem = Problem::named(problem).unwrap();
        let choice = choice(name, &problem);
        let start = now();
        black_box(exactly(&problem, &choice, Split::Train, &mut ()).unwrap());
        report("", name, now() - start);
    }
}

fn report_job(job: &str, policy: &str, nanoseconds: f64) {
    println!(
        r#"{{"bench":"job","job":"{job}","lib":"gradband","variant":"{policy}","cpu_ns_per_policy_round":{nanoseconds:.4}}}"#
    );
}

/// A policy of the catalogue against the same as a rule of one's own, whose derivative is automatic.
fn own() {
    let bernoulli_2 = Problem::named("bernoulli-2").unwrap();
    let bernoulli_10 = Problem::named("bernoulli-10").unwrap();
    let linear = Problem::named("linear-1").unwrap();
    let softelim = || Policy::own(rules::SoftElimRule { knows_slopes: false });
    for (problem, built_in, rule) in [
        (&bernoulli_2, "softelim", softelim()),
        (&bernoulli_10, "softelim", softelim()),
        (&linear, "soft-ucb", Policy::own_linear(rules::SoftUcbRule)),
    ] {
        let players = [choice(built_in, problem), rule.on(problem).unwrap()]
            .map(|choice| choice.player(problem, &mut ()).unwrap());
        for (name, task) in [
            ("evaluate", Task::Evaluate),
            ("gradient", Task::Gradient(Baseline::LeaveOneOut(8), Returns::Mean)),
        ] {
            let job = Job::new(problem, Key::new(1), Split::Train, task);
            let instances = (400_000 / (problem.horizon() * task.runs())).next_multiple_of(16);
            let [built_in_ns, own_ns] = [0, 1].map(|i| time(&*players[i], &job, instances));
            println!(
                r#"{{"bench":"own","problem":"{}","policy":"{built_in}","task":"{name}","built_in_ns":{built_in_ns:.2},"own_ns":{own_ns:.2},"ratio":{:.1}}}"#,
                problem.name(),
                own_ns / built_in_ns
            );
        }
    }
}

/// Problems of the general engine, which calls its policy: rewards other than 0 and 1, and rewards that come late.
fn general() {
    for arms in [2, 10] {
        let normal = Prior::normal(arms, 0.0, 1.0).unwrap();
        let gaussian = Problem::gaussian(normal, 1.0).name("gaussian").horizon(1000).build().unwrap();
        let plain = uniform(arms, 1000);
        let late = plain.with_world(World { delay: Delay::Rounds(20), ..*plain.world() }).unwrap();
        for (what, problem) in [("gaussian", gaussian), ("delay 20", late)] {
            for policy in ["softelim", "ucb1", "thompson"] {
                let Ok(choice) = Choice::parse(policy, &problem) else { continue };
                let player = choice.player(&problem, &mut ()).unwrap();
                let job = Job::new(&problem, Key::new(1), Split::Train, Task::Evaluate);
                let ns = time(&*player, &job, 160);
                println!(
                    r#"{{"bench":"general","problem":"{what}","policy":"{policy}","arms":{arms},"ns":{ns:.2}}}"#
                );
            }
        }
    }
}

fn floor() {
    const ROUNDS: usize = 200_000;
    let lanes = if has_wide_lanes() { 16.0 } else { 1.0 };
    for (job, exponentials) in [("a", 1), ("b", 10)] {
        let seconds = best_of(|| {
            black_box(simulate::floor(exponentials, ROUNDS));
        });
        let nanoseconds = seconds * 1e9 / (lanes * ROUNDS as f64);
        println!(
            r#"{{"bench":"floor","job":"{job}","exponentials":{exponentials},"cpu_ns_per_policy_round":{nanoseconds:.4}}}"#
        );
    }
}

/// Wall time on one and on two threads: arithmetic in registers, which shares nothing (what the machine has to give), an evaluation, a
/// contextual gradient, iterations of the LSTM.
fn threads() {
    let half = || multiply_adds(5_000_000);
    speedup("registers", || {
        rayon::join(half, half);
    });
    let arms = Problem::named("bernoulli-10").unwrap();
    let softelim = choice("softelim", &arms);
    speedup("e", || drop(black_box(evaluate(&[&softelim], &arms, 1, 8192, &[], &mut ()).unwrap())));
    let linear = Problem::named("linear-1").unwrap();
    let player = choice("cosoftelim", &linear).player(&linear, &mut ()).unwrap();
    let estimator = Estimator { baseline: Baseline::SelfPlay, returns: Returns::Realized, batch_size: 2048 };
    speedup("c", || drop(black_box(estimator.estimate(&*player, &linear, Key::new(1), &mut ()).unwrap())));
    let two = Problem::named("bernoulli-2").unwrap();
    let lstm = choice("lstm", &two);
    let rate = Rate { initial: 1e-4, end: 1.0, decay: 1.0 };
    let stages = vec![Stage { horizon: two.horizon(), iterations: 2, rate }];
    let recipe = Recipe { stages, instances: 500, temperature: false, ..Recipe::paper(&two) };
    let plan = Plan::Recurrent(recipe);
    speedup("d", || drop(black_box(plan.train(&two, &lstm, 0, &mut ()).unwrap())));
}

fn speedup(job: &str, work: impl Fn() + Sync) {
    let wall = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let measure = |_| {
            let start = Instant::now();
            pool.install(&work);
            start.elapsed().as_secs_f64()
        };
        (0..REPEATS).map(measure).fold(f64::INFINITY, f64::min)
    };
    let (one, two) = (wall(1), wall(2));
    println!(
        r#"{{"bench":"threads","job":"{job}","one_s":{one:.4},"two_s":{two:.4},"speedup":{:.3}}}"#,
        one / two
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let all: [(&str, fn()); 7] = [
        ("policies", policies),
        ("jobs", jobs),
        ("exact", exact),
        ("own", own),
        ("general", general),
        ("floor", floor),
        ("threads", threads),
    ];
    // Processor time is measured per thread: everything but the last part stays on this one.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    for (name, part) in all {
        if wanted.is_empty() || wanted.iter().any(|arg| arg == name) {
            part();
        }
    }
}
