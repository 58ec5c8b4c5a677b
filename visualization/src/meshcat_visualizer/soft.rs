//! Deformable geometry that is shown: its vertices are sent with every publish.

use super::layout::PaintedMesh;
use crate::Result;
use crate::driven_meshes::DrivenMesh;
use crate::meshcat::{Meshcat, MeshcatAnimation, NodeHandle, Object, Paint, Scene};
use nalgebra::Vector3;
use std::path::PathBuf;
use tarragon_framework::Scalar;
use tarragon_geometry::{QueryObject, Rgba};

/// One deformable geometry.
#[derive(Debug)]
pub(super) struct Soft {
    node: NodeHandle,
    driven: DrivenMesh,
    color: Rgba,
    /// The image file, and the colour by which it is multiplied.
    map: Option<(PathBuf, Rgba)>,
    /// Current vertices (m), in the world.
    vertices: Vec<Vector3<f64>>,
}

impl Soft {
    pub(super) fn new(node: NodeHandle, (driven, map): &PaintedMesh, color: Rgba) -> Self {
        Self {
            node,
            driven: driven.clone(),
            color,
            map: map.clone(),
            vertices: vec![],
        }
    }

    pub(super) fn compute_vertices<T: Scalar>(&mut self, query: &QueryObject<T>) -> Result<()> {
        self.vertices = self.driven.vertices(query)?;
        Ok(())
    }

    /// Sets the vertices at a frame of an animation.
    pub(super) fn record(&self, animation: &mut MeshcatAnimation, frame: u32) {
        let (path, mesh) = (self.node.path(), &self.driven.mesh);
        animation.set_vertices(frame, path, mesh, &self.vertices);
    }

    /// Sends the vertices if they have changed. Returns false if the object is missing, or was
    /// replaced by another one.
    pub(super) fn send_vertices(&self, scene: &mut Scene) -> bool {
        let positions = self.vertices.iter().map(|p| p.map(|x| x as f32).into());
        let positions: Vec<[f32; 3]> = positions.collect();
        self.node.set_vertices(scene, &self.driven.mesh, &positions)
    }

    /// Returns the whole object.
    pub(super) fn object(&self, meshcat: &Meshcat) -> Result<Object> {
        let paint = Paint::new(self.color, self.map.as_ref());
        meshcat.encode_driven_mesh(&self.driven.mesh, &self.vertices, paint)
    }

    pub(super) fn set_object(&mut self, scene: &mut Scene, object: Object) {
        // The node may have been deleted.
        self.node = NodeHandle::new(scene, self.node.path());
        self.node.set_object(scene, object);
    }
}
