//! State of building the graph of frames.

use super::element::Report;
use super::frames::FrameGraph;
use crate::model_source::ModelSource;
use crate::reading::format::ModelFormat;
use crate::reading::target::ParseTarget;
use std::path::PathBuf;

/// A model in another format that an `<include>` names.
pub(super) struct InterfaceFile {
    pub(super) path: PathBuf,
    pub(super) format: ModelFormat,
    /// Content of the file if it was expanded to know its format.
    pub(super) source: Option<ModelSource>,
}

/// Builder that adds everything with a pose to the graph.
pub(super) struct FrameGraphBuilder<'a, 't> {
    pub(super) graph: &'a mut FrameGraph,
    pub(super) report: &'a Report,
    pub(super) target: &'a mut ParseTarget<'t>,
    pub(super) files: &'a [InterfaceFile],
}
