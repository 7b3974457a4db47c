//! Numbers as people read them. The script writes them too: it shows the value of every point.

/// Numbers beyond this are not drawn, nor logarithms of numbers closer to zero: sums and ratios of them overflow.
pub(crate) const LARGEST: f64 = 1e100;

/// Whether a number is one, and of a size that is drawn.
pub(crate) fn is_drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// A coordinate to 0.1 pixels, with no superfluous characters.
pub(crate) fn px(value: f64) -> String {
    // Far outside the plot everything is clipped anyway.
    let rounded = (value.clamp(-1e5, 1e5) * 10.0).round() / 10.0;
    format!("{}", rounded + 0.0)
}

/// A number with so many decimals: `−1,234.50`.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    // What rounds to zero has no sign.
    if value < 0.0 && text.contains(|c: char| c.is_ascii_digit() && c != '0') {
        out.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) && whole.len() > 4 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// `1.5×10⁶`, or `10⁶` where the factor is one.
pub(crate) fn scientific(value: f64, decimals: usize) -> String {
    // Numbers with fewer than all bits have powers of ten that are zero.
    if value == 0.0 || value.is_subnormal() {
        return "0".to_owned();
    }
    let exponent = exponent_of(value);
    let factor = trimmed(&fixed(value / 10f64.powi(exponent), decimals));
    let power: String = exponent.to_string().chars().map(superscript).collect();
    match factor.as_str() {
        "1" => format!("10{power}"),
        "−1" => format!("−10{power}"),
        _ => format!("{factor}×10{power}"),
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        c => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap_or(c),
    }
}

/// The exponent of ten in scientific notation.
pub(crate) fn exponent_of(value: f64) -> i32 {
    // log10 may be off by one ulp at exact powers of ten.
    (value.abs().log10() + 1e-12).floor() as i32
}

/// A number on its own: so many significant digits, scientific where zeros would fill it up.
pub(crate) fn short(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "no value".to_owned();
    }
    let exponent = if value == 0.0 { 0 } else { exponent_of(value) };
    if (-4..6).contains(&exponent) {
        trimmed(&fixed(value, (digits - 1 - exponent).clamp(0, 6) as usize))
    } else {
        scientific(value, 2)
    }
}

fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

/// A number for machines: six significant digits, for JSON; none if it is not drawn.
pub(crate) fn six_digits(value: f64) -> Option<f64> {
    is_drawable(value).then(|| format!("{value:.5e}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(px(12.04), "12");
        assert_eq!(px(-0.04), "0");
        assert_eq!(px(f64::INFINITY), "100000");
        assert_eq!(fixed(-12345.5, 2), "−12,345.50");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(scientific(1e6, 0), "10⁶");
        assert_eq!(scientific(-2.5e-7, 1), "−2.5×10⁻⁷");
        assert_eq!(short(4.67781, 4), "4.678");
        assert_eq!(short(0.25, 3), "0.25");
        assert_eq!(short(1234567.0, 3), "1.23×10⁶");
        assert_eq!(short(f64::NAN, 3), "no value");
        assert_eq!(six_digits(1.0 / 3.0), Some(0.333333));
        assert_eq!(six_digits(1e101), None);
    }
}
