//! Mass properties that MuJoCo accepts.

use super::{MjcfWriter, joint_of};
use crate::writing::poses::central_inertia;
use crate::writing::xml::XmlText;
use nalgebra::Matrix3;
use tarragon_multibody::{BodyIndex, JointKind, SpatialInertia};

/// Added to the principal moments of a body that moves (kg m^2) if one of them is less: MuJoCo 3.3
/// refuses moments below 1e-14.
const LEAST_MOMENT: f64 = 2e-14;
/// Least excess of two principal moments over the third, relative to it: MuJoCo refuses less than
/// zero, and rounds.
const LEAST_EXCESS: f64 = 1e-13;

impl MjcfWriter<'_> {
    /// Returns true for a body that is fixed to the one around it.
    pub(super) fn is_welded(&self, body: BodyIndex) -> bool {
        let joint = joint_of(self.document.plant, self.inboard[body.index()]);
        joint.is_some_and(|(_, joint)| matches!(joint.kind(), JointKind::Weld { .. }))
    }

    /// Returns true for a body that is fixed to the world.
    pub(super) fn is_anchored(&self, mut body: BodyIndex) -> bool {
        while body != BodyIndex::WORLD {
            match self.placed(body).filter(|_| self.is_welded(body)) {
                Some((around, _)) => body = around,
                None => return false,
            }
        }
        true
    }

    /// Reports a body that moves without mass, its own or that of bodies that are welded to it.
    pub(super) fn report_massless(&mut self, body: BodyIndex) {
        let plant = self.document.plant;
        if self.is_welded(body) {
            return;
        }
        let mut open = vec![body];
        while let Some(next) = open.pop() {
            if plant[next].spatial_inertia().mass() > 0.0 {
                return;
            }
            let inside = self.inside[next.index()].iter().copied();
            open.extend(inside.filter(|body| self.is_welded(*body)));
        }
        let name = &self.bodies[body.index()];
        self.document.warn(format!(
            "body '{name}': MuJoCo refuses it, because a body that moves must have mass"
        ));
    }

    /// Writes the compensation of gravity into the element of a body, and its mass properties.
    pub(super) fn write_mass(&mut self, name: &str, index: BodyIndex) {
        let body = &self.document.plant[index];
        let compensation = body.gravity_compensation();
        if compensation != 0.0 {
            self.document.xml.numbers("gravcomp", &[compensation]);
        }
        let inertia = body.spatial_inertia();
        let central = central_inertia(inertia).filter(|_| inertia.mass() > 0.0);
        let Some(central) = central else {
            if *inertia != SpatialInertia::zero() {
                self.document.warn(format!(
                    "body '{name}': its mass properties become zero, because they are physically \
                     impossible"
                ));
            }
            write_nothing_inertial(&mut self.document.xml);
            return;
        };
        let is_point = central == Matrix3::zeros() && self.is_anchored(index);
        let added = if is_point {
            0.0
        } else {
            missing_moment(&central)
        };
        if added > 0.0 {
            self.document.warn(format!(
                "body '{name}': {added:?} kg m^2 is added to its moments of inertia, because \
                 MuJoCo refuses moments of zero"
            ));
        }
        let rounding = if is_point {
            0.0
        } else {
            rounding_of_plates(&central)
        };
        let i = central + Matrix3::identity() * (added + rounding);
        let xml = &mut self.document.xml;
        xml.start("inertial");
        xml.numbers("pos", inertia.center_of_mass().as_slice());
        xml.numbers("mass", &[inertia.mass()]);
        if is_point {
            xml.numbers("diaginertia", &[0.0; 3]).end();
            return;
        }
        let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| i[at]);
        xml.numbers("fullinertia", &entries).end();
    }
}

/// Returns the principal moments in ascending order.
fn principal_moments(central: &Matrix3<f64>) -> [f64; 3] {
    let mut moments: [f64; 3] = central.symmetric_eigenvalues().into();
    moments.sort_by(f64::total_cmp);
    moments
}

/// Returns what must be added to the principal moments of a body so that MuJoCo accepts the least
/// one. The sum is again possible for a body.
fn missing_moment(central: &Matrix3<f64>) -> f64 {
    match principal_moments(central) {
        [a, ..] if a < LEAST_MOMENT => LEAST_MOMENT,
        _ => 0.0,
    }
}

/// Returns the addition to the principal moments of a plate that MuJoCo needs to accept the largest
/// one, because it rounds when it rotates them. Plates along the axes need no addition.
fn rounding_of_plates(central: &Matrix3<f64>) -> f64 {
    let is_turned = [(0, 1), (0, 2), (1, 2)]
        .iter()
        .any(|at| central[*at] != 0.0);
    let [a, b, c] = principal_moments(central);
    if is_turned && a + b - c < LEAST_EXCESS * c {
        LEAST_EXCESS * c
    } else {
        0.0
    }
}

pub(super) fn write_nothing_inertial(xml: &mut XmlText) {
    xml.start("inertial").numbers("pos", &[0.0; 3]);
    xml.numbers("mass", &[0.0]);
    xml.numbers("diaginertia", &[0.0; 3]).end();
}
