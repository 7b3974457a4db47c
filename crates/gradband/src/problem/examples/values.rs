//! Numbers as users write them.

use crate::problem::reading::abridged;

/// The largest value of a feature: its square and its inverse must fit.
const MAX_VALUE: f64 = 1e30;

/// Is a value missing?
pub(super) fn is_missing(text: &str) -> bool {
    const MISSING: [&str; 7] = ["", "?", "na", "n/a", "nan", "null", "none"];
    text.len() <= 4 && MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing))
}

/// A number as the user may write it, infinite ones included.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.as_bytes();
    // Most values of most tables are short whole numbers.
    if !digits.is_empty() && digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) {
        return Some(digits.iter().fold(0_u64, |x, digit| 10 * x + u64::from(digit - b'0')) as f64);
    }
    text.parse().ok().filter(|x: &f64| !x.is_nan())
}

/// A value of a feature, or what is wrong with it.
pub(super) fn value(text: &str) -> std::result::Result<f64, String> {
    match number(text) {
        Some(x) if x.abs() <= MAX_VALUE => Ok(x),
        Some(_) => {
            Err(format!("found '{}', expected a finite number of at most 1e30 in size", abridged(text)))
        }
        None if is_missing(text) => {
            Err(format!("found '{text}', a missing value; fill it in, or remove the line or the column"))
        }
        None => {
            let comma = text.contains(',') && number(&text.replace(',', ".")).is_some();
            let hint = if comma { " with a decimal point" } else { "" };
            Err(format!("found '{}', expected a number{hint}", abridged(text)))
        }
    }
}
