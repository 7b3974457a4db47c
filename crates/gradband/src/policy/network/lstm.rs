//! The recurrent policy (section 5.4) among the others; the network is in [`crate::simulate::recurrent`].

use crate::policy::choice::Choice;
use crate::policy::definition::{Definition, Learns, Worlds, unit_rewards_only};
use crate::policy::params::{Allowed, Param, Setting};
use crate::simulate::recurrent::{Lstm, RecurrentPlayer, Sizes};

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
    ..Definition::ARMS
};

fn sizes(choice: &Choice) -> Sizes {
    let size = |name: &str| choice.count(name).unwrap_or(SIZE);
    Sizes { hidden: size("hidden"), embedding: size("embedding") }
}

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Lstm {
    Lstm::new(sizes(choice), choice.arms())
}
