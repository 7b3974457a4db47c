//! Tests of the reader of labelled tables.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use gradband::problem::{SCALES, Scaling, Split};
use proptest::prelude::*;
use std::io::Write;

fn read(text: impl AsRef<[u8]>) -> Result<(Examples, Vec<String>)> {
    read_examples(text.as_ref(), "t.csv", None, Scale::MinMax, 0.0)
}

fn examples(text: impl AsRef<[u8]>) -> Examples {
    read(text).unwrap().0
}

fn raw(text: &str, label: Option<&str>) -> Examples {
    read_examples(text.as_bytes(), "t.csv", label, Scale::None, 0.0).unwrap().0
}

/// Features and labels.
fn all(examples: &Examples) -> Vec<(&[f32], usize)> {
    (0..examples.len()).map(|i| (examples.features(i), examples.label(i))).collect()
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, parts: &[&str]) {
    refused_with(text, None, parts);
}

#[track_caller]
fn refused_with(text: impl AsRef<[u8]>, label: Option<&str>, parts: &[&str]) {
    let error = read_examples(text.as_ref(), "t.csv", label, Scale::MinMax, 0.0).unwrap_err().to_string();
    for part in parts.iter().chain(&["t.csv"]) {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
    assert!(error.len() < 600, "too long: {error}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const PLAIN: &str = "a,b,class\n1,10,x\n3,20,y\n2,40,x\n";

#[test]
fn forms_of_the_same_table_read_the_same() {
    let semicolons = PLAIN.replace(',', ";");
    let forms = [
        PLAIN.into(),
        semicolons.clone(),
        PLAIN.replace(',', "\t"),
        PLAIN.replace('\n', "\r\n"),
        format!("\u{feff}# a comment\n\n{PLAIN}\n\n  \n"),
        PLAIN.trim_end().into(),
        PLAIN.replace('x', "\"x\"").replace("a,", "\"a\" , "),
        PLAIN.replace("10", " 1e1 ").replace("20", "+20.0"),
    ];
    for form in forms {
        for bytes in [form.clone().into_bytes(), gzip(form.as_bytes())] {
            let examples = examples(bytes);
            assert_eq!(examples.classes(), ["x", "y"]);
            assert_eq!(examples.feature_names(), ["a", "b"]);
            assert_eq!((examples.len(), examples.dim(), examples.is_split()), (3, 2, false));
            assert_eq!((0..3).map(|i| examples.label(i)).collect::<Vec<_>>(), [0, 1, 0]);
            assert_eq!(examples.features(0), [-1.0, -1.0]);
            assert_eq!(examples.features(1), [1.0, -1.0 / 3.0]);
            assert_eq!(examples.features(2), [0.0, 1.0]);
            assert_eq!(examples.max_norm_squared(), 2.0);
            assert_eq!(examples.rows(Split::Train), [0, 1, 2]);
            assert_eq!(examples.rows(Split::HeldOut), [0, 1, 2]);
        }
    }
}

#[test]
fn the_label_is_found() {
    let label = |text: &str, label: Option<&str>| {
        let examples = raw(text, label);
        (examples.feature_names().join(" "), examples.classes().join(" "))
    };
    let of = |features: &str, classes: &str| (features.to_string(), classes.to_string());
    assert_eq!(label("Y,a\n1,5\n0,6\n", None), of("a", "0 1"));
    assert_eq!(label("a,b\n1,5\n0,6\n", None), of("a", "5 6"));
    assert_eq!(label("a,b\n1,5\n0,6\n", Some("a")), of("b", "0 1"));
    assert_eq!(label("a,b\n1,5\n0,6\n", Some("1")), of("b", "0 1"));
    assert_eq!(label("5.1,3.5,setosa\n4.9,3,virginica\n", None), of("f1 f2", "setosa virginica"));
    assert_eq!(label("u,5.1,3.5\nv,4.9,3\n", Some("1")), of("f1 f2", "u v"));
    assert_eq!(label("1,2,3\n4,5,10\n4,5,9\n", None), of("f1 f2", "3 9 10"));
    assert_eq!(label("1,2,out\n4,5,10\n4,5,9\n", None), of("1 2", "9 10"));
    assert_eq!(label("1,2,label\n4,5,b\n4,5,none\n", None), of("1 2", "b none"));
    assert_eq!(label(",a,label\n4,5,b\n4,5,c\n", None), of("column 1 a", "b c"));
    assert_eq!(label("a,b\n1,1.0\n0,01\n0,-2\n", None), of("a", "-2 01"));
    let (_, notes) = read("class,a,label\n1,2,3\n2,3,4\n").unwrap();
    assert!(notes[0].contains("'label' is taken for the label and 'class' for a feature"), "{notes:?}");
}

/// A file that numbers its columns, and nothing else in its first line.
#[test]
fn columns_that_are_numbered_are_no_example() {
    for text in [
        "0,1,2\n5.1,3.5,0\n4.9,3,1\n",
        "1,2,3\n5,3,1\n4.9,3,0\n",
        "0,1,2\n5,3,setosa\n4,3,virginica\n",
        "0;1;2\n5.1;3.5;0\n4.9;3;1\n",
    ] {
        refused(text, &["line 1: the fields count the columns: are they names, or an example?", "'label'"]);
    }
    assert_eq!(raw("f0,f1,label\n5.1,3.5,0\n4.9,3,1\n", None).len(), 2);
    assert_eq!(raw("a,b,label\n0,1,2\n5.1,3.5,0\n4.9,3,1\n", None).len(), 3);
}

#[test]
fn libsvm_is_read() {
    let text = "# made by hand\n+1 1:0.5 3:2 # a remark\n-1\n+1 2:-4 5:1\n-1 1:1 2:1 3:1 4:1 5:1 \n";
    let examples = raw(text, None);
    assert_eq!(examples.classes(), ["-1", "+1"]);
    assert_eq!(examples.feature_names(), ["f1", "f2", "f3", "f4", "f5"]);
    assert_eq!(examples.features(0), [0.5, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(examples.features(1), [0.0; 5]);
    assert_eq!(examples.features(2), [0.0, -4.0, 0.0, 0.0, 1.0]);
    assert_eq!(examples.features(3), [1.0; 5]);
    let (scaled, dense) = (
        read(text).unwrap().0,
        read("f1,f2,f3,f4,f5,label\n.5,0,2,0,0,1\n0,0,0,0,0,-1\n0,-4,0,0,1,1\n1,1,1,1,1,-1\n").unwrap().0,
    );
    assert_eq!(all(&scaled), all(&dense));
    assert_eq!(scaled.scaling(), dense.scaling());
    assert_eq!(raw("1\n2 1:3\n", None).features(0), [0.0], "a first line without features");
    assert_eq!(raw("1\t1:3\n2\t1:4\n", None).features(0), [3.0]);
}

#[test]
fn libsvm_errors_name_the_field() {
    refused("1 1:2\n2 0:1\n", &["line 2, field 2", "'0:1'", "from 1"]);
    refused("1 1:2\n2 3:1 3:1\n", &["line 2, field 3", "increasing", "above 3"]);
    refused("1 1:2\n2 3:1 2:1\n", &["line 2", "increasing"]);
    refused("1 1:2\n2 x:1\n", &["line 2", "'x:1'"]);
    refused("1 x:2\n2 1:1\n", &["line 1", "'x:2'"]);
    refused("1 1:2\n2 7\n", &["line 2", "'7'", "index:value"]);
    refused("1 1:2\n2 1:red\n", &["line 2", "'red'", "f1"]);
    refused("1 1:2\n2 1:\n", &["line 2", "missing"]);
    refused("1 1:2\n2 1:inf\n", &["line 2", "finite"]);
    refused("1 1:2\n2 99999999:1\n", &["line 2", "at most 10000"]);
    refused("1 1:2\n1:2\n", &["line 2", "label first"]);
    refused_with("1 1:2\n2 1:1\n", Some("x"), &["always first"]);
    let row = "1 10000:1\n2 10000:2\n".repeat(5_100);
    refused(row, &["line 10067", "numbers"]);
}

#[test]
fn errors_name_line_and_column() {
    for missing in ["", "NA", "?", "nan", "NaN", " ", "null"] {
        refused(format!("a,b,y\n1,2,0\n1,{missing},1\n"), &["line 3, column 2 ('b')", "missing"]);
        refused(format!("a,b,y\n1,2,0\n1,3,{missing}\n"), &["line 3, column 3 ('y')", "missing label"]);
    }
    refused("1,?,0\n1,2,1\n", &["line 1, column 2 ('f2')", "missing"]);
    refused("a,b,y\n1,2,0\n1,inf,1\n", &["line 3, column 2", "'inf'", "finite"]);
    refused("a,b,y\n1,2,0\n1,-1e300,1\n", &["line 3, column 2", "'-1e300'", "1e30"]);
    refused("a;b;y\n1;2;0\n1;3,5;1\n", &["line 3", "'3,5'", "decimal point"]);
    refused("a,b,y\n1,2,0\n1,2\n", &["line 3", "found 2 fields, expected 3"]);
    refused("a,b,y\n1,2,0\n1,2,3,4\n", &["line 3", "found 4 fields, expected 3"]);
    refused("a,b,y\n1,2,0\n1,\"2,4\n", &["line 3", "quote"]);
    refused("a,b,a\n1,2,0\n1,2,3\n", &["line 1", "'a' stands there twice"]);
    refused("", &["is empty"]);
    refused("\n# nothing\n", &["is empty"]);
    refused("a,b,y\n", &["no example"]);
    refused("a,b,y\n1,2,0\n", &["found 1 example"]);
    refused("1,2,0\n", &["found 1 example"]);
    refused("a,y\n1,0\n2,0\n", &["every label is '0'"]);
    refused("a\n1\n2\n", &["line 1", "found 1 column"]);
    refused(b"a,y\n1,0\n2,\xff\n", &["line 3", "UTF-8"]);
    refused("PK\u{3}\u{4}", &["ZIP"]);
    refused_with("alpha,kind\n1,0\n2,1\n", Some("kin"), &["line 1", "did you mean 'kind'?", "alpha"]);
    refused_with("a,b\n1,0\n2,1\n", Some("3"), &["no column 3", "1 to 2"]);
    refused_with("1,0\n2,1\n", Some("kind"), &["line 1", "no header", "1 to 2"]);
    let many: String = (0..1001).map(|i| format!("1,{i}.5\n")).collect();
    refused(format!("a,b\n{many}"), &["line 1002", "'1000.5'", "continuous", "1000 classes"]);
}

#[test]
fn a_column_of_text_is_told_from_a_slip() {
    refused("a,b,y\n1,2,0\n1,red,1\n3,4,1\n5,6,0\n", &["line 3, column 2 ('b')", "'red', expected a number"]);
    let text = "a,b,y\n1,red,0\n1,blue,1\n3,4,1\n";
    refused(text, &["line 2, column 2", "'red'", "2 of the 3 lines", "one-hot"]);
    let slip = read_examples(&b"a,b,y\n1,2,0\n1,red,1\n3,4,1\n5,6,0\n"[..], "t", None, Scale::None, 0.0);
    assert!(!slip.unwrap_err().to_string().contains("one-hot"));
}

#[test]
fn wide_and_long_files_are_refused_early() {
    let header: String = (0..100_000).map(|i| format!("c{i},")).collect();
    let start = std::time::Instant::now();
    refused(format!("{header}y\n"), &["line 1", "found 100001 column(s), expected 2 to 10001"]);
    refused_with(format!("{header}y\n"), Some("nothing"), &["100001 column(s)"]);
    refused("1,".repeat(5 << 20), &["line 1", "longer than 4 MB"]);
    assert!(start.elapsed().as_secs() < 5);
    let names: String = (0..10_000).map(|i| format!("c{i},")).collect();
    refused_with(format!("{names}y\n"), Some("c99999"), &["did you mean", ", ..."]);
}

#[test]
fn scales_are_what_they_say() {
    let text = "a,b,c,y\n1,1700000000,7,0\n2,1700000001,7,1\n6,1700000004,7,1\n";
    let read = |scale| read_examples(text.as_bytes(), "t.csv", None, scale, 0.0).unwrap();
    let (examples, notes) = read(Scale::MinMax);
    assert_eq!(examples.features(1), [-0.6, -0.5, 0.0]);
    assert_eq!(examples.scaling()[1], Scaling { shift: 1_700_000_002.0, factor: 0.5 });
    assert_eq!(examples.scaling()[2].factor, 0.0);
    assert_eq!(notes, ["t.csv: 1 feature is constant and becomes 0: 'c'"]);
    assert_eq!(read(Scale::Unit).0.features(1), [0.2, 0.25, 0.0]);
    let (examples, _) = read(Scale::Standard);
    for feature in 0..2 {
        let column: Vec<f64> = (0..3).map(|i| f64::from(examples.features(i)[feature])).collect();
        assert!(column.iter().sum::<f64>().abs() < 1e-6);
        assert!((column.iter().map(|x| x * x).sum::<f64>() / 3.0 - 1.0).abs() < 1e-6);
    }
    let (examples, notes) = read(Scale::None);
    assert_eq!(examples.features(2), [6.0, 1_700_000_004.0_f64 as f32, 7.0]);
    assert!(notes.is_empty());
    for (name, scale) in SCALES {
        assert_eq!((Scale::named(name).unwrap(), scale.name()), (scale, name));
        let (examples, _) = read(scale);
        let raw = [2.0, 1_700_000_001.0, 7.0];
        let applied: Vec<f32> = examples.scaling().iter().zip(raw).map(|(s, x)| s.apply(x)).collect();
        assert_eq!(examples.features(1), applied);
    }
    assert!(Scale::named("minmx").unwrap_err().to_string().contains("did you mean 'minmax'?"));
}

#[test]
fn many_constants_are_abridged() {
    let row = "5,".repeat(30);
    let (_, notes) = read(format!("{row}0\n{row}1\n")).unwrap();
    assert!(notes[0].contains("30 features are constant") && notes[0].ends_with("'f8', ..."), "{notes:?}");
}

/// The rows of each part, as sorted text.
fn parts(rows: &[String], holdout: f64) -> [Vec<String>; 2] {
    let text = format!("a,b,y\n{}", rows.concat());
    let (examples, _) = read_examples(text.as_bytes(), "t.csv", None, Scale::MinMax, holdout).unwrap();
    [Split::Train, Split::HeldOut].map(|split| {
        let mut part: Vec<_> = examples.rows(split).iter().map(|&i| rows[i as usize].clone()).collect();
        part.sort();
        part
    })
}

#[test]
fn the_hold_out_does_not_depend_on_the_order_and_keeps_equal_rows_together() {
    let rows: Vec<String> = (0..200).map(|i| format!("{},{},{}\n", i % 50, (i * 7) % 50, i % 3)).collect();
    let [train, held_out] = parts(&rows, 0.3);
    assert!((60..=64).contains(&held_out.len()) && train.len() + held_out.len() == 200);
    let features = |row: &String| row.rsplit_once(',').unwrap().0.to_string();
    assert!(train.iter().all(|row| held_out.iter().all(|other| features(row) != features(other))));
    let reversed: Vec<String> = rows.into_iter().rev().collect();
    assert_eq!(parts(&reversed, 0.3), [train, held_out]);
    let too_few = read_examples(&b"a,y\n1,0\n2,1\n"[..], "t.csv", None, Scale::MinMax, 0.3).unwrap_err();
    assert!(too_few.to_string().contains("holdout = 0"));
    let too_much = read_examples(&b""[..], "t.csv", None, Scale::MinMax, 1.5).unwrap_err();
    assert_eq!(too_much.place(), &Place::key("holdout"));
}

#[test]
fn classes_that_training_never_sees_are_noted() {
    let rows: String = (0..40).map(|i| format!("{i},{i}\n")).collect();
    let (_, notes) = read_examples(format!("a,y\n{rows}").as_bytes(), "t", None, Scale::MinMax, 0.5).unwrap();
    assert!(notes[0].contains("20 of 40 classes are only in the held-out part"), "{notes:?}");
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), holdout in 0.0..0.9) {
        let _ = read_examples(&bytes[..], "t", None, Scale::Standard, holdout);
        let _ = read_examples(&gzip(&bytes)[..], "t", Some("2"), Scale::MinMax, 0.0);
        let _ = read_examples(&[b"\x1f\x8b", &bytes[..]].concat()[..], "t", None, Scale::None, 0.0);
    }

    #[test]
    fn random_tables_do_not_panic(
        text in "([a-c0-2?.,;\t\":# -]|1e9|:1|,1|\n|\r\n){0,80}", label in prop::option::of("[a-c1-3]"), holdout in 0.0..0.9
    ) {
        let _ = read_examples(text.as_bytes(), "t", label.as_deref(), Scale::MinMax, holdout);
    }

    #[test]
    fn scaled_values_stay_in_range(rows in prop::collection::vec((-1e30..1e30, -1.0..1.0, 0_u8..2), 2..40)) {
        let text: String = rows.iter().map(|(a, b, y)| format!("{a:e},{b},{y}\n")).collect();
        if let Ok((examples, _)) = read(format!("a,b,y\n{text}")) {
            for i in 0..examples.len() {
                prop_assert!(examples.features(i).iter().all(|x| (-1.0..=1.0).contains(x)));
            }
        }
    }

    /// Rows of growing length are what they would be if all had been as long as the longest.
    #[test]
    fn sparse_is_dense(rows in prop::collection::vec(prop::collection::vec(-3..3_i32, 0..12), 2..20)) {
        let dim = rows.iter().map(|row| row.iter().rposition(|&x| x != 0).map_or(0, |i| i + 1)).max().unwrap_or(0);
        prop_assume!(dim > 0);
        let pairs = |row: &[i32]| -> String {
            row.iter().zip(1..).filter(|(x, _)| **x != 0).map(|(x, i)| format!(" {i}:{x}")).collect()
        };
        let sparse: String = rows.iter().zip(0..).map(|(row, i)| format!("{}{}\n", i % 2, pairs(row))).collect();
        let cell = |row: &Vec<i32>, i: usize| format!("{},", row.get(i).unwrap_or(&0));
        let dense = rows.iter().zip(0..).map(|(row, i)| {
            (0..dim).map(|at| cell(row, at)).collect::<String>() + &format!("{}\n", i % 2)
        });
        let (sparse, dense) = (examples(sparse), examples(dense.collect::<String>()));
        prop_assert_eq!(all(&sparse), all(&dense));
    }
}
