//! A page that uses every feature: what the tests open in a browser.
#![allow(dead_code)] // The example and the tests each use a part.

use gradband_report::{
    Axis, Cell, Chart, Column, Figure, Look, Matrix, Page, Palette, Panel, Point, Scale, Section, Series,
    Table, Tone,
};

/// How many figures the sample has.
pub const FIGURES: usize = 10;
/// The one that has no data in some panels.
pub const EMPTY: &str = "nothing";
/// The one with more lines than colours.
pub const MANY: &str = "many";
/// Names that come from somebody's CSV file.
pub const NASTY: [&str; 4] = [
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "<b>bold</b>, with comma",
    "ε-greedy(γ′ = −0.5 ± 2×)",
];

/// Everything at once.
pub fn sample() -> Page {
    Page {
        title: "Policies that learn how to explore".into(),
        lead: vec![
            "Every figure of this page can be explored: point at it, drag a box to zoom, click a legend entry to hide a series.".into(),
            "The numbers are made up; the page exists to look at and to test.".into(),
        ],
        sections: vec![curves(), dots(), scales(), matrices(), odd()],
        footer: "gradband 0.1.0, seed 42, 1,000 runs of 200 rounds.".into(),
    }
}

/// Pseudo-random numbers in [-1, 1] that are the same everywhere.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x >> 32) as f64 / f64::from(1u32 << 31)) - 1.0
}

fn chart(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
    Chart { title: title.into(), x, y, series }.into()
}

fn figure(id: &str, title: &str, caption: &str, panels: Vec<Panel>) -> Figure {
    Figure { id: id.into(), title: title.into(), caption: caption.into(), panels }
}

/// Regret of a policy over rounds.
fn regret(rate: f64, seed: usize) -> Vec<Point> {
    (0..=200)
        .step_by(4)
        .map(|t| {
            let y = rate * (1.0 + t as f64).ln() + 0.08 * noise(seed + t);
            Point::with_error(t as f64, y, 0.02 * rate * (t as f64).sqrt())
        })
        .collect()
}

fn curves() -> Section {
    let names = [("softelim(w = 0.52)", 0.9), ("thompson", 1.1), ("ucb1", 1.9), ("epsilon-greedy", 1.4)];
    let series = |scale: f64| {
        let mut all: Vec<Series> = names
            .iter()
            .enumerate()
            .map(|(i, &(name, rate))| Series::line(name, regret(rate * scale, 1000 * i)))
            .collect();
        all.push(Series::level("Bayes optimum", 2.476 * scale, 0.0, 200.0).colour(5));
        all
    };
    let panel = |title: &str, scale: f64| {
        chart(title, Axis::linear("round"), Axis::linear("Bayes regret"), series(scale))
    };
    let three = (1..=3).map(|k| panel(&format!("K = {}", 2 * k), f64::from(k))).collect();
    Section {
        id: "curves".into(),
        title: "Regret over rounds".into(),
        text: vec!["Bands are ± one standard error over 10,000 instances that training never saw.".into()],
        command: Some(
            "gradband compare bernoulli-2 --policy softelim --policy thompson --policy ucb1".into(),
        ),
        spec: Some(
            "[problem]\nkind = \"bernoulli\"\nhorizon = 200\n\n[policy]\nkind = \"softelim\"\nw = 1.0\n"
                .into(),
        ),
        blocks: vec![
            figure(
                "regret",
                "Bayes regret of five policies",
                "The tuned policy comes closest to the optimum.",
                vec![panel("", 1.0)],
            )
            .into(),
            figure("arms", "The same with more arms", "Three panels share one legend.", three).into(),
            results().into(),
            figure(
                MANY,
                "More policies than colours",
                "The last two lines are one; every line has its name beside it. Right: bars.",
                vec![many(), ranked()],
            )
            .into(),
        ],
    }
}

/// Twelve lines, two of them at the same place.
fn many() -> Panel {
    let names = [
        "softelim",
        "thompson",
        "ucb1",
        "ucb-v",
        "gittins",
        "bayes-optimal",
        "boltzmann",
        "epsilon-greedy",
        "explore-then-commit",
        "lstm",
        "exp3",
        "random",
    ];
    let points = |i: usize| regret(0.8 + 0.2 * i as f64, 50 * i).into_iter().step_by(5).collect();
    let lines = names.iter().enumerate().map(|(i, &name)| Series::line(name, points(i.min(10))));
    chart("twelve", Axis::linear("round"), Axis::linear("Bayes regret"), lines.collect())
}

/// Features by size.
fn ranked() -> Panel {
    let names = ["age", "hours per week", "education", "capital gain", "sex", "a feature of a longer name"];
    let points = (0..names.len()).map(|i| Point::new(2.0 / (1.0 + i as f64), i as f64)).collect();
    chart("bars", Axis::linear("size"), Axis::named("feature", names), vec![Series::bars("size", points)])
}

fn results() -> Table {
    let row = |name: &str, regret: &str, gain: &str, tone: Tone| {
        vec![
            Cell::from(name),
            Cell::from(regret),
            Cell::toned(gain, tone),
            Cell::toned("10,000", Tone::Muted),
            "0.0437 ± 0.0012".into(),
        ]
    };
    Table {
        id: "results".into(),
        title: "Results on held-out instances".into(),
        columns: vec![
            Column::text("policy"),
            Column::number("Bayes regret"),
            Column::number("gain over Thompson"),
            Column::number("instances"),
            Column::number("seconds of training"),
        ],
        rows: vec![
            row("softelim(w=0.5179)", "4.6778 ± 0.0694", "0.7258", Tone::Good),
            row("thompson", "5.4036 ± 0.0487", "0.0000", Tone::Plain),
            row("ucb1", "10.0217 ± 0.0298", "−4.6181", Tone::Bad),
            row(NASTY[0], "7.1968 ± 0.0437", "−1.7932", Tone::Bad),
        ],
    }
}

fn dots() -> Section {
    let policies =
        ["softelim(w=0.52)", "thompson", "ucb1", "boltzmann(w=4.1)", "explore-then-commit(h=12)", "exp3"];
    let rows = |shift: f64| {
        (0..policies.len()).map(|i| Point::in_row(3.0 + shift + 1.3 * i as f64, i as f64, 0.25)).collect()
    };
    let dot = chart(
        "",
        Axis::linear("Bayes regret"),
        Axis::named("", policies),
        vec![Series::marks("paper", rows(0.0)), Series::marks("ours", rows(0.6))],
    );
    let bars = (0..policies.len()).map(|i| Point::with_error(i as f64, 5.0 + noise(i), 0.4)).collect();
    let named = chart(
        "by policy",
        Axis::named("policy", policies),
        Axis::linear("regret"),
        vec![Series::marks("held-out", bars)],
    );
    let cloud = (0..60).map(|i| Point::new(5.0 + 3.0 * noise(i), 4.0 + 2.0 * noise(i + 99))).collect();
    let scatter = chart(
        "by instance",
        Axis::linear("thompson"),
        Axis::linear("softelim"),
        vec![Series::marks("instance", cloud)],
    );
    Section {
        id: "dots".into(),
        title: "Dot plots and categories".into(),
        blocks: vec![
            figure("policies", "Ours beside the paper's", "Bars are 95 % intervals.", vec![dot]).into(),
            figure(
                "categories",
                "Marks",
                "Left: categories on the x axis. Right: one mark for each instance.",
                vec![named, scatter],
            )
            .into(),
        ],
        ..Section::default()
    }
}

fn scales() -> Section {
    let power = |rate: f64| {
        (0..60)
            .map(|i| 10f64.powf(f64::from(i) / 10.0))
            .map(|x| Point::with_interval(x, x.powf(rate), 0.7 * x.powf(rate), 1.4 * x.powf(rate)))
            .collect()
    };
    let variance = chart(
        "log and log",
        Axis::log("instances m"),
        Axis::log("variance"),
        vec![Series::line("no baseline", power(-0.5)), Series::line("self", power(-1.0)).look(Look::Dotted)],
    );
    let steps = (0..120).map(|i| Point::new(f64::from(i), 300.0 * noise(i as usize).powi(5))).collect();
    let symlog = chart(
        "symlog",
        Axis::linear("iteration"),
        Axis { scale: Scale::Symlog(0.1), ..Axis::linear("gradient") },
        vec![Series::line("gradient", steps).look(Look::Dashed)],
    );
    Section {
        id: "scales".into(),
        title: "Logarithmic scales".into(),
        blocks: vec![
            figure(
                "scales-both",
                "Variance and gradient",
                "Minor ticks stand between powers of ten.",
                vec![variance, symlog],
            )
            .into(),
        ],
        ..Section::default()
    }
}

fn matrices() -> Section {
    let weights = |n: usize| {
        (0..n)
            .map(|i| (0..n).map(|j| if i == j { 1.74 } else { 0.0 } + 0.4 * noise(i * n + j)).collect())
            .collect()
    };
    let mut small: Vec<Vec<f64>> = weights(8);
    small[3][4] = f64::NAN;
    let features: Vec<String> = (1..=8).map(|i| format!("feature {i}")).collect();
    let w = Matrix {
        title: "W".into(),
        rows: features.clone(),
        columns: features,
        row_label: "output".into(),
        column_label: "input".into(),
        values: small,
        palette: Palette::Diverging,
        range: None,
        digits: Some(2),
    };
    let smooth =
        |i: f64, j: f64| (-((i - j) / 14.0).powi(2)).exp() + 0.15 * (i / 9.0).sin() * (j / 7.0).cos();
    let values = (0..123)
        .map(|i| {
            (0..123)
                .map(|j| smooth(f64::from(i), f64::from(j)) + 0.05 * noise(i as usize * 123 + j as usize))
                .collect()
        })
        .collect();
    let large = Matrix {
        title: "M = W′W".into(),
        row_label: "feature".into(),
        column_label: "feature".into(),
        values,
        ..Matrix::default()
    };
    let lengths = Matrix {
        title: "column lengths".into(),
        values: vec![(0..24).map(|i| noise(i).abs()).collect()],
        rows: vec!["length".into()],
        ..Matrix::default()
    };
    Section {
        id: "matrices".into(),
        title: "What was learned".into(),
        text: vec!["Large entries are directions in which exploring pays.".into()],
        blocks: vec![
            figure(
                "weights",
                "Learned projection",
                "Left: 8 × 8 with one missing value. Right: 123 × 123.",
                vec![w.into(), large.into()],
            )
            .into(),
            figure("lengths", "One row", "", vec![lengths.into()]).into(),
        ],
        ..Section::default()
    }
}

fn odd() -> Section {
    let line = |k: usize| {
        (0..30)
            .map(|i| Point::new(i as f64, if i % 9 == 4 { f64::NAN } else { k as f64 + noise(40 * k + i) }))
            .collect()
    };
    let nasty = NASTY.iter().enumerate().map(|(k, &name)| Series::line(name, line(k))).collect();
    let empty = vec![
        Series::line("empty", vec![]),
        Series::line("nowhere", vec![Point::new(f64::NAN, f64::INFINITY)]),
    ];
    let nothing = Matrix { title: "no rows".into(), ..Matrix::default() };
    Section {
        id: "odd".into(),
        title: "Odd input: <script> & \"quotes\"".into(),
        text: vec!["Names are text, whatever they contain: <script>alert('text')</script>.".into()],
        command: Some("gradband compare 'a & b' <past.csv".into()),
        blocks: vec![
            figure(
                "names",
                "Names from a file & gaps",
                "</figcaption><script>alert(2)</script>",
                vec![chart(NASTY[1], Axis::linear("x < y & z"), Axis::linear("\"y\""), nasty)],
            )
            .into(),
            figure(
                EMPTY,
                "No data",
                "Empty series, empty chart, empty matrix.",
                vec![chart("empty", Axis::linear("x"), Axis::linear("y"), empty), nothing.into()],
            )
            .into(),
        ],
        ..Section::default()
    }
}
