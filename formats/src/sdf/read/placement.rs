//! Poses of elements in the graph of frames.

use super::element::{Element, Report};
use super::frames::{FrameGraph, NodeId, ScopeId};
use tarragon_documents::xml::Parsed;

/// Sets the pose of an element in the frame that it is relative to.
pub(super) fn place(
    graph: &mut FrameGraph,
    node: NodeId,
    element: &Element,
    scope: ScopeId,
    default: NodeId,
    report: &Report,
) -> Parsed<()> {
    let base = match element.relative_to() {
        Some(name) => {
            let what = format!("relative_to of the pose of '{}'", graph.name(node));
            graph.find_or_report(scope, name, &what, &element.place, report)?
        }
        None => default,
    };
    graph.set_pose(node, element.pose(), base);
    Ok(())
}

/// Records the placement frame of an element: the frame inside it that its pose places, if it is
/// not its own.
pub(super) fn placement(
    graph: &mut FrameGraph,
    node: NodeId,
    element: &Element,
    inner: ScopeId,
    report: &Report,
) -> Parsed<()> {
    if let Some(name) = element.filled("placement_frame") {
        let what = format!("the placement frame of '{}'", graph.name(node));
        let frame = graph.find_or_report(inner, name, &what, &element.place, report)?;
        graph.set_placement(node, frame);
    }
    Ok(())
}
