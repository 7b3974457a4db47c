//! Names come from users' files: everything that reaches SVG, HTML, JSON or CSV is made harmless here.

/// Text for SVG and HTML, inside elements and quoted attributes; characters that XML forbids are dropped.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// An id that is safe in attributes, URLs and file names.
pub(crate) fn attribute(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    id.chars().map(safe).collect()
}

/// JSON inside a script element: no `<` can end the element.
pub(crate) fn script_json(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A field of a CSV file. A leading `=`, `+`, `-` or `@` of a name is not touched: these are data, not formulas.
pub(crate) fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Roughly how wide text stands, in pixels, at a font size of 12 pixels.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '(' | ')' | '[' | ']' => 3.6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 10.5,
        'A'..='Z' | '+' | '−' | '=' | '±' | '×' | '<' | '>' | '&' => 7.8,
        c if (c as u32) >= 0x2e80 => 12.0,
        _ => 6.8,
    }
}

/// Text that is at most about `limit` pixels wide, with an ellipsis if something is missing.
pub(crate) fn fit(text: &str, limit: f64) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = width("…");
    for c in text.chars() {
        used += char_width(c);
        if used > limit {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_inert() {
        assert_eq!(escape("<script>\"&'\u{0}"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(attribute("a b\"<c>"), "a-b--c-");
        assert!(!script_json(r#"{"a":"</script>"}"#).contains('<'));
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(csv_field("plain"), "plain");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(fit("short", 100.0), "short");
        let cut = fit("a very long name of a policy", 80.0);
        assert!(cut.ends_with('…') && width(&cut) <= 80.0, "{cut}");
    }
}
