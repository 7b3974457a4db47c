//! Trainings that find out which policy is best.

use super::*;

const SPEC: &str = "[problem]\nkind = \"bernoulli\"\nhorizon = 40\n[problem.prior]\nkind = \"beta\"\narms = 3\nalpha = 2\n\
                    beta = 18\n[train]\niterations = 10\nbatch_size = 20\n[evaluate]\ninstances = 400\n";

#[test]
fn a_spec_without_a_policy_trains_the_best() {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", SPEC);
    let document = json(&["train", &spec]);
    let tried = document["tried"].as_array().unwrap();
    let names: Vec<&str> =
        tried.iter().map(|row| row["policy"].as_str().unwrap().split('(').next().unwrap()).collect();
    for name in ["softelim", "soft-index", "exp3", "thompson"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(document["policy"]["kind"], names[0]);
    let regrets: Vec<f64> = tried.iter().map(|row| mean(&row["regret"])).collect();
    assert!(regrets.is_sorted(), "{regrets:?}");
    assert_eq!(mean(&tried[0]["behind"]), 0.0);
    // The same by name, and for any number of threads.
    let named = write(dir.path(), "auto.toml", format!("{SPEC}[policy]\nkind = \"auto\"\n"));
    for args in [&["train", &named][..], &["train", &spec, "--policy", "auto", "--threads", "1"]] {
        assert_eq!(json(args)["policy"], document["policy"], "{args:?}");
    }
    let words = text(&["train", &spec]);
    for part in ["is chosen: least regret on", "million rounds", "left out, for the time they take: lstm"] {
        assert!(words.contains(part), "'{part}' is not in\n{words}");
    }
    assert!(text(&["check", &spec]).contains("No policy is named"));
    // Classes without an exact gradient are left out, and refused by name.
    let exact = write(dir.path(), "exact.toml", SPEC.replace("batch_size = 20\n", "gradient = \"exact\"\n"));
    assert_ne!(json(&["train", &exact])["policy"]["kind"], "thompson");
    refused_saying(
        &["train", &exact, "--policy", "thompson"],
        &["gradient: found exact, but thompson has no score"],
    );
}

#[test]
fn what_is_wrong_is_said_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = write(dir.path(), "s.toml", SPEC.replace("iterations = 10", "iterations = 0"));
    refused_saying(&["train", &wrong], &["s.toml, line 10, train.iterations", "found 0"]);
    let spec = write(dir.path(), "t.toml", SPEC);
    refused_saying(&["train", &spec, "--params", "1"], &["--params", "name one with --policy"]);
    let set = write(dir.path(), "u.toml", format!("{SPEC}[policy]\nkind = \"auto\"\nw = 1\n"));
    refused_saying(&["train", &set], &["u.toml, line 15, policy.kind", "auto"]);
}

/// Parts of the rows that were kept aside choose the policy, and none of the held-out rows.
#[test]
fn rows_that_are_kept_aside_choose() {
    let dir = tempfile::tempdir().unwrap();
    let rows = (0..90_u32).map(|i| format!("{},{},{}\n", i % 3 * 2 + i % 5, (i * 7) % 11, i % 3));
    write(dir.path(), "rows.csv", format!("a,b,label\n{}", rows.collect::<String>()));
    let spec = "[problem]\nkind = \"classification\"\nhorizon = 30\ndata = \"rows.csv\"\nsplit = 2\n\
                [train]\niterations = 4\nbatch_size = 4\n[evaluate]\ninstances = 100\n";
    let spec = write(dir.path(), "s.toml", spec);
    let words = text(&["train", &spec]);
    assert!(words.contains("of training data kept aside"), "{words}");
    assert!(json(&["train", &spec])["tried"].as_array().unwrap().len() >= 4);
}
