//! Tables of past instances: forms, splits, messages, and standard errors that count campaigns.
#![allow(clippy::unwrap_used)]

use gradband::problem::{Belief, Cell, Fit, Split, Table};
use gradband::{Evaluation, Prior, Problem, Simulator};
use gradband_files::{TableOptions, read_table, read_table_with};

fn wide(rows: usize) -> String {
    let mut text = "red,green,blue\n".to_string();
    for i in 0..rows {
        let mean = |arm: usize| ((i * 7 + arm * 13) % 97) as f64 / 100.0;
        text += &format!("{},{},{}\n", mean(0), mean(1), mean(2));
    }
    text
}

fn read(text: &str, holdout: f64) -> gradband::Result<Table> {
    read_table(text.as_bytes(), "past.csv", holdout)
}

#[test]
fn all_three_forms_are_read() {
    let table = read(&wide(10), 0.3).unwrap();
    assert_eq!(table.arm_names(), ["red", "green", "blue"]);
    assert_eq!((table.rows(Split::Train).len(), table.rows(Split::HeldOut).len()), (7, 3));
    let long = "instance,arm,mean\nx,a,0.5\nx,b,0.25\ny,b,1\ny,a,0\n";
    let rows: Vec<_> = read(long, 0.0).unwrap().rows(Split::Train).map(|row| row.arms.clone()).collect();
    assert_eq!(rows, [[Cell::Mean(0.5), Cell::Mean(0.25)], [Cell::Mean(0.0), Cell::Mean(1.0)]]);
    let counts = "arm,trials,successes,instance\na,10,3,x\nb,5,5,x\na,1,0,y\nb,2,1,y\n";
    let rows: Vec<_> = read(counts, 0.0).unwrap().rows(Split::HeldOut).map(|row| row.arms.clone()).collect();
    let cell = |successes, trials| Cell::Counts { successes, trials };
    assert_eq!(rows, [[cell(3.0, 10.0), cell(5.0, 5.0)], [cell(0.0, 1.0), cell(1.0, 2.0)]]);
    let headerless = read("0.1,0.2\n0.3,0.4\n", 0.0).unwrap();
    assert_eq!(
        (headerless.arm_names(), headerless.rows(Split::Train).len()),
        (&["1".into(), "2".into()][..], 2)
    );
}

#[test]
fn names_may_hold_line_ends_and_separators() {
    let table = read("\"red,\nround\",blue\n0.5,0.25\n0.5,0.5\n", 0.0).unwrap();
    assert_eq!(table.arm_names(), ["red,\nround", "blue"]);
    let error = read("\"red,\nround\",blue\n0.5,x\n", 0.0).unwrap_err().to_string();
    assert!(error.contains("line 3, column 2 ('blue')"), "{error}");
}

#[test]
fn other_separators_and_signatures_are_read() {
    for text in [
        "a;b\n0.5;0.25\n1;0\n",
        "\u{feff}a\tb\n0.5\t0.25\n1\t0\n",
        "a,b\r\n0.5,0.25\r\n1,0",
        "\"a\";\"b\"\r\n0,5;0,25\r\n1;0\r\n",
        "\u{feff}\"a\",\"b\"\n50%,25 %\n100%,0%\n",
        " a ; b \n 50,0% ; 0,25 \n1;0\n",
    ] {
        let table = read(text, 0.0).unwrap();
        assert_eq!(table.arm_names(), ["a", "b"]);
        assert_eq!(table.rows(Split::Train).next().unwrap().arms, [Cell::Mean(0.5), Cell::Mean(0.25)]);
    }
}

/// The held-out rows depend on their content alone: not on their order, and equal rows stay together.
#[test]
fn the_split_is_by_content() {
    let held_out = |text: &str| {
        let table = read(text, 0.3).unwrap();
        let mut rows: Vec<_> = table.rows(Split::HeldOut).map(|row| format!("{:?}", row.arms)).collect();
        rows.sort();
        rows
    };
    let text = wide(40);
    let mut lines: Vec<_> = text.lines().collect();
    lines[1..].reverse();
    assert_eq!(held_out(&text), held_out(&(lines.join("\n") + "\n")));
    let doubled = read(&(wide(20) + wide(20).split_once('\n').unwrap().1), 0.3).unwrap();
    let train: Vec<_> = doubled.rows(Split::Train).map(|row| format!("{:?}", row.arms)).collect();
    assert!(doubled.rows(Split::HeldOut).all(|row| !train.contains(&format!("{:?}", row.arms))));
}

#[test]
fn bad_tables_are_refused_with_file_and_line() {
    let cases = [
        ("", "is empty"),
        ("a,b\n", "no instance"),
        ("a\n0.5\n0.6\n", "expected 2 to"),
        ("a,b\n0.5,0.5\n0.5\n", "line 3: found 1 fields, expected 2"),
        ("a,b\n0.5,zebra\n", "line 2, column 2 ('b'): found 'zebra'"),
        ("a,b\n0.5,NaN\n", "finite"),
        ("a,b\n0.5,inf\n", "finite"),
        ("a,a\n0.5,0.5\n", "twice"),
        ("instance,arm,mean\nx,a,0.5\nx,b,0.5\ny,a,0.5\n", "line 4: instance 'y' has no row for arm 'b'"),
        ("instance,arm,mean\nx,a,0.5\nx,a,0.5\n", "line 3: instance 'x' has arm 'a' twice"),
        ("instance,arm,value\nx,a,0.5\n", "'mean', or 'successes' and 'trials'"),
        ("instance,arm,successes,trials\nx,a,5,3\n", "5 successes in 3 trials"),
        ("instance,arm,successes,trials\nx,a,0.5,3\n", "whole numbers"),
        ("a,b\n0.5,0.5\n0.4,0.4\n", "too few to hold out"),
    ];
    for (text, expected) in cases {
        let error = read(text, 0.3).unwrap_err().to_string();
        assert!(error.contains("past.csv") && error.contains(expected), "{text:?}: {error}");
    }
    let bytes: &[u8] = b"a,b\n0.5,\xff\xfe\n";
    assert!(read_table(bytes, "past.csv", 0.0).unwrap_err().to_string().contains("line 2: is not UTF-8"));
    let bytes = b"# past\r\n\r\na,b\r\n0.5,0.5\r\n\r\n0.5,zebra\r\n";
    let error = read_table(&bytes[..], "past.csv", 0.0).unwrap_err().to_string();
    assert!(error.starts_with("past.csv, line 6, column 2 ('b')"), "{error}");
    let table = Prior::table(read("a,b\n0.5,1.5\n0.1,0.1\n", 0.0).unwrap());
    let error = Problem::bernoulli(table).horizon(10).build().unwrap_err().to_string();
    assert!(error.contains("line 2, arm 'b'") && error.contains("1.5"), "{error}");
}

/// Arms that are called 0 and 1 are not an instance; what may be either is asked about.
#[test]
fn a_header_of_numbers_is_not_taken_for_an_instance() {
    for text in [
        "0,1\n0.5,0.6\n0.2,0.3\n0.9,0.1\n0.3,0.8\n",
        "1,2,3\n0.5,0.6,0.1\n",
        "0,1\n1,0\n",
        "2019,2020\n0.5,0.6\n",
        "\"0\",\"1\"\n0.5,0.6\n",
    ] {
        let error = read(text, 0.0).unwrap_err().to_string();
        assert!(error.starts_with("past.csv, line 1: all fields are whole numbers"), "{text:?}: {error}");
        assert!(error.contains("put a line with the names of the arms above"), "{error}");
    }
    let rows = |text: &str| read(text, 0.0).unwrap().rows(Split::Train).len();
    assert_eq!(rows("arm 0,arm 1\n0,1\n0.5,0.6\n"), 2);
    assert_eq!(rows("0.0,1.0\n0.5,0.6\n"), 2);
    assert_eq!(rows("1,0\n0,1\n"), 2);
    assert_eq!(rows("1,1\n0.5,1\n"), 2);
}

fn campaigns(text: &str, horizon: usize, holdout: f64) -> Problem {
    Problem::bernoulli(Prior::table(read(text, holdout).unwrap())).horizon(horizon).build().unwrap()
}

fn random(problem: &Problem, instances: usize) -> Evaluation {
    Simulator::new(problem).instances(instances).evaluate("random").unwrap()
}

/// Thirty campaigns are thirty observations, however often they are simulated.
#[test]
fn standard_errors_count_past_instances() {
    let held_out = campaigns(&wide(60), 50, 0.5);
    let error = |instances| random(&held_out, instances).regret().std_error;
    let (small, large) = (error(2_000), error(200_000));
    assert!(large > 0.8 * small, "{small} {large}");
    // The regret of random arms on a row is 50 (best - average); its spread over the 30 rows is the error.
    let Prior::Table(table) = &held_out.armed().unwrap().prior else { panic!("a table") };
    let regrets: Vec<f64> = table
        .rows(Split::HeldOut)
        .map(|row| {
            let means: Vec<f64> =
                row.arms.iter().map(|cell| if let Cell::Mean(x) = cell { *x } else { panic!() }).collect();
            50.0 * (means.iter().copied().fold(0.0, f64::max) - means.iter().sum::<f64>() / 3.0)
        })
        .collect();
    let n = regrets.len() as f64;
    let mean = regrets.iter().sum::<f64>() / n;
    let expected = (regrets.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    assert!((large / expected - 1.0).abs() < 0.02, "{large} {expected}");
}

/// Counts are redrawn: Beta(a + s, b + t - s) has mean (a + s) / (a + b + t), with a = b = 1 if nothing is fitted. 100,000
/// rewards: 0.005 is more than 3 standard errors.
#[test]
fn counted_arms_are_redrawn_from_their_posterior() {
    let text = "instance,arm,successes,trials\nx,a,8,10\nx,b,0,1\ny,a,8,10\ny,b,0,1\n";
    let reward = |fit: Option<Fit>| {
        let options = TableOptions { fit, ..TableOptions::default() };
        let (table, _) = read_table_with(text.as_bytes(), "past.csv", &options).unwrap();
        let unseen = table.fitted().unseen().unwrap();
        let problem = Problem::bernoulli(Prior::table(table)).horizon(1).build().unwrap();
        (random(&problem, 100_000).reward().mean, unseen)
    };
    let (flat, _) = reward(Some(Fit::Flat));
    assert!((flat - (9.0 / 12.0 + 1.0 / 3.0) / 2.0).abs() < 0.005, "{flat}");
    let (fitted, unseen) = reward(None);
    let Belief::Beta(a, b) = unseen else { panic!("{unseen}") };
    let expected = ((a + 8.0) / (a + b + 10.0) + a / (a + b + 1.0)) / 2.0;
    assert!((fitted - expected).abs() < 0.005, "{fitted}, not {expected}");
}

/// What is kept of a table takes several times its text.
#[test]
fn tables_have_a_largest_size() {
    let wide = format!("a,b\n{}", "0.1,0.2\n".repeat(1_000_001));
    let long: String = (0..2_000_001).map(|i| format!("{i},x,0.5\n")).collect();
    for (text, line) in [(wide, "line 1000002"), (format!("problem,arm,mean\n{long}"), "line 2000002")] {
        let error = gradband_files::read_table(text.as_bytes(), "t.csv", 0.5).unwrap_err().to_string();
        assert!(error.contains(line) && error.contains("more than 2000000 arms of past problems"), "{error}");
    }
}
