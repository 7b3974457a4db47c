//! Numbers as bytes, to the last bit: what crosses the line between processes. Little-endian.

use crate::error::{Error, Result};

/// Adds things to bytes.
pub(crate) trait Put {
    fn put(&mut self, x: u64);
    fn put_number(&mut self, x: f64);
    fn put_numbers(&mut self, all: &[f64]);
    /// With their length, so that what follows can be told from them.
    fn put_bytes(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn put(&mut self, x: u64) {
        self.extend(x.to_le_bytes());
    }

    fn put_number(&mut self, x: f64) {
        self.put(x.to_bits());
    }

    fn put_numbers(&mut self, all: &[f64]) {
        self.put(all.len() as u64);
        all.iter().for_each(|&x| self.put_number(x));
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put(bytes.len() as u64);
        self.extend(bytes);
    }
}

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next so many.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn whole(&mut self) -> Result<u64> {
        self.take(8)?.try_into().map(u64::from_le_bytes).map_err(|_| cut_off())
    }

    /// A whole number that counts something.
    pub fn count(&mut self) -> Result<usize> {
        usize::try_from(self.whole()?).map_err(|_| cut_off())
    }

    pub fn number(&mut self) -> Result<f64> {
        self.whole().map(f64::from_bits)
    }

    pub fn numbers(&mut self) -> Result<Vec<f64>> {
        let count = self.count()?;
        let mut bytes = Self(self.take(count.checked_mul(8).ok_or_else(cut_off)?)?);
        (0..count).map(|_| bytes.number()).collect()
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| cut_off())
    }

    /// Refuses more than was asked for.
    pub fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(cut_off()) }
    }
}

/// Not the bytes that were written.
pub(crate) fn cut_off() -> Error {
    let message = "the bytes are not those that were sent; use the same version of gradband everywhere";
    Error::new("crew", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut bytes = Vec::new();
        bytes.put_numbers(&[-0.0, f64::MIN_POSITIVE, f64::NAN, 0.1]);
        bytes.put_bytes("naïve".as_bytes());
        bytes.put(u64::MAX);
        let mut from = Bytes(&bytes);
        let bits: Vec<u64> = from.numbers().unwrap().iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, [-0.0, f64::MIN_POSITIVE, f64::NAN, 0.1_f64].map(f64::to_bits));
        assert_eq!((from.text().unwrap(), from.whole().unwrap()), ("naïve", u64::MAX));
        from.end().unwrap();
        assert!(from.whole().is_err());
        for end in 0..bytes.len() {
            let mut from = Bytes(&bytes[..end]);
            assert!(from.numbers().and_then(|_| from.text()).and_then(|_| from.whole()).is_err());
        }
        assert!(Bytes(&u64::MAX.to_le_bytes()).numbers().is_err());
    }
}
