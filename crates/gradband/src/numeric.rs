//! Numbers: lanes, streams of randomness, instruction sets, matrix products, special functions, a search.
//!
//! The lowest room: it uses nothing of the others but errors.

pub(crate) mod bytes;
pub(crate) mod floor;
pub(crate) mod gamma;
pub(crate) mod lanes;
pub(crate) mod largest;
pub(crate) mod matmul;
pub(crate) mod quadrature;
pub(crate) mod search;
pub(crate) mod simd;
pub(crate) mod special;
pub(crate) mod stream;
