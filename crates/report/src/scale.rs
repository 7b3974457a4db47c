//! From numbers to positions, and the range that an axis shows. The script has these formulas too: it zooms.

use crate::model::{Axis, Scale};
use crate::number::{LARGEST, is_drawable};

impl Scale {
    /// Where a number stands, in units of this scale; NaN if it has no place.
    pub(crate) fn map(self, value: f64) -> f64 {
        match self {
            _ if !is_drawable(value) => f64::NAN,
            Self::Linear => value,
            Self::Log if value >= 1.0 / LARGEST => value.log10(),
            Self::Log => f64::NAN,
            Self::Symlog(_) => {
                let ratio = value.abs() / self.threshold();
                let distance = if ratio <= 1.0 { ratio } else { 1.0 + ratio.log10() };
                distance.copysign(value)
            }
        }
    }

    /// The number that stands there.
    pub(crate) fn unmap(self, position: f64) -> f64 {
        match self {
            Self::Linear => position,
            Self::Log => 10f64.powf(position),
            Self::Symlog(_) => {
                let distance = position.abs();
                let ratio = if distance <= 1.0 { distance } else { 10f64.powf(distance - 1.0) };
                (ratio * self.threshold()).copysign(position)
            }
        }
    }

    /// Half the width of the linear part; anything but a positive number of a size that can be drawn counts as 1.
    pub(crate) fn threshold(self) -> f64 {
        match self {
            Self::Symlog(threshold) if (1.0 / LARGEST..=LARGEST).contains(&threshold) => threshold,
            _ => 1.0,
        }
    }
}

/// An axis laid along pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ruler {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

impl Ruler {
    /// The pixel of a number; NaN if it has none.
    pub fn px(&self, value: f64) -> f64 {
        let (low, high) = (self.scale.map(self.low), self.scale.map(self.high));
        self.from + (self.scale.map(value) - low) / (high - low) * (self.to - self.from)
    }
}

/// What an axis shows: its names, its own range, or the data with some air around (`pad`, a share of the whole);
/// `from_zero` if small positive numbers are best seen from zero.
pub(crate) fn domain(
    axis: &Axis,
    values: impl Iterator<Item = f64>,
    pad: f64,
    from_zero: bool,
) -> Option<(f64, f64)> {
    let scale = axis.scale;
    let shown = |v: &f64| scale.map(*v).is_finite();
    let drawable = |v: f64| v.clamp(if scale == Scale::Log { 1.0 / LARGEST } else { -LARGEST }, LARGEST);
    let (low, high) = values
        .filter(shown)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if let Some((low, high)) = axis.range.filter(|(low, high)| low < high && shown(low) && shown(high)) {
        return Some((low, high));
    }
    if !axis.names.is_empty() {
        return Some((-0.5, axis.names.len() as f64 - 0.5));
    }
    if low > high {
        return None;
    }
    if low == high {
        let (low, high) = around(scale, low);
        return Some((drawable(low), drawable(high)));
    }
    let from_zero = from_zero && scale == Scale::Linear && low >= 0.0 && low < 0.35 * high;
    let air = pad * (scale.map(high) - scale.map(low));
    let below = if from_zero { 0.0 } else { scale.unmap(scale.map(low) - air) };
    Some((drawable(below), drawable(scale.unmap(scale.map(high) + air))))
}

/// Some range around a single number.
fn around(scale: Scale, value: f64) -> (f64, f64) {
    match scale {
        Scale::Log => (value / 2.0, value * 2.0),
        _ if value == 0.0 => (-1.0, 1.0),
        _ => (value - 0.1 * value.abs(), value + 0.1 * value.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_invert() {
        for scale in [Scale::Linear, Scale::Log, Scale::Symlog(0.5), Scale::Symlog(-1.0)] {
            for value in [1e-3, 0.3, 0.5, 1.0, 7.0, 1e4] {
                assert!((scale.unmap(scale.map(value)) / value - 1.0).abs() < 1e-12, "{scale:?} {value}");
            }
        }
        assert_eq!(Scale::Symlog(1.0).map(-100.0), -3.0);
        assert!(Scale::Log.map(0.0).is_nan());
    }

    #[test]
    fn rulers_may_run_upwards() {
        let ruler = Ruler { scale: Scale::Log, low: 1.0, high: 100.0, from: 200.0, to: 0.0 };
        assert_eq!(ruler.px(10.0), 100.0);
        assert!(ruler.px(-1.0).is_nan());
    }

    #[test]
    fn domains_ignore_what_cannot_be_shown() {
        let linear = Axis::linear("");
        let values = [f64::NAN, 4.0, 10.0, f64::INFINITY];
        assert_eq!(domain(&linear, values.into_iter(), 0.0, false), Some((4.0, 10.0)));
        assert_eq!(domain(&linear, [f64::NAN].into_iter(), 0.0, false), None);
        assert_eq!(domain(&linear, [0.0].into_iter(), 0.0, false), Some((-1.0, 1.0)));
        assert_eq!(domain(&Axis::log(""), [-1.0, 0.0, 1.0, 10.0].into_iter(), 0.0, false), Some((1.0, 10.0)));
        assert_eq!(domain(&Axis::named("", ["a", "b"]), [].into_iter(), 0.0, false), Some((-0.5, 1.5)));
        assert_eq!(domain(&linear.clone().within(0.0, 1.0), [5.0].into_iter(), 0.0, false), Some((0.0, 1.0)));
        assert_eq!(domain(&linear, [1.0, 10.0].into_iter(), 0.1, true).map(|d| d.0), Some(0.0));
    }
}
