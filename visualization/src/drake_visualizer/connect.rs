//! Functions with Drake's older names.

use super::{DrakeVisualizer, DrakeVisualizerParams};
use crate::Result;
use tarragon_framework::prelude::*;
use tarragon_geometry::{Role, SceneGraph};
use tarragon_lcm::Lcm;

/// Adds a visualizer like [`DrakeVisualizer::add_to_builder`], under Drake's older name
/// (`ConnectDrakeVisualizer`). All parameters but the role have their defaults; without a role, it
/// is illustration.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{Role, SceneGraph};
/// use tarragon_lcm::Lcm;
/// use tarragon_visualization::connect_drake_visualizer;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", SceneGraph::new());
/// let lcm = Lcm::with_url("memq://")?;
/// let shown = connect_drake_visualizer(&mut b, &scene, Some(lcm), Some(Role::Proximity))?;
/// assert_eq!(shown.system().params().role, Role::Proximity);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`DrakeVisualizer::new`].
pub fn connect_drake_visualizer(
    builder: &mut DiagramBuilder,
    scene_graph: &Block<SceneGraph>,
    lcm: Option<Lcm>,
    role: Option<Role>,
) -> Result<Block<DrakeVisualizer>> {
    DrakeVisualizer::add_to_builder(builder, scene_graph.query, lcm, params(role))
}

/// Publishes a load message like [`DrakeVisualizer::dispatch_load_message`], under Drake's older
/// name (`DispatchLoadMessage`). All parameters but the role have their defaults; without a role,
/// it is illustration.
///
/// ```
/// use tarragon_geometry::SceneGraph;
/// use tarragon_lcm::Lcm;
/// let lcm = Lcm::with_url("memq://")?;
/// tarragon_visualization::dispatch_load_message(&SceneGraph::new(), &lcm, None)?;
/// assert_eq!(lcm.statistics().published, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`DrakeVisualizer::dispatch_load_message`].
pub fn dispatch_load_message(
    scene_graph: &SceneGraph,
    lcm: &Lcm,
    role: Option<Role>,
) -> Result<()> {
    DrakeVisualizer::dispatch_load_message(scene_graph, lcm, &params(role))
}

fn params(role: Option<Role>) -> DrakeVisualizerParams {
    let default = DrakeVisualizerParams::default();
    DrakeVisualizerParams {
        role: role.unwrap_or(default.role),
        ..default
    }
}
