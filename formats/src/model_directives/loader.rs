//! Execution of model directives.

use super::elements::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddWeld, MAX_DEPTH, MAX_FILES,
    ModelDirective, ModelDirectives, too_many,
};
use crate::model_file;
use crate::reading::format::ModelFormat;
use crate::reading::target::{ModelNaming, ParseTarget};
use crate::schema::Transform;
use crate::{Error, Result};
use nalgebra::Isometry3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tarragon_documents::names::scoped;
use tarragon_documents::yaml::{Placed, YamlError, read_yaml};
use tarragon_documents::{Diagnostic, ModelInput, read_file};
use tarragon_multibody::{
    BodyIndex, CollisionFilterGroupSpec, DeformableBodyIndex, FixedOffsetFrame, FrameIndex, Joint,
    ModelInstanceIndex, MultibodyPlantBuilder,
};

/// A model that was added by a directive (Drake's `ModelInstanceInfo`).
///
/// ```
/// use tarragon_formats::directives::{
///     ModelDirectives, ModelInstanceInfo, process_model_directives,
/// };
/// use tarragon_formats::Parser;
/// use tarragon_multibody::MultibodyPlantBuilder;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// let scene = ModelDirectives::from_yaml("directives: [{add_model_instance: {name: left}}]")?;
/// // Empty model instances are not listed.
/// let added: Vec<ModelInstanceInfo> = process_model_directives(&scene, &mut parser)?;
/// assert!(added.is_empty());
/// assert_eq!(plant.model_instance_names()[2], "left");
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInstanceInfo {
    /// Scoped name of the model instance.
    pub model_name: String,
    /// Path of the model file.
    pub model_path: PathBuf,
    /// Unscoped name of the frame to which the model is welded; empty if no directive welds it.
    pub parent_frame_name: String,
    /// Unscoped name of the welded frame of the model; empty if no directive welds it.
    pub child_frame_name: String,
    /// Pose of the child frame in the parent frame.
    pub x_pc: Isometry3<f64>,
    /// The model instance.
    pub model_instance: ModelInstanceIndex,
}

/// Executes the directives of a file.
pub(crate) fn parse(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let mut loader = DirectiveLoader {
        target,
        diagnostics,
        added: vec![],
        place_of: HashMap::new(),
        open: vec![],
        num_files: 0,
    };
    loader.read(input, naming);
    loader.added.iter().map(|m| m.model_instance).collect()
}

/// Executes directives.
pub(crate) fn add(
    directives: &ModelDirectives,
    scope: &str,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceInfo> {
    let mut loader = DirectiveLoader {
        target,
        diagnostics,
        added: vec![],
        place_of: HashMap::new(),
        open: vec![],
        num_files: 0,
    };
    let place = DirectiveContext {
        file: "<directives>",
        directory: None,
        scope,
    };
    for directive in &directives.directives {
        loader.add(directive, &place, (0, 0));
    }
    loader.added
}

struct DirectiveLoader<'a, 't> {
    target: &'a mut ParseTarget<'t>,
    diagnostics: &'a mut Vec<Diagnostic>,
    added: Vec<ModelInstanceInfo>,
    /// Index of each model in `added`.
    place_of: HashMap<ModelInstanceIndex, usize>,
    /// Included files that are being read, outermost first.
    open: Vec<PathBuf>,
    /// Number of included files of directives so far.
    num_files: usize,
}

/// Origin of a directive: its file, its directory and the scope around it.
struct DirectiveContext<'a> {
    file: &'a str,
    directory: Option<&'a Path>,
    /// Prefix of all names.
    scope: &'a str,
}

impl DirectiveLoader<'_, '_> {
    fn read(&mut self, input: &ModelInput<'_>, naming: &ModelNaming<'_>) {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Located {
            directives: Vec<Placed<ModelDirective>>,
        }
        let fail = |place: (u32, u32), message: String| Diagnostic {
            line: place.0,
            column: place.1,
            ..Diagnostic::of_file(input.file, message)
        };
        let text = match std::str::from_utf8(input.bytes) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("byte {} is not UTF-8", error.valid_up_to());
                self.diagnostics.push(fail((0, 0), message));
                return;
            }
        };
        if let Some(name) = naming.name {
            let message = format!(
                "model directives cannot be added as the model '{name}'; use add_directives"
            );
            self.diagnostics.push(fail((0, 0), message));
            return;
        }
        let located: Located = match read_yaml(text) {
            Ok(located) => located,
            Err(YamlError {
                line,
                column,
                message,
            }) => {
                self.diagnostics.push(fail((line, column), message));
                return;
            }
        };
        let place = DirectiveContext {
            file: input.file,
            directory: input.directory,
            scope: naming.scope,
        };
        for directive in located.directives {
            self.add(&directive.value, &place, directive.place);
        }
    }

    fn add(&mut self, directive: &ModelDirective, place: &DirectiveContext<'_>, at: (u32, u32)) {
        let (kind, result) = match directive {
            ModelDirective::AddModel(d) => ("add_model", self.add_model(d, place)),
            ModelDirective::AddModelInstance(d) => (
                "add_model_instance",
                self.add_model_instance(&d.name, place),
            ),
            ModelDirective::AddFrame(d) => ("add_frame", self.add_frame(d, place)),
            ModelDirective::AddWeld(d) => ("add_weld", self.add_weld(d, place)),
            ModelDirective::AddCollisionFilterGroup(d) => (
                "add_collision_filter_group",
                self.add_collision_filter_group(d, place),
            ),
            ModelDirective::AddDirectives(d) => ("add_directives", self.add_directives(d, place)),
        };
        if let Err(error) = result {
            self.diagnostics.push(Diagnostic {
                line: at.0,
                column: at.1,
                ..Diagnostic::of_file(place.file, format!("{kind}: {error}"))
            });
        }
    }

    /// Reads the file that a directive names; returns its path and content.
    fn open(&mut self, uri: &str, place: &DirectiveContext<'_>) -> Result<(PathBuf, Vec<u8>)> {
        let path = self.target.resolve(uri, place.directory);
        let path = path.map_err(Error::invalid)?;
        let bytes = read_file(&path).map_err(|e| Error::io(&path, e))?;
        self.target.packages.include_upstream(&path);
        Ok((path, bytes))
    }

    fn add_model(&mut self, d: &AddModel, place: &DirectiveContext<'_>) -> Result<()> {
        let (path, bytes) = self.open(&d.file, place)?;
        let format = ModelFormat::of_file(&path)?;
        if format == ModelFormat::ModelDirectives {
            return Err(Error::invalid(format!(
                "'{}' must be a model file, got model directives; use add_directives",
                d.file
            )));
        }
        let before = self.diagnostics.len();
        let input = ModelInput {
            file: &path.display().to_string(),
            bytes: &bytes,
            directory: path.parent(),
            origins: None,
        };
        // A scope in the name extends the scope around the directive.
        let (scope, name) = match d.name.rsplit_once("::") {
            Some((model, name)) => (scoped(place.scope, model), name),
            None => (place.scope.to_string(), &*d.name),
        };
        let naming = ModelNaming {
            name: Some(name),
            scope: &scope,
        };
        let num_bodies = self.target.plant.num_bodies();
        let models = model_file::parse(format, &input, &naming, self.target, self.diagnostics);
        let Some(model) = models.first().copied() else {
            // Errors were reported already; without one, the file holds no model.
            let said = self.diagnostics[before..].iter().any(Diagnostic::is_error);
            return if said {
                Ok(())
            } else {
                Err(Error::invalid(format!("'{}' holds no model", d.file)))
            };
        };
        let plant = &mut *self.target.plant;
        for model in models {
            self.place_of.insert(model, self.added.len());
            self.added.push(ModelInstanceInfo {
                model_name: plant.model_instance_name(model)?.to_string(),
                model_path: path.clone(),
                parent_frame_name: String::new(),
                child_frame_name: String::new(),
                x_pc: Isometry3::identity(),
                model_instance: model,
            });
        }
        // An element of a nested model, or of a model of a world, is named `MODEL::ELEMENT`.
        let own_name = scoped(&scope, name);
        let split = |plant: &MultibodyPlantBuilder, name: &str| match name.rsplit_once("::") {
            Some((inner, name)) => {
                let inner = plant.model_instance_by_name(&scoped(&own_name, inner))?;
                Ok::<_, Error>((inner, name.to_owned()))
            }
            None => Ok((model, name.to_owned())),
        };
        for (joint, q) in &d.default_joint_positions {
            let (model, joint) = split(plant, joint)?;
            let joint = plant.joint_by_name_in(&joint, model)?;
            plant.set_default_joint_positions(joint, q)?;
        }
        for (frame, pose) in &d.default_free_body_pose {
            let (model, frame) = split(plant, frame)?;
            if let Ok(body) = plant.deformable_body_by_name_in(&frame, model) {
                place_deformable(plant, body, pose)?;
                continue;
            }
            let frame = match &*frame {
                "" => plant
                    .body(only_base_body(plant, model, num_bodies)?)?
                    .body_frame(),
                name => plant.frame_by_name_in(name, model)?,
            };
            let base = match &pose.base_frame {
                Some(base) => frame_named(plant, base, place.scope)?,
                None => FrameIndex::WORLD,
            };
            place_free_body(plant, base, frame, pose)?;
        }
        Ok(())
    }

    fn add_model_instance(&mut self, name: &str, place: &DirectiveContext<'_>) -> Result<()> {
        let name = scoped(place.scope, name);
        self.target.plant.add_model_instance(&name)?;
        Ok(())
    }

    fn add_frame(&mut self, d: &AddFrame, place: &DirectiveContext<'_>) -> Result<()> {
        let plant = &mut *self.target.plant;
        let Some(base) = &d.x_pf.base_frame else {
            return Err(Error::invalid(format!(
                "frame '{}': X_PF must name its base_frame",
                d.name
            )));
        };
        let base = plant.frame(frame_named(plant, base, place.scope)?)?;
        let x_bf = base.pose_in_body() * pose_of(&d.x_pf)?;
        let (instance, name) = match d.name.rsplit_once("::") {
            Some((model, name)) => {
                let model = plant.model_instance_by_name(&scoped(place.scope, model))?;
                (model, name)
            }
            None => (base.model_instance(), &*d.name),
        };
        let frame = FixedOffsetFrame::new(name, base.body(), x_bf).with_model_instance(instance);
        plant.add_frame(frame)?;
        Ok(())
    }

    fn add_weld(&mut self, d: &AddWeld, place: &DirectiveContext<'_>) -> Result<()> {
        let plant = &mut *self.target.plant;
        let parent = frame_named(plant, &d.parent, place.scope)?;
        let child = frame_named(plant, &d.child, place.scope)?;
        let x_pc = match &d.x_pc {
            Some(pose) if pose.base_frame.is_some() => {
                return Err(Error::invalid(
                    "X_PC must not have a base_frame: its base is the parent frame; remove \
                     base_frame",
                ));
            }
            Some(pose) => pose_of(pose)?,
            None => Isometry3::identity(),
        };
        plant.weld_frames(parent, child, x_pc)?;
        let (parent, child) = (plant.frame(parent)?, plant.frame(child)?);
        let model = child.model_instance();
        let place = self.place_of.get(&model).copied();
        if let Some(info) = place.and_then(|i| self.added.get_mut(i)) {
            info.parent_frame_name = parent.name().into();
            info.child_frame_name = child.name().into();
            info.x_pc = x_pc;
        }
        Ok(())
    }

    fn add_collision_filter_group(
        &mut self,
        d: &AddCollisionFilterGroup,
        place: &DirectiveContext<'_>,
    ) -> Result<()> {
        let inner = d.model_namespace.as_deref();
        let scope = inner.map_or(place.scope.to_string(), |ns| scoped(place.scope, ns));
        let name = |name: &String| scoped(&scope, name);
        let plant = &*self.target.plant;
        let (mut members, mut deformables) = (vec![], vec![]);
        for name in &d.members {
            let name = scoped(&scope, name);
            match plant.deformable_body_by_name(&name) {
                Ok(body) => deformables.push(body),
                Err(_) => members.push(plant.body_by_name(&name)?),
            }
        }
        let group = CollisionFilterGroupSpec {
            name: name(&d.name),
            members,
            deformables,
            member_groups: d.member_groups.iter().map(name).collect(),
            ignored: d.ignored_collision_filter_groups.iter().map(name).collect(),
        };
        self.target.add_collision_filter_group(group);
        Ok(())
    }

    fn add_directives(&mut self, d: &AddDirectives, place: &DirectiveContext<'_>) -> Result<()> {
        let scope = match &d.model_namespace {
            None => place.scope.to_string(),
            Some(namespace) => {
                let scope = scoped(place.scope, namespace);
                self.target.plant.model_instance_by_name(&scope)?;
                scope
            }
        };
        self.num_files += 1;
        if self.open.len() >= MAX_DEPTH || self.num_files > MAX_FILES {
            return Err(too_many(&d.file));
        }
        let (path, bytes) = self.open(&d.file, place)?;
        if self.open.contains(&path) {
            return Err(too_many(&d.file));
        }
        if ModelFormat::of_file(&path)? != ModelFormat::ModelDirectives {
            return Err(Error::invalid(format!(
                "'{}' must hold model directives, got a model file; use add_model",
                d.file
            )));
        }
        self.open.push(path.clone());
        let input = ModelInput {
            file: &path.display().to_string(),
            bytes: &bytes,
            directory: path.parent(),
            origins: None,
        };
        let naming = ModelNaming {
            name: None,
            scope: &scope,
        };
        self.read(&input, &naming);
        self.open.pop();
        Ok(())
    }
}

/// Returns the only body of a model that is not the child of a joint. All bodies of the model have
/// indices of at least `start`.
fn only_base_body(
    plant: &MultibodyPlantBuilder,
    model: ModelInstanceIndex,
    start: usize,
) -> Result<BodyIndex> {
    let own = (start..plant.num_bodies()).map(BodyIndex::new);
    let own = own.filter(|i| plant[*i].model_instance() == model);
    let bases: Vec<BodyIndex> = own.filter(|i| !plant.is_child(*i)).collect();
    match bases[..] {
        [body] => Ok(body),
        _ => Err(Error::invalid(format!(
            "default_free_body_pose: an empty name stands for the only free body of a model, but \
             model '{}' has {} free bodies; name one of them",
            plant.model_instance_name(model)?,
            bases.len()
        ))),
    }
}

fn pose_of(pose: &Transform) -> Result<Isometry3<f64>> {
    pose.pose().map_err(Error::invalid)
}

/// Returns the frame with a name in a scope; `world` is the world frame in every scope.
fn frame_named(plant: &MultibodyPlantBuilder, name: &str, scope: &str) -> Result<FrameIndex> {
    match name {
        "world" => Ok(FrameIndex::WORLD),
        name => plant.frame_by_name(&scoped(scope, name)),
    }
}

/// Sets the default pose of a deformable body in the world.
fn place_deformable(
    plant: &mut MultibodyPlantBuilder,
    body: DeformableBodyIndex,
    pose: &Transform,
) -> Result<()> {
    if let Some(base) = pose.base_frame.as_deref().filter(|base| *base != "world") {
        return Err(Error::invalid(format!(
            "default_free_body_pose: base_frame of deformable body '{}' must be world, got '{base}'",
            plant.deformable_body(body)?.name()
        )));
    }
    plant.set_default_deformable_body_pose(body, pose_of(pose)?)
}

/// Sets the default pose of a frame of a free body in another frame. If it is the body's own frame
/// and the other one is the world, the body stays free; otherwise it gets a floating joint.
fn place_free_body(
    plant: &mut MultibodyPlantBuilder,
    base: FrameIndex,
    frame: FrameIndex,
    pose: &Transform,
) -> Result<()> {
    let x = pose_of(pose)?;
    let found = plant.frame(frame)?;
    let body = found.body();
    if base == FrameIndex::WORLD && plant.body(body)?.body_frame() == frame {
        return plant.set_default_free_body_pose(body, x);
    }
    let parent: BodyIndex = plant.frame(base)?.body();
    let (name, instance) = (plant.body(body)?.name().to_string(), found.model_instance());
    let (r, p) = (x.rotation, x.translation.vector);
    let joint = Joint::quaternion_floating(name, parent, body)
        .with_frame_on_parent(base)
        .with_frame_on_child(frame)
        .with_model_instance(instance)
        .with_default_positions(vec![r.w, r.i, r.j, r.k, p.x, p.y, p.z])?;
    plant.add_joint(joint)?;
    Ok(())
}
