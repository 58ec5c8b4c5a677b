//! Content of model files, xacro files expanded.

use crate::reading::format::ModelFormat;
use crate::reading::target::ParseTarget;
use std::path::Path;
use tarragon_documents::xacro::{self, XacroReport};
use tarragon_documents::xml::TextOrigins;
use tarragon_documents::{Diagnostic, ModelInput, PackageMap, read_file};

/// Content of a model file in a format other than xacro.
pub(crate) struct ModelSource {
    pub(crate) format: ModelFormat,
    pub(crate) bytes: Vec<u8>,
    pub(crate) origins: Option<TextOrigins>,
}

impl ModelSource {
    /// Reads a file, and expands it if it is xacro; the error is a message or was reported.
    pub(crate) fn read(
        path: &Path,
        format: ModelFormat,
        target: &ParseTarget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, String> {
        let bytes = read_file(path);
        let bytes = bytes.map_err(|e| format!("'{}' cannot be read: {e}", path.display()))?;
        if format == ModelFormat::Xacro {
            let mut packages = target.packages.map().clone();
            packages.populate_upstream(path);
            let expanded = Self::expand_with(path, &bytes, &packages, target, diagnostics);
            return Ok(expanded);
        }
        Ok(Some(Self {
            format,
            bytes,
            origins: None,
        }))
    }

    /// Expands the content of a xacro file. `None` after an error, which is in `diagnostics`.
    pub(crate) fn expand(
        input: &ModelInput<'_>,
        target: &ParseTarget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let file = Path::new(input.file);
        // The name of the file is for messages, and may lack characters of the directory.
        let path = match (input.directory, file.file_name()) {
            (Some(directory), Some(name)) => &directory.join(name),
            _ => file,
        };
        Self::expand_with(
            path,
            input.bytes,
            target.packages.map(),
            target,
            diagnostics,
        )
    }

    fn expand_with(
        path: &Path,
        bytes: &[u8],
        packages: &PackageMap,
        target: &ParseTarget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let arguments = target.xacro_arguments;
        let mut report = XacroReport::default();
        let expanded = xacro::expand_bytes(path, bytes, arguments, packages, &mut report);
        // Warnings and files from before an error help to mend it.
        diagnostics.extend(report.diagnostics);
        let file = path.display().to_string();
        for message in &report.messages {
            tracing::info!("{file}: {message}");
        }
        target.xacro_files.borrow_mut().extend(report.files);
        let expanded = expanded.map_err(|error| diagnostics.push(error)).ok()?;
        let Some(format) = ModelFormat::of_root(&expanded.root) else {
            let found = expanded.root;
            let message =
                format!("the root element must be <robot>, <sdf> or <mujoco>, got <{found}>");
            diagnostics.push(Diagnostic::of_file(&file, message));
            return None;
        };
        Some(Self {
            format,
            bytes: expanded.text.into_bytes(),
            origins: Some(expanded.origins),
        })
    }

    /// Returns the content as the input of a parser.
    pub(crate) fn input<'a>(
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
