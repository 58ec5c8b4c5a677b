//! Contacts at the end of a step, whose results are made when they are asked for.

use super::hydroelastic::surface_info;
use super::results::{ContactResults, HydroelasticContactInfo, PointPairContactInfo};
use super::scene_contacts::SceneContacts;
use crate::discrete::{ConstraintEnds, are_many};
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::{SpatialVector, cross};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use std::ops::Mul;
use tarragon_contact_solvers::ConstraintEnd;
use tarragon_framework::Scalar;

/// Contacts of a step with their velocities and impulses, and others whose results are known.
#[derive(Clone, Debug)]
pub(in crate::plant) struct EndedContacts<T: Scalar> {
    contacts: SceneContacts<T>,
    /// By contact.
    ends: ConstraintEnds<T>,
    /// Time step (s).
    dt: f64,
    /// Contacts among sleepers, or those of continuous time.
    pub(in crate::plant) known: Vec<PointPairContactInfo<T>>,
    /// Contacts on surfaces of continuous time.
    pub(in crate::plant) known_surfaces: Vec<HydroelasticContactInfo<T>>,
}

/// Returns the force on body B, expressed in W.
#[inline]
fn contact_force<T, C>(r_wc: &Matrix3<C>, end: &ConstraintEnd<T>, dt: f64) -> Vector3<T>
where
    T: Scalar + Mul<C, Output = T>,
    C: Copy,
{
    let [x, y, z] = [0, 1, 2].map(|i| end.impulse[i] * (1.0 / dt));
    Vector3::from_fn(|i, _| x * r_wc[(i, 0)] + y * r_wc[(i, 1)] + z * r_wc[(i, 2)])
}

/// Adds a force on body B, and its opposite on body A, at a point in W to sums about the origins of
/// the bodies, expressed in W.
#[inline]
fn add_at_origins<T, C, const N: usize>(
    positions: &PositionKinematics<C>,
    bodies: [BodyIndex; 2],
    p: &Vector3<C>,
    force: &Vector3<T>,
    mut sums: [&mut [SpatialVector<T>]; N],
) where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    for (body, is_a) in bodies.into_iter().zip([true, false]) {
        let arm = p - positions.p_wb(body.index() as u32);
        // -(arm x f)
        let opposite = cross(force, &arm);
        for sums in &mut sums {
            let sum = &mut sums[body.index()];
            if is_a {
                sum.rotational += &opposite;
                sum.translational -= force;
            } else {
                sum.rotational -= &opposite;
                sum.translational += force;
            }
        }
    }
}

/// Returns the slip speed of a contact.
#[inline]
fn slip_speed<T: Scalar>(end: &ConstraintEnd<T>) -> T {
    let squared = end.v[0] * end.v[0] + end.v[1] * end.v[1];
    if squared.re() > 0.0 {
        squared.sqrt()
    } else {
        T::zero()
    }
}

impl<T: Scalar> EndedContacts<T> {
    pub(in crate::plant) fn empty() -> Self {
        Self {
            contacts: SceneContacts::empty(),
            ends: ConstraintEnds::empty(),
            dt: 1.0,
            known: vec![],
            known_surfaces: vec![],
        }
    }

    /// Takes over the contacts of a step of length `dt` and their impulses, in exchange for the
    /// present ones.
    pub(in crate::plant) fn take(
        &mut self,
        contacts: &mut SceneContacts<T>,
        ends: &mut ConstraintEnds<T>,
        dt: f64,
    ) {
        std::mem::swap(&mut self.contacts, contacts);
        std::mem::swap(&mut self.ends, ends);
        self.ends.real.truncate(self.contacts.sites.real.len());
        self.dt = dt;
        self.known.clear();
        self.known_surfaces.clear();
    }

    /// Returns how a contact ended.
    fn end(&self, k: usize) -> ConstraintEnd<T> {
        let derived = self.ends.derived.get(k).copied();
        derived.unwrap_or_else(|| self.ends.real[k].lift())
    }

    /// Returns the force of a contact on body B in W.
    #[inline]
    fn force(&self, k: usize) -> Vector3<T> {
        let lifted;
        let end = match self.ends.derived.get(k) {
            Some(end) => end,
            None => {
                lifted = self.ends.real[k].lift();
                &lifted
            }
        };
        match self.contacts.sites.derived.get(k) {
            Some(site) => contact_force(&site.r_wc, end, self.dt),
            None => contact_force(&self.contacts.sites.real[k].r_wc, end, self.dt),
        }
    }

    /// Returns the point of a contact in W.
    #[inline]
    fn point(&self, k: usize) -> Vector3<T> {
        match self.contacts.sites.derived.get(k) {
            Some(site) => site.p_wc,
            None => self.contacts.sites.real[k].p_wc.map(T::from),
        }
    }

    /// Adds the forces of contact to the sums by body, about the origins of the bodies and
    /// expressed in W.
    pub(in crate::plant) fn add_forces(
        &self,
        positions: &PositionKinematics<T>,
        sums: [&mut [SpatialVector<T>]; 2],
    ) {
        let [all, contact_forces] = sums;
        // By body: the sum of the forces without derivatives, if there can be any.
        let num_real = if T::NDERIV > 0 { all.len() } else { 0 };
        let mut real = vec![SpatialVector::zero(); num_real];
        for k in 0..self.ends.real.len() {
            let site = &self.contacts.sites.real[k];
            let bodies = site.bodies;
            let lacks = |body: BodyIndex| positions.lacks_derivatives(body.index() as u32);
            let is_placed =
                self.contacts.sites.derived.get(k).is_none() && bodies.into_iter().all(lacks);
            if is_placed && self.ends.derived.get(k).is_none() {
                let force = contact_force(&site.r_wc, &self.ends.real[k], self.dt);
                add_at_origins(positions.real(), bodies, &site.p_wc, &force, [&mut real]);
                continue;
            }
            let (force, sums) = (self.force(k), [&mut *all, &mut *contact_forces]);
            if is_placed {
                add_at_origins(positions.real(), bodies, &site.p_wc, &force, sums)
            } else {
                add_at_origins(positions, bodies, &self.point(k), &force, sums)
            }
        }
        for sums in [all, contact_forces] {
            for (sum, force) in sums.iter_mut().zip(&real) {
                sum.add_real(force);
            }
        }
    }

    /// Returns the result of a contact of the step.
    fn info(&self, k: usize) -> PointPairContactInfo<T> {
        let (contact, real) = (&self.contacts.contacts[k], &self.contacts.sites.real[k]);
        let (contact_point, contact_force, end) = (self.point(k), self.force(k), self.end(k));
        PointPairContactInfo {
            body_a: real.bodies[0],
            body_b: real.bodies[1],
            contact_force,
            contact_point,
            separation_speed: end.v[2],
            slip_speed: slip_speed(&end),
            point_pair: self.contacts.pairs[contact.pair].to_pair(),
            point_id: contact.point_id,
        }
    }

    /// Returns the number of contacts at points of the step.
    fn num_points(&self) -> usize {
        self.contacts.contacts.len()
    }

    /// Returns the results of the contacts on surfaces of the step. Their faces follow the points.
    fn surface_infos(&self) -> impl Iterator<Item = HydroelasticContactInfo<T>> {
        let faces = self.contacts.faces.chunk_by(|f, g| f.surface == g.surface);
        let mut first = self.num_points();
        let with_force = faces.map(move |faces| {
            let start = first;
            first += faces.len();
            (start, faces)
        });
        with_force.map(move |(start, faces)| {
            let of = &self.contacts.surfaces[faces[0].surface];
            let faces = faces.iter().enumerate().map(move |(i, face)| {
                let (k, end) = (start + i, self.end(start + i));
                let r_wc = &self.contacts.sites.get(k).r_wc;
                // The velocity of B relative to A, and the force on B, in the contact frame.
                let slip = r_wc * Vector3::new(-end.v[0], -end.v[1], T::zero());
                (face.face, -self.force(k), slip)
            });
            surface_info(of, faces)
        })
    }

    /// Returns the bodies of all contacts on surfaces, once per face.
    pub(in crate::plant) fn bodies_with_surfaces(&self) -> impl Iterator<Item = BodyIndex> {
        let faces = self.contacts.sites.real[self.num_points()..].iter();
        faces.flat_map(|site| site.bodies)
    }

    /// Returns the bodies of all contacts at points.
    pub(in crate::plant) fn bodies(&self) -> impl Iterator<Item = [BodyIndex; 2]> {
        let known = self.known.iter().map(|pair| [pair.body_a, pair.body_b]);
        let sites = self.contacts.sites.real[..self.num_points()].iter();
        sites.map(|site| site.bodies).chain(known)
    }

    /// Returns the results of the contacts that have a body with some property.
    pub(in crate::plant) fn among(
        &self,
        has: impl Fn(BodyIndex) -> bool,
    ) -> impl Iterator<Item = PointPairContactInfo<T>> {
        let wanted = move |bodies: [BodyIndex; 2]| bodies.into_iter().any(&has);
        let all = self.bodies().enumerate();
        let wanted = all.filter(move |(_, bodies)| wanted(*bodies));
        wanted.map(|(k, _)| match k.checked_sub(self.num_points()) {
            Some(known) => self.known[known].clone(),
            None => self.info(k),
        })
    }

    /// Replaces results by those of all contacts, in the order of their geometries.
    pub(in crate::plant) fn update_results(&self, out: &mut ContactResults<T>) {
        out.hydroelastic_contacts.clear();
        let surfaces = self.known_surfaces.iter().cloned();
        out.hydroelastic_contacts
            .extend(surfaces.chain(self.surface_infos()));
        let (pairs, all) = (&mut out.point_pairs, 0..self.num_points());
        pairs.clear();
        if are_many(all.len()) {
            pairs.par_extend(all.into_par_iter().map(|k| self.info(k)))
        } else {
            pairs.extend(all.map(|k| self.info(k)))
        }
        if !self.known.is_empty() {
            pairs.extend_from_slice(&self.known);
            pairs.sort_by_key(|pair| (pair.point_pair.id_a, pair.point_pair.id_b));
        }
    }
}
