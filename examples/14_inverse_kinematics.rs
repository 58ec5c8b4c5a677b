//! Inverse kinematics: joint angles that bring an arm's hand to given poses, by damped Gauss-Newton
//! steps.
//!
//! The residual is written once, for any scalar: over dual numbers it gives its own Jacobian, which
//! is checked against the plant's velocity Jacobian.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::{DMatrix, DVector};
use tarragon::prelude::*;

/// Finds joint positions within their limits that bring a frame to a pose.
struct InverseKinematics {
    plant: MultibodyPlant,
    frame: FrameIndex,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

struct Solution {
    q: Vec<f64>,
    /// Norm of the residual (rad and m).
    residual: f64,
    iterations: usize,
}

impl InverseKinematics {
    /// Error of the frame's pose: a rotation vector in the goal's frame (rad) and a position (m).
    fn residual<T: Scalar>(&self, q: &[T], goal: &Isometry3<f64>) -> Result<Vec<T>> {
        let positions = self.plant.calc_position_kinematics(q)?;
        let x_wf = self.plant.calc_frame_pose(&positions, self.frame)?;
        let to_goal = goal.rotation.inverse().cast::<T>();
        let turn = math::rotation_log(&(to_goal * x_wf.rotation));
        let way = x_wf.translation.vector - goal.translation.vector.map(T::from);
        Ok(turn.iter().chain(&way).copied().collect())
    }

    fn solve(&self, goal: &Isometry3<f64>, start: &[f64]) -> Result<Solution> {
        let (mut q, mut damping, mut iterations) = (start.to_vec(), 1e-3, 0);
        loop {
            let (r, j) = try_jacobian(|q| self.residual(q, goal), &q)?;
            let residual = r.norm();
            if residual < 1e-10 || iterations == 200 {
                return Ok(Solution {
                    q,
                    residual,
                    iterations,
                });
            }
            // Increases the damping, which shortens the step, until a step improves the residual.
            let better = loop {
                let next = self.step(&q, &r, &j, damping)?;
                let after = DVector::from(self.residual(&next, goal)?).norm();
                if after < residual {
                    damping *= 0.1;
                    break Some(next);
                }
                if damping > 1e6 {
                    break None;
                }
                damping = (10.0 * damping).max(1e-9);
            };
            match better {
                Some(next) => q = next,
                // A local optimum within the limits.
                None => {
                    return Ok(Solution {
                        q,
                        residual,
                        iterations,
                    });
                }
            }
            iterations += 1;
        }
    }

    /// The damped step from q, excluding joints that it would push beyond a limit.
    fn step(
        &self,
        q: &[f64],
        r: &DVector<f64>,
        j: &DMatrix<f64>,
        damping: f64,
    ) -> Result<Vec<f64>> {
        let mut j = j.clone();
        loop {
            let normal = j.tr_mul(&j) + DMatrix::identity(q.len(), q.len()) * damping;
            let step = normal
                .cholesky()
                .ok_or("the step is not finite")?
                .solve(&-j.tr_mul(r));
            let at_limit = |k: usize| {
                (q[k] <= self.lower[k] && step[k] < 0.0) || (q[k] >= self.upper[k] && step[k] > 0.0)
            };
            let stuck: Vec<usize> = (0..q.len()).filter(|k| at_limit(*k)).collect();
            if stuck.is_empty() {
                let to = |k: usize| (q[k] + step[k]).clamp(self.lower[k], self.upper[k]);
                return Ok((0..q.len()).map(to).collect());
            }
            // A joint whose column is zero gets a zero step and stays where it is.
            stuck.iter().for_each(|k| j.column_mut(*k).fill(0.0));
        }
    }

    /// Largest difference between the Jacobian of the residual and that of the frame's velocity.
    /// They agree where the residual is zero, up to the frame in which angular velocities are
    /// expressed.
    fn compare_jacobians(&self, q: &[f64], goal: &Isometry3<f64>) -> Result<f64> {
        let (_, by_duals) = try_jacobian(|q| self.residual(q, goal), q)?;
        let positions = self.plant.calc_position_kinematics(q)?;
        let (frame, world) = (self.frame, FrameIndex::WORLD);
        let (wrt, origin) = (JacobianWrt::QDot, Vector3::zeros());
        let mut geometric = self
            .plant
            .calc_jacobian_spatial_velocity(&positions, wrt, frame, &origin, world, world)?;
        let to_goal = goal.rotation.inverse().to_rotation_matrix();
        let turned = to_goal.matrix() * geometric.fixed_rows::<3>(0);
        geometric.fixed_rows_mut::<3>(0).copy_from(&turned);
        Ok((by_duals - geometric).amax())
    }
}

fn main() -> Result<()> {
    let mut plant = MultibodyPlantBuilder::new(0.0)?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models/arm7/arm7.xml");
    Parser::new(&mut plant).add_models(file)?;
    let plant = plant.build()?;
    let arm = InverseKinematics {
        frame: plant.frame_by_name("gripper")?,
        lower: plant.position_lower_limits(),
        upper: plant.position_upper_limits(),
        plant,
    };

    // The hand points down, forward and sideways; the last goal is farther away than the arm is
    // long.
    let pose = |xyz: [f64; 3], rpy: [f64; 3]| math::pose_xyz_rpy(xyz.into(), rpy.into());
    let goals = [
        ("down on the box", pose([0.55, 0.0, 0.25], [3.1, 0.0, 0.4])),
        ("down at the side", pose([0.3, -0.5, 0.2], [3.1, 0.1, -1.2])),
        ("forward", pose([0.6, 0.2, 0.5], [0.0, 1.5, 0.0])),
        ("behind the base", pose([-0.45, 0.3, 0.6], [0.3, -1.4, 0.0])),
        ("out of reach", pose([1.2, 0.3, 0.6], [0.0, 1.5, 0.0])),
    ];
    let start = [0.0, 0.4, 0.0, 1.2, 0.0, 0.8, 0.0];
    println!("goal             | iterations | residual | AD - plant | q (rad)");
    for (name, goal) in &goals {
        let found = arm.solve(goal, &start)?;
        let difference = if found.residual < 1e-10 {
            format!("{:10.1e}", arm.compare_jacobians(&found.q, goal)?)
        } else {
            "         -".to_owned()
        };
        let q: Vec<String> = found.q.iter().map(|q| format!("{q:6.3}")).collect();
        println!(
            "{name:16} | {:10} | {:8.1e} | {difference} | {}",
            found.iterations,
            found.residual,
            q.join(" ")
        );
    }
    Ok(())
}
