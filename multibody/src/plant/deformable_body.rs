//! One deformable body.

use crate::error::{Error, Result};
use crate::model::{BodyIndex, DeformableBodyIndex, ModelInstanceIndex};
use nalgebra::{Isometry3, Vector3};
use std::sync::Arc;
use tarragon_fem::{DeformableBodyConfig, FemModel, ForceDensityField};
use tarragon_geometry::GeometryId;

/// A body made of tetrahedra that deform (Drake's `DeformableBody`).
///
/// It is registered by
/// [`register_deformable_body`](crate::MultibodyPlantBuilder::register_deformable_body) and moves
/// in discrete steps.
///
/// [`register_deformable_body`]: crate::MultibodyPlantBuilder::register_deformable_body
#[derive(Clone, Debug)]
pub struct DeformableBody {
    pub(super) index: DeformableBodyIndex,
    pub(super) name: String,
    pub(super) model_instance: ModelInstanceIndex,
    pub(super) geometry: GeometryId,
    pub(super) config: DeformableBodyConfig,
    pub(super) fem: Arc<FemModel>,
    /// Pose in W that the body starts with.
    pub(super) default_pose: Isometry3<f64>,
    /// Positions in the geometry's frame, and in W with its pose.
    pub(super) local_positions: Arc<[Vector3<f64>]>,
    pub(super) reference_positions: Arc<[Vector3<f64>]>,
    /// By vertex: whether a wall holds it; empty if none does.
    pub(super) held: Vec<bool>,
    pub(super) fixed: Vec<FixedVertices>,
    pub(super) forces: Vec<Arc<dyn ForceDensityField>>,
}

/// Vertices that are fixed to points of a rigid body.
#[derive(Clone, Debug)]
pub(super) struct FixedVertices {
    pub(super) body: BodyIndex,
    /// Vertices with their positions in the frame of the body.
    pub(super) vertices: Vec<(u32, Vector3<f64>)>,
}

impl DeformableBody {
    /// Returns the index among the deformable bodies of the plant.
    pub fn index(&self) -> DeformableBodyIndex {
        self.index
    }
    /// Returns the name, unique among the deformable bodies of the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the model instance.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance
    }
    /// Returns the id of the geometry in the scene.
    pub fn geometry_id(&self) -> GeometryId {
        self.geometry
    }
    /// Returns material and damping.
    pub fn config(&self) -> &DeformableBodyConfig {
        &self.config
    }
    /// Returns the number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.fem.num_vertices()
    }
    /// Returns the number of tetrahedra.
    pub fn num_elements(&self) -> usize {
        self.fem.num_elements()
    }
    /// Returns the number of degrees of freedom, three per vertex.
    pub fn num_dofs(&self) -> usize {
        3 * self.num_vertices()
    }
    /// Returns the mass (kg).
    pub fn mass(&self) -> f64 {
        self.fem.total_mass()
    }
    /// Returns the positions of the vertices without stress, in W (m).
    pub fn reference_positions(&self) -> &[Vector3<f64>] {
        &self.reference_positions
    }
    /// Returns true if walls or constraints hold vertices of the body.
    pub fn has_fixed_vertices(&self) -> bool {
        self.held.contains(&true) || !self.fixed.is_empty()
    }

    /// Computes the elastic energy (J) at positions of the vertices in W, and the forces (N) at the
    /// vertices, which are minus its gradient. With [`MaterialModel::LinearCorotated`], stress is
    /// linear in the frames of the rotations at the `previous` positions, those at the start of a
    /// step.
    ///
    /// # Errors
    /// Returns an error if the number of positions is wrong, or if one is not finite.
    ///
    /// [`MaterialModel::LinearCorotated`]: tarragon_fem::MaterialModel::LinearCorotated
    pub fn calc_elastic_forces(
        &self,
        previous: &[Vector3<f64>],
        positions: &[Vector3<f64>],
    ) -> Result<(f64, Vec<Vector3<f64>>)> {
        for list in [previous, positions] {
            let is_finite = list.iter().all(|p| p.iter().all(|x| x.is_finite()));
            if list.len() != self.num_vertices() || !is_finite {
                return Err(Error::invalid(format!(
                    "{}: positions must be finite and {}, got {}",
                    self.place(),
                    self.num_vertices(),
                    list.len()
                )));
            }
        }
        let flat = |list: &[Vector3<f64>]| -> Vec<f64> {
            list.iter().flat_map(|p| p.iter().copied()).collect()
        };
        let (energy, forces) = self.fem.elastic_forces(&flat(previous), &flat(positions));
        let (forces, _) = forces.as_chunks::<3>();
        Ok((energy, forces.iter().map(|f| Vector3::from(*f)).collect()))
    }

    /// Returns the pose in W that the body starts with.
    pub fn default_pose(&self) -> &Isometry3<f64> {
        &self.default_pose
    }

    /// Returns the state at rest without stress: positions, velocities, and positions before.
    pub(super) fn default_state(&self) -> Vec<f64> {
        let x_wd = &self.default_pose;
        let vertices = self.local_positions.iter();
        let vertices = vertices.map(|p| x_wd.transform_point(&(*p).into()).coords);
        let q: Vec<f64> = vertices.flat_map(|p| [p.x, p.y, p.z]).collect();
        [&q[..], &vec![0.0; q.len()], &q].concat()
    }
    /// Returns the body in messages.
    pub(super) fn place(&self) -> String {
        format!("deformable body '{}'", self.name)
    }
}
