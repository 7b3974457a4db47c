//! All tests from outside in one program, which links in a fraction of the time.

mod damaged;
mod experiments;
mod runs;
mod world;
