//! Formats of model files.

use crate::error::{Error, Result};
use std::fmt::Display;
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

/// The formats by their names.
const FORMATS: [(&str, ModelFormat); 7] = [
    ("urdf", ModelFormat::Urdf),
    ("sdf", ModelFormat::Sdf),
    ("world", ModelFormat::Sdf),
    ("xml", ModelFormat::Mjcf),
    ("dmd.yaml", ModelFormat::ModelDirectives),
    ("obj", ModelFormat::Obj),
    ("xacro", ModelFormat::Xacro),
];

/// All suffixes, for messages.
const SUFFIXES: &str = ".urdf, .sdf, .world, .xml, .xacro, .dmd.yaml or .obj";

impl ModelFormat {
    /// Determines the format from the suffix of a file.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let suffix = name.split_once('.').map_or("", |(_, s)| s);
        let last = suffix.rsplit_once('.').map_or(suffix, |(_, s)| s);
        let directives = suffix.len().checked_sub("dmd.yaml".len());
        let directives = directives.and_then(|start| suffix.get(start..));
        let format = match directives.filter(|end| end.eq_ignore_ascii_case("dmd.yaml")) {
            Some(_) => "dmd.yaml",
            None => last,
        };
        Self::of_name(path.display(), format)
    }
    /// Determines the format from its name; `what` names the text or file in the error message.
    pub(crate) fn of_name(what: impl Display, name: &str) -> Result<Self> {
        let known = FORMATS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        known.map(|(_, format)| *format).ok_or_else(|| {
            let name = name.to_lowercase();
            Error::invalid(format!(
                "{what}: the suffix must be {SUFFIXES}, got '.{name}'"
            ))
        })
    }
    /// Determines the format from the name of the root element.
    pub(crate) fn of_root(tag: &str) -> Option<Self> {
        match tag {
            "robot" => Some(Self::Urdf),
            "sdf" | "gazebo" => Some(Self::Sdf),
            "mujoco" => Some(Self::Mjcf),
            _ => None,
        }
    }
    /// Returns true if an SDFormat file may include models of this format.
    pub(crate) fn can_be_included(self) -> bool {
        matches!(self, Self::Urdf | Self::Sdf | Self::Mjcf)
    }
}
