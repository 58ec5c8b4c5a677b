//! Collision filters of a plant: pairs of geometries that are never tested against each other.

use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, CollisionFilterGroup, CollisionFilterGroupSpec, DeformableBodyIndex,
};
use crate::names;
use crate::plant::multibody_plant::MultibodyPlant;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::{CollisionFilterDeclaration, GeometryId, GeometrySet, SceneGraph};

impl MultibodyPlant {
    /// Excludes collisions between two bodies, from `finalize` on: no geometry of one is tested
    /// against a geometry of the other.
    ///
    /// ```
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlant::new(0.001)?;
    /// let pan = plant.add_rigid_body("pan", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
    /// plant.exclude_collisions_between(pan, BodyIndex::WORLD)?;
    /// plant.finalize()?;
    /// assert!(plant.exclude_collisions_between(pan, BodyIndex::WORLD).is_err());
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a body is unknown, or after `finalize`.
    pub fn exclude_collisions_between(&mut self, a: BodyIndex, b: BodyIndex) -> Result<()> {
        self.check_open(|| "a collision filter".into())?;
        self.body(a)?;
        self.body(b)?;
        self.excluded.push((a, b));
        Ok(())
    }

    /// Adds the filter groups of model files, with member groups resolved to bodies.
    pub(crate) fn add_filter_groups(&mut self, groups: &[CollisionFilterGroupSpec]) -> Result<()> {
        let mut places = BTreeMap::new();
        for (i, group) in groups.iter().enumerate() {
            if places.insert(group.name.as_str(), i).is_some() {
                return Err(Error::exists(format!(
                    "collision filter group '{}' is declared twice; rename one",
                    group.name
                )));
            }
        }
        let place = |user: &CollisionFilterGroupSpec, name: &str| {
            places.get(name).copied().ok_or_else(|| {
                let known = places.keys().copied();
                let unknown = names::unknown("collision filter group", name, known);
                Error::not_found(format!("collision filter group '{}': {unknown}", user.name))
            })
        };
        let mut resolved = vec![];
        for group in groups {
            for ignored in &group.ignored {
                place(group, ignored)?;
            }
            // Visits each group once, so that cycles of references end.
            let (mut members, mut deformables) = (BTreeSet::new(), BTreeSet::new());
            let mut seen = BTreeSet::new();
            let mut open = vec![group];
            while let Some(next) = open.pop() {
                members.extend(next.members.iter().copied());
                deformables.extend(next.deformables.iter().copied());
                for name in &next.member_groups {
                    let i = place(next, name)?;
                    if seen.insert(i) {
                        open.push(&groups[i]);
                    }
                }
            }
            resolved.push(CollisionFilterGroup {
                name: group.name.clone(),
                members: members.into_iter().collect(),
                deformables: deformables.into_iter().collect(),
                ignored: group.ignored.clone(),
            });
        }
        self.filter_groups.extend(resolved);
        Ok(())
    }

    /// Returns the collision filter groups of model files: scoped name and member bodies.
    pub fn collision_filter_groups(&self) -> impl Iterator<Item = (&str, &[BodyIndex])> {
        self.filter_groups.iter().map(|g| (&*g.name, &*g.members))
    }
    /// Returns the collision filter groups of model files: scoped name and deformable members.
    pub fn collision_filter_groups_of_deformables(
        &self,
    ) -> impl Iterator<Item = (&str, &[DeformableBodyIndex])> {
        let groups = self.filter_groups.iter();
        groups.map(|g| (&*g.name, &*g.deformables))
    }
    /// Returns the pairs of collision filter groups, by scoped name, that are not tested against
    /// each other. For a group paired with itself, its members are not tested against each other.
    pub fn collision_filter_exclusions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.filter_groups
            .iter()
            .flat_map(|g| g.ignored.iter().map(|i| (&*g.name, &**i)))
    }

    /// Finalizes the plant and applies its collision filters to the scene it is registered with:
    /// [`Self::finalize`] and [`Self::apply_collision_filters`].
    ///
    /// # Errors
    /// Returns the errors of both.
    pub fn finalize_with(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.finalize()?;
        self.apply_collision_filters(scene_graph)
    }

    /// Excludes the pairs that Drake excludes: between the two bodies of a joint (except joints to
    /// the world and joints with six degrees of freedom; see
    /// [`MultibodyPlantConfig`](crate::MultibodyPlantConfig)), within a group of bodies that are
    /// welded together, and the pairs of the filter groups of model files. Pairs of
    /// [`Self::exclude_collisions_between`] and of [`Self::set_collision_masks`] are excluded as
    /// well, and those of [`Self::add_contact_pair`] are allowed. Does nothing if the filters are
    /// applied already.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the plant is registered with another scene.
    pub fn apply_collision_filters(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.finalized("apply_collision_filters")?;
        let Some(registration) = &self.registration else {
            return Ok(());
        };
        registration.check_scene(scene_graph)?;
        if registration.filtered {
            return Ok(());
        }
        let mut declaration = CollisionFilterDeclaration::new();
        for joint in &self.joints {
            let on_world = [joint.parent, joint.child].contains(&BodyIndex::WORLD);
            let adjacent = self.adjacent_bodies_collision_filters;
            if adjacent && !on_world && !joint.kind.is_floating() {
                let [a, b] = [joint.parent, joint.child].map(|b| self.proximity_set(&[b]));
                declaration = declaration.exclude_between(a, b);
            }
        }
        for group in self.welded_groups() {
            declaration = declaration.exclude_within(self.proximity_set(&group));
        }
        let by_name: BTreeMap<&str, &CollisionFilterGroup> = self
            .filter_groups
            .iter()
            .map(|g| (g.name.as_str(), g))
            .collect();
        for group in &self.filter_groups {
            for other in group.ignored.iter().filter_map(|n| by_name.get(&**n)) {
                let a = self.group_set(group);
                declaration = if group.name == other.name {
                    declaration.exclude_within(a)
                } else {
                    declaration.exclude_between(a, self.group_set(other))
                };
            }
        }
        for (a, b) in &self.excluded {
            let (a, b) = (self.proximity_set(&[*a]), self.proximity_set(&[*b]));
            declaration = declaration.exclude_between(a, b);
        }
        let declaration = self.filter_geometries(declaration);
        scene_graph.apply_collision_filter(&declaration)?;
        if let Some(registration) = &mut self.registration {
            registration.filtered = true;
        }
        Ok(())
    }

    /// Returns the collision geometry of some bodies.
    fn proximity_set(&self, bodies: &[BodyIndex]) -> GeometrySet {
        let ids: Vec<GeometryId> = bodies
            .iter()
            .flat_map(|b| self.collision_geometries(*b))
            .copied()
            .collect();
        ids.into()
    }

    /// Returns the collision geometry of the members of a filter group.
    fn group_set(&self, group: &CollisionFilterGroup) -> GeometrySet {
        let rigid = group.members.iter();
        let rigid = rigid.flat_map(|b| self.collision_geometries(*b)).copied();
        let deformable = group.deformables.iter();
        let deformable = deformable.map(|b| self.deformables[b.index()].geometry);
        let ids: Vec<GeometryId> = rigid.chain(deformable).collect();
        ids.into()
    }

    /// Groups of two or more bodies that are welded together.
    fn welded_groups(&self) -> Vec<Vec<BodyIndex>> {
        let mut leader: Vec<usize> = (0..self.bodies.len()).collect();
        for node in self.topology.iter().flat_map(|t| &t.tree.nodes) {
            // In tree order, the parent's leader is final.
            if node.velocities().is_empty() {
                leader[node.body as usize] = leader[node.parent as usize];
            }
        }
        let mut groups: BTreeMap<usize, Vec<BodyIndex>> = BTreeMap::new();
        for (body, leader) in leader.into_iter().enumerate() {
            groups.entry(leader).or_default().push(BodyIndex::new(body));
        }
        groups.into_values().filter(|g| g.len() > 1).collect()
    }
}
