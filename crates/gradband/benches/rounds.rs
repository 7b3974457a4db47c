//! Nanoseconds of processor time per policy-round: every policy in one lane and in all, the jobs that the peers in
//! `bench/peers` run too, and the floor below which no kernel of this kind can go.
//!
//! `cargo bench --bench rounds -- [policies] [jobs] [exact] [floor] [threads]` prints one JSON object per line.
#![allow(clippy::unwrap_used)]

mod clock;

use clock::{REPEATS, best_of, now};
use fearless_simd::{Level, Simd, f32x16};
use gradband::Problem;
use gradband::baseline::{Baseline, Returns};
use gradband::evaluate::evaluate;
use gradband::gradient::Estimator;
use gradband::lanes::{One, Real};
use gradband::optimizer::Rule;
use gradband::problem::{Prior, Rewards, Split};
use gradband::registry::{Choice, policy, ready};
use gradband::simulate::{Job, Lanes, Outcome, Task};
use gradband::stream::{Key, Stream};
use gradband::train::{Average, Settings, train};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

/// K arms with uniform means, Bernoulli rewards.
fn uniform(arms: usize, horizon: usize) -> Problem {
    let prior = Prior::beta(vec![1.0; arms], vec![1.0; arms]).unwrap();
    Problem::new(format!("uniform-{arms}"), Rewards::Bernoulli, prior, horizon).unwrap()
}

fn policies() {
    for (arms, horizon) in [(2, 200), (10, 1000), (100, 1000)] {
        let problem = uniform(arms, horizon);
        for info in ready(&problem) {
            let agent = Choice::initial(info, &problem).unwrap().agent(&problem);
            let time = |lanes, instances: usize| {
                let job = Job { lanes, ..Job::new(&problem, Key::new(1), Split::Train, Task::Evaluate) };
                let mut out = vec![Outcome::default(); instances];
                let seconds = best_of(|| agent.rollout(&job, 0, black_box(&mut out), &mut []));
                seconds * 1e9 / (instances * horizon) as f64
            };
            let size = 400_000 / (arms * horizon).max(2000);
            let (one, all) =
                (time(Lanes::Single, size.max(2) / 2), time(Lanes::Auto, size.next_multiple_of(16)));
            println!(
                r#"{{"bench":"policy","policy":"{}","arms":{arms},"one_lane_ns":{one:.2},"all_lanes_ns":{all:.2},"rounds_per_second":{:.3e},"gain":{:.1}}}"#,
                info.name,
                1e9 / all,
                one / all
            );
        }
    }
}

/// Jobs a and b: training in the paper's setting. Job e: evaluation of untuned policies.
fn jobs() {
    for (job, problem, iterations) in [
        ("a", Problem::named("bernoulli-2").unwrap(), 100),
        ("b", Problem::named("bernoulli-10").unwrap(), 10),
    ] {
        let settings = Settings {
            gradient: gradband::train::Source::Sampled,
            estimator: Estimator {
                baseline: Baseline::SelfPlay,
                returns: Returns::Realized,
                batch_size: 1000,
            },
            iterations,
            rule: Rule::Sgd,
            learning_rate: None,
            clip: None,
            decay: 1.0,
            average: Average::Tail,
        };
        let initial = Choice::initial(policy("softelim").unwrap(), &problem).unwrap();
        let seconds = best_of(|| {
            black_box(train(&problem, &initial, &settings, 1, &mut ()).unwrap());
        });
        // The pilot batch of the automatic rate is timed, but not counted.
        let rounds = iterations * 2 * 1000 * problem.horizon;
        report_job(job, "softelim", seconds * 1e9 / rounds as f64);
    }
    let problem = Problem::named("bernoulli-10").unwrap();
    for name in ["ucb1", "softelim", "thompson"] {
        let agent = Choice::initial(policy(name).unwrap(), &problem).unwrap().agent(&problem);
        let seconds = best_of(|| {
            black_box(evaluate(&[&*agent], &problem, 1, 1000, |_| ControlFlow::Continue(())));
        });
        report_job("e", name, seconds * 1e9 / (1000 * problem.horizon) as f64);
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
    let table = || black_box(gradband::exact::gittins::Table::new(200, &mut gradband::exact::unhurried));
    report("f", "gittins table", best_of(|| drop(table())));
    for (problem, name) in [("bernoulli-2", "softelim"), ("bernoulli-2-uniform", "bayes-optimal")] {
        let problem = Problem::named(problem).unwrap();
        let choice = Choice::initial(policy(name).unwrap(), &problem).unwrap();
        let start = now();
        black_box(
            gradband::exact::evaluate(&problem, &choice, Split::Train, &mut gradband::exact::unhurried)
                .unwrap(),
        );
        report("", name, now() - start);
    }
}

fn report_job(job: &str, policy: &str, nanoseconds: f64) {
    println!(
        r#"{{"bench":"job","job":"{job}","lib":"gradband","variant":"{policy}","cpu_ns_per_policy_round":{nanoseconds:.4}}}"#
    );
}

/// A round's random numbers (one for the action, one for the reward) and exponentials, and nothing else.
#[inline(always)]
fn draw_and_exponentiate<R: Real>(token: R::Token, exponentials: usize, rounds: usize) -> R {
    let mut stream = Stream::<R>::new(token, Key::new(1), 0);
    let mut sum = R::splat(token, 0.0);
    for _ in 0..rounds {
        let (action, reward) = (stream.uniform(), stream.uniform());
        sum = sum + reward;
        for k in 0..exponentials {
            sum = sum + (action * -(1.0 + k as f32)).exp();
        }
    }
    sum
}

fn floor() {
    const ROUNDS: usize = 200_000;
    for (job, exponentials) in [("a", 1), ("b", 10)] {
        let seconds = match Level::new().as_avx2() {
            Some(simd) => {
                best_of(|| {
                    simd.vectorize(
                        #[inline(always)]
                        || black_box(draw_and_exponentiate::<f32x16<_>>(simd, exponentials, ROUNDS)),
                    );
                }) / 16.0
            }
            None => best_of(|| {
                black_box(draw_and_exponentiate::<One<f32>>((), exponentials, ROUNDS));
            }),
        };
        let nanoseconds = seconds * 1e9 / ROUNDS as f64;
        println!(
            r#"{{"bench":"floor","job":"{job}","exponentials":{exponentials},"cpu_ns_per_policy_round":{nanoseconds:.4}}}"#
        );
    }
}

/// Wall time of one evaluation on one and on two threads.
fn threads() {
    let problem = Problem::named("bernoulli-10").unwrap();
    let agent = Choice::initial(policy("softelim").unwrap(), &problem).unwrap().agent(&problem);
    let wall = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let measure = |_| {
            let start = Instant::now();
            pool.install(|| {
                black_box(evaluate(&[&*agent], &problem, 1, 8192, |_| ControlFlow::Continue(())))
            });
            start.elapsed().as_secs_f64()
        };
        (0..REPEATS).map(measure).fold(f64::INFINITY, f64::min)
    };
    let (one, two) = (wall(1), wall(2));
    println!(r#"{{"bench":"threads","one_s":{one:.4},"two_s":{two:.4},"speedup":{:.3}}}"#, one / two);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let all: [(&str, fn()); 5] =
        [("policies", policies), ("jobs", jobs), ("exact", exact), ("floor", floor), ("threads", threads)];
    // Processor time is measured per thread: everything but the last part stays on this one.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    for (name, part) in all {
        if wanted.is_empty() || wanted.iter().any(|arg| arg == name) {
            part();
        }
    }
}
