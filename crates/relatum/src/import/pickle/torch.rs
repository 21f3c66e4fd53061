//! PyTorch's tensors as a checkpoint's pickle describes them: shape, strides, and the name of
//! the storage that holds the numbers outside the pickle.

use super::item::{Item, Items, Kind};

/// A block of numbers outside the pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage<'a> {
    /// The class of the storage, which says the type of its numbers: `FloatStorage`, `HalfStorage`, ….
    pub class: &'a str,
    /// The name of the storage: in a zip file, the file `data/KEY`.
    pub key: &'a str,
    /// The device it was saved from.
    pub location: &'a str,
    /// How many numbers it holds.
    pub len: u64,
}

/// A tensor: which numbers of a storage, in which shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor<'a> {
    /// Where the numbers are.
    pub storage: Storage<'a>,
    /// The position of the first of them.
    pub offset: u64,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// How far apart neighbours along each dimension lie.
    pub strides: Vec<u64>,
}

impl<'a> Item<'a> {
    /// A tensor or parameter of a PyTorch checkpoint that was read with
    /// [`Policy::Checkpoint`](super::Policy::Checkpoint).
    ///
    /// Nothing is known of the storage yet: the caller must check that offset, shape and strides stay
    /// inside it. Views of storages, as PyTorch wrote them before 0.4, are not tensors here.
    pub fn as_tensor(self) -> Option<Tensor<'a>> {
        let call = self.as_object()?;
        let Kind::Global { module: "torch._utils", name } = call.class().kind() else {
            return None;
        };
        let mut arguments = call.arguments();
        match name {
            "_rebuild_tensor" | "_rebuild_tensor_v2" => tensor(&arguments),
            // A parameter wraps its tensor; a parameter of a parameter is never written.
            "_rebuild_parameter" | "_rebuild_parameter_with_state" => {
                let inner = arguments.next()?.as_object()?;
                let Kind::Global { module: "torch._utils", name: "_rebuild_tensor" | "_rebuild_tensor_v2" } =
                    inner.class().kind()
                else {
                    return None;
                };
                tensor(&inner.arguments())
            }
            _ => None,
        }
    }
}

fn tensor<'a>(arguments: &Items<'a>) -> Option<Tensor<'a>> {
    let (shape, strides) = (arguments.get(2)?, arguments.get(3)?);
    let (shape, strides) = (whole_numbers(shape)?, whole_numbers(strides)?);
    let storage = storage(arguments.get(0)?)?;
    let offset = whole_number(arguments.get(1)?)?;
    (shape.len() == strides.len()).then_some(Tensor { storage, offset, shape, strides })
}

/// `('storage', torch.FloatStorage, key, location, length)`, and in old files `None` for a view.
fn storage(item: Item<'_>) -> Option<Storage<'_>> {
    let id = item.as_persistent()?.as_tuple()?;
    let known = id.get(0)?.as_str() == Some("storage") && id.get(5).is_none_or(Item::is_none);
    let Kind::Global { module: "torch" | "torch.storage", name: class } = id.get(1)?.kind() else {
        return None;
    };
    let (key, location) = (id.get(2)?.as_str()?, id.get(3)?.as_str()?);
    let len = whole_number(id.get(4)?)?;
    known.then_some(Storage { class, key, location, len })
}

fn whole_number(item: Item<'_>) -> Option<u64> {
    u64::try_from(item.as_int()?).ok()
}

/// PyTorch's tensors have no more dimensions. Without the limit a long tuple that many tensors share
/// would be read for each of them.
const MOST_DIMENSIONS: usize = 64;

fn whole_numbers(item: Item<'_>) -> Option<Vec<u64>> {
    let items = item.as_tuple().filter(|items| items.len() <= MOST_DIMENSIONS)?;
    items.map(whole_number).collect()
}
