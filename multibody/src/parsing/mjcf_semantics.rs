//! The reading of MJCF, where programs differ.

/// Reading of MJCF files where Drake's parser departs from MuJoCo.
///
/// The names of bodies, joints and geometries and their order are those of Drake in all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MjcfSemantics {
    /// As Drake reads the file if Drake reads all of it that determines bodies, else as MuJoCo
    /// does.
    #[default]
    Auto,
    /// As MuJoCo 3.3 compiles the file: the same bodies, masses and poses.
    MuJoCo,
    /// As Drake 1.51 reads the file: `replicate`, `frame`, `attach`, `composite`, `flexcomp`, and
    /// the attributes of `compiler` that change masses, are left out with a warning; classes
    /// inherit no defaults of other elements; only the last of several joints of a body is at the
    /// pose of the body. The model must have a name.
    Drake,
}
