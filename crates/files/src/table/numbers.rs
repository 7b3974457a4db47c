//! Numbers as people's tables have them: decimal commas, percent signs, and thousands separators, which are refused because
//! nobody can tell `1.234` from them.

use gradband::abridged;
use gradband::problem::{LARGEST_CELL, LARGEST_COUNT};

/// What a number is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A mean or a variance.
    Rewards,
    /// How often something happened.
    Times,
}

/// Reads the numbers of one file, which must agree on their decimal sign.
pub(super) struct Numbers {
    /// Do commas separate fields? Then none can be decimal.
    commas: bool,
    /// The decimal sign so far, and the line in which it was first seen.
    sign: Option<(char, u64)>,
}

impl Numbers {
    pub fn new(commas: bool) -> Self {
        Self { commas, sign: None }
    }

    /// Whether a field is a number, however it is written.
    pub fn is_number(&self, field: &str) -> bool {
        let number = field.strip_suffix('%').unwrap_or(field).trim_end();
        number.parse::<f64>().is_ok() || (!self.commas && number.replacen(',', ".", 1).parse::<f64>().is_ok())
    }

    /// The number in a field, or what is wrong with it.
    pub fn read(&mut self, field: &str, of: Of, line: u64) -> Result<f64, String> {
        let found = abridged(field);
        if field.is_empty() {
            return Err("is empty, expected a number".into());
        }
        let (number, percent) = match field.strip_suffix('%') {
            Some(_) if of == Of::Times => {
                return Err(format!("found '{found}', expected a whole number, not a share"));
            }
            Some(number) => (number.trim_end(), true),
            None => (field, false),
        };
        if is_grouped(number, of) {
            let digits: String = number.chars().filter(|sign| sign.is_ascii_digit()).collect();
            return Err(format!(
                "found '{found}', expected a number without thousands separators: write {}",
                abridged(&digits)
            ));
        }
        let number = match (number.matches(',').count(), self.commas) {
            (0, _) => number.to_string(),
            (1, false) => number.replace(',', "."),
            _ => {
                return Err(format!(
                    "found '{found}', expected a number with a decimal point; write 0.05, or separate the fields by semicolons"
                ));
            }
        };
        let x = number.parse::<f64>().map_err(|_| format!("found '{found}', expected a number"))?;
        if let Some(sign) = field.chars().find(|sign| matches!(sign, ',' | '.'))
            && of == Of::Rewards
        {
            let (first, at) = *self.sign.get_or_insert((sign, line));
            if first != sign {
                return Err(format!(
                    "found '{found}', but '{first}' is the decimal sign in line {at}; write all numbers with a decimal point \
                     and without thousands separators"
                ));
            }
        }
        let largest = if of == Of::Times { LARGEST_COUNT } else { LARGEST_CELL };
        if x.abs() <= largest {
            return Ok(if percent { x / 100.0 } else { x });
        }
        Err(format!("found '{found}', expected a finite number of at most {largest:e} in size"))
    }
}

/// Whether digits stand in groups: `1,234`, `1.234` and `12.000` where a whole number is expected; anywhere several
/// separators, both of them, or a space or apostrophe between digits.
fn is_grouped(number: &str, of: Of) -> bool {
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let separator = |sign: char| matches!(sign, ',' | '.' | '\'' | '’' | '_' | ' ' | '\u{a0}' | '\u{202f}');
    if !digits.chars().all(|sign| sign.is_ascii_digit() || separator(sign)) {
        return false;
    }
    let mut groups = digits.split(separator);
    let (Some(head), Some(last)) = (groups.next(), digits.rsplit(separator).next()) else { return false };
    let separators: Vec<char> = digits.chars().filter(|&sign| separator(sign)).collect();
    match separators[..] {
        [] => false,
        [',' | '.'] => of == Of::Times && last.len() == 3 && !head.is_empty(),
        _ => !head.is_empty() && !last.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_right_or_refused() {
        let read = |field: &str, of: Of| Numbers::new(false).read(field, of, 1);
        for (field, expected) in [
            ("0.05", 0.05),
            ("0,05", 0.05),
            ("5.2%", 5.2 / 100.0),
            ("5,2 %", 5.2 / 100.0),
            ("-1,5", -1.5),
            ("1e-3", 1e-3),
            (".5", 0.5),
            ("1.234", 1.234),
            ("1,234", 1.234),
        ] {
            assert_eq!(read(field, Of::Rewards), Ok(expected), "{field}");
        }
        for (field, expected) in [("1234", 1_234.0), ("12.0", 12.0), ("5000000", 5e6), ("1e3", 1e3)] {
            assert_eq!(read(field, Of::Times), Ok(expected), "{field}");
        }
        for field in ["1,234", "1.234", "12.000", "1.234.567", "1 234", "1'234", "1\u{a0}234", "1,234,567"] {
            let message = read(field, Of::Times).unwrap_err();
            assert!(message.contains("without thousands separators: write 1"), "{field}: {message}");
        }
        for field in ["1.234,5", "1,234.5", "1 234.5"] {
            let message = read(field, Of::Rewards).unwrap_err();
            assert!(message.contains("without thousands separators"), "{field}: {message}");
        }
        for (field, of, part) in [
            ("", Of::Rewards, "is empty"),
            ("5%", Of::Times, "not a share"),
            ("zebra", Of::Rewards, "found 'zebra', expected a number"),
            ("1e7", Of::Rewards, "at most 1e6"),
            ("1e10", Of::Times, "at most 1e9"),
            ("nan", Of::Rewards, "finite"),
            ("%", Of::Rewards, "expected a number"),
        ] {
            let message = read(field, of).unwrap_err();
            assert!(message.contains(part), "{field}: {message}");
        }
        assert!(Numbers::new(true).read("0,05", Of::Rewards, 1).unwrap_err().contains("decimal point"));
    }

    #[test]
    fn a_file_has_one_decimal_sign() {
        let mut numbers = Numbers::new(false);
        assert_eq!(numbers.read("0,05", Of::Rewards, 2), Ok(0.05));
        assert_eq!(numbers.read("7", Of::Rewards, 3), Ok(7.0));
        let message = numbers.read("1.234", Of::Rewards, 4).unwrap_err();
        assert!(message.contains("',' is the decimal sign in line 2"), "{message}");
    }
}
