//! The kernel against a plain network written after the paper's listing, and its gradient against differences.

use super::*;
use crate::numeric::simd::tests::wide_lanes;
use crate::problem::{Bernoulli, Beta, Prior, Rewards};

/// The length of a gradient.
fn norm(gradient: &[f64]) -> f64 {
    gradient.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// sum over rounds of advantage * log-probability of the pulled arm, in plain loops.
fn objective(lstm: &Lstm, params: &[f64], temperature: f64, run: &rollout::Trajectory) -> f64 {
    let [arm_embedding, reward_embedding, w_ih, w_hh, b, w_out, b_out] =
        lstm.layout().map(|piece| &params[piece.range]);
    let Sizes { hidden, embedding } = lstm.sizes();
    let (mut h, mut c) = (vec![0.0; hidden], vec![0.0; hidden]);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut sum = 0.0;
    for ((&arm, &reward), &advantage) in run[0].iter().zip(&run[1]).zip(&run[2]) {
        let arm = arm as usize;
        let relu: Vec<f64> = h.iter().map(|&x| if x > 0.0 { x } else { 0.01 * x }).collect();
        let logits: Vec<f64> = w_out
            .chunks(hidden)
            .zip(b_out)
            .map(|(row, bias)| (dot(row, &relu) + bias) / temperature)
            .collect();
        let total: f64 = logits.iter().map(|x| x.exp()).sum();
        sum += advantage * (logits[arm] - total.ln());
        let mut x = arm_embedding[arm * embedding..(arm + 1) * embedding].to_vec();
        x.extend(
            (0..embedding)
                .map(|i| (1.0 - reward) * reward_embedding[i] + reward * reward_embedding[embedding + i]),
        );
        let z: Vec<f64> = (0..4 * hidden)
            .map(|j| {
                let input = dot(&w_ih[j * 2 * embedding..(j + 1) * 2 * embedding], &x);
                input + dot(&w_hh[j * hidden..(j + 1) * hidden], &h) + b[j]
            })
            .collect();
        for unit in 0..hidden {
            let gate = |gate: usize| z[gate * hidden + unit];
            c[unit] = sigmoid(gate(1)) * c[unit] + sigmoid(gate(0)) * gate(2).tanh();
        }
        for unit in 0..hidden {
            h[unit] = sigmoid(z[3 * hidden + unit]) * c[unit].tanh();
        }
    }
    sum
}

fn problem(arms: usize, horizon: usize, rewards: impl Into<Rewards>) -> Problem {
    let prior = Prior::beta(arms, 1.0, 1.0).unwrap();
    Problem::arms_with(rewards, prior).horizon(horizon).build().unwrap()
}

/// Weights that are large enough for every part of the gradient to matter.
fn network(arms: usize, hidden: usize, embedding: usize) -> (Lstm, Vec<f64>) {
    let lstm = Lstm::new(Sizes { hidden, embedding }, arms);
    let params = lstm.initial(Key::new(5), 1.0).iter().map(|x| 1.5 * x).collect();
    (lstm, params)
}

fn estimate(lstm: &Lstm, params: &[f64], job: &Job, temperature: f64, instances: usize) -> Vec<f64> {
    played(lstm, params, job, temperature, (0, instances)).0
}

/// The sum of the gradients of some instances, and their outcomes.
fn played(
    lstm: &Lstm,
    params: &[f64],
    job: &Job,
    temperature: f64,
    (first, count): (u64, usize),
) -> (Vec<f64>, Vec<Outcome>) {
    let (mut gradient, mut outcomes) = (vec![0.0; lstm.len()], vec![Outcome::default(); count]);
    let out = Output { outcomes: &mut outcomes, gradients: &mut [], curves: &mut [] };
    lstm.rollout(params, job, temperature, first, out, Some(&mut gradient)).unwrap();
    (gradient, outcomes)
}

/// What a thread keeps of one job does not show in the next.
#[test]
fn buffers_forget() {
    let (problem, other) = (problem(3, 9, Bernoulli), problem(3, 9, Beta { concentration: 2.0 }));
    let (lstm, params) = network(3, 5, 4);
    let job = |problem, key| {
        let task = Task::Gradient(Baseline::SelfPlay, Returns::Realized);
        Job::new(problem, Key::new(key), Split::Train, task)
    };
    let played = |job: &Job, temperature| played(&lstm, &params, job, temperature, (3, 20));
    let fresh = std::thread::scope(|scope| scope.spawn(|| played(&job(&problem, 1), 1.5)).join().unwrap());
    played(&job(&other, 2), 0.7);
    assert_eq!(played(&job(&problem, 1), 1.5), fresh);
    assert_ne!(played(&job(&problem, 2), 1.5), fresh);
}

const BASELINES: [Baseline; 4] =
    [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(3)];

#[test]
fn gradient_agrees_with_differences() {
    let key = Key::new(1);
    for (i, baseline) in BASELINES.into_iter().enumerate() {
        let returns = if i % 2 == 0 { Returns::Realized } else { Returns::Mean };
        let (two, five) = (problem(2, 9, Bernoulli), problem(5, 9, Beta { concentration: 4.0 }));
        for (arms, problem) in [(2, &two), (5, &five)] {
            let (lstm, mut params) = network(arms, 6, 3);
            let task = Task::Gradient(baseline, returns);
            let job = Job { lanes: Lanes::Double, ..Job::new(problem, key, Split::Train, task) };
            let gradient = estimate(&lstm, &params, &job, 1.7, 3);
            let play = |instance| rollout::trajectories(&lstm, &params, &job, 1.7, instance);
            let runs: Vec<_> = (0..3).flat_map(play).collect();
            let scale = norm(&gradient);
            assert!(scale > 1e-2);
            for j in 0..params.len() {
                let (x, step) = (params[j], 1e-5);
                let mut at = |x: f64| {
                    params[j] = x;
                    runs.iter().map(|run| objective(&lstm, &params, 1.7, run)).sum::<f64>()
                };
                let difference = (at(x + step) - at(x - step)) / (2.0 * step);
                at(x);
                assert!(
                    (difference - gradient[j]).abs() < 1e-5 * difference.abs().max(1e-3 * scale),
                    "{baseline:?}, {returns:?}, parameter {j}: {difference} {}",
                    gradient[j]
                );
            }
        }
    }
}

/// The advantages of each baseline: telling them apart by what they sum to.
#[test]
fn advantages_are_sums_of_later_differences() {
    let problem = problem(3, 20, Bernoulli);
    let (lstm, params) = network(3, 4, 2);
    let runs = |baseline, returns| {
        let job = Job {
            lanes: Lanes::Double,
            ..Job::new(&problem, Key::new(2), Split::Train, Task::Gradient(baseline, returns))
        };
        rollout::trajectories(&lstm, &params, &job, 1.0, 7)
    };
    let [_, rewards, advantages] = &runs(Baseline::None, Returns::Realized)[0];
    assert_eq!(advantages[4], rewards[4..].iter().sum::<f64>());
    // Two runs: each is the other's reference, so leave-one-out is half the sum of self and its mirror.
    let pair = runs(Baseline::LeaveOneOut(2), Returns::Realized);
    let own = &runs(Baseline::SelfPlay, Returns::Realized)[0];
    for t in 0..20 {
        assert!((pair[0][2][t] - 0.5 * own[2][t]).abs() < 1e-12);
        assert!((pair[1][2][t] + 0.5 * own[2][t]).abs() < 1e-12);
    }
    // Regret of what is left, with its sign.
    assert!(runs(Baseline::Opt, Returns::Mean)[0][2].iter().all(|&x| x <= 0.0));
}

#[test]
fn lanes_and_precision_change_little() {
    if wide_lanes().is_empty() {
        return;
    }
    let (lstm, params) = network(3, 13, 7);
    let problem = problem(3, 30, Bernoulli);
    for baseline in BASELINES {
        let task = Task::Gradient(baseline, Returns::Realized);
        let play = |lanes| {
            let job = Job { lanes, ..Job::new(&problem, Key::new(3), Split::Train, task) };
            played(&lstm, &params, &job, 1.0, (5, 37))
        };
        let (wide, single, double) = (play(Lanes::Auto), play(Lanes::Single), play(Lanes::Double));
        assert_eq!(wide.1, single.1);
        for (other, tolerance) in [(single, 1e-6), (double, 1e-4)] {
            let difference: Vec<f64> = wide.0.iter().zip(&other.0).map(|(x, y)| x - y).collect();
            let ratio = norm(&difference) / norm(&wide.0);
            assert!(ratio < tolerance, "{baseline:?}: {ratio}");
        }
    }
}

#[test]
fn threads_are_not_observable() {
    let (lstm, params) = network(2, 8, 4);
    let problem = problem(2, 25, Bernoulli);
    let batch = Batch {
        problem: &problem,
        key: Key::new(4),
        instances: 200,
        baseline: Baseline::SelfPlay,
        returns: Returns::Realized,
        temperature: 1.0,
        lanes: Lanes::Auto,
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| lstm.gradient(&params, &batch, None))
    };
    assert_eq!(with(1), with(2));
}

#[test]
fn layout_covers_the_parameters() {
    let lstm = Lstm::new(Sizes::default(), 2);
    let layout = lstm.layout();
    assert_eq!(layout[0].range.start, 0);
    assert!(layout.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
    assert_eq!(lstm.len(), 2 * 50 + 2 * 50 + 200 * 100 + 200 * 50 + 200 + 2 * 50 + 2);
    let params = lstm.initial(Key::new(0), 1.0);
    let forget = &params[layout[4].range.clone()][50..100];
    assert!((forget.iter().sum::<f64>() / 50.0 - 1.0).abs() < 0.1);
    for bad in ["lstm(hidden=0)", "lstm(embedding=0)", "lstm(hidden=4097)"] {
        assert!(bad.parse::<crate::Policy>().is_err(), "{bad}");
    }
}

/// Writes weights, histories and gradient for `bench/peers/lstm_check.py`, to the path in LSTM_CHECK.
#[test]
#[ignore = "half of a comparison with JAX: make check-lstm"]
fn write_a_history_for_the_peer() {
    let path = std::env::var("LSTM_CHECK").expect("LSTM_CHECK: the file to write");
    let problem = problem(3, 40, Bernoulli);
    let (lstm, params) = network(3, 50, 50);
    let task = Task::Gradient(Baseline::LeaveOneOut(4), Returns::Mean);
    let job = Job { lanes: Lanes::Double, ..Job::new(&problem, Key::new(8), Split::Train, task) };
    let play = |instance| rollout::trajectories(&lstm, &params, &job, 1.3, instance);
    let runs: Vec<_> = (0..6).flat_map(play).collect();
    let objective: f64 = runs.iter().map(|run| objective(&lstm, &params, 1.3, run)).sum();
    let pieces: Vec<_> =
        lstm.layout().map(|piece| serde_json::json!([piece.name, piece.shape, piece.range.start])).into();
    let value = serde_json::json!({
        "pieces": pieces,
        "params": params,
        "temperature": 1.3,
        "runs": runs,
        "objective": objective,
        "gradient": estimate(&lstm, &params, &job, 1.3, 6),
    });
    std::fs::write(path, value.to_string()).unwrap();
}
