//! Attributes of vertices: positions, normals, tangents and texture coordinates.

use super::GltfReader;
use super::document::PlacedMesh;
use crate::error::Result;
use crate::mesh::RenderMesh;
use gltf::accessor::{DataType, Dimensions, Item};
use gltf::{Accessor, Primitive, Semantic};
use nalgebra::{Point3, Vector3};

impl<'a> GltfReader<'a> {
    /// Appends vertices and returns the index of the first.
    pub(super) fn positions(
        &mut self,
        placed: &PlacedMesh<'_>,
        accessor: Accessor<'a>,
    ) -> Result<u32> {
        let base = self.mesh.positions.len() as u32;
        let index = accessor.index();
        let points = self.vectors::<[f32; 3]>("POSITION", accessor, Dimensions::Vec3)?;
        for (i, p) in points.enumerate() {
            let p = placed.x_gn.linear * Vector3::from(p.map(f64::from)) + placed.x_gn.offset;
            if !p.iter().all(|x| x.is_finite()) {
                return Err(self.document.at.error(format!(
                    "accessors[{index}]: coordinates of vertex {i} in nodes[{}] must be finite, got \
                    ({:?}, {:?}, {:?})",
                    placed.node, p.x, p.y, p.z
                )));
            }
            self.mesh.positions.push(Point3::from(p));
        }
        Ok(base)
    }

    /// Appends normals and returns the index of the first.
    pub(super) fn normals(
        &mut self,
        placed: &PlacedMesh<'_>,
        accessor: Accessor<'a>,
        count: usize,
    ) -> Result<u32> {
        self.same_count("NORMAL", &accessor, count)?;
        let base = self.mesh.normals.len() as u32;
        let map = placed.x_gn.for_normals();
        let normals = self.vectors::<[f32; 3]>("NORMAL", accessor, Dimensions::Vec3)?;
        // Exporters write zeros and NaN for degenerate triangles, where any direction will do.
        let unit = |n: [f32; 3]| {
            let n = (map * Vector3::from(n.map(f64::from))).try_normalize(0.0);
            n.filter(|n| n.norm_squared() > 0.5)
                .unwrap_or_else(Vector3::z)
        };
        self.mesh.normals.extend(normals.map(unit));
        Ok(base)
    }

    /// Returns the tangents of the vertices.
    pub(super) fn tangents(
        &self,
        placed: &PlacedMesh<'_>,
        accessor: Accessor<'a>,
        count: usize,
    ) -> Result<Vec<[f32; 4]>> {
        self.same_count("TANGENT", &accessor, count)?;
        let sign = if placed.x_gn.mirrors() { -1.0 } else { 1.0 };
        let tangents = self.vectors::<[f32; 4]>("TANGENT", accessor, Dimensions::Vec4)?;
        let placed = |[x, y, z, w]: [f32; 4]| {
            let t = placed.x_gn.linear * Vector3::new(x, y, z).cast();
            let unit = t.try_normalize(0.0).filter(|t| t.norm_squared() > 0.5);
            match unit.map(|t| t.cast::<f32>()) {
                Some(t) if w.abs() == 1.0 => [t.x, t.y, t.z, w * sign],
                // The tangent is computed.
                _ => RenderMesh::NO_TANGENT,
            }
        };
        Ok(tangents.map(placed).collect())
    }

    /// Appends the texture coordinates of a set and returns the index of the first; `None` if the
    /// primitive does not have the set.
    pub(super) fn uvs(
        &mut self,
        primitive: &Primitive<'a>,
        set: u32,
        count: usize,
    ) -> Result<Option<u32>> {
        let Some(accessor) = primitive.get(&Semantic::TexCoords(set)) else {
            return Ok(None);
        };
        self.same_count("TEXCOORD", &accessor, count)?;
        let base = self.mesh.uvs.len() as u32;
        let what = "TEXCOORD";
        let kind = (accessor.data_type(), accessor.normalized());
        let dimensions = Dimensions::Vec2;
        let uvs = &mut self.mesh.uvs;
        // v points down in glTF, up here.
        let up = |[u, v]: [f64; 2]| [u, 1.0 - v].map(|x| if x.is_finite() { x } else { 0.0 });
        match kind {
            (DataType::U8, true) => {
                let all = self
                    .document
                    .elements::<[u8; 2]>(what, accessor, dimensions)?;
                uvs.extend(all.map(|uv| up(uv.map(|x| f64::from(x) / f64::from(u8::MAX)))));
            }
            (DataType::U16, true) => {
                let all = self
                    .document
                    .elements::<[u16; 2]>(what, accessor, dimensions)?;
                uvs.extend(all.map(|uv| up(uv.map(|x| f64::from(x) / f64::from(u16::MAX)))));
            }
            _ => {
                let all = self.vectors::<[f32; 2]>(what, accessor, dimensions)?;
                self.mesh.uvs.extend(all.map(|uv| up(uv.map(f64::from))));
            }
        }
        Ok(Some(base))
    }

    pub(super) fn same_count(
        &self,
        what: &str,
        accessor: &Accessor<'_>,
        count: usize,
    ) -> Result<()> {
        if accessor.count() == count {
            return Ok(());
        }
        Err(self.document.at.error(format!(
            "accessors[{}]: {what} must have as many elements as POSITION, {count}, got {}",
            accessor.index(),
            accessor.count()
        )))
    }

    /// Returns the elements of an accessor of floats.
    pub(super) fn vectors<V: Item>(
        &self,
        what: &str,
        accessor: Accessor<'a>,
        dimensions: Dimensions,
    ) -> Result<gltf::accessor::Iter<'a, V>> {
        match accessor.data_type() {
            DataType::F32 => self.document.elements(what, accessor, dimensions),
            other => Err(self.document.at.error(format!(
                "accessors[{}]: components of {what} must be F32, got {other:?}",
                accessor.index()
            ))),
        }
    }
}
