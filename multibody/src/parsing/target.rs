//! What parsers add models to.

use super::input::scoped;
use super::package_map::PackageMap;
use crate::error::Result;
use crate::geometry_registration::VisualProperties;
use crate::index::{BodyIndex, ModelInstanceIndex};
use crate::plant::MultibodyPlant;
use nalgebra::Isometry3;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tarragon_framework::warnings::collect;
use tarragon_geometry::{ProximityProperties, SceneGraph, Shape};

/// A named set of bodies of a model file, by names; resolved when all models of a load are there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FilterGroup {
    /// Scoped name.
    pub(crate) name: String,
    /// Bodies.
    pub(crate) members: Vec<BodyIndex>,
    /// Scoped names of groups whose members are members of this one.
    pub(crate) member_groups: Vec<String>,
    /// Scoped names of the groups that are not tested against this one.
    pub(crate) ignored: Vec<String>,
}

/// The plant and the scene that models are added to, and where their files are.
pub(crate) struct Target<'a> {
    pub(crate) plant: &'a mut MultibodyPlant,
    pub(super) scene_graph: Option<&'a mut SceneGraph>,
    pub(crate) packages: &'a mut PackageMap,
    pub(super) auto_renaming: bool,
    pub(super) filter_groups: Vec<FilterGroup>,
}

impl Target<'_> {
    /// Whether geometry is wanted; its files need not exist otherwise.
    pub(crate) fn has_scene(&self) -> bool {
        self.scene_graph.is_some()
    }

    /// Adds a model instance `scope::name`; where the name is taken and automatic renaming is on,
    /// it gets a number.
    pub(crate) fn add_model_instance(
        &mut self,
        scope: &str,
        name: &str,
    ) -> Result<ModelInstanceIndex> {
        let base = scoped(scope, name);
        let mut name = base.clone();
        if self.auto_renaming {
            let taken: HashSet<&str> = self.plant.model_instances.iter().map(|m| &**m).collect();
            let mut subscript = 0;
            while taken.contains(&*name) {
                subscript += 1;
                name = format!("{base}_{subscript}");
            }
        }
        self.plant.add_model_instance(&name)
    }

    /// Adds a visual geometry, named `{model}::{name}`, if there is a scene. Returns what is
    /// missing from its pictures.
    pub(crate) fn register_visual(
        &mut self,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: Shape,
        name: &str,
        properties: VisualProperties,
    ) -> Result<Vec<String>> {
        let Some(scene) = self.scene_graph.as_deref_mut() else {
            return Ok(vec![]);
        };
        let (plant, x) = (&mut *self.plant, x_bg);
        let register = || plant.register_visual_geometry(scene, body, x, shape, name, properties);
        let (registered, warnings) = collect(register);
        registered.map(|_| warnings)
    }

    /// Adds a collision geometry, named `{model}::{name}`, if there is a scene.
    pub(crate) fn register_collision(
        &mut self,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: Shape,
        name: &str,
        properties: ProximityProperties,
    ) -> Result<()> {
        if let Some(scene_graph) = self.scene_graph.as_deref_mut() {
            self.plant.register_collision_geometry(
                scene_graph,
                body,
                x_bg,
                shape,
                name,
                properties,
            )?;
        }
        Ok(())
    }

    /// Adds a set of bodies that collision filters speak of.
    pub(crate) fn add_collision_filter_group(&mut self, group: FilterGroup) {
        self.filter_groups.push(group);
    }

    /// The file that a URI, or a path relative to `directory`, stands for.
    pub(crate) fn resolve(&self, uri: &str, directory: Option<&Path>) -> Result<PathBuf, String> {
        resolve(self.packages, uri, directory)
    }
}

/// The file that a URI, or a path relative to the model file's directory, stands for.
pub(super) fn resolve(
    packages: &PackageMap,
    uri: &str,
    directory: Option<&Path>,
) -> Result<PathBuf, String> {
    let path = if uri.contains("://") {
        packages.resolve_url(uri).map_err(|e| e.to_string())?
    } else if let Some(directory) = directory {
        directory.join(uri)
    } else if Path::new(uri).is_absolute() {
        uri.into()
    } else {
        return Err(format!(
            "'{uri}' is relative to the model file, but the model was given as text; use package:// or \
             file://"
        ));
    };
    if path.is_file() {
        return Ok(path);
    }
    let hint = match uri.contains("://") {
        true => "correct the name or the parser's package map",
        false => "names without package:// are relative to the model file; correct the name",
    };
    Err(format!(
        "'{uri}' resolves to '{}', which does not exist; {hint}",
        path.display()
    ))
}
