//! Joints as the tree sees them, from the world outwards.

use crate::model::{BodyIndex, Joint, JointKind};
use nalgebra::{Isometry3, Unit, Vector3};

/// A joint seen from the world: turned round if its child is the inboard body.
pub(crate) struct InboardJoint {
    pub(crate) kind: JointKind,
    pub(crate) parent: BodyIndex,
    pub(crate) child: BodyIndex,
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) reversed: bool,
}

impl InboardJoint {
    /// Returns `forward` if the joint's parent is the inboard body. Joints with several degrees of
    /// freedom are never turned.
    pub(crate) fn new(joint: &Joint, forward: bool) -> Self {
        if forward {
            return Self {
                kind: joint.kind.clone(),
                parent: joint.parent,
                child: joint.child,
                x_pf: joint.x_pf,
                x_bm: joint.x_bm,
                reversed: false,
            };
        }
        // The motion of F in M is that about the opposite axis, which has the same components in
        // both.
        let opposite = |axis: &Unit<Vector3<f64>>| Unit::new_unchecked(-axis.into_inner());
        let kind = match &joint.kind {
            JointKind::Weld { x_fm } => JointKind::Weld {
                x_fm: x_fm.inverse(),
            },
            JointKind::Revolute { axis } => JointKind::Revolute {
                axis: opposite(axis),
            },
            JointKind::Prismatic { axis } => JointKind::Prismatic {
                axis: opposite(axis),
            },
            JointKind::Screw { axis, pitch } => JointKind::Screw {
                axis: opposite(axis),
                pitch: *pitch,
            },
            // The path of M stays on F; see `reversed`.
            other => other.clone(),
        };
        Self {
            kind,
            parent: joint.child,
            child: joint.parent,
            x_pf: joint.x_bm,
            x_bm: joint.x_pf,
            reversed: true,
        }
    }
}
