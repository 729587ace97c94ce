//! The bytes of a model file: a header and named arrays in the safetensors layout, guarded by a checksum.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};

use safetensors::tensor::{Dtype, SafeTensors, View};

use crate::state::{State, Tensor, refuse};
use bagwise_core::{Error, Result, checksum};

/// The array that guards header and arrays against accidents: copies that broke off, disks that flip bits.
const CHECKSUM: &str = "checksum";

/// Header and arrays as the bytes of a model file.
pub fn pack(header: &str, mut state: State) -> Result<Vec<u8>> {
    let sum = checksum(header, &state);
    state.tensors.insert(CHECKSUM.into(), Tensor::U64(vec![1], vec![sum]));
    let metadata = HashMap::from([("bagwise".to_string(), header.to_string())]);
    safetensors::serialize(&state.tensors, Some(metadata))
        .map_err(|e| Error::Invalid(format!("the model: {e}")))
}

/// Bytes that the list of arrays at the front of a file may have: the limit of the safetensors format.
const LONGEST_LIST: u64 = 100_000_000;

/// The bytes of a model file, and no more than its list of arrays promises, or as few as show that this is no model: a huge file
/// that is something else is not read as a whole. What is wrong with them [`unpack`] says.
pub(super) fn read_bytes(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut more = |count: u64, bytes: &mut Vec<u8>| input.by_ref().take(count).read_to_end(bytes);
    more(8, &mut bytes)?;
    let Some(length) = bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b)) else { return Ok(bytes) };
    if length > LONGEST_LIST {
        return Ok(bytes);
    }
    more(length, &mut bytes)?;
    if let Some(arrays) = bytes.get(8..).and_then(arrays_end) {
        // One more, so that a file that goes on is noticed.
        more(arrays.saturating_add(1), &mut bytes)?;
    }
    Ok(bytes)
}

/// Where the last array of a list ends, counted from the end of the list.
fn arrays_end(list: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct ListedArray {
        data_offsets: Option<(u64, u64)>,
    }
    let list: HashMap<String, ListedArray> = serde_json::from_slice(list).ok()?;
    list.values().filter_map(|entry| entry.data_offsets).map(|(_, end)| end).max()
}

/// Header and arrays of a model file, if its checksum is right; what they say is not looked at.
pub fn unpack(bytes: &[u8]) -> Result<(String, State)> {
    let damaged = |what: String| refuse(format!("{what}; copy it again, or train it again"));
    let (_, metadata) = SafeTensors::read_metadata(bytes)
        .map_err(|e| damaged(format!("not a bagwise model, or damaged ({e})")))?;
    let header = metadata.metadata().as_ref().and_then(|m| m.get("bagwise"));
    let header =
        header.ok_or_else(|| damaged("a safetensors file that was not written by bagwise".into()))?.clone();
    let file =
        SafeTensors::deserialize(bytes).map_err(|e| damaged(format!("its arrays are damaged ({e})")))?;
    if let Some(name) = named_twice(bytes) {
        return Err(damaged(format!("it has the array '{name}' twice")));
    }
    let mut state = State::default();
    for (name, view) in file.tensors() {
        let tensor = read_tensor(view.dtype(), view.shape(), view.data());
        let tensor = tensor.ok_or_else(|| damaged(format!("the array '{name}' does not contain numbers")))?;
        state.tensors.insert(name.clone(), tensor);
    }
    let written = state.tensors.remove(CHECKSUM);
    if written != Some(Tensor::U64(vec![1], vec![checksum(&header, &state)])) {
        return Err(damaged("its checksum does not match its content".into()));
    }
    Ok((header, state))
}

/// The first array that the list at the front of a file names twice: readers of JSON take one of the two, and not all the
/// same.
fn named_twice(bytes: &[u8]) -> Option<String> {
    struct Names(Option<String>);
    impl<'de> serde::de::Visitor<'de> for Names {
        type Value = Option<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("arrays by name")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(mut self, mut map: A) -> Result<Option<String>, A::Error> {
            let mut seen = std::collections::HashSet::new();
            while let Some((name, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                if !seen.insert(name.clone()) {
                    self.0.get_or_insert(name);
                }
            }
            Ok(self.0)
        }
    }
    let length = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
    let list = bytes.get(8..usize::try_from(length).ok()?.checked_add(8)?)?;
    let mut input = serde_json::Deserializer::from_slice(list);
    serde::Deserializer::deserialize_map(&mut input, Names(None)).ok()?
}

/// Over header, names, shapes and numbers.
pub(super) fn checksum(header: &str, state: &State) -> u64 {
    let mut sum = checksum::BEGIN;
    let mut take = |word: u64| sum = checksum::step(sum, word);
    header.bytes().for_each(|b| take(u64::from(b)));
    for (name, tensor) in &state.tensors {
        name.bytes().for_each(|b| take(u64::from(b)));
        tensor.shape().iter().for_each(|&n| take(n as u64));
        match tensor {
            Tensor::F64(_, v) => v.iter().for_each(|x| take(x.to_bits())),
            Tensor::F32(_, v) => v.iter().for_each(|x| take(u64::from(x.to_bits()))),
            Tensor::U64(_, v) => v.iter().for_each(|&x| take(x)),
        }
    }
    sum
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        match self {
            Tensor::F64(..) => Dtype::F64,
            Tensor::F32(..) => Dtype::F32,
            Tensor::U64(..) => Dtype::U64,
        }
    }

    fn shape(&self) -> &[usize] {
        Tensor::shape(self)
    }

    fn data(&self) -> Cow<'_, [u8]> {
        match self {
            Tensor::F64(_, v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Tensor::F32(_, v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Tensor::U64(_, v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    fn data_len(&self) -> usize {
        match self {
            Tensor::F64(_, v) => 8 * v.len(),
            Tensor::F32(_, v) => 4 * v.len(),
            Tensor::U64(_, v) => 8 * v.len(),
        }
    }
}

fn read_tensor(dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Option<Tensor> {
    let shape = shape.to_vec();
    let eight = || bytes.chunks_exact(8).map(|c| c.try_into().expect("chunks of eight"));
    match dtype {
        Dtype::F64 => Some(Tensor::F64(shape, eight().map(f64::from_le_bytes).collect())),
        Dtype::U64 => Some(Tensor::U64(shape, eight().map(u64::from_le_bytes).collect())),
        Dtype::F32 => {
            let four =
                bytes.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("chunks of four")));
            Some(Tensor::F32(shape, four.collect()))
        }
        _ => None,
    }
}
