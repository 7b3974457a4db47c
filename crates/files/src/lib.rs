//! Everything that gradband reads and writes: specs, tables of past problems, labelled data, policy files, data sets.
//!
//! The library itself works on checked values and opens nothing; here are the formats they come in, shared by the binary
//! and every other front end. Messages name file, line and column, or the key.
//!
//! ```
//! use gradband::{Simulator, Trainer};
//! # let dir = tempfile::tempdir().unwrap();
//! # let dir = dir.path();
//! let target = gradband_files::open("bernoulli-2")?; // a built-in problem, a data set, or the path of a TOML spec
//! let tuned = Trainer::new("softelim").train(&target.problem)?;
//! gradband_files::save_policy(dir, tuned.choice(), &target.problem)?;
//!
//! let again = gradband_files::load_policy(dir, &target.problem)?;
//! assert_eq!(again.params(), tuned.choice().params());
//! println!("{}", Simulator::new(&target.problem).instances(2_000).compare([&again])?);
//! # Ok::<(), gradband::Error>(())
//! ```
//!
//! | for | see |
//! |---|---|
//! | problems by name or from a spec | [`open`], [`named`], [`Target`], [`Spec`] |
//! | past problems from CSV | [`read_table`], [`read_table_with`] |
//! | labelled data from CSV or LIBSVM text | [`read_examples`] |
//! | policies on disk | [`save_policy`], [`load_policy`], [`load_policy_from`], [`PolicyFile`] |
//! | trainings that go on another time | [`Checkpoint`], [`Edition`], [`Lock`] |
//! | an agent behind a pipe | [`protocol`] |
//! | the paper's data sets | [`DATASETS`], [`datasets`] |
//!
//! # Features
//!
//! Both are off unless they are asked for.
//!
//! - `datasets`: ten of the paper's eleven data sets as part of the program, 850 kB. Without it their names are known,
//!   and [`named`] says what is missing.
//! - `download`: fetching the eleventh (`datasets::fetch`), for which HTTPS and ZIP are compiled.

mod agent_file;
pub mod cache;
mod checkpoint;
pub mod datasets;
mod edition;
mod examples;
pub mod io;
mod lines;
mod lock;
mod policy_file;
pub mod protocol;
mod records;
pub mod spec;
mod table;
mod target;
mod weights;

pub use agent_file::{load_agent, load_agent_from, load_playable, load_playable_from, save_agent};
pub use checkpoint::{CHECKPOINT_FILE, Checkpoint};
pub use datasets::{DATASET_HORIZON, DATASETS, Dataset};
pub use edition::{Edition, enter};
pub use examples::read_examples;
pub use gradband::policy::{FeatureRecord, PolicyRecord, ProblemRecord};
pub use lock::{Lock, release_locks};
pub use policy_file::{
    FORMAT, POLICY_FILE, PolicyFile, TrainingRecord, load_policy, load_policy_from, save_policy,
};
pub use spec::{AUTO, EvaluateSpec, PolicySpec, Spec, SpecFile, TrainSpec, Training};
pub use table::{Columns, TableOptions, read_table, read_table_with};
pub use target::{Target, is_file, named, open, problem_names};
pub use weights::{WEIGHTS_FILE, has_weights_file};

/// The guide's Rust is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/deploy.md")]
struct Deploy;
