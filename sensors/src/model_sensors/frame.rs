//! Measurements of frames: poses and velocities.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;
use tarragon_multibody::{BodyIndex, PlantParameters, SpatialVector};

/// A frame F fixed to a body B.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedFrame {
    pub(super) body: BodyIndex,
    /// `X_BF`.
    pub(super) x_bf: Isometry3<f64>,
    /// Whether Fo is the centre of mass of B, which parameters move.
    pub(super) at_center_of_mass: bool,
}

/// Motion of all bodies, by [`BodyIndex`].
#[derive(Clone, Copy)]
pub(super) struct BodyMotion<'a, T: Scalar> {
    /// `X_WB`.
    pub(super) poses: &'a [Isometry3<T>],
    /// `V_WB`; empty unless a measurement depends on velocities.
    pub(super) velocities: &'a [SpatialVector<T>],
    /// Masses of the context; `None` if the model's hold, or none are needed.
    pub(super) parameters: Option<&'a PlantParameters<T>>,
}

/// Measurement of a frame F in the world or a reference frame R.
#[derive(Clone, Debug)]
pub(super) struct FrameMeasurement {
    pub(super) frame: FixedFrame,
    /// Frame R; `None` for the world.
    pub(super) reference: Option<FixedFrame>,
    pub(super) quantity: FrameQuantity,
}

/// Quantity of a frame F in a frame R.
#[derive(Clone, Copy, Debug)]
pub(super) enum FrameQuantity {
    /// `p_RoFo_R` (m).
    Position,
    /// Quaternion of `R_RF`: w, x, y, z.
    Orientation,
    /// An axis of F, expressed in R.
    Axis(usize),
    /// `w_RF` (rad/s).
    AngularVelocity(ExpressedIn),
    /// `v_RFo` (m/s).
    TranslationalVelocity(ExpressedIn),
}

/// Frame in which a velocity is expressed.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpressedIn {
    /// The reference frame.
    Reference,
    /// The measured frame.
    Own,
}

impl FixedFrame {
    /// Returns `X_BF`.
    fn pose_in_body<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> Isometry3<T> {
        let mut x_bf = self.x_bf.cast::<T>();
        let parameters = motion.parameters.filter(|_| self.at_center_of_mass);
        let own = parameters.and_then(|parameters| parameters.body_inertia(self.body));
        if let Some(own) = own.filter(|own| own.mass.re() != 0.0) {
            x_bf.translation.vector = own.moment / own.mass;
        }
        x_bf
    }
    /// Returns `X_WF`.
    fn pose<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> Isometry3<T> {
        motion.poses[self.body.index()] * self.pose_in_body(motion)
    }
    /// Returns `V_WF_W`.
    fn velocity<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> SpatialVector<T> {
        let body = self.body.index();
        let p_bofo_b = self.pose_in_body(motion).translation.vector;
        motion.velocities[body].velocity_at(&(motion.poses[body].rotation * p_bofo_b))
    }
}

impl FrameQuantity {
    /// Returns the number of elements.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Orientation => 4,
            _ => 3,
        }
    }
    /// Returns true for a velocity.
    pub(super) fn is_velocity(self) -> bool {
        matches!(
            self,
            Self::AngularVelocity(_) | Self::TranslationalVelocity(_)
        )
    }
    /// Returns true for a quaternion or a unit vector, which no cutoff limits.
    pub(super) fn is_direction(self) -> bool {
        matches!(self, Self::Orientation | Self::Axis(_))
    }
}

impl FrameMeasurement {
    /// Returns true if it depends on masses.
    pub(super) fn has_mass(&self) -> bool {
        let frames = self.reference.iter().chain([&self.frame]);
        frames.into_iter().any(|frame| frame.at_center_of_mass)
    }
    /// Computes the measurement.
    pub(super) fn measure<T: Scalar>(&self, motion: BodyMotion<'_, T>, y: &mut [T]) {
        let vector = match self.quantity {
            FrameQuantity::Position => self.pose(motion).translation.vector,
            FrameQuantity::Axis(k) => self.pose(motion).rotation * Vector3::ith(k, T::one()),
            FrameQuantity::AngularVelocity(axes) => self.velocity(motion, axes).rotational,
            FrameQuantity::TranslationalVelocity(axes) => self.velocity(motion, axes).translational,
            FrameQuantity::Orientation => {
                let r_rf = self.pose(motion).rotation;
                y.copy_from_slice(&[r_rf.w, r_rf.i, r_rf.j, r_rf.k]);
                return;
            }
        };
        y.copy_from_slice(vector.as_slice());
    }

    /// Returns `X_RF`.
    fn pose<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> Isometry3<T> {
        let x_wf = self.frame.pose(motion);
        match &self.reference {
            None => x_wf,
            Some(reference) => reference.pose(motion).inv_mul(&x_wf),
        }
    }

    /// Returns `V_RF`.
    fn velocity<T: Scalar>(
        &self,
        motion: BodyMotion<'_, T>,
        expressed_in: ExpressedIn,
    ) -> SpatialVector<T> {
        let x_wf = self.frame.pose(motion);
        let x_wr = self.reference.map(|reference| reference.pose(motion));
        let mut v_w = self.frame.velocity(motion);
        if let (Some(reference), Some(x_wr)) = (&self.reference, &x_wr) {
            // The motion of the point of R that coincides with Fo.
            let p_rofo_w = x_wf.translation.vector - x_wr.translation.vector;
            v_w -= reference.velocity(motion).velocity_at(&p_rofo_w);
        }
        let r_we = match expressed_in {
            ExpressedIn::Reference => x_wr.map(|x_wr| x_wr.rotation),
            ExpressedIn::Own => Some(x_wf.rotation),
        };
        match r_we {
            None => v_w,
            Some(r_we) => SpatialVector {
                rotational: r_we.inverse_transform_vector(&v_w.rotational),
                translational: r_we.inverse_transform_vector(&v_w.translational),
            },
        }
    }
}
