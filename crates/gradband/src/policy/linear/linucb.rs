//! LinUCB (Li et al., 2010): the largest upper confidence bound mu_i + alpha sqrt(v_i).

use super::{INTERCEPT, NOISE_SD, OFFSET, decider, noise_sd, player, ridge};
use crate::error::Result;
use crate::numeric::lanes::{Best, One, Real};
use crate::numeric::stream::Key;
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::definition::Definition;
use crate::policy::fit;
use crate::policy::params::{Allowed, Initial, Param, Range, Setting, SettingValue};
use crate::problem::{Instance, Problem, Split};
use crate::simulate::linear::{Draws, LinearKernel, Slopes, certain};

/// The least and the largest width that a search tries.
const FEASIBLE: (f64, f64) = (0.02, 20.0);

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "linucb",
    summary: "the largest upper confidence bound of a linear model",
    params: &[Param::number(
        "alpha",
        Initial::Setting("width", |problem, choice| match choice.word("width") {
            Some("tuned") => Ok(1.0),
            _ => paper_width(problem, choice),
        }),
        Range::new(0.0, 1e6),
        Range::new(FEASIBLE.0, FEASIBLE.1),
    )],
    settings: &[
        Setting {
            name: "width",
            allowed: Allowed::OneOf(&["paper", "tuned"]),
            summary: "where alpha comes from: the theory of the paper's comparison, or a search on training instances",
        },
        Setting {
            name: "ridge",
            allowed: Allowed::Number { low: 1e-6, high: 1e6, default: SettingValue::Auto },
            summary: "lambda of the ridge regression; auto: 1, or searched for with alpha if width=tuned",
        },
        NOISE_SD,
        INTERCEPT,
        OFFSET,
    ],
    player: |_, choice, _| Ok(player(LinUcb { alpha: choice.scalar("alpha")? }, choice)),
    decider: |_, choice, _| Ok(decider(LinUcb { alpha: choice.scalar("alpha")? }, choice)),
    fit: Some(tuned),
    ..Definition::CONTEXTS
};

/// Runs whose longest context is averaged, and numbers after which fewer are enough.
const NORM_RUNS: u64 = 100;
const NORM_NUMBERS: u64 = 20_000_000;

/// alpha = sigma sqrt(d ln((1 + n L² / lambda) n)), with L the longest context of a run (Abbasi-Yadkori, Pál and
/// Szepesvári, 2011, with delta = 1/n and the projection's determinant bounded).
fn paper_width(problem: &Problem, choice: &Choice) -> Result<f64> {
    let (dim, horizon) = (choice.dim() as f64, problem.mean_rounds() as f64);
    let mut instance = Instance::default();
    let mut total = 0.0;
    let numbers = (problem.horizon * choice.dim()) as u64;
    let runs = (NORM_NUMBERS / numbers.max(1)).clamp(1, NORM_RUNS);
    for index in 0..runs {
        problem.draw_contexts(Split::Train, Key::new(0), index, &mut instance)?;
        let square = |x: &[f32]| x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        total += instance.contexts.chunks_exact(choice.dim()).map(square).fold(0.0, f64::max);
    }
    let longest = total / runs as f64;
    let inside = (1.0 + horizon * longest / ridge(choice)) * horizon;
    Ok(noise_sd(problem, choice) * (dim * inside.ln()).sqrt())
}

/// Ridges and, in standard deviations of the noise, widths that the search begins with.
const RIDGES: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
const WIDTHS: [f64; 9] = [0.06, 0.11, 0.19, 0.34, 0.6, 1.1, 1.9, 3.4, 6.0];

/// The alpha, and the ridge unless it is said, with the least regret on training instances.
fn tuned(problem: &Problem, choice: &Choice, observer: &mut dyn Observer) -> Result<Choice> {
    let said = choice.number("ridge");
    let ridges = said.map_or(RIDGES.to_vec(), |ridge| vec![ridge]);
    let noise = noise_sd(problem, choice);
    let widths = WIDTHS.map(|width| (width * noise).clamp(FEASIBLE.0, FEASIBLE.1));
    let at = |[ridge, alpha]: [f64; 2]| {
        let ridged = choice.with(problem, "ridge", &ridge.clamp(1e-6, 1e6).to_string())?;
        ridged.with_params(problem, &[alpha.clamp(FEASIBLE.0, FEASIBLE.1)])
    };
    at(fit::searched_on_grid(problem, problem.cost(), [&ridges, &widths], at, observer)?)
}

/// LinUCB; the lowest arm on ties.
#[derive(Clone, Copy, Debug)]
pub struct LinUcb {
    /// Width of the bounds, in standard deviations.
    pub alpha: f64,
}

impl LinearKernel for LinUcb {
    fn draws(&self) -> Draws {
        Draws::None
    }

    fn learns_projection(&self) -> bool {
        false
    }

    fn unscored(&self) -> Option<&'static str> {
        Some(
            "plays the largest bound with certainty: there is no gradient (train searches for alpha instead)",
        )
    }

    #[inline(always)]
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], v: &[R], _: &[R], _: &mut Slopes<R>) -> R {
        let alpha = mu[0].lit(self.alpha);
        let mut best = Best::first(alpha.fma(v[0].sqrt(), mu[0]));
        for i in 1..mu.len() {
            best.offer(i, alpha.fma(v[i].sqrt(), mu[i]));
        }
        best.arm
    }

    fn is_certain(&self) -> bool {
        true
    }

    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]) {
        let mut slopes = Slopes { mean: &mut [], variance: &mut [], scalars: &mut [] };
        certain(self.act::<_, false>(mu, v, &[], &mut slopes).0 as usize, weights);
    }
}
