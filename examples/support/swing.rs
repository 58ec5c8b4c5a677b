//! A small motion of any robot.

use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::multibody::JointKind;
use tarragon::prelude::*;

/// Moves every joint to one side, to the other and back, within its limits.
pub(crate) fn swing(plant: &MultibodyPlant) -> Result<PiecewisePolynomial> {
    let times = [0.0, 0.5, 1.0, 1.5, 2.0];
    let shape = [0.0, 1.0, 0.0, -1.0, 0.0];
    let mut samples = vec![plant.default_positions(); times.len()];
    let (lower, upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    for (index, joint) in plant.joints() {
        let reach = match joint.kind() {
            JointKind::Revolute { .. } => 0.25,
            JointKind::Prismatic { .. } => 0.05,
            _ => 0.0,
        };
        let start = plant.position_start(index)?;
        // Neighbours swing against each other, so that limbs do not fold into the body.
        let reach = if index.index() % 2 == 0 {
            reach
        } else {
            -reach
        };
        if reach != 0.0 {
            for (sample, side) in samples.iter_mut().zip(shape) {
                let q = sample[start] + side * reach;
                sample[start] = q.clamp(lower[start], upper[start]);
            }
        }
    }
    PiecewisePolynomial::cubic_spline_at_rest(&times, &samples)
}
