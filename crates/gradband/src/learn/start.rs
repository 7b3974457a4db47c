//! Where training starts: at what the history says, in closed form, rather than at the identity.
//!
//! ```text
//! C / noise = U S^2 U'   (problem/past_contexts.rs);   W0 = the first rows of scale S U'
//! scale and alpha by a small search on common training instances
//! ```
//!
//! From there W moves in whitened coordinates, V = W P^-1 with P = (A + small I)^-1/2, relative to the size of V at the
//! start: a step is the same part of what there is in every direction, however features are scaled and correlated.

use super::kept::Found;
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::search;
use crate::numeric::stream::{Key, Stream};
use crate::observe::Observer;
use crate::policy::Choice;
use crate::problem::{PastContexts, Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Task};
use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Where training starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// At the closed form that the training part gives; for policies with a projection W.
    History,
    /// At the policy's initial parameters, W = I.
    Identity,
}

/// A start, and the coordinates in which W moves from there.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub choice: Choice,
    pub whitening: Option<Whitening>,
}

impl Begun {
    /// At a policy's own parameters.
    pub fn at(choice: &Choice) -> Self {
        Self { choice: choice.clone(), whitening: None }
    }
}

/// Randomness of the search, apart from batches and evaluation.
const SEARCH: u64 = 10;
/// Instances on which points of the search are compared; fewer if they would take longer than so many nanoseconds of one core.
const INSTANCES: usize = 400;
const PATIENCE: f64 = 4e9;
/// Factors of W that the search begins with, and widths in standard deviations of the noise.
const SCALES: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];
const WIDTHS: [f64; 4] = [0.1, 0.3, 1.0, 3.0];
/// Where all features are alike two numbers are all there is: the search is finer.
const PLAIN_SCALES: [f64; 5] = [0.1, 0.32, 1.0, 3.2, 10.0];
const PLAIN_WIDTHS: [f64; 7] = [0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2];
/// A soft policy starts out at this part of the noise's standard deviation: sharp, but not blind.
const TEMPERATURE: f64 = 0.1;
/// Size of rows beyond what the history has directions for.
const SPARE: f64 = 0.01;
/// What is added to A before whitening, relative to its mean diagonal.
const SMALL: f64 = 1e-3;

/// Does the history say where this policy can start: has it a W that nobody set?
pub(super) fn applies(problem: &Problem, choice: &Choice) -> Result<bool> {
    Ok(choice.param("W").is_some() && choice.is_at_start(problem, "W")? && choice.is_known())
}

/// The closed form, with scale and width searched for; none where the past says nothing about contexts.
pub(super) fn history(
    problem: &Problem,
    initial: &Choice,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Begun>> {
    let Some((based, past)) = based(problem, initial)? else { return Ok(None) };
    let rank = based.count("rank").unwrap_or(past.rank).min(based.columns());
    let ranked = match rank == based.columns() {
        true => based,
        false => based.with(problem, "rank", &rank.to_string())?,
    };
    let rows = directions(&past, ranked.rank());
    let grid = Grid { scales: &SCALES, widths: &WIDTHS, step: "start" };
    let choice = searched(problem, &ranked, &past, &rows, grid, seed, observer)?;
    let whitening = Whitening::new(&past, &choice);
    Ok(Some(Begun { choice, whitening }))
}

/// The same kind of policy on all features alike, as LinUCB is: two numbers are searched for, which is a ridge and a width.
pub(super) fn plain(
    problem: &Problem,
    initial: &Choice,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Begun>> {
    let Some((based, past)) = based(problem, initial)? else { return Ok(None) };
    let full = based.with(problem, "rank", "auto")?;
    let columns = full.columns();
    let identity = DMatrix::identity(columns, columns);
    let grid = Grid { scales: &PLAIN_SCALES, widths: &PLAIN_WIDTHS, step: "plain" };
    let choice = searched(problem, &full, &past, &identity, grid, seed, observer)?;
    Ok(Some(Begun { choice, whitening: None }))
}

/// The policy with the features and the offset that the past suggests.
fn based(problem: &Problem, initial: &Choice) -> Result<Option<(Choice, PastContexts)>> {
    let labelled = problem.contextual().is_some_and(|contextual| contextual.examples().is_some());
    let initial = match initial.word("intercept") {
        Some("auto") if labelled => initial.with(problem, "intercept", "true")?,
        _ => initial.clone(),
    };
    let Some(past) = problem.past_contexts(initial.has_intercept())? else { return Ok(None) };
    let based = match initial.number("offset") {
        Some(0.0) => initial.with(problem, "offset", &past.offset.to_string())?,
        _ => initial,
    };
    Ok(Some((based, past)))
}

/// The first rows of S U', and small random ones if there are not as many.
fn directions(past: &PastContexts, rank: usize) -> DMatrix<f64> {
    let columns = past.arms.nrows();
    let SymmetricEigen { eigenvalues, eigenvectors } = (&past.arms / past.noise).symmetric_eigen();
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|&i, &j| eigenvalues[j].total_cmp(&eigenvalues[i]));
    let used = rank.min(past.rank);
    let mut w = DMatrix::zeros(rank, columns);
    for (row, &k) in order[..used].iter().enumerate() {
        let vector = eigenvectors.column(k) * eigenvalues[k].max(0.0).sqrt();
        w.set_row(row, &vector.transpose());
    }
    let size = SPARE * rms(w.rows(0, used).iter().copied());
    let mut stream = Stream::<One<f64>>::new((), Key::new(0), 1);
    for entry in w.rows_mut(used, rank - used).iter_mut() {
        *entry = size * stream.normal_pair().0.0;
    }
    w
}

fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), x| (sum + x * x, count + 1));
    (sum / f64::from(count.max(1))).sqrt()
}

/// The points of a search, and what they are kept as.
struct Grid<'a> {
    scales: &'a [f64],
    widths: &'a [f64],
    step: &'static str,
}

/// The best scale of W, and width if the policy has one that nobody set, on training instances that are the same for all.
fn searched(
    problem: &Problem,
    based: &Choice,
    past: &PastContexts,
    rows: &DMatrix<f64>,
    Grid { scales, widths, step }: Grid,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Choice> {
    let noise_sd = past.noise.sqrt();
    let tempered = match based.param("temperature") {
        Some(_) if based.is_at_start(problem, "temperature")? => {
            based.with_param(problem, "temperature", &[TEMPERATURE * noise_sd])?
        }
        _ => based.clone(),
    };
    let widths: Vec<f64> = match based.param("alpha") {
        Some(_) if based.is_at_start(problem, "alpha")? => {
            widths.iter().map(|width| width * noise_sd).collect()
        }
        Some(alpha) => alpha.to_vec(),
        None => vec![1.0],
    };
    let at = |[scale, width]: [f64; 2]| {
        let w: Vec<f64> = rows.transpose().iter().map(|x| x * scale).collect();
        let scaled = tempered.with_param(problem, "W", &w)?;
        match scaled.param("alpha") {
            Some(_) => scaled.with_param(problem, "alpha", &[width]),
            None => Ok(scaled),
        }
    };
    let job = Job::new(problem, Key::new(seed).child(SEARCH), Split::Train, Task::Evaluate);
    let rows_cost = rows.nrows() as f64 / rows.ncols() as f64 * problem.cost();
    let points = (scales.len() * widths.len()) as f64;
    // Instances of one table of rows are alike; where each has arms of its own, a few decide the mean of many.
    let labelled = problem.contextual().is_some_and(|contextual| contextual.examples().is_some());
    let most = if labelled { INSTANCES } else { 5 * INSTANCES };
    let instances = ((PATIENCE / rows_cost / points) as usize).clamp(INSTANCES / 4, most);
    let mut found = Found::new(step, observer);
    let best = search::on_grid([scales, &widths], 1, |point| {
        found.next(observer, |observer| {
            let player = at(point)?.hard(problem)?.player(problem, observer)?;
            Ok(batch::means(&[&*player], &job, instances, Quantity::Reward, observer)?[0])
        })
    })?;
    let mut found = at(best)?;
    let mut params = found.params().to_vec();
    found.project(problem, &mut params);
    found = found.with_params(problem, &params)?;
    Ok(found)
}

/// V = W P^-1 / size, the coordinates in which W moves.
#[derive(Clone, Debug)]
pub(super) struct Whitening {
    range: Range<usize>,
    /// size P, and its inverse.
    from: DMatrix<f64>,
    to: DMatrix<f64>,
}

impl Whitening {
    fn new(past: &PastContexts, choice: &Choice) -> Option<Self> {
        let slot = choice.slots().into_iter().find(|slot| slot.name() == "W")?;
        let columns = past.contexts.nrows();
        let small = SMALL * past.contexts.trace() / columns as f64;
        let SymmetricEigen { eigenvalues, eigenvectors } = past.contexts.clone().symmetric_eigen();
        let power = |exponent: f64| {
            let values = eigenvalues.map(|x| (x.max(0.0) + small).max(f64::MIN_POSITIVE).powf(exponent));
            &eigenvectors * DMatrix::from_diagonal(&values) * eigenvectors.transpose()
        };
        let w = DMatrix::from_row_slice(slot.shape[0], columns, &choice.params()[slot.range.clone()]);
        let size = rms((w * power(0.5)).iter().copied());
        (size > 0.0 && size.is_finite()).then(|| Self {
            range: slot.range,
            from: power(-0.5) * size,
            to: power(0.5) / size,
        })
    }

    fn times(&self, numbers: &mut [f64], matrix: &DMatrix<f64>) {
        let part = &mut numbers[self.range.clone()];
        let columns = matrix.nrows();
        let product = DMatrix::from_row_slice(part.len() / columns, columns, part) * matrix;
        part.copy_from_slice(product.transpose().as_slice());
    }

    /// From W to V, in place among all parameters.
    pub fn whiten(&self, params: &mut [f64]) {
        self.times(params, &self.to);
    }

    /// From V to W.
    pub fn restore(&self, params: &mut [f64]) {
        self.times(params, &self.from);
    }

    /// From the gradient by W to that by V. P is symmetric.
    pub fn gradient(&self, gradient: &mut [f64]) {
        self.times(gradient, &self.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn initial(problem: &Problem, policy: &str) -> Choice {
        policy.parse::<Policy>().unwrap().on(problem).unwrap()
    }

    /// W'W is the covariance of an arm's parameters over the noise, times a scale squared.
    #[test]
    fn a_linear_problem_starts_at_its_prior() {
        let problem = Problem::named("linear-1").unwrap().with_horizon(50).unwrap();
        let begun = history(&problem, &initial(&problem, "soft-ucb"), 1, &mut ()).unwrap().unwrap();
        assert_eq!(begun.choice.rank(), 4);
        let w = DMatrix::from_row_slice(4, 8, begun.choice.param("W").unwrap());
        let gram = w.transpose() * w;
        for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let expected = if i == j && i < 4 { gram[(0, 0)] } else { 0.0 };
            assert!((gram[(i, j)] - expected).abs() < 1e-9 * gram[(0, 0)], "({i}, {j}): {}", gram[(i, j)]);
        }
        let scale = (gram[(0, 0)] * 0.25).sqrt();
        assert!((0.35..=12.0).contains(&scale), "{scale}");
    }

    #[test]
    fn what_the_user_set_stays() {
        let problem = Problem::named("linear-2").unwrap().with_horizon(30).unwrap();
        let set = initial(&problem, "soft-ucb(alpha=0.7,temperature=0.2,rank=3,offset=1.5)");
        let begun = history(&problem, &set, 1, &mut ()).unwrap().unwrap();
        assert_eq!(begun.choice.param("alpha"), Some(&[0.7][..]));
        assert_eq!(begun.choice.param("temperature"), Some(&[0.2][..]));
        assert_eq!((begun.choice.rank(), begun.choice.number("offset")), (3, Some(1.5)));
        assert!(applies(&problem, &set).unwrap());
        let w: Vec<f64> = (0..24).map(f64::from).collect();
        assert!(!applies(&problem, &set.with_param(&problem, "W", &w).unwrap()).unwrap());
    }

    /// V and back is W; and the gradient by V is that of a function of W, by differences.
    #[test]
    fn whitening_is_a_change_of_coordinates() {
        let problem = Problem::named("linear-3").unwrap().with_horizon(30).unwrap();
        let begun = history(&problem, &initial(&problem, "soft-ucb"), 1, &mut ()).unwrap().unwrap();
        let (whitening, params) = (begun.whitening.unwrap(), begun.choice.params().to_vec());
        let mut v = params.clone();
        whitening.whiten(&mut v);
        assert!((rms(v[..v.len() - 2].iter().copied()) - 1.0).abs() < 1e-9);
        let restored = |v: &[f64]| {
            let mut w = v.to_vec();
            whitening.restore(&mut w);
            w
        };
        assert!(restored(&v).iter().zip(&params).all(|(a, b)| (a - b).abs() < 1e-9));
        let value = |w: &[f64]| w.iter().enumerate().map(|(i, x)| (i as f64).cos() * x + x * x).sum::<f64>();
        let mut gradient: Vec<f64> =
            params.iter().enumerate().map(|(i, x)| (i as f64).cos() + 2.0 * x).collect();
        whitening.gradient(&mut gradient);
        for i in 0..v.len() {
            let moved = |step: f64| {
                let mut v = v.clone();
                v[i] += step;
                value(&restored(&v))
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (slope - gradient[i]).abs() < 1e-5 * (1.0 + slope.abs()),
                "{i}: {slope}, {}",
                gradient[i]
            );
        }
    }
}
