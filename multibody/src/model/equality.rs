//! Equality constraints of model files that are not constraints of the plant.

use super::constraint::WeldConstraint;
use super::index::{JointIndex, ModelInstanceIndex};

/// An equality constraint of a model file (MJCF's `weld` and `joint`) that is not a constraint of
/// the plant, because the file is read as by Drake, which adds none for it.
///
/// ```
/// use tarragon_formats::*;
/// use tarragon_multibody::*;
/// let mjcf = "<mujoco model='m'>
///   <worldbody><body name='lid' pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody>
///   <equality><weld body1='lid'/></equality></mujoco>";
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// parser.set_mjcf_semantics(MjcfSemantics::Drake);
/// parser.add_models_from_string(mjcf, "xml")?;
/// assert_eq!(plant.constraints().len(), 0);
/// let equality = &plant.model_equalities()[0];
/// let Some(Constraint::Weld(weld)) = plant.equality_as_constraint(equality) else { panic!() };
/// assert_eq!(weld.x_ap.translation.z, -1.0); // The world's origin, seen from the lid.
/// plant.add_weld_constraint(weld)?;
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEquality {
    /// The name; may be empty.
    pub name: String,
    /// The model instance of its file.
    pub model_instance: ModelInstanceIndex,
    /// Whether the file activates the equality initially.
    pub active: bool,
    /// The constrained quantity.
    pub kind: EqualityKind,
}

/// The quantity that an equality constrains.
///
/// ```
/// use tarragon_multibody::EqualityKind;
/// let parallel = |kind: &EqualityKind| match kind {
///     EqualityKind::Joint { coefficients, .. } => coefficients[1] == 1.0,
///     _ => false,
/// };
/// # let _ = parallel;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum EqualityKind {
    /// Two frames coincide.
    Weld(WeldConstraint),
    /// `q0 - d0 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4` with `x = q1 - d1`, or 0 without a second
    /// joint; d0 and d1 are the default positions (rad or m).
    Joint {
        /// The joint with q0.
        joint0: JointIndex,
        /// The joint with q1.
        joint1: Option<JointIndex>,
        /// c0 to c4.
        coefficients: [f64; 5],
    },
}
