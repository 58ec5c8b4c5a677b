//! Contact between the collision geometries of a plant.

use super::results::PointPairContactInfo;
use super::search::FoundContacts;
use super::surfaces::{BodySurface, SurfaceFace, face_site};
use crate::discrete::{CONTACTS_PER_TASK, ContactSite, ContactSites, are_many};
use crate::error::{Error, Result};
use crate::kinematics::VelocityKinematics;
use crate::model::{BodyIndex, ContactMargin};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::Sleepers;
use crate::plant::values::combined_material::CombinedMaterial;
use crate::plant::values::contact_materials::{ContactMaterial, ContactMaterials};
use crate::plant::values::model_parameters::ModelParameters;
use nalgebra::Vector3;
use rayon::prelude::*;
use tarragon_framework::Scalar;
use tarragon_geometry::{
    GeometryId, PenetrationAsPointPair, QueryObject, SceneGraphInspector, SparsePenetration,
};

/// Contacts at points and on surfaces, before their forces are known.
#[derive(Clone, Debug)]
pub(in crate::plant) struct SceneContacts<T: Scalar> {
    /// Those at points, then those on faces.
    pub(in crate::plant) sites: ContactSites<T>,
    pub(in crate::plant) contacts: Vec<PointContact>,
    pub(in crate::plant) faces: Vec<SurfaceFace>,
    pub(in crate::plant) surfaces: Vec<BodySurface<T>>,
    /// Coefficients of static and dynamic friction, by contact; only for continuous time.
    friction: Vec<(T, T)>,
    /// All pairs of geometries that overlap, or are nearer than their margin.
    pub(in crate::plant) pairs: Vec<SparsePenetration<T>>,
    /// Combined properties of these pairs, unless a context has its own: mostly the same in the
    /// next step.
    touching: Vec<Option<TouchingPair>>,
    /// The geometry of `touching`.
    generation: u64,
}

/// Two geometries in contact.
#[derive(Clone, Copy, Debug)]
struct TouchingPair {
    ids: [GeometryId; 2],
    bodies: [BodyIndex; 2],
    material: CombinedMaterial<f64>,
}

/// The pair of geometries from which a contact comes.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct PointContact {
    pub(in crate::plant) pair: usize,
    pub(super) point_id: u32,
}

impl<T: Scalar> SceneContacts<T> {
    pub(in crate::plant) fn empty() -> Self {
        Self {
            sites: ContactSites::empty(),
            contacts: vec![],
            faces: vec![],
            surfaces: vec![],
            friction: vec![],
            pairs: vec![],
            touching: vec![],
            generation: 0,
        }
    }
    pub(in crate::plant) fn clear(&mut self) {
        self.sites.clear();
        self.contacts.clear();
        self.faces.clear();
        self.surfaces.clear();
        self.friction.clear();
        self.pairs.clear();
    }
}

impl MultibodyPlant {
    /// Finds all contacts between the geometries of a scene.
    pub(in crate::plant) fn update_scene_contacts<T: Scalar>(
        &self,
        contacts: &mut SceneContacts<T>,
        materials: &mut ContactMaterials,
        query: &QueryObject<T>,
        parameters: &ModelParameters<T>,
        sleepers: &Sleepers,
    ) -> Result<()> {
        let inspector = query.inspector();
        materials.update(self, &inspector)?;
        let materials = &*materials;
        // Contacts among sleepers and what does not move are known.
        let moves = |body: BodyIndex| match self.trees.of_body(body) {
            Some(tree) => !sleepers.is_asleep(tree),
            None => false,
        };
        let may_move = |id: GeometryId| materials.body_of(id).is_none_or(moves);
        let any_sleep = sleepers.any();
        let wanted = |a, b| !any_sleep || may_move(a) || may_move(b);
        // The number of contacts changes little from one step to the next.
        let query = query.with_parallel(are_many(contacts.pairs.len()));
        let search = self.contact_search(materials);
        let FoundContacts {
            surfaces,
            point_ids,
        } = match materials.max_reach() {
            None => {
                let reach = |a, b| wanted(a, b).then_some(0.0);
                search.find(&query, materials.terrain(), 0.0, reach, &mut contacts.pairs)?
            }
            Some(max_reach) => {
                let reach = |a, b| wanted(a, b).then(|| materials.margin_of(self, [a, b]).reach());
                search.find(
                    &query,
                    materials.terrain(),
                    max_reach,
                    reach,
                    &mut contacts.pairs,
                )?
            }
        };
        contacts.faces.clear();
        contacts.surfaces.clear();
        for surface in surfaces {
            let ids = [surface.id_m(), surface.id_n()];
            let m = materials.get(self, &inspector, ids[0])?;
            let n = materials.get(self, &inspector, ids[1])?;
            let own = [m.with(parameters, ids[0])?, n.with(parameters, ids[1])?];
            let moduli = [m.modulus, n.modulus].map(T::from);
            contacts.surfaces.push(BodySurface {
                surface,
                bodies: [m.body, n.body],
                material: CombinedMaterial::new(self, ids, own, Some(moduli)),
            });
        }
        let contact = |pair: usize| PointContact {
            pair,
            point_id: point_ids.get(pair).copied().unwrap_or(0),
        };
        let touching = |pair: &PenetrationAsPointPair<f64>, known: &mut Option<TouchingPair>| {
            let ids = [pair.id_a, pair.id_b];
            if let Some(known) = known.filter(|known| known.ids == ids) {
                return Ok((known.bodies, known.material, None));
            }
            let a = materials.get(self, &inspector, pair.id_a)?;
            let b = materials.get(self, &inspector, pair.id_b)?;
            let bodies = [a.body, b.body];
            if parameters.materials.is_empty() {
                let material = self.combined_material(&inspector, ids, [a, b])?;
                *known = Some(TouchingPair {
                    ids,
                    bodies,
                    material,
                });
                return Ok((bodies, material, None));
            }
            let own = [a.with(parameters, ids[0])?, b.with(parameters, ids[1])?];
            let combined = self.combined_material(&inspector, ids, own)?;
            let constant = T::NDERIV == 0 || combined.is_constant();
            Ok((bodies, combined.real(), (!constant).then_some(combined)))
        };
        let (pairs, sites) = (&contacts.pairs, &mut contacts.sites);
        let known = &mut contacts.touching;
        if contacts.generation != materials.generation() || !parameters.materials.is_empty() {
            known.clear();
            contacts.generation = materials.generation();
        }
        known.resize(pairs.len(), None);
        contacts.contacts.clear();
        contacts.friction.clear();
        sites.derived.clear();
        let every_pair_is_one = T::NDERIV == 0 && !any_sleep && self.time_step > 0.0;
        if every_pair_is_one && are_many(pairs.len()) && contacts.surfaces.is_empty() {
            sites.real.resize(pairs.len(), ContactSite::unknown());
            let places = sites.real.par_iter_mut().zip(pairs).zip(&mut *known);
            let found = places.with_max_len(CONTACTS_PER_TASK);
            let found = found.try_for_each(|((site, pair), known)| {
                let (bodies, real, _) = touching(&pair.real, known)?;
                *site = real.site(bodies, &pair.real);
                Ok::<_, Error>(())
            });
            contacts.contacts.extend((0..pairs.len()).map(contact));
            // If there are several errors, the first is the one of the lowest pair.
            let first_error = || {
                let mut places = pairs.iter().zip(known);
                places.find_map(|(pair, known)| touching(&pair.real, known).err())
            };
            return found.map_err(|error| first_error().unwrap_or(error));
        }
        sites.real.clear();
        for (k, (pair, known)) in pairs.iter().zip(known).enumerate() {
            let (bodies, real, derived) = touching(&pair.real, known)?;
            if any_sleep && !bodies.into_iter().any(moves) {
                continue;
            }
            sites.real.push(real.site(bodies, &pair.real));
            if T::NDERIV > 0 {
                sites.derived.push(match (&derived, &pair.derived) {
                    (Some(combined), _) => Some(combined.site(bodies, &pair.to_pair())),
                    (None, Some(pair)) => Some(real.site(bodies, pair)),
                    (None, None) => None,
                });
            }
            contacts.contacts.push(contact(k));
            if self.time_step == 0.0 {
                let friction = match derived {
                    Some(combined) => (combined.stiction, combined.mu),
                    None => (T::from(real.stiction), T::from(real.mu)),
                };
                contacts.friction.push(friction);
            }
        }
        if self.time_step > 0.0 {
            contacts.add_faces();
        }
        Ok(())
    }

    /// Combines the properties of two geometries in contact.
    #[inline]
    fn combined_material<T: Scalar>(
        &self,
        inspector: &SceneGraphInspector<'_>,
        [id_a, id_b]: [GeometryId; 2],
        [a, b]: [ContactMaterial<T>; 2],
    ) -> Result<CombinedMaterial<T>> {
        if a.stiffness.re().is_infinite() && b.stiffness.re().is_infinite() {
            return Err(Error::unsupported(format!(
                "contact between '{}' and '{}': the point_contact_stiffness of at least one must be \
                 finite, got two infinite ones",
                inspector.name(id_a)?,
                inspector.name(id_b)?
            )));
        }
        let ids = [id_a, id_b];
        let own = [&a, &b].map(|of| of.as_in_mujoco.as_ref());
        let margin = ContactMargin::new(self.properties_of_pair(ids), own);
        let combined = CombinedMaterial::new(self, ids, [a, b], None);
        Ok(combined.with_offset(margin.offset()))
    }
}

impl<T: Scalar> SceneContacts<T> {
    /// Adds the faces of all surfaces as contacts.
    fn add_faces(&mut self) {
        for (s, of) in self.surfaces.iter().enumerate() {
            for f in 0..of.surface.num_faces() {
                let Some(site) = face_site(of, f) else {
                    continue;
                };
                self.sites.real.push(site.real());
                if T::NDERIV > 0 {
                    self.sites.derived.push(Some(site));
                }
                self.faces.push(SurfaceFace {
                    surface: s,
                    face: f,
                });
            }
        }
    }
}

/// Drake's quintic step from 0 to 1.
fn smooth_step<T: Scalar>(x: T) -> T {
    let cube = x * x * x;
    cube * (x * (x * 6.0 - 15.0) + 10.0)
}

/// Returns the coefficient of friction at a slip speed divided by the stiction tolerance.
fn stribeck_friction<T: Scalar>((stiction, sliding): (T, T), s: T) -> T {
    match s.re() {
        x if x < 1.0 => smooth_step(s) * stiction,
        x if x < 3.0 => smooth_step((s - 1.0) * 0.5) * (sliding - stiction) + stiction,
        _ => sliding,
    }
}

impl<T: Scalar> SceneContacts<T> {
    /// Computes force and speeds of a contact in continuous time, as a function of the state alone.
    /// The contact point is midway between the witness points, as in Drake.
    pub(in crate::plant) fn continuous(
        &self,
        k: usize,
        x_wb: &[nalgebra::Isometry3<T>],
        velocities: &VelocityKinematics<T>,
        stiction_tolerance: f64,
    ) -> PointPairContactInfo<T> {
        let (contact, site) = (&self.contacts[k], self.sites.get(k));
        let pair = self.pairs[contact.pair].to_pair();
        let p_wc = (pair.p_wca + pair.p_wcb) * T::from(0.5);
        let at = |body: BodyIndex| {
            let arm = p_wc - x_wb[body.index()].translation.vector;
            velocities.v_wb(body).velocity_at(&arm).translational
        };
        let v_c = site.r_wc.tr_mul(&(at(site.bodies[1]) - at(site.bodies[0])));
        let c = &site.parameters;
        let positive = |x: T| if x.re() > 0.0 { x } else { T::zero() };
        let normal = match &c.soft {
            Some(soft) => (soft.reference - v_c.z * soft.damping) / soft.regularization[1],
            // Negative damping would turn a pull into a push.
            None => c.k * c.depth * positive(T::one() - c.d * v_c.z),
        };
        let normal = positive(normal);
        let slip_squared = v_c.x * v_c.x + v_c.y * v_c.y;
        let (slip, friction) = if slip_squared.re() > 0.0 {
            let slip = slip_squared.sqrt();
            let mu = stribeck_friction(self.friction[k], slip / stiction_tolerance);
            (slip, -mu * normal / slip)
        } else {
            (T::zero(), T::zero())
        };
        let force = Vector3::new(friction * v_c.x, friction * v_c.y, normal);
        PointPairContactInfo {
            body_a: site.bodies[0],
            body_b: site.bodies[1],
            contact_force: site.r_wc * force,
            contact_point: p_wc,
            separation_speed: v_c.z,
            slip_speed: slip,
            point_pair: pair,
            point_id: contact.point_id,
        }
    }
}
