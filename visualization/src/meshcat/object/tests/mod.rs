//! Comparison of objects with those that Drake sends, and rejected input.

mod captures;
mod files;
mod gltf;
mod surfaces;

use super::*;
use crate::Result;
use rmpv::Value;
use std::borrow::Borrow;

/// Identifiers and assets that objects are encoded with.
#[derive(Default)]
struct Server {
    uuids: Uuids,
    assets: AssetStore,
}

impl Server {
    fn encoder(&self) -> Encoder<'_> {
        Encoder {
            uuids: &self.uuids,
            assets: &self.assets,
        }
    }
}

fn rgba(r: f64, g: f64, b: f64, a: f64) -> Rgba {
    Rgba::new(r, g, b, a).unwrap()
}

/// Returns Drake's default colour of shapes.
fn grey() -> Rgba {
    rgba(0.9, 0.9, 0.9, 1.0)
}

/// Decodes an object.
fn decoded(object: impl Borrow<Object>) -> Value {
    let mut bytes = &object.borrow().encoded[..];
    let value = rmpv::decode::read_value(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 0, "no bytes follow");
    value
}

/// Returns the value at the end of `path`, which consists of field names and array indices.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, key| {
        let found = match value {
            Value::Array(array) => array.get(key.parse::<usize>().unwrap()),
            Value::Map(map) => map
                .iter()
                .find(|(k, _)| k.as_str() == Some(key))
                .map(|(_, v)| v),
            _ => None,
        };
        found.unwrap_or_else(|| panic!("no {key} of {path} in {value}"))
    })
}

/// Returns the field names of a map.
fn keys(value: &Value) -> Vec<&str> {
    let map = value.as_map().unwrap();
    map.iter().map(|(k, _)| k.as_str().unwrap()).collect()
}

/// Returns the numbers of a typed array of f32.
fn floats(value: &Value) -> Vec<f32> {
    let (kind, bytes) = value.as_ext().unwrap();
    assert_eq!(kind, 0x17);
    let (chunks, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    chunks.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Returns the numbers of a typed array of u32.
fn indices(value: &Value) -> Vec<u32> {
    let (kind, bytes) = value.as_ext().unwrap();
    assert_eq!(kind, 0x16);
    let (chunks, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    chunks.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

const POSITIONS: &str = "geometries.0.data.attributes.position.array";
const INDEX: &str = "geometries.0.data.index.array";

/// Asserts that the result is an error whose message contains all `message` parts.
fn refused<V: std::fmt::Debug>(result: Result<V>, message: &[&str]) {
    let error = result.unwrap_err().to_string();
    for part in message {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

#[test]
fn identifiers_differ_and_have_the_form_of_uuids() {
    let uuids = Uuids(AtomicU64::new(0xab_cdef));
    assert_eq!(
        uuids.next().as_str(),
        "74617272-6167-8f6e-8000-000000abcdef"
    );
    assert_eq!(
        uuids.next().as_str(),
        "74617272-6167-8f6e-8000-000000abcdf0"
    );
}

#[test]
fn colours_are_rounded_down_as_in_drake() {
    // Recorded from pydrake 1.51.
    for (channel, expected) in [
        (0.0, 0),
        (0.002, 0),
        (1.5 / 255.0, 1),
        (0.1, 25),
        (0.2, 51),
        (0.5, 127),
        (128.0 / 255.0, 128),
        (0.7, 178),
        (0.9, 229),
        (254.9 / 255.0, 254),
        (1.0, 255),
    ] {
        assert_eq!(
            material::hex(rgba(channel, 0.0, 0.0, 1.0)),
            expected << 16,
            "{channel}"
        );
        assert_eq!(material::hex(rgba(0.0, channel, 0.0, 0.5)), expected << 8);
        assert_eq!(material::hex(rgba(0.0, 0.0, channel, 0.0)), expected);
    }
}

#[test]
fn a_half_space_is_a_slab_below_its_origin() {
    let server = Server::default();
    let object = shape(
        &server.encoder(),
        &tarragon_geometry::HalfSpace.into(),
        grey(),
    )
    .unwrap();
    let object = decoded(object);
    let geometry = at(&object, "geometries.0");
    let size = ["width", "height", "depth"].map(|f| at(geometry, f).as_f64().unwrap());
    assert_eq!(size, [100.0, 100.0, 1.0]);
    let z = at(&object, "object.matrix.14").as_f64().unwrap();
    assert_eq!(z + size[2] / 2.0, 0.0, "the top face is at z = 0");
}
