//! Contact surfaces of a plant, and their faces as contacts of a step.

use crate::discrete::{ContactParameters, ContactSite};
use crate::model::BodyIndex;
use crate::plant::values::combined_material::{CombinedMaterial, frame_along};
use tarragon_framework::Scalar;
use tarragon_geometry::ContactSurface;

/// Area (m^2) and gradient along the normal (Pa/m) that a face must exceed to have a force, as in
/// Drake.
const LEAST_AREA: f64 = 1e-14;
const LEAST_GRADIENT: f64 = 1e-14;

/// A face of a contact surface as a contact.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct SurfaceFace {
    /// Index of the surface.
    pub(in crate::plant) surface: usize,
    pub(in crate::plant) face: usize,
}

/// A contact surface with the bodies and the properties of its geometries.
#[derive(Clone, Debug)]
pub(in crate::plant) struct BodySurface<T: Scalar> {
    pub(in crate::plant) surface: ContactSurface<T>,
    /// Bodies of M and N.
    pub(in crate::plant) bodies: [BodyIndex; 2],
    pub(in crate::plant) material: CombinedMaterial<T>,
}

/// Returns the contact that a face stands for; `None` if it has no force at any velocity.
///
/// The pressure changes as the bodies move along the normal, by the gradients of both as springs in
/// series. Source: J. Masterjohn et al., "Velocity level approximation of pressure field contact
/// patches", 2022.
pub(super) fn face_site<T: Scalar>(of: &BodySurface<T>, f: usize) -> Option<ContactSite<T>> {
    let surface = &of.surface;
    let (area, normal) = (surface.area(f), surface.face_normal(f));
    // The normal points into M.
    let in_m = surface.evaluate_grad_e_m_w(f).map(|g| g.dot(&normal));
    let in_n = surface.evaluate_grad_e_n_w(f).map(|g| -g.dot(&normal));
    let gradient = match (in_m, in_n) {
        (Some(m), Some(n)) if m.re().min(n.re()) > LEAST_GRADIENT => m * n / (m + n),
        (Some(one), None) | (None, Some(one)) => one,
        _ => return None,
    };
    if area.re() <= LEAST_AREA || gradient.re() <= LEAST_GRADIENT {
        return None;
    }
    let CombinedMaterial { d, tau, mu, .. } = of.material;
    Some(ContactSite {
        bodies: of.bodies,
        p_wc: surface.face_centroid(f),
        r_wc: frame_along(&-normal),
        parameters: ContactParameters {
            k: area * gradient,
            d,
            tau,
            soft: None,
            mu,
            depth: surface.face_pressure(f) / gradient,
        },
    })
}
