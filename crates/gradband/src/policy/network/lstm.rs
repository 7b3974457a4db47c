//! The recurrent policy (section 5.4) among the others; the network is in [`crate::simulate::recurrent`].

use crate::error::Result;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now};
use crate::policy::definition::{Definition, Learns, Worlds, unit_rewards_only};
use crate::policy::params::{Allowed, Param, Setting};
use crate::simulate::recurrent::{Lstm, Reader, RecurrentPlayer, Sizes};

const SIZE: usize = 50;

const fn size(name: &'static str, summary: &'static str) -> Setting {
    Setting { name, allowed: Allowed::Count { low: 1, high: 4096, default: SIZE }, summary }
}

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "lstm",
    summary: "a recurrent network that learns its own exploration",
    params: &[
        Param::weights("arm_embedding", |choice| vec![choice.arms(), sizes(choice).embedding]),
        Param::weights("reward_embedding", |choice| vec![2, sizes(choice).embedding]),
        Param::weights("w_ih", |choice| vec![4 * sizes(choice).hidden, 2 * sizes(choice).embedding]),
        Param::weights("w_hh", |choice| vec![4 * sizes(choice).hidden, sizes(choice).hidden]),
        Param::weights("b", |choice| vec![4 * sizes(choice).hidden]),
        Param::weights("w_out", |choice| vec![choice.arms(), sizes(choice).hidden]),
        Param::weights("b_out", |choice| vec![choice.arms()]),
    ],
    settings: &[
        size("hidden", "units of the LSTM cell"),
        size("embedding", "length of the embeddings of arms and rewards"),
    ],
    learns: Learns::Recurrent,
    worlds: Worlds::Plain,
    refuses: unit_rewards_only,
    player: |_, choice, _| {
        Ok(Box::new(RecurrentPlayer { lstm: network(choice), params: choice.params().to_vec() }))
    },
    decider: |_, choice, _| Ok(Box::new(Reader::new(&network(choice), choice.params()))),
    ..Definition::ARMS
};

/// Remembers what the cell does.
impl Decide for Reader {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        self.weights(now.memory, weights);
        Ok(())
    }
    fn arms(&self) -> Option<usize> {
        Some(self.arms())
    }
    fn ends(&self) -> bool {
        true
    }
    fn start(&self, _: f64) -> Vec<f64> {
        self.fresh()
    }
    fn reads(&self) -> bool {
        true
    }
    fn read(&self, arm: usize, reward: f64, memory: &mut Vec<f64>) {
        self.step(arm, reward, memory);
    }
}

fn sizes(choice: &Choice) -> Sizes {
    let size = |name: &str| choice.count(name).unwrap_or(SIZE);
    Sizes { hidden: size("hidden"), embedding: size("embedding") }
}

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Lstm {
    Lstm::new(sizes(choice), choice.arms())
}
