//! Maps between velocities and position rates.

use super::Context;
use crate::counted::counted;
use crate::{Error, Result, Scalar};

impl<T: Scalar> Context<T> {
    /// Computes the rates of all positions of the diagram from all its velocities at the current
    /// configuration: `qdot = N(q) v`, system by system.
    ///
    /// # Errors
    /// Returns an error if the lengths differ from the numbers of positions and velocities, if a
    /// system has different numbers of both and declares no map, or if its map fails.
    pub fn map_v_to_qdot(&self, v: &[T], qdot: &mut [T]) -> Result<()> {
        self.map_velocities(Direction::VToQdot, v, qdot)
    }

    /// Computes velocities from position rates: the inverse of [`Context::map_v_to_qdot`] for rates
    /// that velocities can produce.
    ///
    /// # Errors
    /// Same as [`Context::map_v_to_qdot`].
    pub fn map_qdot_to_v(&self, qdot: &[T], v: &mut [T]) -> Result<()> {
        self.map_velocities(Direction::QdotToV, qdot, v)
    }

    fn map_velocities(&self, direction: Direction, from: &[T], to: &mut [T]) -> Result<()> {
        let sizes = self.plan.leaves.iter().map(|leaf| leaf.continuous);
        let (nq, nv) = sizes.fold((0, 0), |(q, v), s| (q + s.q, v + s.v));
        let (n_from, n_to) = direction.order(nq, nv);
        if (from.len(), to.len()) != (n_from, n_to) {
            return Err(Error::invalid(format!(
                "{}: the vectors must have {n_from} and {n_to} elements, got {} and {}",
                direction.name(),
                from.len(),
                to.len()
            )));
        }
        let (mut from, mut to) = (from, to);
        for (system, leaf) in self.plan.leaves.iter().enumerate() {
            let (n_from, n_to) = direction.order(leaf.continuous.q, leaf.continuous.v);
            let (a, rest_from) = from.split_at(n_from);
            let (b, rest_to) = to.split_at_mut(n_to);
            (from, to) = (rest_from, rest_to);
            match &leaf.velocity_map {
                Some(map) => {
                    let map = match direction {
                        Direction::VToQdot => &map.v_to_qdot,
                        Direction::QdotToV => &map.qdot_to_v,
                    };
                    map(&self.leaf_context(system), a, b).map_err(|e| {
                        e.locate(Some(system), || format!("velocity map of '{}'", leaf.path))
                    })?;
                }
                None if n_from == n_to => b.copy_from_slice(a),
                None => {
                    return Err(Error::invalid(format!(
                        "{}: system '{}' has {positions} and {velocities}; declare how they relate \
                         with `Declare::velocity_map`",
                        direction.name(),
                        leaf.path,
                        positions = counted(leaf.continuous.q, "position"),
                        velocities = counted(leaf.continuous.v, "velocity")
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Direction of a velocity map.
#[derive(Clone, Copy)]
enum Direction {
    VToQdot,
    QdotToV,
}

impl Direction {
    fn order<X>(self, q: X, v: X) -> (X, X) {
        match self {
            Self::VToQdot => (v, q),
            Self::QdotToV => (q, v),
        }
    }
    fn name(self) -> &'static str {
        match self {
            Self::VToQdot => "map_v_to_qdot",
            Self::QdotToV => "map_qdot_to_v",
        }
    }
}
