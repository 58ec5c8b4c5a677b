//! Contact properties as in MuJoCo.

use super::impedance::Impedance;
use tarragon_framework::Scalar;

/// Contact properties of a geometry as in MuJoCo, by its proximity property `("material",
/// "mujoco_contact")`.
///
/// Between two such geometries, the larger coefficient of friction and the mean of the solver
/// parameters act, or those of the geometry with the higher priority. The force grows with the
/// depth as in MuJoCo: the stiffness is [`Self::stiffness_per_mass`] times the effective mass of
/// the body, and infinite for a geometry that cannot move. The effective mass is MuJoCo's `1 /
/// body_invweight0`: the mass that a force on the center of mass accelerates, averaged over all
/// directions in the default configuration. Damping is proportional to the speed. Both replace the
/// compliance in other properties of the geometry. A discrete step solves MuJoCo's own problem,
/// whatever its [approximation](crate::DiscreteContactApproximation), so that bodies slide, bounce
/// and creep as in MuJoCo. The friction cone is always elliptic; a pyramidal cone only changes its
/// softness. In contact with geometry without these properties, the stiffness is constant, with its
/// value at rest, acts in series as usual, and is combined with Hunt and Crossley's dissipation.
///
/// With a [`margin`](Self::margin), contact at a point acts before surfaces meet: its force is that
/// of a depth of `margin - gap` less the signed distance. Bodies come to rest `margin - gap` apart,
/// less what the stiffness gives. If that is positive, the contact point is midway between the
/// nearest points of both surfaces. [Contact results](crate::PointPairContactInfo::point_pair) keep
/// the distance of the surfaces, as a negative depth. Contact on hydroelastic surfaces and that of
/// deformable bodies has no margin.
///
/// ```
/// use tarragon_geometry::ProximityProperties;
/// use tarragon_multibody::MujocoContact;
/// let ice = MujocoContact { is_frictionless: true, ..MujocoContact::default() };
/// let mut properties = ProximityProperties::new();
/// properties.add("material", "mujoco_contact", ice)?;
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MujocoContact {
    /// Of two geometries, the properties of the one with the higher priority act.
    pub priority: i32,
    /// Whether there is no friction (`condim` 1), unless the other geometry has some.
    pub is_frictionless: bool,
    /// Weight of the solver parameters against those of the other geometry.
    pub solmix: f64,
    /// Time constant (s) and damping ratio, or else stiffness (1/s^2) and damping (1/s) per mass,
    /// both with a minus sign.
    pub solref: [f64; 2],
    /// Impedance as a function of the depth: value at the surface, value at depths of at least the
    /// width, width (m), midpoint of the transition as a fraction of the width, and power of its
    /// curve.
    pub solimp: [f64; 5],
    /// Number of edges of a pyramidal cone of friction, which makes the normal direction stiffer
    /// where friction is low; 0 for an elliptic cone.
    pub cone_edges: u8,
    /// Ratio of the tangential to the normal impedance (`impratio`). It scales the tangential
    /// softness of both cones and, with a pyramidal cone, the normal softness.
    pub impratio: f64,
    /// Whether the creep of sticking contact is reduced to a thousandth (`noslip_iterations`).
    pub prevents_slip: bool,
    /// Distance (m) below which there may be a force. Between two geometries, the larger margin
    /// acts, whatever their priorities; that of geometry without these properties is 0.
    pub margin: f64,
    /// Part of the margin (m) without a force, which begins at a distance of `margin - gap`.
    /// Between two geometries, the larger gap acts. If it is larger than the margin, surfaces
    /// overlap without a force by the difference.
    pub gap: f64,
}

/// Compliance of contact per mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MujocoCompliance {
    /// Stiffness (1/s^2) and damping (1/s) of MuJoCo's reference.
    pub(crate) reference: [f64; 2],
    pub(crate) impedance: Impedance,
    /// Tangential and normal softness, relative to the normal softness with an elliptic friction
    /// cone.
    pub(crate) softness: [f64; 2],
    /// Depth (m) at which a body rests.
    pub(crate) rest_depth: f64,
    /// Stiffness per mass (1/s^2) at that depth.
    pub(crate) stiffness_per_mass: f64,
    /// Damping over stiffness (s) at that depth.
    pub(crate) relaxation_time: f64,
}

/// Parameters of a geom without attributes in MuJoCo 3.3.
const SOLREF: [f64; 2] = [0.02, 1.0];
const SOLIMP: [f64; 5] = [0.9, 0.95, 0.001, 0.5, 2.0];
/// Weight that MuJoCo takes for none.
const NO_WEIGHT: f64 = 1e-15;
/// Factor on the tangential softness if `prevents_slip` is set.
const NO_SLIP: f64 = 1e-3;
/// Least ratio of the softness with a pyramidal cone to that with an elliptic one.
const LEAST_SOFTNESS: f64 = 1e-4;

impl Default for MujocoContact {
    /// Creates the properties of a geom without attributes in MuJoCo 3.3, with an elliptic cone.
    fn default() -> Self {
        Self::from_solver_parameters(SOLREF, SOLIMP)
    }
}

impl MujocoContact {
    /// Creates properties from MuJoCo's `solref` and `solimp`.
    pub fn from_solver_parameters(solref: [f64; 2], solimp: [f64; 5]) -> Self {
        Self {
            priority: 0,
            is_frictionless: false,
            solmix: 1.0,
            solref,
            solimp,
            cone_edges: 0,
            impratio: 1.0,
            prevents_slip: false,
            margin: 0.0,
            gap: 0.0,
        }
    }

    /// Returns the stiffness per mass (1/s^2) at a depth (m) of contact with a geometry of equal
    /// parameters: force over mass and depth.
    ///
    /// With MuJoCo's impedance d at that depth and its stiffness k per mass, which for a `solref`
    /// of time constant and damping ratio is `1 / (dmax timeconst dampratio)^2`, the stiffness per
    /// mass is `k d^2 / (1 - d)`.
    pub fn stiffness_per_mass(&self, depth: f64) -> f64 {
        let impedance = Impedance::new(self.solimp);
        impedance.stiffness(self.reference(0.0)[0], depth)
    }

    /// Returns the relaxation time (s), damping over stiffness, at a depth (m) of contact with a
    /// geometry of equal parameters: `b / (k d)` with MuJoCo's damping b per mass, which for a
    /// `solref` of time constant and damping ratio is `2 / (dmax timeconst)`.
    pub fn relaxation_time(&self, depth: f64) -> f64 {
        let [k, b] = self.reference(0.0);
        b / (k * Impedance::new(self.solimp).value(depth))
    }

    /// Returns the depth (m) at which a body rests on a fixed geometry of equal parameters with an
    /// elliptic cone, where gravity has a strength (m/s^2).
    pub fn rest_depth(&self, gravity: f64) -> f64 {
        Impedance::new(self.solimp).depth_of(self.reference(0.0)[0], gravity)
    }

    /// Returns the ratios of the softness in the tangential and in the normal directions to that in
    /// the normal direction with an elliptic cone, given the coefficient of friction. All edges of
    /// a pyramid share the force, and the regularization of an edge is `2 mu^2 (1 + mu^2) /
    /// impratio` times that of a cone's axis (`mj_makeImpedance` of MuJoCo's
    /// `engine_core_constraint.c`).
    pub(crate) fn softness(&self, mu: f64) -> [f64; 2] {
        let hardened = if self.prevents_slip { NO_SLIP } else { 1.0 };
        if self.cone_edges == 0 {
            return [hardened / self.impratio, 1.0];
        }
        let square = mu * mu;
        let tangential = (1.0 + square) / self.impratio;
        let normal = 2.0 * square * tangential / f64::from(self.cone_edges);
        [hardened * tangential, normal.max(LEAST_SOFTNESS)]
    }

    /// Returns stiffness (1/s^2) and damping (1/s) of MuJoCo's reference, in steps of a length,
    /// which may be 0.
    pub(crate) fn reference(&self, time_step: f64) -> [f64; 2] {
        let most = Impedance::limited(self.solimp[1]);
        let solref = match self.solref.map(|x| x > 0.0) {
            [true, false] | [false, true] => SOLREF,
            _ => self.solref,
        };
        let [stiffness, damping] = match solref {
            [time, ratio] if time > 0.0 => {
                let time = time.max(2.0 * time_step);
                [(most * time * ratio).powi(-2), 2.0 / (most * time)]
            }
            [a, b] => [a.abs() / (most * most), b.abs() / most],
        };
        // From nearly nothing to more than any time step resolves.
        [stiffness.clamp(1e-6, 1e12), damping.min(1e12)]
    }

    /// Returns the time (s) within which MuJoCo's reference undoes a deviation: damping over
    /// stiffness.
    pub(crate) fn reference_time(&self) -> f64 {
        let [stiffness, damping] = self.reference(0.0);
        damping / stiffness
    }

    /// Returns the impedance of an equality that is violated by a deviation.
    pub(crate) fn impedance<T: Scalar>(&self, deviation: T) -> T {
        Impedance::new(self.solimp).at(deviation)
    }

    /// Returns the compliance in steps of a length, which may be 0, of a body that rests at an
    /// acceleration (m/s^2).
    pub(crate) fn compliance(&self, time_step: f64, acceleration: f64) -> MujocoCompliance {
        let reference = self.reference(time_step);
        let impedance = Impedance::new(self.solimp);
        let [k, b] = reference;
        let rest_depth = impedance.depth_of(k, acceleration);
        MujocoCompliance {
            reference,
            impedance,
            softness: [1.0; 2],
            rest_depth,
            stiffness_per_mass: impedance.stiffness(k, rest_depth),
            relaxation_time: b / (k * impedance.value(rest_depth)),
        }
    }

    /// Returns the solver parameters between two geometries, as MuJoCo combines them.
    pub(crate) fn mixed_with(&self, other: &Self) -> Self {
        match self.priority.cmp(&other.priority) {
            std::cmp::Ordering::Greater => return *self,
            std::cmp::Ordering::Less => return *other,
            std::cmp::Ordering::Equal => {}
        }
        let share = match [self, other].map(|of| of.solmix >= NO_WEIGHT) {
            [true, true] => self.solmix / (self.solmix + other.solmix),
            [false, false] => 0.5,
            [true, false] => 1.0,
            [false, true] => 0.0,
        };
        let mean = |a: f64, b: f64| share * a + (1.0 - share) * b;
        let are_times = self.solref[0] > 0.0 && other.solref[0] > 0.0;
        Self {
            solref: if are_times {
                [0, 1].map(|i| mean(self.solref[i], other.solref[i]))
            } else {
                [0, 1].map(|i| self.solref[i].min(other.solref[i]))
            },
            solimp: [0, 1, 2, 3, 4].map(|i| mean(self.solimp[i], other.solimp[i])),
            is_frictionless: self.is_frictionless && other.is_frictionless,
            cone_edges: self.cone_edges.max(other.cone_edges),
            prevents_slip: self.prevents_slip || other.prevents_slip,
            ..*self
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// Returns why they are invalid, if they are.
    pub fn check(&self) -> Result<(), String> {
        let numbers = self.solref.iter().chain(&self.solimp);
        if let Some(bad) = numbers.into_iter().find(|x| !x.is_finite()) {
            return Err(format!(
                "MujocoContact: solref and solimp must be finite, got {bad:?}"
            ));
        }
        if !(self.impratio > 0.0 && self.impratio.is_finite()) {
            return Err(format!(
                "MujocoContact: impratio must be positive and finite, got {:?}",
                self.impratio
            ));
        }
        for (name, length) in [("margin", self.margin), ("gap", self.gap)] {
            if !length.is_finite() {
                return Err(format!(
                    "MujocoContact: {name} must be finite, got {length:?} m"
                ));
            }
        }
        if self.solmix >= 0.0 && self.solmix.is_finite() {
            Ok(())
        } else {
            Err(format!(
                "MujocoContact: solmix must be finite and at least 0, got {:?}",
                self.solmix
            ))
        }
    }
}
