//! All tests of the library from outside in one program, which links in a twentieth of the time; golden numbers have one of their own.

mod agent;
mod contextual;
mod contextual_worlds;
mod coverage;
mod crew;
mod determinism;
mod enumeration;
mod estimator;
mod exact_published;
mod exact_simulation;
mod examples;
mod marks;
mod networks;
mod numbers;
mod oracle;
mod own_rules;
mod past;
mod problems;
mod refuse;
mod regret;
mod resume;
mod rooms;
mod rules;
mod start;
mod theory;
mod world;
