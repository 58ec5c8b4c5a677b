//! glTF 2.0 files, sent as JSON; their buffers and images are sent as assets.

use super::mesh_file::{Files, short};
use super::{Encoder, Object};
use crate::meshcat::asset::{Asset, AssetStore};
use crate::{Error, Result};
use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use nalgebra::Matrix4;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tarragon_framework::warnings::warn;
use tarragon_geometry::MeshSource;

/// Base64 decoder (RFC 4648, section 4); padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Encodes a text or binary glTF file. Images that cannot be read are logged and left out.
///
/// # Errors
/// Returns an error if the file is not a glTF file, or the file or a buffer cannot be read.
pub(super) fn object(
    e: &Encoder<'_>,
    source: &MeshSource,
    matrix: &Matrix4<f64>,
) -> Result<Object> {
    let mut files = Files::new(source);
    let content = files.mesh_file()?;
    let mut document = Document {
        path: source.description().into(),
        files,
        store: e.assets,
        assets: BTreeMap::new(),
    };
    let (json, blob) = if content.starts_with(b"glTF") {
        document.chunks(&content)?
    } else {
        (content, None)
    };
    let mut root = document.parse(&json)?;
    document.buffers(&mut root, blob)?;
    document.images(&mut root)?;
    let json = Value::Object(root).to_string();
    let mut object = e.file_object(
        0,
        "gltf",
        &json,
        "",
        |w| {
            w.map(0);
        },
        matrix,
    );
    object.assets = document.assets.into_values().collect();
    Ok(object)
}

struct Document<'a> {
    path: PathBuf,
    files: Files<'a>,
    store: &'a AssetStore,
    /// Files that the document refers to, by URL, each once.
    assets: BTreeMap<String, Arc<Asset>>,
}

impl Document<'_> {
    fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::invalid(format!("{}: {message}", self.path.display()))
    }

    fn parse(&self, json: &[u8]) -> Result<Map<String, Value>> {
        let value = serde_json::from_slice(json).map_err(|e| {
            let message = short(&e.to_string());
            self.error(format!("not a glTF document: {message}"))
        })?;
        match value {
            Value::Object(root) => Ok(root),
            _ => Err(self.error("not a glTF document: the JSON value must be an object")),
        }
    }

    /// Returns the JSON and the data of a binary file (glTF 2.0, section 4.4).
    fn chunks(&self, file: &Bytes) -> Result<(Bytes, Option<Bytes>)> {
        const JSON: &[u8] = b"JSON";
        const BIN: &[u8] = b"BIN\0";
        let number = |at: usize| {
            let bytes = file.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
        };
        let (Some(version), Some(length)) = (number(4), number(8)) else {
            return Err(self.error(format!(
                "the file must begin with a binary glTF header of 12 bytes, got {} bytes",
                file.len()
            )));
        };
        if version != 2 {
            return Err(self.error(format!(
                "the version of the binary glTF must be 2, got {version}"
            )));
        }
        if length > file.len() {
            return Err(self.error(format!(
                "the file must have {length} bytes, as its header says, got {}",
                file.len()
            )));
        }
        let (mut json, mut blob) = (None, None);
        let mut at = 12;
        while at + 8 <= length {
            let size = number(at).unwrap_or_default();
            let start = at + 8;
            let end = start.saturating_add(size);
            if end > length {
                return Err(self.error(format!(
                    "the chunk at byte {at} must have {size} bytes, as its header says, got {}",
                    length - start
                )));
            }
            match &file[at + 4..start] {
                JSON if json.is_none() => json = Some(file.slice(start..end)),
                BIN if blob.is_none() => blob = Some(file.slice(start..end)),
                // Readers must ignore unknown chunks.
                _ => {}
            }
            at = end.next_multiple_of(4);
        }
        let json = json.ok_or_else(|| self.error("the binary glTF must have a JSON chunk"))?;
        Ok((json, blob))
    }

    /// Turns all buffers into assets.
    fn buffers(&mut self, root: &mut Map<String, Value>, blob: Option<Bytes>) -> Result<()> {
        let mut blob = blob;
        for (place, buffer) in self.elements(root, "buffers")? {
            let first_blob = blob.take();
            let content = match (self.uri(&place, buffer)?, first_blob) {
                (Some(uri), _) => self.fetch(uri).map_err(|why| {
                    let uri = short(uri);
                    self.error(format!("{place}: the URI '{uri}' cannot be used: {why}"))
                })?,
                (None, Some(blob)) => blob,
                // The data may be given by an extension.
                (None, None) if buffer.contains_key("extensions") => continue,
                (None, None) => {
                    return Err(self.error(format!(
                        "{place} must have a uri; only the first buffer of a binary file may lack it"
                    )));
                }
            };
            let expected = buffer.get("byteLength").and_then(Value::as_u64);
            let expected = expected.unwrap_or_default();
            if (content.len() as u64) < expected {
                return Err(self.error(format!(
                    "{place} must have {expected} bytes, as its byteLength says, got {}",
                    content.len()
                )));
            }
            self.replace(buffer, content);
        }
        Ok(())
    }

    /// Turns all images outside of buffers into assets.
    fn images(&mut self, root: &mut Map<String, Value>) -> Result<()> {
        for (place, image) in self.elements(root, "images")? {
            let Some(uri) = self.uri(&place, image)? else {
                continue;
            };
            match self.fetch(uri) {
                Ok(content) => self.replace(image, content),
                Err(why) => warn(format!(
                    "{}: {place}: the URI '{}' cannot be used, the mesh is shown without it: {why}",
                    self.path.display(),
                    short(uri)
                )),
            }
        }
        Ok(())
    }

    /// Returns the elements of an array of objects, each with its name for messages.
    fn elements<'r>(
        &self,
        root: &'r mut Map<String, Value>,
        name: &str,
    ) -> Result<Vec<(String, &'r mut Map<String, Value>)>> {
        let array = match root.get_mut(name) {
            // Some exporters write null for an absent array.
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(array)) => array,
            Some(_) => {
                return Err(self.error(format!("{name} must be an array")));
            }
        };
        let elements = array.iter_mut().enumerate().map(|(i, value)| {
            let place = format!("{name}[{i}]");
            match value {
                Value::Object(object) => Ok((place, object)),
                _ => Err(self.error(format!("{place} must be an object"))),
            }
        });
        elements.collect()
    }

    fn uri<'v>(&self, place: &str, object: &'v Map<String, Value>) -> Result<Option<&'v str>> {
        match object.get("uri") {
            None => Ok(None),
            Some(Value::String(uri)) => Ok(Some(uri)),
            Some(_) => Err(self.error(format!("{place}: the URI must be a string"))),
        }
    }

    /// Returns the content that a URI refers to; the error says why it cannot be used.
    fn fetch(&mut self, uri: &str) -> Result<Bytes, String> {
        if let Some(data) = uri.strip_prefix("data:") {
            let (kind, data) = data
                .split_once(',')
                .ok_or("its media type must be followed by a comma")?;
            return if kind.ends_with(";base64") {
                let decoded = BASE64.decode(data);
                let decoded = decoded.map_err(|e| format!("its data must be base64: {e}"));
                decoded.map(Bytes::from)
            } else {
                let decoded: Vec<u8> = percent_decode_str(data).collect();
                Ok(decoded.into())
            };
        }
        // A single letter before the colon is a drive letter.
        let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
        if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err("it must be a relative path or start with 'data:'".into());
        }
        let relative = percent_decode_str(uri).decode_utf8_lossy();
        let file = self.files.find(&self.path, uri, &relative)?;
        self.files.read(&file).map_err(|e| e.to_string())
    }

    fn replace(&mut self, object: &mut Map<String, Value>, content: Bytes) {
        let asset = self.store.add(content);
        let url = asset.url();
        object.insert("uri".into(), url.clone().into());
        self.assets.insert(url, asset);
    }
}
