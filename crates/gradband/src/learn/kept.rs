//! Trainings that can go on another time: what was found so far as bytes, which an [`Observer`] keeps and recalls.
//!
//! Everything is deterministic, so a resumed training takes the same way again. Loops keep their state; what was found
//! value by value (searches, checks) is kept as a list, and the way there is gone again with the list in hand. Numbers are kept by
//! their bits. Whatever does not fit is not recalled, and computed anew.

use crate::error::Result;
use crate::observe::{Crew, Iteration, Observer, Progress};
use crate::stop::StopReason;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A value as bytes, little endian.
pub(super) trait Kept: Sized {
    fn put(&self, to: &mut Vec<u8>);
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// Plain numbers, and structures field by field.
macro_rules! kept {
    ($($number:ty),+) => { $(
        impl Kept for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )+ };
    ($name:ident { $($field:ident),+ }) => {
        impl $crate::learn::kept::Kept for $name {
            fn put(&self, to: &mut Vec<u8>) {
                $($crate::learn::kept::Kept::put(&self.$field, to);)+
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::learn::kept::Kept::take(from)?),+ })
            }
        }
    };
}
pub(super) use kept;

kept!(u32, u64, u128, i32, f32, f64);
kept!(Iteration { iteration, params, gradient_norm, loss });

impl Kept for usize {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u64).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        u64::take(from)?.try_into().ok()
    }
}

impl<T: Kept> Kept for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (some, rest) = from.split_first()?;
        *from = rest;
        if *some == 0 { Some(None) } else { T::take(from).map(Some) }
    }
}

impl<T: Kept> Kept for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        // No room is made for more than there is: a value has a byte at least.
        let len = usize::take(from).filter(|&len| len <= from.len())?;
        (0..len).map(|_| T::take(from)).collect()
    }
}

impl<A: Kept, B: Kept> Kept for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// A value as bytes.
pub(super) fn bytes(value: &impl Kept) -> Vec<u8> {
    let mut to = Vec::new();
    value.put(&mut to);
    to
}

/// And back, if that is what they are, to the last of them.
fn value<T: Kept>(bytes: &[u8]) -> Option<T> {
    let mut from = bytes;
    T::take(&mut from).filter(|_| from.is_empty())
}

/// What was kept of a step.
pub(super) fn recall<T: Kept>(observer: &mut dyn Observer, step: &str) -> Option<T> {
    observer.recall(step).and_then(|bytes| value(&bytes))
}

/// The answer of a step: recalled if it fits, or found and kept. What is kept within the step goes by its name.
pub(super) fn step<T: Kept>(
    observer: &mut dyn Observer,
    name: &str,
    fits: impl FnOnce(&T) -> bool,
    find: impl FnOnce(&mut dyn Observer) -> Result<T>,
) -> Result<T> {
    if let Some(known) = recall(observer, name).filter(fits) {
        return Ok(known);
    }
    let found = find(&mut Within::new(name, observer))?;
    observer.keep(name, &|| bytes(&found));
    Ok(found)
}

/// Are these the records of the first iterations of so many, with so many parameters?
pub(super) fn are_records(history: &[Iteration], iterations: usize, dim: usize) -> bool {
    let whole = |record: &Iteration| record.params.as_ref().is_none_or(|params| params.len() == dim);
    history.len() <= iterations && history.iter().all(whole)
}

/// Values that are found one after the other, by a search that goes the same way again.
pub(super) struct Found<T> {
    step: &'static str,
    known: Vec<T>,
    next: usize,
}

impl<T: Kept + Clone> Found<T> {
    pub fn new(step: &'static str, observer: &mut dyn Observer) -> Self {
        Self::fitting(step, |_| true, observer)
    }

    /// The same for values that have a form.
    pub fn fitting(step: &'static str, fits: impl Fn(&T) -> bool, observer: &mut dyn Observer) -> Self {
        let known = recall(observer, step).filter(|known: &Vec<T>| known.iter().all(fits));
        Self { step, known: known.unwrap_or_default(), next: 0 }
    }

    /// The next one: recalled, or found and kept.
    pub fn next(
        &mut self,
        observer: &mut dyn Observer,
        find: impl FnOnce(&mut dyn Observer) -> Result<T>,
    ) -> Result<T> {
        if self.next == self.known.len() {
            self.known.push(find(observer)?);
            observer.keep(self.step, &|| bytes(&self.known));
        }
        self.next += 1;
        Ok(self.known[self.next - 1].clone())
    }
}

/// An observer whose steps are part of a larger one.
pub(super) struct Within<'a> {
    name: &'a str,
    observer: &'a mut dyn Observer,
}

impl<'a> Within<'a> {
    pub fn new(name: &'a str, observer: &'a mut dyn Observer) -> Self {
        Self { name, observer }
    }

    fn path(&self, step: &str) -> String {
        format!("{}/{step}", self.name)
    }
}

impl Observer for Within<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        self.observer.progress(progress)
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        self.observer.iteration(record, params);
    }

    fn offer(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.observer.offer(&self.path(step), state);
    }

    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.observer.keep(&self.path(step), state);
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        self.observer.recall(&self.path(step))
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.observer.crew()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_and_nothing_else_is_taken() {
        let record = Iteration {
            iteration: 7,
            params: Some(vec![-0.0, f64::MIN_POSITIVE / 8.0]),
            gradient_norm: None,
            loss: Some(f64::NAN),
        };
        let kept = bytes(&(vec![record], 3_usize));
        let (records, count) = value::<(Vec<Iteration>, usize)>(&kept).unwrap();
        assert_eq!(count, 3);
        let params = records[0].params.as_ref().unwrap();
        assert_eq!(params[0].to_bits(), (-0.0_f64).to_bits());
        assert_eq!(params[1], f64::MIN_POSITIVE / 8.0);
        assert!(records[0].loss.unwrap().is_nan());
        for cut in 0..kept.len() {
            assert!(value::<(Vec<Iteration>, usize)>(&kept[..cut]).is_none(), "{cut}");
        }
        assert!(value::<usize>(&[0; 9]).is_none());
        assert!(value::<Vec<f64>>(&[255; 8]).is_none(), "a length beyond what there is");
    }
}
