//! Q-learning with a replay buffer, a target network and double estimates (van Hasselt et al., 2016).
//!
//! Episodes and updates follow one from the other, so that this process does them alone; a [`Crew`](crate::Crew) plays the
//! checks.

use super::kept::{self, kept};
use super::optimizer::{Climber, Optimizer, Rate};
use super::trained::Trained;
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::simd::vectorized;
use crate::numeric::stream::{Key, Stream};
use crate::observe::{Iteration, Observer, go_on, unless_stopped};
use crate::policy::{Choice, Described, q_network};
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::q_network::{
    Dqn, Errors, Network, QPlayer, Trace, WIDTH, WeightSums, count, greedy, play,
};
use crate::simulate::{Job, Task};
use crate::stop::StopReason;

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QLearning {
    /// Updates of the weights.
    pub updates: usize,
    /// Updates between two plays of 16 episodes.
    pub updates_per_play: usize,
    /// Episodes that the replay buffer holds, in multiples of 16.
    pub buffer: usize,
    /// Transitions per update, in multiples of 16.
    pub batch: usize,
    /// Adam's rate; it falls linearly to a tenth.
    pub rate: f64,
    /// Updates between two copies of the weights to the target network.
    pub target_period: usize,
    /// Rounds of realised rewards in a target, before the target network takes over.
    pub steps: usize,
    /// The probability of a random arm, in the first episode and after `epsilon_fraction` of the updates.
    pub epsilon: (f64, f64),
    /// The part of the updates over which epsilon falls.
    pub epsilon_fraction: f64,
    /// How often the network is checked; the best is kept.
    pub checks: usize,
    /// Training instances per check.
    pub check_instances: usize,
}

impl Default for QLearning {
    fn default() -> Self {
        Self {
            updates: 40_000,
            updates_per_play: 100,
            buffer: 1024,
            batch: 64,
            rate: 1e-3,
            target_period: 200,
            steps: 10,
            epsilon: (1.0, 0.05),
            epsilon_fraction: 0.3,
            checks: 10,
            check_instances: 2000,
        }
    }
}

/// What the updates are kept as.
const UPDATES: &str = "updates";
/// Training's randomness.
const LEARNING: u64 = 6;
/// Purposes within it.
const EPISODES: u64 = 0;
const CHECKS: u64 = 1;
const WEIGHTS: u64 = 2;
const REPLAY: u64 = 3;

impl QLearning {
    /// Trains a network on the training instances of a problem; the best of those checked is handed out.
    ///
    /// Rewards are measured from their mean under random play and divided by the root of the horizon: no choice of arms
    /// depends on either, and values are of the order of one.
    pub(super) fn train(
        &self,
        problem: &Problem,
        initial: &Choice,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let dqn = q_network(initial);
        let key = Key::new(seed).child(LEARNING);
        let start = random_weights(&dqn, key.child(WEIGHTS));
        let initial = initial.with_params(problem, &start)?;
        let mut learner = Learner::new(problem, &initial, self, key);
        let recalled = kept::recall(observer, UPDATES).filter(|state: &State| learner.fits(state));
        let mut state = recalled.unwrap_or_else(|| State::start(start));
        learner.resume(&state);
        let rate = Rate { initial: self.rate, end: 0.1, decay: 1.0 };
        let mut gradient = vec![0.0; dqn.len()];
        let mut reason = None;
        let (mut loss, mut since) = (0.0, 0);
        let check_period = self.updates.div_ceil(self.checks.max(1)).max(1);
        for update in state.update..self.updates {
            if update % self.updates_per_play.max(1) == 0 {
                if since > 0 {
                    let loss = Some(loss / since as f64);
                    let record = Iteration { iteration: update, params: None, gradient_norm: None, loss };
                    observer.iteration(&record, &state.params);
                    state.history.push(record);
                    state.update = update;
                    observer.offer(UPDATES, &|| kept::bytes(&state));
                    let going = go_on(observer, "training", "updates", update as u64, self.updates as u64);
                    reason = unless_stopped(going)?.err();
                    if reason.is_some() {
                        break;
                    }
                }
                (loss, since) = (0.0, 0);
                let fallen = update as f64 / (self.epsilon_fraction * self.updates as f64).max(1.0);
                let (from, to) = self.epsilon;
                learner.play(&mut state.buffer, from + (to - from) * fallen.min(1.0))?;
            }
            if update % self.target_period.max(1) == 0 {
                state.target.clone_from(&state.params);
                learner.target.set(&state.target);
            }
            loss += learner.gradient(&state.buffer, &mut gradient);
            since += 1;
            state.climber.step(&mut state.params, &gradient, rate.at(update, self.updates));
            learner.network.set(&state.params);
            if (update + 1) % check_period == 0 || update + 1 == self.updates {
                let regret = match unless_stopped(learner.check(&state.params, observer))? {
                    Ok(regret) => regret,
                    Err(why) => {
                        reason = Some(why);
                        break;
                    }
                };
                if state.best.as_ref().is_none_or(|(least, _)| regret < *least) {
                    state.best = Some((regret, state.params.clone()));
                }
            }
        }
        if reason.is_none() {
            state.update = self.updates;
            observer.keep(UPDATES, &|| kept::bytes(&state));
        }
        let State { params, best, history, .. } = state;
        let mut handed_out = best.map_or(params, |(_, params)| params);
        initial.project(problem, &mut handed_out);
        let policy = initial.with_params(problem, &handed_out)?;
        let stop_reason = reason.unwrap_or(StopReason::Iterations);
        let trained = Trained::new(initial, policy.clone(), policy);
        Ok(Trained { learning_rate: Some(self.rate), history, stop_reason, ..trained })
    }
}

/// Where training is, between two plays.
struct State {
    /// Updates that are done.
    update: usize,
    params: Vec<f64>,
    /// The weights of the target network.
    target: Vec<f64>,
    climber: Climber,
    buffer: Buffer,
    /// The least regret of a check, and its weights.
    best: Option<(f64, Vec<f64>)>,
    history: Vec<Iteration>,
}

kept!(State { update, params, target, climber, buffer, best, history });

impl State {
    fn start(params: Vec<f64>) -> Self {
        Self {
            update: 0,
            target: params.clone(),
            climber: Climber::new(Optimizer::Adam, Some(10.0), params.len()),
            params,
            buffer: Buffer { tapes: Vec::new(), played: 0, centre: 0.0 },
            best: None,
            history: Vec::new(),
        }
    }
}

/// The last episodes; states follow from arms and rewards.
struct Buffer {
    tapes: Vec<Tape>,
    /// Tapes that were played in all.
    played: usize,
    /// What is taken from rewards.
    centre: f32,
}

kept!(Buffer { tapes, played, centre });

/// Uniform weights whose layers keep the scale of what passes through (He et al., 2015); no biases.
fn random_weights(dqn: &Dqn, key: Key) -> Vec<f64> {
    let mut stream = Stream::<One<f64>>::new((), key, 0);
    let mut params = vec![0.0; dqn.len()];
    for piece in dqn.layout().into_iter().filter(|piece| piece.columns > 1) {
        let bound = (6.0 / piece.columns as f64).sqrt();
        params[piece.range].fill_with(|| bound * (2.0 * stream.uniform().0 - 1.0));
    }
    params
}

/// Arms and rewards of 16 episodes, round by round.
type Tape = Vec<(u32, f32)>;

struct Learner<'a> {
    problem: &'a Problem,
    initial: &'a Choice,
    settings: &'a QLearning,
    key: Key,
    network: Network,
    target: Network,
    replay: Stream<One<f64>>,
    /// What rewards are multiplied by.
    scale: f32,
    now: Trace,
    next: Trace,
    target_next: Trace,
    errors: Errors,
    gradient: WeightSums,
}

impl<'a> Learner<'a> {
    fn new(problem: &'a Problem, initial: &'a Choice, settings: &'a QLearning, key: Key) -> Self {
        let dqn = &q_network(initial);
        let network = Network::new(dqn, initial.params());
        Self {
            problem,
            initial,
            settings,
            key,
            target: network.clone(),
            network,
            replay: Stream::new((), key.child(REPLAY), 0),
            scale: 1.0 / (problem.horizon as f32).sqrt(),
            now: Trace::new(dqn),
            next: Trace::new(dqn),
            target_next: Trace::new(dqn),
            errors: Errors::new(dqn),
            gradient: WeightSums::new(dqn),
        }
    }

    fn job(&self, purpose: u64) -> Job<'a> {
        Job::new(self.problem, self.key.child(purpose), Split::Train, Task::Evaluate)
    }

    /// Transitions of an update, in chunks of 16.
    fn chunks(&self) -> usize {
        self.settings.batch.div_ceil(WIDTH).max(1)
    }

    /// Tapes that the buffer holds.
    fn capacity(&self) -> usize {
        self.settings.buffer.div_ceil(WIDTH).max(1)
    }

    /// Is it a state of this training?
    fn fits(&self, state: &State) -> bool {
        let (dim, Buffer { tapes, played, .. }) = (self.network.dqn.len(), &state.buffer);
        let known = |&(arm, _): &(u32, f32)| (arm as usize) < self.problem.arms;
        let whole = |tape: &Tape| tape.len() == WIDTH * self.problem.horizon && tape.iter().all(known);
        let best = state.best.as_ref().is_none_or(|(_, params)| params.len() == dim);
        let weights = state.params.len() == dim && state.target.len() == dim && state.climber.fits(dim);
        let plays = state.update.div_ceil(self.settings.updates_per_play.max(1));
        let buffer = tapes.len() == self.capacity().min(*played) && tapes.iter().all(whole);
        let history = kept::are_records(&state.history, self.settings.updates, dim);
        best && weights && buffer && history && *played == plays && state.update <= self.settings.updates
    }

    /// Goes on from there: every transition was drawn by one number.
    fn resume(&mut self, state: &State) {
        self.network.set(&state.params);
        self.target.set(&state.target);
        for _ in 0..state.update * self.chunks() * WIDTH {
            self.replay.uniform();
        }
    }

    /// Plays 16 new episodes into the buffer.
    fn play(&mut self, buffer: &mut Buffer, epsilon: f64) -> Result<()> {
        let (job, first) = (self.job(EPISODES), (buffer.played * WIDTH) as u64);
        let mut tape = Tape::with_capacity(WIDTH * self.problem.horizon);
        vectorized(
            #[inline(always)]
            || {
                let tape = |arm: usize, reward: f32| tape.push((arm as u32, reward));
                play(&self.network, &job, self.problem.horizon, first, epsilon as f32, &mut [], tape)
            },
        )?;
        if buffer.played == 0 {
            let total: f64 = tape.iter().map(|&(_, reward)| f64::from(reward)).sum();
            buffer.centre = (total / tape.len() as f64) as f32;
        }
        match buffer.tapes.get_mut(buffer.played % self.capacity()) {
            Some(old) => *old = tape,
            None => buffer.tapes.push(tape),
        }
        buffer.played += 1;
        Ok(())
    }

    /// Mean regret on the instances of the checks.
    fn check(&self, params: &[f64], observer: &mut dyn Observer) -> Result<f64> {
        let player =
            QPlayer { dqn: self.network.dqn, params: params.to_vec(), horizon: self.problem.horizon };
        let player = Described { description: self.initial.description(params), player };
        let instances = self.settings.check_instances;
        Ok(batch::means(&[&player], &self.job(CHECKS), instances, Quantity::Regret, observer)?[0])
    }

    /// Writes the direction in which the loss of a batch of old transitions falls; returns the loss.
    fn gradient(&mut self, buffer: &Buffer, out: &mut [f64]) -> f64 {
        let chunks = self.chunks();
        let mut loss = 0.0;
        for _ in 0..chunks {
            let transitions: [Transition; WIDTH] = std::array::from_fn(|lane| self.recall(buffer, lane));
            loss += vectorized(
                #[inline(always)]
                || self.learn(&transitions),
            );
        }
        let size = (chunks * WIDTH) as f64;
        self.gradient.take(-1.0 / size, out);
        loss / size
    }

    /// Draws a transition from the buffer, and shows its states to the networks.
    fn recall(&mut self, buffer: &Buffer, lane: usize) -> Transition {
        let (arms, horizon) = (self.problem.arms, self.problem.horizon);
        let episodes = buffer.tapes.len() * WIDTH;
        let index = (self.replay.uniform().0 * (episodes * horizon) as f64) as usize;
        let (episode, round) = ((index / horizon).min(episodes - 1), index % horizon);
        let mut rounds = buffer.tapes[episode / WIDTH][episode % WIDTH..].iter().step_by(WIDTH);
        let mut counts = vec![[0.0; 2]; arms];
        for &(arm, reward) in rounds.by_ref().take(round) {
            count(&mut counts[arm as usize], reward);
        }
        let dqn = self.network.dqn;
        dqn.observe(&counts, round, horizon, lane, self.now.inputs());
        let end = (round + self.settings.steps.max(1)).min(horizon);
        let mut transition = Transition { arm: 0, reward: 0.0, last: end == horizon };
        for (i, &(arm, reward)) in rounds.take(end - round).enumerate() {
            transition.arm = if i == 0 { arm as usize } else { transition.arm };
            transition.reward += (reward - buffer.centre) * self.scale;
            count(&mut counts[arm as usize], reward);
        }
        dqn.observe(&counts, end, horizon, lane, self.next.inputs());
        dqn.observe(&counts, end, horizon, lane, self.target_next.inputs());
        transition
    }

    /// Adds the gradient of the recalled transitions; returns their loss.
    #[inline(always)]
    fn learn(&mut self, transitions: &[Transition; WIDTH]) -> f64 {
        self.network.forward(&mut self.next);
        self.target.forward(&mut self.target_next);
        let values = self.network.forward(&mut self.now);
        let errors = self.errors.values();
        errors.fill([0.0; WIDTH]);
        let mut loss = 0.0;
        for (lane, transition) in transitions.iter().enumerate() {
            let best = greedy(self.next.values(), lane);
            let future = if transition.last { 0.0 } else { self.target_next.values()[best][lane] };
            let excess = values[transition.arm][lane] - (transition.reward + future);
            errors[transition.arm][lane] = excess.clamp(-1.0, 1.0);
            loss += f64::from(huber(excess));
        }
        self.network.backward(&self.now, &mut self.errors, &mut self.gradient);
        loss
    }
}

/// What follows a state, apart from the next state.
struct Transition {
    arm: usize,
    reward: f32,
    /// Does the episode end with it?
    last: bool,
}

/// Half the square, and linear beyond one.
fn huber(x: f32) -> f32 {
    if x.abs() <= 1.0 { 0.5 * x * x } else { x.abs() - 0.5 }
}
