//! Means with standard errors, paired and clustered, in one pass.
//!
//! Chunks of instances are summed by themselves and added in order: the bits of a mean do not depend on who summed what.

use crate::numeric::bytes::{Bytes, Put, cut_off};
use crate::numeric::special::student_quantile;
use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Display, Formatter};

/// A mean and how far it may be off.
///
/// ```
/// use gradband::Estimate;
/// let gain = Estimate { mean: 2.5, std_error: 0.1 };
/// assert_eq!(gain.to_string(), "2.5000 ± 0.1000");
/// assert!(gain.interval(10_000).low > 2.3 && gain.interval(3).low < 2.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error; infinite if there is only one observation.
    #[serde(serialize_with = "null_if_unknown", deserialize_with = "unknown_if_null")]
    pub std_error: f64,
}

/// JSON has no word for infinity but null.
fn null_if_unknown<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    x.is_finite().then_some(x).serialize(serializer)
}

fn unknown_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::deserialize(deserializer).map(|x| x.unwrap_or(f64::INFINITY))
}

/// Where a number lies with a confidence of 95 %; without bounds if one observation is all there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "[Option<f64>; 2]", from = "[Option<f64>; 2]")]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// In JSON a list of two numbers, null where there is no bound.
impl From<Interval> for [Option<f64>; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high].map(|x| x.is_finite().then_some(x))
    }
}

impl From<[Option<f64>; 2]> for Interval {
    fn from([low, high]: [Option<f64>; 2]) -> Self {
        Self { low: low.unwrap_or(f64::NEG_INFINITY), high: high.unwrap_or(f64::INFINITY) }
    }
}

/// For example `15.10 to 22.10`.
impl Display for Interval {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{:.2} to {:.2}", self.low, self.high)
    }
}

impl Estimate {
    /// The 95 % interval of the mean of so many independent observations (Student's t).
    pub fn interval(&self, observations: usize) -> Interval {
        let wide = match observations {
            0 | 1 => f64::INFINITY,
            _ => student_quantile((observations - 1) as f64, 0.95) * self.std_error,
        };
        Interval { low: self.mean - wide, high: self.mean + wide }
    }
}

impl Display for Estimate {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{:.4} ± {:.4}", self.mean, self.std_error)
    }
}

/// Observations of several quantities on the same instances.
///
/// Simulations of one past instance are not independent observations of the user's world. With clusters the
/// standard error is that of their (weighted) means; without, each observation stands for itself.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    moments: Moments,
    /// For each cluster its count and the sums of the quantities.
    clusters: Option<Vec<f64>>,
}

/// Counts, means and sums of products of deviations.
#[derive(Clone, Debug)]
struct Moments {
    dim: usize,
    /// Are differences asked for, too?
    paired: bool,
    count: f64,
    mean: Vec<f64>,
    /// Lower triangle of the sum of products of deviations; its diagonal alone if not paired.
    comoment: Vec<f64>,
    deviation: Vec<f64>,
}

/// The observations of one chunk.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    moments: Moments,
    /// Cluster and values of each, if there are clusters: there may be many clusters, and few of them in a chunk.
    rows: Option<Vec<(u32, Vec<f64>)>>,
}

impl Moments {
    fn new(dim: usize, paired: bool) -> Self {
        Self {
            dim,
            paired,
            count: 0.0,
            mean: vec![0.0; dim],
            comoment: vec![0.0; if paired { dim * (dim + 1) / 2 } else { dim }],
            deviation: vec![0.0; dim],
        }
    }

    /// Adds an observation (Welford's update).
    fn push(&mut self, values: impl IntoIterator<Item = f64>) {
        self.count += 1.0;
        for (i, value) in values.into_iter().enumerate() {
            self.deviation[i] = value - self.mean[i];
        }
        self.spread(1.0 - 1.0 / self.count);
        for (mean, deviation) in self.mean.iter_mut().zip(&self.deviation) {
            *mean += deviation / self.count;
        }
    }

    /// Adds the products of the deviations, times a factor.
    fn spread(&mut self, factor: f64) {
        let mut entry = self.comoment.iter_mut();
        for i in 0..self.dim {
            let first = if self.paired { 0 } else { i };
            for (deviation, sum) in self.deviation[first..=i].iter().zip(entry.by_ref()) {
                *sum += self.deviation[i] * deviation * factor;
            }
        }
    }

    /// Adds all observations of another (Chan, Golub and LeVeque, 1979).
    fn merge(&mut self, other: &Self) {
        let total = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        for (sum, more) in self.comoment.iter_mut().zip(&other.comoment) {
            *sum += more;
        }
        for i in 0..self.dim {
            self.deviation[i] = other.mean[i] - self.mean[i];
        }
        self.spread(self.count * other.count / total);
        let share = other.count / total;
        for (mean, deviation) in self.mean.iter_mut().zip(&self.deviation) {
            *mean += deviation * share;
        }
        self.count = total;
    }

    fn of(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        if self.paired { self.comoment[i * (i + 1) / 2 + j] } else { self.comoment[i] }
    }
}

impl Part {
    /// Adds an observation.
    pub fn push(&mut self, cluster: u32, values: impl IntoIterator<Item = f64>) {
        match &mut self.rows {
            None => self.moments.push(values),
            Some(rows) => {
                let values: Vec<f64> = values.into_iter().collect();
                self.moments.push(values.iter().copied());
                rows.push((cluster, values));
            }
        }
    }
}

/// As a crew sends it: the rows where there are clusters, from which all else follows; else the moments.
impl Part {
    pub fn write(&self, out: &mut Vec<u8>) {
        let Some(rows) = &self.rows else {
            let Moments { count, mean, comoment, .. } = &self.moments;
            return [&[*count][..], &mean[..], &comoment[..]]
                .concat()
                .iter()
                .for_each(|&x| out.put_number(x));
        };
        out.put(rows.len() as u64);
        for (cluster, values) in rows {
            out.put(u64::from(*cluster));
            values.iter().for_each(|&x| out.put_number(x));
        }
    }

    /// Into an empty one of its kind.
    pub fn read(mut self, from: &mut Bytes) -> crate::error::Result<Self> {
        if self.rows.is_some() {
            for _ in 0..from.whole()? {
                let cluster = u32::try_from(from.whole()?).map_err(|_| cut_off())?;
                let values = (0..self.moments.dim).map(|_| from.number()).collect::<Result<Vec<_>, _>>()?;
                self.push(cluster, values);
            }
            return Ok(self);
        }
        let Moments { count, mean, comoment, .. } = &mut self.moments;
        for x in std::iter::once(count).chain(mean).chain(comoment) {
            *x = from.number()?;
        }
        Ok(self)
    }
}

impl Sample {
    /// `dim` quantities, `clusters` past instances (if any).
    pub fn new(dim: usize, clusters: Option<usize>) -> Self {
        Self::with(dim, true, clusters)
    }

    /// The same without differences: memory is linear in `dim`.
    pub fn unpaired(dim: usize, clusters: Option<usize>) -> Self {
        Self::with(dim, false, clusters)
    }

    fn with(dim: usize, paired: bool, clusters: Option<usize>) -> Self {
        let clusters = clusters.map(|clusters| vec![0.0; clusters * (dim + 1)]);
        Self { moments: Moments::new(dim, paired), clusters }
    }

    /// A chunk of this sample, empty.
    pub fn part(&self) -> Part {
        let Moments { dim, paired, .. } = self.moments;
        Part { moments: Moments::new(dim, paired), rows: self.clusters.as_ref().map(|_| Vec::new()) }
    }

    /// Adds a chunk.
    pub fn add(&mut self, part: &Part) {
        self.moments.merge(&part.moments);
        let Some(sums) = &mut self.clusters else { return };
        for (cluster, values) in part.rows.iter().flatten() {
            let start = *cluster as usize * (self.moments.dim + 1);
            sums[start] += 1.0;
            for (sum, value) in sums[start + 1..].iter_mut().zip(values) {
                *sum += value;
            }
        }
    }

    /// Independent observations: clusters that were met, or rows.
    pub fn observations(&self) -> usize {
        match &self.clusters {
            None => self.moments.count as usize,
            Some(sums) => sums.chunks_exact(self.moments.dim + 1).filter(|cluster| cluster[0] > 0.0).count(),
        }
    }

    /// Variance of one observation of quantity `i`; 0 if there is only one.
    pub fn variance(&self, i: usize) -> f64 {
        self.moments.of(i, i) / (self.moments.count - 1.0).max(1.0)
    }

    /// Quantity `i`.
    pub fn estimate(&self, i: usize) -> Estimate {
        self.with_error(self.moments.mean[i], self.moments.of(i, i), |sums| sums[i])
    }

    /// Quantity `i` minus quantity `j`, on the same instances; the sample must be paired.
    pub fn difference(&self, i: usize, j: usize) -> Estimate {
        if i == j {
            return Estimate { mean: 0.0, std_error: 0.0 };
        }
        let moments = &self.moments;
        let plain = moments.of(i, i) + moments.of(j, j) - 2.0 * moments.of(i, j);
        self.with_error(moments.mean[i] - moments.mean[j], plain, |sums| sums[i] - sums[j])
    }

    fn with_error(&self, mean: f64, plain: f64, of_cluster: impl Fn(&[f64]) -> f64) -> Estimate {
        let count = self.moments.count;
        let (squares, used) = match &self.clusters {
            None => (plain.max(0.0) / count, count),
            Some(clusters) => {
                let (mut squares, mut used) = (0.0, 0.0_f64);
                for cluster in clusters.chunks_exact(self.moments.dim + 1).filter(|cluster| cluster[0] > 0.0)
                {
                    let residual = of_cluster(&cluster[1..]) - cluster[0] * mean;
                    squares += residual * residual;
                    used += 1.0;
                }
                (squares * used / (count * count), used)
            }
        };
        // One observation says nothing of how far it may be off.
        let std_error = if used > 1.0 { (squares / (used - 1.0)).sqrt() } else { f64::INFINITY };
        Estimate { mean, std_error }
    }
}

/// Quantiles of regret over instances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// 5 %.
    pub p05: f64,
    /// A quarter.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// Three quarters.
    pub p75: f64,
    /// 95 %.
    pub p95: f64,
}

impl Quantiles {
    /// Linear interpolation between order statistics (type 7).
    pub fn of(values: &mut [f64]) -> Self {
        values.par_sort_unstable_by(f64::total_cmp);
        let at = |p: f64| {
            let position = p * (values.len() - 1) as f64;
            let (low, high) = (position.floor() as usize, position.ceil() as usize);
            values[low] + (values[high] - values[low]) * position.fract()
        };
        Self { p05: at(0.05), p25: at(0.25), p50: at(0.5), p75: at(0.75), p95: at(0.95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-pass formulas on a small sample of three quantities.
    #[test]
    fn one_pass_equals_two_passes() {
        let rows: Vec<[f64; 3]> = (0..50)
            .map(|i| {
                let x = f64::from(i);
                [1e6 + (x * 1.7).sin(), x * x % 11.0, (x * 0.3).cos() * x]
            })
            .collect();
        let mut sample = Sample::new(3, None);
        for chunk in rows.chunks(7) {
            let mut part = sample.part();
            chunk.iter().for_each(|row| part.push(0, *row));
            sample.add(&part);
        }
        let n = rows.len() as f64;
        let mean = |f: &dyn Fn(&[f64; 3]) -> f64| rows.iter().map(f).sum::<f64>() / n;
        let error = |f: &dyn Fn(&[f64; 3]) -> f64| {
            let centre = mean(f);
            (rows.iter().map(|row| (f(row) - centre).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
        };
        for i in 0..3 {
            let estimate = sample.estimate(i);
            assert!((estimate.mean - mean(&|row| row[i])).abs() < 1e-9);
            assert!((estimate.std_error / error(&|row| row[i]) - 1.0).abs() < 1e-9);
            assert!((sample.variance(i) / (error(&|row| row[i]).powi(2) * n) - 1.0).abs() < 1e-9);
            for j in 0..3 {
                let difference = sample.difference(i, j);
                assert!((difference.mean - mean(&|row| row[i] - row[j])).abs() < 1e-9);
                assert!((difference.std_error - error(&|row| row[i] - row[j])).abs() < 1e-9);
            }
        }
    }

    /// With clusters of equal size the error is that of the cluster means.
    #[test]
    fn clusters_are_the_observations() {
        let mut sample = Sample::new(2, Some(5));
        let value = |cluster: u32, i: u32| f64::from(cluster * cluster) + f64::from(i % 3) * 0.1;
        for i in 0..9 {
            let mut part = sample.part();
            for cluster in 0..4 {
                part.push(cluster, [value(cluster, i), -value(cluster, i)]);
            }
            sample.add(&part);
        }
        let means = [0.1, 1.1, 4.1, 9.1];
        let centre = means.iter().sum::<f64>() / 4.0;
        let expected = (means.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / 3.0 / 4.0).sqrt();
        assert!((sample.estimate(0).std_error - expected).abs() < 1e-12);
        assert!((sample.difference(0, 1).std_error - 2.0 * expected).abs() < 1e-12);
    }

    #[test]
    fn one_observation_has_no_standard_error() {
        for clusters in [None, Some(3)] {
            let mut sample = Sample::new(1, clusters);
            let mut part = sample.part();
            part.push(1, [2.5]);
            sample.add(&part);
            assert_eq!(sample.estimate(0), Estimate { mean: 2.5, std_error: f64::INFINITY });
        }
    }

    #[test]
    fn quantiles_interpolate() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let quantiles = Quantiles::of(&mut values);
        assert_eq!((quantiles.p05, quantiles.p50, quantiles.p95), (5.0, 50.0, 95.0));
        assert_eq!(Quantiles::of(&mut [3.0]).p25, 3.0);
        assert_eq!(Quantiles::of(&mut [0.0, 1.0]).p25, 0.25);
    }
}
