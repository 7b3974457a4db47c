//! The recurrent policy (section 5.4) among the others; the network is in [`crate::lstm`].

use crate::lstm::{Lstm, Player, Sizes};
use crate::registry::{
    Allowed, Choice, ParamInfo, Plays, PolicyInfo, SettingInfo, Trainer, unit_rewards_only,
};

const fn size(name: &'static str, summary: &'static str) -> SettingInfo {
    SettingInfo { name, allowed: Allowed::Count { low: 1, high: 4096, default: "50" }, summary }
}

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "lstm",
    summary: "a recurrent network that learns its own exploration (untrained it plays at random)",
    params: &[
        ParamInfo::weights("arm_embedding", |choice| vec![choice.arms(), sizes(choice).embedding]),
        ParamInfo::weights("reward_embedding", |choice| vec![2, sizes(choice).embedding]),
        ParamInfo::weights("w_ih", |choice| vec![4 * sizes(choice).hidden, 2 * sizes(choice).embedding]),
        ParamInfo::weights("w_hh", |choice| vec![4 * sizes(choice).hidden, sizes(choice).hidden]),
        ParamInfo::weights("b", |choice| vec![4 * sizes(choice).hidden]),
        ParamInfo::weights("w_out", |choice| vec![choice.arms(), sizes(choice).hidden]),
        ParamInfo::weights("b_out", |choice| vec![choice.arms()]),
    ],
    settings: &[
        size("hidden", "units of the LSTM cell"),
        size("embedding", "length of the embeddings of arms and rewards"),
    ],
    trainer: Trainer::Lstm,
    plays: Plays::Arms,
    refuses: unit_rewards_only,
    build: |_, choice| Box::new(Player { lstm: network(choice), params: choice.params.clone() }),
    exact: None,
    preparation: None,
};

fn sizes(choice: &Choice) -> Sizes {
    let size = |name: &str| choice.setting(name).parse().unwrap_or(50);
    Sizes { hidden: size("hidden"), embedding: size("embedding") }
}

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Lstm {
    Lstm::sized(sizes(choice), choice.arms())
}
