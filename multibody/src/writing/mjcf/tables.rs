//! Names, sites and tendons of the document, and the order of its positions.

use crate::model::{BodyIndex, JointIndex};
use crate::writing::document::TakenNames;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};

/// Names that are taken in the document, one set per kind.
#[derive(Default)]
pub(super) struct MjcfNames {
    pub(super) geoms: TakenNames,
    pub(super) meshes: TakenNames,
    pub(super) sites: TakenNames,
    pub(super) cameras: TakenNames,
    pub(super) tendons: TakenNames,
    /// Names of the bodies that are no mere links between joints.
    pub(super) of_elements: BTreeSet<String>,
}

/// Positions in the order of the file.
pub(super) enum PositionBlock {
    /// Pose of a free body.
    Free(BodyIndex),
    Joint(JointIndex),
}

/// A tendon of the document.
pub(super) struct TendonText {
    pub(super) name: String,
    pub(super) path: TendonPath,
    pub(super) numbers: Vec<(&'static str, Vec<f64>)>,
}

pub(super) enum TendonPath {
    /// Names of joints and their coefficients.
    Fixed(Vec<(String, f64)>),
    /// Names of two sites.
    Spatial([String; 2]),
}

/// A site of the document.
pub(super) struct SiteText {
    pub(super) name: String,
    pub(super) body: BodyIndex,
    pub(super) x_bs: Isometry3<f64>,
}

/// The sites of the document.
#[derive(Default)]
pub(super) struct DocumentSites {
    pub(super) all: Vec<SiteText>,
    pub(super) of_constraints: BTreeMap<usize, [String; 2]>,
    pub(super) of_elements: BTreeMap<usize, [String; 2]>,
}

impl DocumentSites {
    /// Returns the sites that a constraint connects, if it connects sites.
    pub(super) fn of_constraint(&self, number: usize) -> Option<[String; 2]> {
        self.of_constraints.get(&number).cloned()
    }

    /// Returns the sites that a force element connects.
    pub(super) fn of_element(&self, number: usize) -> Option<[String; 2]> {
        self.of_elements.get(&number).cloned()
    }
}
