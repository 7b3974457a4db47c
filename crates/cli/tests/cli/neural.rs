//! The recurrent policy: trained in stages, stored with its weights beside it, played again.

use super::*;

const SMALL: &str = "[problem]\nkind = \"bernoulli\"\nhorizon = 12\n[problem.prior]\nkind = \"points\"\n\
                     instances = [[0.9, 0.1], [0.1, 0.9]]\n[policy]\nkind = \"lstm\"\nhidden = 8\nembedding = 4\n\
                     [train]\niterations = 30\nbatch_size = 32\ncurriculum = [4, 12]\nlearning_rate = 0.02\n\
                     [evaluate]\ninstances = 500\n";

#[test]
fn a_network_learns_and_is_played_again() {
    let dir = tempfile::tempdir().unwrap();
    let (spec, out) = (write(dir.path(), "s.toml", SMALL), dir.path().join("out"));
    let out = out.to_str().unwrap();
    assert!(text(&["check", &spec]).contains("30 iterations at horizon 4, then 30 iterations at horizon 12"));
    let document = json(&["train", &spec, "-o", out]);
    assert_eq!(document["policy"]["kind"], "lstm");
    assert_eq!(document["policy"]["names"][0], "arm_embedding");
    assert_eq!(document["policy"]["shape"][2], serde_json::json!([32, 8]));
    assert!(document["policy"]["params"].is_null());
    assert_eq!(document["history"].as_array().unwrap().len(), 60);
    // Untrained it plays at random: 12 rounds, a gap of 0.8 half of the time.
    assert!((mean(&document["initial"]["bayes_regret"]) - 4.8).abs() < 0.5);
    assert!(mean(&document["final"]["bayes_regret"]) < 2.0);
    let file = format!("{out}/policy.json");
    let again = json(&["evaluate", &spec, "--policy-file", &file]);
    assert_eq!(again["bayes_regret"], document["final"]["bayes_regret"]);
    let compared = json(&["compare", &spec, "--policies", "thompson", "--policy-file", &file]);
    assert_eq!(compared["rows"].as_array().unwrap().len(), 2);
    assert_eq!(timeless(json(&["train", &spec, "--threads", "1"])), timeless(document));

    // Every way in which the weights can be wrong is named.
    let weights = format!("{out}/policy.safetensors");
    let good = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &good[..good.len() / 2]).unwrap();
    refused_saying(
        &["evaluate", &spec, "--policy-file", &file],
        &["policy.safetensors", "sound safetensors"],
    );
    std::fs::remove_file(&weights).unwrap();
    refused_saying(&["evaluate", &spec, "--policy-file", &file], &["policy.safetensors", "no such file"]);
    std::fs::write(&weights, &good).unwrap();
    let text = std::fs::read_to_string(&file).unwrap().replace("\"hidden\": \"8\"", "\"hidden\": \"9\"");
    let other = write(dir.path(), "out/other.json", text);
    refused_saying(&["evaluate", &spec, "--policy-file", &other], &["other.json, policy.shape", "[36, 8]"]);
}

#[test]
fn recipes_and_their_keys_are_for_neural_policies() {
    refused_saying(&["train", "--recipe", "paper"], &["--recipe", "neural policies", "softelim"]);
    refused_saying(&["train", "--policy", "lstm", "--recipe", "papr"], &["--recipe", "did you mean 'paper'"]);
    refused_saying(&["train", "--policy", "lstm(hidden=0)"], &["hidden", "found 0"]);
    refused_saying(&["train", "--policy", "lstm", "--gradient", "exact"], &["--gradient", "sampled"]);
    let dir = tempfile::tempdir().unwrap();
    let wrong = |from: &str, to: &str, parts: &[&str]| {
        let spec = write(dir.path(), "s.toml", SMALL.replace(from, to));
        refused_saying(&["train", &spec], parts);
    };
    wrong("[4, 12]", "[4, 13]", &["line 14, train.curriculum", "from 1 to 12"]);
    wrong("[4, 12]", "[8, 4]", &["train.curriculum", "rising"]);
    wrong("\"lstm\"\nhidden = 8\nembedding = 4", "\"softelim\"", &["train.curriculum", "neural policies"]);
    let paper = json(&[
        "check",
        &write(dir.path(), "p.toml", SMALL.replace("iterations = 30", "recipe = \"paper\"")),
    ]);
    assert_eq!(paper["spec"]["train"]["baseline"], "self");
    assert_eq!(paper["spec"]["train"]["temperature"], true);
}

#[test]
fn a_q_network_is_trained_stored_and_played() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 12\n[problem.prior]\nkind = \"points\"\n\
                instances = [[0.9, 0.1], [0.1, 0.9]]\n[policy]\nkind = \"dqn\"\nhidden = 16\n\
                [train]\niterations = 1000\n[evaluate]\ninstances = 500\n";
    let (spec, out) = (write(dir.path(), "s.toml", spec), dir.path().join("out"));
    let document = json(&["train", &spec, "-o", out.to_str().unwrap()]);
    assert_eq!(document["policy"]["shape"][0], serde_json::json!([16, 12]));
    assert!(mean(&document["final"]["bayes_regret"]) < mean(&document["initial"]["bayes_regret"]));
    let file = out.join("policy.json");
    let again = json(&["evaluate", &spec, "--policy-file", file.to_str().unwrap()]);
    assert_eq!(again["bayes_regret"], document["final"]["bayes_regret"]);
    assert!(text(&["check", &spec]).contains("1,000 updates of Q-learning"));
    refused_saying(&["train", &spec, "--baseline", "self"], &["--baseline", "Q-learning"]);
}
