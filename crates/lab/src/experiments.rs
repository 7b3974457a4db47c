//! The list of experiments: the paper's in its order, then ours.

mod data_sets;
mod defaults;
mod fig1;
mod fig10;
mod fig11;
mod fig2;
mod fig3;
mod fig4;
mod fig5;
mod fig6;
mod fig7;
mod fig8;
mod fig9;
mod tab1;
mod theory;
mod world;

use crate::Experiment;
use gradband::Error;

/// All experiments: the paper's in its order, then ours.
pub static EXPERIMENTS: [&Experiment; 15] = [
    &fig1::EXPERIMENT,
    &fig2::EXPERIMENT,
    &tab1::EXPERIMENT,
    &fig3::EXPERIMENT,
    &fig4::EXPERIMENT,
    &fig5::EXPERIMENT,
    &fig6::EXPERIMENT,
    &fig7::EXPERIMENT,
    &fig8::EXPERIMENT,
    &fig9::EXPERIMENT,
    &fig10::EXPERIMENT,
    &fig11::EXPERIMENT,
    &theory::EXPERIMENT,
    &world::EXPERIMENT,
    &defaults::EXPERIMENT,
];

/// The experiment of that name.
pub fn named(id: &str) -> gradband::Result<&'static Experiment> {
    let unknown =
        || Error::unknown("ID", id, EXPERIMENTS.iter().map(|experiment| experiment.id).chain(["all"]));
    EXPERIMENTS.iter().find(|experiment| experiment.id == id).copied().ok_or_else(unknown)
}
