//! An agent as text: one JSON object with the number of its format and a checksum.

use super::deciding::Agent;
use super::decision::After;
use super::ledger::Ledger;
use super::playable::{Playable, hex};
use super::state::State;
use super::weigh::Scratch;
use crate::error::{Error, Result};
use crate::numeric::stream::Key;
use crate::policy::{Catalogue, PolicyRecord, ProblemRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;

/// The number of the format, which every saved agent carries. Newer ones are refused, older ones are read: the first kept estimates
/// among the features, where a W of low rank loses their digits.
pub const FORMAT: u32 = 2;

/// The whole text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text<'a> {
    gradband_agent: u32,
    /// Of the text of the agent.
    sha256: String,
    #[serde(borrow)]
    agent: Cow<'a, RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<'a> {
    policy: Cow<'a, PolicyRecord>,
    problem: Cow<'a, ProblemRecord>,
    floor: f64,
    after: Option<After>,
    seed: Option<u64>,
    nonces: Cow<'a, [u32]>,
    versions: Cow<'a, [Arc<str>]>,
    state: Cow<'a, State>,
    ledger: Cow<'a, Ledger>,
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new("", message)
}

impl Agent {
    /// The agent as text: policy, statistics and pending decisions.
    pub fn save(&self) -> Result<String> {
        let saved = Saved {
            policy: Cow::Borrowed(self.policy.policy()),
            problem: Cow::Borrowed(self.policy.problem()),
            floor: self.floor,
            after: self.after,
            seed: self.seed,
            nonces: Cow::Borrowed(&self.nonces),
            versions: Cow::Borrowed(&self.versions),
            state: Cow::Borrowed(&self.state),
            ledger: Cow::Borrowed(&self.ledger),
        };
        let unwritable = |error: serde_json::Error| wrong(format!("cannot be written: {error}"));
        let agent = serde_json::value::to_raw_value(&saved).map_err(unwritable)?;
        let sha256 = hex(&Sha256::digest(agent.get()));
        let text = Text { gradband_agent: FORMAT, sha256, agent: Cow::Owned(agent) };
        Ok(serde_json::to_string(&text).map_err(unwritable)? + "\n")
    }

    /// The agent that a text holds. Without a seed of its own it explores on in another way than the one that was saved.
    pub fn load(text: &str) -> Result<Self> {
        Self::load_from(text, &Catalogue::default())
    }

    /// The same where the catalogue has rules of one's own.
    pub fn load_from(text: &str, catalogue: &Catalogue) -> Result<Self> {
        let (format, saved) = open(text)?;
        let Saved { floor, after, seed, nonces, versions, state, ledger, .. } = saved;
        let policy =
            Playable::from_records(saved.policy.into_owned(), saved.problem.into_owned(), catalogue)?;
        let (mut state, ledger, versions) = (state.into_owned(), ledger.into_owned(), versions.into_owned());
        policy.check_arms(state.arms.len())?;
        if format == 1 && state.is_sound(&policy) {
            state.follow(&policy);
        }
        let latest = versions.last().is_some_and(|version| **version == *policy.version());
        let fits = state.fits(&policy) && ledger.fits(state.arms.len(), versions.len(), policy.dim());
        let pending = || state.arms.iter().map(|arm| arm.pending).eq(ledger.pending(state.arms.len()));
        if !fits || !latest || nonces.is_empty() || !pending() {
            return Err(wrong("its parts do not belong together"));
        }
        let key = Key::new(seed.unwrap_or(0));
        let (nonces, scratch) = (nonces.into_owned(), Scratch::default());
        let mut agent = Self { policy, state, ledger, floor, after, key, seed, nonces, versions, scratch };
        agent.ledger.index();
        agent.state.look(&agent.policy);
        agent.renew();
        Ok(agent)
    }
}

/// Reads a text whose format and checksum are right.
fn open(text: &str) -> Result<(u32, Saved<'static>)> {
    #[derive(Deserialize)]
    struct Format {
        gradband_agent: Option<u32>,
    }
    let damaged = |error: serde_json::Error| wrong(format!("is damaged, or was cut off: {error}"));
    let format = match serde_json::from_str::<Format>(text).map_err(damaged)?.gradband_agent {
        Some(format @ 1..=FORMAT) => format,
        Some(other) => {
            let message = format!("found format {other}, this version reads up to {FORMAT}");
            return Err(Error::new("gradband_agent", message));
        }
        None => return Err(wrong("is not a saved agent: it has no key 'gradband_agent'")),
    };
    let whole: Text = serde_json::from_str(text).map_err(damaged)?;
    if hex(&Sha256::digest(whole.agent.get())) != whole.sha256 {
        return Err(Error::new("sha256", "is not that of the content: the text is damaged, or was edited"));
    }
    Ok((format, serde_json::from_str(whole.agent.get()).map_err(damaged)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Pull;
    use crate::policy::Choice;
    use crate::problem::Problem;

    /// The text with something else within, and a checksum that is right again.
    fn forged(text: &str, old: &str, new: &str) -> String {
        let inner = text.trim_end().split_once("\"agent\":").unwrap().1;
        let inner = inner.strip_suffix('}').unwrap();
        assert!(inner.contains(old), "{old} is not in {inner}");
        let inner = inner.replacen(old, new, 1);
        let sum = hex(&Sha256::digest(&inner));
        format!("{{\"gradband_agent\":{FORMAT},\"sha256\":\"{sum}\",\"agent\":{inner}}}")
    }

    /// A checksum keeps out damage, not intent.
    #[test]
    fn numbers_that_no_play_leaves_are_refused() {
        let problem = Problem::named("bernoulli-2").unwrap();
        let policy = Playable::new(&Choice::parse("exp3", &problem).unwrap(), &problem).unwrap();
        let mut agent = Agent::new(policy, ["a", "b"]).unwrap().seed(1);
        let decision = agent.pull(Pull::default()).unwrap();
        agent.update(&decision.id, 1.0).unwrap();
        let text = agent.save().unwrap();
        assert!(Agent::load(&forged(&text, "\"first\":0", "\"first\":0")).is_ok());
        for (old, new) in [
            ("\"pulls\":1", "\"pulls\":18446744073709551615"),
            ("\"ones\":1", "\"ones\":2"),
            ("\"sum\":1.0", "\"sum\":1e300"),
            ("\"first\":0", "\"first\":18446744073709551615"),
            ("\"counts\":{\"credited\":1", "\"counts\":{\"credited\":18446744073709551615"),
            ("\"restarts\":0", "\"restarts\":18446744073709551615"),
            ("\"name\":\"a\"", "\"name\":\"b\""),
            ("\"probability\":0.5", "\"probability\":0.0"),
        ] {
            let error = Agent::load(&forged(&text, old, new)).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some("its parts do not belong together"), "{new}");
        }
    }
}
