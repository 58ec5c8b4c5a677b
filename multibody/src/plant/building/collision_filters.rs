//! Collision filters of a plant: pairs of geometries that are never tested against each other.

use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, CollisionFilterGroup, CollisionFilterGroupSpec, DeformableBodyIndex,
};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_documents::names;
use tarragon_geometry::{CollisionFilterDeclaration, GeometryId, GeometrySet, SceneGraph};

impl MultibodyPlantBuilder {
    /// Excludes collisions between two bodies: no geometry of one is tested
    /// against a geometry of the other.
    ///
    /// ```
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let pan = plant.add_rigid_body("pan", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
    /// plant.exclude_collisions_between(pan, BodyIndex::WORLD)?;
    /// assert_eq!(plant.excluded_pairs(), [(pan, BodyIndex::WORLD)]);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a body is unknown.
    pub fn exclude_collisions_between(&mut self, a: BodyIndex, b: BodyIndex) -> Result<()> {
        self.body(a)?;
        self.body(b)?;
        self.model.excluded.push((a, b));
        Ok(())
    }

    /// Filters a body against its parent as MuJoCo does, instead of against the body that a joint
    /// connects it to: the bodies welded to one do not collide with the bodies welded to the other,
    /// unless the parent is fixed to the world. `None` turns the filter off.
    pub fn set_mjcf_parent(&mut self, body: BodyIndex, parent: Option<BodyIndex>) {
        self.model.mjcf_parents.insert(body, parent);
    }

    /// Adds the filter groups of model files, with member groups resolved to bodies.
    ///
    /// # Errors
    /// Returns an error if two groups have the same name, or a group refers to one that is not in
    /// the list.
    pub fn add_filter_groups(&mut self, groups: &[CollisionFilterGroupSpec]) -> Result<()> {
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
        self.model.filter_groups.extend(resolved);
        Ok(())
    }
}

impl MultibodyModel {
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
}

impl MultibodyPlant {
    /// Excludes the pairs that Drake excludes: between the two bodies of a joint (except joints to
    /// the world and joints with six degrees of freedom; see
    /// [`MultibodyPlantConfig`](crate::MultibodyPlantConfig)), within a group of bodies that are
    /// welded together, and the pairs of the filter groups of model files. In place of the two
    /// bodies of a joint, MJCF files that are read as by MuJoCo exclude a body and its parent, with
    /// all bodies that are welded to either, unless the parent is fixed to the world. Pairs of
    /// [`MultibodyPlantBuilder::exclude_collisions_between`] and of
    /// [`MultibodyPlantBuilder::set_collision_masks`] are excluded as well. The pairs
    /// of [`MultibodyPlantBuilder::add_contact_pair`] are allowed. Does nothing if the filters are
    /// applied already.
    ///
    /// # Errors
    /// Returns an error if the plant is registered with another scene.
    pub fn apply_collision_filters(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        let Some(registration) = &self.registration else {
            return Ok(());
        };
        registration.check_scene(scene_graph)?;
        if registration.filtered {
            return Ok(());
        }
        let mut declaration = CollisionFilterDeclaration::new();
        let welded = WeldedGroups::new(self);
        for group in welded.groups() {
            declaration = declaration.exclude_within(self.proximity_set(group));
        }
        for (a, b) in self.neighbours(&welded) {
            let [a, b] = [a, b].map(|bodies| self.proximity_set(&bodies));
            declaration = declaration.exclude_between(a, b);
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
        if let Some(registration) = &mut self.model.registration {
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

    /// Returns the bodies that are filtered against each other because they are connected: the two
    /// of a joint or, as MuJoCo filters them, a body and its parent with all that is welded to
    /// either (`filterBodyPair` of its `engine_collision_driver.c`).
    fn neighbours(&self, welded: &WeldedGroups) -> Vec<(Vec<BodyIndex>, Vec<BodyIndex>)> {
        if !self.adjacent_bodies_collision_filters {
            return vec![];
        }
        let joints = self.joints.iter().filter(|joint| {
            let on_world = [joint.parent, joint.child].contains(&BodyIndex::WORLD);
            !on_world && !joint.kind.is_floating() && !self.mjcf_parents.contains_key(&joint.child)
        });
        let of_joints = joints.map(|joint| (vec![joint.parent], vec![joint.child]));
        let of_mjcf = self.mjcf_parents.iter();
        let of_mjcf = of_mjcf.filter_map(|(child, parent)| Some((*child, (*parent)?)));
        of_joints
            .chain(welded.filtered_in_mujoco(of_mjcf))
            .collect()
    }

    /// Returns the pairs of bodies with collision geometry that are filtered because they are
    /// connected by joints.
    pub fn adjacent_pairs(&self) -> BTreeSet<(BodyIndex, BodyIndex)> {
        let welded = WeldedGroups::new(self);
        self.pairs_between(self.neighbours(&welded))
    }

    /// Returns the pairs of bodies with collision geometry that MuJoCo would filter because they
    /// are connected by joints. Bodies for which `is_merged` returns true are no bodies of their
    /// own in MuJoCo.
    pub fn adjacent_pairs_in_mujoco(
        &self,
        is_merged: impl Fn(BodyIndex) -> bool,
    ) -> BTreeSet<(BodyIndex, BodyIndex)> {
        let welded = WeldedGroups::new(self);
        let parents: BTreeMap<BodyIndex, BodyIndex> =
            self.joints.iter().map(|j| (j.child, j.parent)).collect();
        let outer = |mut body: BodyIndex| {
            while let Some(parent) = parents.get(&body).filter(|_| is_merged(body)) {
                body = *parent;
            }
            body
        };
        let joints = self.joints.iter().filter(|joint| !is_merged(joint.child));
        let parents = joints.map(|joint| (joint.child, outer(joint.parent)));
        self.pairs_between(welded.filtered_in_mujoco(parents))
    }

    fn pairs_between(
        &self,
        groups: Vec<(Vec<BodyIndex>, Vec<BodyIndex>)>,
    ) -> BTreeSet<(BodyIndex, BodyIndex)> {
        let collides = |body: &&BodyIndex| !self.collision_geometries(**body).is_empty();
        let mut pairs = BTreeSet::new();
        for (a, b) in groups {
            for a in a.iter().filter(collides) {
                let others = b.iter().filter(collides);
                pairs.extend(others.map(|b| (*a.min(b), *a.max(b))));
            }
        }
        pairs
    }
}

/// Bodies of a plant by what they are welded to.
struct WeldedGroups {
    /// The group of each body.
    group_of: Vec<usize>,
    groups: Vec<Vec<BodyIndex>>,
}

impl WeldedGroups {
    fn new(plant: &MultibodyPlant) -> Self {
        let mut leader: Vec<usize> = (0..plant.bodies.len()).collect();
        for node in &plant.topology.tree.nodes {
            // In tree order, the parent's leader is final.
            if node.velocities().is_empty() {
                leader[node.body as usize] = leader[node.parent as usize];
            }
        }
        let mut groups: Vec<Vec<BodyIndex>> = vec![vec![]; leader.len()];
        for (body, leader) in leader.iter().enumerate() {
            groups[*leader].push(BodyIndex::new(body));
        }
        Self {
            group_of: leader,
            groups,
        }
    }

    /// Returns the bodies that MuJoCo filters against each other, given bodies with their parents:
    /// what is welded to a parent, and what is welded to its children.
    fn filtered_in_mujoco(
        &self,
        parents: impl Iterator<Item = (BodyIndex, BodyIndex)>,
    ) -> Vec<(Vec<BodyIndex>, Vec<BodyIndex>)> {
        let mut children: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (child, parent) in parents {
            let [child, parent] = [child, parent].map(|body| self.group_of[body.index()]);
            let is_fixed = [child, parent].contains(&BodyIndex::WORLD.index());
            if child != parent && !is_fixed {
                children.entry(parent).or_default().insert(child);
            }
        }
        let of = |group: usize| self.groups[group].iter().copied();
        let filtered = children.into_iter().map(|(parent, children)| {
            let children = children.into_iter().flat_map(of);
            (of(parent).collect(), children.collect())
        });
        filtered.collect()
    }

    /// Returns the groups of two or more bodies.
    fn groups(&self) -> impl Iterator<Item = &[BodyIndex]> {
        self.groups
            .iter()
            .filter(|g| g.len() > 1)
            .map(Vec::as_slice)
    }
}
