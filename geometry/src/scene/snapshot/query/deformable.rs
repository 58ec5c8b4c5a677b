//! Configurations, bounds and contact of deformable geometry.

use super::QueryObject;
use crate::deformable::{DeformableContact, contact_of_two, contact_with_rigid};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::scene::snapshot::deformables::ConfiguredGeometry;
use crate::shape::{Obb, calc_obb};
use crate::values::values_of_pose;
use nalgebra::DVector;
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Returns a geometry, which must be deformable.
    fn deformable(&self, id: GeometryId) -> Result<&ConfiguredGeometry<T>> {
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

    /// Returns the coordinates of the vertices of each mesh that a deformable geometry drives in a
    /// role (m), in the world (Drake's `GetDrivenMeshConfigurationsInWorld`). The meshes are those
    /// of `SceneGraphInspector::driven_render_meshes`: the boundary, with its vertices in the order
    /// of the reference mesh, or, in the perception role, an embedded surface.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, if it is not deformable, or if it does not
    /// have the role.
    pub fn driven_mesh_configurations_in_world(
        &self,
        geometry: GeometryId,
        role: Role,
    ) -> Result<Vec<DVector<T>>> {
        let found = self.deformable(geometry)?;
        self.state.geometries[found.number].check_drives(role)?;
        let driven = found.form.driven(role).iter().map(|driven| {
            let positions = driven.positions(found.configuration.as_slice());
            let coordinates = positions.iter().flatten().copied();
            DVector::from_iterator(3 * driven.num_vertices(), coordinates)
        });
        Ok(driven.collect())
    }

    /// Returns an oriented bounding box of a geometry in the world: for deformable geometry, that
    /// of its current vertices. Returns `None` for a half space.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, or if its mesh file cannot be read.
    pub fn compute_obb_in_world(&self, geometry: GeometryId) -> Result<Option<Obb>> {
        let number = self.state.geometry_number(geometry)?;
        if let Some(deformable) = self.kinematics.deformables().get(number) {
            return Obb::from_points(deformable.shape().vertices()).map(Some);
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
        let all = self.kinematics.deformables().geometries();
        let has_role =
            |g: &&ConfiguredGeometry<T>| self.state.geometries[g.number].has_role(Role::Proximity);
        let all: Vec<&ConfiguredGeometry<T>> = all.iter().filter(has_role).collect();
        if all.is_empty() {
            return Ok(DeformableContact::default());
        }
        let partners = self.state.contact_partners()?;
        let id = |number: usize| self.state.geometries[number].id;
        let mut surfaces = vec![];
        for (i, a) in all.iter().enumerate() {
            for partner in partners.iter() {
                let b = partner.geometry;
                if self.state.is_candidate(a.number, b) {
                    surfaces.extend(contact_with_rigid(
                        [id(a.number), id(b)],
                        a.shape(),
                        (&partner.mesh, partner.modulus),
                        &values_of_pose(self.kinematics.x_wg(b)),
                    ));
                }
            }
            for b in &all[i + 1..] {
                if self.state.is_candidate(a.number, b.number) {
                    let ids = [id(a.number), id(b.number)];
                    let found = contact_of_two(ids, [a.shape(), b.shape()]);
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
