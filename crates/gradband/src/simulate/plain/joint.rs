//! The plain engine for policies that are asked for all runs at once, round by round: for rules written where a call is dear. The same
//! streams and the same estimator, so that the bits are those of one run after the other.

use super::run::{Around, Run};
use super::source::Source;
use super::{climb, draw, pull, score, settle};
use crate::error::Result;
use crate::numeric::stream::{Random, Stream};
use crate::simulate::instances;
use crate::simulate::job::{Job, Outcome, Output, Player, Task};
use crate::simulate::late::Schedule;

/// Runs that are worth asking for together: a call is then small beside what is computed in it.
const RUNS: usize = 4096;
/// How much longer a round takes than one of the other engines.
const SLOWNESS: f64 = 30.0;

/// What a policy has seen of many runs: of each the numbers of all arms, one run after the other.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JointSeen<'a> {
    /// The number of rounds that were played.
    pub round: usize,
    /// The number of rounds of a whole run; the most that are simulated, if the end is unknown.
    pub horizon: usize,
    /// The number of arms.
    pub arms: usize,
    /// How often each arm was pulled. A pull counts at once, even if its reward comes late.
    pub pulls: &'a [f64],
    /// The sum of each arm's rewards; those that are not known yet count as the mean of the others.
    pub sums: &'a [f64],
    /// The mean of each arm's rewards that are known.
    pub means: &'a [f64],
}

/// A policy that is asked for many runs at once.
pub(crate) trait JointKernel: Send + Sync {
    /// Number of parameters.
    fn dim(&self) -> usize;

    /// Is each arm pulled once before the kernel is asked?
    fn each_arm_once(&self) -> bool;

    /// Writes the weights of the arms.
    fn weigh(&self, seen: &JointSeen, weights: &mut [f64]) -> Result<()>;

    /// Writes the derivatives of their logarithms, those by the first parameter first.
    fn slopes(&self, seen: &JointSeen, slopes: &mut [f64]) -> Result<()>;
}

/// Statistics of runs, as a kernel sees them.
#[derive(Default)]
struct Rows([Vec<f64>; 3]);

impl Rows {
    fn gather<'a>(&mut self, arms: usize, runs: impl Iterator<Item = &'a [f64]>) {
        self.0.iter_mut().for_each(Vec::clear);
        for statistics in runs {
            for (column, part) in self.0.iter_mut().zip(statistics.chunks_exact(arms)) {
                column.extend_from_slice(part);
            }
        }
    }

    fn seen(&self, job: &Job, round: usize) -> JointSeen<'_> {
        let (horizon, [pulls, sums, means]) = (job.problem.world().horizon.end(round), &self.0);
        JointSeen { round, horizon, arms: job.problem.arms, pulls, sums, means }
    }
}

/// What a kernel is asked in a round, and what it says; kept from round to round.
#[derive(Default)]
struct Asked {
    rows: Rows,
    scored: Rows,
    weights: Vec<f64>,
    slopes: Vec<f64>,
}

/// An instance that is played. A run's state is the arm of the round, once it is chosen.
struct Play<'a> {
    source: Source<'a>,
    schedule: Schedule,
    runs: Vec<Run<Option<usize>>>,
    optimal_reward: f64,
}

impl Play<'_> {
    /// Before round `t`: rewards that become known, and what is not the policy's to decide.
    fn look(&mut self, job: &Job, around: &Around, t: usize) {
        for run in &mut self.runs {
            if around.late {
                for s in self.schedule.due(t) {
                    run.learn(around, s);
                }
            }
            run.state = run.decided(around, t, job.problem.arms);
        }
    }

    /// Round `t`, with the arms that are chosen.
    fn pull(&mut self, job: &Job, around: &Around, t: usize, gradient: &mut [f64]) {
        let (now, weight) = (self.source.advance(job, t), around.weight(t));
        let best = self.source.pull(job, t, &now, now.best);
        self.optimal_reward += best.0 * weight;
        for run in &mut self.runs {
            let arm = run.state.unwrap_or(0);
            let pulled = self.source.pull(job, t, &now, arm);
            pull(job, around, &self.source, weight, (arm, pulled), run);
        }
        climb(job, &self.source, weight, best, &self.runs, gradient);
    }

    fn settle(&self, outcome: &mut Outcome) {
        settle(&self.source, self.optimal_reward, &self.runs, outcome);
    }
}

/// A kernel as a player.
pub(crate) struct Joint<P>(pub P);

impl<P: JointKernel> Joint<P> {
    /// Chooses the arms of all runs whose arms are the policy's to choose.
    fn choose(&self, job: &Job, t: usize, plays: &mut [Play], asked: &mut Asked) -> Result<()> {
        let (arms, task) = (job.problem.arms, job.task);
        let Asked { rows, scored, weights, slopes } = asked;
        let open = || {
            let runs = plays.iter().flat_map(|play| play.runs.iter().enumerate());
            runs.filter(|(_, run)| run.state.is_none()).map(|(r, run)| (r, &run.statistics[..]))
        };
        rows.gather(arms, open().map(|(_, statistics)| statistics));
        scored.gather(arms, open().filter(|&(r, _)| task.scores(r)).map(|(_, statistics)| statistics));
        let (asked, differentiated) = (rows.0[0].len(), scored.0[0].len());
        if asked == 0 {
            return Ok(());
        }
        weights.resize(asked, 0.0);
        self.0.weigh(&rows.seen(job, t), weights)?;
        slopes.resize(differentiated * self.0.dim(), 0.0);
        if !slopes.is_empty() {
            self.0.slopes(&scored.seen(job, t), slopes)?;
        }
        let (mut weights, mut row) = (weights.chunks_exact(arms), 0);
        let runs = plays.iter_mut().flat_map(|play| play.runs.iter_mut().enumerate());
        for ((r, run), weights) in runs.filter(|(_, run)| run.state.is_none()).zip(&mut weights) {
            let total = weights.iter().sum();
            let arm = draw(weights, run.actions.uniform() * total);
            run.state = Some(arm);
            if task.scores(r) {
                for (p, out) in run.score.iter_mut().enumerate() {
                    let slopes = &slopes[p * differentiated + row..][..arms];
                    *out += score(weights, slopes, arm, total);
                }
                row += arms;
            }
        }
        Ok(())
    }
}

impl<P: JointKernel> Player for Joint<P> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let (arms, dim, marks) = (job.problem.arms, self.dim(), job.marks.len());
        let armed = instances::armed(job)?;
        let mut means = vec![0.0; arms * out.outcomes.len()];
        instances::draw(job, armed, first, out.outcomes, &mut means)?;
        let around = Around::new(job, self.0.each_arm_once());
        let mut plays = Vec::with_capacity(out.outcomes.len());
        for (means, index) in means.chunks_exact(arms).zip(first..) {
            let mut schedule = around.schedule.clone();
            schedule.draw(job, index);
            let run = |r| {
                let actions = Random(Stream::new((), job.action_key(r), index));
                Run::new(&around, job, index, r, (None, actions, vec![0.0; dim]))
            };
            let (source, runs) =
                (Source::arms(job, armed, index, means), (0..job.task.runs()).map(run).collect());
            plays.push(Play { source, schedule, runs, optimal_reward: 0.0 });
        }
        out.gradients.fill(0.0);
        let (mut asked, mut mark) = (Asked::default(), 0);
        for t in 0..job.problem.horizon {
            plays.iter_mut().for_each(|play| play.look(job, &around, t));
            self.choose(job, t, &mut plays, &mut asked)?;
            for (i, play) in plays.iter_mut().enumerate() {
                let gradient = out.gradients.get_mut(i * dim..(i + 1) * dim).unwrap_or_default();
                play.pull(job, &around, t, gradient);
            }
            if job.marks.get(mark) == Some(&(t + 1)) {
                for (i, play) in plays.iter().enumerate() {
                    let mut so_far = Outcome::default();
                    play.settle(&mut so_far);
                    out.curves[i * marks + mark] = so_far.regret;
                }
                mark += 1;
            }
        }
        plays.iter().zip(out.outcomes).for_each(|(play, outcome)| play.settle(outcome));
        if let Task::Gradient(baseline, _) = job.task {
            let divisor = baseline.divisor(super::Centre::Sum);
            out.gradients.iter_mut().for_each(|out| *out /= divisor);
        }
        Ok(())
    }

    fn unscored(&self) -> Option<&'static str> {
        None
    }

    fn together(&self, job: &Job) -> usize {
        RUNS.div_ceil(job.chunk() * job.task.runs())
    }

    fn slowness(&self) -> f64 {
        SLOWNESS
    }
}

#[cfg(test)]
mod tests;
