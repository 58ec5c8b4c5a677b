//! Forces, energies and powers of springs, dampers, tendons, hinges and bushings, as in Drake's
//! classes of the same names, or in MuJoCo.

use super::forces::MultibodyForces;
use super::tendon_path::{add_effort, length_and_rate};
use crate::kinematics::{PositionKinematics, VelocityKinematics, turned};
use crate::model::{
    BodyIndex, DoorHingeConfig, FixedOffsetFrame, ForceElement, JointIndex, TendonPart,
};
use crate::spatial::SpatialVector;
use crate::tree::Topology;
use nalgebra::{DMatrix, Isometry3, UnitQuaternion, Vector3};
use tarragon_framework::{Scalar, math};

/// Joints and frames that force elements act on, at some state.
pub(crate) struct ForceElementState<'a, T: Scalar> {
    pub(crate) topology: &'a Topology,
    pub(crate) frames: &'a [FixedOffsetFrame],
    pub(crate) positions: &'a PositionKinematics<T>,
    pub(crate) velocities: &'a VelocityKinematics<T>,
    /// Constants that take the place of the model's, by element, in the order of
    /// [`ForceElement::constants`]. Elements beyond the end and those without any have the model's.
    pub(crate) constants: &'a [Vec<T>],
}

/// Energy stored in a force element, and the power of its forces.
#[derive(Clone, Copy)]
pub(crate) struct ElementPower<T> {
    /// Potential energy (J).
    pub(crate) energy: T,
    /// Power of the forces that the potential energy gives rise to (W).
    pub(crate) conservative: T,
    /// Power of all other forces (W).
    pub(crate) non_conservative: T,
}

/// The curves of Drake's `DoorHinge`: a smooth step `s = tanh(x/t)`, `t ds/dx` and `-t^2 d2s/dx2`.
fn smooth_step<T: Scalar>(t: f64, x: T) -> (T, T, T) {
    let s = (x / t).tanh();
    let first = T::one() - s * s;
    (s, first, s * first * 2.0)
}

fn hinge_friction<T: Scalar>(hinge: &DoorHingeConfig, rate: T) -> T {
    if hinge.motion_threshold == 0.0 {
        return -rate * hinge.viscous_friction;
    }
    let (s, _, bump) = smooth_step(hinge.motion_threshold, rate);
    -(s * hinge.dynamic_friction_torque
        + bump * hinge.static_friction_torque
        + rate * hinge.viscous_friction)
}

fn hinge_spring<T: Scalar>(hinge: &DoorHingeConfig, angle: T) -> T {
    let spring = -(angle - hinge.spring_zero_angle_rad) * hinge.spring_constant;
    if hinge.catch_width == 0.0 {
        return spring;
    }
    let center = hinge.catch_width / 2.0;
    let (_, _, bump) = smooth_step(center, angle - center);
    spring + bump * hinge.catch_torque
}

/// Energy of the spring and the catch of a hinge, 0 at angle 0.
fn hinge_energy<T: Scalar>(hinge: &DoorHingeConfig, angle: T) -> T {
    let (x, x0) = (
        angle - hinge.spring_zero_angle_rad,
        hinge.spring_zero_angle_rad,
    );
    let spring = (x * x - x0 * x0) * (0.5 * hinge.spring_constant);
    if hinge.catch_width == 0.0 {
        return spring;
    }
    let center = hinge.catch_width / 2.0;
    let (_, now, _) = smooth_step(center, angle - center);
    let (_, start, _) = smooth_step(center, T::from(-center));
    spring + (now - start) * (hinge.catch_torque * center)
}

/// Returns how far a length is beyond a range of free lengths. Without a range, the stretch has
/// derivatives at rest, too.
fn stretch<T: Scalar>(length: T, [shortest, longest]: [f64; 2]) -> T {
    match length.re() {
        l if l > longest || shortest == longest => length - longest,
        l if l < shortest => length - shortest,
        _ => T::zero(),
    }
}

/// Stretch of a spring (m or rad), and the rate of its length.
#[derive(Clone, Copy)]
struct StretchState<T> {
    stretch: T,
    rate: T,
}

/// Stiffness and damping of a spring.
struct SpringConstants<T> {
    stiffness: T,
    damping: T,
}

impl<T: Scalar> SpringConstants<T> {
    /// Returns the tension, which is negative under pressure.
    fn tension(&self, state: StretchState<T>) -> T {
        state.stretch * self.stiffness + state.rate * self.damping
    }
}

/// A spring between a point P of body A and a point Q of body B, stretched along a line.
struct Stretched<T: Scalar> {
    /// Position of P from Ao and of Q from Bo, expressed in W.
    arms: (Vector3<T>, Vector3<T>),
    /// Unit vector from P to Q.
    direction: Vector3<T>,
    length: T,
    /// Time derivative of the length.
    rate: T,
}

/// The state of a bushing between frames A and C, expressed in frame B halfway between them.
struct Bushing<T: Scalar> {
    r_wa: UnitQuaternion<T>,
    r_wb: UnitQuaternion<T>,
    /// Position of Co from Ao, expressed in W.
    p_ac_w: Vector3<T>,
    /// Position of Ao and of Co from the origins of their bodies, expressed in W.
    arms: (Vector3<T>, Vector3<T>),
    /// Roll, pitch and yaw of C in A, and their rates.
    angles: Vector3<T>,
    rates: Vector3<T>,
    /// `p_AoCo_B` and its time derivative in B.
    xyz: Vector3<T>,
    xyz_rates: Vector3<T>,
}

impl<T: Scalar> ForceElementState<'_, T> {
    /// Returns a constant of an element; `model` is its value in the model.
    fn constant(&self, element: usize, index: usize, model: f64) -> T {
        let other = self.constants.get(element).and_then(|c| c.get(index));
        other.copied().unwrap_or_else(|| T::from(model))
    }

    /// Returns the constants of a spring with a damper; `stiffness` and `damping` are the
    /// model's.
    fn spring(&self, element: usize, stiffness: f64, damping: f64) -> SpringConstants<T> {
        SpringConstants {
            stiffness: self.constant(element, 0, stiffness),
            damping: self.constant(element, 1, damping),
        }
    }

    /// Multiplies a vector by three constants of an element, the first of which is at `index`.
    fn scaled(
        &self,
        element: usize,
        index: usize,
        model: &Vector3<f64>,
        x: &Vector3<T>,
    ) -> Vector3<T> {
        Vector3::from_fn(|i, _| x[i] * self.constant(element, index + i, model[i]))
    }

    /// Returns position and velocity of a joint with one degree of freedom.
    fn joint(&self, joint: JointIndex) -> (usize, T, T) {
        let (q, v) = self.topology.starts[joint.index()];
        (v, self.positions.q[q], self.velocities.v[v])
    }

    /// Returns how far a tendon is stretched beyond its free lengths, and the rate of its length.
    fn tendon(&self, joints: &[(JointIndex, f64)], free_lengths: [f64; 2]) -> StretchState<T> {
        let (mut length, mut rate) = (T::zero(), T::zero());
        for (joint, coefficient) in joints {
            let (_, q, v) = self.joint(*joint);
            length += q * *coefficient;
            rate += v * *coefficient;
        }
        StretchState {
            stretch: stretch(length, free_lengths),
            rate,
        }
    }

    /// Same as [`Self::tendon`] for a spatial tendon.
    fn spatial_tendon(&self, path: &[TendonPart], free_lengths: [f64; 2]) -> StretchState<T> {
        let (length, rate) = length_and_rate(path, self.positions, self.velocities);
        StretchState {
            stretch: stretch(length, free_lengths),
            rate,
        }
    }

    /// Adds the change of the generalized forces of a spring on joints with their positions, and
    /// with their velocities. Returns false, and adds nothing, for other elements.
    pub(crate) fn add_joint_derivatives(
        &self,
        (index, element): (usize, &ForceElement),
        [by_q, by_v]: [&mut DMatrix<T>; 2],
    ) -> bool {
        match element {
            ForceElement::RevoluteSpring {
                joint, stiffness, ..
            }
            | ForceElement::PrismaticSpring {
                joint, stiffness, ..
            } => {
                let (k, ..) = self.joint(*joint);
                by_q[(k, k)] -= self.constant(index, 0, *stiffness);
            }
            ForceElement::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => {
                let stretch = self.tendon(joints, *free_lengths).stretch;
                let is_slack = stretch.re() == 0.0 && free_lengths[0] < free_lengths[1];
                let stiffness = if is_slack {
                    T::zero()
                } else {
                    self.constant(index, 0, *stiffness)
                };
                let damping = self.constant(index, 1, *damping);
                for (i, a) in joints.iter().map(|(j, a)| (self.joint(*j).0, *a)) {
                    for (k, b) in joints.iter().map(|(j, b)| (self.joint(*j).0, *b)) {
                        by_q[(i, k)] -= stiffness * (a * b);
                        by_v[(i, k)] -= damping * (a * b);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Returns the position from the body's origin, expressed in W, and the velocity of a point.
    fn point(&self, body: BodyIndex, p: &Vector3<f64>) -> (Vector3<T>, Vector3<T>) {
        let arm = turned(&self.positions.r_wb[body.index()], p);
        (
            arm,
            self.velocities.v_wb(body).velocity_at(&arm).translational,
        )
    }

    fn stretched(
        &self,
        a: BodyIndex,
        p_ap: &Vector3<f64>,
        b: BodyIndex,
        p_bq: &Vector3<f64>,
    ) -> Option<Stretched<T>> {
        let ((arm_p, v_p), (arm_q, v_q)) = (self.point(a, p_ap), self.point(b, p_bq));
        let origin = |body| self.positions.x_wb(body).translation.vector;
        let line = origin(b) + arm_q - origin(a) - arm_p;
        if line.norm_squared().re() == 0.0 {
            return None;
        }
        let length = line.norm();
        let direction = line / length;
        Some(Stretched {
            arms: (arm_p, arm_q),
            direction,
            length,
            rate: direction.dot(&(v_q - v_p)),
        })
    }

    fn bushing(&self, a: &FixedOffsetFrame, c: &FixedOffsetFrame) -> Bushing<T> {
        let (x_wa, x_wc) = (self.positions.frame_pose(a), self.positions.frame_pose(c));
        let x_ac: Isometry3<T> = x_wa.inverse() * x_wc;
        // Half of the rotation about the same axis.
        let r_ab = math::rotation_exp(&(math::rotation_log(&x_ac.rotation) * T::from(0.5)));
        let arm = |frame: &FixedOffsetFrame, x: &Isometry3<T>| {
            x.translation.vector - self.positions.x_wb(frame.body()).translation.vector
        };
        let (arm_a, arm_c) = (arm(a, &x_wa), arm(c, &x_wc));
        let v_wa = self.velocities.v_wb(a.body()).velocity_at(&arm_a);
        let v_wc = self.velocities.v_wb(c.body()).velocity_at(&arm_c);
        let p_ac_w = x_wc.translation.vector - x_wa.translation.vector;
        let w_ac_w = v_wc.rotational - v_wa.rotational;
        let angles = math::rpy_of(&x_ac.rotation);
        let w_ac_a = x_wa.rotation.inverse() * w_ac_w;
        let ((sp, cp), (sy, cy)) = (angles.y.sin_cos(), angles.z.sin_cos());
        let roll_rate = (cy * w_ac_a.x + sy * w_ac_a.y) / cp;
        let rates = Vector3::new(
            roll_rate,
            cy * w_ac_a.y - sy * w_ac_a.x,
            w_ac_a.z + sp * roll_rate,
        );
        let r_wb = x_wa.rotation * r_ab;
        // B turns in A at half the angular velocity of C.
        let rate_w = v_wc.translational
            - v_wa.velocity_at(&p_ac_w).translational
            - (w_ac_w * T::from(0.5)).cross(&p_ac_w);
        Bushing {
            r_wa: x_wa.rotation,
            xyz: r_wb.inverse() * p_ac_w,
            xyz_rates: r_wb.inverse() * rate_w,
            r_wb,
            p_ac_w,
            arms: (arm_a, arm_c),
            angles,
            rates,
        }
    }

    /// Adds the forces of an element, which is given with its index.
    pub(crate) fn add_force(
        &self,
        (index, element): (usize, &ForceElement),
        forces: &mut MultibodyForces<T>,
    ) {
        match element {
            ForceElement::RevoluteSpring {
                joint,
                nominal_angle: nominal,
                stiffness,
            }
            | ForceElement::PrismaticSpring {
                joint,
                nominal_position: nominal,
                stiffness,
            } => {
                let (k, q, _) = self.joint(*joint);
                forces.generalized[k] += (-q + *nominal) * self.constant(index, 0, *stiffness);
            }
            ForceElement::DoorHinge { joint, config } => {
                let (k, q, v) = self.joint(*joint);
                forces.generalized[k] += hinge_friction(config, v) + hinge_spring(config, q);
            }
            ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                free_length,
                stiffness,
                damping,
            } => {
                let Some(s) = self.stretched(*body_a, p_ap, *body_b, p_bq) else {
                    return; // The line between the points has no direction.
                };
                let state = StretchState {
                    stretch: s.length - *free_length,
                    rate: s.rate,
                };
                let tension = self.spring(index, *stiffness, *damping).tension(state);
                let pull = SpatialVector {
                    rotational: Vector3::zeros(),
                    translational: s.direction * tension,
                };
                forces.add_at(*body_a, &s.arms.0, pull);
                forces.add_at(*body_b, &s.arms.1, -pull);
            }
            ForceElement::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => {
                let state = self.tendon(joints, *free_lengths);
                let tension = self.spring(index, *stiffness, *damping).tension(state);
                for (joint, coefficient) in joints {
                    forces.generalized[self.joint(*joint).0] -= tension * *coefficient;
                }
            }
            ForceElement::SpatialTendon {
                path,
                free_lengths,
                stiffness,
                damping,
            } => {
                let state = self.spatial_tendon(path, *free_lengths);
                let tension = self.spring(index, *stiffness, *damping).tension(state);
                // The path is followed again, because keeping its ends would allocate memory.
                add_effort(path, self.positions, -tension, forces);
            }
            ForceElement::LinearBushingRollPitchYaw {
                frame_a,
                frame_c,
                torque_stiffness,
                torque_damping,
                force_stiffness,
                force_damping,
            } => {
                let (a, c) = (&self.frames[frame_a.index()], &self.frames[frame_c.index()]);
                let b = self.bushing(a, c);
                let m = self.scaled(index, 0, torque_stiffness, &b.angles)
                    + self.scaled(index, 3, torque_damping, &b.rates);
                let ((sp, cp), (sy, cy)) = (b.angles.y.sin_cos(), b.angles.z.sin_cos());
                let along = (m.x + sp * m.z) / cp;
                let torque_a = Vector3::new(cy * along - sy * m.y, sy * along + cy * m.y, m.z);
                let force_b = self.scaled(index, 6, force_stiffness, &b.xyz)
                    + self.scaled(index, 9, force_damping, &b.xyz_rates);
                let on_c = SpatialVector {
                    rotational: -(b.r_wa * torque_a),
                    translational: -(b.r_wb * force_b),
                };
                // Both forces act at Bo, halfway between Ao and Co.
                let half = b.p_ac_w * T::from(0.5);
                forces.add_at(c.body(), &(b.arms.1 - half), on_c);
                forces.add_at(a.body(), &(b.arms.0 + half), -on_c);
            }
        }
    }

    /// Returns energy and power of an element, which is given with its index. The potential energy
    /// of a bushing is 0 by definition, because its forces have none in general.
    pub(crate) fn power(&self, (index, element): (usize, &ForceElement)) -> ElementPower<T> {
        let spring = |stiffness: T, x: T, rate: T| ElementPower {
            energy: x * x * (stiffness * 0.5),
            conservative: -x * rate * stiffness,
            non_conservative: T::zero(),
        };
        let damped = |constants: SpringConstants<T>, state: StretchState<T>| ElementPower {
            non_conservative: -state.rate * state.rate * constants.damping,
            ..spring(constants.stiffness, state.stretch, state.rate)
        };
        match element {
            ForceElement::RevoluteSpring {
                joint,
                nominal_angle: nominal,
                stiffness,
            }
            | ForceElement::PrismaticSpring {
                joint,
                nominal_position: nominal,
                stiffness,
            } => {
                let (_, q, v) = self.joint(*joint);
                spring(self.constant(index, 0, *stiffness), q - *nominal, v)
            }
            ForceElement::DoorHinge { joint, config } => {
                let (_, q, v) = self.joint(*joint);
                ElementPower {
                    energy: hinge_energy(config, q),
                    conservative: v * hinge_spring(config, q),
                    non_conservative: v * hinge_friction(config, v),
                }
            }
            ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                free_length,
                stiffness,
                damping,
            } => {
                let stretched = self.stretched(*body_a, p_ap, *body_b, p_bq);
                let (length, rate) =
                    stretched.map_or((T::zero(), T::zero()), |s| (s.length, s.rate));
                let state = StretchState {
                    stretch: length - *free_length,
                    rate,
                };
                damped(self.spring(index, *stiffness, *damping), state)
            }
            ForceElement::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => damped(
                self.spring(index, *stiffness, *damping),
                self.tendon(joints, *free_lengths),
            ),
            ForceElement::SpatialTendon {
                path,
                free_lengths,
                stiffness,
                damping,
            } => damped(
                self.spring(index, *stiffness, *damping),
                self.spatial_tendon(path, *free_lengths),
            ),
            ForceElement::LinearBushingRollPitchYaw { .. } => ElementPower {
                energy: T::zero(),
                conservative: T::zero(),
                non_conservative: self.bushing_power((index, element)),
            },
        }
    }

    /// Returns the power of a bushing's forces on its bodies.
    fn bushing_power(&self, element: (usize, &ForceElement)) -> T {
        let n = self.positions.body_poses().len();
        let mut forces = MultibodyForces::zero(n, self.velocities.v.len());
        self.add_force(element, &mut forces);
        let power = forces.spatial.iter().zip(&self.velocities.v_wb);
        power.fold(T::zero(), |sum, (f, v)| sum + f.dot(v))
    }
}
