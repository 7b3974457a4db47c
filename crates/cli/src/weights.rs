//! Weights of neural policies: a safetensors file beside the policy file.

use crate::failure::{Failure, Result};
use crate::files;
use gradband::Error;
use gradband::registry::{Choice, Trainer};
use gradband::spec::PolicyRecord;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::path::Path;

/// What the file is called.
pub const FILE: &str = "policy.safetensors";

/// Does a policy have so many parameters that they go into a file of their own?
pub fn in_file(choice: &Choice) -> bool {
    choice.info.trainer != Trainer::Score
}

/// Writes every parameter as a tensor of `f32`, which is what policies play with.
pub fn write(path: &Path, choice: &Choice) -> Result<()> {
    let failed = |error: safetensors::SafeTensorError| Failure::Other(format!("{}: {error}", path.display()));
    let slots = choice.slots();
    let bytes: Vec<Vec<u8>> = slots
        .iter()
        .map(|slot| {
            choice.params[slot.range.clone()].iter().flat_map(|&x| (x as f32).to_le_bytes()).collect()
        })
        .collect();
    let views = slots.iter().zip(&bytes).map(|(slot, bytes)| {
        TensorView::new(Dtype::F32, slot.shape.clone(), bytes).map(|view| (slot.info.name, view))
    });
    let views = views.collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
    let content = serialize(views, None).map_err(failed)?;
    files::write_with(path, |file| file.write_all(&content))
}

/// The parameters of a policy whose weights are in `path`, in the order of its names.
pub fn read(path: &Path, policy: &PolicyRecord) -> gradband::Result<Vec<f64>> {
    let wrong = |message: String| Error::new(path.display().to_string(), message);
    let content = files::read(path)?;
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
