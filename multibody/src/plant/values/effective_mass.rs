//! Effective masses of bodies for soft contact as in MuJoCo.

use crate::error::Result;
use crate::model::{BodyIndex, Joint, JointKind};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// Least mobility of a center of mass, relative to its tree of joints as one body.
const LEAST_MOBILITY: f64 = 1e-9;

impl MultibodyPlant {
    /// Returns the effective mass of each body (kg) in the default configuration: a force on the
    /// center of mass, divided by the acceleration of this point along the force, as the harmonic
    /// mean over all directions. It is infinite for bodies that cannot move. It is the mass of the
    /// tree of joints if a motion has no inertia, or if no joint moves the center of mass.
    ///
    /// This is the inverse of MuJoCo's `body_invweight0` (`mj_setConst`).
    pub(super) fn effective_masses(&self) -> Vec<f64> {
        let trees = (0..self.bodies.len()).map(|i| self.trees.of_body(BodyIndex::new(i)));
        let trees: Vec<Option<usize>> = trees.collect();
        let mut masses = self.tree_masses(&trees);
        if let Ok(mobilities) = self.mobilities(&trees) {
            for (mass, sum) in masses.iter_mut().zip(mobilities) {
                // If no joint moves the center of mass, as in a wheel, `sum` is only rounding.
                let is_massless = *mass == 0.0 && sum > 0.0;
                if mass.is_finite() && (is_massless || sum * *mass > LEAST_MOBILITY) {
                    *mass = 3.0 / sum;
                }
            }
        }
        for (body, mass) in self.slides(&trees) {
            masses[body] = mass;
        }
        masses
    }

    /// Returns the bodies that slide along their axes, with their masses. For a single body on
    /// joints to the world, MuJoCo takes the mass itself if the center of mass and the principal
    /// axes coincide with the body's frame (`body_simple`).
    fn slides(&self, trees: &[Option<usize>]) -> Vec<(usize, f64)> {
        let mut of_tree: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (body, tree) in trees.iter().enumerate() {
            if let Some(tree) = tree {
                of_tree.entry(*tree).or_default().push(body);
            }
        }
        let mut joint_of: BTreeMap<BodyIndex, &Joint> = BTreeMap::new();
        joint_of.extend(self.joints.iter().map(|joint| (joint.child, joint)));
        let slides = |body: &usize| match joint_of.get(&BodyIndex::new(*body)).map(|j| &j.kind) {
            Some(JointKind::Prismatic { axis }) => axis.iter().filter(|x| **x != 0.0).count() == 1,
            _ => false,
        };
        let simple = |bodies: Vec<usize>| {
            let inertia = |body: usize| self.bodies[body].spatial_inertia();
            let mut heavy = bodies.iter().filter(|body| inertia(**body).mass() > 0.0);
            let (Some(body), None) = (heavy.next(), heavy.next()) else {
                return None;
            };
            let is_parent = |of: &Joint| of.parent == BodyIndex::new(*body);
            let own = inertia(*body);
            let (center, inertia) = (own.center_of_mass(), own.rotational_inertia());
            let products = [inertia[(0, 1)], inertia[(0, 2)], inertia[(1, 2)]];
            let is_aligned = center.iter().chain(&products).all(|x| *x == 0.0);
            let is_simple =
                bodies.iter().all(slides) && is_aligned && !self.joints.iter().any(is_parent);
            is_simple.then(|| (*body, own.mass()))
        };
        of_tree.into_values().filter_map(simple).collect()
    }

    /// Returns the effective mass (kg) of two bodies that a constraint pulls together: the inverse
    /// of the sum of their inverses, as in MuJoCo. `None` if neither can move, or one has no mass.
    pub(in crate::plant) fn effective_mass_between(
        &self,
        a: BodyIndex,
        b: BodyIndex,
    ) -> Option<f64> {
        let masses = self
            .constrained_masses
            .get_or_init(|| self.effective_masses());
        let mobility = 1.0 / masses[a.index()] + 1.0 / masses[b.index()];
        (mobility > 0.0 && mobility.is_finite()).then(|| mobility.recip())
    }

    /// Returns the mobility of each center of mass: its acceleration per force (1/kg), summed over
    /// three directions.
    fn mobilities(&self, trees: &[Option<usize>]) -> Result<Vec<f64>> {
        let positions = self.calc_position_kinematics(&self.default_positions())?;
        let at_rest = vec![0.0; self.num_velocities()];
        let at_rest = self.calc_velocity_kinematics(&positions, &at_rest)?;
        // Accelerations from gravity and other force elements, to be subtracted from the response.
        let before = self.calc_forward_dynamics(&positions, &at_rest, &self.zero_forces())?;
        // Trees do not move each other, so one body of each tree can be pushed at the same time.
        let mut bodies: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (body, tree) in trees.iter().enumerate() {
            if let Some(tree) = tree {
                bodies.entry(*tree).or_default().push(body);
            }
        }
        let most = bodies.values().map(Vec::len).max().unwrap_or(0);
        let mut sums = vec![0.0; trees.len()];
        for rank in 0..most {
            let asked = || bodies.values().filter_map(|of| of.get(rank).copied());
            let arm = |body: usize| {
                let x_wb = positions.x_wb(BodyIndex::new(body));
                x_wb.rotation * self.bodies[body].spatial_inertia().center_of_mass()
            };
            for direction in [Vector3::x(), Vector3::y(), Vector3::z()] {
                let mut forces = self.zero_forces();
                for body in asked() {
                    let push = SpatialVector {
                        rotational: Vector3::zeros(),
                        translational: direction,
                    };
                    forces.add_at(BodyIndex::new(body), &arm(body), push);
                }
                let mut change = self.calc_forward_dynamics(&positions, &at_rest, &forces)?;
                for (after, before) in change.iter_mut().zip(before.iter()) {
                    *after -= before;
                }
                // From rest, accelerations are linear in those of the coordinates.
                let moved = self.calc_velocity_kinematics(&positions, change.as_slice())?;
                for body in asked() {
                    let at_com = moved.v_wb(BodyIndex::new(body)).velocity_at(&arm(body));
                    sums[body] += at_com.translational.dot(&direction);
                }
            }
        }
        Ok(sums)
    }

    /// Returns the mass of the tree of each body; infinite for bodies that cannot move.
    fn tree_masses(&self, trees: &[Option<usize>]) -> Vec<f64> {
        let mut masses: BTreeMap<usize, f64> = BTreeMap::new();
        for (body, tree) in self.bodies.iter().zip(trees) {
            if let Some(tree) = tree {
                *masses.entry(*tree).or_default() += body.spatial_inertia().mass();
            }
        }
        let of = |tree: &Option<usize>| tree.map_or(f64::INFINITY, |tree| masses[&tree]);
        trees.iter().map(of).collect()
    }
}
