//! All tests from outside in one program, which links in a fraction of the time.

mod agents;
mod crew;
mod edges;
mod lines;
mod policy_files;
mod ragged;
mod spec;
mod table;
