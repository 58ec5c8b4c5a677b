//! Contact properties as in MuJoCo.

/// Contact properties of a geometry as in MuJoCo, by its proximity property `("material",
/// "mujoco_contact")`.
///
/// Between two such geometries, the larger coefficient of friction acts, or that of the geometry
/// with the higher priority. The stiffness of point contact is `stiffness_per_mass` times the mass
/// of all bodies that joints connect to that of the geometry, and infinite for a geometry that
/// cannot move. It takes the place of the compliance in other properties of the geometry.
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
    /// Of two geometries, the friction of the one with the higher priority acts.
    pub priority: i32,
    /// Whether there is no friction (`condim` 1), unless the other geometry has some.
    pub is_frictionless: bool,
    /// Stiffness per mass (1/s^2).
    pub stiffness_per_mass: f64,
    /// Relaxation time (s) of contact with an equal geometry: damping over stiffness.
    pub relaxation_time: f64,
}

impl Default for MujocoContact {
    /// Creates the properties of a geom without attributes in MuJoCo 3.3.
    fn default() -> Self {
        Self::from_solver_parameters([0.02, 1.0], [0.9, 0.95])
    }
}

impl MujocoContact {
    /// Creates properties from MuJoCo's `solref` and the first two numbers of `solimp`.
    ///
    /// A body of mass m that rests on a fixed geom sinks in as deep as in MuJoCo where the
    /// impedance is d, the first number of `solimp`. With MuJoCo's stiffness k and damping b per
    /// mass, which for a `solref` of time constant and damping ratio are `1 / (dmax timeconst
    /// dampratio)^2` and `2 / (dmax timeconst)`, the stiffness per mass is `k d^2 / (1 - d)`, and
    /// the relaxation time `b / (k d)`.
    pub fn from_solver_parameters(solref: [f64; 2], solimp: [f64; 2]) -> Self {
        // As MuJoCo limits them.
        let [first, most] = solimp.map(|d| d.clamp(1e-4, 0.9999));
        let [stiffness, damping] = match solref {
            [a, b] if a > 0.0 && b > 0.0 => [(most * a * b).powi(-2), 2.0 / (most * a)],
            [a, b] => [a.abs() / (most * most), b.abs() / most],
        };
        // From nearly nothing to more than any time step resolves.
        let (stiffness, damping) = (stiffness.clamp(1e-6, 1e12), damping.min(1e12));
        Self {
            priority: 0,
            is_frictionless: false,
            stiffness_per_mass: stiffness * first * first / (1.0 - first),
            relaxation_time: damping / (stiffness * first),
        }
    }
}
