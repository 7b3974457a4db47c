//! Users' own rules as policies of the catalogue: their definitions, their kernels, their derivatives.
//!
//! ```text
//! logits:   pi_i = exp(l_i - max l) / sum,  d log pi_a / d param = l_a' - sum_i pi_i l_i'
//! weights:  pi_i = w_i / sum,               d log pi_a / d param = w_a' / w_a - sum_i w_i' / sum
//! ```

use super::choice::Choice;
use super::definition::{Define, Plays, needs_each_arm_once};
use super::linear::{RANK, RIDGE, projection};
use super::params::{Param, Setting};
use super::rule::{Form, LinearRule, Rule, Seen};
use crate::error::{Error, ErrorKind, Result};
use crate::exact::{CountKernel, Part};
use crate::numeric::lanes::{One, Real};
use crate::numeric::special::exp;
use crate::numeric::stream::Random;
use crate::observe::Observer;
use crate::problem::Problem;
use crate::simulate::Player;
use crate::simulate::linear::{Draws, LinearChooser, LinearPlayer, Slopes};
use crate::simulate::plain::{Plain, PlainKernel, Round};
use num_dual::Dual64;
use std::sync::Arc;

/// A multi-armed rule among the other policies.
pub(super) struct OwnArms<R> {
    name: String,
    summary: String,
    params: Vec<Param>,
    rule: Arc<R>,
}

impl<R: Rule> OwnArms<R> {
    pub fn new(rule: R) -> Self {
        Self { name: rule.name(), summary: rule.summary(), params: rule.params(), rule: Arc::new(rule) }
    }
}

impl<R: Rule> Define for OwnArms<R> {
    fn name(&self) -> &str {
        &self.name
    }
    fn summary(&self) -> &str {
        &self.summary
    }
    fn params(&self) -> &[Param] {
        &self.params
    }
    fn plays(&self) -> Plays {
        Plays::Arms
    }
    fn refuses(&self, problem: &Problem) -> Option<String> {
        let each = || needs_each_arm_once(problem).filter(|_| self.rule.each_arm_once());
        self.rule.refuses(problem).or_else(each)
    }
    fn player(&self, problem: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Player>> {
        Ok(Box::new(Plain(OwnKernel::new(&self.rule, problem, choice)?)))
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn parts(&self, problem: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Option<Vec<Part>>> {
        OwnKernel::new(&self.rule, problem, choice).map(|kernel| Some(Part::only(kernel)))
    }
}

/// A rule at its parameters.
struct OwnKernel<R> {
    rule: Arc<R>,
    params: Vec<f64>,
    horizon: usize,
    arms: usize,
    form: Form,
    each_arm_once: bool,
}

/// What a rule computes for one choice; kept, so that a round allocates nothing.
pub(super) struct Scratch {
    logits: Vec<f64>,
    dual_logits: Vec<Dual64>,
    dual_params: Vec<Dual64>,
    /// d logit_i / d param_p at p K + i.
    slopes: Vec<f64>,
}

impl<R: Rule> OwnKernel<R> {
    fn new(rule: &Arc<R>, problem: &Problem, choice: &Choice) -> Result<Self> {
        let kernel = Self {
            rule: rule.clone(),
            params: choice.params().to_vec(),
            horizon: problem.horizon,
            arms: problem.arms,
            form: rule.form(),
            each_arm_once: rule.each_arm_once(),
        };
        kernel.check(choice)?;
        Ok(kernel)
    }

    /// Asks the rule once, for arms that were each pulled once: a rule that is not a number there is refused.
    fn check(&self, choice: &Choice) -> Result<()> {
        let (ones, halves) = (vec![1.0; self.arms], vec![0.5; self.arms]);
        let seen = Seen {
            round: self.arms.min(self.horizon - 1),
            horizon: self.horizon,
            pulls: &ones,
            sums: &halves,
            means: &halves,
        };
        let mut scratch = self.scratch();
        let total = self.weigh(&seen, &mut scratch);
        self.differentiate(&seen, &mut scratch);
        let known = scratch.logits.iter().chain(&scratch.slopes).all(|x| x.is_finite());
        if known && total > 0.0 {
            return Ok(());
        }
        let message = format!("{} gives logits or derivatives that are not finite numbers", choice.name());
        Err(Error::of("policy", ErrorKind::Invalid(message)))
    }

    fn scratch(&self) -> Scratch {
        let (arms, dim) = (self.arms, self.params.len());
        Scratch {
            logits: vec![0.0; arms],
            dual_logits: vec![Dual64::from(0.0); arms],
            dual_params: self.params.iter().map(|&x| Dual64::from(x)).collect(),
            slopes: vec![0.0; arms * dim],
        }
    }

    /// Logits become weights; their sum.
    #[inline(always)]
    fn weigh(&self, seen: &Seen, scratch: &mut Scratch) -> f64 {
        let logits = &mut scratch.logits;
        self.rule.logits::<f64>(&self.params, seen, logits);
        let mut total = 0.0;
        match self.form {
            Form::Weights => total = logits.iter().sum(),
            Form::Logits => {
                let mut top = logits[0];
                for &logit in &logits[1..] {
                    top = if logit > top { logit } else { top };
                }
                for logit in logits.iter_mut() {
                    *logit = exp(*logit - top);
                    total += *logit;
                }
            }
        }
        total
    }

    /// The derivatives of what the rule wrote, a parameter at a time.
    #[inline(always)]
    fn differentiate(&self, seen: &Seen, scratch: &mut Scratch) {
        let Scratch { dual_logits, dual_params, slopes, .. } = scratch;
        if self.rule.slopes(&self.params, seen, slopes) {
            return;
        }
        for p in 0..self.params.len() {
            dual_params[p].eps = 1.0;
            self.rule.logits::<Dual64>(dual_params, seen, dual_logits);
            dual_params[p].eps = 0.0;
            for (slope, logit) in slopes[p * self.arms..].iter_mut().zip(dual_logits.iter()) {
                *slope = logit.eps;
            }
        }
    }

    /// d log pi_a / d param_p, from weights and slopes.
    #[inline(always)]
    fn score(&self, arm: usize, total: f64, p: usize, scratch: &Scratch) -> f64 {
        let slopes = &scratch.slopes[p * self.arms..(p + 1) * self.arms];
        match self.form {
            Form::Logits => {
                let centre: f64 =
                    scratch.logits.iter().zip(slopes).map(|(weight, slope)| weight * slope).sum();
                slopes[arm] - centre / total
            }
            Form::Weights => slopes[arm] / scratch.logits[arm] - slopes.iter().sum::<f64>() / total,
        }
    }
}

impl<R: Rule> PlainKernel for OwnKernel<R> {
    type State = Scratch;

    fn dim(&self) -> usize {
        self.params.len()
    }

    fn start(&self, _: bool, _: &mut Random, _: &mut [f64]) -> Scratch {
        self.scratch()
    }

    #[inline(always)]
    fn act(
        &self,
        scratch: &mut Scratch,
        round: &Round,
        actions: &mut Random,
        score: Option<&mut [f64]>,
    ) -> usize {
        let seen = &round.seen;
        if self.each_arm_once && seen.round < self.arms {
            return seen.round;
        }
        let total = self.weigh(seen, scratch);
        let mark = actions.uniform() * total;
        let (mut bound, mut arm) = (0.0, 0);
        for &weight in &scratch.logits[..self.arms - 1] {
            bound += weight;
            arm += usize::from(mark >= bound);
        }
        if let Some(score) = score {
            self.differentiate(seen, scratch);
            for (p, out) in score.iter_mut().enumerate() {
                *out += self.score(arm, total, p, scratch);
            }
        }
        arm
    }
}

impl<R: Rule> CountKernel for OwnKernel<R> {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let round: u32 = pulls.iter().sum();
        let unpulled = crate::exact::index::unpulled(pulls);
        if let Some(arm) = unpulled.filter(|_| self.each_arm_once) {
            return crate::exact::index::certain(arm, pulls.len(), pi, dpi);
        }
        let numbers = |counts: &[u32]| counts.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (pulls, sums) = (numbers(pulls), numbers(successes));
        let means: Vec<f64> =
            pulls.iter().zip(&sums).map(|(&t, &s)| if t > 0.0 { s / t } else { 0.0 }).collect();
        let seen =
            Seen { round: round as usize, horizon: self.horizon, pulls: &pulls, sums: &sums, means: &means };
        let mut scratch = self.scratch();
        let total = self.weigh(&seen, &mut scratch);
        self.differentiate(&seen, &mut scratch);
        for (arm, p) in pi.iter_mut().enumerate() {
            *p = scratch.logits[arm] / total;
            for param in 0..self.params.len() {
                dpi[param * pulls.len() + arm] =
                    if *p > 0.0 { *p * self.score(arm, total, param, &scratch) } else { 0.0 };
            }
        }
    }
}

/// A contextual rule among the other policies.
pub(super) struct OwnLinear<R> {
    name: String,
    summary: String,
    params: Vec<Param>,
    rule: Arc<R>,
}

impl<R: LinearRule> OwnLinear<R> {
    pub fn new(rule: R) -> Self {
        let w = rule.learns_projection().then_some(Param::PROJECTION);
        let params = w.into_iter().chain(rule.params()).collect();
        Self { name: rule.name(), summary: rule.summary(), params, rule: Arc::new(rule) }
    }
}

impl<R: LinearRule> Define for OwnLinear<R> {
    fn name(&self) -> &str {
        &self.name
    }
    fn summary(&self) -> &str {
        &self.summary
    }
    fn params(&self) -> &[Param] {
        &self.params
    }
    fn settings(&self) -> &[Setting] {
        &[RIDGE, RANK]
    }
    fn plays(&self) -> Plays {
        Plays::Contexts
    }
    fn player(&self, _: &Problem, choice: &Choice, _: &mut dyn Observer) -> Result<Box<dyn Player>> {
        let learns_projection = self.rule.learns_projection();
        let first = if learns_projection { choice.rank() * choice.dim() } else { 0 };
        let params = choice.params()[first..].to_vec();
        let chooser = OwnChooser { rule: self.rule.clone(), params, learns_projection };
        Ok(Box::new(LinearPlayer::new(chooser, projection(choice))))
    }
}

/// A contextual rule at its parameters.
struct OwnChooser<R> {
    rule: Arc<R>,
    params: Vec<f64>,
    learns_projection: bool,
}

impl<R: LinearRule> OwnChooser<R> {
    /// The arm, and the derivatives of its log-probability by means, variances and parameters, one after the other.
    fn choose(&self, mu: &[f64], v: &[f64], u: f64, mut slopes: Option<&mut [f64]>) -> usize {
        let arms = mu.len();
        let mut weights = vec![0.0; arms];
        self.rule.logits::<f64>(&self.params, mu, v, &mut weights);
        let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|x| *x = exp(*x - top));
        let total: f64 = weights.iter().sum();
        let (mut bound, mut arm) = (0.0, 0);
        for &weight in &weights[..arms - 1] {
            bound += weight;
            arm += usize::from(u * total >= bound);
        }
        if let Some(slopes) = slopes.as_mut() {
            let dual = |x: &[f64]| x.iter().map(|&x| Dual64::from(x)).collect::<Vec<_>>();
            let mut inputs = [dual(mu), dual(v), dual(&self.params)];
            let mut logits = vec![Dual64::from(0.0); arms];
            let mut place = 0;
            for part in 0..inputs.len() {
                for i in 0..inputs[part].len() {
                    inputs[part][i].eps = 1.0;
                    self.rule.logits::<Dual64>(&inputs[2], &inputs[0], &inputs[1], &mut logits);
                    inputs[part][i].eps = 0.0;
                    let centre: f64 =
                        weights.iter().zip(&logits).map(|(weight, logit)| weight * logit.eps).sum();
                    let slope = logits[arm].eps - centre / total;
                    // At a variance of zero a root has no slope; nothing is learned there.
                    slopes[place] = if slope.is_finite() { slope } else { 0.0 };
                    place += 1;
                }
            }
        }
        arm
    }
}

impl<R: LinearRule> LinearChooser for OwnChooser<R> {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }
    fn learns_projection(&self) -> bool {
        self.learns_projection
    }
    fn scalars(&self) -> usize {
        self.params.len()
    }
    fn unscored(&self) -> Option<&'static str> {
        None
    }
    fn act_f32(
        &self,
        scored: bool,
        mu: &[One<f32>],
        v: &[One<f32>],
        draws: &[One<f32>],
        slopes: &mut Slopes<One<f32>>,
    ) -> usize {
        self.act(scored, mu, v, draws, slopes)
    }
    fn act_f64(
        &self,
        scored: bool,
        mu: &[One<f64>],
        v: &[One<f64>],
        draws: &[One<f64>],
        slopes: &mut Slopes<One<f64>>,
    ) -> usize {
        self.act(scored, mu, v, draws, slopes)
    }
}

impl<R: LinearRule> OwnChooser<R> {
    /// Rules compute in double precision, whatever the engine does.
    fn act<T: Real<Token = ()>>(
        &self,
        scored: bool,
        mu: &[T],
        v: &[T],
        draws: &[T],
        slopes: &mut Slopes<T>,
    ) -> usize {
        let plain = |x: &[T]| x.iter().map(|x| x.lane(0)).collect::<Vec<_>>();
        let (mu, v, u) = (plain(mu), plain(v), draws[0].lane(0));
        if !scored {
            return self.choose(&mu, &v, u, None);
        }
        let mut found = vec![0.0; 2 * mu.len() + self.params.len()];
        let arm = self.choose(&mu, &v, u, Some(&mut found));
        let parts = slopes.mean.iter_mut().chain(slopes.variance.iter_mut()).chain(slopes.scalars.iter_mut());
        for (out, x) in parts.zip(found) {
            *out = T::splat((), x);
        }
        arm
    }
}
