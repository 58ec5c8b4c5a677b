//! Values of Rust from the nodes of a YAML text.

mod access;

use super::mistake::{Mistake, MistakeKind};
use super::scalar::{boolean, float, integer};
use super::tree::{Node, NodeKind, Tree};
use super::{PLACED, TAGGED};
use access::{Entries, Items, Parts, Variant};
use granit_parser::ScalarStyle;
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Most nodes that are read, counted again for every alias: a few lines of aliases to aliases stand
/// for more nodes than fit in memory.
const MAX_READ: usize = 10_000_000;

pub(super) type Result<T> = std::result::Result<T, Mistake>;

/// Reads one node.
#[derive(Clone, Copy)]
pub(super) struct NodeReader<'t> {
    tree: &'t Tree,
    /// Number of the node, which may be an alias.
    node: usize,
    /// The tag was read already.
    is_tag_read: bool,
    num_read: &'t Cell<usize>,
}

impl<'t> NodeReader<'t> {
    pub(super) fn new(tree: &'t Tree, node: usize, num_read: &'t Cell<usize>) -> Self {
        Self {
            tree,
            node,
            is_tag_read: false,
            num_read,
        }
    }
    pub(super) fn of(self, node: usize) -> Self {
        Self::new(self.tree, node, self.num_read)
    }
    /// The node, or the anchor that it repeats.
    fn found(self) -> &'t Node {
        &self.tree.nodes[self.tree.resolved(self.node)]
    }
    fn without_tag(self) -> Self {
        Self {
            is_tag_read: true,
            ..self
        }
    }
    fn tag(self) -> Option<&'t str> {
        let tag = self.found().tag.as_deref();
        tag.filter(|_| !self.is_tag_read)
    }
    fn is_null(self) -> bool {
        self.found().is_null()
    }
    fn fail<T>(self, kind: MistakeKind) -> Result<T> {
        Err(Mistake::new(kind).at(self.tree.resolved(self.node)))
    }
    /// The value must be something else.
    fn must_be<T>(self, condition: &str) -> Result<T> {
        self.fail(MistakeKind::Value(condition.into(), ""))
    }
    /// Gives errors of a visitor the place of this node, unless they have one.
    fn located<T>(self, result: Result<T>) -> Result<T> {
        result.map_err(|mistake| mistake.at(self.tree.resolved(self.node)))
    }
    pub(super) fn read<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value> {
        self.located(seed.deserialize(self))
    }
    fn count(self, nodes: usize) -> Result<()> {
        self.num_read.set(self.num_read.get() + nodes);
        if self.num_read.get() > MAX_READ {
            return self.fail(MistakeKind::Within(format!(
                "the aliases of a text must stand for at most {MAX_READ} values, got more"
            )));
        }
        Ok(())
    }

    /// The text of a scalar.
    fn scalar(self) -> Result<&'t str> {
        self.count(1)?;
        match &self.found().kind {
            NodeKind::Scalar(_) => Ok(&self.found().text),
            _ => self.must_be("a single value"),
        }
    }
    /// The text of a scalar that is no null.
    fn text(self) -> Result<&'t str> {
        let text = self.scalar()?;
        if self.is_null() {
            return self.fail(MistakeKind::Value(
                "text".into(),
                "; write a text (in quotes if it is the word null), or leave out the key",
            ));
        }
        match self.tag() {
            Some("!!int" | "!!float" | "!!bool") => self.must_be("text without a tag"),
            _ => Ok(text),
        }
    }
    fn items(self) -> Result<&'t [usize]> {
        self.count(1)?;
        match &self.found().kind {
            NodeKind::List(items) => Ok(items),
            _ => self.must_be("a list"),
        }
    }
    /// The entries of a map and of the maps that its keys `<<` name.
    fn entries(self) -> Result<Vec<(usize, usize)>> {
        self.count(1)?;
        let NodeKind::Map(own) = &self.found().kind else {
            return self.must_be("a map of keys and values");
        };
        let text = |key: usize| &*self.of(key).found().text;
        let is_merge = |key: usize| self.of(key).found().is_plain() && text(key) == "<<";
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut entries = vec![];
        for (key, value) in own.iter().filter(|(key, _)| !is_merge(*key)) {
            if let Some(other) = first.insert(text(*key), *key) {
                let line = self.tree.nodes[other].place.0;
                return self.of(*key).fail(MistakeKind::Repeated(line));
            }
            entries.push((*key, *value));
        }
        for (_, value) in own.iter().filter(|(key, _)| is_merge(*key)) {
            let value = self.of(*value);
            let maps = match &value.found().kind {
                NodeKind::List(items) => items.as_slice(),
                _ => std::slice::from_ref(&value.node),
            };
            for map in maps {
                let merged = self.of(*map).entries()?;
                self.count(merged.len())?;
                for (key, value) in merged {
                    if !first.contains_key(text(key)) {
                        first.insert(text(key), key);
                        entries.push((key, value));
                    }
                }
            }
        }
        Ok(entries)
    }

    fn visit_integer<V: Visitor<'t>>(self, ty: &'static str, visitor: V) -> Result<V::Value> {
        let value = integer(self.scalar()?);
        self.located(match value {
            Some(value) => match (u64::try_from(value), i64::try_from(value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => Err(Mistake::new(MistakeKind::Number(ty))),
            },
            None => Err(Mistake::new(MistakeKind::Number(ty))),
        })
    }
    fn visit_list<V: Visitor<'t>>(self, items: &'t [usize], visitor: V) -> Result<V::Value> {
        let mut rest = items.iter();
        let value = visitor.visit_seq(Items::new(self, &mut rest));
        let value = self.located(value)?;
        if rest.len() == 0 {
            return Ok(value);
        }
        let taken = items.len() - rest.len();
        let expected = format!("a list of {taken} elements");
        self.fail(MistakeKind::Length(items.len(), expected))
    }
    fn visit_entries<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        let entries = Entries::new(self, self.entries()?);
        self.located(visitor.visit_map(entries))
    }
}

macro_rules! integers {
    ($($method:ident $ty:literal),*) => {$(
        fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
            self.visit_integer($ty, visitor)
        }
    )*};
}

impl<'t> Deserializer<'t> for NodeReader<'t> {
    type Error = Mistake;

    integers!(
        deserialize_i8 "i8", deserialize_i16 "i16", deserialize_i32 "i32", deserialize_i64 "i64",
        deserialize_u8 "u8", deserialize_u16 "u16", deserialize_u32 "u32", deserialize_u64 "u64",
        deserialize_i128 "i128", deserialize_u128 "u128"
    );

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        let node = self.found();
        match &node.kind {
            NodeKind::List(items) => self.visit_list(items, visitor),
            NodeKind::Map(_) => self.visit_entries(visitor),
            _ if self.is_null() => self.deserialize_unit(visitor),
            NodeKind::Scalar(ScalarStyle::Plain) if !matches!(self.tag(), Some("!!str" | "!")) => {
                if boolean(&node.text).is_some() {
                    self.deserialize_bool(visitor)
                } else if integer(&node.text).is_some() {
                    self.deserialize_i64(visitor)
                } else if float(&node.text).is_some() {
                    self.deserialize_f64(visitor)
                } else {
                    self.deserialize_str(visitor)
                }
            }
            _ => self.deserialize_str(visitor),
        }
    }
    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match boolean(self.scalar()?) {
            Some(value) => self.located(visitor.visit_bool(value)),
            None => self.must_be("true or false"),
        }
    }
    fn deserialize_f32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }
    fn deserialize_f64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match float(self.scalar()?) {
            Some(value) => self.located(visitor.visit_f64(value)),
            None => self.fail(MistakeKind::Number("f64")),
        }
    }
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        let text = self.text()?;
        self.located(visitor.visit_borrowed_str(text))
    }
    fn deserialize_string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }
    fn deserialize_char<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }
    fn deserialize_identifier<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        let text = self.scalar()?;
        self.located(visitor.visit_borrowed_str(text))
    }
    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.located(if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        })
    }
    fn deserialize_unit<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.count(1)?;
        if self.is_null() {
            return self.located(visitor.visit_unit());
        }
        self.must_be("without a value")
    }
    fn deserialize_unit_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }
    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            TAGGED => {
                let parts = Parts::tagged(self.without_tag(), self.tag());
                self.located(visitor.visit_seq(parts))
            }
            PLACED => {
                let parts = Parts::placed(self, self.tree.nodes[self.node].place);
                self.located(visitor.visit_seq(parts))
            }
            _ => self.located(visitor.visit_newtype_struct(self)),
        }
    }
    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.visit_list(self.items()?, visitor)
    }
    fn deserialize_tuple<V: Visitor<'t>>(self, len: usize, visitor: V) -> Result<V::Value> {
        let items = self.items()?;
        if items.len() == len {
            return self.visit_list(items, visitor);
        }
        let expected = format!("a list of {len} elements");
        self.fail(MistakeKind::Length(items.len(), expected))
    }
    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }
    fn deserialize_bytes<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_byte_buf<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.visit_entries(visitor)
    }
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.visit_entries(visitor)
    }
    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let tag = self.tag().and_then(|tag| tag.strip_prefix('!'));
        let by_tag = tag.filter(|tag| variants.contains(tag));
        let (variant, content) = match (by_tag, &self.found().kind) {
            (Some(tag), _) => (tag, Some(self.without_tag())),
            (None, NodeKind::Scalar(_)) => match tag.filter(|tag| !tag.starts_with('!')) {
                Some(tag) => {
                    let message = format!("the tag is not known here, got !{tag}");
                    return self.fail(MistakeKind::Within(message));
                }
                None => (self.scalar()?, None),
            },
            (None, NodeKind::Map(_)) => match self.entries()?.as_slice() {
                [(key, value)] => {
                    let variant = self.of(*key);
                    let content = Some(self.of(*value));
                    let content = Variant::new(variant.scalar()?, content);
                    return variant.located(visitor.visit_enum(content));
                }
                _ => return self.must_be("a map with one key"),
            },
            _ => return self.must_be("a name, or a map with one key"),
        };
        self.located(visitor.visit_enum(Variant::new(variant, content)))
    }
    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.located(visitor.visit_unit())
    }
}
