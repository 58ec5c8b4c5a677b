//! Contacts of deformable bodies at the end of a step.

use crate::discrete::{ConstraintEnds, ContactSide, DeformableProblem, DeformableSite};
use crate::kinematics::PositionKinematics;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use std::any::Any;
use std::sync::Arc;
use tarragon_contact_solvers::ConstraintEnd;
use tarragon_framework::Scalar;
use tarragon_geometry::mesh::PolygonSurfaceMesh;
use tarragon_geometry::{DeformableContact, GeometryId};

/// Contact of a deformable body with another body (Drake's `DeformableContactInfo`).
#[derive(Clone, Debug)]
pub struct DeformableContactInfo {
    /// Geometry of deformable body A.
    pub id_a: GeometryId,
    /// Geometry of body B, rigid or deformable.
    pub id_b: GeometryId,
    /// The surface of contact, in W; normals point out of B into A.
    pub contact_mesh_w: PolygonSurfaceMesh,
    /// Spatial force on body A at the centroid C of the surface, `F_Ac_W` (N m, N).
    pub f_ac_w: SpatialVector<f64>,
}

/// Contacts of a step with their forces.
#[derive(Clone, Debug, Default)]
pub(in crate::plant) struct EndedDeformableContacts {
    contact: Option<Arc<DeformableContact>>,
    /// By surface, face after face: forces on A in W (N).
    forces: Vec<Vec<Vector3<f64>>>,
}

impl EndedDeformableContacts {
    /// Replaces all by the contacts of a step of length `dt`. `faces` tells surface and face of the
    /// first sites of the problem, `ends` how all of its sites ended.
    pub(super) fn set(
        &mut self,
        contact: Option<Arc<DeformableContact>>,
        problem: &DeformableProblem,
        faces: &[(u32, u32)],
        ends: &[ConstraintEnd<f64>],
        dt: f64,
    ) {
        self.forces.clear();
        let surfaces = contact.as_ref().map_or(&[][..], |c| c.surfaces());
        let none = |n: usize| vec![Vector3::zeros(); n];
        self.forces
            .extend(surfaces.iter().map(|s| none(s.num_faces())));
        for (((s, f), site), end) in faces.iter().zip(&problem.sites).zip(ends) {
            let impulse = Vector3::new(end.impulse[0], end.impulse[1], end.impulse[2]);
            self.forces[*s as usize][*f as usize] = site.r_wc * impulse / -dt;
        }
        self.contact = contact;
    }

    /// Returns the contacts, by surface.
    pub(in crate::plant) fn infos(&self) -> impl Iterator<Item = DeformableContactInfo> + '_ {
        let surfaces = self.contact.as_ref().map_or(&[][..], |c| c.surfaces());
        surfaces.iter().zip(&self.forces).map(|(surface, forces)| {
            let centroid = surface.mesh().centroid();
            let mut sum = SpatialVector::zero();
            for (f, force) in forces.iter().enumerate() {
                sum.rotational += (surface.centroid(f) - centroid).cross(force);
                sum.translational += force;
            }
            DeformableContactInfo {
                id_a: surface.id_a(),
                id_b: surface.id_b(),
                contact_mesh_w: surface.mesh().clone(),
                f_ac_w: sum,
            }
        })
    }
}

/// How the sites of deformable bodies ended.
pub(in crate::plant) struct EndedSites<'a, T: Scalar> {
    ends: &'a ConstraintEnds<T>,
    /// Number of the first of them among all constraints.
    first: usize,
    /// The sites with derivatives; empty without any.
    derived: &'a [DeformableSite<T>],
}

impl<'a, T: Scalar> EndedSites<'a, T> {
    /// Takes the last ones of all constraints as those of a problem.
    pub(in crate::plant) fn new(
        ends: &'a ConstraintEnds<T>,
        problem: &DeformableProblem,
        derived: &'a [DeformableSite<T>],
    ) -> Self {
        Self {
            first: ends.real.len() - problem.sites.len(),
            ends,
            derived,
        }
    }

    /// Returns the ends without derivatives.
    pub(super) fn real(&self) -> &[ConstraintEnd<f64>] {
        &self.ends.real[self.first..]
    }

    /// Adds the forces on rigid bodies at all sites of a problem to sums about the origins of the
    /// bodies, expressed in W.
    pub(super) fn add_forces(
        &self,
        problem: &DeformableProblem,
        dt: f64,
        positions: &PositionKinematics<T>,
        mut sums: [&mut [SpatialVector<T>]; 2],
        num_faces: usize,
    ) {
        for (k, real) in problem.sites.iter().enumerate() {
            let same_scalar = (real as &dyn Any).downcast_ref();
            let Some(site) = self.derived.get(k).or(same_scalar) else {
                continue;
            };
            let row = |i| self.ends.impulse(self.first + k, i);
            let on_b = site.r_wc * Vector3::new(row(0), row(1), row(2)) / T::from(dt);
            for (side, force) in site.sides.iter().zip([-on_b, on_b]) {
                let ContactSide::Body(body) = side else {
                    continue;
                };
                let arm = site.p_wc - positions.p_wb(body.index() as u32);
                let moment = arm.cross(&force);
                // Fixed vertices are no contact.
                let num_sums = if k < num_faces { 2 } else { 1 };
                for sums in &mut sums[..num_sums] {
                    let sum = &mut sums[body.index()];
                    sum.rotational += &moment;
                    sum.translational += &force;
                }
            }
        }
    }
}
