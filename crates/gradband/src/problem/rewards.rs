//! Reward models: the distribution of an arm's rewards given its mean. One model, one file, one line below.

mod own;

pub use own::Own;

use super::keys::Keys;
use crate::error::{Error, Result, within};
use crate::numeric::lanes::Real;

/// Draws rewards in lanes.
pub(crate) trait RewardModel: Copy {
    /// Any model, in any world; else one that has kernels of its own for the textbook's world.
    const ANY: bool = false;
    /// Whether all rewards are 0 or 1.
    fn binary(self) -> bool;
    /// The reward of (instance, round, arm).
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R;
}

/// A reward model with a name: what specs, checks and listings need of it.
pub(crate) trait NamedRewards: Sized + Clone {
    /// The name in a spec.
    const NAME: &'static str;
    /// Whether rewards are in [0, 1].
    const UNIT: bool;
    /// The keys in a spec, each a number with its least and largest value.
    const KEYS: &'static [(&'static str, f64, f64)];

    /// The model with these values of its keys, which are within their ranges.
    fn of(values: &[f64]) -> Self;
    /// The values of its keys.
    fn values(&self) -> Vec<f64>;
    /// The rewards in words: `rewards of 0 or 1`.
    fn describe(&self) -> String;
}

/// Declares the models, a file each, and everything that goes over all of them.
macro_rules! rewards {
    ($($file:ident::$model:ident),*) => {
        $(mod $file;)*
        $(pub use $file::$model;)*

        /// The distribution of an arm's rewards given its mean.
        #[derive(Clone, Debug)]
        pub enum Rewards {
            $(#[doc = concat!("See [`", stringify!($model), "`].")] $model($model),)*
            /// Drawn by the user's own code.
            Own(Own),
        }

        impl RewardModel for &Rewards {
            const ANY: bool = true;
            #[inline(always)]
            fn binary(self) -> bool {
                match self { $(Rewards::$model(model) => model.binary(),)* Rewards::Own(own) => own.binary() }
            }
            #[inline(always)]
            fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
                R::apart(
                    mean.token(),
                    #[inline(always)]
                    || match self {
                        $(Rewards::$model(model) => model.draw(word, arm, mean),)*
                        Rewards::Own(own) => own.draw(word, arm, mean),
                    },
                )
            }
        }

        impl Rewards {
            /// The names of all models that a spec can choose.
            pub const NAMES: &'static [&'static str] = &[$($model::NAME),*];

            /// The keys of the model of that name.
            pub fn keys(name: &str) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $(if name == $model::NAME { keys.extend($model::KEYS.iter().map(|&(key, ..)| key)); })*
                keys
            }

            /// The model of that name, from its keys.
            pub(super) fn from_keys(name: &str, keys: &Keys) -> Result<Self> {
                $(if name == $model::NAME {
                    let value = |&(key, low, high): &(&str, f64, f64)| within(key, keys.number(name, key)?, low, high);
                    let values = $model::KEYS.iter().map(value).collect::<Result<Vec<_>>>()?;
                    return Ok(Self::$model($model::of(&values)));
                })*
                Err(Error::unknown("kind", name, Self::NAMES.iter().copied()))
            }

            /// The keys of the model and their values.
            pub fn values(&self) -> Vec<(&'static str, f64)> {
                match self {
                    $(Self::$model(model) => $model::KEYS.iter().map(|&(key, ..)| key).zip(model.values()).collect(),)*
                    Self::Own(_) => Vec::new(),
                }
            }

            /// The name of the model in a spec; `own` for one's own code.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$model(_) => $model::NAME,)* Self::Own(_) => "own" }
            }

            /// Whether rewards are in [0, 1].
            pub fn unit(&self) -> bool {
                match self { $(Self::$model(_) => $model::UNIT,)* Self::Own(own) => own.unit() }
            }

            /// The rewards in words.
            pub fn describe(&self) -> String {
                match self { $(Self::$model(model) => model.describe(),)* Self::Own(_) => "rewards of your own".into() }
            }

            /// Refuses what was simulated with rewards that cannot be.
            pub(crate) fn check_drawn(&self) -> Result<()> {
                match self { Self::Own(own) => own.check_drawn(), _ => Ok(()) }
            }

            /// Refuses values that no reward can have.
            pub(super) fn check(&self) -> Result<()> {
                match self {
                    $(Self::$model(model) => {
                        for (&(key, low, high), x) in $model::KEYS.iter().zip(model.values()) {
                            within(key, x, low, high)?;
                        }
                        Ok(())
                    })*
                    Self::Own(_) => Ok(()),
                }
            }
        }

        $(impl From<$model> for Rewards {
            fn from(model: $model) -> Self {
                Self::$model(model)
            }
        })*
    };
}

rewards!(bernoulli::Bernoulli, beta::Beta, gaussian::Gaussian);
