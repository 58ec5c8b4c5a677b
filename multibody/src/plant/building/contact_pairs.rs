//! Collision filters of single geometries, and pairs with their own contact properties.

use crate::error::{Error, Result};
use crate::model::ContactPairProperties;
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::{CollisionFilterDeclaration, GeometryId};

/// Masks of geometry that collides with nothing but in pairs.
const NOTHING: [u32; 2] = [0; 2];

impl MultibodyPlantBuilder {
    /// Gives a geometry the masks of MuJoCo's collision filter, `contype` and `conaffinity`, from
    /// [`MultibodyPlant::apply_collision_filters`] on: two geometries with masks collide only if
    /// the type of one and the affinity of the other share a bit. Geometry without masks collides
    /// with all whose masks are not both 0.
    pub fn set_collision_masks(&mut self, geometry: GeometryId, contype: u32, conaffinity: u32) {
        let masks = [contype, conaffinity];
        self.model.collision_masks.push((geometry, masks));
    }

    /// Makes two geometries collide, whatever the other collision filters of the plant say, with
    /// the properties that are given in place of those that both combine to (MJCF's `pair`). Of
    /// several additions of a pair, the last one counts. Two geometries that cannot move never
    /// collide.
    ///
    /// # Errors
    /// Returns an error if a solver parameter, the margin or the gap is not finite.
    pub fn add_contact_pair(
        &mut self,
        a: GeometryId,
        b: GeometryId,
        properties: ContactPairProperties,
    ) -> Result<()> {
        properties.check().map_err(|why| {
            Error::invalid(format!("contact pair of geometries {a} and {b}: {why}"))
        })?;
        self.model
            .contact_pairs
            .push(([a.min(b), a.max(b)], properties));
        Ok(())
    }
}

impl MultibodyModel {
    /// Returns the pairs whose last addition has properties of its own.
    pub(super) fn own_pair_properties(&self) -> BTreeMap<[GeometryId; 2], ContactPairProperties> {
        let none = ContactPairProperties::default();
        let mut own: BTreeMap<_, _> = self.contact_pairs.iter().copied().collect();
        own.retain(|_, properties| *properties != none);
        own
    }

    /// Returns the pairs of [`MultibodyPlantBuilder::add_contact_pair`].
    pub fn contact_pairs(&self) -> &[([GeometryId; 2], ContactPairProperties)] {
        &self.contact_pairs
    }

    /// Returns the masks `[contype, conaffinity]` of all geometries that have some.
    pub fn collision_masks(&self) -> BTreeMap<GeometryId, [u32; 2]> {
        self.collision_masks.iter().copied().collect()
    }

    /// Returns true if masks exclude a pair of geometries.
    pub fn masks_exclude_any(&self) -> bool {
        let groups = self.mask_groups();
        if groups.contains_key(&NOTHING) && self.all_collision_geometries().len() > 1 {
            return true;
        }
        let mut pairs = groups
            .keys()
            .flat_map(|a| groups.range(*a..).map(move |(b, _)| (a, b)));
        pairs.any(|(a, b)| !masks_collide(a, b) && (a != b || groups[a].len() > 1))
    }

    /// Returns the geometries by their masks.
    fn mask_groups(&self) -> BTreeMap<[u32; 2], Vec<GeometryId>> {
        let mut groups: BTreeMap<[u32; 2], Vec<GeometryId>> = BTreeMap::new();
        for (id, masks) in self.collision_masks() {
            groups.entry(masks).or_default().push(id);
        }
        groups
    }

    /// Returns the collision geometry of all bodies, rigid and deformable.
    pub(in crate::plant) fn all_collision_geometries(&self) -> Vec<GeometryId> {
        let rigid = self.bodies().map(|(body, _)| body);
        let rigid = rigid.flat_map(|body| self.collision_geometries(body).iter().copied());
        let deformable = self.deformable_bodies().iter();
        rigid
            .chain(deformable.map(|body| body.geometry_id()))
            .collect()
    }
}

impl MultibodyPlant {
    /// Adds the filters of geometries and of pairs to a declaration.
    pub(super) fn filter_geometries(
        &self,
        mut declaration: CollisionFilterDeclaration,
    ) -> CollisionFilterDeclaration {
        let mut groups = self.mask_groups();
        if let Some(group) = groups.remove(&NOTHING) {
            let all = self.all_collision_geometries();
            declaration = declaration.exclude_within(group.clone());
            declaration = declaration.exclude_between(group, all);
        }
        while let Some((masks, group)) = groups.pop_first() {
            // One statement for all others, because every two groups may exclude each other.
            let others = groups
                .iter()
                .filter(|(other, _)| !masks_collide(&masks, other));
            let others: Vec<GeometryId> = others.flat_map(|(_, ids)| ids).copied().collect();
            if !masks_collide(&masks, &masks) {
                declaration = declaration.exclude_within(group.clone());
            }
            if !others.is_empty() {
                declaration = declaration.exclude_between(group, others);
            }
        }
        // Between these, no stiffness would be finite.
        let fixed = self.fixed_geometries();
        for ([a, b], _) in &self.contact_pairs {
            if !(fixed.contains(a) && fixed.contains(b)) {
                declaration = declaration.allow_between(vec![*a], vec![*b]);
            }
        }
        declaration
    }

    /// Returns the geometry of bodies that cannot move; none if there are no contact pairs.
    fn fixed_geometries(&self) -> BTreeSet<GeometryId> {
        let bodies = self.bodies().filter(|_| !self.contact_pairs.is_empty());
        let fixed = bodies.filter(|(body, _)| self.trees.of_body(*body).is_none());
        let ids = fixed.flat_map(|(body, _)| self.collision_geometries(body));
        ids.copied().collect()
    }

    /// Returns all pairs that have their own properties.
    pub(in crate::plant) fn pair_properties(
        &self,
    ) -> impl Iterator<Item = ([GeometryId; 2], &ContactPairProperties)> {
        self.pair_properties.iter().map(|(ids, own)| (*ids, own))
    }

    /// Returns the properties of a pair that has its own.
    #[inline]
    pub(in crate::plant) fn properties_of_pair(
        &self,
        [a, b]: [GeometryId; 2],
    ) -> Option<&ContactPairProperties> {
        if self.pair_properties.is_empty() {
            None
        } else {
            self.pair_properties.get(&[a.min(b), a.max(b)])
        }
    }
}

/// Returns true if geometries with these masks collide.
fn masks_collide(
    [contype, conaffinity]: &[u32; 2],
    [other_type, other_affinity]: &[u32; 2],
) -> bool {
    contype & other_affinity != 0 || other_type & conaffinity != 0
}
