//! The agent: decides, and learns what its decisions brought.

use super::decision::{After, Decision, Pull};
use super::ledger::{Entry, Ledger, Outcome, Status, Window};
use super::playable::Playable;
use super::state::{Credit, State};
use super::weigh::{Asking, Scratch};
use crate::error::{Error, ErrorKind, Place, Result, abridged, within};
use crate::numeric::stream::Key;
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Purposes of an agent's randomness.
const DECISIONS: u64 = 0;
const UNITS: u64 = 1;
pub(super) const ROUNDING: u64 = 2;
const COIN: u64 = 3;

/// Decisions that are waited for, unless another number is asked for.
const LIMIT: usize = 1_000_000;
/// The longest id, unit or name of an arm.
const LONGEST_NAME: usize = 1_000;

/// A policy that plays: `pull` decides, `update` reports a reward.
///
/// An agent can be sent to another thread, and shared by several in a `Mutex`: a decision takes hundreds of nanoseconds.
///
/// ```
/// use gradband::agent::Status;
/// use gradband::{Agent, Playable, Problem, Pull, policy::Choice};
/// let problem = Problem::named("bernoulli-2")?;
/// let policy = Playable::new(&Choice::parse("softelim(w=0.5)", &problem)?, &problem)?;
/// let mut agent = Agent::new(policy, ["red", "green", "blue"])?.floor(0.01).seed(7);
/// let decision = agent.pull(Pull::default())?;
/// assert!((decision.probability - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!(agent.update(&decision.id, 1.0)?, Status::Applied);
/// assert_eq!(agent.update(&decision.id, 1.0)?, Status::Duplicate);
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Debug)]
pub struct Agent {
    pub(super) policy: Playable,
    pub(super) state: State,
    pub(super) ledger: Ledger,
    pub(super) floor: f64,
    pub(super) after: Option<After>,
    /// What all randomness comes from: given, or another one in every copy.
    pub(super) key: Key,
    pub(super) seed: Option<u64>,
    /// Which copy made a decision: the last is this one.
    pub(super) nonces: Vec<u32>,
    /// Versions of the policies that were played: the last is this one.
    pub(super) versions: Vec<Arc<str>>,
    pub(super) scratch: Scratch,
}

impl Agent {
    /// An agent for arms of these names. Another number of arms than the policy was trained for is allowed where its parameters
    /// do not depend on it.
    pub fn new<T: Into<String>>(
        policy: impl Into<Playable>,
        arms: impl IntoIterator<Item = T>,
    ) -> Result<Self> {
        let policy = policy.into();
        let names: Vec<String> = arms.into_iter().map(Into::into).collect();
        for (i, name) in names.iter().enumerate() {
            check_name(Place::key("arms").index(i), name)?;
            if names[..i].contains(name) {
                let message = format!("found '{}' twice, expected other names", abridged(name));
                return Err(Error::new(Place::key("arms").index(i), message));
            }
        }
        if names.is_empty() {
            return Err(Error::new("arms", "found none, expected at least one"));
        }
        policy.check_arms(names.len())?;
        let (floor, version) = (policy.world().floor, policy.shared_version().clone());
        let mut agent = Self {
            state: State::new(&names, &policy, 0.0),
            policy,
            ledger: Ledger::new(LIMIT),
            floor,
            after: None,
            key: Key::new(0),
            seed: None,
            nonces: Vec::new(),
            versions: vec![version],
            scratch: Scratch::default(),
        };
        agent.renew();
        Ok(agent)
    }

    /// The least probability of every arm that may be pulled. By default that which the policy was trained with.
    #[must_use]
    pub fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    /// Makes everything that the agent draws a function of this number, so that it can be replayed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self.nonces.clear();
        self.rekey(seed);
        self
    }

    /// Silence means a reward: every decision is credited when its window closes. `at` is then needed in every [`Pull`].
    #[must_use]
    pub fn window(mut self, wait: f64, default_reward: f64) -> Self {
        self.ledger.window = Some(Window { wait, default_reward });
        self
    }

    /// What happens after the horizon. By default the policy goes on if its rule has a meaning there, else it commits.
    #[must_use]
    pub fn after(mut self, after: After) -> Self {
        self.after = Some(after);
        self
    }

    /// How many newer decisions a reward is waited for (a million if not said): the decision is then let go, its reward is late.
    /// Decisions with an open window are waited for in any case. What became of a finished one is remembered for 100,000 more.
    #[must_use]
    pub fn limit(mut self, decisions: usize) -> Self {
        self.ledger.limit = decisions.max(1);
        self
    }

    /// Draws another key, unless a seed was given: copies of a process must not draw the same numbers. A load does it; do it in
    /// a process that was forked.
    pub fn renew(&mut self) {
        if self.seed.is_none() {
            self.rekey(entropy());
        }
    }

    fn rekey(&mut self, seed: u64) {
        self.key = Key::new(seed);
        // Fifty-three random bits, of which thirty-two are used.
        self.nonces.push((self.key.uniform() * 2f64.powi(32)) as u32);
        if self.ledger.next() == 0 {
            self.state.memory = self.policy.decider().start(self.coin());
        }
    }

    pub(super) fn coin(&self) -> f64 {
        self.key.child(COIN).child(self.state.restarts).uniform()
    }

    /// The policy that plays.
    pub fn policy(&self) -> &Playable {
        &self.policy
    }

    /// Decides. Time, if it is given, goes on to `pull.at` first.
    pub fn pull(&mut self, pull: Pull) -> Result<Decision> {
        if let Some(at) = pull.at {
            self.advance(at)?;
        }
        if let Some(id) = &pull.id {
            check_name("id", id)?;
            if let Some(number) = self.ledger.find(id) {
                return self.decision(number);
            }
        }
        let until = self.until()?;
        let (x, outside) = pull.context.scaled(self.policy.problem())?;
        self.begin()?;
        let (arm, probability, round) = self.choose(&pull, &x)?;
        let number = self.ledger.next();
        let counts = &mut self.ledger.counts;
        counts.outside += u64::from(outside);
        counts.beyond_horizon += u64::from(self.policy.world().horizon.is_over(round));
        self.ledger.push(Entry {
            nonce: self.nonces.last().copied().unwrap_or(0),
            arm: arm as u32,
            version: self.versions.len() as u32 - 1,
            round: round as u64,
            probability,
            outcome: Outcome::Pending,
            until,
            context: x.into(),
            given: pull.id.map(Into::into),
        });
        while let Some(entry) = self.ledger.forget() {
            if entry.is_open() {
                self.state.withdraw(entry.arm as usize, &entry.context, &self.policy);
                self.ledger.counts.let_go += 1;
            }
        }
        self.decision(number)
    }

    /// Draws an arm and counts its pull: the arm, its probability, and the round.
    fn choose(&mut self, pull: &Pull, x: &[f64]) -> Result<(usize, f64, usize)> {
        let u = self.uniform(pull);
        let asking = Asking { policy: &self.policy, floor: self.floor, after: self.after };
        let scratch = &mut self.scratch;
        self.state.allowed(pull.arms.as_deref(), &mut scratch.which)?;
        asking.weigh(&self.state, x, scratch)?;
        let (mut bound, mut place) = (0.0, 0);
        for (i, p) in scratch.pi.iter().enumerate() {
            // Rounding may leave u beyond the last bound: the last arm that can be pulled has it.
            if *p > 0.0 {
                place = i;
            }
            bound += p;
            if u < bound {
                break;
            }
        }
        let (arm, round) = (scratch.which[place], self.state.round());
        if !self.state.memory.is_empty() {
            let mut memory = std::mem::take(&mut self.state.memory);
            self.policy.decider().pulled(&asking.now(&self.state, x, &[], scratch), &mut memory);
            self.state.memory = memory;
        }
        self.state.pull(arm, x, &scratch.seen);
        Ok((arm, scratch.pi[place], round))
    }

    /// The number that decides: that of the unit, else that of the decision.
    fn uniform(&self, pull: &Pull) -> f64 {
        match (&pull.unit, &pull.id) {
            (Some(unit), _) => self.key.child(UNITS).named(unit),
            (None, Some(id)) => self.key.child(DECISIONS).named(id),
            (None, None) => self.key.child(DECISIONS).child(self.ledger.next()),
        }
        .uniform()
    }

    /// When the window of a decision made now closes: never before that of an earlier one.
    fn until(&self) -> Result<Option<f64>> {
        let Some(Window { wait, default_reward }) = self.ledger.window else { return Ok(None) };
        within("wait", wait, f64::MIN_POSITIVE, f64::MAX)?;
        self.check_reward("default_reward", default_reward)?;
        let missing = || ErrorKind::Missing("with windows the agent must know the time of a decision".into());
        self.ledger.now.map(|now| Some(now + wait)).ok_or_else(|| Error::of("at", missing()))
    }

    /// After the horizon a new problem may begin, or nothing more.
    fn begin(&mut self) -> Result<()> {
        if !self.policy.world().horizon.is_over(self.state.round()) {
            return Ok(());
        }
        match self.after {
            Some(After::Restart) => {
                self.let_go();
                self.state.restarts += 1;
                let coin = self.coin();
                self.state.restart(&self.policy, coin);
                Ok(())
            }
            Some(After::Stop) => {
                let horizon = self.policy.problem().horizon;
                Err(Error::new(
                    "after",
                    format!("the horizon of {horizon} rounds is over, and the agent is to stop then"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Decisions of a problem that is over: their rewards are late.
    fn let_go(&mut self) {
        let open = self.ledger.entries().filter(|(_, entry)| entry.is_open());
        let open: Vec<u64> = open.map(|(number, _)| number).collect();
        self.ledger.counts.let_go += open.len() as u64;
        open.into_iter().for_each(|number| self.ledger.set(number, Outcome::Silent));
    }

    /// The probability of every arm that may be pulled, as [`Self::pull`] would draw from them.
    pub fn probabilities(&self, pull: &Pull) -> Result<Vec<(Arc<str>, f64)>> {
        let (x, _) = pull.context.scaled(self.policy.problem())?;
        let mut scratch = Scratch::default();
        self.state.allowed(pull.arms.as_deref(), &mut scratch.which)?;
        let asking = Asking { policy: &self.policy, floor: self.floor, after: self.after };
        let restarts =
            self.after == Some(After::Restart) && self.policy.world().horizon.is_over(self.state.round());
        if restarts {
            let mut fresh = self.state.clone();
            fresh.restart(&self.policy, 0.0);
            asking.weigh(&fresh, &x, &mut scratch)?;
        } else {
            asking.weigh(&self.state, &x, &mut scratch)?;
        }
        let named = scratch.which.iter().map(|&arm| self.state.arms[arm].name.clone());
        Ok(named.zip(scratch.pi).collect())
    }

    fn decision(&self, number: u64) -> Result<Decision> {
        let entry = self.ledger.get(number).ok_or_else(|| Error::new("id", "is forgotten"))?;
        Ok(Decision {
            id: Ledger::id(number, entry),
            arm: self.state.arms[entry.arm as usize].name.clone(),
            index: entry.arm as usize,
            probability: entry.probability,
            round: entry.round,
            version: self.versions[entry.version as usize].clone(),
            until: entry.until,
        })
    }

    /// Many decisions, one after the other.
    pub fn pull_many(&mut self, pulls: impl IntoIterator<Item = Pull>) -> Vec<Result<Decision>> {
        pulls.into_iter().map(|pull| self.pull(pull)).collect()
    }

    /// Time goes on to `at`: windows that have closed are credited, in the order of their decisions. It never goes back.
    pub fn advance(&mut self, at: f64) -> Result<()> {
        within("at", at, f64::MIN, f64::MAX)?;
        let Some(window) = self.ledger.window else { return Ok(()) };
        self.ledger.now = Some(self.ledger.now.map_or(at, |now| now.max(at)));
        while let Some(number) = self.ledger.close_next() {
            let Some(entry) = self.ledger.get(number) else { continue };
            let (reward, outcome) = match entry.outcome {
                Outcome::Pending => (window.default_reward, Outcome::Silent),
                Outcome::Noted(reward) => (reward, Outcome::Credited(reward)),
                _ => continue,
            };
            self.credit(number, reward);
            self.ledger.set(number, outcome);
            self.ledger.counts.silent += u64::from(outcome == Outcome::Silent);
        }
        Ok(())
    }

    /// Reports the reward of a decision.
    pub fn update(&mut self, id: &str, reward: f64) -> Result<Status> {
        self.check_reward("reward", reward)?;
        let number = self.ledger.known(id, &self.nonces)?;
        let (status, outcome) = match number {
            Some(number) => self.ledger.report(number, reward)?,
            None => (Status::Late, None),
        };
        if let (Some(number), Some(outcome)) = (number, outcome) {
            if let Outcome::Credited(_) = outcome {
                self.credit(number, reward);
            }
            self.ledger.set(number, outcome);
        }
        self.ledger.counts.duplicates += u64::from(status == Status::Duplicate);
        self.ledger.counts.late += u64::from(status == Status::Late);
        Ok(status)
    }

    /// Many rewards, by their decisions.
    pub fn update_many<'a>(
        &mut self,
        rewards: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Vec<Result<Status>> {
        rewards.into_iter().map(|(id, reward)| self.update(id, reward)).collect()
    }

    /// The reward of a decision counts.
    fn credit(&mut self, number: u64, reward: f64) {
        let Some(entry) = self.ledger.get(number) else { return };
        let one = match reward {
            ..=0.0 => false,
            1.0.. => true,
            _ => {
                let key = self.key.child(ROUNDING);
                let key = entry.given.as_ref().map_or_else(|| key.child(number), |id| key.named(id));
                key.uniform() < reward
            }
        };
        let (arm, context) = (entry.arm as usize, &*entry.context);
        let credit = Credit { arm, reward, one, probability: entry.probability, context };
        self.state.credit(&credit, &self.policy, &mut self.scratch.seen);
        self.ledger.counts.credited += 1;
    }

    pub(super) fn check_reward(&self, place: &str, reward: f64) -> Result<()> {
        let (low, high) =
            if self.policy.problem().unit_rewards() { (0.0, 1.0) } else { (f64::MIN, f64::MAX) };
        within(place, reward, low, high).map(drop)
    }

    /// A decision that was never shown: as if it had not been made.
    pub fn withdraw(&mut self, id: &str) -> Result<Status> {
        let Some(number) = self.ledger.known(id, &self.nonces)? else { return Ok(Status::Late) };
        let Some(entry) = self.ledger.get(number) else { return Ok(Status::Late) };
        match entry.outcome {
            Outcome::Pending | Outcome::Noted(_) => {
                self.state.withdraw(entry.arm as usize, &entry.context, &self.policy);
                self.ledger.set(number, Outcome::Withdrawn);
                self.ledger.counts.withdrawn += 1;
                Ok(Status::Applied)
            }
            Outcome::Withdrawn => Ok(Status::Duplicate),
            Outcome::Credited(reward) => {
                let message =
                    format!("its reward {reward} is learned already: it can no longer be withdrawn");
                Err(Error::new("id", message))
            }
            Outcome::Silent | Outcome::Late(_) => Ok(Status::Late),
        }
    }
}

thread_local! {
    /// Whose process drew the keys, the keys, and how often they were used.
    static ENTROPY: RefCell<Option<(u32, RandomState, u64)>> = const { RefCell::new(None) };
}

/// Bits that no other agent has. A thread draws its hash keys from the system once, and a process that was forked has a copy of
/// them: a thread that is new draws others.
fn entropy() -> u64 {
    ENTROPY.with_borrow_mut(|entropy| {
        let process = std::process::id();
        if entropy.as_ref().is_none_or(|(owner, ..)| *owner != process) {
            *entropy = Some((process, std::thread::spawn(RandomState::new).join().unwrap_or_default(), 0));
        }
        entropy.as_mut().map_or(0, |(_, keys, used)| {
            *used += 1;
            keys.hash_one(*used)
        })
    })
}

pub(super) fn check_name(place: impl Into<Place>, name: &str) -> Result<()> {
    if (1..=LONGEST_NAME).contains(&name.len()) {
        return Ok(());
    }
    Err(Error::new(place, format!("found {} bytes, expected 1 to {LONGEST_NAME}", name.len())))
}
