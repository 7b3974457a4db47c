//! The lines of a text file that may be gzip-compressed, with limits on what a broken or hostile one can cost.

use flate2::read::MultiGzDecoder;
use gradband::{Error, Place, Result};
use std::io::{BufRead, BufReader, Chain, Cursor, ErrorKind, Read};

/// Text that is read at most, after decompression.
const MAX_GIGABYTES: u64 = 1;
/// The longest line, in megabytes: far above 10,000 columns.
pub(crate) const MAX_LINE: usize = 4;
/// What may be looked at before the first line is read.
const HEAD: u64 = 1 << 16;

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// The lines one by one, the current one at hand.
pub(crate) struct Lines<'a> {
    pub name: &'a str,
    source: BufReader<Peeked<Box<dyn Read + 'a>>>,
    compressed: bool,
    /// Ends with a line feed and nothing else, whatever the file has there.
    line: Vec<u8>,
    number: u64,
    read: u64,
    limit: u64,
}

impl<'a> Lines<'a> {
    /// Also gives the beginning of the text.
    pub fn new(mut source: impl Read + 'a, name: &'a str) -> Result<(Self, Vec<u8>)> {
        let magic = take(&mut source, 2).map_err(|error| broken(name, 1, false, &error))?;
        let compressed = magic == [0x1f, 0x8b];
        let source = Cursor::new(magic).chain(source);
        let mut text: Box<dyn Read + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(BufReader::new(source))) } else { Box::new(source) };
        let mut head = take(&mut text, HEAD).map_err(|error| broken(name, 1, compressed, &error))?;
        if let Some(message) = not_text(&head) {
            return Err(Error::new(Place::file(name), message));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let source = BufReader::with_capacity(1 << 16, Cursor::new(head.clone()).chain(text));
        let limit = MAX_GIGABYTES << 30;
        Ok((Self { name, source, compressed, line: Vec::new(), number: 0, read: 0, limit }, head))
    }

    /// Goes to the next line that holds something, neither blank nor a comment; false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        while self.advance_by_one()? {
            if self.line.first() != Some(&b'#') && !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the next line, whatever it holds; false at the end.
    pub fn advance_by_one(&mut self) -> Result<bool> {
        self.line.clear();
        let most = (MAX_LINE << 20) as u64;
        let count = (&mut self.source).take(most + 1).read_until(b'\n', &mut self.line);
        let count =
            count.map_err(|error| broken(self.name, self.number + 1, self.compressed, &error))? as u64;
        if count == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.read += count;
        if count > most {
            return Err(self.wrong(format!("is longer than {MAX_LINE} MB, expected at most 10000 columns")));
        }
        if self.read > self.limit {
            return Err(self.wrong(format!("the text is larger than {MAX_GIGABYTES} GB up to here")));
        }
        self.end_with_line_feed();
        Ok(true)
    }

    fn end_with_line_feed(&mut self) {
        let last = self.line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
        self.line.truncate(last.map_or(0, |last| last + 1));
        self.line.push(b'\n');
    }

    /// The current line with a line feed at its end.
    pub fn bytes(&self) -> &[u8] {
        &self.line
    }

    /// The current line without its end.
    pub fn text(&self) -> Result<&str> {
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        std::str::from_utf8(line).map_err(|_| self.wrong(NOT_UTF8))
    }

    /// Its number in the file, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where the current line stands.
    pub fn place(&self) -> Place {
        Place::file(self.name).line(self.number)
    }

    /// An error at the current line.
    pub fn wrong(&self, message: impl Into<String>) -> Error {
        Error::new(self.place(), message)
    }
}

/// What else than text a file is by its beginning, and what to do about it.
fn not_text(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"\xd0\xcf\x11\xe0") {
        return Some(
            "is a ZIP archive or a spreadsheet, expected CSV or LIBSVM text, plain or gzip-compressed; save the sheet as CSV \
             (UTF-8)",
        );
    }
    // Without its mark, UTF-16 has a zero in every other byte.
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || head.contains(&0) {
        return Some("is UTF-16 text or not text at all, expected UTF-8; save the table as CSV (UTF-8)");
    }
    None
}

pub(crate) const NOT_UTF8: &str = "is not UTF-8 text; save the table in UTF-8";

/// An error at a line of a file.
pub(crate) fn at_line(name: &str, line: u64, message: impl Into<String>) -> Error {
    Error::new(Place::file(name).line(line), message)
}

fn take(source: &mut impl Read, count: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn broken(name: &str, line: u64, compressed: bool, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        ErrorKind::UnexpectedEof if compressed => "the gzip data end too early: the file was cut off".into(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData if compressed => {
            format!("the gzip data are damaged ({error})")
        }
        _ => format!("cannot be read: {error}"),
    };
    at_line(name, line, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_end_is_refused() {
        let text = "a,y\n1,2\n".repeat(10);
        let (mut lines, _) = Lines::new(text.as_bytes(), "t.csv").unwrap();
        lines.limit = 30;
        let ended = (0..20).find_map(|_| lines.advance().err()).unwrap().to_string();
        assert!(ended.contains("line 8") && ended.contains("larger than 1 GB"), "{ended}");
    }
}
