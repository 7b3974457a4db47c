//! The deep Q-network (section 7.3) among the other policies; it is in [`crate::simulate::q_network`].

use crate::policy::choice::Choice;
use crate::policy::definition::{Definition, Learns, Worlds, unit_rewards_only};
use crate::policy::params::{Allowed, Param, Setting};
use crate::simulate::q_network::{Dqn, QPlayer};

const HIDDEN: usize = 64;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "dqn",
    summary: "a deep Q-network on counts of ones and zeros, trained by Q-learning: a comparator",
    params: &[
        Param::weights("W1", |choice| vec![network(choice).hidden, network(choice).inputs()]),
        Param::weights("b1", |choice| vec![network(choice).hidden]),
        Param::weights("W2", |choice| vec![network(choice).hidden, network(choice).hidden]),
        Param::weights("b2", |choice| vec![network(choice).hidden]),
        Param::weights("W3", |choice| vec![choice.arms(), network(choice).hidden]),
        Param::weights("b3", |choice| vec![choice.arms()]),
    ],
    settings: &[
        Setting {
            name: "hidden",
            allowed: Allowed::Count { low: 1, high: 4096, default: HIDDEN },
            summary: "units of each of the two hidden layers",
        },
        Setting {
            name: "time",
            allowed: Allowed::Flag,
            summary: "does it see how many rounds remain? (the paper's does not)",
        },
    ],
    learns: Learns::QLearning,
    worlds: Worlds::Plain,
    refuses: unit_rewards_only,
    player: |problem, choice, _| {
        let params = choice.params().to_vec();
        Ok(Box::new(QPlayer { dqn: network(choice), params, horizon: problem.horizon }))
    },
    ..Definition::ARMS
};

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Dqn {
    let hidden = choice.count("hidden").unwrap_or(HIDDEN);
    Dqn { time: choice.flag("time"), ..Dqn::new(choice.arms(), hidden) }
}
