//! The examples run, and stay short enough to be read at a glance.
#![allow(clippy::unwrap_used)]

#[path = "../examples/contexts.rs"]
mod contexts;
#[path = "../examples/exact_answers.rs"]
mod exact_answers;
#[path = "../examples/own_policy.rs"]
mod own_policy;
#[path = "../examples/own_problem.rs"]
mod own_problem;
#[path = "../examples/own_table.rs"]
mod own_table;
#[path = "../examples/quick_start.rs"]
mod quick_start;

const MOST_LINES: usize = 40;

/// A test for each example, and the list of their names.
macro_rules! examples {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            $name::main().unwrap();
        })*
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples!(contexts, exact_answers, own_policy, own_problem, own_table, quick_start);

#[test]
fn all_of_them_are_run_and_short() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (name, lines) = (path.file_stem().unwrap().to_str().unwrap().to_string(), text.lines().count());
        assert!(lines <= MOST_LINES, "{name} has {lines} lines");
        assert!(text.starts_with("//! "), "{name} does not say what it shows");
        found.push(name);
    }
    found.sort();
    assert_eq!(found, NAMES);
}
