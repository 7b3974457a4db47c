//! What an experiment is: a plan of units, the figures that its records become, and the paper's numbers beside ours.

use crate::Failure;
use crate::found::{Found, Played, Slope, Trained};
use crate::record::{self, Record};
use crate::row::Row;
use crate::transfer::Transferred;
use crate::work::{Train, Work};
use gradband::Estimate;
use gradband_files::TrainSpec;
use gradband_report::Block;
use std::collections::BTreeMap;
use std::path::Path;

/// One of the paper's figures or tables, or an experiment of our own.
pub struct Experiment {
    /// The name by which `gradband reproduce` knows it: `fig1`.
    pub id: &'static str,
    /// What it shows, as a heading.
    pub title: &'static str,
    /// The section of the paper that it is in, or [`OURS`].
    pub section: &'static str,
    /// Paragraphs that say what to look at.
    pub text: &'static [&'static str],
    /// The series that are computed, for a size.
    pub plan: fn(&Size) -> gradband::Result<Vec<Series>>,
    /// The figures and tables that its records become; lines without records are left out.
    pub blocks: fn(&Results) -> Vec<Block>,
    /// The paper's numbers and claims, or ours, with what the records say to them.
    pub rows: fn(&Results) -> Vec<Row>,
}

/// The section of an experiment that the paper does not have.
pub const OURS: &str = "ours";

/// Units that differ in their seed alone.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name, unique in the experiment.
    pub name: String,
    /// The work of each unit.
    pub work: Work,
    /// The number of units; their seeds are 1, 2, …
    pub runs: usize,
}

impl Series {
    /// A series of so many units.
    pub fn new(name: impl Into<String>, work: Work, runs: usize) -> Self {
        Self { name: name.into(), work, runs }
    }
}

/// How large an experiment is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Whether sizes are those of a first look instead of the paper's.
    pub quick: bool,
    /// The number of runs of every training, if it is not the usual one.
    pub runs: Option<usize>,
}

impl Size {
    /// The number of runs of a training that has `full` of them in the paper.
    pub fn runs(&self, full: usize) -> usize {
        self.runs.unwrap_or(if self.quick { full.min(2) } else { full })
    }

    /// One of two sizes: the paper's, or that of a first look.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// The paper's setting (section 7.2): sgd with the automatic rate, realised returns, the last iterate.
pub fn paper(baseline: &str, iterations: usize, batch_size: usize) -> TrainSpec {
    TrainSpec {
        baseline: Some(baseline.into()),
        returns: Some("realized".into()),
        optimizer: Some("sgd".into()),
        average: Some("none".into()),
        iterations: Some(iterations),
        batch_size: Some(batch_size),
        ..TrainSpec::default()
    }
}

/// A training on a built-in problem by a policy's name, measured along the way.
pub fn training(problem: &str, policy: &str, train: TrainSpec, at: Vec<usize>) -> Train {
    Train {
        problem: problem.into(),
        policy: policy.into(),
        train,
        at,
        instances: 1000,
        final_instances: 10_000,
        rounds: Vec::new(),
        elsewhere: Vec::new(),
    }
}

/// The iterations to measure: every `fine`-th up to a fifth of all, then every `coarse`-th.
pub fn at(iterations: usize, fine: usize, coarse: usize) -> Vec<usize> {
    let turn = (iterations / 5).next_multiple_of(coarse);
    (0..=turn.min(iterations)).step_by(fine).chain((turn + coarse..=iterations).step_by(coarse)).collect()
}

/// The records of a directory, to be asked for by experiment and series.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// By experiment and series; in the order of seeds.
    records: BTreeMap<(String, String), Vec<Record>>,
}

/// The mean over runs, with the standard error that their differences give, but not less than what measuring each of
/// them gives: a few runs may be close to each other by chance, but no mean is known better than the runs that it is of.
pub fn across(runs: &[Estimate]) -> Option<Estimate> {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run.mean).sum::<f64>() / count;
    match runs {
        [] => None,
        [only] => Some(*only),
        _ => {
            let squares: f64 = runs.iter().map(|run| (run.mean - mean).powi(2)).sum();
            let measured: f64 = runs.iter().map(|run| run.std_error.powi(2)).sum();
            Some(Estimate {
                mean,
                std_error: (squares / (count - 1.0) / count).sqrt().max(measured.sqrt() / count),
            })
        }
    }
}

/// The quartiles of runs, of which the second is the median: a failed run does not move them.
pub fn quartiles(runs: &[Estimate]) -> Option<[f64; 3]> {
    let mut means: Vec<f64> = runs.iter().map(|run| run.mean).collect();
    means.sort_by(f64::total_cmp);
    let last = means.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|part| {
        let place = part * last as f64;
        let below = place as usize;
        means[below] + (place - below as f64) * (means[(below + 1).min(last)] - means[below])
    }))
}

impl Experiment {
    /// Is it one that the paper does not have?
    pub fn is_ours(&self) -> bool {
        self.section == OURS
    }

    /// The numbers and claims, as far as they have been run.
    pub fn known_rows(&self, results: &Results) -> Vec<Row> {
        (self.rows)(results).into_iter().filter(|row| row.ours.is_some()).collect()
    }
}

impl Results {
    /// Reads all records in a directory.
    pub fn read(dir: &Path) -> Result<Self, Failure> {
        let mut results = Self::default();
        for experiment in crate::EXPERIMENTS {
            for record in record::read(dir, experiment.id)? {
                results
                    .records
                    .entry((record.experiment.clone(), record.series.clone()))
                    .or_default()
                    .push(record);
            }
        }
        results.records.values_mut().for_each(|runs| runs.sort_by_key(|record| record.seed));
        Ok(results)
    }

    /// The experiments that have records.
    pub fn experiments(&self) -> Vec<&'static Experiment> {
        crate::EXPERIMENTS.into_iter().filter(|experiment| self.of(experiment.id).next().is_some()).collect()
    }

    /// The records of an experiment, series by series.
    pub fn of<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a Record> {
        let own = move |((id, _), _): &(&(String, String), _)| id == experiment;
        self.records.iter().filter(own).flat_map(|(_, records)| records)
    }

    /// The runs of a series, in the order of their seeds.
    pub fn runs(&self, experiment: &str, series: &str) -> &[Record] {
        self.records.get(&(experiment.into(), series.into())).map_or(&[], Vec::as_slice)
    }

    /// The trainings of a series.
    pub fn trained(&self, experiment: &str, series: &str) -> Vec<&Trained> {
        let runs = self.runs(experiment, series).iter();
        runs.filter_map(
            |record| if let Found::Trained(trained) = &record.estimate { Some(trained) } else { None },
        )
        .collect()
    }

    /// Mean regret of what the trainings of a series hand out.
    pub fn tuned(&self, experiment: &str, series: &str) -> Option<Estimate> {
        let runs: Vec<_> = self.trained(experiment, series).iter().map(|run| run.tuned).collect();
        across(&runs)
    }

    /// Mean regret before these trainings.
    pub fn untuned(&self, experiment: &str, series: &str) -> Option<Estimate> {
        let runs: Vec<_> = self.trained(experiment, series).iter().map(|run| run.initial).collect();
        across(&runs)
    }

    /// Regret over iterations: [`across`] runs, or their [`quartiles`].
    pub fn curve<T>(
        &self,
        experiment: &str,
        series: &str,
        of: fn(&[Estimate]) -> Option<T>,
    ) -> Vec<(usize, T)> {
        let runs = self.trained(experiment, series);
        let Some(first) = runs.first() else { return Vec::new() };
        let point = |(i, &(iteration, ..)): (usize, &(usize, f64, f64))| {
            let found = runs.iter().filter_map(|run| run.curve.get(i));
            let found: Vec<_> = found.map(|&(_, mean, std_error)| Estimate { mean, std_error }).collect();
            of(&found).map(|estimate| (iteration, estimate))
        };
        first.curve.iter().enumerate().filter_map(point).collect()
    }

    /// What was measured of the policies of a series, with their names.
    pub fn played(&self, experiment: &str, series: &str) -> Vec<(String, &Played)> {
        let Some(record) = self.runs(experiment, series).first() else { return Vec::new() };
        let names =
            record.setting["policies"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
        match &record.estimate {
            Found::Played(played) => names.map(String::from).zip(played).collect(),
            _ => Vec::new(),
        }
    }

    /// The regret of one of the policies of a series.
    pub fn regret(&self, experiment: &str, series: &str, policy: &str) -> Option<Estimate> {
        self.played(experiment, series)
            .iter()
            .find(|(name, _)| name == policy)
            .map(|(_, played)| played.regret)
    }

    /// A number of one of the policies of a transfer, across runs.
    pub fn transferred(
        &self,
        experiment: &str,
        series: &str,
        policy: usize,
        of: fn(&Transferred) -> Estimate,
    ) -> Option<Estimate> {
        let runs = self.runs(experiment, series).iter().filter_map(|record| match &record.estimate {
            Found::Transferred(found) => found.get(policy).map(of),
            _ => None,
        });
        across(&runs.collect::<Vec<_>>())
    }

    /// The regret of a policy whose gradients were estimated.
    pub fn regret_at(&self, experiment: &str, series: &str) -> Option<Estimate> {
        match &self.runs(experiment, series).first()?.estimate {
            Found::Gradients { regret, .. } => Some(*regret),
            _ => None,
        }
    }

    /// The gradient by one of the series' baselines.
    pub fn slope(&self, experiment: &str, series: &str, baseline: usize) -> Option<Slope> {
        match &self.runs(experiment, series).first()?.estimate {
            Found::Gradients { gradients, .. } => gradients.get(baseline).copied(),
            _ => None,
        }
    }

    /// The matrix of a series.
    pub fn matrix(&self, experiment: &str, series: &str) -> Option<&[Vec<f64>]> {
        match &self.runs(experiment, series).first()?.estimate {
            Found::Matrix(rows) => Some(rows),
            _ => None,
        }
    }

    /// The regret and gradient of a series without sampling error.
    pub fn exact(&self, experiment: &str, series: &str) -> Option<(f64, &[f64])> {
        match &self.runs(experiment, series).first()?.estimate {
            Found::Exact { regret, gradient } => Some((*regret, gradient)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, std_error: f64) -> Estimate {
        Estimate { mean, std_error }
    }

    #[test]
    fn runs_are_the_observations() {
        assert_eq!(across(&[]), None);
        assert_eq!(across(&[estimate(2.0, 0.3)]), Some(estimate(2.0, 0.3)));
        // The deviation of 1, 2 and 6 is the root of 7, which is more than the errors within runs.
        let runs = [estimate(1.0, 0.9), estimate(2.0, 0.9), estimate(6.0, 0.9)];
        let found = across(&runs).unwrap_or(estimate(0.0, 0.0));
        assert!((found.mean - 3.0).abs() < 1e-12 && (found.std_error - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        // Two runs that agree by chance do not make an error of zero.
        let close = across(&[estimate(3.31, 0.03), estimate(3.31, 0.04)]).unwrap_or(estimate(0.0, 0.0));
        assert!((close.std_error - 0.025).abs() < 1e-12, "{close:?}");
        assert_eq!(quartiles(&runs), Some([1.5, 2.0, 4.0]));
        assert_eq!(quartiles(&runs[..1]), Some([1.0; 3]));
        assert_eq!(quartiles(&[]), None);
        let failed = [1.0, 3.0, 1000.0, 2.0, 4.0].map(|mean| estimate(mean, 9.0));
        assert_eq!(quartiles(&failed), Some([2.0, 3.0, 4.0]));
    }

    #[test]
    fn iterations_are_fine_first_and_end_at_the_last() {
        assert_eq!(at(100, 10, 20), [0, 10, 20, 40, 60, 80, 100]);
        assert_eq!(at(10, 1, 5), [0, 1, 2, 3, 4, 5, 10]);
    }
}
