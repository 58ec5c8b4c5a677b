//! Configurations, bounds and contact of deformable geometry.

use super::QueryObject;
use crate::deformable::{
    DeformableContact, PosedShape, RigidPartner, contact_of_two, contact_with_rigid,
};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::scene::snapshot::deformables::ConfiguredGeometry;
use crate::shape::{Obb, calc_obb};
use crate::values::values_of_pose;
use nalgebra::{DVector, Isometry3, Vector3};
use std::borrow::Cow;
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Returns a geometry, which must be deformable.
    pub(super) fn deformable(&self, id: GeometryId) -> Result<&ConfiguredGeometry<T>> {
        let number = self.state.geometry_number(id)?;
        self.kinematics.deformables().get(number).ok_or_else(|| {
            Error::invalid(format!(
                "geometry '{}' must be deformable to have a configuration, got rigid geometry; its \
                 pose is `geometry_pose_in_world`",
                self.state.geometries[number].name
            ))
        })
    }

    /// Returns the coordinates of all vertices of a deformable geometry in the world (m), in the
    /// order of its [reference mesh](crate::SceneGraphInspector::reference_mesh) (Drake's
    /// `GetConfigurationsInWorld`).
    ///
    /// ```
    /// use nalgebra::{DVector, Isometry3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::*;
    /// let mut scene = SceneGraph::new();
    /// let source = scene.register_source("toys")?;
    /// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
    /// let ball = ball.with_proximity(ProximityProperties::new());
    /// let ball = scene.register_deformable_geometry(source, scene.world_frame_id(), ball, 0.2)?;
    /// let mesh = scene.model_inspector().reference_mesh(ball)?;
    /// let flat = mesh.vertices().iter().flat_map(|p| [p.x, p.y, 0.5 * p.z + 1.0]);
    /// let flat = DVector::from_vec(flat.collect());
    /// let mut b = DiagramBuilder::new();
    /// let scene = b.add("scene_graph", scene);
    /// let mut ctx = b.build()?.default_context();
    /// let all = GeometryConfigurationVector::from_iter([(ball, flat.clone())]);
    /// ctx.fix(scene.source_configuration_port(source)?, all)?;
    /// let query = ctx.eval(scene.query)?;
    /// assert_eq!(query.configurations_in_world(ball)?, &flat);
    /// let top = query.compute_aabb_in_world(ball)?.unwrap().upper().z;
    /// assert!((top - 1.05).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no such geometry or it is not deformable.
    pub fn configurations_in_world(&self, geometry: GeometryId) -> Result<&DVector<T>> {
        Ok(&self.deformable(geometry)?.configuration)
    }

    /// Returns an oriented bounding box of a geometry in the world: for deformable geometry
    /// and skins, that of the current vertices. Returns `None` for a half space.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, or if its mesh file cannot be read.
    pub fn compute_obb_in_world(&self, geometry: GeometryId) -> Result<Option<Obb>> {
        let number = self.state.geometry_number(geometry)?;
        if let Some(deformable) = self.kinematics.deformables().get(number) {
            return Obb::from_points(deformable.shape().vertices()).map(Some);
        }
        if let Some(vertices) = (self.kernels.skin_vertices)(self, number) {
            return Obb::from_points(&vertices).map(Some);
        }
        let x_wg = values_of_pose(self.kinematics.x_wg(number));
        let obb = calc_obb(&self.state.geometries[number].shape)?;
        Ok(obb.map(|obb| Obb::new(x_wg * obb.pose(), *obb.half_width())))
    }
}

impl<T: Scalar> QueryObject<T> {
    /// Returns the contact of all deformable geometries with the proximity role, by (A, B): with
    /// rigid geometry and with each other, but not with themselves (Drake's
    /// `ComputeDeformableContact`). Collision filters apply.
    ///
    /// Rigid partners are the geometries with the proximity role that have a resolution hint and a
    /// modulus, which the [defaults](crate::DefaultProximityProperties) of the scene may fill in,
    /// whether they are rigid or compliant in hydroelastic contact or neither. They take part as
    /// their compliant meshes. Half spaces do not take part. The result holds values: derivatives
    /// of poses and configurations do not enter it.
    ///
    /// ```
    /// use nalgebra::{DVector, Isometry3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::*;
    /// let mut scene = SceneGraph::new();
    /// let source = scene.register_source("toys")?;
    /// let at = |z| Isometry3::translation(0.0, 0.0, z);
    /// let ball = GeometryInstance::new(at(0.09), Sphere::new(0.1)?, "ball")?;
    /// let ball = ball.with_proximity(ProximityProperties::new());
    /// let ball = scene.register_deformable_geometry(source, scene.world_frame_id(), ball, 0.05)?;
    /// let floor = GeometryInstance::new(at(-0.5), BoxShape::new(1.0, 1.0, 1.0)?, "floor")?;
    /// let hard = ProximityProperties::new().with_compliant_hydroelastic(1e7)?;
    /// let floor = floor.with_proximity(hard.with_resolution_hint(1.0)?);
    /// let floor = scene.register_anchored_geometry(source, floor)?;
    /// let mesh = scene.model_inspector().reference_mesh(ball)?;
    /// let undeformed = mesh.vertices().iter().flat_map(|p| [p.x, p.y, p.z + 0.09]).collect();
    /// let all = GeometryConfigurationVector::from_iter([(ball, DVector::from_vec(undeformed))]);
    /// let mut b = DiagramBuilder::new();
    /// let scene = b.add("scene_graph", scene);
    /// let mut ctx = b.build()?.default_context();
    /// ctx.fix(scene.source_configuration_port(source)?, all)?;
    /// let contact: DeformableContact = ctx.eval(scene.query)?.compute_deformable_contact()?;
    /// let surface: &DeformableContactSurface = &contact.surfaces()[0];
    /// assert_eq!((surface.id_a(), surface.id_b()), (ball, floor));
    /// assert!(surface.normal(0).z > 0.5 && surface.pressure(0).unwrap() > 0.0);
    /// assert!(contact.participating_vertices(ball).len() >= 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the compliant mesh of a rigid partner cannot be made, or if the boundary
    /// of a deformable mesh has no area.
    pub fn compute_deformable_contact(&self) -> Result<DeformableContact> {
        (self.kernels.deformable_contact)(self)
    }

    pub(super) fn find_deformable_contact(&self) -> Result<DeformableContact> {
        self.deformable_contact(|g| g.shape().vertices().into(), values_of_pose)
    }

    /// Returns the same with the derivatives of poses and configurations. Which faces there are,
    /// and between which planes their corners lie, is decided without derivatives.
    ///
    /// # Errors
    /// Returns the errors of [`Self::compute_deformable_contact`].
    pub fn compute_deformable_contact_with_derivatives(&self) -> Result<DeformableContact<T>> {
        (self.kernels.differentiable_contact)(self)
    }

    pub(super) fn find_differentiable_contact(&self) -> Result<DeformableContact<T>> {
        let positions = |g: &ConfiguredGeometry<T>| {
            let (vertices, _) = g.configuration.as_slice().as_chunks::<3>();
            vertices.iter().map(|p| Vector3::from(*p)).collect()
        };
        self.deformable_contact(positions, |pose| *pose)
    }

    /// Returns the contact over a scalar, in which positions and poses are given.
    fn deformable_contact<'a, S: Scalar>(
        &'a self,
        positions: impl Fn(&'a ConfiguredGeometry<T>) -> Cow<'a, [Vector3<S>]>,
        pose: impl Fn(&Isometry3<T>) -> Isometry3<S>,
    ) -> Result<DeformableContact<S>> {
        let all = self.kinematics.deformables().geometries();
        let has_role =
            |g: &&ConfiguredGeometry<T>| self.state.geometries[g.number].has_role(Role::Proximity);
        let all: Vec<_> = all.iter().filter(has_role).collect();
        if all.is_empty() {
            return Ok(DeformableContact::default());
        }
        let all: Vec<_> = all.into_iter().map(|g| (g, positions(g))).collect();
        let posed = |i: usize| PosedShape {
            shape: all[i].0.shape(),
            positions: &all[i].1,
        };
        let partners = self.state.contact_partners()?;
        let id = |number: usize| self.state.geometries[number].id;
        let mut surfaces = vec![];
        for (i, (a, _)) in all.iter().enumerate() {
            for partner in partners.iter() {
                let b = partner.geometry;
                if self.state.is_candidate(a.number, b) {
                    let rigid = RigidPartner {
                        mesh: &partner.mesh,
                        modulus: partner.modulus,
                        x_wb: pose(self.kinematics.x_wg(b)),
                    };
                    let ids = [id(a.number), id(b)];
                    surfaces.extend(contact_with_rigid(ids, posed(i), &rigid));
                }
            }
            for (j, (b, _)) in all.iter().enumerate().skip(i + 1) {
                if self.state.is_candidate(a.number, b.number) {
                    let ids = [id(a.number), id(b.number)];
                    let found = contact_of_two(ids, [posed(i), posed(j)]);
                    let found = found.map_err(|e| {
                        let names = [a, b].map(|g| &self.state.geometries[g.number].name);
                        e.at(format!("geometries '{}' and '{}'", names[0], names[1]))
                    })?;
                    surfaces.extend(found);
                }
            }
        }
        surfaces.sort_by_key(|s| (s.id_a(), s.id_b()));
        Ok(DeformableContact::new(surfaces))
    }
}
