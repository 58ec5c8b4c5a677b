//! The parts of a node: elements, entries, the content of a variant, a value with its place or tag.

use super::{NodeReader, Result};
use crate::yaml::mistake::Mistake;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

/// The elements of a list.
pub(super) struct Items<'t, 'r> {
    reader: NodeReader<'t>,
    rest: &'r mut std::slice::Iter<'t, usize>,
}

impl<'t, 'r> Items<'t, 'r> {
    pub(super) fn new(reader: NodeReader<'t>, rest: &'r mut std::slice::Iter<'t, usize>) -> Self {
        Self { reader, rest }
    }
}

impl<'t> SeqAccess<'t> for Items<'t, '_> {
    type Error = Mistake;
    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(item) = self.rest.next() else {
            return Ok(None);
        };
        self.reader.of(*item).read(seed).map(Some)
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The entries of a map.
pub(super) struct Entries<'t> {
    reader: NodeReader<'t>,
    rest: std::vec::IntoIter<(usize, usize)>,
    value: Option<usize>,
}

impl<'t> Entries<'t> {
    pub(super) fn new(reader: NodeReader<'t>, entries: Vec<(usize, usize)>) -> Self {
        Self {
            reader,
            rest: entries.into_iter(),
            value: None,
        }
    }
}

impl<'t> MapAccess<'t> for Entries<'t> {
    type Error = Mistake;
    fn next_key_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        self.reader.of(key).read(seed).map(Some)
    }
    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value> {
        match self.value.take() {
            Some(value) => self.reader.of(value).read(seed),
            None => Err(Mistake::custom("a key comes before its value")),
        }
    }
}

/// A variant with its content.
pub(super) struct Variant<'t> {
    name: &'t str,
    content: Option<NodeReader<'t>>,
}

impl<'t> EnumAccess<'t> for Variant<'t> {
    type Error = Mistake;
    type Variant = Self;
    fn variant_seed<S: DeserializeSeed<'t>>(self, seed: S) -> Result<(S::Value, Self)> {
        let name = BorrowedStrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'t> Variant<'t> {
    pub(super) fn new(name: &'t str, content: Option<NodeReader<'t>>) -> Self {
        Self { name, content }
    }
    fn content(self) -> Result<NodeReader<'t>> {
        let name = self.name;
        self.content
            .ok_or_else(|| Mistake::custom(format!("{name} must be a map with the key '{name}'")))
    }
}

impl<'t> VariantAccess<'t> for Variant<'t> {
    type Error = Mistake;
    fn unit_variant(self) -> Result<()> {
        match self.content {
            Some(content) => serde::Deserialize::deserialize(content),
            None => Ok(()),
        }
    }
    fn newtype_variant_seed<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.content()?)
    }
    fn tuple_variant<V: Visitor<'t>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.content()?.deserialize_tuple(len, visitor)
    }
    fn struct_variant<V: Visitor<'t>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.content()?.deserialize_map(visitor)
    }
}

/// The parts of a [`Placed`](crate::yaml::Placed) or a [`Tagged`](crate::yaml::Tagged) value.
pub(super) struct Parts<'t> {
    /// Come first, from the last to the first.
    numbers: Vec<u32>,
    value: Option<NodeReader<'t>>,
    tag: Option<&'t str>,
}

impl<'t> Parts<'t> {
    pub(super) fn placed(value: NodeReader<'t>, (line, column): (u32, u32)) -> Self {
        Self {
            numbers: vec![column, line],
            value: Some(value),
            tag: None,
        }
    }
    pub(super) fn tagged(value: NodeReader<'t>, tag: Option<&'t str>) -> Self {
        Self {
            numbers: vec![],
            value: Some(value),
            tag,
        }
    }
}

impl<'t> SeqAccess<'t> for Parts<'t> {
    type Error = Mistake;
    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if let Some(number) = self.numbers.pop() {
            return seed.deserialize(number.into_deserializer()).map(Some);
        }
        if let Some(value) = self.value.take() {
            return seed.deserialize(value).map(Some);
        }
        let tag = self.tag.take();
        tag.map(|tag| seed.deserialize(tag.into_deserializer()))
            .transpose()
    }
}
