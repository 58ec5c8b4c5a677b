//! Positions, efforts and sites of actuators by what they drive.

use super::tendon_rates::path_rate;
use crate::discrete::Site;
use crate::dynamics::{MultibodyForces, add_path_effort, path_length_and_rate, walk_tendon};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{JointActuator, JointIndex, Transmission};
use crate::tree::Topology;
use tarragon_framework::Scalar;

/// Returns the sum of a value of each joint of an actuator, weighted by its effort.
fn weighted<T: Scalar>(
    (first, others): (JointIndex, &[(JointIndex, f64)]),
    of: impl Fn(JointIndex) -> T,
) -> T {
    let others = others.iter();
    others.fold(of(first), |sum, (joint, ratio)| sum + of(*joint) * *ratio)
}

/// Returns the position of an actuator: of its joints, or the length of its path.
pub(super) fn position<T: Scalar>(
    topology: &Topology,
    actuator: &JointActuator,
    positions: &PositionKinematics<T>,
) -> T {
    match &actuator.transmission {
        Transmission::Joints(first, others) => {
            let of = |joint: JointIndex| positions.q[topology.starts[joint.index()].0];
            weighted((*first, others), of)
        }
        Transmission::Path(path) => walk_tendon(path, |body| *positions.x_wb(body), |_| {}),
    }
}

/// Returns position and velocity of an actuator.
pub(super) fn motion<T: Scalar>(
    topology: &Topology,
    actuator: &JointActuator,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
) -> (T, T) {
    match &actuator.transmission {
        Transmission::Joints(first, others) => {
            let of = |joint: JointIndex| velocities.v[topology.starts[joint.index()].1];
            let position = position(topology, actuator, positions);
            (position, weighted((*first, others), of))
        }
        Transmission::Path(path) => path_length_and_rate(path, positions, velocities),
    }
}

/// Adds the effort of an actuator to the forces on a plant.
pub(super) fn add_effort<T: Scalar>(
    topology: &Topology,
    actuator: &JointActuator,
    positions: &PositionKinematics<T>,
    effort: T,
    forces: &mut MultibodyForces<T>,
) {
    match &actuator.transmission {
        Transmission::Joints(first, others) => {
            let velocity = |joint: &JointIndex| topology.starts[joint.index()].1;
            forces.generalized[velocity(first)] += effort;
            for (joint, ratio) in others {
                forces.generalized[velocity(joint)] += effort * *ratio;
            }
        }
        Transmission::Path(path) => add_path_effort(path, positions, effort, forces),
    }
}

/// Returns the site of an actuator's velocity.
pub(super) fn site<T: Scalar>(
    topology: &Topology,
    actuator: &JointActuator,
    positions: &PositionKinematics<T>,
) -> Site<T> {
    match &actuator.transmission {
        Transmission::Joints(..) => {
            let velocity = |joint: JointIndex| topology.starts[joint.index()].1;
            let all = actuator.joints();
            Site::Velocities(all.map(|(joint, ratio)| (velocity(joint), ratio)).collect())
        }
        Transmission::Path(path) => Site::Length(Box::new(path_rate(positions, path).1)),
    }
}
