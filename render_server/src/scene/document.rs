//! The parts of a glTF document that say what is drawn where.
//!
//! Buffers stay encoded: most scenes differ from the last in poses only, and their meshes are
//! recognised by the hash of their text.

use crate::refusal::Refusal;
use nalgebra::{Matrix3, Matrix4, Quaternion, UnitQuaternion, Vector3};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub(super) struct Document<'a> {
    #[serde(default)]
    pub(super) scene: Option<usize>,
    #[serde(default, deserialize_with = "list")]
    pub(super) scenes: Vec<SceneRoots>,
    #[serde(default, deserialize_with = "list", borrow)]
    pub(super) nodes: Vec<Node<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "list")]
    pub(super) materials: Vec<Value>,
    #[serde(default, deserialize_with = "list")]
    pub(super) textures: Vec<Value>,
    #[serde(default, deserialize_with = "list")]
    pub(super) samplers: Vec<Value>,
    #[serde(default, deserialize_with = "list", borrow)]
    pub(super) images: Vec<Image<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "list", rename = "bufferViews")]
    pub(super) buffer_views: Vec<Value>,
    #[serde(default, deserialize_with = "list", borrow)]
    pub(super) buffers: Vec<Buffer<'a>>,
}

/// Reads a list; null is an empty one, which Drake writes if a scene has no images.
fn list<'de, D: Deserializer<'de>, V: Deserialize<'de>>(from: D) -> Result<Vec<V>, D::Error> {
    Option::<Vec<V>>::deserialize(from).map(Option::unwrap_or_default)
}

/// Returns the document without members that are null, which are not valid glTF.
pub(super) fn without_nulls(text: &[u8]) -> Cow<'_, [u8]> {
    let Ok(members) = serde_json::from_slice::<BTreeMap<Cow<'_, str>, &RawValue>>(text) else {
        return Cow::Borrowed(text);
    };
    if members.values().all(|value| value.get() != "null") {
        return Cow::Borrowed(text);
    }
    let kept = members
        .into_iter()
        .filter(|(_, value)| value.get() != "null");
    let kept: BTreeMap<_, _> = kept.collect();
    // Serialization of text that was parsed does not fail.
    serde_json::to_vec(&kept).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[derive(Debug, Deserialize)]
pub(super) struct SceneRoots {
    #[serde(default)]
    pub(super) nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node<'a> {
    #[serde(default, borrow)]
    pub(super) name: Cow<'a, str>,
    pub(super) mesh: Option<usize>,
    pub(super) camera: Option<usize>,
    #[serde(default)]
    pub(super) children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: BTreeMap<String, usize>,
    pub(super) indices: Option<usize>,
    pub(super) material: Option<usize>,
    #[serde(default = "triangles")]
    pub(super) mode: u32,
}

/// The mode of primitives that name none.
fn triangles() -> u32 {
    4
}

#[derive(Debug, Deserialize)]
pub(super) struct Accessor {
    pub(super) count: usize,
    /// Everything else: type, offset and view.
    #[serde(flatten)]
    pub(super) rest: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Image<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
    #[serde(rename = "bufferView")]
    pub(super) buffer_view: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Buffer<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
}

impl<'a> Document<'a> {
    pub(super) fn read(text: &'a [u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(text).map_err(|e| {
            // The message may quote long strings of the document.
            let message: String = e.to_string().chars().take(200).collect();
            Refusal::bad(format!("scene: the glTF must be valid JSON: {message}"))
        })
    }

    /// Returns the nodes at the top of the scene: of the default scene, or of the first, or all
    /// without a parent if there is none.
    pub(super) fn roots(&self) -> Result<Vec<usize>, Refusal> {
        let index = self.scene.unwrap_or(0);
        if let Some(scene) = self.scenes.get(index) {
            return Ok(scene.nodes.clone());
        }
        if self.scene.is_some() {
            return Err(missing("scenes", index));
        }
        let mut is_root = vec![true; self.nodes.len()];
        for child in self.nodes.iter().flat_map(|n| &n.children) {
            if let Some(root) = is_root.get_mut(*child) {
                *root = false;
            }
        }
        Ok((0..is_root.len()).filter(|i| is_root[*i]).collect())
    }
}

/// Returns the refusal of a document that refers to something it does not have.
pub(super) fn missing(list: &str, index: usize) -> Refusal {
    Refusal::bad(format!("scene: {list}[{index}] must exist"))
}

impl Node<'_> {
    /// Returns the transformation of the node in its parent. A `matrix` wins over the rest, which
    /// Drake leaves behind when it merges glTF files.
    pub(super) fn transform(&self, index: usize) -> Result<Matrix4<f64>, Refusal> {
        if let Some(numbers) = self.matrix {
            let matrix = Matrix4::from_column_slice(&numbers);
            let last = matrix.row(3) - nalgebra::RowVector4::new(0.0, 0.0, 0.0, 1.0);
            if !(numbers.iter().all(|x| x.is_finite()) && last.amax() < 1e-5) {
                return Err(Refusal::bad(format!(
                    "scene: nodes[{index}].matrix must be finite with the last row 0, 0, 0, 1, got \
                     {numbers:?}"
                )));
            }
            return Ok(matrix);
        }
        let [x, y, z, w] = self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let rotation = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6);
        let rotation = rotation.ok_or_else(|| {
            Refusal::bad(format!(
                "scene: nodes[{index}].rotation must be a unit quaternion, got {:?}",
                self.rotation
            ))
        })?;
        let scale = Vector3::from(self.scale.unwrap_or([1.0; 3]));
        let translation = Vector3::from(self.translation.unwrap_or_default());
        let linear = rotation.to_rotation_matrix().into_inner() * Matrix3::from_diagonal(&scale);
        Ok(affine(&linear, &translation))
    }
}

pub(super) fn affine(linear: &Matrix3<f64>, translation: &Vector3<f64>) -> Matrix4<f64> {
    let mut matrix = linear.to_homogeneous();
    matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(translation);
    matrix
}
