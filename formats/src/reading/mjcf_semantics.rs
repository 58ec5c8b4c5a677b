//! The reading of MJCF, where programs differ.

/// Reading of MJCF files where Drake's parser departs from MuJoCo.
///
/// The names of bodies, joints and geometries and their order are those of Drake in both cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MjcfSemantics {
    /// As MuJoCo 3.3 compiles the file: the same bodies, masses, poses, classes and actuators.
    #[default]
    MuJoCo,
    /// As Drake 1.51 reads the file. `replicate`, `frame`, `attach`, `composite`, `flexcomp`, and
    /// the attributes of `compiler` that change masses, are left out; classes inherit no defaults
    /// of elements that they do not list; only the last of several joints of a body is at the pose
    /// of the body. Each loss is reported as a warning. The model must have a name.
    Drake,
}

/// MuJoCo's name for a model without one.
pub(crate) const UNNAMED: &str = "MuJoCo Model";
