//! Hashes of what meshes, materials and textures contain.

use super::document::{Buffer, Document, Primitive, missing};
use crate::refusal::Refusal;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;

/// Hash of a primitive's vertices, material and textures.
pub(super) type ContentHash = [u8; 32];

/// Hashes of the buffers and images of a document, each computed once.
pub(super) struct Contents<'a> {
    document: &'a Document<'a>,
    buffers: Vec<OnceCell<ContentHash>>,
    images: Vec<OnceCell<ContentHash>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(document: &'a Document<'a>) -> Self {
        Self {
            buffers: vec![OnceCell::new(); document.buffers.len()],
            images: vec![OnceCell::new(); document.images.len()],
            document,
        }
    }

    /// Returns the hash of a primitive; `material` is that to include, `Some(None)` for the default
    /// material.
    pub(super) fn of(
        &self,
        primitive: &Primitive,
        material: Option<Option<&Value>>,
    ) -> Result<ContentHash, Refusal> {
        let mut hash = Sha256::new();
        hash.update(primitive.mode.to_le_bytes());
        for (name, accessor) in &primitive.attributes {
            // Other attributes are not drawn, but they are not worth a list.
            text(&mut hash, name);
            self.accessor(&mut hash, *accessor)?;
        }
        hash.update([u8::from(primitive.indices.is_some())]);
        if let Some(indices) = primitive.indices {
            self.accessor(&mut hash, indices)?;
        }
        match material {
            None => hash.update([0]),
            Some(None) => hash.update([1]),
            Some(Some(material)) => {
                hash.update([2]);
                text(&mut hash, &material.to_string());
                self.textures(&mut hash, material)?;
            }
        }
        Ok(hash.finalize().into())
    }

    fn accessor(&self, hash: &mut Sha256, index: usize) -> Result<(), Refusal> {
        let found = self.document.accessors.get(index);
        let accessor = found.ok_or_else(|| missing("accessors", index))?;
        hash.update((accessor.count as u64).to_le_bytes());
        for (name, value) in &accessor.rest {
            // Bounds follow from the content, and indices of views from what else is in the scene.
            if !matches!(&**name, "bufferView" | "min" | "max" | "name") {
                text(hash, name);
                text(hash, &value.to_string());
            }
        }
        match accessor.rest.get("bufferView").and_then(Value::as_u64) {
            Some(view) => self.view(hash, view as usize),
            None => Ok(()),
        }
    }

    fn view(&self, hash: &mut Sha256, index: usize) -> Result<(), Refusal> {
        let view = self.document.buffer_views.get(index);
        let view = view.ok_or_else(|| missing("bufferViews", index))?;
        for name in ["byteOffset", "byteLength", "byteStride"] {
            let number = view.get(name).and_then(Value::as_u64).unwrap_or(0);
            hash.update(number.to_le_bytes());
        }
        let buffer = view
            .get("buffer")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX) as usize;
        let content = self
            .buffers
            .get(buffer)
            .zip(self.document.buffers.get(buffer));
        let (known, content) = content.ok_or_else(|| missing("buffers", buffer))?;
        hash.update(known.get_or_init(|| hash_of_buffer(content)));
        Ok(())
    }

    /// Adds all textures that a material refers to, at any depth and of any extension.
    fn textures(&self, hash: &mut Sha256, material: &Value) -> Result<(), Refusal> {
        let mut open = vec![material];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    for (name, member) in members {
                        let index = member.get("index").and_then(Value::as_u64);
                        if let Some(index) = index.filter(|_| name.ends_with("Texture")) {
                            self.texture(hash, index as usize)?;
                        }
                        open.push(member);
                    }
                }
                Value::Array(members) => open.extend(members),
                _ => {}
            }
        }
        Ok(())
    }

    fn texture(&self, hash: &mut Sha256, index: usize) -> Result<(), Refusal> {
        let texture = self.document.textures.get(index);
        let texture = texture.ok_or_else(|| missing("textures", index))?;
        let number = |name: &str| texture.get(name).and_then(Value::as_u64);
        if let Some(sampler) = number("sampler") {
            let found = self.document.samplers.get(sampler as usize);
            let found = found.ok_or_else(|| missing("samplers", sampler as usize))?;
            text(hash, &found.to_string());
        }
        let Some(source) = number("source") else {
            return Ok(());
        };
        let source = source as usize;
        let found = self
            .images
            .get(source)
            .zip(self.document.images.get(source));
        let (known, image) = found.ok_or_else(|| missing("images", source))?;
        if let Some(view) = image.buffer_view {
            return self.view(hash, view);
        }
        let uri = image.uri.as_deref().unwrap_or_default();
        hash.update(known.get_or_init(|| Sha256::digest(uri).into()));
        Ok(())
    }
}

fn hash_of_buffer(buffer: &Buffer<'_>) -> ContentHash {
    Sha256::digest(buffer.uri.as_deref().unwrap_or_default()).into()
}

/// Adds a text with its length, so that no two lists of texts are alike.
fn text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}
