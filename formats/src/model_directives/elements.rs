//! Model directives as data, from and to YAML.

use crate::schema::Transform;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_saphyr::ser_options;
use std::collections::BTreeMap;
use std::path::Path;
use tarragon_documents::read_file;
use tarragon_documents::yaml::read_yaml;
use tarragon_framework::FileLocation;

/// List of directives that are executed in order (Drake's `ModelDirectives`).
///
/// ```
/// use tarragon_formats::directives::ModelDirectives;
/// let scene = ModelDirectives::from_yaml("
/// directives:
/// - add_model_instance: {name: table_top}
/// - add_frame: {name: table_top::center, X_PF: {base_frame: world, translation: [0, 0, 0.7]}}
/// ")?;
/// assert_eq!(scene.directives.len(), 2);
/// assert_eq!(ModelDirectives::from_yaml(&scene.to_yaml()?)?, scene);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelDirectives {
    /// The directives.
    pub directives: Vec<ModelDirective>,
}

/// One directive (Drake's `ModelDirective`).
///
/// ```
/// use tarragon_formats::directives::{AddModelInstance, ModelDirective, ModelDirectives};
/// let directive = ModelDirective::AddModelInstance(AddModelInstance { name: "left".into() });
/// let text = ModelDirectives { directives: vec![directive] }.to_yaml()?;
/// assert!(text.contains("add_model_instance"));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelDirective {
    /// Adds the model of a file.
    AddModel(AddModel),
    /// Adds an empty model instance.
    AddModelInstance(AddModelInstance),
    /// Adds a frame.
    AddFrame(AddFrame),
    /// Welds two frames.
    AddWeld(AddWeld),
    /// Adds a collision filter group.
    AddCollisionFilterGroup(AddCollisionFilterGroup),
    /// Executes another file of directives.
    AddDirectives(AddDirectives),
}

/// Adds the model of a file under a name.
///
/// The file may also be an SDFormat world, which Drake refuses here. The name then becomes the
/// scope of its models: if a world is added as `lab`, its model `table` becomes `lab::table`. The
/// default positions and poses name an element of a nested model, or of a model of a world,
/// together with that model: `table::top`.
///
/// ```
/// use tarragon_formats::directives::AddModel;
/// let arm = AddModel { file: "package://lab/arm.urdf".into(), ..AddModel::new("left_arm") };
/// assert!(arm.default_joint_positions.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddModel {
    /// URL of the file, or its name relative to the file of directives.
    pub file: String,
    /// Name of the model instance.
    pub name: String,
    /// Default positions by joint name (rad or m).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub default_joint_positions: BTreeMap<String, Vec<f64>>,
    /// Default poses by the name of a body or a frame of the model; an empty name stands for the
    /// model's only free body. A pose in a frame other than the world gives the body a floating
    /// joint to the body of that frame.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub default_free_body_pose: BTreeMap<String, Transform>,
}

impl AddModel {
    /// Creates a directive that adds a model with a name; its file is still empty.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            name: name.into(),
            default_joint_positions: BTreeMap::new(),
            default_free_body_pose: BTreeMap::new(),
        }
    }
}

/// Adds an empty model instance.
///
/// ```
/// use tarragon_formats::directives::AddModelInstance;
/// assert_eq!(AddModelInstance { name: "left".into() }.name, "left");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddModelInstance {
    /// Name of the model instance.
    pub name: String,
}

/// Adds a frame.
///
/// ```
/// use tarragon_formats::{directives::AddFrame, schema::Transform};
/// let on = Transform { base_frame: Some("arm::hand".into()), ..Transform::default() };
/// assert_eq!(AddFrame { name: "grasp".into(), x_pf: on }.name, "grasp");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddFrame {
    /// Name of the frame. A scope selects the model instance, which is otherwise that of the base
    /// frame.
    pub name: String,
    /// Pose of the frame in its base frame, which must be given.
    #[serde(rename = "X_PF")]
    pub x_pf: Transform,
}

/// Welds a child frame to a parent frame.
///
/// ```
/// use tarragon_formats::directives::AddWeld;
/// let weld = AddWeld { parent: "world".into(), child: "arm::base".into(), x_pc: None };
/// assert!(weld.x_pc.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddWeld {
    /// Scoped name of the parent frame.
    pub parent: String,
    /// Scoped name of the child frame.
    pub child: String,
    /// Pose of the child frame in the parent frame, the identity if not given.
    #[serde(rename = "X_PC", default, skip_serializing_if = "Option::is_none")]
    pub x_pc: Option<Transform>,
}

/// Adds a named group of bodies for collision filtering.
///
/// ```
/// use tarragon_formats::directives::AddCollisionFilterGroup;
/// let group = AddCollisionFilterGroup { name: "hand".into(), ..Default::default() };
/// assert!(group.members.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddCollisionFilterGroup {
    /// Name of the group.
    pub name: String,
    /// Scope of the names of this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_namespace: Option<String>,
    /// Names of bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Names of groups whose members also belong to this group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member_groups: Vec<String>,
    /// Names of groups that are not tested against this one; the group's own name excludes
    /// collisions within the group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_collision_filter_groups: Vec<String>,
}

/// Executes another file of directives.
///
/// ```
/// use tarragon_formats::directives::AddDirectives;
/// let more = AddDirectives { file: "package://lab/bin.dmd.yaml".into(), model_namespace: None };
/// assert!(more.file.ends_with(".dmd.yaml"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddDirectives {
    /// URL of the file, or its name relative to this file of directives.
    pub file: String,
    /// Scope of all names in that file; a model instance with this name must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_namespace: Option<String>,
}

/// Maximum depth of nested files of directives.
pub(super) const MAX_DEPTH: usize = 32;
/// Maximum number of files of directives: if each file includes the next one twice, they are read
/// 2, 4, 8, ... times.
pub(super) const MAX_FILES: usize = 1000;

/// Returns the error about a file of directives that exceeds the limits.
pub(super) fn too_many(file: &str) -> Error {
    Error::invalid(format!(
        "'{file}' includes itself, or there are more than {MAX_FILES} files of directives, or they \
         are nested deeper than {MAX_DEPTH}"
    ))
}

fn location(file: String, (line, column): (u32, u32)) -> FileLocation {
    FileLocation { file, line, column }
}

impl ModelDirectives {
    /// Reads a YAML text.
    ///
    /// # Errors
    /// Returns an error if the text is not valid YAML of this schema; the message gives line and
    /// column.
    pub fn from_yaml(text: &str) -> Result<Self> {
        read_yaml(text).map_err(|e| {
            let file = "model directives".into();
            Error::parse(location(file, (e.line, e.column)), e.message)
        })
    }

    /// Reads a YAML file (Drake's `LoadModelDirectives`).
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is larger than 256 MiB, or in the cases of
    /// [`Self::from_yaml`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_file(path).map_err(|e| Error::io(path, e))?;
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            let message = format!("byte {} is not UTF-8", e.valid_up_to());
            let file = path.display().to_string();
            Error::parse(location(file, (0, 0)), format!("error: {message}"))
        })?;
        read_yaml(text).map_err(|e| {
            let file = path.display().to_string();
            let message = format!("error: {}", e.message);
            Error::parse(location(file, (e.line, e.column)), message)
        })
    }

    /// Writes the directives as YAML.
    ///
    /// # Errors
    /// Returns an error if a number cannot be written.
    pub fn to_yaml(&self) -> Result<String> {
        let options = ser_options! { compact_list_indent: true, yaml_12: false };
        let text = serde_saphyr::to_string_with_options(self, options);
        text.map_err(|e| Error::invalid("model directives cannot be written").with_cause(e))
    }
}
