//! Examples by what they differ in from a common one. One-hot features do in few places, scaled to [-1, 1] too.

/// More differences than a number in so many are not worth their places.
const WORTH: usize = 8;
/// No example is shorter than the common one by more than this: it would be a difference of large numbers, with their roundings.
const SHORTER: f64 = 8.0;

/// A common example, and what each one has elsewhere.
#[derive(Debug)]
pub(crate) struct Sparse {
    common: Vec<f32>,
    /// Feature and difference, example by example.
    differences: Vec<(u32, f32)>,
    /// Where those of each example end.
    ends: Vec<usize>,
    /// |x|^2 of each example.
    squares: Vec<f64>,
}

impl Sparse {
    /// Of rows of features; none if they differ in too many places, or by too much.
    pub(super) fn of(values: &[f32], dim: usize) -> Option<Self> {
        let common = majority(values, dim);
        let (mut differences, mut ends, mut squares) = (Vec::new(), Vec::new(), Vec::new());
        for row in values.chunks_exact(dim) {
            let places = row.iter().zip(&common).enumerate().filter(|(_, (x, common))| x != common);
            differences.extend(places.map(|(j, (x, common))| (j as u32, x - common)));
            if differences.len() > values.len() / WORTH {
                return None;
            }
            ends.push(differences.len());
            squares.push(square(row));
        }
        let least = square(&common) / (SHORTER * SHORTER);
        squares.iter().all(|&square| square >= least).then_some(Self { common, differences, ends, squares })
    }

    /// The common example.
    pub fn common(&self) -> &[f32] {
        &self.common
    }

    /// Where an example differs from it, and by how much.
    pub fn differences(&self, example: u32) -> &[(u32, f32)] {
        let i = example as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.differences[start..self.ends[i]]
    }

    /// The squared length of an example.
    pub fn square(&self, example: u32) -> f64 {
        self.squares[example as usize]
    }
}

/// |x|^2.
fn square(x: &[f32]) -> f64 {
    x.iter().map(|&x| f64::from(x).powi(2)).sum()
}

/// The value of each feature that more than half of the examples have, if there is one; else any (Boyer and Moore, 1981).
fn majority(values: &[f32], dim: usize) -> Vec<f32> {
    let mut found = vec![(0.0, 0_u32); dim];
    for row in values.chunks_exact(dim) {
        for ((common, lead), &x) in found.iter_mut().zip(row) {
            match *lead {
                0 => (*common, *lead) = (x, 1),
                _ if x == *common => *lead += 1,
                _ => *lead -= 1,
            }
        }
    }
    found.into_iter().map(|(common, _)| common).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One-hot, scaled to [-1, 1] or not, with a constant feature: each example again from its differences.
    #[test]
    fn examples_are_the_common_one_and_their_differences() {
        let dim = 40;
        for (off, on) in [(0.0, 1.0), (-1.0, 1.0), (3.5, -2.0)] {
            let hot = |i: usize, j: usize| if j == 0 || j == i * i % dim { on } else { off };
            let values: Vec<f32> = (0..300).flat_map(|i| (0..dim).map(move |j| hot(i, j))).collect();
            let sparse = Sparse::of(&values, dim).unwrap();
            for (i, row) in values.chunks_exact(dim).enumerate() {
                let mut again = sparse.common().to_vec();
                let differences = sparse.differences(i as u32);
                differences.iter().for_each(|&(j, difference)| again[j as usize] += difference);
                assert_eq!(again, row);
                assert!(differences.len() <= 1, "{differences:?}");
                assert_eq!(sparse.square(i as u32), square(row));
            }
        }
    }

    #[test]
    fn dense_examples_are_not_sparse() {
        let values: Vec<f32> = (0..3000_u16).map(f32::from).collect();
        assert!(Sparse::of(&values, 30).is_none());
    }

    /// A small example among large ones would be the difference of two large numbers.
    #[test]
    fn examples_of_other_sizes_are_read_in_full() {
        let mut values = [1000.0, 1.0, 1.0, 1.0].repeat(100);
        assert!(Sparse::of(&values, 4).is_some());
        values[40] = 1.0;
        assert!(Sparse::of(&values, 4).is_none());
    }
}
