//! The table against its definition.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::observe::Progress;
use crate::stop::StopReason;
use std::ops::ControlFlow;

/// The definition, by bisection in f64.
fn bisect(successes: usize, failures: usize, remaining: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut value = vec![0.0f64; remaining + 1];
    for _ in 0..45 {
        let charge = 0.5 * (low + high);
        value.fill(0.0);
        let mut q = 0.0;
        for left in 1..=remaining {
            let played = remaining - left;
            for s in 0..=played {
                let p = (successes + s + 1) as f64 / (successes + failures + played + 2) as f64;
                q = p - charge + p * value[s + 1] + (1.0 - p) * value[s];
                value[s] = f64::max(0.0, q);
            }
        }
        if q > 0.0 { low = charge } else { high = charge }
    }
    0.5 * (low + high)
}

#[test]
fn indices_agree_with_bisection() {
    let table = GittinsTable::new(200, &mut ()).unwrap();
    let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0);
    for total in (1..=40).chain([61, 97, 150, 199, 200]) {
        // All states of small slices, a few hundred of large ones.
        let states = (0..total).flat_map(|pulls| (0..=pulls).map(move |s| (pulls, s)));
        for (pulls, s) in states.step_by(if total <= 40 { 1 } else { total / 2 + 1 }) {
            let index = table.index(s as u32, (pulls - s) as u32, (total - pulls) as u32);
            let error = (f64::from(index) - bisect(s, pulls - s, total - pulls)).abs();
            worst = worst.max(error);
            sum += error;
            count += 1;
        }
    }
    println!("worst error {worst:.2e}, mean {:.2e} over {count} states", sum / f64::from(count));
    assert!(worst < 1e-4 && sum / f64::from(count) < 5e-6);
}

/// One slice of a long table, without the others.
#[test]
fn indices_of_a_long_horizon_agree_with_bisection() {
    let total = 799; // the worst: the first with as few charges as it has states in the last row
    let mut slice = vec![0.0; total * (total + 1) / 2];
    Stopping::new(total).fill(total, &mut slice);
    assert!(slice.iter().all(|&index| index > 0.0 && index < 1.0));
    let states = (0..total).flat_map(|pulls| (0..=pulls).map(move |s| (pulls, s)));
    let errors: Vec<f64> = (states.zip(&slice).step_by(3_001))
        .map(|((pulls, s), &index)| (f64::from(index) - bisect(s, pulls - s, total - pulls)).abs())
        .collect();
    let (worst, mean) =
        (errors.iter().fold(0.0, |a: f64, &b| a.max(b)), errors.iter().sum::<f64>() / errors.len() as f64);
    println!("worst error {worst:.2e}, mean {mean:.2e} over {} states", errors.len());
    assert!(worst < f64::from(MAX_ERROR) && mean < 5e-5);
}

/// Remembers what it is told, and stops the work once that is more than `most`.
struct Calls {
    seen: Vec<(u64, u64)>,
    most: usize,
}

impl Observer for Calls {
    fn progress(&mut self, Progress { done, total, .. }: Progress) -> ControlFlow<StopReason> {
        self.seen.push((done, total));
        if self.seen.len() <= self.most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(StopReason::Interrupted)
        }
    }
}

#[test]
fn a_shorter_table_is_a_prefix_and_parts_are_checked() {
    let mut all = Calls { seen: Vec::new(), most: usize::MAX };
    let long = GittinsTable::new(40, &mut all).unwrap();
    assert_eq!(all.seen.len(), 40);
    assert_eq!(all.seen.last(), Some(&(10_660, 11_480)));
    assert!(all.seen.is_sorted());
    let stopped = GittinsTable::new(40, &mut Calls { seen: Vec::new(), most: 0 }).unwrap_err();
    assert_eq!(stopped.stopped(), Some(StopReason::Interrupted));
    let short = GittinsTable::new(25, &mut ()).unwrap();
    assert_eq!(short.values(), &long.values()[..GittinsTable::entries(25)]);
    assert_eq!(GittinsTable::from_parts(25, short.values().to_vec()), Ok(short.clone()));
    assert!(GittinsTable::from_parts(24, short.values().to_vec()).is_err());
    for bad in [f32::NAN, 0.0, 1.0] {
        let mut values = short.values().to_vec();
        values[1_000] = bad;
        assert!(GittinsTable::from_parts(25, values).is_err());
    }
}
