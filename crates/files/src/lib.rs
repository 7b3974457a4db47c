//! The user's files as gradband's data.
//!
//! The library itself works on checked values and opens nothing; here are the formats they come in: CSV and LIBSVM
//! text, gzip-compressed or not, and the data sets of the paper. Messages name file, line and column.

pub mod datasets;
mod examples;
mod lines;
mod records;
mod table;

pub use datasets::{DATASET_HORIZON, DATASETS, Dataset, named};
pub use examples::read_examples;
pub use table::read_table;
