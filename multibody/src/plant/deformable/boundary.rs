//! Vertices that are held at walls or fixed to rigid bodies.

use crate::error::{Error, Result};
use crate::model::checks::check_pose;
use crate::model::{BodyIndex, DeformableBodyIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::deformable_body::FixedVertices;
use nalgebra::{Isometry3, Point3, Vector3};
use tarragon_geometry::Shape;
use tarragon_geometry::proximity::distance_to_point;

impl MultibodyPlantBuilder {
    /// Holds all vertices of a deformable body that are behind a wall where they are without
    /// stress (Drake's `SetWallBoundaryCondition`). `p_wq` is a point of the wall (m), `n_w` its
    /// normal towards the free side, of any length, both in W. A wall that holds nothing is no
    /// error.
    ///
    /// # Errors
    /// Returns an error if the body is unknown, if the normal is zero, or if a number is not
    /// finite.
    pub fn set_wall_boundary_condition(
        &mut self,
        body: DeformableBodyIndex,
        p_wq: &Vector3<f64>,
        n_w: &Vector3<f64>,
    ) -> Result<()> {
        let place = self.deformable_body(body)?.place();
        let is_finite = p_wq.iter().chain(n_w.iter()).all(|x| x.is_finite());
        if !is_finite || *n_w == Vector3::zeros() {
            return Err(Error::invalid(format!(
                "{place}: the point of a wall must be finite and its normal not zero, got {:?} and \
                 {:?}",
                p_wq.as_slice(),
                n_w.as_slice()
            )));
        }
        let found = &mut self.model.deformables[body.index()];
        found.held.resize(found.reference_positions.len(), false);
        for (held, q) in found.held.iter_mut().zip(&*found.reference_positions) {
            *held |= n_w.dot(&(q - p_wq)) < 0.0;
        }
        if !found.held.contains(&true) {
            found.held.clear();
        }
        Ok(())
    }

    /// Fixes all vertices of a deformable body that are inside a shape to a rigid body B (Drake's
    /// `AddFixedConstraint`). For that, the mesh of deformable body A is at `X_BA` in B, and the
    /// shape at `X_BG`.
    ///
    /// # Errors
    /// Returns an error if a body is unknown, if a pose is not finite, if the distance from the
    /// shape is not supported, or if no vertex is inside of it.
    pub fn add_fixed_constraint(
        &mut self,
        body: DeformableBodyIndex,
        body_b: BodyIndex,
        x_ba: &Isometry3<f64>,
        shape: &Shape,
        x_bg: &Isometry3<f64>,
    ) -> Result<()> {
        let found = self.deformable_body(body)?;
        let place = found.place();
        let name_b = self.body(body_b)?.name().to_owned();
        for (name, x) in [("X_BA", x_ba), ("X_BG", x_bg)] {
            check_pose(|| format!("{place}: {name} of a fixed constraint"), x)?;
        }
        let mut vertices = vec![];
        for (v, p) in found.local_positions.iter().enumerate() {
            let p_bp = (x_ba * Point3::from(*p)).coords;
            let distance = distance_to_point(shape, x_bg, &p_bp);
            if distance.map_err(|e: Error| e.at(place.clone()))?.distance <= 0.0 {
                vertices.push((v as u32, p_bp));
            }
        }
        if vertices.is_empty() {
            return Err(Error::invalid(format!(
                "{place}: a vertex must be inside the shape that fixes it to body '{name_b}', got \
                 none; check the poses, or leave the constraint out"
            )));
        }
        let fixed = FixedVertices {
            body: body_b,
            vertices,
        };
        self.model.deformables[body.index()].fixed.push(fixed);
        Ok(())
    }
}
