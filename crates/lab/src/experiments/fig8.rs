//! Figure 8: the subspaces of Problems 2 to 4, learned.

use super::fig7::{POLICIES, others, train};
use crate::experiment::{Experiment, Results, Series, Size};
use crate::plot::{behind, colour, figure, learning, learning_panel, level, name, projection, rounds_of};
use crate::row::{Reason, Row};
use gradband_report::Block;

pub static EXPERIMENT: Experiment = Experiment {
    id: "fig8",
    title: "Relevant subspace meta-learning",
    section: "7.8",
    text: &[
        "CoSoftElim's projection finds the features that matter; compare W and M with figure 6. LinUCB is off the scale \
         with the width that reproduces the paper's figures; with a tuned width it is not, and is drawn too.",
    ],
    plan,
    blocks,
    rows,
};

const WIDTH: &str = "The paper does not give LinUCB's width. Ours is the theory's, a = sigma sqrt(d ln((1 + n L^2 / \
                                lambda) n)) with L^2 the mean square length of a context, which comes within a few percent on \
                                all four problems (gradband evaluate linear-1 --policy linucb); a tuned width has less than \
                                half the regret (--policy 'linucb(width=tuned)').";

/// What this width gives on a problem: four standard errors around 20,000 instances.
pub(super) const fn width(problem: usize) -> Reason {
    let (low, high) = match problem {
        1 => (112.29, 113.68),
        2 => (96.32, 97.58),
        3 => (132.03, 133.81),
        _ => (156.67, 158.77),
    };
    Reason::within(WIDTH, low, high)
}

/// What the paper's "roughly 50 %" may be.
const ROUGHLY: std::ops::RangeInclusive<f64> = 40.0..=60.0;

// Problem 4 alone; four standard errors around twenty runs, as far as they are below 40 %.
const HALF: Reason = Reason::within(
    "On Problem 4 the rate is slow for 100 iterations: with twice the rate training ends at 26.4, 48 % lower. See \
     docs/reproduction.md.",
    34.8,
    40.0,
);

const PROBLEMS: [usize; 3] = [2, 3, 4];

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let mut all = Vec::new();
    for i in PROBLEMS {
        let problem = format!("linear-{i}");
        for policy in POLICIES {
            let work = train(&problem, policy, "self", size);
            all.push(Series::new(format!("{problem}, {policy}"), work, size.runs(20)));
        }
        all.push(Series::new(format!("{problem}, others"), others(&problem, size), 1));
    }
    Ok(all)
}

fn blocks(results: &Results) -> Vec<Block> {
    let mut panels = Vec::new();
    let (mut rounds, mut w, mut m) = (Vec::new(), Vec::new(), Vec::new());
    for i in PROBLEMS {
        let problem = format!("linear-{i}");
        let series = |policy: &str| format!("{problem}, {policy}");
        let lines = POLICIES
            .map(|policy| learning(results, "fig8", &series(policy), name(policy), colour(name(policy))));
        let fixed = ["mom-thompson", "linucb(ridge=1,width=tuned)"].into_iter().filter_map(|policy| {
            let regret = results.regret("fig8", &series("others"), policy);
            level(name(policy), colour(name(policy)), regret, 100.0)
        });
        panels.push(learning_panel(&format!("Problem {i}"), lines.into_iter().chain(fixed)));
        let tuned = POLICIES.map(|policy| (series(policy), policy));
        rounds.push(rounds_of(results, "fig8", &format!("Problem {i}"), &tuned, &series("others")));
        let run = results.trained("fig8", &series("cosoftelim")).first().copied();
        if let Some([left, right]) = run.and_then(|run| projection(&format!("Problem {i}"), &run.params, 8)) {
            w.push(left);
            m.push(right);
        }
    }
    vec![
        figure(
            "fig8",
            "Regret over iterations of GradBand",
            "L = 100, m = 500, self; means over runs.",
            panels,
        ),
        figure(
            "fig8-learned",
            "CoSoftElim's projection",
            "First run, after 100 iterations.",
            [w, m].concat(),
        ),
        figure(
            "fig8-rounds",
            "Regret over rounds",
            &behind(results, "fig8", "linear-2, cosoftelim", "linear-2, others"),
            rounds,
        ),
    ]
}

fn rows(results: &Results) -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, paper) in PROBLEMS.into_iter().zip([(99.01, 0.69), (134.57, 0.98), (156.98, 1.15)]) {
        let series = |policy: &str| format!("linear-{i}, {policy}");
        let mean = |policy: &str| results.tuned("fig8", &series(policy)).map(|x| x.mean);
        let other = |policy: &str| results.regret("fig8", &series("others"), policy);
        let tuned = mean("cosoftelim");
        rows.push(half(i, results.untuned("fig8", &series("cosoftelim")).map(|before| before.mean), tuned));
        let best = mean("lin-thompson").zip(mean("lin-epsilon-greedy")).zip(tuned);
        let best = best.map(|((a, b), own)| (format!("{own:.1}, others {a:.1} and {b:.1}"), own < a.min(b)));
        rows.push(Row::claim(format!("The best tuned policy, Problem {i}"), "CoSoftElim", best));
        let vanilla = results.untuned("fig8", &series("lin-thompson")).zip(mean("lin-thompson")).zip(tuned);
        let vanilla = vanilla.map(|((plain, thompson), own)| {
            let large = thompson < 0.9 * plain.mean && own < 0.9 * plain.mean;
            (format!("{thompson:.1} and {own:.1} against {:.1}", plain.mean), large)
        });
        rows.push(Row::claim(
            format!("Tuned Thompson sampling and CoSoftElim against LinTS, Problem {i}"),
            "lower by a large margin",
            vanilla,
        ));
        let mom = other("mom-thompson")
            .zip(tuned)
            .map(|(mom, own)| (format!("{own:.1} against {:.1}", mom.mean), own < mom.mean));
        rows.push(Row::claim(format!("CoSoftElim against MOM, Problem {i}"), "lower", mom));
        let paper = (paper.0, Some(paper.1));
        rows.push(Row::number(format!("LinUCB, Problem {i}"), paper, other("linucb")).because(width(i)));
    }
    rows
}

/// Tuning takes away half of the regret.
fn half(problem: usize, before: Option<f64>, after: Option<f64>) -> Row {
    let found = before.zip(after).map(|(before, after)| (before, after, 100.0 * (1.0 - after / before)));
    let seen = found.map(|(before, after, less)| {
        (format!("{before:.1} to {after:.1}, by {less:.0} %"), ROUGHLY.contains(&less))
    });
    let row = Row::claim(format!("CoSoftElim, Problem {problem}: decrease by tuning"), "roughly 50 %", seen)
        .about(found.map(|(.., less)| less));
    if problem == 4 { row.because(HALF) } else { row }
}
