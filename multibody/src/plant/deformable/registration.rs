//! Registration of deformable bodies, and their look-up.

use crate::error::{Error, Result};
use crate::model::checks::check_pose;
use crate::model::{DeformableBodyIndex, ModelInstanceIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_model::out_of_range;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::{Isometry3, Vector3};
use std::sync::Arc;
use tarragon_fem::{DeformableBodyConfig, FemModel, ForceDensityField};
use tarragon_geometry::{GeometryId, GeometryInstance, IllustrationProperties, SceneGraph};

impl MultibodyPlantBuilder {
    /// Adds a deformable body of the default model instance, as
    /// [`Self::register_deformable_body_in`] does.
    ///
    /// # Errors
    /// Returns the errors of [`Self::register_deformable_body_in`].
    pub fn register_deformable_body(
        &mut self,
        scene_graph: &mut SceneGraph,
        geometry: GeometryInstance,
        config: &DeformableBodyConfig,
        resolution_hint: f64,
    ) -> Result<DeformableBodyIndex> {
        let instance = ModelInstanceIndex::DEFAULT;
        self.register_deformable_body_in(scene_graph, instance, geometry, config, resolution_hint)
    }

    /// Adds a deformable body with its geometry, whose name and pose in the world are those of the
    /// body. The geometry is a sphere, divided by the resolution hint (m), or a mesh of tetrahedra
    /// from a `.vtk` file. Viewers show it in any case: without an illustration role, it gets one.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use tarragon_fem::DeformableBodyConfig;
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::{GeometryInstance, ProximityProperties, SceneGraph, Sphere};
    /// use tarragon_multibody::*;
    /// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01)?, SceneGraph::new());
    /// plant.register_as_source_for_scene_graph(&mut scene)?;
    /// let above = Isometry3::translation(0.0, 0.0, 1.0);
    /// let ball = GeometryInstance::new(above, Sphere::new(0.1)?, "ball")?
    ///     .with_proximity(ProximityProperties::new());
    /// let rubber = DeformableBodyConfig { youngs_modulus: 1e6, ..Default::default() };
    /// let ball = plant.register_deformable_body(&mut scene, ball, &rubber, 0.1)?;
    /// let mut b = DiagramBuilder::new();
    /// let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    /// let diagram = b.build()?;
    /// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.advance_to(0.1)?;
    /// let positions = plant.deformable_positions(sim.context(), ball)?;
    /// let lowest = positions.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    /// assert!((lowest - (0.9 - 9.81 * 0.1 * 0.1 / 2.0)).abs() < 1e-9); // it falls freely
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plant is continuous or not registered with this scene, if the model
    /// instance is unknown, if it has a deformable body of that name, or if shape, hint or material
    /// are unsuitable. The plant stays as it was.
    pub fn register_deformable_body_in(
        &mut self,
        scene_graph: &mut SceneGraph,
        instance: ModelInstanceIndex,
        mut geometry: GeometryInstance,
        config: &DeformableBodyConfig,
        resolution_hint: f64,
    ) -> Result<DeformableBodyIndex> {
        let name = geometry.name().to_owned();
        let place = || format!("deformable body '{name}'");
        self.check_instance(instance)?;
        if self.model.time_step == 0.0 {
            return Err(Error::unsupported(format!(
                "{}: the time step of the plant must be positive, got 0; deformable bodies move in \
                 discrete steps only",
                place()
            )));
        }
        config.check(&place())?;
        let is_same = |body: &DeformableBody| body.model_instance == instance && body.name == name;
        if self.model.deformables.iter().any(is_same) {
            return Err(Error::exists(format!(
                "{}: model instance '{}' has a deformable body of that name already; names must be \
                 unique within a model instance",
                place(),
                self.model.model_instances[instance.index()]
            )));
        }
        if instance > ModelInstanceIndex::DEFAULT {
            let model = &self.model.model_instances[instance.index()];
            geometry.set_name(&format!("{model}::{name}"))?;
        }
        if geometry.illustration_properties().is_none() {
            geometry.set_illustration_properties(IllustrationProperties::new());
        }
        let registration = self.registered()?;
        registration.check_scene(scene_graph)?;
        let (source, x_wg) = (registration.source, *geometry.pose());
        let mark = scene_graph.registration_mark();
        let world = scene_graph.world_frame_id();
        let id =
            scene_graph.register_deformable_geometry(source, world, geometry, resolution_hint)?;
        let mesh = scene_graph.model_inspector().reference_mesh(id)?;
        let tets: Vec<[u32; 4]> = mesh.tetrahedra().iter().map(|t| t.vertices()).collect();
        let local: Vec<Vector3<f64>> = mesh.vertices().to_vec();
        let in_world = |p: &Vector3<f64>| x_wg.transform_point(&(*p).into()).coords;
        let reference: Vec<Vector3<f64>> = local.iter().map(in_world).collect();
        let fem = FemModel::new(&place(), &reference, &tets, config);
        let fem = match fem {
            Ok(fem) => Arc::new(fem),
            Err(error) => {
                scene_graph.take_back(mark)?;
                return Err(error);
            }
        };
        let index = DeformableBodyIndex::new(self.model.deformables.len());
        self.model.deformables.push(DeformableBody {
            index,
            name,
            model_instance: instance,
            geometry: id,
            config: *config,
            fem,
            default_pose: x_wg,
            local_positions: local.into(),
            reference_positions: reference.into(),
            held: vec![],
            fixed: vec![],
            forces: vec![],
        });
        Ok(index)
    }

    /// Sets the pose in W that a deformable body starts with (Drake's `set_default_pose`),
    /// initially that of its geometry. Walls and fixed constraints still select vertices at the
    /// pose of the geometry.
    ///
    /// # Errors
    /// Returns an error if the body is unknown, or if the pose is not finite.
    pub fn set_default_deformable_body_pose(
        &mut self,
        body: DeformableBodyIndex,
        x_wd: Isometry3<f64>,
    ) -> Result<()> {
        self.model.set_default_deformable_pose(body, x_wd)
    }

    /// Adds a force density that acts on a deformable body, evaluated at the start of every step at
    /// the centroids of the tetrahedra or of the parts that the body's
    /// `element_subdivision_count` divides them into.
    ///
    /// # Errors
    /// Returns an error if the body is unknown.
    pub fn add_external_force(
        &mut self,
        body: DeformableBodyIndex,
        field: impl ForceDensityField + 'static,
    ) -> Result<()> {
        self.deformable_body(body)?;
        self.model.deformables[body.index()]
            .forces
            .push(Arc::new(field));
        Ok(())
    }
}

impl MultibodyPlant {
    /// Sets the pose in W that a deformable body starts with, as
    /// [`MultibodyPlantBuilder::set_default_deformable_body_pose`] does.
    ///
    /// # Errors
    /// Returns the same errors.
    pub fn set_default_deformable_body_pose(
        &mut self,
        body: DeformableBodyIndex,
        x_wd: Isometry3<f64>,
    ) -> Result<()> {
        self.model.set_default_deformable_pose(body, x_wd)
    }
}

impl MultibodyModel {
    fn set_default_deformable_pose(
        &mut self,
        body: DeformableBodyIndex,
        x_wd: Isometry3<f64>,
    ) -> Result<()> {
        let place = self.deformable_body(body)?.place();
        check_pose(|| format!("{place}: the default pose"), &x_wd)?;
        self.deformables[body.index()].default_pose = x_wd;
        Ok(())
    }

    /// Returns the deformable bodies, by index.
    pub fn deformable_bodies(&self) -> &[DeformableBody] {
        &self.deformables
    }

    /// Returns a deformable body.
    ///
    /// # Errors
    /// Returns an error if there is none with this index.
    pub fn deformable_body(&self, index: DeformableBodyIndex) -> Result<&DeformableBody> {
        let found = self.deformables.get(index.index());
        found.ok_or_else(|| out_of_range("deformable body", index.index()))
    }

    /// Returns the deformable body with a name in a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn deformable_body_by_name_in(
        &self,
        name: &str,
        instance: ModelInstanceIndex,
    ) -> Result<DeformableBodyIndex> {
        self.check_instance(instance)?;
        let mut bodies = self.deformables.iter();
        let found = bodies.find(|b| b.name == name && b.model_instance == instance);
        found.map(DeformableBody::index).ok_or_else(|| {
            Error::not_found(format!(
                "there is no deformable body '{name}' in model instance '{}'",
                self.model_instances[instance.index()]
            ))
        })
    }

    /// Returns the deformable body with a name, plain or scoped (`model::body`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn deformable_body_by_name(&self, name: &str) -> Result<DeformableBodyIndex> {
        let is_scoped = |body: &&DeformableBody| {
            let model = &self.model_instances[body.model_instance.index()];
            let rest = name.strip_prefix(model.as_str());
            rest.and_then(|rest| rest.strip_prefix("::")) == Some(&body.name)
        };
        if let Some(body) = self.deformables.iter().find(is_scoped) {
            return Ok(body.index);
        }
        let mut found = self.deformables.iter().filter(|body| body.name == name);
        match (found.next(), found.next()) {
            (Some(body), None) => Ok(body.index),
            (None, _) => Err(Error::not_found(format!(
                "there is no deformable body '{name}' in the plant"
            ))),
            (Some(_), Some(_)) => Err(Error::invalid(format!(
                "deformable body '{name}': the name must be unique, got several model instances \
                 with it; name the model instance"
            ))),
        }
    }

    /// Returns the deformable body that a geometry belongs to.
    pub fn deformable_body_from_geometry_id(&self, id: GeometryId) -> Option<DeformableBodyIndex> {
        let mut bodies = self.deformables.iter();
        bodies
            .find(|body| body.geometry == id)
            .map(|body| body.index)
    }
}
