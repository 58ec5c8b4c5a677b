//! Formats of model files.

use crate::{Error, Result};
use std::fmt::Display;
use std::path::Path;

/// Lists suffixes for messages: ".a, .b or .c".
fn any_suffix(suffixes: &[&str]) -> String {
    let dotted: Vec<String> = suffixes.iter().map(|s| format!(".{s}")).collect();
    match &*dotted {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        all => all.concat(),
    }
}

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

/// Suffixes of model files, without the dot before them.
///
/// ```
/// assert!(tarragon_formats::MODEL_SUFFIXES.contains(&"urdf"));
/// ```
pub const MODEL_SUFFIXES: [&str; 8] = [
    "urdf", "sdf", "world", "xml", "mjcf", "xacro", "dmd.yaml", "obj",
];

/// Formats of [`MODEL_SUFFIXES`].
const FORMATS: [ModelFormat; MODEL_SUFFIXES.len()] = [
    ModelFormat::Urdf,
    ModelFormat::Sdf,
    ModelFormat::Sdf,
    ModelFormat::Mjcf,
    ModelFormat::Mjcf,
    ModelFormat::Xacro,
    ModelFormat::ModelDirectives,
    ModelFormat::Obj,
];

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
        let mut formats = MODEL_SUFFIXES.iter().zip(FORMATS);
        let known = formats.find(|(suffix, _)| suffix.eq_ignore_ascii_case(name));
        known.map(|(_, format)| format).ok_or_else(|| {
            let (lower, suffixes) = (name.to_lowercase(), any_suffix(&MODEL_SUFFIXES));
            match name.strip_prefix('.') {
                Some(bare) => Error::invalid(format!(
                    "{what}: the format must be a suffix without its dot, got '{name}'; write '{bare}'"
                )),
                None if name.is_empty() => Error::invalid(format!(
                    "{what}: the suffix must be {suffixes}, got none; it selects the format"
                )),
                None => Error::invalid(format!(
                    "{what}: the suffix must be {suffixes}, got '.{lower}'"
                )),
            }
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
    /// Returns the end of the message about a root element that belongs to another format.
    pub(crate) fn cure_of_root(tag: &str) -> String {
        let format = Self::of_root(tag);
        let index = format.and_then(|format| FORMATS.iter().position(|other| *other == format));
        index.map_or(String::new(), |index| {
            let suffix = MODEL_SUFFIXES[index];
            format!("; the suffix selects the format: name this file .{suffix}")
        })
    }
    /// Returns true if an SDFormat file may include models of this format.
    pub(crate) fn can_be_included(self) -> bool {
        matches!(self, Self::Urdf | Self::Sdf | Self::Mjcf)
    }
}
