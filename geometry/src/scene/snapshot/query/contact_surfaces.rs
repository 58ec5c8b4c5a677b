//! Contact surfaces of pairs.

use super::pairs::check_max_distance;
use super::query_object::PairNumbers;
use super::{PenetrationAsPointPair, QueryObject, SparsePenetration};
use crate::error::{Error, Result};
use crate::hydro::{self, ContactSurface, HydroelasticContactRepresentation};
use crate::ids::GeometryId;
use crate::scene::bounds::BoundaryPlane;
use tarragon_framework::Scalar;

/// Contact of a pair of geometries.
enum PairContact<T: Scalar, P> {
    Surface(Box<ContactSurface<T>>),
    Point(P),
}

/// Contact surfaces, and penetrations of the pairs that have none.
type SurfacesAndPoints<T, P> = (Vec<ContactSurface<T>>, Vec<P>);

impl<T: Scalar> QueryObject<T> {
    /// Returns the contact surfaces of all candidate pairs, by (M, N), in hydroelastic contact.
    ///
    /// At least one geometry of a pair must be compliant. These pairs have contact surfaces:
    ///
    /// | | rigid | rigid half space | compliant | compliant half space |
    /// |---|---|---|---|---|
    /// | compliant | yes | yes | yes | no |
    /// | compliant half space | yes | no | no | no |
    ///
    /// # Errors
    /// Returns an error if another pair cannot be ruled out, because its bounding boxes overlap.
    pub fn compute_contact_surfaces(
        &self,
        representation: HydroelasticContactRepresentation,
    ) -> Result<Vec<ContactSurface<T>>> {
        let reach = |_, _| Some(0.0);
        let found = self.contacts(representation, 0.0, &reach, false, |_| None::<()>, |_| None)?;
        Ok(found.0)
    }

    /// Returns the contact surfaces of all pairs that have one, as in
    /// [`Self::compute_contact_surfaces`], and the penetrations of all other pairs, as in
    /// [`Self::compute_point_pair_penetration`].
    ///
    /// # Errors
    /// Returns an error if a pair that has no contact surface and whose bounding boxes overlap has
    /// unsupported shapes.
    pub fn compute_contact_surfaces_with_fallback(
        &self,
        representation: HydroelasticContactRepresentation,
    ) -> Result<SurfacesAndPoints<T, PenetrationAsPointPair<T>>> {
        let lift = |pair: PenetrationAsPointPair<f64>| Some(pair.map(T::from));
        self.contacts(representation, 0.0, &|_, _| Some(0.0), true, lift, Some)
    }

    /// Does the same as [`Self::compute_contact_surfaces`] or, with `fallback`, as
    /// [`Self::compute_contact_surfaces_with_fallback`], for the pairs (M, N) that are `wanted`;
    /// others cost no more than the test of their bounding boxes. Penetrations without derivatives
    /// take no space for them.
    ///
    /// # Errors
    /// Returns an error in the cases of those methods, for wanted pairs.
    pub fn compute_contacts_where(
        &self,
        representation: HydroelasticContactRepresentation,
        fallback: bool,
        wanted: impl Fn(GeometryId, GeometryId) -> bool + Sync,
    ) -> Result<SurfacesAndPoints<T, SparsePenetration<T>>> {
        let reach = |a, b| wanted(a, b).then_some(0.0);
        self.compute_contacts_within(representation, fallback, 0.0, reach)
    }

    /// Does the same as [`Self::compute_contacts_where`] with the pairs of
    /// [`Self::update_point_pairs_within`] in place of penetrations. Contact surfaces are those of
    /// all pairs with a `reach` (m), whatever it is.
    ///
    /// # Errors
    /// Returns an error in the cases of both methods.
    pub fn compute_contacts_within(
        &self,
        representation: HydroelasticContactRepresentation,
        fallback: bool,
        max_reach: f64,
        reach: impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync,
    ) -> Result<SurfacesAndPoints<T, SparsePenetration<T>>> {
        check_max_distance("compute_contacts_within", "max_reach", max_reach)?;
        self.contacts(
            representation,
            max_reach,
            &reach,
            fallback,
            |pair| Some(SparsePenetration::constant(pair)),
            |pair| Some(SparsePenetration::from(pair)),
        )
    }

    fn contacts<P: Send>(
        &self,
        representation: HydroelasticContactRepresentation,
        max_reach: f64,
        reach: &(impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync),
        fallback: bool,
        constant: impl Fn(PenetrationAsPointPair<f64>) -> Option<P> + Sync + Send,
        answer: impl Fn(PenetrationAsPointPair<T>) -> Option<P> + Sync + Send,
    ) -> Result<SurfacesAndPoints<T, P>> {
        let contact = |pair: (usize, usize)| {
            let Some(reach) = self.reach_of(pair, reach) else {
                return Ok(None);
            };
            let [a, b] = [pair.0, pair.1].map(|i| &self.state.geometries[i]);
            let forms = [&a.hydroelastic, &b.hydroelastic];
            match hydro::check_pair(forms[0], forms[1]) {
                Ok(()) => {
                    let found = (self.kernels.contact_surface)(self, pair, representation);
                    Ok(found.map(|surface| PairContact::Surface(Box::new(surface))))
                }
                Err(_) if fallback => {
                    let found = self.near_as(pair, reach, &constant, &answer)?;
                    Ok(found.flatten().map(PairContact::Point))
                }
                Err(_) if !self.boxes_meet(pair) => Ok(None),
                Err(none) => {
                    let place = format!("geometries '{}' and '{}'", a.name, b.name);
                    let message = format!("contact surface: {}, got {forms:?}", none.reason());
                    Err(Error::unsupported(message).at(place))
                }
            }
        };
        let margin = self.kinematics.contact_margin().max(max_reach);
        // A surface takes many microseconds.
        let found = self.with_candidates(margin, |candidates| {
            self.collect_pairs(candidates, 1, contact)
        })?;
        let (mut surfaces, mut points) = (vec![], vec![]);
        for contact in found {
            match contact {
                PairContact::Surface(surface) => surfaces.push(*surface),
                PairContact::Point(point) => points.push(point),
            }
        }
        Ok((surfaces, points))
    }

    pub(super) fn find_contact_surface(
        &self,
        pair: PairNumbers,
        representation: HydroelasticContactRepresentation,
    ) -> Option<ContactSurface<T>> {
        let [a, b] = [pair.0, pair.1].map(|i| &self.state.geometries[i]);
        let forms = [&a.hydroelastic, &b.hydroelastic];
        let poses = [pair.0, pair.1].map(|i| self.kinematics.x_wg(i));
        hydro::contact_surface([a.id, b.id], forms, poses, representation)
    }

    /// Returns true if the bounding boxes of a pair overlap, without margins.
    fn boxes_meet(&self, (a, b): (usize, usize)) -> bool {
        let bounds = [a, b].map(|i| {
            let bound = self.state.geometries[i].bound?;
            Some(bound.box_in_world(self.kinematics.x_wg(i)))
        });
        let plane = |i: usize| BoundaryPlane::new(i as u32, self.kinematics.x_wg(i));
        match bounds {
            [Some(Some(a)), Some(Some(b))] => a.meets(&b),
            [Some(None), Some(Some(other))] => plane(a).distance(&other) <= 0.0,
            [Some(Some(other)), Some(None)] => plane(b).distance(&other) <= 0.0,
            [Some(None), Some(None)] => true,
            _ => false,
        }
    }
}
