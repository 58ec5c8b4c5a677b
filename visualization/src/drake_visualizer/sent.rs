//! The messages sent last. The draw message is kept encoded and patched in place.

use super::deformable::DeformableMessage;
use super::load::Link;
use super::params::DrakeVisualizerParams;
use super::shape::{position, quaternion};
use crate::Result;
use crate::frame_poses::for_each_frame_pose;
use crate::meshcat_visualizer::real_pose;
use tarragon_framework::{Scalar, to_milliseconds};
use tarragon_geometry::{FrameId, GeometryVersion, QueryObject, Role, SceneGraphInspector};
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::LcmtViewerDraw;

/// Byte range of the timestamp in a draw message, after the fingerprint.
const TIME: std::ops::Range<usize> = 8..16;

/// The last load message, with its draw message and its message of deformable geometry.
#[derive(Debug)]
pub(super) struct Sent {
    version: GeometryVersion,
    /// Frames of the draw message, in the order in which the scene lists them.
    frames: Vec<FrameId>,
    /// Encoded draw message. Names stay; time and poses are overwritten.
    draw: Vec<u8>,
    pub(super) deformable: DeformableMessage,
}

impl Sent {
    pub(super) fn new(
        inspector: &SceneGraphInspector<'_>,
        params: &DrakeVisualizerParams,
        links: &[Link],
    ) -> Result<Self> {
        // Viewers know the pose of the world.
        let moving: Vec<&Link> = links.iter().filter(|link| !link.is_world).collect();
        let draw = LcmtViewerDraw {
            timestamp: 0,
            link_name: moving.iter().map(|link| link.data.name.clone()).collect(),
            robot_num: moving.iter().map(|link| link.data.robot_num).collect(),
            position: vec![[0.0; 3]; moving.len()],
            quaternion: vec![[0.0; 4]; moving.len()],
        };
        Ok(Self {
            version: inspector.geometry_version().clone(),
            frames: moving.iter().map(|link| link.frame).collect(),
            draw: draw.encode()?,
            deformable: DeformableMessage::new(inspector, params)?,
        })
    }

    pub(super) fn is_current(&self, version: &GeometryVersion, role: Role) -> bool {
        self.version.is_same_as(version, role).unwrap_or(false)
    }

    /// Returns the draw message at a time (s).
    pub(super) fn draw<T: Scalar>(&mut self, query: &QueryObject<T>, time: f64) -> Result<&[u8]> {
        let Self { frames, draw, .. } = self;
        draw[TIME].copy_from_slice(&to_milliseconds(time)?.to_be_bytes());
        // The message ends with the positions of all links, followed by their quaternions.
        let quaternions = draw.len() - frames.len() * size_of::<[f32; 4]>();
        let (front, quaternions) = draw.split_at_mut(quaternions);
        let positions = front.len() - frames.len() * size_of::<[f32; 3]>();
        let positions = front[positions..].as_chunks_mut().0;
        let quaternions = quaternions.as_chunks_mut().0;
        for_each_frame_pose(
            query,
            frames.iter().zip(positions.iter_mut().zip(quaternions)),
            |(frame, _)| **frame,
            |(_, (p, q)), x_wf| {
                let pose = real_pose(x_wf);
                write::<3, 12>(p, position(&pose));
                write::<4, 16>(q, quaternion(&pose));
                Ok(())
            },
        )?;
        Ok(draw)
    }
}

/// Writes numbers in the byte order of the wire.
fn write<const N: usize, const BYTES: usize>(to: &mut [u8; BYTES], numbers: [f32; N]) {
    for (to, number) in to.as_chunks_mut().0.iter_mut().zip(numbers) {
        *to = number.to_be_bytes();
    }
}
