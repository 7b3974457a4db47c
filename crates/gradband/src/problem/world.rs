//! The world around a problem: rewards come late, every arm has a least share, and nobody knows when a run ends.
//!
//! It belongs to the problem, so that training and all comparators play in it alike. What a policy sees in it is what an
//! agent would show it: a pull counts at once, a mean is that of the rewards known so far, and an arm of which none is
//! known stands at the mean of past arms.

use super::MAX_HORIZON;
use super::keys::{Keys, Value};
use crate::error::{Error, ErrorKind, Result, count, within};
use std::fmt::{self, Display, Formatter};

/// How many further rounds are played before a reward is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// The same number for all rewards; with 0 a reward is known before the next round.
    Rounds(usize),
    /// A number of its own for each reward, from the geometric distribution on 0, 1, 2, … with this mean.
    Geometric {
        /// The mean number of rounds.
        mean: f64,
    },
}

impl From<usize> for Delay {
    fn from(rounds: usize) -> Self {
        Self::Rounds(rounds)
    }
}

/// The number of rounds of a run (the paper's n), known or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// Known.
    Fixed(usize),
    /// After each round the run ends with the same probability.
    Geometric {
        /// The mean number of rounds.
        mean: f64,
    },
    /// Any number of rounds between two, all equally likely.
    Uniform {
        /// The fewest rounds.
        from: usize,
        /// The most rounds.
        to: usize,
    },
}

impl From<usize> for Horizon {
    fn from(rounds: usize) -> Self {
        Self::Fixed(rounds)
    }
}

/// A geometric horizon has no end: what comes after all but this part of its rounds is left out.
const LEFT_OUT: f64 = 1e-3;

impl Horizon {
    /// The number of rounds that are simulated: all there can be, or all but a thousandth of those to be expected.
    pub fn rounds(self) -> usize {
        match self {
            Self::Fixed(rounds) => rounds,
            // The rounds after the n-th have the share (1 - 1/mean)^n of all.
            Self::Geometric { mean } => (LEFT_OUT.ln() / (-1.0 / mean).ln_1p()).ceil().max(1.0) as usize,
            Self::Uniform { to, .. } => to,
        }
    }

    /// The probability that a (0-based) round is played, P(N > t).
    pub fn weight(self, round: usize) -> f64 {
        match self {
            Self::Fixed(rounds) => f64::from(u8::from(round < rounds)),
            Self::Geometric { mean } => (1.0 - 1.0 / mean).powf(round as f64),
            Self::Uniform { from, .. } if round < from => 1.0,
            Self::Uniform { from, to } => to.saturating_sub(round) as f64 / (to - from + 1) as f64,
        }
    }

    /// The mean number of rounds.
    pub fn mean(self) -> f64 {
        match self {
            Self::Fixed(rounds) => rounds as f64,
            Self::Geometric { mean } => mean,
            Self::Uniform { from, to } => (from + to) as f64 / 2.0,
        }
    }

    /// The mean number of rounds that are still to come, this one among them, once a round is played: E[N - t | N > t].
    pub fn remaining(self, round: usize) -> f64 {
        match self {
            Self::Fixed(rounds) => rounds.saturating_sub(round) as f64,
            Self::Geometric { mean } => mean,
            Self::Uniform { from, to } if round < from => (from + to) as f64 / 2.0 - round as f64,
            Self::Uniform { to, .. } => (to.saturating_sub(round) as f64 + 1.0) / 2.0,
        }
    }

    /// The round in which a run is expected to end once a round is played; never the one before it.
    pub fn end(self, round: usize) -> usize {
        (round as f64 + self.remaining(round)).ceil() as usize
    }

    /// Is a run over before a (0-based) round? Nobody can say so, unless the end is known.
    pub(crate) fn is_over(self, round: usize) -> bool {
        matches!(self, Self::Fixed(rounds) if round >= rounds)
    }

    /// Is the number of rounds known?
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    fn check(self) -> Result<()> {
        match self {
            Self::Fixed(_) => Ok(()),
            Self::Geometric { mean } => {
                // So that the rounds that are simulated stay within the longest horizon.
                within("horizon.mean", mean, 1.0, MAX_HORIZON as f64 / 7.0).map(drop)
            }
            Self::Uniform { from, to } => {
                count("horizon.from", from, 1, to)?;
                count("horizon.to", to, from, MAX_HORIZON).map(drop)
            }
        }
    }

    /// A number of rounds, or a table with a `kind`.
    fn from_value(value: &Value) -> Result<Self> {
        let Value::Table(keys) = value else {
            return whole(value).map(Self::Fixed).ok_or_else(|| {
                let found = value.as_number().map_or(value.kind().into(), |x| x.to_string());
                let expected = "a whole number that is not negative, or a table such as { kind = \"geometric\", mean = 500 }";
                Error::new("horizon", format!("found {found}, expected {expected}"))
            });
        };
        let kinds = [("geometric", vec!["mean"]), ("uniform", vec!["from", "to"])];
        let within_horizon = |error: Error| error.within("horizon");
        let kind = keys.check_kind(&kinds, &["kind"]).map_err(within_horizon)?;
        let number = |key| {
            keys.needed(kind, key)?;
            let missing = || Error::of(key, ErrorKind::Missing(format!("kind = \"{kind}\" needs it")));
            keys.optional_count(key)?.ok_or_else(missing)
        };
        match kind {
            "geometric" => keys.number(kind, "mean").map(|mean| Self::Geometric { mean }),
            _ => number("from").and_then(|from| Ok(Self::Uniform { from, to: number("to")? })),
        }
        .map_err(within_horizon)
    }

    fn to_value(self) -> Value {
        match self {
            Self::Fixed(rounds) => rounds.into(),
            Self::Geometric { mean } => Keys::kind("geometric").with("mean", mean).into(),
            Self::Uniform { from, to } => Keys::kind("uniform").with("from", from).with("to", to).into(),
        }
    }
}

/// `200`, `geometric with mean 500` or `uniform from 100 to 1000`.
impl Display for Horizon {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Fixed(rounds) => rounds.fmt(f),
            Self::Geometric { mean } => write!(f, "geometric with mean {mean}"),
            Self::Uniform { from, to } => write!(f, "uniform from {from} to {to}"),
        }
    }
}

/// What makes a problem more than arms and rounds. The default is the textbook's world: every reward is known at once, any
/// arm may be left alone, the end is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// How late rewards are known.
    pub delay: Delay,
    /// Rewards become known at the end of each batch of so many rounds; 1 is no batches.
    pub batch: usize,
    /// The least probability of each arm in each round.
    pub floor: f64,
    /// How long a run is.
    pub horizon: Horizon,
}

impl World {
    /// The keys of a spec.
    pub(super) const KEYS: [&'static str; 4] = ["horizon", "delay", "batch", "floor"];

    /// The textbook's, with so many rounds.
    pub fn plain(horizon: impl Into<Horizon>) -> Self {
        Self { delay: Delay::Rounds(0), batch: 1, floor: 0.0, horizon: horizon.into() }
    }

    /// Is every reward known before the next round?
    pub fn is_prompt(&self) -> bool {
        self.delay == Delay::Rounds(0) && self.batch == 1
    }

    /// Is it the textbook's?
    pub fn is_plain(&self) -> bool {
        self.is_prompt() && self.floor == 0.0 && self.horizon.is_fixed()
    }

    /// The first round in which the reward of a round is known, if so many rounds are played before.
    pub(crate) fn known_in(&self, round: usize, delay: usize) -> usize {
        round
            .saturating_add(1)
            .saturating_add(delay)
            .checked_next_multiple_of(self.batch)
            .unwrap_or(usize::MAX)
    }

    /// Refuses what cannot be simulated with so many arms.
    pub(super) fn check(&self, arms: usize) -> Result<()> {
        self.horizon.check()?;
        let rounds = self.horizon.rounds();
        let unknown = "no reward would ever be known";
        match self.delay {
            // The first reward must be there before the last round.
            Delay::Rounds(delay) if delay > 0 && delay + 1 >= rounds => {
                let most = rounds.saturating_sub(2);
                let message = format!("found {delay}, expected at most {most} in {rounds} rounds: {unknown}");
                Err(Error::new("delay", message))
            }
            Delay::Rounds(_) => Ok(()),
            Delay::Geometric { mean } => within("delay.mean", mean, 0.0, rounds as f64).map(drop),
        }?;
        count("batch", self.batch, 1, rounds)?;
        let delay = if let Delay::Rounds(delay) = self.delay { delay } else { 0 };
        if self.batch > 1 && (delay + 1).next_multiple_of(self.batch) >= rounds {
            let after = if delay > 0 { format!(" with a delay of {delay}") } else { String::new() };
            let message = format!("found {}{after}, expected less in {rounds} rounds: {unknown}", self.batch);
            return Err(Error::new("batch", message));
        }
        let most = 1.0 / arms as f64;
        if !(0.0..=most).contains(&self.floor) {
            let message = format!(
                "found {}, expected a number from 0 to {most}: the least shares of {arms} arms are 1 at most together",
                self.floor
            );
            return Err(Error::new("floor", message));
        }
        Ok(())
    }

    /// What the keys of a spec say; no horizon if they have none.
    pub(super) fn from_keys(keys: &Keys) -> Result<(Self, Option<Horizon>)> {
        let horizon = keys.get("horizon").map(Horizon::from_value).transpose()?;
        let delay = match keys.get("delay") {
            None => Delay::Rounds(0),
            Some(Value::Table(delay)) => delay_table(delay).map_err(|error| error.within("delay"))?,
            Some(value) => whole(value).map(Delay::Rounds).ok_or_else(|| {
                let found = value.as_number().map_or(value.kind().into(), |x| x.to_string());
                Error::new(
                    "delay",
                    format!("found {found}, expected a whole number of rounds, or {{ mean = 20 }}"),
                )
            })?,
        };
        let batch = keys.optional_count("batch")?.unwrap_or(1);
        let floor = keys.optional_number("floor")?.unwrap_or(0.0);
        Ok((Self { delay, batch, floor, ..Self::plain(0) }, horizon))
    }

    /// The keys that describe it.
    pub(crate) fn keys(self) -> Keys {
        let mut keys = Keys::default();
        self.to_keys(&mut keys);
        keys
    }

    /// The world that keys describe, with so many rounds unless they say otherwise, checked for so many arms.
    pub(crate) fn of_keys(keys: &Keys, horizon: usize, arms: usize) -> Result<Self> {
        if let Some(key) = keys.names().find(|key| !Self::KEYS.contains(key)) {
            return Err(Error::unknown(key, key, Self::KEYS));
        }
        let (world, said) = Self::from_keys(keys)?;
        let world = Self { horizon: said.unwrap_or(Horizon::Fixed(horizon)), ..world };
        world.check(arms).map(|()| world)
    }

    /// The keys that describe it; what is usual is left out, but the horizon.
    pub(super) fn to_keys(self, keys: &mut Keys) {
        keys.set("horizon", self.horizon.to_value());
        match self.delay {
            Delay::Rounds(0) => {}
            Delay::Rounds(rounds) => keys.set("delay", rounds),
            Delay::Geometric { mean } => keys.set("delay", Keys::default().with("mean", mean)),
        }
        if self.batch > 1 {
            keys.set("batch", self.batch);
        }
        if self.floor > 0.0 {
            keys.set("floor", self.floor);
        }
    }
}

/// `{ mean = 20 }`.
fn delay_table(keys: &Keys) -> Result<Delay> {
    if let Some(key) = keys.names().find(|&key| key != "mean") {
        return Err(Error::unknown(key, key, ["mean"]));
    }
    match keys.optional_number("mean")? {
        Some(mean) => Ok(Delay::Geometric { mean }),
        None => Err(Error::of(
            "mean",
            ErrorKind::Missing("a delay is a number of rounds, or { mean = 20 }".into()),
        )),
    }
}

fn whole(value: &Value) -> Option<usize> {
    match *value {
        Value::Whole(x) => usize::try_from(x).ok(),
        _ => None,
    }
}

/// For example `horizon 200, delay 20, floor 0.01`.
impl Display for World {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "horizon {}", self.horizon)?;
        match self.delay {
            Delay::Rounds(0) => {}
            Delay::Rounds(rounds) => write!(f, ", delay {rounds}")?,
            Delay::Geometric { mean } => write!(f, ", delay geometric with mean {mean}")?,
        }
        if self.batch > 1 {
            write!(f, ", batches of {}", self.batch)?;
        }
        if self.floor > 0.0 {
            write!(f, ", floor {}", self.floor)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition: sums over the probabilities of each length.
    #[test]
    fn weights_and_remaining_rounds_are_those_of_the_distribution() {
        let lengths = |horizon: Horizon| -> Vec<(usize, f64)> {
            match horizon {
                Horizon::Fixed(n) => vec![(n, 1.0)],
                Horizon::Uniform { from, to } => {
                    (from..=to).map(|n| (n, 1.0 / (to - from + 1) as f64)).collect()
                }
                Horizon::Geometric { mean } => {
                    let end = 1.0 / mean;
                    (1..2000).map(|n| (n, end * (1.0 - end).powi(n as i32 - 1))).collect()
                }
            }
        };
        let horizons = [
            Horizon::Fixed(7),
            Horizon::Uniform { from: 3, to: 9 },
            Horizon::Uniform { from: 4, to: 4 },
            Horizon::Geometric { mean: 12.5 },
            Horizon::Geometric { mean: 1.0 },
        ];
        for horizon in horizons {
            let lengths = lengths(horizon);
            let mean: f64 = lengths.iter().map(|&(n, p)| n as f64 * p).sum();
            assert!((mean - horizon.mean()).abs() < 1e-9, "{horizon}: {mean}");
            for t in 0..horizon.rounds() {
                let left = lengths.iter().filter(|&&(n, _)| n > t);
                let weight: f64 = left.clone().map(|&(_, p)| p).sum();
                assert!((weight - horizon.weight(t)).abs() < 1e-9, "{horizon}, round {t}: {weight}");
                let rounds: f64 = left.map(|&(n, p)| (n - t) as f64 * p).sum::<f64>() / weight;
                assert!((rounds - horizon.remaining(t)).abs() < 1e-6, "{horizon}, round {t}: {rounds}");
            }
            let total: f64 = (0..horizon.rounds()).map(|t| horizon.weight(t)).sum();
            assert!((1.0 - total / horizon.mean()).abs() <= LEFT_OUT, "{horizon}: {total}");
        }
    }

    #[test]
    fn rewards_are_known_after_their_delay_at_the_end_of_a_batch() {
        let world = |batch| World { batch, ..World::plain(100) };
        assert_eq!((0..3).map(|t| world(1).known_in(t, 0)).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(world(1).known_in(5, 20), 26);
        assert_eq!((0..6).map(|t| world(3).known_in(t, 0)).collect::<Vec<_>>(), [3, 3, 3, 6, 6, 6]);
        assert_eq!((0..4).map(|t| world(3).known_in(t, 1)).collect::<Vec<_>>(), [3, 3, 6, 6]);
    }
}
