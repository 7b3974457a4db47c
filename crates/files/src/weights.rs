//! Weights of neural policies: a safetensors file beside the policy file.

use crate::io;
use gradband::policy::{Choice, Learns, PolicyRecord};
use gradband::{Error, Place, Result, abridged};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::path::Path;

/// What the file with the weights of a network is called.
pub const WEIGHTS_FILE: &str = "policy.safetensors";

/// Whether the parameters of a policy go into a file of their own: those of networks do.
pub fn has_weights_file(choice: &Choice) -> bool {
    choice.kind().learns() != Learns::Score
}

/// Writes every parameter as a tensor of `f32`, which is what networks play with.
pub(crate) fn write(path: &Path, policy: &PolicyRecord) -> std::io::Result<()> {
    let bytes: Vec<u8> = policy.params.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
    let mut rest = &bytes[..];
    let mut views = Vec::new();
    for (name, shape) in policy.names.iter().zip(&policy.shape) {
        let size = 4 * shape.iter().product::<usize>();
        let (own, others) = rest.split_at_checked(size).ok_or(std::io::ErrorKind::InvalidInput)?;
        rest = others;
        views.push((name, TensorView::new(Dtype::F32, shape.clone(), own).map_err(std::io::Error::other)?));
    }
    let content = serialize(views, None).map_err(std::io::Error::other)?;
    io::write(path, |file| file.write_all(&content))
}

/// The parameters of a policy whose weights are in `path`, in the order of its names.
pub(crate) fn read(path: &Path, policy: &PolicyRecord) -> Result<Vec<f64>> {
    let wrong = |message: String| Error::new(Place::file(path.display().to_string()), message);
    let content = io::read(path)?;
    let tensors = SafeTensors::deserialize(&content)
        .map_err(|error| wrong(format!("is not a sound safetensors file: {error}")))?;
    let is_known = |name: &&str| policy.names.iter().any(|known| known == name);
    if let Some(other) = tensors.names().into_iter().filter(|name| !is_known(name)).min() {
        return Err(wrong(format!(
            "has a tensor '{}' that the policy has no parameter for",
            abridged(other)
        )));
    }
    let mut params = Vec::new();
    for (name, shape) in policy.names.iter().zip(&policy.shape) {
        let tensor =
            tensors.tensor(name).map_err(|_| wrong(format!("has no tensor '{}'", abridged(name))))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (dtype, found, shape) = (tensor.dtype(), tensor.shape(), abridged(&format!("{shape:?}")));
            return Err(wrong(format!("'{}' is {dtype:?} {found:?}, expected F32 {shape}", abridged(name))));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        params.extend(numbers.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))));
    }
    Ok(params)
}
