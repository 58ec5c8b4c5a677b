//! The reading of MJCF, where programs differ.

use super::tree::{ElementRef, ElementTree};

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

/// Elements that determine bodies, which Drake leaves out.
const ELEMENTS: [&str; 7] = [
    "attach",
    "composite",
    "flex",
    "flexcomp",
    "frame",
    "hfield",
    "replicate",
];

/// Attributes that determine masses or shapes, which Drake leaves out, by their elements, with the
/// values that ask for nothing.
const ATTRIBUTES: [(&str, &str, &[&str]); 12] = [
    ("compiler", "balanceinertia", &["false"]),
    ("compiler", "boundinertia", &["0"]),
    ("compiler", "boundmass", &["0"]),
    ("compiler", "fitaabb", &["false"]),
    ("compiler", "inertiagrouprange", &["0 5"]),
    ("compiler", "settotalmass", &["-1"]),
    ("geom", "shellinertia", &["false"]),
    ("mesh", "builtin", &["none"]),
    ("mesh", "inertia", &["legacy"]),
    ("mesh", "refpos", &["0 0 0"]),
    ("mesh", "refquat", &["1 0 0 0"]),
    ("mesh", "vertex", &[]),
];

impl MjcfSemantics {
    /// Returns the reading of a file, which is not `Auto`.
    pub(super) fn of_file(self, tree: &ElementTree, root: ElementRef<'_>, is_named: bool) -> Self {
        match self {
            Self::Auto if !is_named && root.own_text("model").is_none() => Self::MuJoCo,
            Self::Auto if is_read_by_drake(tree) => Self::Drake,
            Self::Auto => Self::MuJoCo,
            _ => self,
        }
    }
}

/// Returns true if Drake reads everything that determines bodies.
fn is_read_by_drake(tree: &ElementTree) -> bool {
    tree.elements.iter().all(|element| {
        let mut attributes = element.attributes.iter();
        !ELEMENTS.contains(&&*element.tag)
            && attributes.all(|attribute| {
                let known = ATTRIBUTES
                    .iter()
                    .find(|(tag, name, _)| *tag == element.tag && *name == attribute.name);
                known.is_none_or(|(_, _, nothing)| nothing.contains(&attribute.value.trim()))
            })
    })
}
