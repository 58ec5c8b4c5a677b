//! Where deformable bodies touch others or are fixed to them.

use crate::discrete::{ContactSide, DeformableLaw, DeformableSite};
use crate::error::{Error, Result};
use crate::kinematics::PositionKinematics;
use crate::model::{BodyIndex, DeformableBodyIndex};
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::combined_material::{MaterialPair, frame_along};
use crate::plant::values::contact_materials::ContactMaterial;
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use tarragon_framework::Scalar;
use tarragon_geometry::{DeformableContactSurface, GeometryId, SceneGraphInspector, VertexWeights};

/// Stiffness of deformable bodies at contacts (Pa/m), as in Drake.
const STIFFNESS_PER_AREA: f64 = 1e8;
/// Area (m^2) and gradient of pressure (Pa/m) below which a face counts for nothing, as in Drake.
const NEGLIGIBLE: f64 = 1e-14;
/// Part of the gradient of pressure along the normal below which a face counts for nothing. On a
/// side of a body that is parallel to the gradient, rounding tells the sign of that part; Drake
/// counts such a face, with its force and next to no stiffness, where it is positive.
const NEGLIGIBLE_PART: f64 = 1e-10;

/// Place of each vertex of a body among those that take part in the problem.
#[derive(Clone, Debug, Default)]
pub(super) struct ActivePlaces(Vec<u32>);

/// Place of a vertex that takes no part.
const ABSENT: u32 = u32::MAX;

impl ActivePlaces {
    /// Replaces all by the places of some vertices among `n`.
    pub(super) fn update(&mut self, n: usize, active: &[u32]) {
        self.0.clear();
        self.0.resize(n, ABSENT);
        for (place, vertex) in active.iter().enumerate() {
            self.0[*vertex as usize] = place as u32;
        }
    }
    /// Returns the side of a site at some vertices. Those that are held do not move.
    fn side<T: Scalar>(
        &self,
        body: DeformableBodyIndex,
        vertices: &[u32],
        weights: &[T],
    ) -> ContactSide<T> {
        let (mut own, mut own_weights) = ([0; 4], [T::zero(); 4]);
        let moving = vertices.iter().zip(weights).filter_map(|(vertex, weight)| {
            let place = self.0[*vertex as usize];
            (place != ABSENT).then_some((place, *weight))
        });
        for (k, (place, weight)) in moving.enumerate() {
            (own[k], own_weights[k]) = (place, weight);
        }
        ContactSide::Vertices {
            body: body.index(),
            vertices: own,
            weights: own_weights,
        }
    }
}

/// State of a contact at the start of a step: its depth (m) or normal force (N).
#[derive(Clone, Copy)]
enum Start<T> {
    Depth(T),
    Force(T),
}

/// Deformable bodies of a plant, with the places of their active vertices.
pub(super) struct SiteFrame<'a> {
    pub(super) plant: &'a MultibodyPlant,
    /// By body.
    pub(super) places: &'a [&'a ActivePlaces],
}

/// A surface of contact with what is known of its bodies.
pub(super) struct KnownSurface<'a, T: Scalar> {
    surface: &'a DeformableContactSurface<T>,
    a: DeformableBodyIndex,
    /// Body B if it is deformable.
    b: Option<DeformableBodyIndex>,
    rigid_b: BodyIndex,
    materials: MaterialPair<T>,
}

impl SiteFrame<'_> {
    /// Looks the bodies of a surface of contact up, whose materials `material` returns.
    ///
    /// # Errors
    /// Returns an error if a property of the material is missing.
    pub(super) fn known<'a, T: Scalar>(
        &self,
        surface: &'a DeformableContactSurface<T>,
        inspector: &SceneGraphInspector<'_>,
        material: impl Fn(GeometryId) -> Result<ContactMaterial<T>>,
    ) -> Result<KnownSurface<'a, T>> {
        let ids = [surface.id_a(), surface.id_b()];
        let [id_a, id_b] = ids;
        let plant = self.plant;
        let known = |id| {
            plant.deformable_body_from_geometry_id(id).ok_or_else(|| {
                Error::unsupported(format!(
                    "deformable geometry '{}' touches something, but is no body of the plant; \
                     exclude it by a collision filter",
                    inspector.name(id).unwrap_or_default()
                ))
            })
        };
        let a = known(id_a)?;
        let b = surface.is_b_deformable().then(|| known(id_b)).transpose()?;
        let materials = [material(id_a)?, material(id_b)?];
        Ok(KnownSurface {
            surface,
            a,
            b,
            rigid_b: materials[1].body,
            materials: MaterialPair::new(plant, ids, materials),
        })
    }

    fn side<T: Scalar>(
        &self,
        body: DeformableBodyIndex,
        point: &VertexWeights<T>,
    ) -> ContactSide<T> {
        self.places[body.index()].side(body, point.vertices(), point.weights())
    }

    /// Returns the site of a face of a surface; `None` if it counts for nothing.
    pub(super) fn site<T: Scalar>(
        &self,
        known: &KnownSurface<'_, T>,
        f: usize,
    ) -> Option<DeformableSite<T>> {
        let surface = known.surface;
        let area = surface.area(f);
        let normal = surface.normal(f);
        if area.re() < NEGLIGIBLE {
            return None;
        }
        let own = area * STIFFNESS_PER_AREA;
        // The stiffness of B, and the force at the start of the step, or the depth.
        let (stiffness_b, start) = match surface.signed_distance(f) {
            // Of both bodies together.
            Some(distance) => (T::from(f64::INFINITY), Start::Depth(-distance)),
            None => {
                let pressure = surface.pressure(f).unwrap_or_else(T::zero);
                let gradient = surface.pressure_gradient(f).unwrap_or_else(Vector3::zeros);
                let rise = -gradient.dot(&normal);
                let size = gradient.map(|x| x.re()).norm();
                if rise.re() < NEGLIGIBLE.max(NEGLIGIBLE_PART * size) {
                    return None;
                }
                (area * rise, Start::Force(area * pressure))
            }
        };
        let combined = known.materials.combined(Some([own, stiffness_b]));
        let parameters = combined.parameters(|stiffness| match start {
            Start::Depth(depth) => depth,
            // Both bodies are compressed.
            Start::Force(force) => force / stiffness,
        });
        let side_b = match (known.b, surface.point_of_b(f)) {
            (Some(b), Some(point)) => self.side(b, point),
            _ => ContactSide::Body(known.rigid_b),
        };
        Some(DeformableSite {
            sides: [self.side(known.a, surface.point_of_a(f)), side_b],
            p_wc: surface.centroid(f),
            r_wc: frame_along(&-normal),
            law: DeformableLaw::Contact(parameters),
        })
    }

    /// Adds the vertices of a body that are fixed to rigid bodies, given its positions.
    pub(super) fn add_fixed<T: Scalar>(
        &self,
        body: &DeformableBody,
        q: &[T],
        positions: &PositionKinematics<T>,
        sites: &mut Vec<DeformableSite<T>>,
    ) {
        for fixed in &body.fixed {
            let x_wb: &Isometry3<T> = positions.x_wb(fixed.body);
            for (vertex, p_bp) in &fixed.vertices {
                let q = &q[3 * *vertex as usize..][..3];
                let p_wa = Vector3::new(q[0], q[1], q[2]);
                let p_wb = (x_wb * Point3::from(p_bp.map(T::from))).coords;
                let places = self.places[body.index.index()];
                let side = places.side(body.index, &[*vertex], &[T::one()]);
                sites.push(DeformableSite {
                    sides: [side, ContactSide::Body(fixed.body)],
                    p_wc: p_wb,
                    r_wc: Matrix3::identity(),
                    law: DeformableLaw::Fixed(p_wb - p_wa),
                });
            }
        }
    }
}
