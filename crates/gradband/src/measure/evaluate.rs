//! Bayes regret and reward of policies on common instances, with paired differences, and regret over rounds.

use super::statistics::{Estimate, Interval, Part, Quantiles, Sample};
use crate::error::{Error, ErrorKind, Place, Result, count};
use crate::numeric::stream::Key;
use crate::observe::Observer;
use crate::policy::Choice;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Chunk};
use crate::simulate::{Job, Player, Task};
use std::fmt::{self, Display, Formatter};

/// The largest evaluation: quantiles keep a number for each instance.
pub const MAX_INSTANCES: usize = 100_000_000;

/// Refuses evaluations without a standard error, or of more than memory holds.
pub fn check_instances(place: impl Into<Place>, instances: usize) -> Result<()> {
    count(place, instances, 2, MAX_INSTANCES).map(drop)
}

/// Evaluation's randomness: training never uses it.
const EVALUATION: u64 = 1;

/// What was measured of several policies on the same instances and rewards; they are in the order in which they were
/// given.
#[derive(Clone, Debug)]
pub struct Comparison {
    labels: Vec<String>,
    instances: usize,
    marks: Vec<usize>,
    regret: Sample,
    reward: Sample,
    /// Regret after each mark, policy by policy.
    curves: Sample,
    quantiles: Vec<Quantiles>,
}

impl Comparison {
    /// Number of policies.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Was no policy given?
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// How many independent observations there are: past problems where the problem has a table of them, else instances.
    pub fn observations(&self) -> usize {
        self.regret.observations()
    }

    /// The 95 % interval of an estimate on these instances.
    pub fn interval(&self, estimate: &Estimate) -> Interval {
        estimate.interval(self.observations())
    }

    /// Policy `i`, as it can be typed.
    pub fn label(&self, i: usize) -> &str {
        &self.labels[i]
    }

    /// Bayes regret of policy `i`.
    pub fn regret(&self, i: usize) -> Estimate {
        self.regret.estimate(i)
    }

    /// Bayes reward of policy `i`.
    pub fn reward(&self, i: usize) -> Estimate {
        self.reward.estimate(i)
    }

    /// Regret of policy `i` minus that of `j`, on the same instances and rewards.
    pub fn difference(&self, i: usize, j: usize) -> Estimate {
        self.regret.difference(i, j)
    }

    /// Quantiles over instances of the regret of policy `i`.
    pub fn quantiles(&self, i: usize) -> Quantiles {
        self.quantiles[i]
    }

    /// Regret of policy `i` after each of the rounds that were asked for.
    pub fn curve(&self, i: usize) -> Vec<(usize, Estimate)> {
        let point = |(m, &round): (usize, &usize)| (round, self.curves.estimate(i * self.marks.len() + m));
        self.marks.iter().enumerate().map(point).collect()
    }
}

/// One line per policy, the least regret first.
impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&i, &j| self.regret(i).mean.total_cmp(&self.regret(j).mean));
        let width = self.labels.iter().map(String::len).max().unwrap_or(0);
        for &i in &order {
            let behind = self.difference(i, order[0]);
            writeln!(f, "{:width$}  regret {}  behind the best {behind}", self.labels[i], self.regret(i))?;
        }
        write!(f, "{} instances", self.instances)
    }
}

/// What was measured of one policy.
#[derive(Clone, Debug)]
pub struct Evaluation(pub(super) Comparison);

impl Evaluation {
    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.0.instances
    }

    /// Bayes regret.
    pub fn regret(&self) -> Estimate {
        self.0.regret(0)
    }

    /// Bayes reward.
    pub fn reward(&self) -> Estimate {
        self.0.reward(0)
    }

    /// Quantiles of regret over instances.
    pub fn quantiles(&self) -> Quantiles {
        self.0.quantiles(0)
    }
}

impl Display for Evaluation {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (regret, reward) = (self.regret(), self.reward());
        write!(f, "{}: regret {regret}, reward {reward}, {} instances", self.0.labels[0], self.0.instances)
    }
}

/// The sums of one chunk.
struct Sums {
    regret: Part,
    reward: Part,
    curves: Part,
    /// Regrets, policy by policy, for the quantiles.
    regrets: Vec<Vec<f64>>,
}

/// Apart from evaluation and from the batches of training.
const RANKING: u64 = 9;

/// The mean regret of each policy on *training* instances, the same for all. Who picks a policy by it can measure the
/// pick on evaluation instances without a bias.
pub fn training_regret(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>> {
    check_instances("instances", instances)?;
    let players =
        choices.iter().map(|choice| choice.player(problem, observer)).collect::<Result<Vec<_>>>()?;
    let players: Vec<&dyn Player> = players.iter().map(|player| &**player).collect();
    let job = Job::new(problem, Key::new(seed).child(RANKING), Split::Train, Task::Evaluate);
    batch::means(&players, &job, instances, |outcome| outcome.regret, observer)
}

/// The key of the instances that an evaluation with this seed plays.
pub fn evaluation_key(seed: u64) -> Key {
    Key::new(seed).child(EVALUATION)
}

/// Plays the policies on the evaluation instances of `seed`: the held-out ones, where the problem has any. The regret
/// after each of `marks` rounds is noted on the way.
pub fn evaluate(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    marks: &[usize],
    observer: &mut dyn Observer,
) -> Result<Comparison> {
    let job = Job { marks, ..Job::new(problem, evaluation_key(seed), Split::HeldOut, Task::Evaluate) };
    evaluate_job(choices, &job, instances, observer)
}

/// Plays the policies on the instances of a job.
pub(crate) fn evaluate_job(
    choices: &[&Choice],
    job: &Job,
    instances: usize,
    observer: &mut dyn Observer,
) -> Result<Comparison> {
    let (problem, marks) = (job.problem, job.marks);
    check_instances("instances", instances)?;
    if choices.is_empty() {
        return Err(Error::of("policies", ErrorKind::Missing("name at least one policy".into())));
    }
    let players =
        choices.iter().map(|choice| choice.player(problem, observer)).collect::<Result<Vec<_>>>()?;
    let players: Vec<&dyn Player> = players.iter().map(|player| &**player).collect();
    let labels = choices.iter().map(|choice| choice.label()).collect();
    for (i, &mark) in marks.iter().enumerate() {
        let least = if i == 0 { 1 } else { marks[i - 1] + 1 };
        count(format!("rounds[{i}]"), mark, least, problem.horizon)?;
    }
    let clusters = problem.clusters(job.split);
    let dim = players.len();
    let (mut regret, mut reward) = (Sample::new(dim, clusters), Sample::new(dim, clusters));
    let mut curves = Sample::unpaired(dim * marks.len(), clusters);
    let mut regrets = vec![Vec::with_capacity(instances); dim];
    let empty = (regret.part(), reward.part(), curves.part());
    let sum = |chunk: &Chunk| {
        let mut sums = Sums {
            regret: empty.0.clone(),
            reward: empty.1.clone(),
            curves: empty.2.clone(),
            regrets: Vec::new(),
        };
        for i in 0..chunk.len {
            let all = || (0..dim).map(|player| &chunk.outcomes(player)[i]);
            sums.regret.push(chunk.cluster(i), all().map(|outcome| outcome.regret));
            sums.reward.push(chunk.cluster(i), all().map(|outcome| outcome.reward));
            if !marks.is_empty() {
                let points = (0..dim).flat_map(|player| chunk.curve(player, i).iter().copied());
                sums.curves.push(chunk.cluster(i), points);
            }
        }
        let of = |player| chunk.outcomes(player).iter().map(|outcome| outcome.regret).collect();
        sums.regrets = (0..dim).map(of).collect();
        sums
    };
    let add = |sums: Sums| {
        regret.add(&sums.regret);
        reward.add(&sums.reward);
        curves.add(&sums.curves);
        for (all, more) in regrets.iter_mut().zip(sums.regrets) {
            all.extend(more);
        }
    };
    batch::play(&players, job, instances, "evaluating", sum, add, observer)?;
    let quantiles =
        regrets.iter_mut().filter(|values| !values.is_empty()).map(|values| Quantiles::of(values));
    let quantiles = quantiles.collect();
    Ok(Comparison { labels, instances, marks: marks.to_vec(), regret, reward, curves, quantiles })
}

/// About `points` rounds up to the horizon, evenly spread: where a curve over rounds is worth a point.
pub fn over_rounds(horizon: usize, points: usize) -> Vec<usize> {
    let mut rounds: Vec<_> = (1..=points).map(|i| (i * horizon / points).max(1)).collect();
    rounds.dedup();
    rounds
}
