//! Figure 3: the same optimisation on a beta bandit and on ten arms.

use crate::experiment::{Experiment, Results, Series, Size, at, paper, training};
use crate::plot::{behind, colour, figure, learning, learning_panel, level, name, rounds_of};
use crate::row::Row;
use crate::work::{Play, Work};
use gradband::measure::over_rounds;
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig3",
    title: "More complex problems",
    section: "7.4",
    text: &[
        "Thompson sampling and the Gittins index see beta rewards rounded to 0 or 1 at random, which throws away what low \
         noise tells; SoftElim adapts. The Gittins index is drawn for the Beta(1, 1) prior that both ten-armed problems have.",
    ],
    plan,
    blocks,
    rows,
};

const PROBLEMS: [(&str, &str, usize); 3] = [
    ("beta-2", "Beta, K = 2, n = 200", 200),
    ("bernoulli-10", "Bernoulli, K = 10, n = 1000", 1000),
    ("beta-10", "Beta, K = 10, n = 1000", 1000),
];
const OTHERS: [&str; 3] = ["thompson", "gittins", "ucb1"];

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let mut all = Vec::new();
    for (problem, _, horizon) in PROBLEMS {
        for policy in ["exp3", "softelim"] {
            let mut train =
                training(problem, policy, paper("self", 100, size.pick(1000, 200)), at(100, 2, 5));
            train.rounds = over_rounds(horizon, 20);
            train.instances = size.pick(1000, 500);
            train.final_instances = size.pick(10_000, 2_000);
            all.push(Series::new(format!("{problem}, {policy}"), Work::from(train), size.runs(20)));
        }
        // The Gittins table of a thousand rounds takes half a minute.
        let skip = size.quick && horizon == 1000;
        let play = Play {
            problem: problem.into(),
            policies: OTHERS.iter().filter(|&&p| !(skip && p == "gittins")).map(|p| p.to_string()).collect(),
            instances: size.pick(50_000, 2_000),
            rounds: over_rounds(horizon, 20),
            round_instances: size.pick(2_000, 500),
        };
        all.push(Series::new(format!("{problem}, others"), Work::Play(play), 1));
    }
    Ok(all)
}

fn blocks(results: &Results) -> Vec<Block> {
    let optimisation = PROBLEMS.iter().map(|(problem, title, _)| {
        let tuned = ["exp3", "softelim"].map(|policy| {
            learning(results, "fig3", &format!("{problem}, {policy}"), name(policy), colour(name(policy)))
        });
        let others = OTHERS[..2].iter().filter_map(|policy| {
            let regret = results.regret("fig3", &format!("{problem}, others"), policy);
            level(name(policy), colour(name(policy)), regret, 100.0)
        });
        learning_panel(title, tuned.into_iter().chain(others))
    });
    let over_rounds = PROBLEMS.iter().map(|(problem, title, _)| {
        let tuned = ["exp3", "softelim"].map(|policy| (format!("{problem}, {policy}"), policy));
        rounds_of(results, "fig3", title, &tuned, &format!("{problem}, others"))
    });
    vec![
        figure(
            "fig3",
            "Regret over iterations of GradBand",
            "L = 100, m = 1000; means over runs, bands are standard errors.",
            optimisation.collect(),
        ),
        figure(
            "fig3-rounds",
            "Regret over rounds",
            &behind(results, "fig3", "beta-2, softelim", "beta-2, others"),
            over_rounds.collect(),
        ),
    ]
}

fn rows(results: &Results) -> Vec<Row> {
    let mut rows = Vec::new();
    for (problem, title, _) in PROBLEMS {
        let regret = |policy: &str| results.tuned("fig3", &format!("{problem}, {policy}"));
        let thompson = results.regret("fig3", &format!("{problem}, others"), "thompson");
        let pair =
            |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| (format!("{a:.1} against {b:.1}"), a < b));
        let mean = |x: Option<gradband::Estimate>| x.map(|x| x.mean);
        rows.push(Row::claim(
            format!("{title}: SoftElim against Thompson sampling"),
            "lower",
            pair(mean(regret("softelim")), mean(thompson)),
        ));
        rows.push(Row::claim(
            format!("{title}: Exp3 against Thompson sampling"),
            "not competitive",
            pair(mean(thompson), mean(regret("exp3")))
                .map(|(_, worse)| (format!("{:.1}", mean(regret("exp3")).unwrap_or_default()), worse)),
        ));
    }
    rows
}
