//! Systems whose outputs are set by sliders on the page.

mod group;
mod joints;
mod pose;

pub use group::RunOptions;
pub use joints::{JointSliders, JointSlidersParams, JointSlidersPorts, SliderValues};
pub use pose::{MeshcatPoseSliders, MeshcatPoseSlidersParams, MeshcatPoseSlidersPorts};
