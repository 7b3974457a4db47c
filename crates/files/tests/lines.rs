//! Lines of every kind: where they end, what quotes span, where messages say that something stands.
#![allow(clippy::unwrap_used)]

use flate2::Compression;
use flate2::write::GzEncoder;
use gradband::problem::{Examples, Scale};
use gradband_files::read_examples;
use std::io::Write;

fn read(text: impl AsRef<[u8]>) -> gradband::Result<Examples> {
    Ok(read_examples(text.as_ref(), "t.csv", None, Scale::None, 0.0)?.0)
}

fn examples(text: impl AsRef<[u8]>) -> Examples {
    read(text).unwrap()
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, parts: &[&str]) {
    let error = read(text).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn line_numbers_count_every_kind_of_line() {
    let text = "# remark\n\na,b,y\n1,2,0\n  \n# another\n1,red,1\n3,4,1\n5,6,0\n";
    for end in ["\n", "\r\n"] {
        refused(text.replace('\n', end), &["t.csv, line 7, column 2 ('b')", "'red'"]);
        refused(text.replace("red", "2,3").replace('\n', end), &["t.csv, line 7: found 4 fields"]);
        refused(text.replace("red", "\"2").replace('\n', end), &["t.csv, line 7: a quote"]);
        let not_utf8 = text.replace('\n', end).into_bytes();
        let not_utf8: Vec<u8> =
            not_utf8.into_iter().map(|byte| if byte == b'd' { 0xff } else { byte }).collect();
        refused(not_utf8, &["t.csv, line 7: is not UTF-8"]);
    }
}

#[test]
fn quoted_fields_may_hold_line_ends() {
    for end in ["\n", "\r\n"] {
        let text = "\"a\n# no remark\",b,y\n\n1,2,\"first\n\n# kind\"\n3,4,second\n5,6,\"say \"\"so\"\"\"\n";
        let text = text.replace('\n', end);
        let examples = examples(&text);
        assert_eq!(examples.feature_names(), ["a\n# no remark", "b"]);
        assert_eq!(examples.classes(), ["first\n\n# kind", "say \"so\"", "second"]);
        refused(text.replace("5,6", "5,x"), &["line 8, column 2 ('b')", "'x'"]);
        refused(text.replace("1,2", "1,x"), &["line 4, column 2 ('b')", "'x'"]);
    }
    assert_eq!(examples("a, y\n1, \"x\"\n2, \"z\"\n").classes(), ["x", "z"], "a space before the quote");
}

#[test]
fn a_quote_that_is_not_closed_does_not_swallow_the_file() {
    refused("a,y\n1,0\n2,\"1\n3,0\n", &["line 3", "a quote in the row that begins here is not closed"]);
    refused("\"a,y\n1,0\n", &["line 1", "quote"]);
    let long = format!("a,y\n1,0\n2,\"1\n{}", "3,0\n".repeat(2 << 20));
    refused(long, &["line 3", "is not closed within 4 MB"]);
}

/// Columns of tens of kilobytes go through buffers in parts.
#[test]
fn long_lines_are_read_whole() {
    let row = |x: u32| (0..9000).map(|i| format!("{}.{:06},", x, i)).collect::<String>() + &format!("{x}\n");
    let examples = examples(row(1) + &row(2) + &row(3));
    assert_eq!((examples.len(), examples.dim()), (3, 9000));
    assert_eq!(examples.features(2)[8999], 3.008_999);
}

#[test]
fn broken_gzip_is_named() {
    let sound = gzip("a,y\n1,0\n2,1\n".repeat(100).as_bytes());
    refused(&sound[..sound.len() - 9], &["cut off"]);
    refused(&sound[..5], &["cut off"]);
    let mut flipped = sound.clone();
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    refused(&flipped, &["damaged"]);
    refused([&sound[..], b"garbage after the end"].concat(), &["damaged"]);
    let two = [gzip(b"a,y\n1,0\n"), gzip(b"2,1\n")].concat();
    assert_eq!(examples(two).len(), 2);
}

/// Thirty kilobytes become sixty-four megabytes of rows: refused once they are too many.
#[test]
fn a_bomb_is_refused() {
    let rows = "1,1\n1,2\n".repeat(9 << 20);
    let bomb = gzip(rows.as_bytes());
    assert!(bomb.len() < rows.len() / 100, "{} bytes", bomb.len());
    refused(bomb, &["line 16777217", "more than 16777216 examples", "take a sample"]);
}
