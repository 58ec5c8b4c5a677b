//! Length of spatial tendons, its change with the points that they pass, and their forces.

use super::forces::MultibodyForces;
use super::tendon_wrap::wrap;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{BodyIndex, TendonPart, TendonWrap};
use crate::spatial::SpatialVector;
use nalgebra::{Isometry3, Point3, Vector3};
use tarragon_framework::Scalar;

/// A point P of a body B at which a straight part of a tendon ends.
pub struct TendonEnd<T: Scalar> {
    /// Body B.
    pub body: BodyIndex,
    /// `p_BoP_W` (m).
    pub arm: Vector3<T>,
    /// Change of the length of the tendon with the position of P, expressed in W.
    pub gradient: Vector3<T>,
}

/// A point of a body, which is `p_WP`.
#[derive(Clone, Copy)]
struct PathPoint<T: Scalar> {
    body: BodyIndex,
    position: Vector3<T>,
}

/// A tendon that is followed from one end to the other.
struct PathWalk<P, V> {
    /// Pose of a body in the world.
    pose: P,
    visit: V,
    /// Divisor of the branch.
    divisor: f64,
}

/// Returns the length of a path, and calls a function with both ends of all straight parts; parts
/// without a length have no direction and are skipped. What lies on a geom moves with it, so that
/// the ends alone change the length. `pose` returns the pose of a body in the world.
pub fn walk_tendon<T: Scalar>(
    path: &[TendonPart],
    pose: impl Fn(BodyIndex) -> Isometry3<T>,
    visit: impl FnMut(TendonEnd<T>),
) -> T {
    let mut walk = PathWalk {
        pose,
        visit,
        divisor: 1.0,
    };
    let mut length = T::zero();
    let mut from: Option<PathPoint<T>> = None;
    let mut around = None;
    for part in path {
        match part {
            TendonPart::Pulley { divisor } => {
                walk.divisor = *divisor;
                from = None;
            }
            TendonPart::Wrap(wrap) => around = Some(wrap),
            TendonPart::Site { body, position } => {
                let to = walk.point(*body, position);
                if let Some(from) = from {
                    length += walk.add_part([from, to], around.take()) / walk.divisor;
                }
                from = Some(to);
            }
        }
    }
    length
}

/// Returns the length of a path and its time derivative.
pub(crate) fn length_and_rate<T: Scalar>(
    path: &[TendonPart],
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
) -> (T, T) {
    let mut rate = T::zero();
    let length = walk_tendon(
        path,
        |body| *positions.x_wb(body),
        |end| {
            let velocity = velocities.v_wb(end.body).velocity_at(&end.arm);
            rate += end.gradient.dot(&velocity.translational);
        },
    );
    (length, rate)
}

/// Adds the forces on the bodies of a path that lengthen it with an effort, which is minus its
/// tension (N).
pub(crate) fn add_effort<T: Scalar>(
    path: &[TendonPart],
    positions: &PositionKinematics<T>,
    effort: T,
    forces: &mut MultibodyForces<T>,
) {
    walk_tendon(
        path,
        |body| *positions.x_wb(body),
        |end| {
            let push = SpatialVector {
                rotational: Vector3::zeros(),
                translational: end.gradient * effort,
            };
            forces.add_at(end.body, &end.arm, push);
        },
    );
}

impl<P, V> PathWalk<P, V> {
    fn point<T: Scalar>(&self, body: BodyIndex, position: &Vector3<f64>) -> PathPoint<T>
    where
        P: Fn(BodyIndex) -> Isometry3<T>,
    {
        let position = Point3::from(position.map(T::from));
        PathPoint {
            body,
            position: ((self.pose)(body) * position).coords,
        }
    }

    /// Adds the part of a tendon between two sites, and returns its length.
    fn add_part<T: Scalar>(&mut self, sites: [PathPoint<T>; 2], around: Option<&TendonWrap>) -> T
    where
        P: Fn(BodyIndex) -> Isometry3<T>,
        V: FnMut(TendonEnd<T>),
    {
        if let Some(geom) = around {
            let x_wg = (self.pose)(geom.body) * geom.pose.cast::<T>();
            let in_geom =
                |p: &PathPoint<T>| x_wg.inverse_transform_point(&p.position.into()).coords;
            let side = geom.side.map(|(body, position)| {
                let side = self.point(body, &position);
                in_geom(&side).map(|x: T| x.re())
            });
            let ends = sites.each_ref().map(in_geom);
            if let Some(wrapped) = wrap(geom.shape, geom.radius, &ends, side) {
                let points = wrapped.points.map(|p| PathPoint {
                    body: geom.body,
                    position: (x_wg * Point3::from(p)).coords,
                });
                let [before, after] = wrapped.directions.map(|d| x_wg.rotation * d);
                self.add_straight([sites[0], points[0]], before);
                self.add_straight([points[1], sites[1]], after);
                return wrapped.length;
            }
        }
        let line = sites[1].position - sites[0].position;
        if line.norm_squared().re() == 0.0 {
            return T::zero();
        }
        let length = line.norm();
        self.add_straight(sites, line / length);
        length
    }

    /// Visits the ends of a straight part.
    fn add_straight<T: Scalar>(&mut self, ends: [PathPoint<T>; 2], direction: Vector3<T>)
    where
        P: Fn(BodyIndex) -> Isometry3<T>,
        V: FnMut(TendonEnd<T>),
    {
        let gradient = direction / T::from(self.divisor);
        for (end, gradient) in ends.into_iter().zip([-gradient, gradient]) {
            (self.visit)(TendonEnd {
                body: end.body,
                arm: end.position - (self.pose)(end.body).translation.vector,
                gradient,
            });
        }
    }
}
