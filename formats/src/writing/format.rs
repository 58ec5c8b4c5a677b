//! Formats of written model files.

use crate::{Error, Result};
use std::path::Path;
use tarragon_documents::names::shown_suffix;

/// Format of a written model file.
///
/// ```
/// use tarragon_formats::OutputFormat;
/// assert_eq!(OutputFormat::of_file("robot.sdf")?, OutputFormat::Sdf);
/// assert!(OutputFormat::of_file("robot.obj").is_err());
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// URDF (`.urdf`), with Drake's elements.
    Urdf,
    /// SDFormat (`.sdf`), with Drake's elements.
    Sdf,
    /// MJCF (`.xml`).
    Mjcf,
}

impl OutputFormat {
    /// Returns the format of a file by its suffix: `.urdf`, `.sdf`, `.xml` or `.mjcf`.
    ///
    /// # Errors
    /// Returns an error for any other suffix.
    pub fn of_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let suffix = path.extension().unwrap_or_default().to_string_lossy();
        match &*suffix.to_lowercase() {
            "urdf" => Ok(Self::Urdf),
            "sdf" => Ok(Self::Sdf),
            "xml" | "mjcf" => Ok(Self::Mjcf),
            _ => Err(Error::invalid(format!(
                "{}: the suffix must be .urdf, .sdf, .xml or .mjcf, got {}; it selects the \
                 format",
                path.display(),
                shown_suffix(path)
            ))),
        }
    }

    /// Returns the suffix of files, which is also the name of the format for
    /// [`Parser::add_models_from_string`](crate::Parser::add_models_from_string).
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Urdf => "urdf",
            Self::Sdf => "sdf",
            Self::Mjcf => "xml",
        }
    }

    /// Returns the name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Urdf => "URDF",
            Self::Sdf => "SDFormat",
            Self::Mjcf => "MJCF",
        }
    }
}
