//! Numbers and labels as users write them.

use gradband::abridged;
use gradband::problem::LARGEST_VALUE;

/// Is a value missing?
pub(super) fn is_missing(text: &str) -> bool {
    const MISSING: [&str; 7] = ["", "?", "na", "n/a", "nan", "null", "none"];
    text.len() <= 4 && MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing))
}

/// Is it neither a number nor missing?
pub(super) fn is_text(text: &str) -> bool {
    number(text).is_none() && !is_missing(text)
}

/// What is wrong with a label that is missing. `none` may well be a class.
pub(super) fn missing_label(label: &str) -> Option<String> {
    let missing = is_missing(label) && !label.eq_ignore_ascii_case("none");
    missing.then(|| format!("found '{label}', a missing label; remove the line"))
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
        Some(x) if x.abs() <= LARGEST_VALUE => Ok(x),
        Some(_) => {
            let found = abridged(text);
            Err(format!("found '{found}', expected a finite number of at most {LARGEST_VALUE:e} in size"))
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
