//! The load message: all rigid geometry that is shown, grouped by link.

use super::params::DrakeVisualizerParams;
use super::shape;
use crate::Result;
use std::collections::BTreeMap;
use tarragon_framework::warnings::warn;
use tarragon_geometry::{FrameId, SceneGraphInspector};
use tarragon_lcm::types::{LcmtViewerGeometryData, LcmtViewerLinkData, LcmtViewerLoadRobot};

/// A frame with geometry.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) frame: FrameId,
    pub(super) is_world: bool,
    pub(super) data: LcmtViewerLinkData,
}

/// Returns all frames that have rigid geometry with the role: the world first, then the others in
/// order of registration.
pub(super) fn links(
    inspector: &SceneGraphInspector<'_>,
    params: &DrakeVisualizerParams,
) -> Result<Vec<Link>> {
    let mut geometries = BTreeMap::<FrameId, Vec<LcmtViewerGeometryData>>::new();
    for id in inspector.geometry_ids_with_role(params.role) {
        if inspector.is_driven(id)? {
            continue;
        }
        let of_frame = geometries.entry(inspector.frame_id(id)?).or_default();
        match shape::of_geometry(inspector, id, params) {
            Ok(data) => of_frame.push(data),
            // A mesh that cannot be shown must not end a simulation.
            Err(e) => warn(format!(
                "DrakeVisualizer: geometry '{}' is not shown: {e}",
                inspector.name(id)?
            )),
        }
    }
    let world = inspector.world_frame_id();
    let others = inspector.frame_ids().filter(|frame| *frame != world);
    let mut links = Vec::with_capacity(geometries.len());
    for frame in std::iter::once(world).chain(others) {
        let Some(geom) = geometries.remove(&frame) else {
            continue;
        };
        let is_world = frame == world;
        let name = if is_world {
            "world".into()
        } else {
            let source = inspector.frame_source_name(frame)?;
            format!("{source}::{}", inspector.frame_name(frame)?)
        };
        let robot_num = inspector.frame_group(frame)?;
        let data = LcmtViewerLinkData {
            name,
            robot_num,
            geom,
        };
        links.push(Link {
            frame,
            is_world,
            data,
        });
    }
    Ok(links)
}

/// Returns the load message of the links.
pub(super) fn message(links: &[Link]) -> LcmtViewerLoadRobot {
    LcmtViewerLoadRobot {
        link: links.iter().map(|link| link.data.clone()).collect(),
    }
}
