//! The message of deformable geometry: surfaces with the current positions of their vertices.

use super::params::DrakeVisualizerParams;
use crate::Result;
use crate::driven_meshes::{DrivenMesh, driven_meshes};
use tarragon_framework::Scalar;
use tarragon_geometry::{QueryObject, Rgba, SceneGraphInspector};
use tarragon_lcm::types::{LcmtViewerGeometryData, LcmtViewerLinkData};

/// Index of the first coordinate of a mesh, after the numbers of vertices and triangles.
const COORDINATES: usize = 2;

/// Messages with a removed geometry: a second of them, because viewers drop messages when they are
/// busy.
const FAREWELLS: u32 = 64;

/// The message of all deformable geometry with the role. Coordinates are overwritten in place.
///
/// Viewers keep a geometry that is in no message any more. The first messages after a removal
/// therefore still have it, without triangles.
#[derive(Debug)]
pub(super) struct DeformableMessage {
    meshes: Vec<DrivenMesh>,
    /// One geometry for each mesh, and those that are gone.
    message: LcmtViewerLinkData,
    /// Number of messages that will have those that are gone.
    farewells: u32,
}

impl DeformableMessage {
    /// Creates the message of a scene, with all vertices at the origin.
    pub(super) fn new(
        inspector: &SceneGraphInspector<'_>,
        params: &DrakeVisualizerParams,
    ) -> Result<Self> {
        let meshes = driven_meshes(inspector, params.role)?;
        let mut geom = vec![];
        for DrivenMesh { geometry, mesh, .. } in &meshes {
            let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
            let end = COORDINATES + 3 * vertices;
            let mut float_data = Vec::with_capacity(end + 3 * triangles);
            float_data.extend([vertices as f32, triangles as f32]);
            float_data.resize(end, 0.0);
            // Whole numbers up to 2^24 are exact, and meshes have fewer vertices.
            float_data.extend(mesh.triangles.as_flattened().iter().map(|v| *v as f32));
            // Unlike the colour of rigid geometry, it is never that of another role.
            let color = match inspector.properties(*geometry, params.role)? {
                Some(own) => own.get_or::<Rgba>("phong", "diffuse", params.default_color)?,
                None => params.default_color,
            };
            geom.push(LcmtViewerGeometryData {
                color: color.rgba().map(|channel| channel as f32),
                ..surface(inspector.name(*geometry)?, float_data)
            });
        }
        Ok(Self {
            meshes,
            message: LcmtViewerLinkData {
                name: "deformable_geometries".into(),
                geom,
                ..LcmtViewerLinkData::default()
            },
            farewells: FAREWELLS,
        })
    }

    /// Adds what is gone since the message `last`.
    pub(super) fn follow(&mut self, last: &Self) {
        let geom = &mut self.message.geom;
        for before in last.shown() {
            let name = &before.string_data;
            if !geom.iter().any(|data| data.string_data == *name) {
                geom.push(surface(name, vec![0.0; COORDINATES]));
            }
        }
    }

    /// Returns the geometries that are not gone.
    fn shown(&self) -> &[LcmtViewerGeometryData] {
        &self.message.geom[..self.meshes.len()]
    }

    /// Returns the message with the current vertices.
    pub(super) fn at<T: Scalar>(&mut self, query: &QueryObject<T>) -> Result<&LcmtViewerLinkData> {
        match self.farewells.checked_sub(1) {
            Some(left) => self.farewells = left,
            None => self.message.geom.truncate(self.meshes.len()),
        }
        for (mesh, data) in self.meshes.iter().zip(&mut self.message.geom) {
            let coordinates = data.float_data[COORDINATES..].as_chunks_mut::<3>().0;
            for (to, vertex) in coordinates.iter_mut().zip(mesh.vertices(query)?) {
                *to = vertex.map(|x| x as f32).into();
            }
        }
        Ok(&self.message)
    }
}

/// Returns a surface in the world.
fn surface(name: &str, float_data: Vec<f32>) -> LcmtViewerGeometryData {
    LcmtViewerGeometryData {
        r#type: LcmtViewerGeometryData::MESH,
        quaternion: [1.0, 0.0, 0.0, 0.0],
        string_data: name.into(),
        float_data,
        ..LcmtViewerGeometryData::default()
    }
}
