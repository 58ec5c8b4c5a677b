//! Parsing of one model file in any format except model directives.

use crate::mjcf;
use crate::model_source::ModelSource;
use crate::obj;
use crate::reading::format::ModelFormat;
use crate::reading::target::{ModelNaming, ParseTarget};
use crate::sdf;
use crate::urdf;
use tarragon_documents::{Diagnostic, ModelInput};
use tarragon_multibody::ModelInstanceIndex;

/// Adds the models of a file; a failure is an error in `diagnostics`. Model directives hold no
/// models, and none are added for them.
pub(crate) fn parse(
    format: ModelFormat,
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    match format {
        ModelFormat::Urdf => urdf::parse(input, naming, target, diagnostics),
        ModelFormat::Sdf => sdf::parse(input, naming, target, diagnostics),
        ModelFormat::Mjcf => mjcf::parse(input, naming, target, diagnostics),
        ModelFormat::Obj => obj::parse(input, naming, target, diagnostics),
        ModelFormat::ModelDirectives => vec![],
        ModelFormat::Xacro => {
            let source = ModelSource::expand(input, target, diagnostics);
            // Errors were reported.
            let Some(source) = source else {
                return vec![];
            };
            let expanded = source.input(input.file, input.directory);
            match source.format {
                ModelFormat::Sdf => sdf::parse(&expanded, naming, target, diagnostics),
                ModelFormat::Mjcf => mjcf::parse(&expanded, naming, target, diagnostics),
                _ => urdf::parse(&expanded, naming, target, diagnostics),
            }
        }
    }
}
