//! Weights of neural policies: a safetensors file beside the policy file.

use crate::io;
use crate::policy_file::PolicyRecord;
use gradband::policy::{Choice, Learns};
use gradband::{Error, Place, Result};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::path::Path;

/// What the file is called.
pub const WEIGHTS_FILE: &str = "policy.safetensors";

/// Does a policy have so many parameters that they go into a file of their own?
pub fn has_weights_file(choice: &Choice) -> bool {
    choice.kind().learns() != Learns::Score
}

/// Every parameter as a tensor of `f32`, which is what policies play with.
pub(crate) fn write(path: &Path, choice: &Choice) -> std::io::Result<()> {
    let slots = choice.slots();
    let bytes: Vec<Vec<u8>> = slots
        .iter()
        .map(|slot| {
            choice.params()[slot.range.clone()].iter().flat_map(|&x| (x as f32).to_le_bytes()).collect()
        })
        .collect();
    let views = slots.iter().zip(&bytes).map(|(slot, bytes)| {
        TensorView::new(Dtype::F32, slot.shape.clone(), bytes).map(|view| (slot.name(), view))
    });
    let views = views.collect::<std::result::Result<Vec<_>, _>>().map_err(std::io::Error::other)?;
    let content = serialize(views, None).map_err(std::io::Error::other)?;
    io::write(path, |file| file.write_all(&content))
}

/// The parameters of a policy whose weights are in `path`, in the order of its names.
pub(crate) fn read(path: &Path, policy: &PolicyRecord) -> Result<Vec<f64>> {
    let wrong = |message: String| Error::new(Place::file(path.display().to_string()), message);
    let content = io::read(path)?;
    let tensors = SafeTensors::deserialize(&content)
        .map_err(|error| wrong(format!("is not a sound safetensors file: {error}")))?;
    let mut params = Vec::new();
    for (name, shape) in policy.names.iter().zip(&policy.shape) {
        let tensor = tensors.tensor(name).map_err(|_| wrong(format!("has no tensor '{name}'")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(wrong(format!("'{name}' is {dtype:?} {found:?}, expected F32 {shape:?}")));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        params.extend(numbers.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))));
    }
    Ok(params)
}
