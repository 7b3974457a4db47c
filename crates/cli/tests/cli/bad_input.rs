//! Wrong flags: exit code 2 and one clear message.

use super::*;

#[test]
fn unknown_names_get_a_suggestion() {
    refused_saying(&["train", "bernouli-2"], &["PROBLEM", "'bernouli-2'", "did you mean 'bernoulli-2'"]);
    refused_saying(&["train", "--policy", "softelm"], &["--policy", "did you mean 'softelim'"]);
    refused_saying(&["train", "--baseline", "sefl"], &["--baseline", "did you mean 'self'"]);
    refused_saying(&["train", "--optimizer", "adm"], &["--optimizer", "did you mean 'adam'"]);
    refused_saying(&["train", "--returns", "men"], &["--returns", "did you mean 'mean'"]);
    refused_saying(&["train", "--average", "tial"], &["--average", "did you mean 'tail'"]);
    refused_saying(
        &["compare", "bernoulli-2", "--policies", "ucb1,tompson"],
        &["--policies", "did you mean 'thompson'"],
    );
    assert!(refused(&["list", "polices"]).contains("policies"));
    assert!(refused(&["train", "--polcy", "exp3"]).contains("--policy"));
    assert!(refused(&["evalute", "bernoulli-2"]).contains("evaluate"));
}

/// A message stays readable, whatever was typed.
#[test]
fn long_names_are_cut() {
    let long = "x".repeat(50_000);
    for args in [
        &["train", &long][..],
        &["train", "--policy", &long],
        &["train", "--policy", &format!("softelim({long}=1)")],
        &["train", "--policy", &format!("softelim(w={long})")],
        &["train", "--params", &long],
        &["train", "--baseline", &long],
        &["compare", "bernoulli-2", "--policies", &long],
        &["reproduce", &long],
        &["data", "fetch", &long],
        &["list", &long],
        &["train", "--learning-rate", &long],
        &["train", "--iterations", &long],
        &["train", &format!("--{long}")],
        &["reproduce", "fig1", "--shard", &long],
        &["check", &long],
        &["play", &long],
        &["evaluate", "bernoulli-2", "--policy-file", &long],
        &[&long],
    ] {
        let message = refused(args);
        assert!(message.len() < 1000, "{} characters: {}", message.len(), &message[..200]);
    }
    let output = run(&["report", &long]);
    assert!(output.status.code() == Some(1) && output.stderr.len() < 1000);
}

#[test]
fn parameters_must_fit_the_policy() {
    let evaluate = |params: &str, parts: &[&str]| {
        refused_saying(&["evaluate", "bernoulli-2", "--policy", "softelim", "--params", params], parts);
    };
    evaluate("1,2", &["--params", "found 2", "takes 1 (w)"]);
    evaluate("", &["--params", "found 0", "takes 1 (w)"]);
    evaluate("-1", &["--params (w)", "found -1", "from 0.001 to 1000"]);
    evaluate("nan", &["--params (w)", "NaN"]);
    evaluate("inf", &["--params (w)", "inf"]);
    evaluate("one", &["--params", "'one'", "expected a number"]);
    refused_saying(&["evaluate", "bernoulli-2", "--policy", "ucb1", "--params", "1"], &["takes none"]);
    refused_saying(
        &["evaluate", "bernoulli-2", "--policy", "explore-then-commit", "--params", "101"],
        &["from 1 to 100"],
    );
    refused_saying(
        &["train", "--policy", "epsilon-greedy", "--params", "0"],
        &["where training starts", "from 0.01 to 1"],
    );
    let valid =
        ["evaluate", "bernoulli-2", "--policy", "epsilon-greedy", "--params", "0", "--instances", "9"];
    json(&valid);
}

#[test]
fn policies_must_parse() {
    let compare = |policies: &str, parts: &[&str]| {
        refused_saying(&["compare", "bernoulli-2", "--instances", "9", "--policies", policies], parts);
    };
    compare("softelim(w=0.5", &["--policies", "expected a ')'"]);
    compare("softelim(0.5)", &["'0.5'", "expected param=value"]);
    compare("softelim(z=1)", &["softelim, z", "unknown name 'z'"]);
    compare("softelim(w=-1)", &["softelim, w", "found -1"]);
    compare("exp3(score=papr)", &["did you mean 'paper'"]);
    compare("ucb1,,thompson", &["unknown name ''"]);
    compare("", &["unknown name ''"]);
}

#[test]
fn counts_have_limits() {
    for flag in ["--iterations", "--batch-size", "--eval-instances", "--runs-per-instance"] {
        refused_saying(&["train", flag, "0"], &[flag, "found 0"]);
        refused_saying(&["train", flag, "100000000000000"], &[flag, "found 100000000000000"]);
        assert!(refused(&["train", flag, "-5"]).contains(flag));
        assert!(refused(&["train", flag, "many"]).contains(flag));
        assert!(refused(&["train", flag, "99999999999999999999"]).contains(flag));
    }
    for command in ["evaluate", "compare"] {
        let with = |count| [command, "bernoulli-2", "--instances", count];
        assert!(refused(&with("0")).contains("--"));
        assert!(refused(&with("2000000000")).contains("--"));
    }
    assert!(refused(&["train", "--threads", "0"]).contains("--threads"));
    assert!(refused(&["train", "--seed", "-1"]).contains("seed"));
    refused_saying(&["train", "--learning-rate", "0"], &["--learning-rate", "above 0"]);
    refused_saying(&["train", "--learning-rate", "-1"], &["--learning-rate", "found -1"]);
    refused_saying(&["train", "--learning-rate", "nan"], &["--learning-rate", "NaN"]);
    refused_saying(
        &["train", "--baseline", "self", "--runs-per-instance", "4"],
        &["--runs-per-instance", "loo"],
    );
    refused_saying(&["train", "--runs-per-instance", "1"], &["--runs-per-instance", "2 to 1024"]);
}

#[test]
fn policies_that_do_not_apply_are_refused_with_those_that_do() {
    refused_saying(
        &["evaluate", "bernoulli-10", "--policy", "explore-then-commit"],
        &["--policy", "two arms", "use one of", "softelim"],
    );
    refused_saying(&["train", "--policy", "ucb1"], &["nothing to learn", "softelim"]);
    refused_saying(
        &["gradient", "bernoulli-2", "--policy", "ucb1", "--params", "", "--baseline", "self"],
        &["nothing to learn"],
    );
    refused_saying(
        &["gradient", "bernoulli-2", "--policy", "epsilon-greedy", "--params", "0", "--baseline", "self"],
        &["--params", "epsilon = 0"],
    );
}

#[test]
fn missing_and_clashing_arguments_are_refused() {
    refused_saying(&["evaluate", "bernoulli-2"], &["--policy", "is missing"]);
    for command in ["evaluate", "compare"] {
        let flag = if command == "compare" { "--policies" } else { "--policy" };
        refused_saying(&[command, "bernoulli-2", flag, "lstm"], &[flag, "lstm has no weights yet"]);
    }
    refused_saying(&["evaluate", "bernoulli-2", "--params", "1"], &["--policy", "is missing"]);
    assert!(refused(&["evaluate"]).contains("PROBLEM"));
    assert!(refused(&["gradient", "bernoulli-2", "--policy", "softelim"]).contains("--params"));
    assert!(
        refused(&["evaluate", "bernoulli-2", "--policy", "ucb1", "--policy-file", "x"])
            .contains("--policy-file")
    );
    assert!(refused(&["check"]).contains("SPEC"));
    assert_eq!(run(&[]).status.code(), Some(2));
}

#[test]
fn a_place_that_cannot_be_written_is_not_the_inputs_fault() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "file", "x");
    let output = run(&["train", "--iterations", "1", "-o", &format!("{file}/below")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write there"));
    assert!(output.stdout.is_empty());
}
