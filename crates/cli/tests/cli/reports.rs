//! Reports in a real browser: every figure is drawn and can be used, nothing is said on the console, nothing is fetched.

use super::*;

/// Opens a report and uses it, where there is a browser.
fn sound(page: &Path, figures: usize) {
    if gradband_browser::is_there() {
        gradband_browser::check(page).unwrap().assert_sound(figures);
    }
}

#[test]
fn the_report_of_a_training() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let train = [
        "train",
        "linear-2",
        "--iterations",
        "5",
        "--eval-instances",
        "50",
        "--policy",
        "soft-ucb",
        "-o",
        out,
    ];
    text(&train);
    let html = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    for part in ["untuned: soft-ucb", "theta_cov", "gradband train linear-2 --iterations 5"] {
        assert!(html.contains(part), "{part}");
    }
    // Over policies, over iterations, and W.
    sound(&dir.path().join("report.html"), 3);
    numbers_agree(dir.path());
    text(&["report", out]);
    assert_eq!(std::fs::read_to_string(dir.path().join("report.html")).unwrap(), html);
}

/// A line ends at its dot, and what is handed out has the regret of the table: all on the same instances.
fn numbers_agree(dir: &Path) {
    let record = std::fs::read_to_string(dir.join("train.record.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let mean = |estimate: &serde_json::Value| estimate["mean"].as_f64().unwrap();
    let alike = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}");
    for policy in record["policies"].as_array().unwrap() {
        let end = policy["curve"].as_array().unwrap().last().unwrap();
        alike(mean(&end[1]), mean(&policy["regret"]));
    }
    let training = &record["training"];
    assert_eq!(training["instances"], record["instances"]);
    alike(mean(&training["handed_out"]), mean(&record["policies"][1]["regret"]));
    let numbers = |key: &str| training[key].as_array().unwrap().len();
    assert_eq!(numbers("handed_out_params"), numbers("params"));
    assert_eq!(numbers("spreads"), numbers("features"));
}

#[test]
fn the_report_of_a_comparison() {
    let dir = tempfile::tempdir().unwrap();
    let table = "<b>A</b>,\"B \"\"b\"\" & </script>\"\n0.5,0.2\n0.1,0.3\n0.6,0.6\n0.3,0.2\n";
    write(dir.path(), "past.csv", table);
    let spec = "[problem]\nkind = \"bernoulli\"\nhorizon = 50\n[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n";
    let spec = write(dir.path(), "p.toml", spec);
    let out = dir.path().join("out");
    text(&["compare", &spec, "--instances", "100", "-o", out.to_str().unwrap()]);
    sound(&out.join("report.html"), 1);
}

#[test]
fn the_report_of_the_paper() {
    let dir = tempfile::tempdir().unwrap();
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction");
    for entry in std::fs::read_dir(records).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    text(&["report", dir.path().to_str().unwrap()]);
    let html = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    let figures = html.matches("<figure").count();
    assert!(figures >= 20, "{figures} figures");
    sound(&dir.path().join("report.html"), figures);
}

/// Figures are named after the kind of a record, which must not lead elsewhere.
#[test]
fn a_record_cannot_write_outside_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    let out = out.to_str().unwrap();
    text(&["compare", "bernoulli-2", "--policies", "ucb1", "--instances", "9", "-o", out]);
    let path = format!("{out}/compare.record.json");
    let record = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, record.replace("\"kind\": \"compare\"", "\"kind\": \"../../../escaped\"")).unwrap();
    refused_saying(
        &["report", out],
        &["compare.record.json", "kind", "'../../../escaped'", "train, compare"],
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
