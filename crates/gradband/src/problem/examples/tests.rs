//! Tests of examples that are built row by row; what is read from files is tested where files are read.

use super::*;
use proptest::prelude::*;

type Rows<'a> = &'a [(&'a [f64], &'a str)];

fn build(rows: Rows, scale: Scale, holdout: f64) -> Result<(Examples, Vec<String>)> {
    let mut builder = ExamplesBuilder::new(scale, holdout)?;
    for (row, label) in rows {
        builder.push(row, label)?;
    }
    builder.finish(None)
}

#[track_caller]
fn refused(rows: Rows, holdout: f64, expected: &str) {
    let error = build(rows, Scale::MinMax, holdout).unwrap_err().to_string();
    assert!(error.contains(expected), "'{expected}' is not in: {error}");
}

#[test]
fn rows_become_examples() {
    let rows: Rows = &[(&[1.0], "10"), (&[3.0, 2.0], "9"), (&[2.0, 4.0], "9.0")];
    let (examples, notes) = build(rows, Scale::MinMax, 0.0).unwrap();
    assert_eq!(examples.classes(), ["9", "10"]);
    assert_eq!(examples.feature_names(), ["f1", "f2"]);
    assert_eq!((examples.len(), examples.dim(), examples.scale()), (3, 2, Scale::MinMax));
    assert_eq!((0..3).map(|i| examples.label(i)).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!([examples.features(0), examples.features(1)], [[-1.0, -1.0], [1.0, 0.0]]);
    assert!(notes.is_empty() && !examples.is_split());
}

#[test]
fn errors_name_the_row() {
    refused(&[], 0.0, "examples: found 0 example(s)");
    refused(&[(&[1.0], "a")], 0.0, "examples: found 1 example(s)");
    refused(&[(&[], "a"), (&[], "b")], 0.0, "examples: found no feature");
    refused(&[(&[1.0], "a"), (&[2.0], "a")], 0.0, "examples: every label is 'a'");
    refused(&[(&[1.0], "a"), (&[2.0], "b")], 0.5, "examples: found 2 example(s): too few different ones");
    refused(&[(&[1.0], "a"), (&[2.0, f64::NAN], "b")], 0.0, "row 2, column 2 ('f2'): found NaN");
    refused(&[(&[f64::INFINITY], "a")], 0.0, "row 1, column 1 ('f1'): found inf, expected a finite number");
    refused(
        &[(&[-1e31], "a")],
        0.0,
        "row 1, column 1 ('f1'): found -1e31, expected a finite number of at most 1e30",
    );
    refused(&[(&[0.0; MAX_FEATURES + 1], "a")], 0.0, "row 1: found 10001 features");
    refused(&[], 0.95, "holdout: found 0.95");
}

#[test]
fn a_refused_row_leaves_nothing_behind() {
    let mut builder = ExamplesBuilder::new(Scale::None, 0.0).unwrap();
    for label in 0..1000 {
        builder.push(&[f64::from(label)], &label.to_string()).unwrap();
    }
    let error = builder.push(&[0.0], "another").unwrap_err().to_string();
    assert!(error.starts_with("row 1001: found 'another' as another label after 1000"), "{error}");
    assert!(builder.push(&[f64::NAN], "0").is_err());
    assert!((builder.len(), builder.dim()) == (1000, 1) && !builder.is_empty());
    let (examples, _) = builder.finish(Some(vec!["x".into()])).unwrap();
    assert_eq!(
        (examples.len(), examples.classes().len(), examples.feature_names()),
        (1000, 1000, &["x".into()][..])
    );
}

#[test]
fn names_must_fit() {
    let mut builder = ExamplesBuilder::new(Scale::None, 0.0).unwrap();
    builder.push(&[1.0, 2.0], "a").unwrap();
    builder.push(&[1.0, 2.0], "b").unwrap();
    let error = builder.finish(Some(vec!["x".into()])).unwrap_err().to_string();
    assert!(error.contains("found 1 names of features, expected 2"), "{error}");
}

proptest! {
    /// Rows of growing length are what they would be if all had been as long as the longest.
    #[test]
    fn short_rows_are_filled_with_zeros(rows in prop::collection::vec(prop::collection::vec(-3..3_i32, 0..12), 2..20)) {
        let dim = rows.iter().map(Vec::len).max().unwrap_or(0);
        prop_assume!(dim > 0);
        let short: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        let long = short.iter().map(|row| {
            let mut row = row.clone();
            row.resize(dim, 0.0);
            row
        });
        let long: Vec<Vec<f64>> = long.collect();
        let build = |rows: &[Vec<f64>]| {
            let labelled: Vec<_> = rows.iter().zip(["a", "b"].into_iter().cycle()).map(|(x, y)| (&x[..], y)).collect();
            build(&labelled, Scale::MinMax, 0.0).unwrap().0
        };
        let (short, long) = (build(&short), build(&long));
        prop_assert_eq!(short.values, long.values);
        prop_assert_eq!(short.scaling, long.scaling);
    }
}
