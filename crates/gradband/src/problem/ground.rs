//! What an evaluation stands on: instances drawn anew, past problems, or labelled rows.

use super::{Contextual, Prior, Problem, Split};
use crate::numeric::special::student_quantile;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Where the instances of an evaluation come from, and how many of them there are in truth: ten thousand simulations of
/// eighteen campaigns are eighteen observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Ground {
    /// Drawn anew from a distribution: each is an observation.
    Fresh,
    /// Past problems of a table.
    PastProblems {
        /// How many.
        count: usize,
        /// Were they kept from training?
        held_out: bool,
    },
    /// Rows of labelled data, from which rounds are drawn.
    Rows {
        /// How many.
        count: usize,
        /// Were they kept from training?
        held_out: bool,
    },
}

/// With fewer past problems Student's t is not to be trusted: what they gain is rarely normal (`tests/coverage.rs`).
const FEW: usize = 10;

impl Problem {
    /// What its evaluations stand on.
    ///
    /// ```
    /// use gradband::{Problem, problem::Ground};
    /// assert_eq!(Problem::named("bernoulli-2")?.ground(), Ground::Fresh);
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn ground(&self) -> Ground {
        if let Some(examples) = self.contextual().and_then(Contextual::examples) {
            let count = examples.rows(Split::HeldOut).len();
            return Ground::Rows { count, held_out: examples.is_split() };
        }
        match self.armed().map(|armed| &armed.prior) {
            Some(Prior::Table(table)) => {
                Ground::PastProblems { count: table.rows(Split::HeldOut).len(), held_out: table.is_split() }
            }
            _ => Ground::Fresh,
        }
    }
}

/// How much the gain of a policy varies from one past problem to the next, in parts of the rival's regret. That of tuned
/// SoftElim over Thompson sampling varied by 0.09 to 0.23 on Beta worlds of 2 to 6 arms (`tests/past.rs`); over policies that
/// are much worse, whose gains are larger too, by up to 0.54.
const SPREAD_OF_GAINS: f64 = 0.25;

impl Ground {
    /// The least gain that can be told from none, in parts of the regret: half the width of a 95 % interval of Student's t on
    /// the past problems, if gains vary between them by a quarter of the regret. Nothing where past problems do not limit it.
    pub fn least_gain(self) -> Option<f64> {
        match self {
            Self::PastProblems { count, .. } if count >= 2 => {
                let n = count as f64;
                Some(student_quantile(n - 1.0, 0.95) * SPREAD_OF_GAINS / n.sqrt())
            }
            _ => None,
        }
    }

    /// Were the instances kept from training?
    pub fn held_out(self) -> bool {
        match self {
            Self::Fresh => true,
            Self::PastProblems { held_out, .. } | Self::Rows { held_out, .. } => held_out,
        }
    }

    /// What whoever reads an interval should know.
    pub fn cautions(self) -> Vec<String> {
        let mut cautions = Vec::new();
        match self {
            Self::Fresh => {}
            Self::PastProblems { count, held_out } => {
                if !held_out {
                    cautions.push(
                        "training saw these very problems, so that its gain is too large: set holdout to keep some apart"
                            .into(),
                    );
                }
                if count < FEW {
                    let which = if held_out { "held-out " } else { "" };
                    let message =
                        format!("{count} {which}past problems are few: a verdict needs {FEW} at least; add more");
                    cautions.push(message);
                }
            }
            Self::Rows { held_out: false, .. } => cautions.push(
                "training drew from these very rows: the interval says nothing about other rows; set holdout to keep some \
                 apart"
                    .into(),
            ),
            Self::Rows { held_out: true, .. } => {
                cautions.push("the interval is that of simulations on these rows, and says nothing beyond them".into());
            }
        }
        cautions
    }
}

/// For example `18 held-out past problems`.
impl Display for Ground {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Fresh => write!(f, "instances drawn anew"),
            Self::PastProblems { count, held_out: true } => write!(f, "{count} held-out past problems"),
            Self::PastProblems { count, held_out: false } => {
                write!(f, "{count} past problems, the same as in training")
            }
            Self::Rows { count, held_out: true } => write!(f, "{count} held-out rows"),
            Self::Rows { count, held_out: false } => write!(f, "{count} rows, the same as in training"),
        }
    }
}
