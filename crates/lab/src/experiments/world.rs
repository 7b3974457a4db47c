//! Ours, not the paper's: what it is worth to tune a policy in the world that it will play in, which is late, has minimum
//! shares, and ends nobody knows when.

use crate::experiment::{Experiment, OURS, Results, Series, Size};
use crate::plot::{chart, colour, figure, line, name};
use crate::problems::ProblemSource;
use crate::row::Row;
use crate::transfer::{Transfer, Transferred};
use crate::work::Work;
use gradband::problem::{Delay, Horizon, Keys, World};
use gradband::{Estimate, Problem, Result};
use gradband_files::TrainSpec;
use gradband_report::{Axis, Block, Look, Panel, Series as Line};

pub static EXPERIMENT: Experiment = Experiment {
    id: "world",
    title: "The world as it is",
    section: OURS,
    text: &[
        "Ours: the paper has nothing of this. Rewards are known some rounds late, every arm has a least share, or nobody \
         knows how many rounds there will be. SoftElim is tuned in that world, and without it (with prompt rewards, without \
         a least share, with as many rounds as there are on average); both are played in it, on the same instances, beside \
         Thompson sampling with a flat prior and with one fitted to past arms.",
        "Dotted: what nobody can avoid. With a delay of d rounds the first d + 1 rounds are played blindly, and with a least \
         share every arm is played that often.",
    ],
    plan,
    blocks,
    rows,
};

const ID: &str = "world";
const DELAYS: [usize; 6] = [0, 5, 10, 20, 50, 100];
const FLOORS: [f64; 6] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2];
const MEANS: [usize; 5] = [50, 100, 200, 500, 1000];
/// A first look has the shortest of them.
const QUICK_MEANS: usize = 3;
const RUNS: usize = 3;
/// Of bernoulli-2: its gap and its rounds.
const GAP: f64 = 0.2;
const ROUNDS: f64 = 200.0;

const OTHERS: [&str; 2] = ["thompson", "thompson(prior=fit)"];

/// The policies of a series, in the order of its records.
const TUNED: usize = 0;
const ELSEWHERE: usize = 1;
const THOMPSON: usize = 2;
const FITTED: usize = 3;

/// Where horizons are unknown: names of series and figures. With two arms that differ much it hardly matters when a run
/// ends; with six that differ little it does.
const SIX: &str = "six arms";
const TWO: &str = "bernoulli-2";

/// Where training starts with six arms: from w = 1 a third of it would be spent on the way.
const NEAR: &str = "softelim(w=0.2)";

/// Six arms with click rates around a twentieth.
fn six_arms() -> Result<Problem> {
    let prior = Keys::kind("beta").with("arms", 6_usize).with("alpha", 4.0).with("beta", 76.0);
    Problem::from_keys("spec", &Keys::kind("bernoulli").with("horizon", 200_usize).with("prior", prior), None)
}

fn within(problem: &Problem, world: World) -> Result<ProblemSource> {
    Ok(problem.with_world(world)?.to_keys().into())
}

fn plan(size: &Size) -> Result<Vec<Series>> {
    let runs = size.runs(RUNS);
    let two = Problem::named(TWO)?;
    let prompt = *two.world();
    let mut all = Vec::new();
    for delay in DELAYS {
        let late = World { delay: Delay::Rounds(delay), ..prompt };
        let work = transfer(size, "softelim", [within(&two, late)?, within(&two, prompt)?], &OTHERS);
        all.push((delayed(delay), work));
    }
    for floor in FLOORS {
        let least = World { floor, ..prompt };
        let work = transfer(size, "softelim", [within(&two, least)?, within(&two, prompt)?], &OTHERS);
        all.push((floored(floor), work));
    }
    // Beside two arms nobody else plays: they are there for the difference.
    let problems =
        [(SIX, six_arms()?, NEAR, &OTHERS[..], &MEANS[..]), (TWO, two, "softelim", &[], &MEANS[..4])];
    for (label, problem, start, others, means) in problems {
        for &mean in means.iter().take(size.pick(MEANS.len(), QUICK_MEANS)) {
            let unknown = World::plain(Horizon::Geometric { mean: mean as f64 });
            let tuned_on = [within(&problem, unknown)?, within(&problem, World::plain(mean))?];
            let mut work = transfer(size, start, tuned_on, others);
            // Runs are seven times as long as their mean: enough to find w, and to tell two of them apart.
            work.train.iterations = Some(size.pick(200, 50));
            work.instances = size.pick(40_000, 2_000);
            all.push((ending(label, mean), work));
        }
    }
    Ok(all.into_iter().map(|(name, work)| Series::new(name, Work::from(work), runs)).collect())
}

/// Tuned for the first problem, and for the second; both play the first.
fn transfer(size: &Size, start: &str, tuned_on: [ProblemSource; 2], others: &[&str]) -> Transfer {
    Transfer {
        problem: tuned_on[0].clone(),
        policy: start.into(),
        train: TrainSpec {
            // Three times the default: what is left of the noise of training must not be taken for the world's.
            iterations: Some(size.pick(300, 50)),
            batch_size: size.pick(None, Some(50)),
            ..TrainSpec::default()
        },
        tuned_on: tuned_on.into(),
        others: others.iter().map(|policy| policy.to_string()).collect(),
        instances: size.pick(100_000, 2_000),
    }
}

fn delayed(delay: usize) -> String {
    format!("delay {delay}")
}

fn floored(floor: f64) -> String {
    format!("floor {floor}")
}

fn ending(problem: &str, mean: usize) -> String {
    format!("{problem}, geometric with mean {mean}")
}

fn regret(found: &Transferred) -> Estimate {
    found.regret
}

fn behind(found: &Transferred) -> Estimate {
    found.behind
}

/// A world's number, and the series that has it.
type Place = (f64, String);

fn points(
    results: &Results,
    places: &[Place],
    policy: usize,
    of: fn(&Transferred) -> Estimate,
) -> Vec<(f64, Estimate)> {
    let point = |(x, series): &Place| Some((*x, results.transferred(ID, series, policy, of)?));
    places.iter().filter_map(point).collect()
}

/// The regret of all policies, and what nobody can avoid.
fn regrets(results: &Results, title: &str, axis: Axis, places: &[Place], without: &str) -> Panel {
    let (softelim, thompson) = (colour("SoftElim"), colour(name("thompson")));
    let drawn = [
        (TUNED, "SoftElim, tuned for it", softelim, Look::Line),
        (ELSEWHERE, without, softelim, Look::Dashed),
        (THOMPSON, "Thompson sampling", thompson, Look::Line),
        (FITTED, "Thompson sampling, fitted prior", thompson, Look::Dashed),
    ];
    let lines = drawn.map(|(policy, label, colour, look)| Line {
        strong: policy == TUNED,
        ..line(label, colour, points(results, places, policy, regret)).look(look)
    });
    chart(title, axis, Axis::linear("Bayes regret"), lines.into())
}

/// What tuning for it saves, paired; in colours of their own, for these are other quantities than regrets.
fn savings(results: &Results, axis: Axis, problems: &[(&str, &[Place])]) -> Panel {
    let lines = problems.iter().zip(SAVED).map(|((problem, places), colour)| {
        let saved = points(results, places, ELSEWHERE, behind).into_iter();
        let of = points(results, places, ELSEWHERE, regret).into_iter();
        let shares = saved.zip(of).map(|((x, saved), (_, of))| (x, percent(saved, of.mean)));
        line(&format!("saved on {problem}"), colour, shares)
    });
    chart("What tuning for it saves", axis, Axis::linear("% of the regret"), lines.collect())
}

/// A regret is known far better than a difference: its own error does not count.
fn percent(part: Estimate, whole: f64) -> Estimate {
    let share = |x: f64| 100.0 * x / whole;
    Estimate { mean: share(part.mean), std_error: share(part.std_error) }
}

const SAVED: [usize; 2] = [2, 3];

/// A bound on everybody's regret, where there is something to compare with it.
fn with_bound(panel: Panel, places: &[Place], bound: fn(f64) -> f64) -> Panel {
    let Panel::Chart(mut panel) = panel else { return panel };
    if panel.series.iter().any(|series| !series.points.is_empty()) {
        let known = |x: f64| (x, Estimate { mean: bound(x), std_error: 0.0 });
        let line = line("nobody has less", colour("Bayes optimum"), places.iter().map(|(x, _)| known(*x)));
        panel.series.push(line.look(Look::Dotted));
    }
    Panel::Chart(panel)
}

fn delays() -> Vec<Place> {
    DELAYS.map(|delay| (delay as f64, delayed(delay))).into()
}

fn floors() -> Vec<Place> {
    FLOORS.map(|floor| (floor, floored(floor))).into()
}

fn endings(problem: &str) -> Vec<Place> {
    MEANS.map(|mean| (mean as f64, ending(problem, mean))).into()
}

fn blocks(results: &Results) -> Vec<Block> {
    let (delays, floors, six, two) = (delays(), floors(), endings(SIX), endings(TWO));
    let delay = || Axis::linear("rounds until a reward is known");
    let floor = || Axis::linear("least share of each arm");
    let end = || Axis::log("mean number of rounds");
    let late =
        regrets(results, "bernoulli-2, late rewards", delay(), &delays, "SoftElim, tuned without delay");
    let least =
        regrets(results, "bernoulli-2, least shares", floor(), &floors, "SoftElim, tuned without floor");
    vec![
        figure(
            "world-delay",
            "Rewards that come late",
            "n = 200; means over three trainings, bands are standard errors. Right: regret tuned without the delay less regret \
             tuned for it, on the same instances, in percent of the former.",
            vec![
                // Until the first reward is known both arms are alike.
                with_bound(late, &delays, |delay| (delay + 1.0) * GAP / 2.0),
                savings(results, delay(), &[("bernoulli-2", &delays)]),
            ],
        ),
        figure(
            "world-floor",
            "A least share of every arm",
            "n = 200; means over three trainings, bands are standard errors. Right: regret tuned without the floor less regret \
             tuned for it, on the same instances, in percent of the former.",
            vec![
                with_bound(least, &floors, |floor| ROUNDS * floor * GAP),
                savings(results, floor(), &[("bernoulli-2", &floors)]),
            ],
        ),
        figure(
            "world-horizon",
            "Nobody knows when it ends",
            "The run ends after each round with the same probability. Six arms have means from Beta(4, 76). Means over three \
             trainings, bands are standard errors. Right: regret tuned to the mean number of rounds less regret tuned for the \
             unknown one, on the same instances, in percent of the former.",
            vec![
                regrets(results, "Six arms, Beta(4, 76)", end(), &six, "SoftElim, tuned to the mean"),
                savings(results, end(), &[("six arms", &six), ("bernoulli-2", &two)]),
            ],
        ),
    ]
}

/// Differences are seen beyond so many standard errors.
const SEEN: f64 = 3.0;

fn rows(results: &Results) -> Vec<Row> {
    let most = |what: &str, limit: f64, delay: usize, policy: usize| {
        limited(results, what, (&format!("at most {limit}"), |found| found.mean <= limit), delay, policy)
    };
    let least = |what: &str, limit: f64, delay: usize, policy: usize| {
        limited(results, what, (&format!("at least {limit}"), |found| found.mean >= limit), delay, policy)
    };
    let more = |what: &str, places: &[Place], policy: usize| saves(results, what, places, policy);
    vec![
        most("Delay 20: SoftElim tuned for it", 5.3, 20, TUNED),
        least("Delay 20: SoftElim tuned without it", 5.7, 20, ELSEWHERE),
        most("Delay 50: SoftElim tuned for it", 7.8, 50, TUNED),
        more("Delays from 5: tuned without it, against for it", &delays()[1..], ELSEWHERE),
        more("All delays: Thompson sampling, against tuned for it", &delays(), THOMPSON),
        more("Floors from 0.05: tuned without it, against for it", &floors()[3..], ELSEWHERE),
        more("All floors: Thompson sampling, against tuned for it", &floors(), THOMPSON),
        more(
            "Six arms, 50 to 200 rounds on average: tuned to the mean, against for it",
            &endings(SIX)[..3],
            ELSEWHERE,
        ),
        more(
            "Six arms, unknown end: Thompson sampling with a fitted prior, against tuned for it",
            &endings(SIX),
            FITTED,
        ),
    ]
}

/// A regret with a limit.
fn limited(
    results: &Results,
    what: &str,
    (claim, holds): (&str, impl Fn(&Estimate) -> bool),
    delay: usize,
    policy: usize,
) -> Row {
    let series = delayed(delay);
    let found = results.transferred(ID, &series, policy, regret);
    let seen = found.map(|found| (found.to_string(), holds(&found)));
    Row::ours(what, claim, seen).of_runs(results.runs(ID, &series).len())
}

/// A policy has more regret than the one tuned for it in each of these worlds, beyond three standard errors, paired.
fn saves(results: &Results, what: &str, places: &[Place], policy: usize) -> Row {
    let found = points(results, places, policy, behind);
    let errors = |x: &Estimate| x.mean / x.std_error.max(1e-12);
    let least = found.iter().min_by(|(_, a), (_, b)| errors(a).total_cmp(&errors(b)));
    let seen = least.map(|(x, least)| {
        let errors = errors(least);
        (format!("least sure at {x}: {least} more, {errors:.1} standard errors"), errors > SEEN)
    });
    let runs = places.iter().map(|(_, series)| results.runs(ID, series).len()).min().unwrap_or(0);
    Row::ours(what, "more regret, paired, beyond 3 standard errors", seen).of_runs(runs)
}
