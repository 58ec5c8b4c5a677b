//! A glTF document with its buffers.

use super::origin::GltfOrigin;
use super::uri;
use crate::error::Result;
use crate::error::short;
use crate::mesh::import::affine::Affine;
use crate::mesh::import::lines::without_byte_order_mark;
use gltf::accessor::{Dimensions, Item};
use gltf::json::validation::{Error as Wrong, Validate};
use gltf::json::{self, Root};
use gltf::scene::Transform;
use gltf::{Accessor, Glb, buffer};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::borrow::Cow;

/// Extensions that are read.
const SUPPORTED: [&str; 3] = [
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_texture_transform",
];

/// Validated document with the content of its buffers.
pub(super) struct GltfDocument<'a> {
    pub(super) at: GltfOrigin<'a>,
    pub(super) gltf: gltf::Document,
    buffers: Vec<Cow<'a, [u8]>>,
}

/// Mesh with the transformation of its node.
pub(super) struct PlacedMesh<'a> {
    pub(super) node: usize,
    pub(super) mesh: gltf::Mesh<'a>,
    /// Transformation of the node in the frame of the geometry.
    pub(super) x_gn: Affine,
}

impl<'a> PlacedMesh<'a> {
    /// Returns a mesh in its own frame.
    pub(super) fn unplaced(mesh: gltf::Mesh<'a>) -> Self {
        let x_gn = Affine {
            linear: Matrix3::identity(),
            offset: Vector3::zeros(),
        };
        Self {
            node: 0,
            mesh,
            x_gn,
        }
    }
}

impl<'a> GltfDocument<'a> {
    pub(super) fn open(at: GltfOrigin<'a>, bytes: &'a [u8]) -> Result<Self> {
        let (text, mut blob) = if bytes.starts_with(b"glTF") {
            let glb = chunks(at, bytes)?;
            (glb.json, glb.bin)
        } else {
            (Cow::Borrowed(without_byte_order_mark(bytes)), None)
        };
        let root: Root = json::deserialize::from_slice(&text).map_err(|e| {
            let place = format!("line {}, column {}", e.line(), e.column());
            let message = e.to_string();
            let end = format!(" at line {} column {}", e.line(), e.column());
            let message = message.strip_suffix(&end).unwrap_or(&message);
            // The message may quote long strings from the file.
            let message: String = message.chars().take(200).collect();
            at.error(format!("invalid glTF 2.0 document at {place}: {message}"))
        })?;
        validate(at, &root)?;
        let buffers = root.buffers.iter().enumerate();
        let buffers = buffers
            .map(|(i, b)| read_buffer(at, i, b, if i == 0 { blob.take() } else { None }))
            .collect::<Result<_>>()?;
        Ok(Self {
            at,
            gltf: gltf::Document::from_json_without_validation(root),
            buffers,
        })
    }

    /// Returns the names of the extensions that the document uses and that are ignored.
    pub(super) fn ignored_extensions(&self) -> Vec<String> {
        let used = self.gltf.as_json().extensions_used.iter();
        used.filter(|name| !SUPPORTED.contains(&name.as_str()))
            .cloned()
            .collect()
    }

    /// Returns the elements of an accessor; the caller checks its component type.
    pub(super) fn elements<'s, V: Item>(
        &'s self,
        what: &str,
        accessor: Accessor<'s>,
        dimensions: Dimensions,
    ) -> Result<gltf::accessor::Iter<'s, V>> {
        let place = format!("accessors[{}] ({what})", accessor.index());
        let wrong = |message: String| self.at.error(format!("{place} {message}"));
        if accessor.sparse().is_some() {
            return Err(wrong("is sparse, which is not supported".into()));
        }
        if accessor.dimensions() != dimensions {
            let found = accessor.dimensions();
            return Err(wrong(format!("must be {dimensions:?}, got {found:?}")));
        }
        let view = accessor
            .view()
            .ok_or_else(|| wrong("has no bufferView".into()))?;
        let size = accessor.size();
        let stride = view.stride().unwrap_or(size);
        if stride < size {
            return Err(wrong(format!(
                "must have a stride of at least {size} bytes, got {stride}"
            )));
        }
        let last = accessor
            .count()
            .checked_sub(1)
            .ok_or_else(|| wrong("must have at least one element, got none".into()))?;
        let end = last
            .checked_mul(stride)
            .and_then(|n| n.checked_add(size)?.checked_add(accessor.offset()));
        let content = self.view(&view).map_err(wrong)?;
        if end.is_none_or(|end| end > content.len()) {
            return Err(wrong(format!(
                "needs {} elements of {size} bytes from byte {} on, but bufferViews[{}] has only {} bytes",
                accessor.count(),
                accessor.offset(),
                view.index(),
                content.len()
            )));
        }
        gltf::accessor::Iter::new(accessor, |b| self.buffers.get(b.index()).map(|b| &b[..]))
            .ok_or_else(|| wrong("cannot be read".into()))
    }

    /// Returns the bytes of a view, or the reason why it is invalid.
    pub(super) fn view(&self, view: &buffer::View<'_>) -> Result<&[u8], String> {
        let buffer = view.buffer().index();
        let content = self.buffers.get(buffer).map_or(&[][..], |b| &b[..]);
        let end = view.offset().checked_add(view.length());
        end.and_then(|end| content.get(view.offset()..end))
            .ok_or_else(|| {
                format!(
                    "needs bufferViews[{}]: {} bytes from byte {} on, but buffers[{buffer}] has only \
                     {} bytes",
                    view.index(),
                    view.length(),
                    view.offset(),
                    content.len()
                )
            })
    }

    /// Returns the meshes of the scene, in the order of its nodes.
    pub(super) fn placed_meshes(&self) -> Result<Vec<PlacedMesh<'_>>> {
        let scene = self.gltf.default_scene();
        let roots: Vec<usize> = match scene.or_else(|| self.gltf.scenes().next()) {
            Some(scene) => scene.nodes().map(|n| n.index()).collect(),
            None => {
                let mut is_root = vec![true; self.gltf.nodes().len()];
                for child in self.gltf.nodes().flat_map(|n| n.children()) {
                    is_root[child.index()] = false;
                }
                (0..is_root.len()).filter(|i| is_root[*i]).collect()
            }
        };
        let nodes: Vec<_> = self.gltf.nodes().collect();
        let mut seen = vec![false; nodes.len()];
        // Iterative, because chains of nodes may be long.
        let mut open: Vec<(usize, Affine)> = Vec::new();
        open.extend(roots.into_iter().rev().map(|i| (i, upright())));
        let mut placed = Vec::new();
        while let Some((i, x_gp)) = open.pop() {
            if std::mem::replace(&mut seen[i], true) {
                return Err(self.at.error(format!(
                    "the nodes must form a tree, but nodes[{i}] has two parents or is its own descendant"
                )));
            }
            let node = &nodes[i];
            let x_gn = x_gp.times(&self.transform(node)?);
            if let Some(mesh) = node.mesh() {
                let node = i;
                placed.push(PlacedMesh { node, mesh, x_gn });
            }
            let first = open.len();
            open.extend(node.children().map(|child| (child.index(), x_gn)));
            open[first..].reverse();
        }
        Ok(placed)
    }

    /// Returns the transformation of a node in its parent.
    fn transform(&self, node: &gltf::Node<'_>) -> Result<Affine> {
        let wrong = |what: String| self.at.error(format!("nodes[{}].{what}", node.index()));
        match node.transform() {
            Transform::Matrix { matrix } => {
                let [x, y, z, t] = matrix;
                let last = [x[3], y[3], z[3], t[3]];
                // The row may contain rounding, because programs compute it.
                let off = |(k, v): (usize, &f32)| (v - if k == 3 { 1.0 } else { 0.0 }).abs() > 1e-5;
                if last.iter().enumerate().any(off) {
                    return Err(wrong(format!(
                        "matrix: the last row must be [0, 0, 0, 1], got {last:?}"
                    )));
                }
                let column = |c: [f32; 4]| Vector3::new(c[0], c[1], c[2]).cast::<f64>();
                Ok(Affine {
                    linear: Matrix3::from_columns(&[column(x), column(y), column(z)]),
                    offset: column(t),
                })
            }
            Transform::Decomposed {
                translation,
                rotation,
                scale,
            } => {
                let [x, y, z, w] = rotation.map(f64::from);
                let q = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6);
                let q = q.ok_or_else(|| {
                    wrong(format!(
                        "rotation must be a unit quaternion, got {rotation:?}"
                    ))
                })?;
                let scale = Matrix3::from_diagonal(&Vector3::from(scale.map(f64::from)));
                Ok(Affine {
                    linear: q.to_rotation_matrix().into_inner() * scale,
                    offset: Vector3::from(translation.map(f64::from)),
                })
            }
        }
    }
}

/// Splits a binary file into its JSON and data chunks.
fn chunks<'a>(at: GltfOrigin<'_>, bytes: &'a [u8]) -> Result<Glb<'a>> {
    use gltf::binary::Error as Glbs;
    let declared = bytes
        .get(8..12)
        .and_then(|b| Some(u32::from_le_bytes(b.try_into().ok()?) as usize));
    // The crate subtracts the length of the header without a check.
    if declared.is_none_or(|n| n < 12) {
        return Err(at.error(format!(
            "the file must begin with a binary glTF header of 12 bytes that holds the file's \
            length, got {} bytes",
            bytes.len()
        )));
    }
    match Glb::from_slice(bytes) {
        Ok(glb) => Ok(glb),
        Err(gltf::Error::Binary(Glbs::Length { .. })) => Err(at.error(format!(
            "the file must have {1} bytes according to its header, got {0}",
            bytes.len(),
            declared.unwrap_or_default()
        ))),
        Err(gltf::Error::Binary(Glbs::ChunkLength {
            ty,
            length,
            length_read,
        })) => Err(at.error(format!(
            "the {ty:?} chunk must have {length} bytes according to its header, got {length_read}"
        ))),
        Err(gltf::Error::Binary(Glbs::Version(version))) => Err(at.error(format!(
            "the version of the binary glTF must be 2, got {version}"
        ))),
        Err(e) => Err(at.error(format!("invalid JSON or BIN chunk of a binary glTF: {e}"))),
    }
}

fn validate(at: GltfOrigin<'_>, root: &Root) -> Result<()> {
    let version = &root.asset.version;
    if version.split('.').next() != Some("2") {
        return Err(at.error(format!(
            "the version of the glTF must be 2.0, got '{}'",
            short(version)
        )));
    }
    let required = root.extensions_required.iter();
    let missing: Vec<_> = required
        .filter(|name| !SUPPORTED.contains(&name.as_str()))
        .map(|name| short(name))
        .collect();
    if !missing.is_empty() {
        return Err(at.unsupported(format!(
            "the file requires the extensions {}, which are not supported",
            missing.join(", ")
        )));
    }
    refuse_deformation(at, root)?;
    // The crate's validation panics on such indices.
    let accessors = root.accessors.len();
    let primitives = root.meshes.iter().enumerate();
    let primitives =
        primitives.flat_map(|(m, mesh)| mesh.primitives.iter().enumerate().map(move |p| (m, p)));
    for (m, (p, primitive)) in primitives {
        for index in primitive.attributes.values().map(|i| i.value()) {
            if index >= accessors {
                return Err(at.error(format!(
                    "meshes[{m}].primitives[{p}] has an attribute in accessors[{index}], but there are \
                     {accessors} accessors"
                )));
            }
        }
    }
    let mut found = None;
    root.validate(root, json::Path::new, &mut |path, error| {
        let path = path().to_string();
        // Bounds are not used here, and some exporters leave them out.
        let bound = path.ends_with("[\"POSITION\"].min") || path.ends_with("[\"POSITION\"].max");
        // Those that the crate does not know may be supported here, as checked above.
        let extension = path.starts_with("extensionsRequired");
        if found.is_none() && !bound && !extension {
            let expected = match error {
                Wrong::IndexOutOfBounds => "the index must refer to an existing object",
                Wrong::Invalid => "the value must be one that glTF 2.0 defines",
                Wrong::Missing => "it is missing",
                Wrong::Oversize => "the size is too large for this machine",
                Wrong::Unsupported => "it is not supported",
            };
            found = Some(at.error(format!("{path}: {expected}")));
        }
    });
    found.map_or(Ok(()), Err)
}

/// Refuses skins and morph targets: their meshes would be drawn in a shape that the file never
/// shows.
fn refuse_deformation(at: GltfOrigin<'_>, root: &Root) -> Result<()> {
    let skinned = root.nodes.iter().position(|node| node.skin.is_some());
    if let Some(node) = skinned {
        return Err(at.unsupported(format!(
            "nodes[{node}] must have no skin, which is not supported; apply the skin to the mesh, \
            and export it without an armature"
        )));
    }
    for (m, mesh) in root.meshes.iter().enumerate() {
        let morphs = |p: &json::mesh::Primitive| p.targets.as_ref().is_some_and(|t| !t.is_empty());
        if let Some(p) = mesh.primitives.iter().position(morphs) {
            return Err(at.unsupported(format!(
                "meshes[{m}].primitives[{p}] must have no morph targets, which are not supported; \
                export the mesh without shape keys"
            )));
        }
    }
    Ok(())
}

fn read_buffer<'a>(
    at: GltfOrigin<'_>,
    index: usize,
    buffer: &json::Buffer,
    blob: Option<Cow<'a, [u8]>>,
) -> Result<Cow<'a, [u8]>> {
    let place = format!("buffers[{index}]");
    let expected = buffer.byte_length.0;
    let content = match (&buffer.uri, blob) {
        (Some(uri), _) => Cow::Owned(uri::read(at, &place, uri, expected)?),
        (None, Some(blob)) => blob,
        (None, None) => {
            return Err(at.error(format!(
                "{place} must have a uri; only the first buffer of a binary file may have none"
            )));
        }
    };
    if (content.len() as u64) < expected {
        return Err(at.error(format!(
            "{place}{} must have {expected} bytes, got {}",
            match &buffer.uri {
                Some(uri) => format!(" ('{}')", short(uri)),
                None => String::new(),
            },
            content.len()
        )));
    }
    Ok(content)
}

/// From y up to z up.
fn upright() -> Affine {
    Affine {
        linear: Matrix3::new(1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0),
        offset: Vector3::zeros(),
    }
}
