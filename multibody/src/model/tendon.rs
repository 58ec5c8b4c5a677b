//! Tendons as lengths that depend on the positions of a plant.

use super::index::JointIndex;
use super::tendon_path::TendonPart;

/// A tendon by what its length is, as in MuJoCo.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// let string = Tendon::Spatial(vec![
///     TendonPart::site(BodyIndex::WORLD, Vector3::y()),
///     TendonPart::site(door, Vector3::x()),
/// ]);
/// // The string is as long as the door is open, at 0.5 m per radian and no less than 0.2 m.
/// plant.add_polynomial_constraint(PolynomialConstraint {
///     tendons: [string, Tendon::Fixed(vec![(hinge, 1.0)])],
///     references: [0.0, 0.0],
///     coefficients: [0.2, 0.5, 0.0, 0.0, 0.0],
/// })?;
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Tendon {
    /// A sum of positions of joints with one degree of freedom. Each joint is given with the length
    /// per position (m/rad, or 1 for a position in m).
    Fixed(Vec<(JointIndex, f64)>),
    /// The length of a path over sites, around geoms and by pulleys (m).
    Spatial(Vec<TendonPart>),
}
