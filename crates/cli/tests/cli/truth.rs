//! What is printed is true: verdicts against rivals, observations counted as what they are.

use crate::{json, mean, refused_saying, text, write};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A cheap source of numbers in [0, 1) that is the same everywhere (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal, with a standard deviation of 1.
    fn noise(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Campaigns of six variants with click rates from 2 to 8 %: a campaign's variants are alike.
fn campaigns(dir: &Path, count: usize, horizon: usize, keys: &str) -> String {
    let mut numbers = Numbers(7);
    let mut table = String::from("a,b,c,d,e,f\n");
    for _ in 0..count {
        let level = 0.03 + 0.04 * numbers.next();
        let rate = |numbers: &mut Numbers| (level + 0.006 * numbers.noise()).clamp(0.02, 0.08);
        let rates: Vec<_> = (0..6).map(|_| format!("{:.5}", rate(&mut numbers))).collect();
        writeln!(table, "{}", rates.join(",")).unwrap();
    }
    write(dir, "past.csv", table);
    let spec = format!(
        "[problem]\nkind = \"bernoulli\"\nhorizon = {horizon}\n[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n{keys}"
    );
    write(dir, "campaigns.toml", spec)
}

/// The verdict agrees with the numbers beside it, and its first rival is the one to be measured by.
fn check_verdict(document: &Value) {
    let verdict = &document["verdict"];
    let rows = document["comparison"].as_array().unwrap();
    for against in verdict["against"].as_array().unwrap() {
        let (rival, difference) = (&against["policy"], mean(&against["difference"]));
        let row = rows.iter().find(|row| row["policy"] == *rival).unwrap();
        let gain = mean(&row["bayes_regret"]) - mean(&document["final"]["bayes_regret"]);
        assert!((gain - difference).abs() < 1e-9 * gain.abs().max(1.0), "{rival}: {gain}, not {difference}");
        let ends = [0, 1].map(|i| against["interval"][i].as_f64().unwrap());
        assert!(ends[0] <= difference && difference <= ends[1]);
        let named = |list: &str| verdict[list].as_array().unwrap().contains(rival);
        assert_eq!(named("better_than"), ends[0] > 0.0, "{rival}");
        assert_eq!(named("worse_than"), ends[1] < 0.0, "{rival}");
    }
    assert_ne!(verdict["against"][0]["policy"], "bayes-optimal", "nobody can use the optimum instead");
}

#[test]
fn sixty_campaigns_get_the_right_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let spec = campaigns(dir.path(), 60, 20_000, "");
    let short = ["--iterations", "40", "--batch-size", "20", "--eval-instances", "200"];
    let trained = |policy: &str| json(&[&["train", &spec, "--policy", policy], &short[..]].concat());
    let softelim = trained("softelim");
    check_verdict(&softelim);
    assert_eq!(softelim["observations"], 18);
    assert_eq!(
        softelim["ground"],
        serde_json::json!({"kind": "past-problems", "count": 18, "held_out": true})
    );
    let rival = softelim["verdict"]["against"][0]["policy"].as_str().unwrap();
    assert!(rival.starts_with("thompson(alpha=") && rival.ends_with(",prior=fit)"), "{rival}");
    let beaten = softelim["verdict"]["better_than"].as_array().unwrap();
    assert!(beaten.contains(&"thompson".into()) && beaten.contains(&"ucb1".into()), "{beaten:?}");
    let exp3 = trained("exp3");
    check_verdict(&exp3);
    assert!(exp3["verdict"]["worse_than"].as_array().unwrap().contains(&"thompson".into()), "{exp3}");
    assert!(mean(&exp3["gain"]) > 0.0, "better than it was, and still not good");
    let words = text(&[&["train", &spec, "--policy", "exp3"], &short[..]].concat());
    let verdict = ["is worse than thompson(prior=fit) by", ": use thompson(prior=fit)"];
    for part in ["18 held-out past problems, 200 simulations"].iter().chain(&verdict) {
        assert!(words.contains(part), "'{part}' is not in\n{words}");
    }
    assert!(!words.contains("never saw"));
}

/// Full size: three seeds end within 5 % of each other's regret, measured on the same instances.
#[test]
#[ignore = "minutes: make test-slow"]
fn seeds_agree_on_low_rates() {
    let dir = tempfile::tempdir().unwrap();
    let spec = campaigns(dir.path(), 60, 20_000, "");
    for policy in ["softelim", "exp3", "boltzmann", "epsilon-greedy"] {
        let regret = |seed: &str| {
            let trained =
                json(&["train", &spec, "--policy", policy, "--seed", seed, "--eval-instances", "100"]);
            check_verdict(&trained);
            let params = trained["policy"]["params"][0].to_string();
            let again =
                json(&["evaluate", &spec, "--policy", policy, "--params", &params, "--instances", "2000"]);
            mean(&again["bayes_regret"])
        };
        let regrets = ["1", "2", "3"].map(regret);
        let [least, most] =
            [f64::min as fn(f64, f64) -> f64, f64::max].map(|f| regrets.into_iter().reduce(f).unwrap());
        println!("{policy}: {regrets:?}");
        assert!(most <= 1.05 * least, "{policy}: {regrets:?}");
    }
}

/// Rows of eight times eight pixels in ten classes.
#[test]
fn labelled_rows_claim_nothing_beyond_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(3);
    let shapes: Vec<Vec<f64>> = (0..10).map(|_| (0..64).map(|_| numbers.next()).collect()).collect();
    let mut table = (0..64).fold(String::new(), |header, i| header + &format!("p{i},")) + "label\n";
    for row in 0..400 {
        let shape = &shapes[row % 10];
        for pixel in shape {
            write!(table, "{:.3},", pixel + 0.3 * numbers.noise()).unwrap();
        }
        writeln!(table, "{}", row % 10).unwrap();
    }
    write(dir.path(), "digits.csv", table);
    let spec = "[problem]\nkind = \"classification\"\nhorizon = 200\ndata = \"digits.csv\"\n";
    let spec = write(dir.path(), "digits.toml", spec);
    let short = [
        "--policy",
        "cosoftelim",
        "--start",
        "identity",
        "--iterations",
        "2",
        "--batch-size",
        "2",
        "--eval-instances",
        "60",
    ];
    let trained = json(&[&["train", &spec], &short[..]].concat());
    check_verdict(&trained);
    assert_eq!(trained["ground"], serde_json::json!({"kind": "rows", "count": 120, "held_out": true}));
    let first = trained["verdict"]["against"][0]["policy"].as_str().unwrap();
    assert!(first.starts_with("linucb"), "{first}");
    assert!(trained["verdict"]["worse_than"].as_array().unwrap().contains(&first.into()), "{first}");
    let words = text(&[&["train", &spec], &short[..]].concat());
    for part in ["120 held-out rows", "is worse than linucb", "says nothing beyond them"] {
        assert!(words.contains(part), "'{part}' is not in\n{words}");
    }
}

#[test]
fn grounds_are_called_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let short =
        ["--policy", "softelim", "--iterations", "2", "--batch-size", "20", "--eval-instances", "100"];
    let said = |spec: &str| text(&[&["train", spec], &short[..]].concat());
    let all = said(&campaigns(dir.path(), 12, 100, "holdout = 0"));
    assert!(all.contains("12 past problems, the same as in training, 100 simulations"), "{all}");
    assert!(all.contains("note: training saw these very problems"), "{all}");
    let few = said(&campaigns(dir.path(), 12, 100, ""));
    assert!(few.contains("4 held-out past problems") && few.contains("are few"), "{few}");
    let iris = text(&["compare", "iris", "--policies", "linucb,random", "--instances", "20"]);
    assert!(iris.contains("150 rows, the same as in training"), "{iris}");
    let checked = text(&["check", &campaigns(dir.path(), 12, 100, "holdout = 0")]);
    for part in ["the same 12", "  a: mean 0.0", "best in ", "the same as in training"] {
        assert!(checked.contains(part), "'{part}' is not in\n{checked}");
    }
    write(dir.path(), "past.csv", "a,b\n2.1,3.4\n2.5,3.0\n");
    let spec = dir.path().join("campaigns.toml");
    refused_saying(&["check", spec.to_str().unwrap()], &["past.csv", "2.1", "divide percentages by 100"]);
}

#[test]
fn comparisons_say_who_is_untuned_and_who_wins() {
    let policies = "softelim,softelim(w=0.52),thompson,ucb1,random";
    let compared = json(&["compare", "bernoulli-2", "--policies", policies, "--instances", "2000"]);
    let row = |name: &str| {
        compared["rows"].as_array().unwrap().iter().find(|row| row["policy"] == name).unwrap().clone()
    };
    assert_eq!(
        [row("softelim"), row("softelim(w=0.52)"), row("ucb1")].map(|row| row["untuned"] == true),
        [true, false, false]
    );
    let verdict = &compared["verdict"];
    assert_eq!(verdict["better_than"].as_array().unwrap().len(), 4, "{verdict}");
    let words = text(&["compare", "bernoulli-2", "--policies", policies, "--instances", "2000"]);
    assert!(words.contains("softelim(w=0.52) beats thompson by 0."), "{words}");
    assert!(words.contains("untuned"), "{words}");
}
