//! Joints oriented from the world outwards, as the tree needs them.

use crate::model::{BodyIndex, Joint, JointKind};
use nalgebra::{Isometry3, Unit, Vector3};

/// A joint oriented from the world outwards: reversed if its child is the inboard body.
pub(crate) struct InboardJoint {
    pub(crate) kind: JointKind,
    pub(crate) parent: BodyIndex,
    pub(crate) child: BodyIndex,
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) reversed: bool,
}

impl InboardJoint {
    /// Orients a joint; `forward` says that its parent is the inboard body. Joints with several
    /// degrees of freedom are never reversed.
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
        // F moves in M about or along the opposite axis, whose components are the same in both
        // frames.
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
            // The path stays fixed to the original F; `reversed` records that.
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
