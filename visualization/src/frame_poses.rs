//! Poses of several frames.

use crate::Result;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;
use tarragon_geometry::{FrameId, QueryObject};

/// Calls `with` with the pose `X_WF` of each frame. Walks the scene once as long as the frames
/// come in the order in which the scene lists them; from the first frame out of order on, each is
/// looked up.
pub(crate) fn for_each_frame_pose<'a, T: Scalar, M>(
    query: &'a QueryObject<T>,
    moving: impl IntoIterator<Item = M>,
    frame_of: impl Fn(&M) -> FrameId,
    mut with: impl FnMut(M, &'a Isometry3<T>) -> Result<()>,
) -> Result<()> {
    let mut frames = query.frame_poses_in_world();
    let mut frame = frames.next();
    for m in moving {
        let id = frame_of(&m);
        while frame.is_some_and(|(at, _)| at != id) {
            frame = frames.next();
        }
        let x_wf = match frame {
            Some((_, x_wf)) => x_wf,
            None => query.pose_in_world(id)?,
        };
        with(m, x_wf)?;
    }
    Ok(())
}
