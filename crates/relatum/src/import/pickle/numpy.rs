//! Numpy's scalars: one number, written as its type and its bytes.

use super::arena::{Node, Value};
use super::globals::Known;
use super::machine::{Machine, Outcome};

impl Machine<'_> {
    /// The number that `numpy.core.multiarray.scalar(dtype, data)` stands for; `None` if it is not an
    /// integer, float or boolean.
    pub(super) fn numpy_scalar(&mut self, dtype: Value, data: Value) -> Outcome<Option<Value>> {
        let Some((code, order)) = self.dtype(dtype) else {
            return Ok(None);
        };
        let mut bytes = match self.arena.as_node(data) {
            Some(Node::Bytes(range)) => self.arena.bytes(range),
            // Bytes that Python 2 wrote and that happen to be UTF-8.
            Some(Node::Str(range)) => self.arena.text(range).as_bytes(),
            _ => return Ok(None),
        }
        .iter()
        .copied()
        .take(9)
        .collect::<Vec<u8>>();
        if order == ">" {
            bytes.reverse();
        }
        let (kind, width) = code.split_at(1);
        if width.parse() != Ok(bytes.len()) {
            return Ok(None);
        }
        match (kind, bytes.as_slice()) {
            ("b", &[byte]) => Ok(Some(Value::Bool(byte != 0))),
            ("i", [_] | [_, _] | [_, _, _, _] | [_, _, _, _, _, _, _, _]) => {
                self.new_integer(&bytes).map(Some)
            }
            ("u", [_] | [_, _] | [_, _, _, _] | [_, _, _, _, _, _, _, _]) => {
                bytes.push(0);
                self.new_integer(&bytes).map(Some)
            }
            ("f", &[a, b]) => Ok(Some(Value::Float(half(u16::from_le_bytes([a, b]))))),
            ("f", &[a, b, c, d]) => Ok(Some(Value::Float(f32::from_le_bytes([a, b, c, d]).into()))),
            ("f", &[a, b, c, d, e, f, g, h]) => {
                Ok(Some(Value::Float(f64::from_le_bytes([a, b, c, d, e, f, g, h]))))
            }
            _ => Ok(None),
        }
    }

    /// The code (`i8`) and byte order (`<`, `>` or `|`) of a `numpy.dtype`.
    fn dtype(&self, value: Value) -> Option<(String, String)> {
        let Node::Object(object) = self.arena.as_node(value)? else {
            return None;
        };
        let Node::Global(class) = self.arena.as_node(object.class)? else {
            return None;
        };
        if class.known != Some(Known::NumpyDtype) {
            return None;
        }
        let code = self.arena.as_str(*self.arena.as_tuple(object.arguments)?.first()?)?;
        // A plain number is a one-letter ASCII kind and a width; longer descriptions are something else.
        if !(2..=3).contains(&code.len()) || !code.is_ascii() {
            return None;
        }
        let order = match self.arena.as_tuple(object.state) {
            Some(&[_, order, ..]) => self.arena.as_str(order)?,
            _ => "<",
        };
        (order.len() == 1).then(|| (code.to_owned(), order.to_owned()))
    }
}

/// A 16-bit float: sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}
