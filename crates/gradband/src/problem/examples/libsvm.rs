//! LIBSVM text: `label index:value ...`, indices from 1 and increasing, what is left out is 0.

use super::lines::Lines;
use super::{MAX_FEATURES, Table, abridged, is_missing, value};
use crate::{Error, Result};

/// Is this the beginning of LIBSVM text?
pub(super) fn looks_like_it(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n').filter(|line| line.first() != Some(&b'#'));
    // A line with a label alone is an example whose features are all 0: the next one tells.
    let fields = |line: &[u8]| -> Vec<Vec<u8>> {
        line.split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty())
            .map(<[u8]>::to_vec)
            .take(9)
            .collect()
    };
    let Some((line, fields)) = lines.map(|line| (line, fields(line))).find(|(_, fields)| fields.len() > 1)
    else {
        return false;
    };
    let before = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    if before.iter().any(|byte| matches!(byte, b',' | b';' | b'"')) {
        return false;
    }
    let tabs = before.contains(&b'\t');
    let is_pair = |field: &Vec<u8>| {
        let colon = field.iter().position(|&byte| byte == b':');
        colon.is_some_and(|at| !tabs || at > 0 && field[..at].iter().all(u8::is_ascii_digit))
    };
    fields[1..].iter().take_while(|field| field[0] != b'#').all(is_pair)
}

pub(super) fn read(lines: &mut Lines, label: Option<&str>, table: &mut Table) -> Result<()> {
    if let Some(label) = label {
        let message =
            format!("found `label` = '{}', but in a LIBSVM file the label is always first", abridged(label));
        return Err(Error::new(lines.name, message));
    }
    let mut row = Vec::new();
    while lines.advance()? {
        let line = lines.text()?;
        let mut fields = line.split('#').next().unwrap_or(line).split_ascii_whitespace();
        let Some(label) = fields.next() else { continue };
        if is_missing(label) || label.contains(':') {
            return Err(lines.wrong(format!("found '{}', expected a label first", abridged(label))));
        }
        row.clear();
        for (field, position) in fields.zip(2_u32..) {
            let place = || format!("{}, line {}, field {position}", lines.name, lines.number());
            let wrong = |expected: &str| {
                Error::new(place(), format!("found '{}', expected {expected}", abridged(field)))
            };
            let (index, text) = field.split_once(':').ok_or_else(|| wrong("index:value, such as 3:0.5"))?;
            let index: usize = match index.parse() {
                Ok(0) => return Err(wrong("indices from 1")),
                Ok(index) if index > MAX_FEATURES => {
                    return Err(wrong(&format!("an index of at most {MAX_FEATURES}")));
                }
                Ok(index) => index,
                Err(_) => return Err(wrong("index:value with a whole number from 1 as index")),
            };
            if index <= row.len() {
                return Err(wrong(&format!("increasing indices, above {}", row.len())));
            }
            let x = value(text).map_err(|message| {
                Error::new(format!("{}, column {index} ('f{index}')", place()), message)
            })?;
            row.resize(index - 1, 0.0);
            row.push(x);
        }
        table.push(lines, &row, label)?;
    }
    table.feature_names = (1..=table.matrix.dim()).map(|index| format!("f{index}")).collect();
    Ok(())
}
