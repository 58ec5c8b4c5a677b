//! Simulations in a browser: the [`Meshcat`] server with its page, and the systems that feed it.
//! Other systems publish scenes to viewers by LCM.

mod contact_results_to_lcm;
mod contact_visualizer;
mod convex_pieces;
mod default_visualization;
mod drake_visualizer;
mod driven_meshes;
mod frame_poses;
mod hydroelastic;
mod meshcat;
mod meshcat_point_cloud_visualizer;
mod meshcat_visualizer;
mod sliders;

pub use contact_results_to_lcm::{
    ContactResultsToLcmSystem, ContactResultsToLcmSystemPorts,
    connect_contact_results_to_drake_visualizer,
};
pub use contact_visualizer::{ContactVisualizer, ContactVisualizerParams, ContactVisualizerPorts};
pub use default_visualization::{
    AppliedVisualization, VisualizationConfig, VisualizationConnections, add_default_visualization,
    apply_visualization_config,
};
pub use drake_visualizer::{
    DrakeVisualizer, DrakeVisualizerParams, DrakeVisualizerPorts, connect_drake_visualizer,
    dispatch_load_message,
};
pub use meshcat::{
    Drag, Gamepad, LoopMode, Meshcat, MeshcatAnimation, MeshcatParams, OrthographicCamera,
    PageCamera, PerspectiveCamera, PropertyTuple, PropertyValue, SideOfFaceToRender, SurfaceStyle,
    start_meshcat,
};
pub use meshcat_point_cloud_visualizer::{
    MeshcatPointCloudVisualizer, MeshcatPointCloudVisualizerPorts,
};
pub use meshcat_visualizer::{MeshcatVisualizer, MeshcatVisualizerParams, MeshcatVisualizerPorts};
pub use sliders::{
    JointSliders, JointSlidersParams, JointSlidersPorts, MeshcatPoseSliders,
    MeshcatPoseSlidersParams, MeshcatPoseSlidersPorts, RunOptions, SliderValues,
};
pub use tarragon_framework::{Error, ErrorKind, Result};

/// Entry points for fuzzing; not part of the API.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Reads bytes as if a page had sent them: frames and the messages they contain.
    pub fn receive(bytes: &[u8]) {
        crate::meshcat::receive(bytes);
    }
}
