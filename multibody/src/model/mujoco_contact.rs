//! Contact properties as in MuJoCo.

/// Contact properties of a geometry as in MuJoCo, by its proximity property `("material",
/// "mujoco_contact")`.
///
/// Between two such geometries, the larger coefficient of friction and the mean of the solver
/// parameters act, or those of the geometry with the higher priority. The stiffness of point
/// contact is [`Self::stiffness_per_mass`] times the mass of all bodies that joints connect to that
/// of the geometry, and infinite for a geometry that cannot move. It takes the place of the
/// compliance in other properties of the geometry. Next to other geometry, that of both acts in
/// series, as usual.
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
    /// Impedance at the surface and below it: the first two numbers of `solimp`.
    pub solimp: [f64; 2],
    /// Distance (m) below which there may be a force. Between two geometries, the larger margin
    /// acts, whatever their priorities; that of geometry without these properties is 0.
    pub margin: f64,
    /// Part of the margin (m) without a force, which begins at a distance of `margin - gap`.
    /// Between two geometries, the larger gap acts. If it is larger than the margin, surfaces
    /// overlap without a force by the difference.
    pub gap: f64,
}

/// Compliance of contact per mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MujocoCompliance {
    /// Stiffness per mass (1/s^2).
    pub(crate) stiffness_per_mass: f64,
    /// Damping over stiffness (s).
    pub(crate) relaxation_time: f64,
}

/// Parameters of a geom without attributes in MuJoCo 3.3.
const SOLREF: [f64; 2] = [0.02, 1.0];
const SOLIMP: [f64; 2] = [0.9, 0.95];
/// Weight that MuJoCo takes for none.
const NO_WEIGHT: f64 = 1e-15;

impl Default for MujocoContact {
    /// Creates the properties of a geom without attributes in MuJoCo 3.3.
    fn default() -> Self {
        Self::from_solver_parameters(SOLREF, SOLIMP)
    }
}

impl MujocoContact {
    /// Creates properties from MuJoCo's `solref` and the first two numbers of `solimp`.
    pub fn from_solver_parameters(solref: [f64; 2], solimp: [f64; 2]) -> Self {
        Self {
            priority: 0,
            is_frictionless: false,
            solmix: 1.0,
            solref,
            solimp,
            margin: 0.0,
            gap: 0.0,
        }
    }

    /// Returns the stiffness per mass (1/s^2) of contact with a geometry of equal parameters.
    ///
    /// A body that rests on a fixed geom sinks in as deep as in MuJoCo where the impedance is d,
    /// the first number of `solimp`. With MuJoCo's stiffness k per mass, which for a `solref` of
    /// time constant and damping ratio is `1 / (dmax timeconst dampratio)^2`, the stiffness per
    /// mass is `k d^2 / (1 - d)`.
    pub fn stiffness_per_mass(&self) -> f64 {
        self.compliance(0.0).stiffness_per_mass
    }

    /// Returns the relaxation time (s), damping over stiffness, of contact with a geometry of equal
    /// parameters: `b / (k d)` with MuJoCo's damping b per mass, which for a `solref` of time
    /// constant and damping ratio is `2 / (dmax timeconst)`.
    pub fn relaxation_time(&self) -> f64 {
        self.compliance(0.0).relaxation_time
    }

    /// Returns the compliance in steps of a length, which may be 0.
    pub(crate) fn compliance(&self, time_step: f64) -> MujocoCompliance {
        // As MuJoCo limits them.
        let [first, most] = self.solimp.map(|d| d.clamp(1e-4, 0.9999));
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
        let (stiffness, damping) = (stiffness.clamp(1e-6, 1e12), damping.min(1e12));
        MujocoCompliance {
            stiffness_per_mass: stiffness * first * first / (1.0 - first),
            relaxation_time: damping / (stiffness * first),
        }
    }

    /// Returns true if the solver parameters are those of another geometry.
    pub(crate) fn has_parameters_of(&self, other: &Self) -> bool {
        self.solref == other.solref && self.solimp == other.solimp
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
        let each =
            |f: &dyn Fn(f64, f64) -> f64, [a, b]: [f64; 2], [c, d]: [f64; 2]| [f(a, c), f(b, d)];
        Self {
            solref: match are_times {
                true => each(&mean, self.solref, other.solref),
                false => each(&f64::min, self.solref, other.solref),
            },
            solimp: each(&mean, self.solimp, other.solimp),
            ..*self
        }
    }

    /// Returns why the properties are invalid, if they are.
    pub(crate) fn check(&self) -> Result<(), String> {
        let numbers = self.solref.iter().chain(&self.solimp);
        if let Some(bad) = numbers.into_iter().find(|x| !x.is_finite()) {
            return Err(format!(
                "MujocoContact: solref and solimp must be finite, got {bad:?}"
            ));
        }
        for (name, length) in [("margin", self.margin), ("gap", self.gap)] {
            if !length.is_finite() {
                return Err(format!(
                    "MujocoContact: {name} must be finite, got {length:?} m"
                ));
            }
        }
        match self.solmix >= 0.0 && self.solmix.is_finite() {
            true => Ok(()),
            false => Err(format!(
                "MujocoContact: solmix must be finite and at least 0, got {:?}",
                self.solmix
            )),
        }
    }
}
