//! Content of model files, xacro files expanded.

use super::format::ModelFormat;
use super::target::ParseTarget;
use crate::diagnostic::Diagnostic;
use crate::document::input::{ModelInput, read_file};
use crate::document::origins::TextOrigins;
use crate::document::xml::PreparedXml;
use crate::xacro;
use std::path::Path;

/// Content of a model file in a format other than xacro.
pub(super) struct ModelSource {
    pub(super) format: ModelFormat,
    pub(super) bytes: Vec<u8>,
    pub(super) origins: Option<TextOrigins>,
}

impl ModelSource {
    /// Reads a file, and expands it if it is xacro; the error is a message or was reported.
    pub(super) fn read(
        path: &Path,
        format: ModelFormat,
        target: &ParseTarget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, String> {
        let bytes = read_file(path);
        let bytes = bytes.map_err(|e| format!("'{}' cannot be read: {e}", path.display()))?;
        if format == ModelFormat::Xacro {
            return Ok(Self::expand(
                &path.display().to_string(),
                &bytes,
                target,
                diagnostics,
            ));
        }
        Ok(Some(Self {
            format,
            bytes,
            origins: None,
        }))
    }

    /// Expands the content of a xacro file. `None` after an error, which is in `diagnostics`.
    pub(super) fn expand(
        file: &str,
        bytes: &[u8],
        target: &ParseTarget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let arguments = target.xacro_arguments;
        let packages = &*target.packages;
        let expanded = xacro::expand_bytes(Path::new(file), bytes, arguments, packages);
        let expanded = expanded.map_err(|error| diagnostics.push(error)).ok()?;
        diagnostics.extend(expanded.diagnostics);
        let format = format_of(&expanded.text, file);
        let format = format.map_err(|error| diagnostics.push(error)).ok()?;
        Some(Self {
            format,
            bytes: expanded.text.into_bytes(),
            origins: Some(expanded.origins),
        })
    }

    /// Returns the content as the input of a parser.
    pub(super) fn input<'a>(
        &'a self,
        file: &'a str,
        directory: Option<&'a Path>,
    ) -> ModelInput<'a> {
        ModelInput {
            file,
            bytes: &self.bytes,
            directory,
            origins: self.origins.as_ref(),
        }
    }
}

/// Returns the format of an expanded document.
fn format_of(text: &str, file: &str) -> Result<ModelFormat, Diagnostic> {
    let prepared = PreparedXml::new(text);
    let document = prepared.parse(file)?;
    let tag = document.root_element().tag_name().name();
    ModelFormat::of_root(tag).ok_or_else(|| {
        let message = format!("the root element must be <robot>, <sdf> or <mujoco>, got <{tag}>");
        Diagnostic::of_file(file, message)
    })
}
