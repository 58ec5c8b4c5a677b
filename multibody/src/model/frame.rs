//! Frames fixed to bodies.

use super::index::{BodyIndex, ModelInstanceIndex};
use nalgebra::Isometry3;

/// A frame F fixed to a body B (Drake's `FixedOffsetFrame` and `BodyFrame`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_multibody::{BodyIndex, FixedOffsetFrame, MultibodyPlantBuilder};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let above = Isometry3::translation(0.0, 0.0, 0.7);
/// let table = plant.add_frame(FixedOffsetFrame::new("table", BodyIndex::WORLD, above))?;
/// assert_eq!(plant.frame_by_name("table")?, table);
/// assert_eq!(plant.frame(table)?.pose_in_body(), &above);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FixedOffsetFrame {
    pub(crate) name: String,
    pub(crate) body: BodyIndex,
    pub(crate) x_bf: Isometry3<f64>,
    pub(crate) model_instance: Option<ModelInstanceIndex>,
}

impl FixedOffsetFrame {
    /// Creates the frame `name` at `X_BF` on `body`, in the body's model instance.
    pub fn new(name: impl Into<String>, body: BodyIndex, x_bf: Isometry3<f64>) -> Self {
        Self {
            name: name.into(),
            body,
            x_bf,
            model_instance: None,
        }
    }
    /// Puts the frame into a model instance other than the body's.
    #[must_use]
    pub fn with_model_instance(mut self, instance: ModelInstanceIndex) -> Self {
        self.model_instance = Some(instance);
        self
    }
    /// Returns the name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the body B that the frame is fixed to.
    pub fn body(&self) -> BodyIndex {
        self.body
    }
    /// Returns the pose `X_BF` of the frame in its body.
    pub fn pose_in_body(&self) -> &Isometry3<f64> {
        &self.x_bf
    }
    /// Returns the model instance.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance.unwrap_or(ModelInstanceIndex::DEFAULT)
    }
}
