//! What figures 9 and 11 share: the paper's training on a data set, its panel, and the paper's numbers.

use crate::experiment::{Results, Series, Size, at, paper, training};
use crate::plot::{colour, learning, learning_panel, level, name};
use crate::row::{Reason, Row};
use crate::work::{Play, Work};
use gradband::Estimate;
use gradband::measure::over_rounds;
use gradband_files::Dataset;
use gradband_report::Panel;

/// A data set in the paper: its name there, regret of CoSoftElim before and after tuning, and the decrease in percent.
pub(super) struct Published {
    pub set: &'static str,
    pub name: &'static str,
    pub size: (usize, usize, usize),
    pub before: Estimate,
    pub after: Estimate,
    pub decrease: f64,
    /// Why the tuned regret is another, and what it is.
    pub why: Option<Reason>,
}

// Before training all sets agree; after it regret depends on the rate, whose constant c the paper does not give.
// Bounds are four standard errors around the recorded runs, three of them but twenty of Iris.
const ADULT: Option<Reason> = because(
    "The rate is slow for 1,000 iterations: with 3.5 times the rate training ends at 90.5. See docs/reproduction.md.",
    106.7,
    109.2,
);
const AUSTRALIAN: Option<Reason> = because(
    "With half of the rate training ends at 68.1, with a quarter at 72.3: see docs/reproduction.md.",
    62.6,
    66.6,
);
const COVERTYPE: Option<Reason> = because(
    "With twice the rate training ends at 190.6, with four times at 189.8: see docs/reproduction.md.",
    207.6,
    212.1,
);
const IRIS: Option<Reason> = because(
    "With a sixth of the rate training ends at 66.4, with a quarter at 65.0: see docs/reproduction.md.",
    64.1,
    64.65,
);
const MUSHROOM: Option<Reason> = because(
    "The rate is a little faster than the paper's: with half of it training ends at 7.6. See docs/reproduction.md.",
    2.43,
    2.57,
);
const SEGMENT: Option<Reason> = because(
    "With half of the rate training ends at 160.4, with all of it at 138.2: see docs/reproduction.md.",
    135.6,
    139.2,
);

pub(super) const PUBLISHED: [Published; 11] = [
    set("adult", "Adult", (2, 123, 32_561), (144.26, 0.18), (86.90, 0.35), 39.77, ADULT),
    set("australian", "Australian Statlog", (2, 14, 690), (82.58, 0.11), (69.71, 0.42), 16.0, AUSTRALIAN),
    set("breast-cancer", "Breast Cancer", (2, 10, 683), (29.08, 0.05), (15.10, 0.57), 48.0, None),
    set("covertype", "Covertype", (7, 54, 581_012), (324.65, 0.45), (190.28, 0.46), 41.39, COVERTYPE),
    set("iris", "Iris", (3, 4, 150), (72.21, 0.09), (66.27, 0.16), 8.0, IRIS),
    set("segment", "Image Segmentation", (7, 19, 2_310), (197.82, 0.19), (150.53, 1.81), 24.0, SEGMENT),
    set("satimage", "Landsat Satellite Statlog", (6, 36, 4_435), (185.78, 0.29), (132.24, 0.41), 28.82, None),
    set("mushroom", "Mushroom", (2, 112, 8_124), (66.25, 0.11), (3.26, 0.06), 95.07, MUSHROOM),
    set("shuttle", "Shuttle Statlog", (7, 9, 43_500), (87.17, 0.11), (62.99, 0.15), 27.74, None),
    set("vehicle", "Vehicle Statlog", (4, 18, 846), (218.16, 0.22), (149.75, 0.38), 31.0, None),
    set("wine", "Wine", (3, 13, 178), (45.16, 0.05), (8.18, 0.24), 82.0, None),
];

const fn because(text: &'static str, low: f64, high: f64) -> Option<Reason> {
    Some(Reason::within(text, low, high))
}

const fn set(
    set: &'static str,
    name: &'static str,
    size: (usize, usize, usize),
    before: (f64, f64),
    after: (f64, f64),
    decrease: f64,
    why: Option<Reason>,
) -> Published {
    let before = Estimate { mean: before.0, std_error: before.1 };
    let after = Estimate { mean: after.0, std_error: after.1 };
    Published { set, name, size, before, after, decrease, why }
}

pub(super) const POLICIES: [&str; 3] = super::fig7::POLICIES;

/// Section 7.9: many features mean many short iterations.
fn is_large(set: &Dataset) -> bool {
    set.features >= 20
}

/// The series of a data set.
pub(super) fn plan(name: &'static str, size: &Size) -> gradband::Result<Vec<Series>> {
    let large = is_large(Dataset::named(name)?);
    // The paper has 20 runs of every set; a run of a large one takes minutes.
    let runs = size.runs(if large { 3 } else { 20 });
    let mut all = Vec::new();
    for policy in POLICIES {
        let (iterations, batch, at) = match (large, size.quick) {
            (false, false) => (100, 1000, at(100, 5, 10)),
            (true, false) => (1000, 80, at(1000, 50, 100)),
            (false, true) => (50, 100, at(50, 2, 5)),
            (true, true) => (100, 40, at(100, 5, 10)),
        };
        let mut train = training(name, policy, paper("self", iterations, batch), at);
        train.instances = size.pick(if large { 200 } else { 1000 }, 50);
        train.final_instances = size.pick(if large { 1000 } else { 2000 }, 100);
        train.rounds = over_rounds(500, 10);
        all.push(Series::new(format!("{name}, {policy}"), Work::from(train), runs));
    }
    let play = Play {
        problem: name.into(),
        policies: ["linucb", "linucb(ridge=1,width=tuned)", "random"].map(String::from).to_vec(),
        instances: size.pick(if large { 1000 } else { 5000 }, 50),
        rounds: over_rounds(500, 10),
        round_instances: size.pick(if large { 200 } else { 1000 }, 50),
    };
    all.push(Series::new(format!("{name}, others"), Work::Play(play), 1));
    Ok(all)
}

/// Which experiment has run it.
pub(super) fn home(set: &str) -> &'static str {
    if super::fig9::SETS.contains(&set) { "fig9" } else { "fig11" }
}

const LINUCB: &str = "LinUCB, tuned width";

/// Learning curves of a set.
pub(super) fn panel(results: &Results, set: &Published) -> Panel {
    let lines = POLICIES.iter().map(|policy| {
        let (series, name) = (format!("{}, {policy}", set.set), name(policy));
        learning(results, home(set.set), &series, name, colour(name))
    });
    let last = lines.clone().flat_map(|line| line.points.last().map(|point| point.x)).fold(0.0, f64::max);
    let tuned = results.regret(home(set.set), &format!("{}, others", set.set), "linucb(ridge=1,width=tuned)");
    learning_panel(set.name, lines.chain(level(LINUCB, colour(LINUCB), tuned, last)))
}

/// The paper's numbers of a set.
pub(super) fn rows(results: &Results, set: &Published) -> Vec<Row> {
    let series = format!("{}, cosoftelim", set.set);
    let (before, after) = (results.untuned(home(set.set), &series), results.tuned(home(set.set), &series));
    let less = before.zip(after).map(|(before, after)| decrease(before, after));
    let paper = |mean: f64, of: Estimate| (mean, Some(of.std_error));
    let paper_less = paper(set.decrease, decrease(set.before, set.after));
    let tuned = Row::number(format!("{}, tuned", set.name), paper(set.after.mean, set.after), after);
    let fewer = Row::number(format!("{}: decrease in percent", set.name), paper_less, less);
    let runs = results.runs(home(set.set), &series).len();
    vec![
        Row::number(format!("{}, untuned", set.name), paper(set.before.mean, set.before), before),
        Row { why: set.why, ..tuned },
        Row { why: set.why.map(|why| of_decrease(set, why)), ..fewer },
    ]
    .into_iter()
    .map(|row| row.of_runs(runs))
    .collect()
}

/// The reason for another decrease: the same tuned regret, from the paper's regret before.
fn of_decrease(set: &Published, why: Reason) -> Reason {
    let percent = |after: f64| 100.0 * (1.0 - after / set.before.mean);
    Reason::within(why.text, percent(why.high), percent(why.low))
}

/// By how many percent regret decreases; the two are taken as independent.
fn decrease(before: Estimate, after: Estimate) -> Estimate {
    let rest = after.mean / before.mean;
    let relative = (after.std_error / after.mean).hypot(before.std_error / before.mean);
    Estimate { mean: 100.0 * (1.0 - rest), std_error: 100.0 * rest * relative }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adult ends 45 standard errors above the paper: that has its reason, anything else has none.
    #[test]
    fn a_reason_does_not_explain_every_distance() {
        let adult = PUBLISHED[0].after;
        let ours = 0.3;
        let both = adult.std_error.hypot(ours);
        let tuned = |errors: f64| {
            let ours = Estimate { mean: adult.mean + errors * both, std_error: ours };
            let row = Row::number("Adult", (adult.mean, Some(adult.std_error)), Some(ours));
            Row { why: ADULT, ..row }
        };
        assert!(!tuned(45.7).agrees && !tuned(45.7).is_unexplained());
        assert!(tuned(2.0).agrees);
        for errors in [-450.0, -45.7, -4.0, 4.0, 40.0, 50.0, 450.0] {
            assert!(tuned(errors).is_unexplained(), "{errors}");
        }
    }

    #[test]
    fn a_decrease_is_explained_by_the_regret_after_it() {
        for set in PUBLISHED.iter().filter(|set| set.why.is_some()) {
            let Some(why) = set.why else { continue };
            let less = of_decrease(set, why);
            assert!(less.low < less.high && !less.explains(set.decrease), "{}", set.name);
        }
    }
}
