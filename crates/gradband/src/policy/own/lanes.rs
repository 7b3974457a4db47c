//! A multi-armed rule of one's own in lanes: the rule is asked lane by lane, in double precision; everything else, from
//! random numbers to exponentials, is done for all lanes at once.

use super::kernel::{OwnKernel, Room};
use crate::error::Result;
use crate::numeric::lanes::{Mask, Real, count_below, pick};
use crate::numeric::stream::Stream;
use crate::policy::rule::{Form, Rule};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use crate::simulate::{Job, Output, Player};
use std::cell::Cell;
use std::sync::Arc;

/// The most parameters: the engine is compiled for as many, and rules with fewer leave the rest alone.
pub(super) const MOST_PARAMS: usize = 4;
/// Below this a logit's weight is nothing, and an arm with a logit of minus infinity is never pulled.
const LEAST_LOGIT: f64 = -80.0;

/// A rule without its type, so that the engine is compiled once for all of them.
trait Asked: Send + Sync {
    fn dim(&self) -> usize;
    fn form(&self) -> Form;
    fn each_arm_once(&self) -> bool;
    fn check(&self) -> Result<()>;
    /// Notes that the rule broke its word.
    fn refuse(&self);
    /// Asks for the choice of every lane, and for derivatives if they are wanted.
    fn ask(&self, round: usize, arms: usize, rows: &mut Rows, with_slopes: bool);
}

/// What goes between lanes and the rule, a row of lanes for each number. A thread keeps it from choice to choice.
#[derive(Default)]
struct Rows {
    /// Pulls, sums and means of the arms.
    statistics: Vec<f64>,
    /// What the rule wrote for the arms.
    asked: Vec<f64>,
    /// For each parameter the derivatives of that.
    slopes: Vec<f64>,
    /// Where the rule computes.
    room: Room,
}

thread_local! {
    static ROWS: Cell<Rows> = Cell::default();
}

impl<R: Rule> Asked for OwnKernel<R> {
    fn dim(&self) -> usize {
        self.dim()
    }
    fn form(&self) -> Form {
        self.form
    }
    fn each_arm_once(&self) -> bool {
        self.each_arm_once
    }
    fn check(&self) -> Result<()> {
        self.check()
    }
    fn refuse(&self) {
        self.broken.note(false);
    }
    fn ask(&self, round: usize, arms: usize, rows: &mut Rows, with_slopes: bool) {
        let Rows { statistics, asked, slopes, room } = rows;
        let width = statistics.len() / (3 * arms);
        asked.resize(width * arms, 0.0);
        slopes.resize(width * arms * self.dim(), 0.0);
        self.furnish(room);
        for lane in 0..width {
            let seen = self.seen(round, &statistics[lane..], width);
            let write = |i, x| asked[i * width + lane] = x;
            if with_slopes {
                self.ask_with_slopes(&seen, room, write, |i, x| slopes[i * width + lane] = x);
            } else {
                self.ask(&seen, room, write);
            }
        }
    }
}

/// A row of numbers in lanes.
#[inline(always)]
fn row<R: Real>(token: R::Token, rows: &[f64], i: usize) -> R {
    let row = &rows[i * R::WIDTH..(i + 1) * R::WIDTH];
    R::from_fn(
        token,
        #[inline(always)]
        |lane| row[lane],
    )
}

/// A rule in lanes.
#[derive(Clone)]
struct OwnLanes {
    rule: Arc<dyn Asked>,
    dim: usize,
    form: Form,
    each_arm_once: bool,
}

impl ArmsKernel<MOST_PARAMS> for OwnLanes {
    const USES: Uses = Uses::All;
    const LONG: bool = false;
    const DRAWS: bool = true;

    #[inline(always)]
    fn each_arm_once(&self) -> bool {
        self.each_arm_once
    }

    /// Weights and cumulative weights.
    fn slots(&self, arms: usize) -> usize {
        2 * arms
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _: &mut Stream<R>,
        score: &mut [R; MOST_PARAMS],
    ) -> R {
        let arms = history.pulls.len();
        let token = history.pulls[0].token();
        let mut rows = ROWS.take();
        rows.statistics.resize(R::WIDTH * 3 * arms, 0.0);
        // A lane that has yet to try an arm does not follow the rule, which must not divide by zero for it.
        let least = R::splat(token, f64::from(u8::from(self.each_arm_once)));
        let pulls = history.pulls.iter().map(
            #[inline(always)]
            |pulls| pulls.max(least),
        );
        let statistics = pulls.chain(history.sums.iter().copied()).chain(history.means.iter().copied());
        for (row, lanes) in rows.statistics.chunks_exact_mut(R::WIDTH).zip(statistics) {
            lanes.write_to(row);
        }
        self.rule.ask(history.round, arms, &mut rows, SCORE);
        let u = history.uniform;
        let (weights, bounds) = own.split_at_mut(arms);
        let mut total = u.zero();
        let mut fine = u.zero().ge(u.zero());
        for (i, (weight, bound)) in weights.iter_mut().zip(bounds.iter_mut()).enumerate() {
            let asked: R = row(token, &rows.asked, i);
            *weight = match self.form {
                Form::Weights => {
                    fine = fine & asked.ge(u.zero());
                    asked
                }
                Form::Logits => {
                    fine = fine & u.zero().ge(asked);
                    R::select(asked.lt(u.lit(LEAST_LOGIT)), u.zero(), asked.exp())
                }
            };
            total = total + *weight;
            *bound = total;
        }
        let arm = count_below(&bounds[..arms - 1], u * total);
        if SCORE {
            for (p, score) in score.iter_mut().enumerate().take(self.dim) {
                let (mut slope, mut centre) = (u.zero(), u.zero());
                for (i, &weight) in weights.iter().enumerate() {
                    let own: R = row(token, &rows.slopes, p * arms + i);
                    // Zero times anything but a finite number is not zero.
                    fine = fine & (own * 0.0).is(0.0);
                    slope = R::select(arm.is(i as f32), own, slope);
                    centre = match self.form {
                        Form::Weights => centre + own,
                        Form::Logits => own.fma(weight, centre),
                    };
                }
                let slope = match self.form {
                    Form::Weights => slope / pick(weights, arm),
                    Form::Logits => slope,
                };
                *score = *score + slope - centre / total;
            }
        }
        ROWS.set(rows);
        if (!fine).any() {
            self.rule.refuse();
        }
        arm
    }
}

/// A rule in lanes as a player.
pub(super) struct OwnPlayer(Arms<OwnLanes, MOST_PARAMS>);

impl OwnPlayer {
    pub fn new<R: Rule>(kernel: OwnKernel<R>) -> Self {
        let rule: Arc<dyn Asked> = Arc::new(kernel);
        let (dim, form, each_arm_once) = (rule.dim(), rule.form(), rule.each_arm_once());
        Self(Arms(OwnLanes { rule, dim, form, each_arm_once }))
    }
}

impl Player for OwnPlayer {
    fn dim(&self) -> usize {
        self.0.0.dim
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let Output { outcomes, gradients, curves } = out;
        let mut all = vec![0.0; if gradients.is_empty() { 0 } else { outcomes.len() * MOST_PARAMS }];
        self.0.rollout(job, first, Output { outcomes, gradients: &mut all, curves })?;
        for (gradient, all) in
            gradients.chunks_exact_mut(self.dim().max(1)).zip(all.chunks_exact(MOST_PARAMS))
        {
            gradient.copy_from_slice(&all[..gradient.len()]);
        }
        self.0.0.rule.check()
    }

    fn unscored(&self) -> Option<&'static str> {
        None
    }

    #[cfg(test)]
    fn trajectory(&self, job: &Job, instance: u64, run: usize) -> Option<crate::simulate::Trajectory> {
        let mut whole = self.0.trajectory(job, instance, run)?;
        whole.scores.iter_mut().for_each(|score| score.truncate(self.dim()));
        Some(whole)
    }
}
