//! Skins: surfaces whose vertices follow several frames, for viewers and renderers.
//!
//! Each frame is a bone, with the pose at which it was bound to the surface. A vertex is the
//! weighted mean of where its bones would take it (linear blend skinning).
//!
//! Source: "XML Reference" of MuJoCo's documentation, `skin`.

mod form;

pub(crate) use self::form::SkinForm;

use crate::error::{Error, Result};
use crate::ids::FrameId;
use nalgebra::Isometry3;

/// A frame that vertices of a skin follow.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{Bone, FrameId};
/// let arm = FrameId::new();
/// let bone = Bone { frame: arm, x_wf: Isometry3::identity(), weights: vec![(0, 1.0), (1, 0.5)] };
/// assert_eq!(bone.weights.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// The frame F.
    pub frame: FrameId,
    /// `X_WF` where all vertices have their reference positions (the pose of binding).
    pub x_wf: Isometry3<f64>,
    /// Vertices that follow the frame, each with its weight.
    pub weights: Vec<(u32, f64)>,
}

/// How the vertices of a mesh follow frames.
///
/// Only the ratios of the weights of a vertex count.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{Bone, FrameId, Skin};
/// let bone = Bone { frame: FrameId::new(), x_wf: Isometry3::identity(), weights: vec![(0, 2.0)] };
/// let skin = Skin::new(vec![bone]).with_inflation(0.01)?;
/// assert_eq!((skin.bones().len(), skin.inflation()), (1, 0.01));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    bones: Vec<Bone>,
    inflation: f64,
}

impl Skin {
    /// Creates a skin that follows bones. They are checked at registration.
    pub fn new(bones: Vec<Bone>) -> Self {
        Self {
            bones,
            inflation: 0.0,
        }
    }
    /// Moves the surface along its normals by this length (m) after the bones have moved it.
    ///
    /// # Errors
    /// Returns an error if the length is not finite.
    pub fn with_inflation(mut self, inflation: f64) -> Result<Self> {
        if !inflation.is_finite() {
            return Err(Error::invalid(format!(
                "Skin: the inflation must be finite, got {inflation:?} m"
            )));
        }
        self.inflation = inflation;
        Ok(self)
    }
    /// Returns the bones.
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }
    /// Returns by how much the surface is moved along its normals (m).
    pub fn inflation(&self) -> f64 {
        self.inflation
    }
}
