//! Contacts of a plant, as its output port `contact_results` reports them.

use crate::model::BodyIndex;
use nalgebra::Vector3;
use tarragon_framework::Scalar;
use tarragon_geometry::PenetrationAsPointPair;

/// A contact at a point between two bodies (Drake's `PointPairContactInfo`).
#[derive(Clone, Debug)]
pub struct PointPairContactInfo<T: Scalar> {
    /// Body A, which has geometry A of the pair.
    pub body_a: BodyIndex,
    /// Body B.
    pub body_b: BodyIndex,
    /// Force on body B at the contact point C, `f_Bc_W` (N), expressed in W.
    pub contact_force: Vector3<T>,
    /// Position of the contact point, `p_WC` (m).
    pub contact_point: Vector3<T>,
    /// Speed at which the bodies separate along the normal (m/s), negative while they approach.
    pub separation_speed: T,
    /// Speed at which the bodies slip on each other (m/s).
    pub slip_speed: T,
    /// The penetration that gives rise to the contact.
    pub point_pair: PenetrationAsPointPair<T>,
    /// Number of the point in its pair of geometries, the same as long as the same features meet; 0
    /// if a pair has one point ([`ContactModel::Point`](crate::ContactModel::Point)).
    pub point_id: u32,
}

/// All contacts of a plant (Drake's `ContactResults`).
///
/// ```
/// use tarragon_multibody::ContactResults;
/// let contacts = ContactResults::<f64>::default();
/// assert!(contacts.point_pairs().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct ContactResults<T: Scalar> {
    pub(super) point_pairs: Vec<PointPairContactInfo<T>>,
}

impl<T: Scalar> Default for ContactResults<T> {
    fn default() -> Self {
        Self {
            point_pairs: vec![],
        }
    }
}

impl<T: Scalar> ContactResults<T> {
    /// Returns the contacts at points, in the order of the pairs of geometry.
    pub fn point_pairs(&self) -> &[PointPairContactInfo<T>] {
        &self.point_pairs
    }
}
