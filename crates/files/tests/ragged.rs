//! Tables as people have them: columns under other names, other arms in each problem, rows per day, numbers and files as
//! spreadsheets write them.
#![allow(clippy::unwrap_used)]

use gradband::problem::{Cell, Fit, Keys, Split, Table};
use gradband_files::{Columns, TableOptions, read_table_with};

const CLICKS: [(&str, &str); 4] =
    [("problem", "campaign"), ("arm", "creative"), ("successes", "clicks"), ("trials", "views")];

fn options(columns: &[(&str, &str)], arms: Option<usize>) -> TableOptions {
    let said = columns.iter().fold(Keys::default(), |keys, (name, header)| keys.with(name, *header));
    TableOptions { columns: Columns::from_keys(&said).unwrap(), arms, ..TableOptions::default() }
}

fn read(text: impl AsRef<[u8]>, options: &TableOptions) -> gradband::Result<(Table, Vec<String>)> {
    read_table_with(text.as_ref(), "past.csv", options)
}

fn cells(table: &Table) -> Vec<Vec<Cell>> {
    table.rows(Split::Train).map(|row| row.arms.clone()).collect()
}

fn counts(successes: f64, trials: f64) -> Cell {
    Cell::Counts { successes, trials }
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, options: &TableOptions, parts: &[&str]) {
    let error = read(text, options).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

/// Two days of three creatives, in any order among other columns.
const DAYS: &str = "day;clicks;creative;campaign;cost;views\n1;3;x;spring;2,50;200\n1;1;y;spring;1,5;210\n\
                    2;2;x;spring;9;190\n1;0;z;summer;;80\n";

#[test]
fn columns_are_found_under_their_names_and_days_are_added_up() {
    let (table, notes) = read(DAYS, &options(&CLICKS, Some(2))).unwrap();
    assert_eq!(cells(&table), [vec![counts(5.0, 390.0), counts(1.0, 210.0)], vec![counts(0.0, 80.0)]]);
    assert_eq!(notes, ["past.csv: rows added to earlier ones of the same problem and arm: 1"]);
    // Headers that differ in case alone are found; those of ours need not be said.
    let said = [("problem", "Campaign"), ("arm", "CREATIVE")];
    let text = DAYS.replace("clicks", "Successes").replace("views", "trials");
    let (table, _) = read(text, &options(&said, Some(2))).unwrap();
    assert_eq!(cells(&table)[1], [counts(0.0, 80.0)]);
    let outcomes = "problem,arm,successes,failures\nx,a,1,9\nx,b,2,8\ny,a,0,3\ny,b,1,1\n";
    let (table, _) = read(outcomes, &options(&[], None)).unwrap();
    assert_eq!(cells(&table)[0], [counts(1.0, 10.0), counts(2.0, 10.0)]);
    assert_eq!(table.arm_names(), ["a", "b"]);
}

#[test]
fn columns_that_are_missing_or_ambiguous_are_refused() {
    let said = |name: &str, header: &'static str| {
        let mut said = CLICKS;
        said.iter_mut().find(|(known, _)| *known == name).unwrap().1 = header;
        options(&said, Some(2))
    };
    let parts = [
        "past.csv, line 1: has no column 'klicks'",
        "columns.successes",
        "did you mean 'clicks'",
        "found day, clicks",
    ];
    refused(DAYS, &said("successes", "klicks"), &parts);
    let twice = DAYS.replace("cost", "clicks");
    refused(
        &twice,
        &options(&CLICKS, Some(2)),
        &["line 1", "column 2 ('clicks') and column 5 ('clicks')", "rename"],
    );
    let both = "instance,problem,arm,mean\nx,y,a,0.5\n";
    refused(
        both,
        &options(&[], None),
        &["line 1", "column 1 ('instance') and column 2 ('problem')", "columns = { problem"],
    );
    refused("problem,arm,mean,Mean\nx,a,0.5,0.5\n", &options(&[], None), &["may each be the mean"]);
    refused(DAYS, &options(&CLICKS[..1], None), &["line 2, column 3 ('creative')", "columns = {"]);
    refused(DAYS, &options(&CLICKS[1..], Some(2)), &["line 1", "which column is the problem", "problem = "]);
    refused(DAYS, &options(&CLICKS[..3], Some(2)), &["line 1", "long form needs", "'trials'"]);
    refused(
        DAYS,
        &options(&[], None),
        &["line 2, column 3 ('creative'): found 'x'", "columns = { problem ="],
    );
    let error = Columns::from_keys(&Keys::default().with("arm", "x").with("mean", "x")).unwrap_err();
    assert_eq!(error.to_string(), "mean: names the column 'x', and so does arm");
    let error = Columns::from_keys(&Keys::default().with("arm", 3_usize)).unwrap_err();
    assert!(error.to_string().starts_with("arm: found a number, expected the header"), "{error}");
    let sample = "problem,arm,mean,count\nx,a,1,2\n";
    refused(
        sample,
        &options(&[("mean", "mean"), ("count", "count")], None),
        &["line 1: has no column 'variance'"],
    );
}

#[test]
fn other_arms_in_each_problem_need_a_number_of_arms() {
    let text = "problem,arm,successes,trials\nx,a,1,9\nx,b,2,9\nx,c,0,9\ny,d,0,3\ny,e,1,3\nz,f,1,3\n";
    let parts = ["line 2: instance 'x' has no row for arm 'd'", "set arms = 2", "1 to 3 arms"];
    refused(text, &options(&[], None), &parts);
    for arms in [2, 3, 7] {
        let (table, _) = read(text, &options(&[], Some(arms))).unwrap();
        assert!(table.arms() == arms && table.is_exchangeable() && table.arm_names().is_empty());
        let sizes: Vec<usize> = cells(&table).iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 2, 1]);
    }
    // In wide form a field may be empty.
    let wide = "a;b;c\n0,1;;0,3\n0,2;0,4;\n";
    refused(wide, &options(&[], None), &["line 2, column 2 ('b'): is empty", "set arms = K"]);
    let (table, _) = read(wide, &options(&[], Some(2))).unwrap();
    assert_eq!(cells(&table), [[0.1, 0.3].map(Cell::Mean), [0.2, 0.4].map(Cell::Mean)]);
    refused("a,b\n0.1,0.2\n,\n", &options(&[], Some(2)), &["line 3: has no arm"]);
    refused(
        ",a,b\n0,0.1,0.2\n1,0.1,0.3\n",
        &options(&[], None),
        &["line 1, column 1", "has no name", "index"],
    );
    let (headerless, _) = read("0.1,\n0.2,0.3\n", &options(&[], Some(2))).unwrap();
    assert_eq!(headerless.rows(Split::Train).len(), 2);
}

#[test]
fn measured_means_have_variance_and_count() {
    let text = "problem\tarm\tmean\tvariance\tcount\nx\ta\t1,5\t4\t10\nx\tb\t-0,5\t\t1\ny\ta\t2\t0,25\t5\ny\tb\t1\t9\t3\n";
    let (table, _) = read(text, &options(&[], None)).unwrap();
    let sample = |mean, variance, count| Cell::Sample { mean, variance, count };
    assert_eq!(cells(&table)[0], [sample(1.5, 4.0, 10.0), sample(-0.5, 0.0, 1.0)]);
    assert_eq!(table.noise_sd(), Some(((9.0 * 4.0 + 4.0 * 0.25 + 2.0 * 9.0) / 15.0_f64).sqrt()));
    assert_eq!(table.fitted().fit(), Fit::Normal);
    // Said alone, a mean stands alone.
    let (table, _) = read(text, &options(&[("mean", "mean")], None)).unwrap();
    assert_eq!(cells(&table)[0], [1.5, -0.5].map(Cell::Mean));
    refused(text.replace("\t10\n", "\t0\n"), &options(&[], None), &["line 2: found a count of 0"]);
    refused(text.replace("\t4\t", "\t-4\t"), &options(&[], None), &["line 2: found a variance of -4"]);
    let twice = format!("{text}x\ta\t1\t1\t1\n");
    refused(twice, &options(&[], None), &["line 6: instance 'x' has arm 'a' twice", "successes and trials"]);
}

#[test]
fn counts_that_cannot_be_are_refused() {
    let line =
        |counts: &str| format!("problem;arm;successes;trials\nx;a;{counts}\nx;b;1;2\ny;a;1;2\ny;b;1;2\n");
    let refused = |counts: &str, parts: &[&str]| {
        refused(line(counts), &options(&[], None), &[parts, &["line 2"]].concat())
    };
    refused("5;3", &["5 successes in 3 trials", "0 <= successes <= trials"]);
    refused("-1;3", &["-1 successes"]);
    refused("0;-3", &["in -3 trials"]);
    refused("0,5;3", &["0.5 successes", "whole numbers"]);
    refused("1;1,234", &["column 4 ('trials')", "found '1,234'", "write 1234"]);
    refused("1;1.234", &["found '1.234'", "write 1234"]);
    refused("1;12.000", &["write 12000"]);
    refused("5%;10", &["column 3 ('successes')", "not a share"]);
    refused(";10", &["column 3 ('successes'): is empty"]);
    refused("1;NA", &["found 'NA', expected a number"]);
    let million = read(line("50000;5000000"), &options(&[], None)).unwrap().0;
    assert_eq!(cells(&million)[0][0], counts(50_000.0, 5e6));
    let quoted = "problem,arm,successes,trials\nx,a,1,\"1,234\"\n";
    self::refused(quoted, &options(&[], None), &["line 2", "write 1234"]);
    self::refused("a,b\n\"0,5\",0.5\n", &options(&[], None), &["line 2", "decimal point"]);
    self::refused(
        "a;b\n0,5;0,5\n1.234;2\n",
        &options(&[], None),
        &["line 3", "',' is the decimal sign in line 2"],
    );
    self::refused(
        "problem,arm,mean\n,a,0.5\n",
        &options(&[], None),
        &["line 2, column 1 ('problem'): is empty"],
    );
}

#[test]
fn files_that_are_no_text_are_refused_with_the_remedy() {
    let utf16 = |bytes: [fn(u16) -> [u8; 2]; 1], mark: bool| -> Vec<u8> {
        let units = mark.then_some(0xfeff).into_iter().chain("a,b\n0.5,0.5\n".encode_utf16());
        units.flat_map(bytes[0]).collect()
    };
    for file in
        [utf16([u16::to_le_bytes], true), utf16([u16::to_be_bytes], true), utf16([u16::to_le_bytes], false)]
    {
        refused(file, &options(&[], None), &["past.csv: is UTF-16", "save the table as CSV (UTF-8)"]);
    }
    for start in [&b"PK\x03\x04xl/workbook"[..], b"\xd0\xcf\x11\xe0\xa1\xb1"] {
        refused(
            start,
            &options(&[], None),
            &["past.csv: is a ZIP archive or a spreadsheet", "save the sheet as CSV"],
        );
    }
}

#[test]
fn one_past_problem_is_refused() {
    refused("a,b\n0.5,0.6\n", &options(&[], None), &["past.csv: found 1 past problem", "kind = \"points\""]);
    let few = TableOptions { holdout: 0.3, ..options(&[], None) };
    refused("a,b\n0.5,0.6\n0.1,0.2\n0.2,0.3\n", &few, &["found 3 past problems", "holdout = 0"]);
    // Equal ones stay on one side.
    refused(
        "a,b\n0.5,0.6\n".to_string() + &"0.5,0.6\n".repeat(20),
        &few,
        &["2 different ones", "add past problems"],
    );
}
