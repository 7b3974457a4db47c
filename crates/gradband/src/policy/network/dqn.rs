//! The deep Q-network (section 7.3) among the other policies; it is in [`crate::simulate::q_network`].

use crate::error::Result;
use crate::exact::index::Arm;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now, certain};
use crate::policy::definition::{Definition, Learns, Worlds, unit_rewards_only};
use crate::policy::params::{Allowed, Param, Setting};
use crate::simulate::q_network::{Dqn, Network, QPlayer, Trace, greedy};

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
    decider: |problem, choice, _| {
        let network = Network::new(&network(choice), choice.params());
        Ok(Box::new(Values { network, horizon: problem.horizon }))
    },
    ..Definition::ARMS
};

/// The network as an agent asks it.
struct Values {
    network: Network,
    horizon: usize,
}

impl Decide for Values {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        // The network computes many states at a time, of which this is the first.
        let mut trace = Trace::new(&self.network.dqn);
        let ones = |arm: &Arm| [arm.mean * arm.known, (1.0 - arm.mean) * arm.known].map(|x| x as f32);
        let counts: Vec<_> = now.arms.iter().map(ones).collect();
        self.network.dqn.observe(&counts, now.round, self.horizon, 0, trace.inputs());
        certain(greedy(self.network.forward(&mut trace), 0), weights);
        Ok(())
    }
    fn arms(&self) -> Option<usize> {
        Some(self.network.dqn.arms)
    }
    fn ends(&self) -> bool {
        true
    }
    fn is_certain(&self) -> bool {
        true
    }
}

/// The network that a choice describes; its settings were checked.
pub(crate) fn network(choice: &Choice) -> Dqn {
    let hidden = choice.count("hidden").unwrap_or(HIDDEN);
    Dqn { time: choice.flag("time"), ..Dqn::new(choice.arms(), hidden) }
}
