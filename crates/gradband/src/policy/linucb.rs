//! LinUCB (Li et al., 2010): the largest upper confidence bound mu_i + alpha sqrt(v_i).

use crate::baseline::{Baseline, Returns};
use crate::gradient::Estimator;
use crate::lanes::{Best, Real};
use crate::linear::{Draws, LinearPolicy, Score};
use crate::linear_agent::{AnyLinear, LinearAgent, NOISE_SD, RIDGE, noise_sd, ridge};
use crate::problem::{Instance, Problem, Split};
use crate::registry::{Allowed, Choice, Initial, ParamInfo, Plays, PolicyInfo, Range, SettingInfo, Trainer};
use crate::stream::Key;
use crate::train::{Settings, train};

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "linucb",
    summary: "the largest upper confidence bound of a linear model",
    params: &[ParamInfo::number(
        "alpha",
        Initial::Setting("width", |problem, choice| match choice.setting("width") {
            "tuned" => tuned(problem, choice),
            _ => paper_width(problem, choice),
        }),
        Range::new(0.0, 1e6),
        Range::new(0.02, 20.0),
    )],
    settings: &[
        SettingInfo {
            name: "width",
            allowed: Allowed::OneOf(&["paper", "tuned"]),
            summary: "where alpha comes from: the theory of the paper's comparison, or a search on training instances",
        },
        RIDGE,
        NOISE_SD,
    ],
    trainer: Trainer::Score,
    plays: Plays::Contexts,
    refuses: |_| None,
    build: |problem, choice| {
        let policy = LinUcb { alpha: choice.params[0] };
        LinearAgent::boxed(AnyLinear::LinUcb(policy), problem, choice)
    },
    exact: None,
    preparation: None,
};

/// Runs whose longest context is averaged.
const NORM_RUNS: u64 = 100;

/// alpha = sigma sqrt(d ln((1 + n L² / lambda) n)), with L the longest context of a run (Abbasi-Yadkori, Pál and
/// Szepesvári, 2011, with delta = 1/n and the projection's determinant bounded).
fn paper_width(problem: &Problem, choice: &Choice) -> f64 {
    let Some(contextual) = problem.contextual() else { return 1.0 };
    let (dim, horizon) = (contextual.dim() as f64, problem.horizon as f64);
    let mut instance = Instance::default();
    let mut total = 0.0;
    for index in 0..NORM_RUNS {
        contextual.sample(problem, Split::Train, Key::new(0), index, &mut instance);
        let square = |x: &[f32]| x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        total += instance.contexts.chunks_exact(contextual.dim()).map(square).fold(0.0, f64::max);
    }
    let longest = total / NORM_RUNS as f64;
    let inside = (1.0 + horizon * longest / ridge(choice)) * horizon;
    noise_sd(problem, choice) * (dim * inside.ln()).sqrt()
}

/// Nanoseconds that the search may take on one core.
const PATIENCE: f64 = 2e9;

/// The alpha with the least regret on training instances.
fn tuned(problem: &Problem, choice: &Choice) -> f64 {
    let values = 30;
    let runs = ((PATIENCE / problem.cost()) as usize / values).clamp(50, 1000);
    let estimator = Estimator { baseline: Baseline::None, returns: Returns::Mean, batch_size: runs };
    let settings = Settings { estimator, iterations: values, ..Settings::default() };
    let start = || {
        let initial = Choice::initial(&INFO, problem)?;
        let initial =
            initial.with(problem, "ridge", choice.setting("ridge"))?.with_params(problem, &[1.0])?;
        train(problem, &initial, &settings, 0, &mut ())
    };
    start().map_or(1.0, |trained| trained.policy.params[0])
}

/// LinUCB; the lowest arm on ties.
#[derive(Clone, Copy, Debug)]
pub struct LinUcb {
    /// Width of the bounds, in standard deviations.
    pub alpha: f64,
}

impl LinearPolicy for LinUcb {
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
    fn act<R: Real<Mask = bool>, const SCORE: bool>(
        &self,
        mu: &[R],
        v: &[R],
        _: &[R],
        _: &mut Score<R>,
    ) -> usize {
        let alpha = mu[0].lit(self.alpha);
        let mut best = Best::first(alpha.fma(v[0].sqrt(), mu[0]));
        for i in 1..mu.len() {
            best.offer(i, alpha.fma(v[i].sqrt(), mu[i]));
        }
        best.arm.indices()[0] as usize
    }
}
