//! What `gradband check` says about a table of past problems: what was fitted to it, the arms, and how small a gain it can
//! show.

use crate::grouped;
use gradband::Problem;
use gradband::problem::{Belief, Fit, Ground, Prior, Row, Split, Table};
use serde::Serialize;

/// Arms that are told of one by one.
const MOST_ARMS: usize = 20;
/// A gain that is worth seeing, in parts of the regret: about the least of tuned SoftElim over Thompson sampling in
/// `crates/gradband/tests/past.rs`.
const WORTH_SEEING: f64 = 0.1;

/// What the past says, for `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Past {
    fit: &'static str,
    /// What an unseen arm's mean is drawn from, as it is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<String>,
    /// Its two parameters: a and b of a Beta, mean and standard deviation of a normal distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<[f64; 2]>,
    mean: f64,
    sd: f64,
    arms: Arms,
}

/// How many arms past problems have, training and held out together.
#[derive(Serialize, Clone, Copy, Debug)]
struct Arms {
    least: usize,
    median: usize,
    most: usize,
    /// Past problems with fewer arms than are simulated.
    fewer: usize,
    /// Those with more.
    more: usize,
}

impl Past {
    pub(super) fn of(table: &Table) -> Self {
        let fitted = table.fitted();
        let (mean, variance) = fitted.moments();
        let parameters = fitted.unseen().map(|unseen| match unseen {
            Belief::Beta(a, b) => [a, b],
            other => {
                let (mean, variance) = other.moments();
                [mean, variance.sqrt()]
            }
        });
        Self {
            fit: fitted.fit().name(),
            prior: fitted.unseen().map(|unseen| unseen.to_string()),
            parameters,
            mean,
            sd: variance.sqrt(),
            arms: Arms::of(table),
        }
    }
}

impl Arms {
    fn of(table: &Table) -> Self {
        let mut sizes: Vec<usize> = rows(table).iter().map(|row| row.arms.len()).collect();
        sizes.sort_unstable();
        let at = |i: usize| sizes.get(i).copied().unwrap_or_default();
        let those = |test: &dyn Fn(usize) -> bool| sizes.iter().filter(|&&size| test(size)).count();
        Self {
            least: at(0),
            median: at(sizes.len() / 2),
            most: at(sizes.len().saturating_sub(1)),
            fewer: those(&|size| size < table.arms()),
            more: those(&|size| size > table.arms()),
        }
    }
}

/// The table that a problem is made of.
pub(super) fn of(problem: &Problem) -> Option<&Table> {
    match &problem.armed()?.prior {
        Prior::Table(table) => Some(table),
        _ => None,
    }
}

fn rows(table: &Table) -> Vec<&Row> {
    match table.is_split() {
        true => table.rows(Split::Train).chain(table.rows(Split::HeldOut)).collect(),
        false => table.rows(Split::Train).collect(),
    }
}

/// What was fitted, and the arms.
pub(super) fn words(problem: &Problem, table: &Table) -> Vec<String> {
    let mut lines = vec![format!("  {}.", fitted(problem, table))];
    lines.extend(table.fitted().doubt().map(|doubt| format!("  Note: {doubt}.")));
    match table.is_exchangeable() {
        true => lines.push(format!("  {}.", choice(table))),
        false => lines.extend(arms(table)),
    }
    lines
}

fn fitted(problem: &Problem, table: &Table) -> String {
    let fitted = table.fitted();
    let (mean, variance) = fitted.moments();
    let spread = match problem.unit_rewards() {
        true => {
            format!("mean {} %, standard deviation {} %", short(100.0 * mean), short(100.0 * variance.sqrt()))
        }
        false => format!("mean {}, standard deviation {}", short(mean), short(variance.sqrt())),
    };
    match (fitted.fit(), fitted.unseen()) {
        (Fit::Flat, _) => format!("not fitted (fit = \"flat\"): the arms that are simulated have {spread}"),
        (_, Some(unseen)) => format!("fitted {unseen}: {spread}"),
        (_, None) => spread,
    }
}

/// Three digits.
fn short(x: f64) -> String {
    let whole = x.abs().max(1e-9).log10().floor() as i32;
    let digits = (2 - whole).clamp(0, 9) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// What arms an instance has, if they are exchangeable.
fn choice(table: &Table) -> String {
    let Arms { least, median, most, fewer, more } = Arms::of(table);
    let lacking = match fewer {
        0 => String::new(),
        _ => format!("; {} have fewer, the missing ones are drawn from the prior", grouped(fewer)),
    };
    let rich = match more {
        0 => String::new(),
        _ => format!("; {} have more, of which {} are drawn", grouped(more), table.arms()),
    };
    let none = if most < table.arms() { "; none has as many as are simulated" } else { "" };
    format!(
        "{} arms of one past problem in random order; past problems have {least} to {most} arms, median {median}{lacking}{rich}{none}",
        table.arms()
    )
}

/// The arms of a table: their means over all past problems, and how often each is the best.
fn arms(table: &Table) -> Vec<String> {
    let rows = rows(table);
    let mut best = vec![0_usize; table.arms()];
    for row in &rows {
        let top =
            (0..row.arms.len()).rev().max_by(|&i, &j| row.arms[i].mean().total_cmp(&row.arms[j].mean()));
        best[top.unwrap_or_default()] += 1;
    }
    let mut lines: Vec<String> = table
        .arm_names()
        .iter()
        .enumerate()
        .map(|(arm, name)| {
            let means = || rows.iter().map(|row| row.arms[arm].mean());
            let average = means().sum::<f64>() / rows.len() as f64;
            let (low, high) =
                (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
            let wins = best[arm];
            format!("  {name}: mean {average:.4} ({low:.4} to {high:.4}), best in {wins} of {}", rows.len())
        })
        .collect();
    let more = lines.len().saturating_sub(MOST_ARMS);
    lines.truncate(MOST_ARMS);
    if more > 0 {
        lines.push(format!("  and {more} more arms"));
    }
    lines
}

/// How small a gain the past problems can show.
pub(super) fn least_gain(ground: Ground) -> Option<String> {
    let least = ground.least_gain()?;
    let percent = format!("{:.0} %", 100.0 * least);
    let how = "95 % interval, if gains vary between past problems by a quarter of the regret";
    Some(match least > WORTH_SEEING {
        true => format!(
            "Note: too few past problems for a gain below about {percent} of the regret to be seen ({how}); add more."
        ),
        false => format!("A gain of about {percent} of the regret or more can be seen ({how})."),
    })
}
