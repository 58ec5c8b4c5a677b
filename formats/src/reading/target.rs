//! The plant and the scene that parsers add models to.

use super::mjcf_semantics::MjcfSemantics;
use super::model_options::ModelOptions;
use super::parser_packages::ParserPackages;
use crate::{Error, Result};
use nalgebra::Isometry3;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tarragon_documents::names::scoped;
use tarragon_fem::DeformableBodyConfig;
use tarragon_framework::warnings::collect;
use tarragon_geometry::render::CubeMap;
use tarragon_geometry::{
    Bone, GeometryId, GeometryInstance, Mesh, MeshSource, ProximityProperties, SceneGraph, Shape,
    Skin,
};
use tarragon_multibody::{
    BodyIndex, CollisionFilterGroupSpec, DeformableBodyIndex, ModelInstanceIndex,
    MultibodyPlantBuilder, VisualProperties,
};

/// Name and scope that the caller gives to a model.
#[derive(Clone, Copy, Default)]
pub(crate) struct ModelNaming<'a> {
    /// Name that replaces the one in the file.
    pub(crate) name: Option<&'a str>,
    /// Prefix of all names of model instances, without the `::`; may be empty.
    pub(crate) scope: &'a str,
}

/// Makes or reads the images of a skybox. The error is a message.
pub(crate) type SkyboxImages = Box<dyn Fn() -> Result<CubeMap, String> + Send + Sync>;

/// A body that vertices of a skin follow.
pub(crate) struct BodyBone {
    pub(crate) body: BodyIndex,
    /// Pose in the world at which it was bound.
    pub(crate) x_wb: Isometry3<f64>,
    /// Vertices with their weights.
    pub(crate) weights: Vec<(u32, f64)>,
}

/// The plant and the scene that models are added to, and the packages that hold their files.
pub(crate) struct ParseTarget<'a> {
    pub(crate) plant: &'a mut MultibodyPlantBuilder,
    pub(crate) scene_graph: Option<&'a mut SceneGraph>,
    pub(crate) packages: &'a mut ParserPackages,
    pub(crate) auto_renaming: bool,
    /// Whether geometry with meshes is added, see [`Parser::set_mesh_geometry`].
    ///
    /// [`Parser::set_mesh_geometry`]: crate::parser::Parser::set_mesh_geometry
    pub(crate) mesh_geometry: bool,
    pub(crate) mjcf_semantics: MjcfSemantics,
    /// Values of the arguments of xacro files.
    pub(crate) xacro_arguments: &'a BTreeMap<String, String>,
    /// Files that xacro files were made from.
    pub(crate) xacro_files: &'a RefCell<BTreeSet<PathBuf>>,
    pub(crate) filter_groups: Vec<CollisionFilterGroupSpec>,
    /// The first skybox.
    pub(crate) skybox: Option<SkyboxImages>,
    pub(crate) options: ModelOptions,
}

impl ParseTarget<'_> {
    /// Returns true if geometry is read; otherwise its files need not exist.
    pub(crate) fn has_scene(&self) -> bool {
        self.scene_graph.is_some()
    }

    /// Returns true if geometry of this shape is left out.
    pub(crate) fn leaves_out(&self, shape: &Shape) -> bool {
        !self.mesh_geometry && matches!(shape, Shape::Mesh(_) | Shape::Convex(_))
    }

    /// Adds a model instance `scope::name`. If the name is taken and automatic renaming is on, a
    /// number is appended.
    pub(crate) fn add_model_instance(
        &mut self,
        scope: &str,
        name: &str,
    ) -> Result<ModelInstanceIndex> {
        let base = scoped(scope, name);
        let name = if self.auto_renaming {
            self.plant.free_instance_name(base)
        } else {
            base
        };
        self.plant.add_model_instance(&name)
    }

    /// Adds a visual geometry, named `{model}::{name}`, if there is a scene. Returns the warnings
    /// of the registration.
    pub(crate) fn register_visual(
        &mut self,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: Shape,
        name: &str,
        properties: VisualProperties,
    ) -> Result<Vec<String>> {
        if self.leaves_out(&shape) {
            return Ok(vec![]);
        }
        let Some(scene) = self.scene_graph.as_deref_mut() else {
            return Ok(vec![]);
        };
        let (plant, x) = (&mut *self.plant, x_bg);
        let register = || plant.register_visual_geometry(scene, body, x, shape, name, properties);
        let (registered, warnings) = collect(register);
        registered.map(|_| warnings)
    }

    /// Adds a collision geometry, named `{model}::{name}`, if there is a scene. Returns it with the
    /// warnings of the registration.
    pub(crate) fn register_collision(
        &mut self,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: Shape,
        name: &str,
        properties: ProximityProperties,
    ) -> Result<(Option<GeometryId>, Vec<String>)> {
        if self.leaves_out(&shape) {
            return Ok((None, vec![]));
        }
        let Some(scene) = self.scene_graph.as_deref_mut() else {
            return Ok((None, vec![]));
        };
        let plant = &mut *self.plant;
        let register =
            || plant.register_collision_geometry(scene, body, x_bg, shape, name, properties);
        let (added, warnings) = collect(register);
        added.map(|id| (Some(id), warnings))
    }

    /// Adds a deformable body with its geometry. Returns it with the warnings of the registration.
    pub(crate) fn register_deformable(
        &mut self,
        instance: ModelInstanceIndex,
        geometry: GeometryInstance,
        config: &DeformableBodyConfig,
        hint: f64,
    ) -> Result<(DeformableBodyIndex, Vec<String>)> {
        let Some(scene) = self.scene_graph.as_deref_mut() else {
            return Err(Error::state("a deformable body needs a scene"));
        };
        let plant = &mut *self.plant;
        let register =
            || plant.register_deformable_body_in(scene, instance, geometry, config, hint);
        let (registered, warnings) = collect(register);
        registered.map(|body| (body, warnings))
    }

    /// Adds a skin of a model instance, named `{model}::{name}`, which is moved along its normals
    /// by `inflation` (m), if there is a scene. Returns the warnings of the registration.
    pub(crate) fn register_skin(
        &mut self,
        (instance, name): (ModelInstanceIndex, &str),
        mesh: Mesh,
        bones: Vec<BodyBone>,
        inflation: f64,
        properties: VisualProperties,
    ) -> Result<Vec<String>> {
        let Some(scene) = self.scene_graph.as_deref_mut() else {
            return Ok(vec![]);
        };
        let plant = &mut *self.plant;
        let mut placed = vec![];
        for bone in bones {
            placed.push(Bone {
                frame: plant.ensure_frame(scene, bone.body)?,
                x_wf: bone.x_wb,
                weights: bone.weights,
            });
        }
        let skin = Skin::new(placed).with_inflation(inflation)?;
        let name = scoped(plant.model_instance_name(instance)?, name);
        let mut geometry = GeometryInstance::new(Isometry3::identity(), mesh, &name)?;
        if let Some(illustration) = properties.illustration {
            geometry = geometry.with_illustration(illustration);
        }
        if let Some(perception) = properties.perception {
            geometry = geometry.with_perception(perception);
        }
        let Some(source) = plant.source_id() else {
            return Err(Error::state(
                "a skin needs a plant that is registered with its scene",
            ));
        };
        let (registered, warnings) = collect(|| scene.register_skin(source, geometry, skin));
        registered?;
        Ok(warnings)
    }

    /// Adds a group of bodies for collision filtering.
    pub(crate) fn add_collision_filter_group(&mut self, group: CollisionFilterGroupSpec) {
        self.filter_groups.push(group);
    }

    /// Resolves a URI, or a path relative to `directory`, to a file.
    pub(crate) fn resolve(&self, uri: &str, directory: Option<&Path>) -> Result<PathBuf, String> {
        self.packages.resolve_file(uri, directory)
    }
    /// Returns the source of a mesh file, whose materials may refer to packages.
    pub(crate) fn mesh_source(&self, path: PathBuf) -> MeshSource {
        self.packages.mesh_source(path)
    }
}
