//! Things that users drag on pages.

use super::Meshcat;
use nalgebra::Vector3;

/// A thing that the user of a page pulls by the pointer, with Alt held. The page only reports it:
/// nothing moves unless a program moves it.
///
/// ```
/// use tarragon_visualization::{Meshcat, MeshcatParams};
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// assert_eq!(meshcat.drag(), None); // nobody drags anything
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Drag {
    /// Path of the object, such as `/drake/ball`.
    pub path: String,
    /// Point at which it is held, in the frame of the path (m).
    pub point: Vector3<f64>,
    /// Point to which it is pulled, in the world (m).
    pub target: Vector3<f64>,
}

impl Meshcat {
    /// Returns what a user is dragging, `None` if nobody does. If users of several pages drag
    /// something, this is the last report. Drake's page does not report it.
    pub fn drag(&self) -> Option<Drag> {
        Some(self.inputs().drag.as_ref()?.1.clone())
    }
}
