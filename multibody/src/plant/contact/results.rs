//! Contacts of a plant, as its output port `contact_results` reports them.

use crate::model::BodyIndex;
use crate::plant::deformable::DeformableContactInfo;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use tarragon_framework::Scalar;
use tarragon_geometry::{ContactSurface, GeometryId, PenetrationAsPointPair};

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
    /// The surfaces in contact. Where these have a [margin](crate::MujocoContact::margin), forces
    /// act before they overlap: then the depth is minus their distance, and the points are the
    /// nearest ones. The force is that of a depth larger by `margin - gap`.
    pub point_pair: PenetrationAsPointPair<T>,
    /// Number of the point in its pair of geometries, the same as long as the same features meet; 0
    /// if a pair has one point ([`ContactModel::Point`](crate::ContactModel::Point)).
    pub point_id: u32,
}

/// Contact on a surface between two bodies (Drake's `HydroelasticContactInfo`).
#[derive(Clone, Debug)]
pub struct HydroelasticContactInfo<T: Scalar> {
    /// Body A, which has geometry M of the surface.
    pub body_a: BodyIndex,
    /// Body B, which has geometry N.
    pub body_b: BodyIndex,
    /// Spatial force on body A at the centroid C of the surface, `F_Ac_W` (N m, N), expressed in W.
    pub f_ac_w: SpatialVector<T>,
    /// The surface.
    pub contact_surface: ContactSurface<T>,
    /// Tractions and slip velocities: at the centroid of every face with a force in discrete time,
    /// at three points of every triangle in continuous time.
    pub quadrature_point_data: Vec<HydroelasticQuadraturePointData<T>>,
}

/// Traction and slip at a point Q of a contact surface (Drake's `HydroelasticQuadraturePointData`).
#[derive(Clone, Copy, Debug)]
pub struct HydroelasticQuadraturePointData<T: Scalar> {
    /// Position of the point, `p_WQ` (m).
    pub p_wq: Vector3<T>,
    /// The face that it is on.
    pub face_index: usize,
    /// Velocity of body A relative to body B at Q along the face, `vt_BqAq_W` (m/s).
    pub vt_bqaq_w: Vector3<T>,
    /// Traction on body A at Q, `traction_Aq_W` (Pa), expressed in W.
    pub traction_aq_w: Vector3<T>,
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
    pub(super) hydroelastic_contacts: Vec<HydroelasticContactInfo<T>>,
    pub(in crate::plant) deformable_contacts: Vec<DeformableContactInfo>,
}

impl<T: Scalar> Default for ContactResults<T> {
    fn default() -> Self {
        Self {
            point_pairs: vec![],
            hydroelastic_contacts: vec![],
            deformable_contacts: vec![],
        }
    }
}

impl<T: Scalar> ContactResults<T> {
    /// Returns the contacts at points, in the order of the pairs of geometry.
    pub fn point_pairs(&self) -> &[PointPairContactInfo<T>] {
        &self.point_pairs
    }
    /// Returns the contacts on surfaces, in the order of the pairs of geometry.
    pub fn hydroelastic_contacts(&self) -> &[HydroelasticContactInfo<T>] {
        &self.hydroelastic_contacts
    }
    /// Returns the contacts of deformable bodies.
    pub fn deformable_contacts(&self) -> &[DeformableContactInfo] {
        &self.deformable_contacts
    }

    /// Calls `f` for every contact with its two geometries and the force on the first one, in W
    /// (N). The second one feels the opposite force.
    ///
    /// ```
    /// use tarragon_multibody::ContactResults;
    /// let mut count = 0;
    /// ContactResults::<f64>::default().for_each_force(|_on, _from, _force| count += 1);
    /// assert_eq!(count, 0);
    /// ```
    pub fn for_each_force(&self, mut f: impl FnMut(GeometryId, GeometryId, Vector3<T>)) {
        for contact in &self.point_pairs {
            let pair = &contact.point_pair;
            f(pair.id_b, pair.id_a, contact.contact_force);
        }
        for contact in &self.hydroelastic_contacts {
            let surface = &contact.contact_surface;
            f(surface.id_m(), surface.id_n(), contact.f_ac_w.translational);
        }
        for contact in &self.deformable_contacts {
            let force = contact.f_ac_w.translational.map(T::from);
            f(contact.id_a, contact.id_b, force);
        }
    }
}
