//! The older way to add a visualizer.

use super::{DrakeVisualizer, DrakeVisualizerParams};
use crate::error::Result;
use tarragon_framework::prelude::*;
use tarragon_geometry::{Role, SceneGraph};
use tarragon_lcm::Lcm;

/// [`DrakeVisualizer::add_to_builder`] under the name that it had (Drake's `ConnectDrakeVisualizer`): with
/// default parameters but for the role, which is illustration unless it is given.
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
/// As [`DrakeVisualizer::new`].
pub fn connect_drake_visualizer(
    builder: &mut DiagramBuilder,
    scene_graph: &Block<SceneGraph>,
    lcm: Option<Lcm>,
    role: Option<Role>,
) -> Result<Block<DrakeVisualizer>> {
    let mut params = DrakeVisualizerParams::default();
    params.role = role.unwrap_or(params.role);
    DrakeVisualizer::add_to_builder(builder, scene_graph.query, lcm, params)
}
