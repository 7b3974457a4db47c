//! Computes units: trains, plays, differentiates, and rounds what is found.

use crate::found::{Found, Played, Slope, Trained, rounded, short, short_curve};
use crate::problems::Problems;
use crate::work::{Gradient, Play, Train, Work};
use gradband::exact::GittinsTable;
use gradband::learn;
use gradband::measure::{Estimator, evaluate, exact, gradient_key};
use gradband::policy::{Choice, mom_subspace};
use gradband::problem::{Covariance, Split};
use gradband::simulate::{Baseline, Returns};
use gradband::{
    Crew, Error, ErrorKind, Estimate, Iteration, Observer, Problem, Progress, Result, StopReason,
};
use gradband_files::TrainSpec;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// Parameters of which a record keeps all; matrices are for pictures.
pub(crate) const FEW: usize = 4;

impl Work {
    /// Does the work. The observer may stop it, which is an error.
    pub fn run(&self, seed: u64, problems: &mut Problems, observer: &mut dyn Observer) -> Result<Found> {
        match self {
            Self::Train(train) => train.run(seed, problems, observer).map(Found::Trained),
            Self::Play(play) => play.run(seed, problems, observer).map(Found::Played),
            Self::Transfer(transfer) => transfer.run(seed, problems, observer).map(Found::Transferred),
            Self::Gradient(gradient) => gradient.run(seed, problems, observer),
            Self::Exact { problem, policy } => {
                let problem = problems.open(problem)?;
                let choice = Choice::parse(policy, &problem)?;
                let exact = exact(&problem, &choice, Split::HeldOut, observer)?;
                Ok(Found::Exact { regret: exact.bayes_regret, gradient: exact.gradient })
            }
            Self::Matrix { problem, of } => {
                let rows = matrix(&problems.open(problem)?, of, observer)?;
                let row = |row: Vec<f64>| row.into_iter().map(|x| rounded(x, 4)).collect();
                Ok(Found::Matrix(rows.into_iter().map(row).collect()))
            }
            Self::Size { problem } => problems.open(problem).map(|problem| size(&problem)),
            Self::Gittins { horizon } => {
                GittinsTable::new(*horizon, observer).map(|table| Found::Entries(table.values().len()))
            }
        }
    }
}

/// Iterations, and the parameters after them.
type Kept = Vec<(usize, Vec<f64>)>;

/// Keeps the iterates that are to be measured, and tells how many iterations are done.
struct Iterates<'a> {
    at: &'a [usize],
    kept: Kept,
    done: usize,
    iterations: usize,
    observer: &'a mut dyn Observer,
}

impl Observer for Iterates<'_> {
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        let (done, iterations) = (self.done as u64, self.iterations as u64);
        self.observer.progress(Progress::new("training", "iterations", done, iterations))
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        self.done = record.iteration;
        if self.at.contains(&record.iteration) {
            self.kept.push((record.iteration, params.to_vec()));
        }
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.observer.crew()
    }
}

/// What training hands out, and the iterates after some of its iterations. If the observer stops it, that is an error.
pub(crate) fn tune(
    problem: &Problem,
    start: &Choice,
    spec: &TrainSpec,
    at: &[usize],
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(learn::Trained, Kept)> {
    // As the paper does, unless a unit says otherwise.
    let from = spec.start.clone().unwrap_or_else(|| "identity".into());
    let plan = TrainSpec { start: Some(from), ..spec.clone() }.resolve(problem, start)?.plan;
    let mut iterates = Iterates { at, kept: Vec::new(), done: 0, iterations: plan.iterations(), observer };
    let trained = plan.train(problem, start, seed, &mut iterates)?;
    match trained.stop_reason() {
        StopReason::Interrupted => Err(Error::of("", ErrorKind::Stopped(StopReason::Interrupted))),
        _ => Ok((trained, iterates.kept)),
    }
}

impl Train {
    fn run(&self, seed: u64, problems: &mut Problems, observer: &mut dyn Observer) -> Result<Trained> {
        let problem = problems.open(&self.problem)?;
        let start = Choice::parse(&self.policy, &problem)?;
        let clock = Instant::now();
        let (trained, mut kept) = tune(&problem, &start, &self.train, &self.at, seed, observer)?;
        let seconds = rounded(clock.elapsed().as_secs_f64(), 3);
        let (initial, tuned) = (trained.initial(), trained.choice());
        if self.at.contains(&0) {
            kept.insert(0, (0, initial.params().to_vec()));
        }
        let choices = kept.iter().map(|(_, params)| start.with_params(&problem, params));
        let choices = choices.collect::<Result<Vec<_>>>()?;
        let curve = regrets(&choices.iter().collect::<Vec<_>>(), &problem, seed, self.instances, observer)?;
        let ends = regrets(&[initial, tuned], &problem, seed, self.final_instances, observer)?;
        let mut elsewhere = Vec::new();
        for source in &self.elsewhere {
            let other = problems.open(source)?;
            let choice = trained.policy().on(&other)?;
            elsewhere.extend(regrets(&[&choice], &other, seed, self.final_instances, observer)?);
        }
        let marks: &[usize] = if seed == 1 { &self.rounds } else { &[] };
        let rounds = over_rounds(&[tuned], &problem, seed, self.instances, marks, observer)?;
        let is_projection = tuned.slots().iter().any(|slot| slot.name() == "W");
        let shown = tuned.params().len() <= FEW || is_projection && seed == 1;
        Ok(Trained {
            curve: short_curve(kept.iter().map(|(iteration, _)| *iteration).zip(curve)),
            initial: short(ends[0]),
            tuned: short(ends[1]),
            rounds: rounds.into_iter().flat_map(short_curve).collect(),
            elsewhere: elsewhere.into_iter().map(short).collect(),
            params: tuned.params().iter().filter(|_| shown).map(|&x| rounded(x, 4)).collect(),
            seconds,
        })
    }
}

/// The Bayes regret of policies on the evaluation instances of a seed.
fn regrets(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Estimate>> {
    if choices.is_empty() {
        return Ok(Vec::new());
    }
    let measured = evaluate(choices, problem, seed, instances, &[], observer)?;
    Ok((0..choices.len()).map(|i| measured.regret(i)).collect())
}

/// The regret of each policy after each of `marks` rounds; no curve has a point if there are none.
fn over_rounds(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    marks: &[usize],
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<(usize, Estimate)>>> {
    if marks.is_empty() {
        return Ok(vec![Vec::new(); choices.len()]);
    }
    let measured = evaluate(choices, problem, seed, instances, marks, observer)?;
    Ok((0..choices.len()).map(|i| measured.curve(i)).collect())
}

impl Play {
    fn run(&self, seed: u64, problems: &mut Problems, observer: &mut dyn Observer) -> Result<Vec<Played>> {
        let problem = problems.open(&self.problem)?;
        let choose = |text: &String| Choice::parse(text, &problem)?.fitted(&problem, &mut *observer);
        let choices = self.policies.iter().map(choose).collect::<Result<Vec<_>>>()?;
        let choices: Vec<_> = choices.iter().collect();
        let measured = evaluate(&choices, &problem, seed, self.instances, &[], observer)?;
        let curves = over_rounds(&choices, &problem, seed, self.round_instances, &self.rounds, observer)?;
        let played = curves.into_iter().enumerate().map(|(i, curve)| Played {
            regret: short(measured.regret(i)),
            step: short(measured.difference(i, i.saturating_sub(1))),
            curve: short_curve(curve),
        });
        Ok(played.collect())
    }
}

impl Gradient {
    fn run(&self, seed: u64, problems: &mut Problems, observer: &mut dyn Observer) -> Result<Found> {
        let problem = problems.open(&self.problem)?;
        let choice = Choice::parse(&self.policy, &problem)?;
        let player = choice.scored_player(&problem, observer)?;
        let mut gradients = Vec::new();
        for name in &self.baselines {
            let baseline = Baseline::new(name, None)?;
            let estimator = Estimator { baseline, returns: Returns::Realized, batch_size: self.batch_size };
            let found = estimator.estimate(&*player, &problem, gradient_key(seed), observer)?;
            let Estimate { mean, std_error } = short(found.estimate[0]);
            let deviation = rounded(found.variance_per_instance[0].sqrt(), 4);
            gradients.push(Slope { mean, std_error, deviation });
        }
        let regret = regrets(&[&choice], &problem, seed, self.instances, observer)?;
        Ok(Found::Gradients { regret: short(regret[0]), gradients })
    }
}

/// The covariance of an arm's parameters, or the projection that the method of moments finds.
fn matrix(problem: &Problem, of: &str, observer: &mut dyn Observer) -> Result<Vec<Vec<f64>>> {
    let Some(contextual) = problem.contextual() else {
        return Err(Error::new("problem", format!("{of} needs a problem with contexts")));
    };
    match contextual.linear() {
        Some(linear) if of == "covariance" => {
            let dim = contextual.dim();
            Ok(match linear.theta()[0].covariance() {
                Covariance::Full(entries) => entries.chunks(dim).map(<[f64]>::to_vec).collect(),
                Covariance::Diagonal(variances) => {
                    let entry = |i, j| if i == j { variances[i] } else { 0.0 };
                    (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect()
                }
            })
        }
        _ => mom_subspace(problem, &Choice::parse(of, problem)?, observer),
    }
}

fn size(problem: &Problem) -> Found {
    let contextual = problem.contextual();
    Found::Size {
        arms: problem.arms(),
        features: contextual.map_or(0, |contextual| contextual.dim()),
        examples: contextual.and_then(|contextual| contextual.examples()).map_or(0, |set| set.len()),
    }
}
