//! Everything that gradband reads and writes: specs, tables of past problems, labelled data, policy files, data sets.
//!
//! The library itself works on checked values and opens nothing; here are the formats they come in, shared by the binary
//! and every other front end. Messages name file, line and column, or the key.
//!
//! ```no_run
//! use gradband::{Simulator, Trainer};
//! let target = gradband_files::open("my-problem.toml")?;     // a spec, a built-in problem, a data set
//! let tuned = Trainer::new("softelim").train(&target.problem)?;
//! gradband_files::save_policy("tuned".as_ref(), tuned.choice(), &target.problem)?;
//! let again = gradband_files::load_policy("tuned/policy.json".as_ref(), &target.problem)?;
//! println!("{}", Simulator::new(&target.problem).compare([&again])?);
//! # Ok::<(), gradband::Error>(())
//! ```

pub mod cache;
pub mod datasets;
mod examples;
pub mod io;
mod lines;
mod policy_file;
mod records;
pub mod spec;
mod table;
mod target;
mod weights;

pub use datasets::{DATASET_HORIZON, DATASETS, Dataset};
pub use examples::read_examples;
pub use policy_file::{
    FORMAT, FeatureRecord, POLICY_FILE, PolicyFile, PolicyRecord, ProblemRecord, TrainingRecord, load_policy,
    load_policy_from, save_policy,
};
pub use spec::{EvaluateSpec, PolicySpec, Spec, SpecFile, TrainSpec, Training};
pub use table::read_table;
pub use target::{Target, is_file, named, open, problem_names};
pub use weights::{WEIGHTS_FILE, has_weights_file};
