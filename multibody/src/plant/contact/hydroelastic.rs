//! Forces on contact surfaces.

use super::results::{HydroelasticContactInfo, HydroelasticQuadraturePointData};
use super::surfaces::BodySurface;
use crate::kinematics::VelocityKinematics;
use crate::model::BodyIndex;
use crate::spatial::{SpatialVector, cross};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::FRAC_2_PI;
use tarragon_framework::Scalar;
use tarragon_geometry::ContactSurface;

/// Sums forces on body A at points of a surface up, about the centroid of the surface.
struct ForceOnA<T: Scalar> {
    centroid: Vector3<T>,
    sum: SpatialVector<T>,
}

impl<T: Scalar> ForceOnA<T> {
    fn new(surface: &ContactSurface<T>) -> Self {
        Self {
            centroid: surface.centroid(),
            sum: SpatialVector::zero(),
        }
    }
    fn add(&mut self, p: &Vector3<T>, force: &Vector3<T>) {
        self.sum.rotational += cross(&(p - self.centroid), force);
        self.sum.translational += force;
    }
}

/// Returns the result of a surface from the forces (N) on body A and the slip velocities of body A
/// relative to B of its faces, which are a part of all.
pub(super) fn surface_info<T: Scalar>(
    of: &BodySurface<T>,
    faces: impl Iterator<Item = (usize, Vector3<T>, Vector3<T>)>,
) -> HydroelasticContactInfo<T> {
    let mut total = ForceOnA::new(&of.surface);
    let mut points = vec![];
    for (face_index, force, vt_bqaq_w) in faces {
        let p_wq = of.surface.face_centroid(face_index);
        total.add(&p_wq, &force);
        points.push(HydroelasticQuadraturePointData {
            p_wq,
            face_index,
            vt_bqaq_w,
            traction_aq_w: force / of.surface.area(face_index),
        });
    }
    HydroelasticContactInfo {
        body_a: of.bodies[0],
        body_b: of.bodies[1],
        f_ac_w: total.sum,
        contact_surface: of.surface.clone(),
        quadrature_point_data: points,
    }
}

/// Returns the result of a surface of triangles in continuous time, as a function of the state
/// alone. Tractions are integrated with three points per triangle, which is exact for polynomials
/// of second degree.
pub(in crate::plant) fn continuous<T: Scalar>(
    of: &BodySurface<T>,
    x_wb: &[Isometry3<T>],
    velocities: &VelocityKinematics<T>,
    stiction_tolerance: f64,
) -> HydroelasticContactInfo<T> {
    let surface = &of.surface;
    let mut total = ForceOnA::new(surface);
    let mut points = vec![];
    let (pressures, vertices) = (surface.vertex_pressures(), surface.vertices());
    let triangles = surface
        .tri_mesh_w()
        .map_or(&[][..], |mesh| mesh.triangles());
    let at = |body: BodyIndex, p: &Vector3<T>| {
        let arm = p - x_wb[body.index()].translation.vector;
        velocities.v_wb(body).velocity_at(&arm).translational
    };
    let (near, far) = (T::from(2.0 / 3.0), T::from(1.0 / 6.0));
    for (f, triangle) in triangles.iter().enumerate() {
        let corners = triangle.vertices().map(|v| v as usize);
        let (normal, third) = (surface.face_normal(f), surface.area(f) * T::from(1.0 / 3.0));
        for k in 0..3 {
            let weight = |i: usize| if i == k { near } else { far };
            let (mut p_wq, mut pressure) = (Vector3::zeros(), T::zero());
            for (i, v) in corners.into_iter().enumerate() {
                p_wq += vertices[v] * weight(i);
                pressure += pressures[v] * weight(i);
            }
            let v_bqaq = at(of.bodies[0], &p_wq) - at(of.bodies[1], &p_wq);
            let v_n = v_bqaq.dot(&normal);
            let vt_bqaq_w = v_bqaq - normal * v_n;
            let damped = pressure * (T::one() - of.material.d * v_n);
            let damped = if damped.re() > 0.0 && pressure.re() > 0.0 {
                damped
            } else {
                T::zero()
            };
            let slip_squared = vt_bqaq_w.norm_squared();
            let friction = if slip_squared.re() > 0.0 {
                let slip = slip_squared.sqrt();
                let regularized = (slip / stiction_tolerance).atan() * FRAC_2_PI;
                of.material.mu * damped * regularized / slip
            } else {
                T::zero()
            };
            let traction_aq_w = normal * damped - vt_bqaq_w * friction;
            total.add(&p_wq, &(traction_aq_w * third));
            points.push(HydroelasticQuadraturePointData {
                p_wq,
                face_index: f,
                vt_bqaq_w,
                traction_aq_w,
            });
        }
    }
    HydroelasticContactInfo {
        body_a: of.bodies[0],
        body_b: of.bodies[1],
        f_ac_w: total.sum,
        contact_surface: surface.clone(),
        quadrature_point_data: points,
    }
}
