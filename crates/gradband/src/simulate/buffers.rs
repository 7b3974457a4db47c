//! Buffers that a thread keeps from one call to the next: they are megabytes, a call takes milliseconds, and fresh pages would cost
//! more than some rounds do.

use std::any::Any;
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<Box<dyn Any>>> = const { Cell::new(None) };
}

/// Those of the call before, if they are of this kind and fit; else new ones.
pub(super) fn take<T: 'static>(fit: impl FnOnce(&T) -> bool, new: impl FnOnce() -> T) -> Box<T> {
    let kept = KEPT.take().and_then(|kept| kept.downcast().ok());
    kept.filter(|kept| fit(kept)).unwrap_or_else(|| Box::new(new()))
}

/// Leaves them to the next call.
pub(super) fn keep<T: 'static>(buffers: Box<T>) {
    KEPT.set(Some(buffers));
}

/// The `size` numbers of round `t`, and where those of the next round go: one round after the other if all are kept, else two by turns.
#[inline(always)]
pub(super) fn turn<R>(rounds: &mut [R], kept: bool, t: usize, size: usize) -> (&[R], &mut [R]) {
    if kept {
        let (old, new) = rounds[t * size..][..2 * size].split_at_mut(size);
        return (old, new);
    }
    let (even, odd) = rounds.split_at_mut(size);
    if t.is_multiple_of(2) { (even, odd) } else { (odd, even) }
}
