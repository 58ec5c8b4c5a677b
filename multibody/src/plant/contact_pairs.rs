//! Pairs of geometries with their own collision filter or friction.

use super::multibody_plant::MultibodyPlant;
use crate::error::Result;
use tarragon_geometry::{CollisionFilterDeclaration, CoulombFriction, GeometryId};

impl MultibodyPlant {
    /// Excludes collisions between geometries of `a` and geometries of `b`, or within `a` if both
    /// are the same, from [`Self::apply_collision_filters`] on.
    ///
    /// # Errors
    /// Returns an error after `finalize`.
    pub fn exclude_collisions_between_geometries(
        &mut self,
        a: &[GeometryId],
        b: &[GeometryId],
    ) -> Result<()> {
        self.check_open(|| "a collision filter".into())?;
        self.excluded_geometries.push([a.to_vec(), b.to_vec()]);
        Ok(())
    }

    /// Makes two geometries collide, whatever the other collision filters of the plant say, and
    /// sets their friction, if it is given, in place of that which their properties combine to
    /// (MJCF's `pair`). Static friction is that of continuous time.
    ///
    /// # Errors
    /// Returns an error after `finalize`.
    pub fn add_contact_pair(
        &mut self,
        a: GeometryId,
        b: GeometryId,
        friction: Option<CoulombFriction>,
    ) -> Result<()> {
        self.check_open(|| "a contact pair".into())?;
        self.contact_pairs.push(([a.min(b), a.max(b)], friction));
        Ok(())
    }

    /// Returns the number of filters and pairs of single geometries.
    pub(crate) fn num_contact_pairs(&self) -> usize {
        self.excluded_geometries.len() + self.contact_pairs.len()
    }

    /// Adds the filters of geometries and of pairs to a declaration.
    pub(super) fn filter_geometries(
        &self,
        mut declaration: CollisionFilterDeclaration,
    ) -> CollisionFilterDeclaration {
        for [a, b] in &self.excluded_geometries {
            declaration = match a == b {
                true => declaration.exclude_within(a.clone()),
                false => declaration.exclude_between(a.clone(), b.clone()),
            };
        }
        for ([a, b], _) in &self.contact_pairs {
            declaration = declaration.allow_between(vec![*a], vec![*b]);
        }
        declaration
    }

    /// Sorts the pairs that have their own friction.
    pub(super) fn index_pair_friction(&mut self) {
        let own = self.contact_pairs.iter();
        let own = own.filter_map(|(pair, friction)| Some((*pair, (*friction)?)));
        self.pair_friction = own.collect();
    }

    /// Returns the friction of a pair that has its own.
    #[inline]
    pub(super) fn friction_of_pair(&self, [a, b]: [GeometryId; 2]) -> Option<CoulombFriction> {
        match self.pair_friction.is_empty() {
            true => None,
            false => self.pair_friction.get(&[a.min(b), a.max(b)]).copied(),
        }
    }
}
