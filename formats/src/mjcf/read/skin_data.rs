//! The numbers of a skin: from the attributes of `<skin>` and `<bone>`, or from an SKN file.
//!
//! "XML Reference" of MuJoCo's documentation, `skin`: an SKN file has the numbers of vertices,
//! texture coordinates, faces and bones (little-endian 32-bit integers), then 3, 2 floats and 3
//! indices for each. A bone has the name of its body (40 bytes), the position and the quaternion
//! (w first) at which it was bound, the number of its vertices, their indices and their weights.

use super::tree::ElementRef;
use nalgebra::{Isometry3, Vector3};
use std::fmt::Write;
use tarragon_documents::xml::Parsed;
use tarragon_framework::{counted, math};
use tarragon_geometry::{InMemoryMesh, MemoryFile};

/// Length of the name of a body in a file.
const NAME_LENGTH: usize = 40;

/// A surface with the bones that move it.
#[derive(Debug, Default)]
pub(super) struct SkinData {
    vertices: Vec<Vector3<f64>>,
    /// Per vertex, to the right and down; empty if there are none.
    texture_coordinates: Vec<[f64; 2]>,
    faces: Vec<[u32; 3]>,
    pub(super) bones: Vec<NamedBone>,
}

/// A bone with the name of its body.
#[derive(Debug)]
pub(super) struct NamedBone {
    pub(super) body: String,
    /// Pose in the world at which it was bound.
    pub(super) x_wb: Isometry3<f64>,
    /// Vertices with their weights.
    pub(super) weights: Vec<(u32, f64)>,
}

/// The numbers of a file that were not read yet.
struct Words<'a> {
    left: &'a [u8],
}

impl<'a> Words<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, left) = self
            .left
            .split_at_checked(count)
            .ok_or("the file ends too early")?;
        self.left = left;
        Ok(taken)
    }
    fn words(&mut self, count: usize) -> Result<&'a [[u8; 4]], String> {
        let bytes = count.checked_mul(4).ok_or("the counts are too large")?;
        Ok(self.bytes(bytes)?.as_chunks().0)
    }
    fn integers(&mut self, count: usize) -> Result<impl Iterator<Item = i32> + 'a, String> {
        let words = self.words(count)?;
        Ok(words.iter().map(|word| i32::from_le_bytes(*word)))
    }
    fn count(&mut self) -> Result<usize, String> {
        let n = self.integers(1)?.next().unwrap_or_default();
        usize::try_from(n).map_err(|_| format!("counts must not be negative, got {n}"))
    }
    fn floats(&mut self, count: usize) -> Result<Vec<f64>, String> {
        let words = self.words(count)?.iter();
        Ok(words
            .map(|word| f64::from(f32::from_le_bytes(*word)))
            .collect())
    }
    fn vectors<const N: usize>(&mut self, count: usize) -> Result<Vec<[f64; N]>, String> {
        let all = count.checked_mul(N).ok_or("the counts are too large")?;
        Ok(self.floats(all)?.as_chunks().0.to_vec())
    }
}

impl SkinData {
    /// Reads an SKN file.
    pub(super) fn from_skn(bytes: &[u8]) -> Result<Self, String> {
        let mut words = Words { left: bytes };
        let [vertices, texture_coordinates, faces, bones] = [
            words.count()?,
            words.count()?,
            words.count()?,
            words.count()?,
        ];
        let mut skin = Self {
            vertices: words
                .vectors(vertices)?
                .into_iter()
                .map(Vector3::from)
                .collect(),
            texture_coordinates: words.vectors(texture_coordinates)?,
            ..Self::default()
        };
        let indices = faces.checked_mul(3).ok_or("the counts are too large")?;
        let indices: Vec<f64> = words.integers(indices)?.map(f64::from).collect();
        skin.add_faces(&indices)?;
        for _ in 0..bones {
            let name = words.bytes(NAME_LENGTH)?.split(|byte| *byte == 0).next();
            let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            let pose = words.floats(7)?;
            let count = words.count()?;
            let indices: Vec<f64> = words.integers(count)?.map(f64::from).collect();
            let weights = words.floats(count)?;
            let (position, quaternion) = pose.split_at(3);
            skin.add_bone(name, position, quaternion, &indices, &weights)?;
        }
        match words.left {
            [] => skin.checked(),
            left => Err(format!("{} bytes follow the last bone", left.len())),
        }
    }

    /// Reads the attributes of a `<skin>`.
    pub(super) fn from_node(node: ElementRef<'_>) -> Parsed<Self> {
        let numbers = |name: &str| Ok(node.numbers(name)?.unwrap_or_default());
        let vertices = numbers("vertex")?;
        let (points, rest) = vertices.as_chunks::<3>();
        if !rest.is_empty() {
            let message = format!(
                "'vertex' must have 3 numbers each, got {numbers}",
                numbers = counted(vertices.len(), "number")
            );
            return Err(node.error_at("vertex", message));
        }
        let coordinates = numbers("texcoord")?;
        let (pairs, rest) = coordinates.as_chunks::<2>();
        if !rest.is_empty() {
            let message = format!(
                "'texcoord' must have 2 numbers each, got {numbers}",
                numbers = counted(coordinates.len(), "number")
            );
            return Err(node.error_at("texcoord", message));
        }
        let mut skin = Self {
            vertices: points.iter().map(|p| Vector3::from(*p)).collect(),
            texture_coordinates: pairs.to_vec(),
            ..Self::default()
        };
        let faces = skin.add_faces(&numbers("face")?);
        faces.map_err(|why| node.error_at("face", why))?;
        for bone in node.children_named("bone") {
            let Some(body) = bone.own_text("body") else {
                return Err(bone.error("<bone> has no attribute 'body'"));
            };
            let position = bone.vector::<3>("bindpos")?.unwrap_or_default();
            let turn = bone
                .vector::<4>("bindquat")?
                .unwrap_or([1.0, 0.0, 0.0, 0.0]);
            let indices = bone.numbers("vertid")?.unwrap_or_default();
            let weights = bone.numbers("vertweight")?.unwrap_or_default();
            let added = skin.add_bone(body.into(), &position, &turn, &indices, &weights);
            added.map_err(|why| bone.error(why))?;
        }
        skin.checked().map_err(|why| node.error(why))
    }

    fn add_faces(&mut self, indices: &[f64]) -> Result<(), String> {
        let (faces, rest) = indices.as_chunks::<3>();
        if !rest.is_empty() {
            return Err(format!(
                "faces must have 3 vertices each, got {numbers}",
                numbers = counted(indices.len(), "number")
            ));
        }
        for face in faces {
            let face = face.map(|i| self.index(i));
            let [a, b, c] = face;
            self.faces.push([a?, b?, c?]);
        }
        Ok(())
    }

    fn add_bone(
        &mut self,
        body: String,
        position: &[f64],
        quaternion: &[f64],
        indices: &[f64],
        weights: &[f64],
    ) -> Result<(), String> {
        let wrong = |what: String| format!("the bone of body '{body}' {what}");
        let turn: Option<[f64; 4]> = quaternion.try_into().ok();
        // As in MuJoCo, a quaternion of 0 is no rotation.
        let turn = turn.and_then(math::quaternion_wxyz).unwrap_or_default();
        let finite = position.iter().chain(quaternion).all(|x| x.is_finite());
        if !finite || position.len() != 3 {
            return Err(wrong(format!(
                "must have a finite pose, got position {position:?} and quaternion {quaternion:?}"
            )));
        }
        if indices.len() != weights.len() {
            return Err(wrong(format!(
                "must have as many weights as vertices, got {} for {}",
                weights.len(),
                indices.len()
            )));
        }
        let mut found = Vec::with_capacity(weights.len());
        for (i, weight) in indices.iter().zip(weights) {
            found.push((self.index(*i).map_err(&wrong)?, *weight));
        }
        self.bones.push(NamedBone {
            x_wb: math::pose(turn, Vector3::from_column_slice(position)),
            weights: found,
            body,
        });
        Ok(())
    }

    /// Returns the index of a vertex.
    fn index(&self, i: f64) -> Result<u32, String> {
        let count = self.vertices.len();
        let exists = i >= 0.0 && i < count as f64 && i.fract() == 0.0;
        let missing = || format!("refers to vertex {i}, but there are {count}, counted from 0");
        exists.then_some(i as u32).ok_or_else(missing)
    }

    /// Returns the skin if nothing is missing and all numbers are finite.
    fn checked(self) -> Result<Self, String> {
        let missing = [
            ("vertices", self.vertices.is_empty()),
            ("faces", self.faces.is_empty()),
            ("bones", self.bones.is_empty()),
        ];
        if let Some((what, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
            return Err(format!("the skin has no {what}"));
        }
        let (count, pairs) = (self.vertices.len(), self.texture_coordinates.len());
        if pairs != 0 && pairs != count {
            return Err(format!(
                "the skin must have texture coordinates for all {count} vertices or for none, got \
                 {pairs}"
            ));
        }
        let coordinates = self.texture_coordinates.iter().flatten();
        let numbers = self.vertices.iter().flatten().chain(coordinates);
        if numbers.into_iter().all(|x| x.is_finite()) {
            Ok(self)
        } else {
            Err("the vertices and texture coordinates must be finite".into())
        }
    }

    pub(super) fn has_texture_coordinates(&self) -> bool {
        !self.texture_coordinates.is_empty()
    }

    /// Returns the surface as an OBJ file in memory, with one normal per vertex.
    pub(super) fn to_obj(&self, name: &str) -> InMemoryMesh {
        let mut normals = vec![Vector3::zeros(); self.vertices.len()];
        for face in &self.faces {
            let [a, b, c] = face.map(|v| self.vertices[v as usize]);
            for v in face {
                normals[*v as usize] += (b - a).cross(&(c - a));
            }
        }
        let mut obj = String::new();
        // Writing to a string does not fail.
        for v in &self.vertices {
            let _ = writeln!(obj, "v {:?} {:?} {:?}", v.x, v.y, v.z);
        }
        for n in normals {
            let n = n.try_normalize(0.0).unwrap_or(Vector3::z());
            let _ = writeln!(obj, "vn {:?} {:?} {:?}", n.x, n.y, n.z);
        }
        for [u, v] in &self.texture_coordinates {
            let _ = writeln!(obj, "vt {u:?} {:?}", 1.0 - v);
        }
        for face in &self.faces {
            let [a, b, c] = face.map(|v| v + 1);
            let _ = if self.has_texture_coordinates() {
                writeln!(obj, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")
            } else {
                writeln!(obj, "f {a}//{a} {b}//{b} {c}//{c}")
            };
        }
        InMemoryMesh::new(MemoryFile::new(obj, ".obj", name.to_owned()))
    }
}
