//! The comparison of section 7.3 as a table: tuned policies, known ones, and the Bayes optimum.

use crate::experiment::{Experiment, Results, Series, Size, paper, training};
use crate::plot::{behind, figure, name, ranking, rounds_panel, style};
use crate::row::{Reason, Row};
use crate::work::{Play, Work};
use gradband::measure::over_rounds;
use gradband_files::TrainSpec;
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "tab1",
    title: "Comparison to existing solutions",
    section: "7.3",
    text: &[
        "Every policy on bernoulli-2. Tuned policies are trained as in figure 2 with the self baseline; \"ours\" is \
         what gradband does by default (leave-one-out of 8 runs, mean returns, the mean of the last half of the iterates).",
    ],
    plan,
    blocks,
    rows,
};

const OTHERS: [&str; 9] = [
    "ucb1",
    "thompson",
    "ucb-v",
    "gittins",
    "bayes-optimal",
    "boltzmann",
    "epsilon-greedy",
    "explore-then-commit",
    "random",
];

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let play = Play {
        problem: "bernoulli-2".into(),
        policies: OTHERS.map(String::from).to_vec(),
        instances: size.pick(100_000, 10_000),
        rounds: over_rounds(200, 40),
        round_instances: size.pick(10_000, 2_000),
    };
    let train = |policy: &str, train: TrainSpec| {
        let mut train = training("bernoulli-2", policy, train, Vec::new());
        train.rounds = over_rounds(200, 40);
        train.instances = size.pick(10_000, 2_000);
        Work::from(train)
    };
    let runs = size.runs(20);
    Ok(vec![
        Series::new("others", Work::Play(play), 1),
        Series::new("gittins table", Work::Gittins { horizon: 200 }, 1),
        Series::new("softelim", train("softelim", paper("self", 100, 1000)), runs),
        Series::new("exp3", train("exp3", paper("self", 100, 1000)), runs),
        Series::new("softelim, ours", train("softelim", TrainSpec::default()), runs),
        Series::new(
            "dqn",
            train("dqn", TrainSpec { iterations: size.pick(None, Some(10_000)), ..TrainSpec::default() }),
            size.runs(10),
        ),
    ])
}

const TUNED: [(&str, &str); 4] = [
    ("softelim", "SoftElim, tuned"),
    ("exp3", "Exp3, tuned"),
    ("softelim, ours", "SoftElim, ours"),
    ("dqn", "DQN"),
];

fn blocks(results: &Results) -> Vec<Block> {
    let tuned =
        TUNED.iter().filter_map(|(series, label)| Some((label.to_string(), results.tuned("tab1", series)?)));
    let others = results.played("tab1", "others");
    let others = others.iter().map(|(policy, played)| (name(policy).to_string(), played.regret));
    let over_rounds = TUNED.iter().filter_map(|(series, label)| {
        results.trained("tab1", series).first().map(|run| (label.to_string(), run.rounds.as_slice()))
    });
    let played = results.played("tab1", "others");
    let played = played.iter().map(|(policy, played)| (name(policy).to_string(), played.curve.as_slice()));
    vec![figure(
        "tab1",
        "All policies on bernoulli-2",
        &format!(
            "Left: Bayes regret over n = 200 rounds, tuned policies: means over runs; bars are standard errors, smaller than \
             the marks for most. Right: regret over rounds, on fewer instances, so that lines end near their dots. {}",
            behind(results, "tab1", "softelim", "others")
        ),
        vec![
            ranking("Bayes regret", tuned.chain(others).collect(), style),
            rounds_panel("Over rounds", over_rounds.chain(played)),
        ],
    )]
}

fn rows(results: &Results) -> Vec<Row> {
    let other = |policy: &str| results.regret("tab1", "others", policy);
    let seconds = |series: &str| {
        let runs = results.trained("tab1", series);
        (!runs.is_empty()).then(|| runs.iter().map(|run| run.seconds).sum::<f64>() / runs.len() as f64)
    };
    let tuned = |what: &str, paper: (f64, Option<f64>), series: &str| {
        Row::number(what, paper, results.tuned("tab1", series)).of_runs(results.runs("tab1", series).len())
    };
    vec![
        Row::number("UCB1", (9.95, Some(0.03)), other("ucb1")),
        Row::number("Thompson sampling", (5.47, Some(0.05)), other("thompson")),
        Row::number("UCB-V", (15.79, Some(0.03)), other("ucb-v")),
        Row::number("Gittins index", (3.89, Some(0.07)), other("gittins")),
        tuned("DQN", (16.81, Some(1.05)), "dqn").because(DQN),
        tuned("SoftElim, tuned", (4.74, Some(0.03)), "softelim"),
        tuned("Exp3, tuned", (10.96, Some(0.16)), "exp3"),
        Row::time(
            "Time for the Gittins indices, n = 200",
            ("almost two days", TWO_DAYS),
            results.runs("tab1", "gittins table").first().map(|record| record.seconds),
        )
        .because(INDICES),
        Row::time("Time to tune SoftElim", ("about 20 s", TUNING), seconds("softelim")).because(ENGINE),
    ]
}

const TWO_DAYS: f64 = 2.0 * 86_400.0;
const TUNING: f64 = 20.0;

// Four standard errors around ten runs.
const DQN: Reason = Reason::within(
    "Another DQN: double Q-learning with ten-step targets, and the best of ten checkpoints is kept; the paper used \
     Dopamine's. That a tuned one plays well says that the paper's was not tuned.",
    2.86,
    3.18,
);
// Reasons for shorter times, however much shorter: that depends on the machine.
const INDICES: Reason = Reason::within(
    "One backward programme per value of the index visits only the states where it matters (docs/exact.md).",
    0.0,
    TWO_DAYS,
);
const ENGINE: Reason = Reason::within(
    "Another program: sixteen runs at a time in single precision, on two cores (docs/performance.md).",
    0.0,
    TUNING,
);
