//! Which geometries of a plant are never tested against each other.

use crate::error::Result;
use crate::index::BodyIndex;
use crate::joint::JointKind;
use crate::plant::MultibodyPlant;
use std::collections::BTreeMap;
use tarragon_geometry::{CollisionFilterDeclaration, GeometryId, GeometrySet, SceneGraph};

/// A named set of bodies, from a model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CollisionFilterGroup {
    /// Scoped name.
    pub(crate) name: String,
    pub(crate) members: Vec<BodyIndex>,
    /// Scoped names of the groups that are not tested against this one.
    pub(crate) ignored: Vec<String>,
}

impl MultibodyPlant {
    /// Finalizes the plant and applies its collision filters to the scene it is registered with:
    /// [`Self::finalize`] and [`Self::apply_collision_filters`].
    ///
    /// # Errors
    /// As those.
    pub fn finalize_with(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.finalize()?;
        self.apply_collision_filters(scene_graph)
    }

    /// Excludes the pairs that Drake excludes: between the two bodies of a joint (except joints to
    /// the world and joints with six degrees of freedom), within a group of bodies that are welded
    /// together, and what the filter groups of model files say. Does nothing when done already.
    ///
    /// # Errors
    /// Before `finalize`, or if the plant is registered with another scene.
    pub fn apply_collision_filters(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.finalized("apply_collision_filters")?;
        let Some(registration) = &self.registration else {
            return Ok(());
        };
        if registration.filtered {
            return Ok(());
        }
        let mut declaration = CollisionFilterDeclaration::new();
        for joint in &self.joints {
            let six = joint.kind == JointKind::QuaternionFloating;
            if joint.parent != BodyIndex::WORLD && !six {
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
                let a = self.proximity_set(&group.members);
                declaration = if group.name == other.name {
                    declaration.exclude_within(a)
                } else {
                    declaration.exclude_between(a, self.proximity_set(&other.members))
                };
            }
        }
        scene_graph.apply_collision_filter(&declaration)?;
        if let Some(registration) = &mut self.registration {
            registration.filtered = true;
        }
        Ok(())
    }

    /// Collision geometry of some bodies.
    fn proximity_set(&self, bodies: &[BodyIndex]) -> GeometrySet {
        let ids: Vec<GeometryId> = bodies
            .iter()
            .flat_map(|b| self.collision_geometries(*b))
            .copied()
            .collect();
        ids.into()
    }

    /// Groups of two or more bodies that are welded together.
    fn welded_groups(&self) -> Vec<Vec<BodyIndex>> {
        let mut leader: Vec<usize> = (0..self.bodies.len()).collect();
        let order = self.topology.iter().flat_map(|t| &t.order);
        for joint in order.map(|j| &self.joints[j.index()]) {
            // Tree order: the parent's leader is final.
            if joint.num_velocities() == 0 {
                leader[joint.child.index()] = leader[joint.parent.index()];
            }
        }
        let mut groups: BTreeMap<usize, Vec<BodyIndex>> = BTreeMap::new();
        for (body, leader) in leader.into_iter().enumerate() {
            groups.entry(leader).or_default().push(BodyIndex::new(body));
        }
        groups.into_values().filter(|g| g.len() > 1).collect()
    }
}
