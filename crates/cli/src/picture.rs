//! Matrices as small pictures: a learned projection is easier to see than to read.

/// From nothing to the largest entry.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Wider matrices are not drawn: their columns are summed up instead.
const WIDEST: usize = 36;
/// Columns that are named when the matrix is too wide.
const NAMED: usize = 8;

/// A matrix with a title; a minus stands before negative entries. Rows of equal length, not empty.
fn matrix(title: &str, rows: &[&[f64]]) -> Vec<String> {
    let largest = rows.iter().flat_map(|row| row.iter()).fold(0.0, |most: f64, x| most.max(x.abs()));
    let cell = |&x: &f64| {
        let part = if largest > 0.0 { x.abs() / largest } else { 0.0 };
        let shade = SHADES[((part * (SHADES.len() - 1) as f64).round() as usize).min(SHADES.len() - 1)];
        let sign = if x < 0.0 && shade != SHADES[0] { '-' } else { ' ' };
        [sign, shade]
    };
    let lines = rows.iter().map(|row| row.iter().flat_map(cell).collect::<String>());
    std::iter::once(format!("{title}, {} = {largest:.2}", SHADES[SHADES.len() - 1])).chain(lines).collect()
}

/// W and M = W'W side by side, and the lengths of W's columns: how much each feature matters.
pub fn projection(w: &[f64], dim: usize, features: Option<&[String]>) -> String {
    let rows: Vec<&[f64]> = w.chunks(dim).collect();
    let lengths: Vec<f64> =
        (0..dim).map(|j| rows.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt()).collect();
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    if dim > WIDEST {
        return format!("W is {} x {dim}; {}", rows.len(), leading(&lengths, features));
    }
    let product: Vec<f64> =
        (0..dim * dim).map(|k| rows.iter().map(|row| row[k / dim] * row[k % dim]).sum()).collect();
    let left = matrix("W", &rows);
    let right = matrix("M = W'W", &product.chunks(dim).collect::<Vec<_>>());
    let width = (2 * dim).max(left[0].chars().count()) + 3;
    let empty = String::new();
    let mut lines: Vec<String> = (0..left.len().max(right.len()))
        .map(|i| {
            let (left, right) = (left.get(i).unwrap_or(&empty), right.get(i).unwrap_or(&empty));
            let gap = width - left.chars().count();
            format!("{left}{}{right}", " ".repeat(gap)).trim_end().to_string()
        })
        .collect();
    let bar = |&x: &f64| {
        let part = if largest > 0.0 { x / largest } else { 0.0 };
        [' ', BARS[(part * 8.0).round() as usize]]
    };
    lines.push(format!(
        "{}  column lengths of W, one per feature",
        lengths.iter().flat_map(bar).collect::<String>()
    ));
    if features.is_some() {
        lines.push(leading(&lengths, features));
    }
    lines.join("\n")
}

/// The features with the longest columns.
fn leading(lengths: &[f64], features: Option<&[String]>) -> String {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let name = |i: usize| features.map_or_else(|| (i + 1).to_string(), |names| names[i].clone());
    let named: Vec<_> = order.iter().take(NAMED).map(|&i| format!("{} {:.2}", name(i), lengths[i])).collect();
    let more = if lengths.len() > NAMED { ", ..." } else { "" };
    format!("longest columns of W: {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_size_and_sign() {
        let picture = projection(&[2.0, 0.0, -1.0, 0.0], 2, None);
        let lines: Vec<_> = picture.lines().collect();
        assert_eq!(lines[0], "W, █ = 2.00   M = W'W, █ = 5.00");
        assert_eq!(lines[1], " █ ·           █ ·");
        assert_eq!(lines[2], "-▒ ·           · ·");
        assert!(lines[3].starts_with(" █    column lengths"));
    }

    #[test]
    fn a_wide_matrix_names_its_longest_columns() {
        let mut w = vec![0.0; 50];
        (w[7], w[31]) = (-3.0, 1.0);
        let names: Vec<_> = (0..50).map(|i| format!("f{i}")).collect();
        let text = projection(&w, 50, Some(&names));
        assert!(text.starts_with("W is 1 x 50; longest columns of W: f7 3.00, f31 1.00, f0 0.00"), "{text}");
    }

    #[test]
    fn a_zero_matrix_is_drawn() {
        assert!(projection(&[0.0; 4], 2, None).contains("· ·"));
    }
}
