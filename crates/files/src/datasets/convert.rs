//! From the file that UCI publishes, or a copy of it with a header and labels from 0, to the form that is stored.

use super::store::hex;
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Cursor, Error, ErrorKind, Read, Result, Write};
use std::ops::ControlFlow;

/// The longest line.
const MAX_LINE: u64 = 1 << 16;
/// What is unpacked at most: a third more than there is.
const MAX_BYTES: u64 = 100_000_000;
/// Rows between two looks at the clock and at Ctrl-C.
const STEP: usize = 4096;

/// What was read.
pub struct Converted {
    pub rows: usize,
    /// SHA-256 of the rows as UCI publishes them, in hexadecimal.
    pub sha256: String,
}

/// The text inside a gzip file or a ZIP archive; plain text as it is.
pub fn unpacked(bytes: Vec<u8>) -> Result<Box<dyn Read>> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(MultiGzDecoder::new(Cursor::new(bytes)).take(MAX_BYTES)));
    }
    if !bytes.starts_with(b"PK\x03\x04") {
        return Ok(Box::new(Cursor::new(bytes)));
    }
    let wrong = |error: zip::result::ZipError| Error::new(ErrorKind::InvalidData, error.to_string());
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(wrong)?;
    let mut names = archive.file_names().filter_map(|name| name.ok().map(String::from));
    let name = names.find(|name| name.ends_with(".data") || name.ends_with(".data.gz"));
    drop(names);
    let name = name.ok_or_else(|| Error::new(ErrorKind::InvalidData, "the archive holds no file *.data"))?;
    let mut inside = Vec::new();
    archive.by_name(&name).map_err(wrong)?.take(MAX_BYTES).read_to_end(&mut inside)?;
    // An archive in an archive is not what UCI publishes.
    if inside.starts_with(b"PK") { Ok(Box::new(Cursor::new(inside))) } else { unpacked(inside) }
}

fn malformed(line: usize, expected: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("line {line}: expected {expected}"))
}

/// Copies rows, given a header and labels from 0. UCI's have no header, and labels from 1. Any line ends will do.
/// `watch` is told how many rows are done and may break off.
pub fn convert<B>(
    source: impl Read,
    features: usize,
    out: &mut dyn Write,
    mut watch: impl FnMut(usize) -> ControlFlow<B>,
) -> Result<ControlFlow<B, Converted>> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let mut header: String = (1..=features).map(|feature| format!("f{feature},")).collect();
    header += "label";
    writeln!(out, "{header}")?;
    let (mut line, mut number, mut rows, mut from_zero) = (Vec::new(), 0, 0, false);
    let mut hash = Sha256::new();
    loop {
        line.clear();
        if (&mut source).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
        line.truncate(end);
        if number == 1 && line == header.as_bytes() {
            from_zero = true;
            continue;
        }
        let lowest = if from_zero { b'0' } else { b'1' };
        // The hash is over the bytes as they stand: a row is not taken apart but for its label.
        let [start @ .., b',', label] = &line[..] else {
            return Err(malformed(number, "numbers, separated by commas, and a class"));
        };
        if !(lowest..lowest + 9).contains(label) {
            return Err(malformed(number, "a class of one digit at the end"));
        }
        let index = label - lowest;
        hash.update(start);
        hash.update([b',', b'1' + index, b'\n']);
        out.write_all(start)?;
        out.write_all(&[b',', b'0' + index, b'\n'])?;
        rows += 1;
        if rows % STEP == 0
            && let ControlFlow::Break(why) = watch(rows)
        {
            return Ok(ControlFlow::Break(why));
        }
    }
    Ok(ControlFlow::Continue(Converted { rows, sha256: hex(&hash.finalize()) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    const UCI: &[u8] = b"1,2.50,7\n-3,4,1\n5,6,3\n";
    const OURS: &[u8] = b"f1,f2,label\n1,2.50,6\n-3,4,0\n5,6,2\n";

    fn go_on(_: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn converted(source: impl Read) -> (Vec<u8>, Converted) {
        let mut out = Vec::new();
        let converted = convert(source, 2, &mut out, go_on).unwrap().continue_value().unwrap();
        (out, converted)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn every_form_gives_the_same_rows_and_the_hash_of_ucis() {
        let windows = String::from_utf8(UCI.to_vec()).unwrap().replace('\n', "\r\n").into_bytes();
        let forms =
            [UCI.to_vec(), OURS.to_vec(), windows, UCI[..UCI.len() - 1].to_vec(), gzip(UCI), gzip(OURS)];
        let archives = [zip("covtype.data", UCI), zip("x/covtype.data.gz", &gzip(UCI))];
        for form in forms.into_iter().chain(archives) {
            let (out, Converted { rows, sha256 }) = converted(unpacked(form).unwrap());
            assert_eq!((out.as_slice(), rows), (OURS, 3));
            assert_eq!(sha256, hex(&Sha256::digest(UCI)));
        }
    }

    #[test]
    fn another_value_gives_another_hash() {
        let (_, other) = converted(&b"1,2.5,7\n-3,4,1\n5,6,3\n"[..]);
        assert_ne!(other.sha256, hex(&Sha256::digest(UCI)));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let refused = |bytes: &[u8]| {
            let source = unpacked(bytes.to_vec());
            let converted = source.and_then(|source| convert(source, 2, &mut Vec::new(), go_on));
            converted.err().unwrap().to_string()
        };
        assert!(refused(b"<html>\n").contains("line 1"));
        assert!(refused(b"1,2,7\n1,2,0\n").contains("line 2"));
        assert!(refused(b"1,2,7\n\n").contains("line 2"));
        assert!(!refused(&gzip(UCI)[..25]).is_empty());
        assert!(refused(&zip("notes.txt", UCI)).contains("*.data"));
        assert!(!refused(b"PK\x03\x04 and no more").is_empty());
    }

    #[test]
    fn it_can_be_broken_off() {
        let rows = "1,2,3\n".repeat(STEP);
        let ended = convert(rows.as_bytes(), 2, &mut Vec::new(), ControlFlow::Break).unwrap();
        assert_eq!(ended.break_value(), Some(STEP));
    }
}
