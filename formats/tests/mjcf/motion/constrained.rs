//! Motion with equality constraints, which MuJoCo makes soft: these models ask for its hardest
//! constraints.

use super::*;

/// Compares steps of 0.1 ms, whose scheme is the same on both sides.
fn compare_steps(but: &[&str], tolerance: f64) {
    compare("constrained", but, tolerance, |name, case| {
        distance(
            &Motion::new(name, case, 1e-4).run(),
            &recorded(case, "fine"),
        )
    });
}

/// These constraints are linear in the velocities with constant coefficients, so that nothing
/// violates them; MuJoCo's give way by 1e-4 of the acceleration that they prevent, for a step.
#[test]
fn welds_and_coupled_joints_move_as_in_mujoco() {
    compare_steps(&CURVED, 1e-8);
}

/// Models whose constraints have Jacobians that depend on the positions.
const CURVED: [&str; 4] = ["connect", "parabola", "string", "winch"];

/// Within a step of length h, the points of a loop part by `h^2 v^2 / l`, and so do lengths of
/// tendons and the values of polynomials, whose curvature is 1 / l. Both sides pull them together
/// within a few steps, in different ways, at speeds of `h v^2 / l`: 1e-4 s x (0.4 m/s)^2 / 0.3 m.
#[test]
fn loops_tendons_and_polynomials_move_as_in_mujoco() {
    compare_steps(&["couple", "tie", "weld"], 5e-5);
}
