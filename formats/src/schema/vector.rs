//! Vectors as data: `#[serde(with = "vector")]` for fields written as `[x, y, z]`.

use nalgebra::Vector3;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::FlowSeq;
use std::fmt;

/// Three numbers on one line of YAML.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_formats::schema::vector::YamlVector3;
/// let YamlVector3(v) = serde_json::from_str("[1, 2, 3]")?;
/// assert_eq!(v, Vector3::new(1.0, 2.0, 3.0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YamlVector3(pub Vector3<f64>);

impl<'de> Deserialize<'de> for YamlVector3 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct YamlVector3Visitor;
        impl<'de> Visitor<'de> for YamlVector3Visitor {
            type Value = YamlVector3;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of three numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<YamlVector3, A::Error> {
                let mut three = Vector3::zeros();
                let mut count = 0;
                while let Some(number) = list.next_element::<f64>()? {
                    if let Some(place) = three.get_mut(count) {
                        *place = number;
                    }
                    count += 1;
                }
                if count != 3 {
                    return Err(de::Error::invalid_length(count, &self));
                }
                Ok(YamlVector3(three))
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<YamlVector3, A::Error> {
                Err(de::Error::custom(
                    "a vector must be three numbers, got fields; random vectors are not supported",
                ))
            }
        }
        deserializer.deserialize_any(YamlVector3Visitor)
    }
}

impl Serialize for YamlVector3 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FlowSeq(self.0.as_slice()).serialize(serializer)
    }
}

/// Writes `[x, y, z]`.
///
/// # Errors
/// Returns the errors of the serializer.
pub fn serialize<S: Serializer>(v: &Vector3<f64>, s: S) -> Result<S::Ok, S::Error> {
    YamlVector3(*v).serialize(s)
}

/// Reads `[x, y, z]`.
///
/// # Errors
/// Returns an error if the value is not a list of three numbers.
pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vector3<f64>, D::Error> {
    YamlVector3::deserialize(d).map(|YamlVector3(v)| v)
}
