//! Inertia of joints in the configuration of the file.

use super::builder::MjcfBuilder;
use super::own_plant::joint_after;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Vector3};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_multibody::{
    BodyIndex, JointIndex, MultibodyPlant, PositionKinematics, SpatialVector, TendonPart,
    VelocityKinematics, walk_tendon,
};

/// Largest number of velocities for which a mass matrix is made.
const MOST_DENSE: usize = 600;

/// The bodies of a document at rest in their default configuration, with answers by recursions over
/// them.
pub(super) struct DefaultInertia {
    plant: MultibodyPlant,
    /// First joint of the document in the plant to which it is added.
    first_joint: JointIndex,
    /// Diagonal of the mass matrix.
    diagonal: Vec<f64>,
    positions: PositionKinematics<f64>,
    at_rest: VelocityKinematics<f64>,
    mass_matrix: OnceCell<DMatrix<f64>>,
    /// Blocks of coupled velocities by their lowest one, computed when they are needed first.
    blocks: RefCell<BTreeMap<usize, MassBlock>>,
}

/// Velocities that depend on each other, sorted, with the factors of their mass matrix, if that is
/// positive definite.
struct MassBlock {
    velocities: Vec<usize>,
    factors: Option<Cholesky<f64, Dyn>>,
}

impl DefaultInertia {
    /// Returns the inertia along a joint with one degree of freedom while all others are at rest
    /// (kg m^2 or kg).
    pub(super) fn along(&self, joint: JointIndex) -> Option<f64> {
        self.diagonal.get(self.velocity(joint)?).copied()
    }

    /// Returns the joints of the document that change the length of a path, with their moment arms
    /// (m/rad, or 1 for a position in m). `own` returns the index of a body in this plant.
    ///
    /// # Errors
    /// Returns an error if a joint with several degrees of freedom moves a body of the path: MuJoCo
    /// has other velocities for it, on which the damping depends.
    pub(super) fn moments(
        &self,
        path: &[TendonPart],
        own: impl Fn(BodyIndex) -> BodyIndex,
    ) -> crate::Result<Vec<(JointIndex, f64)>> {
        let mut forces = self.plant.zero_forces();
        let pose = |body| *self.positions.x_wb(own(body));
        walk_tendon(path, pose, |end| {
            let pull = SpatialVector {
                rotational: Vector3::zeros(),
                translational: end.gradient,
            };
            forces.add_body_force(own(end.body), pull.force_at(&-end.arm));
        });
        let all = self
            .plant
            .calc_generalized_forces(&self.positions, &forces)?;
        let mut moments = vec![];
        for (index, joint) in self.plant.joints() {
            let start = self.plant.velocity_start(index)?;
            match all[start..start + joint.num_velocities()] {
                [] => {}
                [moment] => {
                    let number = index.index() + self.first_joint.index();
                    moments.push((JointIndex::new(number), moment));
                }
                ref several if several.iter().all(|x| *x == 0.0) => {}
                _ => {
                    return Err(crate::Error::unsupported(
                        "it is relative to the inertia of the joints that move the tendon, which \
                         must have one degree of freedom; give the damping as 'kv'",
                    ));
                }
            }
        }
        Ok(moments)
    }

    /// Returns the inertia along a joint with one degree of freedom while all others are free to
    /// move (kg m^2 or kg); `None` if some motion of its tree has no inertia, or if one of another
    /// tree has none and the plant is large.
    pub(super) fn while_others_move(&self, joint: JointIndex) -> Option<f64> {
        let v = self.velocity(joint)?;
        let mut forces = self.plant.zero_forces();
        *forces.generalized_forces_mut().get_mut(v)? = 1.0;
        let (positions, at_rest) = (&self.positions, &self.at_rest);
        match self
            .plant
            .calc_forward_dynamics(positions, at_rest, &forces)
        {
            Ok(vdot) => Some(vdot.get(v)?.recip()),
            // The articulated-body algorithm ends at the first motion without inertia.
            Err(_) => self.in_own_block(v),
        }
    }

    /// Returns the place of the velocity of a joint of the document.
    fn velocity(&self, joint: JointIndex) -> Option<usize> {
        let joint = joint_after(joint, self.first_joint);
        self.plant.velocity_start(joint).ok()
    }

    fn in_own_block(&self, v: usize) -> Option<f64> {
        if self.plant.num_velocities() > MOST_DENSE {
            return None;
        }
        let mass_matrix = match self.mass_matrix.get() {
            Some(known) => known,
            None => {
                let computed = self.plant.calc_mass_matrix(&self.positions).ok()?;
                self.mass_matrix.get_or_init(|| computed)
            }
        };
        let velocities = coupled_with(mass_matrix, v);
        let mut blocks = self.blocks.borrow_mut();
        let block = blocks.entry(*velocities.first()?).or_insert_with(|| {
            let matrix = mass_matrix.select_rows(&velocities);
            let factors = matrix.select_columns(&velocities).cholesky();
            MassBlock {
                velocities,
                factors,
            }
        });
        let place = block.velocities.binary_search(&v).ok()?;
        let mut unit = DVector::zeros(block.velocities.len());
        *unit.get_mut(place)? = 1.0;
        Some(block.factors.as_ref()?.solve(&unit)[place].recip())
    }
}

/// Returns the velocities that depend on one by inertia, sorted, with itself.
fn coupled_with(mass_matrix: &DMatrix<f64>, v: usize) -> Vec<usize> {
    let mut found = BTreeSet::from([v]);
    let mut waiting = vec![v];
    while let Some(next) = waiting.pop() {
        for (other, coupling) in mass_matrix.column(next).iter().enumerate() {
            if *coupling != 0.0 && found.insert(other) {
                waiting.push(other);
            }
        }
    }
    found.into_iter().collect()
}

impl MjcfBuilder<'_, '_, '_> {
    /// Prepares the inertia of the joints of the document.
    pub(super) fn default_inertia(&self) -> crate::Result<DefaultInertia> {
        let plant = self.own_plant()?;
        let positions = plant.calc_position_kinematics(&plant.default_positions())?;
        let v = vec![0.0; plant.num_velocities()];
        let at_rest = plant.calc_velocity_kinematics(&positions, &v)?;
        Ok(DefaultInertia {
            diagonal: plant.calc_mass_matrix_diagonal(&positions)?,
            first_joint: self.first_joint,
            plant,
            positions,
            at_rest,
            mass_matrix: OnceCell::new(),
            blocks: RefCell::default(),
        })
    }
}
