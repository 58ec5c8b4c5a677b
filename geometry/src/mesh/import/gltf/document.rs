//! A glTF document with its buffers.

use super::{GltfOrigin, upright, uri};
use crate::error::Result;
use crate::error::short;
use crate::mesh::import::affine::Affine;
use gltf::accessor::{Dimensions, Item};
use gltf::json::validation::{Error as Wrong, Validate};
use gltf::json::{self, Root};
use gltf::scene::Transform;
use gltf::{Accessor, Glb, buffer};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::borrow::Cow;

/// A validated document and the content of its buffers.
pub(super) struct GltfDocument<'a> {
    pub(super) at: GltfOrigin<'a>,
    pub(super) gltf: gltf::Document,
    buffers: Vec<Cow<'a, [u8]>>,
}

/// A mesh and where it is.
pub(super) struct PlacedMesh<'a> {
    pub(super) node: usize,
    pub(super) mesh: gltf::Mesh<'a>,
    /// The node in the frame of the geometry.
    pub(super) x_gn: Affine,
}

impl<'a> GltfDocument<'a> {
    pub(super) fn open(at: GltfOrigin<'a>, bytes: &'a [u8]) -> Result<Self> {
        let (text, mut blob) = if bytes.starts_with(b"glTF") {
            let glb = chunks(at, bytes)?;
            (glb.json, glb.bin)
        } else {
            (Cow::Borrowed(bytes), None)
        };
        let root: Root = json::deserialize::from_slice(&text).map_err(|e| {
            // It may quote long strings of the file.
            let message: String = e.to_string().chars().take(200).collect();
            let place = format!("line {}, column {}", e.line(), e.column());
            at.error(format!("no glTF 2.0 document at {place}: {message}"))
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

    /// Names of the extensions that the document uses; none is read.
    pub(super) fn extensions_used(&self) -> Vec<String> {
        self.gltf.as_json().extensions_used.clone()
    }

    /// The elements of an accessor whose component type was checked.
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
            return Err(wrong(format!("is {found:?}, {dimensions:?} is expected")));
        }
        let view = accessor
            .view()
            .ok_or_else(|| wrong("has no bufferView".into()))?;
        let size = accessor.size();
        let stride = view.stride().unwrap_or(size);
        if stride < size {
            return Err(wrong(format!(
                "has elements of {size} bytes every {stride} bytes"
            )));
        }
        let last = accessor
            .count()
            .checked_sub(1)
            .ok_or_else(|| wrong("is empty, at least one element is expected".into()))?;
        let end = last
            .checked_mul(stride)
            .and_then(|n| n.checked_add(size)?.checked_add(accessor.offset()));
        let content = self.view(&view).map_err(wrong)?;
        if end.is_none_or(|end| end > content.len()) {
            return Err(wrong(format!(
                "has {} elements of {size} bytes from byte {} on, bufferViews[{}] has only {} bytes",
                accessor.count(),
                accessor.offset(),
                view.index(),
                content.len()
            )));
        }
        gltf::accessor::Iter::new(accessor, |b| self.buffers.get(b.index()).map(|b| &b[..]))
            .ok_or_else(|| wrong("can not be read".into()))
    }

    /// The bytes of a view, or what is wrong.
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

    /// The meshes of the scene, in the order of its nodes.
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
        // No recursion: chains of nodes may be long.
        let mut open: Vec<(usize, Affine)> = Vec::new();
        open.extend(roots.into_iter().rev().map(|i| (i, upright())));
        let mut placed = Vec::new();
        while let Some((i, x_gp)) = open.pop() {
            if std::mem::replace(&mut seen[i], true) {
                return Err(self.at.error(format!(
                    "nodes[{i}] has two parents or is its own descendant, a tree is expected"
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

    /// A node in its parent.
    fn transform(&self, node: &gltf::Node<'_>) -> Result<Affine> {
        let wrong = |what: String| self.at.error(format!("nodes[{}].{what}", node.index()));
        match node.transform() {
            Transform::Matrix { matrix } => {
                let [x, y, z, t] = matrix;
                let last = [x[3], y[3], z[3], t[3]];
                // Written by programs that compute it.
                let off = |(k, v): (usize, &f32)| (v - if k == 3 { 1.0 } else { 0.0 }).abs() > 1e-5;
                if last.iter().enumerate().any(off) {
                    return Err(wrong(format!(
                        "matrix: the last row is {last:?}, [0, 0, 0, 1] is expected"
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
                        "rotation is {rotation:?}, a unit quaternion is expected"
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

/// JSON and data of a binary file.
fn chunks<'a>(at: GltfOrigin<'_>, bytes: &'a [u8]) -> Result<Glb<'a>> {
    use gltf::binary::Error as Glbs;
    let declared = bytes
        .get(8..12)
        .and_then(|b| Some(u32::from_le_bytes(b.try_into().ok()?) as usize));
    // The crate subtracts the length of the header without looking.
    if declared.is_none_or(|n| n < 12) {
        return Err(at.error(format!(
            "the file has {} bytes, a binary glTF header of 12 bytes with the length of the file is \
             expected",
            bytes.len()
        )));
    }
    match Glb::from_slice(bytes) {
        Ok(glb) => Ok(glb),
        Err(gltf::Error::Binary(Glbs::Length { .. })) => Err(at.error(format!(
            "the file has {} bytes, {} are expected from its header",
            bytes.len(),
            declared.unwrap_or_default()
        ))),
        Err(gltf::Error::Binary(Glbs::ChunkLength {
            ty,
            length,
            length_read,
        })) => Err(at.error(format!(
            "the {ty:?} chunk has {length_read} bytes, {length} are expected from its header"
        ))),
        Err(gltf::Error::Binary(Glbs::Version(version))) => Err(at.error(format!(
            "the version of the binary glTF is {version}, 2 is expected"
        ))),
        Err(e) => Err(at.error(format!(
            "not a JSON chunk and a BIN chunk of a binary glTF: {e}"
        ))),
    }
}

fn validate(at: GltfOrigin<'_>, root: &Root) -> Result<()> {
    let version = &root.asset.version;
    if version.split('.').next() != Some("2") {
        return Err(at.error(format!(
            "the version of the glTF is '{}', 2.0 is expected",
            short(version)
        )));
    }
    if !root.extensions_required.is_empty() {
        let names: Vec<_> = root.extensions_required.iter().map(|e| short(e)).collect();
        return Err(at.error(format!(
            "the file requires the extensions {}, none is supported",
            names.join(", ")
        )));
    }
    // The crate's validation panics at these.
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
        // Bounds are not needed, and some exporters leave them out.
        let bound = path.ends_with("[\"POSITION\"].min") || path.ends_with("[\"POSITION\"].max");
        if found.is_none() && !bound {
            let expected = match error {
                Wrong::IndexOutOfBounds => "the index of something that exists is expected",
                Wrong::Invalid => "the value is not one of those that glTF 2.0 knows",
                Wrong::Missing => "it is missing",
                Wrong::Oversize => "the size is too large for this machine",
                Wrong::Unsupported => "it is not supported",
            };
            found = Some(at.error(format!("{path}: {expected}")));
        }
    });
    found.map_or(Ok(()), Err)
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
                "{place} has no uri, which is expected of all but the first of a binary file"
            )));
        }
    };
    if (content.len() as u64) < expected {
        return Err(at.error(format!(
            "{place}{} has {} bytes, {expected} are expected",
            match &buffer.uri {
                Some(uri) => format!(" ('{}')", short(uri)),
                None => String::new(),
            },
            content.len()
        )));
    }
    Ok(content)
}
