//! The deep Q-network (section 7.3) among the other policies; it is in [`crate::dqn`].

use crate::dqn::{Dqn, Player};
use crate::registry::{
    Allowed, Choice, ParamInfo, Plays, PolicyInfo, SettingInfo, Trainer, unit_rewards_only,
};

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "dqn",
    summary: "a deep Q-network on counts of ones and zeros, trained by Q-learning: a comparator",
    params: &[
        ParamInfo::weights("W1", |choice| vec![network(choice).hidden, network(choice).inputs()]),
        ParamInfo::weights("b1", |choice| vec![network(choice).hidden]),
        ParamInfo::weights("W2", |choice| vec![network(choice).hidden, network(choice).hidden]),
        ParamInfo::weights("b2", |choice| vec![network(choice).hidden]),
        ParamInfo::weights("W3", |choice| vec![choice.arms(), network(choice).hidden]),
        ParamInfo::weights("b3", |choice| vec![choice.arms()]),
    ],
    settings: &[
        SettingInfo {
            name: "hidden",
            allowed: Allowed::Count { low: 1, high: 4096, default: "64" },
            summary: "units of each of the two hidden layers",
        },
        SettingInfo {
            name: "time",
            allowed: Allowed::OneOf(&["false", "true"]),
            summary: "does it see how many rounds remain? (the paper's does not)",
        },
    ],
    trainer: Trainer::QLearning,
    plays: Plays::Arms,
    refuses: unit_rewards_only,
    build: |problem, choice| {
        Box::new(Player { dqn: network(choice), params: choice.params.clone(), horizon: problem.horizon })
    },
    exact: None,
    preparation: None,
};

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Dqn {
    let hidden = choice.setting("hidden").parse().unwrap_or(64);
    Dqn { time: choice.setting("time") == "true", ..Dqn::new(choice.arms(), hidden) }
}
