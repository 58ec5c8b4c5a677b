//! Formats of model files.

use crate::error::{Error, Result};
use std::path::Path;

/// Format of a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelFormat {
    Urdf,
    Sdf,
    Mjcf,
    ModelDirectives,
    Obj,
    /// Macros from which a model in another format is made.
    Xacro,
}

/// All suffixes, for messages.
const SUFFIXES: &str = ".urdf, .sdf, .xml, .xacro, .dmd.yaml or .obj";

impl ModelFormat {
    /// Determines the format from the suffix of a file.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let suffix = name.split_once('.').map_or("", |(_, s)| s);
        let last = suffix.rsplit_once('.').map_or(suffix, |(_, s)| s);
        let format = match suffix.to_lowercase().ends_with("dmd.yaml") {
            true => "dmd.yaml",
            false => last,
        };
        Self::of_name(&path.display().to_string(), format)
    }
    /// Determines the format from its name; `what` names the text or file in the error message.
    pub(crate) fn of_name(what: &str, name: &str) -> Result<Self> {
        match &*name.to_lowercase() {
            "urdf" => Ok(Self::Urdf),
            "sdf" => Ok(Self::Sdf),
            "xml" => Ok(Self::Mjcf),
            "dmd.yaml" => Ok(Self::ModelDirectives),
            "obj" => Ok(Self::Obj),
            "xacro" => Ok(Self::Xacro),
            other => Err(Error::invalid(format!(
                "{what}: the suffix must be {SUFFIXES}, got '.{other}'"
            ))),
        }
    }
    /// Determines the format from the name of the root element.
    pub(crate) fn of_root(tag: &str) -> Option<Self> {
        match tag {
            "robot" => Some(Self::Urdf),
            "sdf" => Some(Self::Sdf),
            "mujoco" => Some(Self::Mjcf),
            _ => None,
        }
    }
    /// Returns true if an SDFormat file may include models of this format.
    pub(crate) fn can_be_included(self) -> bool {
        matches!(self, Self::Urdf | Self::Sdf | Self::Mjcf)
    }
}
