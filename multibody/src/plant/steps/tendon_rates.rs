//! Lengths of tendons, with the sites of their rates in a step.

use crate::discrete::{LengthPoint, LengthSite};
use crate::dynamics::walk_tendon;
use crate::kinematics::PositionKinematics;
use crate::model::{Tendon, TendonPart};
use crate::tree::Topology;
use smallvec::SmallVec;
use tarragon_framework::Scalar;

/// Returns the length of a tendon and the site of its rate.
pub(super) fn tendon_rate<T: Scalar>(
    topology: &Topology,
    positions: &PositionKinematics<T>,
    tendon: &Tendon,
) -> (T, LengthSite<T>) {
    let joints = match tendon {
        Tendon::Fixed(joints) => joints,
        Tendon::Spatial(path) => return path_rate(positions, path),
    };
    let (mut length, mut velocities) = (T::zero(), SmallVec::new());
    for (joint, coefficient) in joints {
        let (q, v) = topology.starts[joint.index()];
        length += positions.q[q] * *coefficient;
        velocities.push((v, T::from(*coefficient)));
    }
    let site = LengthSite {
        velocities,
        points: vec![],
    };
    (length, site)
}

/// Returns the length of a path and the site of its rate.
pub(super) fn path_rate<T: Scalar>(
    positions: &PositionKinematics<T>,
    path: &[TendonPart],
) -> (T, LengthSite<T>) {
    let mut site = LengthSite::constant();
    let length = walk_tendon(
        path,
        |body| *positions.x_wb(body),
        |end| {
            let origin = positions.x_wb(end.body).translation.vector;
            site.points.push(LengthPoint {
                body: end.body,
                p_w: origin + end.arm,
                gradient: end.gradient,
            });
        },
    );
    (length, site)
}
