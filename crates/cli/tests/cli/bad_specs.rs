//! Wrong spec files: exit code 2, and a message with file, line and key.

use super::*;

const GOOD: &str = "[problem]\nkind = \"bernoulli\"\nhorizon = 200\n[problem.prior]\nkind = \"points\"\ninstances = [[0.6, 0.4], [0.4, 0.6]]\nweights = [0.5, 0.5]\n";

/// Every command that reads a spec refuses it in the same words.
fn spec_refused(content: impl AsRef<[u8]>, parts: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let spec = write(dir.path(), "s.toml", content);
    let message = refused(&["check", &spec]);
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for part in parts.iter().chain(&["s.toml"]) {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
    for args in [&["train", &spec][..], &["evaluate", &spec, "--policy", "softelim"], &["compare", &spec]] {
        assert_eq!(refused(args), message, "{args:?}");
    }
}

fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    GOOD.replacen(from, to, 1)
}

#[test]
fn numbers_out_of_range() {
    spec_refused(changed("[0.5, 0.5]", "[0.5, -0.5]"), &["line 7", "problem.prior.weights[1]", "-0.5"]);
    spec_refused(changed("[0.5, 0.5]", "[nan, 0.5]"), &["line 7", "problem.prior.weights[0]", "NaN"]);
    spec_refused(changed("[0.5, 0.5]", "[0, 0]"), &["weights", "all are zero"]);
    spec_refused(changed("[0.5, 0.5]", "[1]"), &["weights", "one per instance"]);
    spec_refused(
        changed("0.6, 0.4", "1.6, 0.4"),
        &["line 6", "problem.prior.instances[0][0]", "1.6", "from 0 to 1"],
    );
    spec_refused(changed("0.6, 0.4", "-0.1, 0.4"), &["-0.1", "from 0 to 1"]);
    spec_refused(changed("0.6, 0.4", "nan, 0.4"), &["NaN"]);
    spec_refused(changed("0.6, 0.4", "0.6, 0.4, 0.2"), &["instances[1]", "found 2 means, expected 3"]);
    spec_refused(
        changed("[[0.6, 0.4], [0.4, 0.6]]", "[[0.6], [0.4]]"),
        &["problem.prior.arms", "found 1", "expected 2"],
    );
    spec_refused(changed("[[0.6, 0.4], [0.4, 0.6]]", "[]"), &["instances", "is empty"]);
    spec_refused(changed("200", "0"), &["line 3", "problem.horizon", "found 0"]);
    spec_refused(changed("200", "-5"), &["line 3", "problem.horizon", "-5"]);
    spec_refused(changed("200", "100000000000000"), &["line 3", "problem.horizon", "found 100000000000000"]);
    spec_refused(changed("200", "99999999999999999999999"), &["line 3"]);
    spec_refused(changed("200", "\"long\""), &["line 3", "problem.horizon", "found text", "a whole number"]);
}

#[test]
fn unknown_and_misplaced_keys() {
    spec_refused(
        changed("horizon", "horizn"),
        &["line 3, problem.horizn", "'horizn'", "did you mean 'horizon'"],
    );
    spec_refused(
        format!("{GOOD}alpha = 1\n"),
        &["line 8", "problem.prior.alpha", "kind = \"beta\"", "kind = \"points\""],
    );
    spec_refused(
        changed("\"points\"", "\"pionts\""),
        &["line 5", "problem.prior.kind", "did you mean 'points'"],
    );
    spec_refused(
        changed("\"bernoulli\"", "\"cubic\""),
        &["line 2", "problem.kind", "known: bernoulli, beta, gaussian"],
    );
    spec_refused(format!("{GOOD}[trian]\niterations = 3\n"), &["line 8, trian", "did you mean 'train'"]);
    spec_refused(
        format!("{GOOD}[train]\nbatchsize = 3\n"),
        &["line 9, train.batchsize", "did you mean 'batch_size'"],
    );
    spec_refused(
        changed("kind = \"bernoulli\"\n", "kind = \"gaussian\"\n"),
        &["problem.noise_sd", "is missing"],
    );
    spec_refused(
        changed("kind = \"bernoulli\"\n", ""),
        &["line 1, problem.kind", "is missing", "bernoulli, beta, gaussian"],
    );
    spec_refused(
        changed("kind = \"bernoulli\"", "kind = \"beta\"\nconcentration = 0"),
        &["problem.concentration", "found 0"],
    );
}

#[test]
fn wrong_policies_and_trainings() {
    let check = |tail: &str, parts: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let spec = write(dir.path(), "s.toml", format!("{GOOD}{tail}\n"));
        refused_saying(&["check", &spec], parts);
        refused_saying(&["train", &spec], parts);
    };
    check("[policy]\nkind = \"softelm\"", &["line 9", "policy.kind", "did you mean 'softelim'"]);
    check("[policy]\nkind = \"softelim\"\nw = nan", &["line 10", "policy.w", "NaN"]);
    check("[policy]\nkind = \"softelim\"\nepsilon = 1", &["line 10", "policy.epsilon", "known: w"]);
    check("[train]\nbaseline = \"sefl\"", &["line 9", "train.baseline", "did you mean 'self'"]);
    check("[train]\niterations = 0", &["line 9", "train.iterations", "found 0"]);
    let stages = "[policy]\nkind = \"lstm\"\n[train]\ncurriculum = [2, 5]\niterations =";
    for count in ["9223372036854775809", "9223372036854775807", "5000001"] {
        check(&format!("{stages} {count}"), &["line 12", "train.iterations"]);
    }
    check("[policy]\nkind = \"epsilon-greedy\"\nepsilon = 2", &["line 10", "policy.epsilon", "from 0 to 1"]);
    check(
        "[train]\nbaseline = \"self\"\nruns_per_instance = 3",
        &["line 10", "train.runs_per_instance", "loo"],
    );
    check("[train]\nlearning_rate = \"fast\"", &["line 9", "train.learning_rate", "auto"]);
    check("[train]\ntime_limit = -1", &["line 9", "train.time_limit", "found -1"]);
    check("[train]\ndecay = 2", &["line 9", "train.decay", "found 2"]);
    check("[evaluate]\ninstances = 0", &["line 9", "evaluate.instances", "found 0"]);
}

#[test]
fn policies_that_do_not_apply() {
    let dir = tempfile::tempdir().unwrap();
    let short = write(dir.path(), "short.toml", GOOD.replace("200", "1"));
    refused_saying(
        &["evaluate", &short, "--policy", "softelim"],
        &["--policy", "each of 2 arms once", "horizon of 1", "use one of"],
    );
    refused_saying(&["check", &short], &["short.toml, policy", "horizon of 1"]);
    let gaussian = GOOD.replace("\"bernoulli\"", "\"gaussian\"\nnoise_sd = 1.0");
    let gaussian = write(dir.path(), "gaussian.toml", gaussian);
    for policy in ["thompson", "exp3"] {
        refused_saying(
            &["evaluate", &gaussian, "--policy", policy],
            &["--policy", policy, "[0, 1]", "softelim"],
        );
    }
    json(&["train", &gaussian, "--iterations", "2", "--batch-size", "10", "--eval-instances", "20"]);
    let only_evaluated = write(dir.path(), "ucb.toml", format!("{GOOD}[policy]\nkind = \"ucb1\"\n"));
    assert!(text(&["check", &only_evaluated]).contains("nothing to learn"));
    refused_saying(&["train", &only_evaluated], &["line 8", "nothing to learn"]);
    let outside =
        write(dir.path(), "e.toml", format!("{GOOD}[policy]\nkind = \"epsilon-greedy\"\nepsilon = 0\n"));
    assert!(text(&["check", &outside]).contains("Training cannot start from this policy"));
    refused_saying(
        &["train", &outside],
        &["e.toml, line 10, policy.epsilon, where training starts", "from 0.01 to 1"],
    );
    assert_eq!(json(&["check", &outside])["trainable"], false);
}

#[test]
fn files_that_are_no_specs() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.toml");
    refused_saying(&["check", missing.to_str().unwrap()], &["none.toml", "no such file"]);
    refused_saying(&["train", missing.to_str().unwrap()], &["none.toml", "no such file"]);
    refused_saying(&["check", dir.path().to_str().unwrap()], &["is a directory"]);
    spec_refused("", &["is empty"]);
    spec_refused(" \n\n", &["is empty"]);
    spec_refused(b"[problem]\nkind = \"\xff\xfe\"\n", &["line 2", "not UTF-8"]);
    spec_refused("[problem\n", &["line 1"]);
    spec_refused("[[[[[[[[", &["line 1"]);
    spec_refused("x = [".repeat(50_000), &["line 1"]);
    spec_refused(vec![0_u8; 1 << 20], &["line 1"]);
    let noise: Vec<u8> = (0..1_u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    spec_refused(noise, &["not UTF-8"]);
    let huge = dir.path().join("huge.toml");
    std::fs::File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    refused_saying(&["check", huge.to_str().unwrap()], &["huge.toml", "larger than 256 MB"]);
}
