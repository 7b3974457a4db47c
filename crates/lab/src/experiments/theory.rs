//! The theorems as pictures: concave rewards, bounds that hold, and the bias of Exp3's lemma.

use crate::experiment::{Experiment, Results, Series, Size};
use crate::plot::{chart, figure, line};
use crate::problems::ProblemSource;
use crate::row::{Reason, Row};
use crate::work::{Gradient, Play, Work};
use gradband::Estimate;
use gradband::problem::{Keys, Value};
use gradband_report::{Axis, Block, Look, Scale};

pub static EXPERIMENT: Experiment = Experiment {
    id: "theory",
    title: "The theorems",
    section: "3 to 5",
    text: &[
        "Theorems 1 and 2: the reward of explore-then-commit is concave in h, so its regret is convex: each step costs more \
         than the one before. Theorem 7: SoftElim's regret at w = √8, exactly, and its bound. Lemma 5: the length of the \
         gradient, exactly, and the bound in the lemma's proof, c n times the regret, where no score is longer than c.",
    ],
    plan,
    blocks,
    rows,
};

const HORIZON: usize = 60;
const CONTEXT_HORIZON: usize = 120;
const GAPS: [f64; 5] = [0.1, 0.2, 0.4, 0.6, 0.8];
const W: [f64; 8] = [0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.0, 2.8284271247461903];

/// Two Gaussian arms with standard normal means and unit noise.
fn gaussian() -> ProblemSource {
    let prior = Keys::kind("normal").with("arms", 2_usize).with("mean", 0.0).with("sd", 1.0);
    Keys::kind("gaussian").with("horizon", HORIZON).with("noise_sd", 1.0).with("prior", prior).into()
}

/// Three contexts in turn, two arms, normal means around zero.
fn contexts() -> ProblemSource {
    Keys::kind("discrete-context")
        .with("horizon", CONTEXT_HORIZON)
        .with("noise_sd", 1.0)
        .with("means", Value::rows(&[0.0; 6], 3))
        .with("mean_sd", 1.0)
        .with("context_order", "cyclic")
        .into()
}

/// One Bernoulli instance.
fn point(means: [f64; 2], horizon: usize) -> ProblemSource {
    let prior = Keys::kind("points").with("instances", Value::rows(&means, 2));
    Keys::kind("bernoulli").with("horizon", horizon).with("prior", prior).into()
}

fn plan(size: &Size) -> gradband::Result<Vec<Series>> {
    let commit = |problem: ProblemSource, policy: &str, longest: usize| {
        Work::Play(Play {
            problem,
            policies: (1..=longest).map(|h| format!("{policy}(h={h})")).collect(),
            instances: size.pick(200_000, 20_000),
            rounds: Vec::new(),
            round_instances: 0,
        })
    };
    let mut all = vec![
        Series::new("theorem 1", commit(gaussian(), "explore-then-commit", HORIZON / 2), 1),
        Series::new(
            "theorem 2",
            commit(contexts(), "contextual-explore-then-commit", CONTEXT_HORIZON / 6),
            1,
        ),
    ];
    for gap in GAPS {
        let work = Work::Exact {
            problem: point([0.5 + gap / 2.0, 0.5 - gap / 2.0], 200),
            policy: format!("softelim(w={})", W[W.len() - 1]),
        };
        all.push(Series::new(format!("theorem 7, gap {gap}"), work, 1));
    }
    for w in W {
        let work = Work::Exact { problem: "bernoulli-2".into(), policy: format!("softelim(w={w})") };
        all.push(Series::new(format!("lemma 5, w = {w}"), work, 1));
    }
    for (name, score) in [("total", "total"), ("lemma", "paper")] {
        let work = Work::Gradient(Gradient {
            problem: point([0.6, 0.4], 7),
            policy: format!("exp3(score={score},w=0.3)"),
            baselines: vec!["self".into()],
            batch_size: size.pick(20_000_000, 2_000_000),
            instances: 1000,
        });
        all.push(Series::new(format!("lemma 6, {name}"), work, 1));
    }
    Ok(all)
}

/// sum over arms of (2e + 1)(16 / gap ln n + gap) + 5 gap.
fn bound_7(gap: f64, horizon: f64) -> f64 {
    (2.0 * std::f64::consts::E + 1.0) * (16.0 / gap * horizon.ln() + gap) + 5.0 * gap
}

/// c n regret; a score of SoftElim is at most 2 (2 n) / w³.
fn bound_5(w: f64, regret: f64) -> f64 {
    let n = 200.0;
    4.0 * n / (w * w * w) * n * regret
}

fn known(mean: f64) -> Estimate {
    Estimate { mean, std_error: 0.0 }
}

fn blocks(results: &Results) -> Vec<Block> {
    let steps = |series: &str| -> Vec<(f64, Estimate)> {
        let played = results.played("theory", series);
        played.iter().enumerate().skip(1).map(|(i, (_, played))| (i as f64 + 1.0, played.step)).collect()
    };
    let regret = |series: &str| -> Vec<(f64, Estimate)> {
        let played = results.played("theory", series);
        played.iter().enumerate().map(|(i, (_, played))| (i as f64 + 1.0, played.regret)).collect()
    };
    let convex = |series: &str, title: &str| {
        chart(
            title,
            Axis::linear("h"),
            Axis::linear("Bayes regret"),
            vec![line("regret", 0, regret(series)), line("cost of one more h", 1, steps(series))],
        )
    };
    let sevens: Vec<_> = GAPS
        .iter()
        .filter_map(|&gap| Some((gap, results.exact("theory", &format!("theorem 7, gap {gap}"))?.0)))
        .collect();
    let fives: Vec<_> = W
        .iter()
        .filter_map(|&w| {
            let (regret, gradient) = results.exact("theory", &format!("lemma 5, w = {w}"))?;
            Some((w, gradient.first()?.abs(), bound_5(w, regret)))
        })
        .collect();
    let log = || Axis { scale: Scale::Log, ..Axis::linear("regret") };
    let bound = |series: gradband_report::Series| gradband_report::Series { look: Look::Dashed, ..series };
    vec![figure(
        "theory",
        "What is proved can be seen",
        "Gaussian arms, n = 60 (left); three contexts, n = 120; Bernoulli arms, n = 200.",
        vec![
            convex("theorem 1", "Theorem 1: explore-then-commit"),
            convex("theorem 2", "Theorem 2: the same with contexts"),
            chart(
                "Theorem 7: SoftElim at w = √8",
                Axis::linear("gap"),
                log(),
                vec![
                    line("regret", 0, sevens.iter().map(|&(gap, regret)| (gap, known(regret)))),
                    bound(line("bound", 4, sevens.iter().map(|&(gap, _)| (gap, known(bound_7(gap, 200.0)))))),
                ],
            ),
            chart(
                "Lemma 5: gradient of SoftElim",
                Axis::linear("w"),
                Axis { label: "length of the gradient".into(), ..log() },
                vec![
                    line("gradient", 0, fives.iter().map(|&(w, gradient, _)| (w, known(gradient)))),
                    bound(line("bound", 4, fives.iter().map(|&(w, _, bound)| (w, known(bound))))),
                ],
            ),
        ],
    )]
}

/// Steps that are smaller than the one before by more than four standard errors of both.
fn concave(results: &Results, series: &str) -> Option<(String, bool)> {
    let played = results.played("theory", series);
    let steps: Vec<_> = played.iter().skip(1).map(|(_, played)| played.step).collect();
    let broken = steps
        .windows(2)
        .filter(|pair| pair[1].mean - pair[0].mean < -4.0 * pair[0].std_error.hypot(pair[1].std_error));
    let broken = broken.count();
    (steps.len() > 1).then(|| {
        (
            format!("{broken} of {} second differences have the wrong sign (4 s.e.)", steps.len() - 1),
            broken == 0,
        )
    })
}

fn rows(results: &Results) -> Vec<Row> {
    let sevens = GAPS.iter().filter_map(|&gap| {
        let (regret, _) = results.exact("theory", &format!("theorem 7, gap {gap}"))?;
        Some(regret / bound_7(gap, 200.0))
    });
    let sevens = sevens
        .reduce(f64::max)
        .map(|part| (format!("at most {:.1} % of the bound", 100.0 * part), part <= 1.0));
    let fives = W.iter().filter_map(|&w| {
        let (regret, gradient) = results.exact("theory", &format!("lemma 5, w = {w}"))?;
        Some(gradient.first()?.abs() / bound_5(w, regret))
    });
    let fives =
        fives.reduce(f64::max).map(|part| (format!("at most {:.2e} of the bound", part), part <= 1.0));
    let slope =
        |name: &str| results.slope("theory", &format!("lemma 6, {name}"), 0).map(|slope| slope.estimate());
    let show = |x: Estimate| format!("{:.5} ± {:.5}", x.mean, x.std_error);
    let near = |x: Estimate, value: f64| (x.mean - value).abs() <= 4.0 * x.std_error;
    vec![
        Row::claim("Theorem 1: reward of explore-then-commit", "concave in h", concave(results, "theorem 1")),
        Row::claim("Theorem 2: the same with contexts", "concave in h", concave(results, "theorem 2")),
        Row::claim("Theorem 7: SoftElim at w = √8", "regret below its bound", sevens),
        Row::claim("Lemma 5: gradient of SoftElim", "below c n times the regret", fives),
        Row::claim(
            "Lemma 6: Exp3's derivative, n = 7, means (0.6, 0.4), w = 0.3, enumerated: 0.03491731",
            "0.03752685 by the lemma",
            slope("total").map(|total| (show(total), near(total, 0.03752685))),
        )
        .about(slope("total").map(|total| total.mean))
        .because(MISSING_TERM),
        Row::claim(
            "The same by the lemma's own score",
            "0.03752685, enumerated",
            slope("lemma").map(|lemma| (show(lemma), near(lemma, 0.03752685))),
        ),
    ]
}

// Four standard errors around the enumerated 0.03491731.
const MISSING_TERM: Reason = Reason::within(
    "The lemma holds S fixed, which contains 1/π and so depends on w. With the missing term the estimate agrees with \
     complete enumeration (cargo test -p gradband --test all exp3).",
    0.03448,
    0.03536,
);
