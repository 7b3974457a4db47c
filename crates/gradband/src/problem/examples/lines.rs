//! The lines of a text file that may be gzip-compressed, with limits on what a broken or hostile one can cost.

use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::io::{BufRead, BufReader, Chain, Cursor, ErrorKind, Read};

/// Text that is read at most, after decompression.
const MAX_GIGABYTES: u64 = 1;
/// The longest line, in megabytes: far above 10,000 columns.
const MAX_LINE: usize = 4;
/// What may be looked at before the first line is read.
const HEAD: u64 = 1 << 16;

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Lines that hold something: neither blank nor a comment.
pub(super) struct Lines<'a> {
    pub name: &'a str,
    source: BufReader<Peeked<Box<dyn Read + 'a>>>,
    compressed: bool,
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
        if head.starts_with(b"PK\x03\x04") {
            let message =
                "is a ZIP archive or a spreadsheet, expected CSV or LIBSVM text, plain or gzip-compressed";
            return Err(Error::new(name, message));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let source = BufReader::with_capacity(1 << 16, Cursor::new(head.clone()).chain(text));
        let limit = MAX_GIGABYTES << 30;
        Ok((Self { name, source, compressed, line: Vec::new(), number: 0, read: 0, limit }, head))
    }

    /// Allows less text.
    #[cfg(test)]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Goes to the next line; false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
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
                return Err(
                    self.wrong(format!("is longer than {MAX_LINE} MB, expected at most 10000 columns"))
                );
            }
            if self.read > self.limit {
                return Err(self.wrong(format!("the text is larger than {MAX_GIGABYTES} GB up to here")));
            }
            let end =
                self.line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
            self.line.truncate(end);
            if self.line.first() != Some(&b'#') && !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
        }
    }

    /// The current line, without its end.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.line).map_err(|_| self.wrong("is not UTF-8 text; save the table in UTF-8"))
    }

    /// Its number in the file, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// An error at the current line.
    pub fn wrong(&self, message: impl Into<String>) -> Error {
        Error::new(format!("{}, line {}", self.name, self.number), message)
    }
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
    Error::new(format!("{name}, line {line}"), message)
}
