//! Values with what YAML says about them beyond the value.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt::Formatter;
use std::marker::PhantomData;

/// Names by which the reader knows these types.
pub(super) const PLACED: &str = "tarragon::yaml::Placed";
pub(super) const TAGGED: &str = "tarragon::yaml::Tagged";

/// A value with the line and the column where it is, from 1.
///
/// ```
/// use tarragon_documents::yaml::{Placed, read_yaml};
/// let speeds: Vec<Placed<f64>> = read_yaml("- 1\n- 2.5")?;
/// assert_eq!((speeds[1].value, speeds[1].place), (2.5, (2, 3)));
/// # Ok::<(), tarragon_documents::yaml::YamlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Line and column.
    pub place: (u32, u32),
}

/// A value with its tag, such as `!Rpy`.
///
/// ```
/// use tarragon_documents::yaml::{Tagged, read_yaml};
/// let Tagged { value, tag } = read_yaml::<Tagged<Vec<f64>>>("!Rpy [0, 0, 90]")?;
/// assert_eq!((value[2], tag.as_deref()), (90.0, Some("!Rpy")));
/// # Ok::<(), tarragon_documents::yaml::YamlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged<T> {
    /// The value.
    pub value: T,
    /// The tag as it is written; `None` without one.
    pub tag: Option<String>,
}

/// Reads the parts of a wrapper, which come as a list.
struct WrapperVisitor<W, T>(PhantomData<(W, T)>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WrapperVisitor<Placed<T>, T> {
    type Value = Placed<T>;
    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value in a YAML text")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Placed<T>, A::Error> {
        let missing = || A::Error::custom("values have a place in YAML texts only");
        let line = parts.next_element()?.ok_or_else(missing)?;
        let column = parts.next_element()?.ok_or_else(missing)?;
        let value = parts.next_element()?.ok_or_else(missing)?;
        let place = (line, column);
        Ok(Placed { value, place })
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for WrapperVisitor<Tagged<T>, T> {
    type Value = Tagged<T>;
    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value in a YAML text")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Tagged<T>, A::Error> {
        let missing = || A::Error::custom("values have a tag in YAML texts only");
        let value = parts.next_element()?.ok_or_else(missing)?;
        let tag = parts.next_element()?;
        Ok(Tagged { value, tag })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(PLACED, WrapperVisitor(PhantomData::<(Self, T)>))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Tagged<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TAGGED, WrapperVisitor(PhantomData::<(Self, T)>))
    }
}
