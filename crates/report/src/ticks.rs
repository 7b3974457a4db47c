//! Round numbers for axes: 1-2-5 steps, powers of ten with minor ticks. The script draws these until somebody zooms.

use crate::model::Scale;
use crate::number::{exponent_of, fixed, scientific};
use crate::scale::Ruler;

/// A place on an axis; minor ticks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
}

/// About `count` labelled ticks for what a ruler shows.
pub(crate) fn ticks(ruler: &Ruler, count: usize) -> Vec<Tick> {
    let (low, high) = (ruler.low, ruler.high);
    match ruler.scale {
        Scale::Linear => linear(low, high, count),
        Scale::Log => log(low, high, count),
        Scale::Symlog(_) => symlog(low, high, ruler.scale.threshold(), count),
    }
}

/// Labels for categories, thinned until they stand `gap` pixels apart.
pub(crate) fn named(names: &[String], ruler: &Ruler, gap: f64) -> Vec<Tick> {
    let step = (ruler.px(1.0) - ruler.px(0.0)).abs();
    let stride = (gap / step).ceil().max(1.0) as usize;
    let shown = |at: f64| at >= ruler.low.min(ruler.high) && at <= ruler.low.max(ruler.high);
    names
        .iter()
        .enumerate()
        .step_by(stride)
        .map(|(i, name)| Tick { at: i as f64, label: name.clone() })
        .filter(|tick| shown(tick.at))
        .collect()
}

/// The smallest of 1, 2, 5, 10, … that makes about `count` steps, at most a fifth more.
fn nice_step(span: f64, count: usize) -> f64 {
    let raw = span / count.max(1) as f64;
    let exponent = exponent_of(raw);
    let factor = raw / 10f64.powi(exponent);
    let nice = [1, 2, 5].into_iter().find(|&n| factor <= 1.2 * f64::from(n)).unwrap_or(10);
    power(nice, exponent)
}

/// m × 10^k, rounded once.
fn power(m: u32, k: i32) -> f64 {
    format!("{m}e{k}").parse().unwrap_or(f64::NAN)
}

fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = nice_step(high - low, count);
    if !(step > 0.0 && step.is_finite()) {
        return Vec::new();
    }
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let place = exponent_of(step);
    let large = low.abs().max(high.abs()) >= 1e6;
    let steps = (last - first).clamp(-1.0, 100.0) as i64;
    let values = (0..=steps).map(|i| (first + i as f64) * step);
    values
        .map(|at| {
            let label = if at != 0.0 && (large || place < -4) {
                scientific(at, (exponent_of(at) - place).clamp(0, 6) as usize)
            } else if at == 0.0 {
                "0".to_owned()
            } else {
                fixed(at, (-place).max(0) as usize)
            };
            Tick { at, label }
        })
        .collect()
}

fn log(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let first = (low.log10() - 1e-9).ceil() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    if last - first < 1 {
        return within_decades(low, high, count);
    }
    let decades = last - first + 1;
    let stride = (decades as usize).div_ceil(count.max(1)) as i32;
    let few = decades as usize * 3 <= count + 2;
    let mut out = Vec::new();
    for k in first - 1..=last {
        for m in 1..10 {
            let at = power(m, k);
            if at < low * (1.0 - 1e-9) || at > high * (1.0 + 1e-9) || (m > 1 && decades > 10) {
                continue;
            }
            let labelled = match m {
                1 => (k - first) % stride == 0,
                2 | 5 => few,
                _ => false,
            };
            let label = if labelled { power_label(at) } else { String::new() };
            out.push(Tick { at, label });
        }
    }
    out
}

/// Ticks between or around a single power of ten: round multiples, the best first, labelled as far as there is room;
/// equal steps in a range that has only few of them.
fn within_decades(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (exponent_of(low), exponent_of(high));
    let gap = (high.log10() - low.log10()) / (1.5 * count.max(2) as f64);
    let within = |at: f64| at >= low * (1.0 - 1e-9) && at <= high * (1.0 + 1e-9);
    let mut out: Vec<Tick> = Vec::new();
    for m in [1, 5, 2, 3, 7, 4, 6, 8, 9] {
        for at in (first..=last).map(|k| power(m, k)).filter(|&at| within(at)) {
            let near = |tick: &Tick| !tick.label.is_empty() && (tick.at / at).log10().abs() < gap;
            let labelled = [1, 2, 3, 5].contains(&m) && !out.iter().any(near);
            out.push(Tick { at, label: if labelled { power_label(at) } else { String::new() } });
        }
    }
    let labels = out.iter().filter(|tick| !tick.label.is_empty()).count();
    if labels < 3 || labels == out.len() {
        let steps = (count..count + 8).map(|count| linear(low, high, count)).find(|ticks| ticks.len() > 1);
        return with_minor(steps.unwrap_or_default(), low, high);
    }
    out.sort_by(|a, b| a.at.total_cmp(&b.at));
    out
}

/// Equal steps with four small ticks in each.
fn with_minor(ticks: Vec<Tick>, low: f64, high: f64) -> Vec<Tick> {
    let [a, b, ..] = &ticks[..] else { return ticks };
    let (start, small) = (a.at, (b.at - a.at) / 5.0);
    let labelled = 5 * ticks.len() as i64;
    let minor = (-5..labelled).filter(|i| i % 5 != 0).map(|i| start + small * i as f64);
    let minor = minor.filter(|&at| at >= low && at <= high).map(|at| Tick { at, label: String::new() });
    let mut out: Vec<Tick> = minor.chain(ticks).collect();
    out.sort_by(|a, b| a.at.total_cmp(&b.at));
    out
}

fn symlog(low: f64, high: f64, threshold: f64, count: usize) -> Vec<Tick> {
    let mirrored = |ticks: Vec<Tick>| {
        let turn = |t: Tick| Tick {
            at: -t.at,
            label: if t.label.is_empty() { t.label } else { format!("−{}", t.label) },
        };
        ticks.into_iter().rev().map(turn).collect()
    };
    if low >= threshold {
        return log(low, high, count);
    }
    if high <= -threshold {
        return mirrored(log(-high, -low, count));
    }
    let largest = low.abs().max(high.abs());
    let first = (threshold.log10() - 1e-9).ceil() as i32;
    let last = (largest.log10() + 1e-9).floor() as i32;
    if largest <= threshold || last < first {
        return linear(low, high, count);
    }
    // The best numbers first; each is labelled if it is far enough from those before, else it is a small tick.
    let scale = Scale::Symlog(threshold);
    let gap = (scale.map(high) - scale.map(low)) / (1.5 * count.max(2) as f64);
    let multiples = [1, 5, 2, 3, 4, 6, 7, 8, 9]
        .into_iter()
        .flat_map(|m| (first - 1..=last).rev().map(move |k| (m, power(m, k))));
    let mut out = Vec::new();
    for (m, size) in
        std::iter::once((0, 0.0)).chain(multiples.filter(|&(_, v)| v >= threshold * (1.0 - 1e-9)))
    {
        for at in if m == 0 { vec![size] } else { vec![size, -size] } {
            let free =
                |tick: &Tick| tick.label.is_empty() || (scale.map(tick.at) - scale.map(at)).abs() >= gap;
            let labelled = [0, 1, 2, 5].contains(&m) && out.iter().all(free);
            if at < low || at > high || !(labelled || m == 1 || last - first < 10) {
                continue;
            }
            let sign = if at < 0.0 { "−" } else { "" };
            let label = if m == 0 { "0".to_owned() } else { sign.to_owned() + &power_label(size) };
            out.push(Tick { at, label: if labelled { label } else { String::new() } });
        }
    }
    out.sort_by(|a, b| a.at.total_cmp(&b.at));
    out
}

/// A power of ten or a small multiple, written out where that is short.
fn power_label(at: f64) -> String {
    match exponent_of(at) {
        k @ -4..=5 => fixed(at, (-k).max(0) as usize),
        _ => scientific(at, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, count: usize) -> Vec<String> {
        let ruler = Ruler { scale, low, high, from: 0.0, to: 100.0 };
        ticks(&ruler, count).into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Scale::Linear, 0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(Scale::Linear, -0.11, 0.12, 4), ["−0.10", "−0.05", "0", "0.05", "0.10"]);
        assert_eq!(labels(Scale::Linear, 0.0, 20000.0, 4), ["0", "5000", "10,000", "15,000", "20,000"]);
        assert_eq!(labels(Scale::Linear, 0.0, 2e6, 4), ["0", "5×10⁵", "10⁶", "1.5×10⁶", "2×10⁶"]);
        assert_eq!(labels(Scale::Linear, 1.0, 1.0, 4), [""; 0]);
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        assert_eq!(labels(Scale::Log, 1.0, 1000.0, 5), ["1", "10", "100", "1000"]);
        assert_eq!(labels(Scale::Log, 1e-8, 1e2, 4), ["10⁻⁸", "10⁻⁵", "0.01", "10"]);
        assert_eq!(labels(Scale::Log, 1.0, 12.0, 6), ["1", "2", "5", "10"]);
        assert_eq!(
            labels(Scale::Log, 2.0, 4.0, 4),
            ["2.0", "2.5", "3.0", "3.5", "4.0"].map(str::to_owned).to_vec()
        );
        let ruler = Ruler { scale: Scale::Log, low: 1.0, high: 100.0, from: 0.0, to: 1.0 };
        assert_eq!(ticks(&ruler, 3).len(), 19);
        // Around one power of ten.
        assert_eq!(labels(Scale::Log, 1.1, 95.0, 5), ["2", "5", "10", "20", "50"]);
    }

    /// Whatever a logarithmic axis shows, it can be read: two numbers at least, and small ticks between them.
    #[test]
    fn log_axes_can_be_read() {
        for low in [1e-7, 0.3, 0.99, 1.0, 1.7, 2.2, 6.4, 450.0, 3e8] {
            for ratio in [1.05, 1.3, 2.0, 3.0, 6.0, 9.5, 20.0, 90.0, 500.0, 1e5, 1e9] {
                for count in [2, 3, 5, 8] {
                    let ruler = Ruler { scale: Scale::Log, low, high: low * ratio, from: 0.0, to: 100.0 };
                    let found = ticks(&ruler, count);
                    let labels: Vec<_> = found.iter().filter(|tick| !tick.label.is_empty()).collect();
                    assert!(labels.len() >= 2, "{low} x {ratio}, {count}: {found:?}");
                    assert!(found.len() > labels.len(), "{low} x {ratio}, {count}: {found:?}");
                    assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at), "{found:?}");
                    assert!(
                        found.iter().all(|tick| tick.at >= low * 0.999 && tick.at <= low * ratio * 1.001)
                    );
                }
            }
        }
    }

    #[test]
    fn symlog_ticks_have_zero_and_both_sides() {
        assert_eq!(
            labels(Scale::Symlog(1.0), -100.0, 100.0, 6),
            ["−100", "−10", "−1", "0", "1", "10", "100"]
        );
        assert_eq!(
            labels(Scale::Symlog(1.0), -0.5, 0.5, 4),
            ["−0.5", "0", "0.5"].map(str::to_owned).to_vec()
        );
        assert_eq!(labels(Scale::Symlog(1.0), -100.0, -1.0, 4), ["−100", "−10", "−1"]);
        let around = ["−50", "−20", "0", "20", "50", "100", "200"];
        assert_eq!(labels(Scale::Symlog(20.0), -60.0, 230.0, 8), around);
        let ruler = Ruler { scale: Scale::Symlog(1.0), low: -100.0, high: 100.0, from: 0.0, to: 1.0 };
        assert_eq!(ticks(&ruler, 6).len(), 39, "small ticks between the powers of ten");
    }

    #[test]
    fn names_are_thinned() {
        let names: Vec<String> = (0..10).map(|i| i.to_string()).collect();
        let ruler = Ruler { scale: Scale::Linear, low: -0.5, high: 9.5, from: 0.0, to: 100.0 };
        assert_eq!(named(&names, &ruler, 10.0).len(), 10);
        assert_eq!(named(&names, &ruler, 25.0).len(), 4);
    }
}
