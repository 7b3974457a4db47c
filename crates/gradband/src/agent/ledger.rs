//! Decisions and what became of them: a reward counts at most once, however often and in whatever order it is reported.
//!
//! ```text
//! pending -> credited                      on arrival, if there are no windows
//! pending -> noted -> credited             with windows: when the window closes, in the order of decisions
//! pending -> silent (the default reward)   at that moment, if nothing was reported; what comes after it is late
//! pending -> withdrawn                     it was never shown, or was let go
//! ```

use super::state::MOST;
use crate::error::{Error, ErrorKind, Result, abridged};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// How long silence is waited for, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// From a decision until its window closes, in seconds.
    pub wait: f64,
    /// The reward of a decision of which nothing is reported.
    pub default_reward: f64,
}

/// What became of a reported reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It counts.
    Applied,
    /// It was reported before, with the same value, and counted once.
    Duplicate,
    /// Its window was closed: it is in the log, and was not learned.
    Late,
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Pending,
    Noted(f64),
    Credited(f64),
    Silent,
    Late(f64),
    Withdrawn,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub nonce: u32,
    pub arm: u32,
    /// Which of the policies that the agent has played.
    pub version: u32,
    pub round: u64,
    pub probability: f64,
    pub outcome: Outcome,
    /// When its window closes, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    #[serde(default, skip_serializing_if = "<[f64]>::is_empty")]
    pub context: Box<[f64]>,
    /// The id that it was given; else its id is made of nonce and number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<str>>,
}

impl Entry {
    pub fn is_open(&self) -> bool {
        matches!(self.outcome, Outcome::Pending | Outcome::Noted(_))
    }
}

/// Finished decisions are remembered for so many more, for rewards that are reported again.
const REMEMBERED: usize = 100_000;

/// The last decisions, by number. One that waits is let go when `limit` newer ones are there, unless its window is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub window: Option<Window>,
    pub limit: usize,
    /// The number of the first entry.
    first: u64,
    /// The number of the first whose window is not closed.
    open: u64,
    /// The latest time that was told.
    pub now: Option<f64>,
    entries: VecDeque<Entry>,
    #[serde(skip)]
    given: HashMap<Box<str>, u64>,
    pub counts: Counts,
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rewards that count.
    pub credited: u64,
    /// Decisions that count as the default reward.
    pub silent: u64,
    /// Rewards that were reported again.
    pub duplicates: u64,
    /// Rewards after their window.
    pub late: u64,
    /// Decisions that were withdrawn.
    pub withdrawn: u64,
    /// Decisions that were let go without a reward, because too many newer ones were made.
    pub let_go: u64,
    /// Decisions made after the horizon.
    pub beyond_horizon: u64,
    /// Contexts with a value outside the range that the policy was trained with.
    pub outside: u64,
}

impl Ledger {
    pub fn new(limit: usize) -> Self {
        Self {
            window: None,
            limit,
            first: 0,
            open: 0,
            now: None,
            entries: VecDeque::new(),
            given: HashMap::new(),
            counts: Counts::default(),
        }
    }

    /// After a load: what is not stored.
    pub fn index(&mut self) {
        let given = self.entries.iter().zip(self.first..);
        self.given = given.filter_map(|(entry, number)| entry.given.clone().map(|id| (id, number))).collect();
    }

    /// Is every arm and version of the entries among so many, and its context of so many features?
    pub fn fits(&self, arms: usize, versions: usize, dim: usize) -> bool {
        let fits = |entry: &Entry| {
            (entry.arm as usize) < arms
                && (entry.version as usize) < versions
                && entry.context.len() == dim
                && entry.probability > 0.0
                && entry.probability <= 1.0
        };
        let Counts { credited, silent, duplicates, late, withdrawn, let_go, beyond_horizon, outside } =
            self.counts;
        let counts =
            [credited, silent, duplicates, late, withdrawn, let_go, beyond_horizon, outside, self.first];
        counts.iter().all(|&count| count <= MOST)
            && self.open >= self.first
            && self.open <= self.next()
            && self.entries.iter().all(fits)
    }

    /// The number of the next decision.
    pub fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        (self.first..).zip(&self.entries)
    }

    /// The bytes that decisions take: about a hundred each, and their contexts and ids.
    pub fn memory(&self) -> usize {
        let given: usize = self.given.keys().map(|id| 2 * id.len() + 2 * size_of::<(Box<str>, u64)>()).sum();
        let contexts: usize = self.entries.iter().map(|entry| size_of_val(&*entry.context)).sum();
        self.entries.capacity() * size_of::<Entry>() + contexts + given
    }

    /// How many decisions of each arm wait for their rewards.
    pub fn pending(&self, arms: usize) -> Vec<u64> {
        let mut pending = vec![0; arms];
        let open = self.entries.iter().filter(|entry| entry.is_open());
        open.for_each(|entry| pending[entry.arm as usize] += 1);
        pending
    }

    /// The id of a decision.
    pub fn id(number: u64, entry: &Entry) -> String {
        match &entry.given {
            Some(id) => id.to_string(),
            None => made_id(entry.nonce, number),
        }
    }

    /// The decision with that id, if it is remembered.
    pub fn find(&self, id: &str) -> Option<u64> {
        if let Some((nonce, number)) = read_id(id)
            && let Some(entry) = self.get(number)
            && (entry.nonce, &entry.given) == (nonce, &None)
        {
            return Some(number);
        }
        self.given.get(id).copied()
    }

    /// The same; an error if there never was one, nothing if it was forgotten.
    pub fn known(&self, id: &str, nonces: &[u32]) -> Result<Option<u64>> {
        if let Some(number) = self.find(id) {
            return Ok(Some(number));
        }
        match read_id(id) {
            Some((nonce, number)) if number < self.first && nonces.contains(&nonce) => Ok(None),
            _ => Err(Error::of("id", ErrorKind::UnknownDecision { id: abridged(id) })),
        }
    }

    pub fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub fn set(&mut self, number: u64, outcome: Outcome) {
        if let Some(entry) = self.entries.get_mut((number - self.first) as usize) {
            entry.outcome = outcome;
        }
    }

    pub fn push(&mut self, entry: Entry) {
        if let Some(id) = &entry.given {
            self.given.insert(id.clone(), self.next());
        }
        self.entries.push_back(entry);
    }

    /// Forgets the oldest decision if there are too many.
    pub fn forget(&mut self) -> Option<Entry> {
        let closed = self.window.is_none() || self.first < self.open;
        let waits = self.entries.front()?.is_open();
        let most = if waits { self.limit } else { self.limit.min(REMEMBERED) };
        if self.entries.len() <= most || !closed {
            return None;
        }
        let entry = self.entries.pop_front()?;
        if let Some(id) = &entry.given {
            self.given.remove(id);
        }
        self.first += 1;
        self.open = self.open.max(self.first);
        Some(entry)
    }

    /// The first decision whose window has closed by now and is not closed yet; it is, from now on.
    pub fn close_next(&mut self) -> Option<u64> {
        let (number, now, wait) = (self.open, self.now?, self.window?.wait);
        let entry = self.entries.get_mut((number - self.first) as usize)?;
        // Decisions from before there were windows get one now.
        if *entry.until.get_or_insert(now + wait) > now {
            return None;
        }
        self.open += 1;
        Some(number)
    }

    /// What a reported reward changes, if anything: the next outcome, and whether it is new.
    pub fn report(&self, number: u64, reward: f64) -> Result<(Status, Option<Outcome>)> {
        let Some(entry) = self.get(number) else { return Ok((Status::Late, None)) };
        let conflict = |known: f64| {
            let kind = ErrorKind::Conflict { known: Some(known), found: reward };
            Err(Error::of("reward", kind))
        };
        match entry.outcome {
            Outcome::Pending if self.window.is_some() => Ok((Status::Applied, Some(Outcome::Noted(reward)))),
            Outcome::Pending => Ok((Status::Applied, Some(Outcome::Credited(reward)))),
            Outcome::Noted(known) | Outcome::Credited(known) | Outcome::Late(known) => {
                if known == reward {
                    Ok((Status::Duplicate, None))
                } else {
                    conflict(known)
                }
            }
            Outcome::Silent => Ok((Status::Late, Some(Outcome::Late(reward)))),
            Outcome::Withdrawn => {
                Err(Error::of("reward", ErrorKind::Conflict { known: None, found: reward }))
            }
        }
    }
}

/// `0a1b2c3d-17`: nonce and number. Written from the end, because it is asked for with every decision.
fn made_id(nonce: u32, number: u64) -> String {
    let mut id = [b'-'; 8 + 1 + 20];
    let (mut at, mut rest) = (id.len(), number);
    loop {
        at -= 1;
        id[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    at -= 1;
    for digit in 0..8 {
        at -= 1;
        id[at] = b"0123456789abcdef"[(nonce >> (4 * digit) & 15) as usize];
    }
    std::str::from_utf8(&id[at..]).unwrap_or_default().to_owned()
}

fn read_id(id: &str) -> Option<(u32, u64)> {
    let (nonce, number) = id.as_bytes().split_at_checked(8)?;
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'a'..=b'f' => Some(u32::from(byte - b'a' + 10)),
        _ => None,
    };
    let nonce = nonce.iter().try_fold(0, |nonce, &byte| Some(nonce << 4 | digit(byte)?))?;
    let [b'-', number @ ..] = number else { return None };
    // Only as it was written: no zeros in front.
    if number.is_empty() || (number.len() > 1 && number[0] == b'0') {
        return None;
    }
    let decimal =
        |sum: u64, &byte: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit(byte).filter(|&x| x < 10)?));
    Some((nonce, number.iter().try_fold(0, decimal)?))
}
