//! A policy as it is sent to those who simulate it elsewhere: its name, its settings and its numbers, to the last bit.

use crate::numeric::bytes::Put;

/// What others need to have the same policy; its numbers may be some that training has not made fit for use yet.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(super) name: String,
    /// As they are typed.
    pub(super) settings: Vec<(&'static str, String)>,
    pub(super) params: Vec<f64>,
}

impl Description {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_bytes(self.name.as_bytes());
        out.put(self.settings.len() as u64);
        for (name, value) in &self.settings {
            out.put_bytes(name.as_bytes());
            out.put_bytes(value.as_bytes());
        }
        out.put_numbers(&self.params);
        out
    }
}
