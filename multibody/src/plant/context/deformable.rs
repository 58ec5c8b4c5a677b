//! State of deformable bodies in the context of a diagram.

use crate::error::{Error, Result};
use crate::model::DeformableBodyIndex;
use crate::plant::ports::MultibodyPlantPorts;
use nalgebra::Vector3;
use tarragon_framework::prelude::DiscreteState;
use tarragon_framework::{Context, Scalar, counted};

/// Parts of the state of a body, in order.
#[derive(Clone, Copy)]
enum Part {
    Positions,
    Velocities,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Velocities => "velocities",
        }
    }
}

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Returns the positions of the vertices of a deformable body in W (m).
    ///
    /// # Errors
    /// Returns an error if the body is unknown, or if the context belongs to another diagram.
    pub fn deformable_positions(
        &self,
        context: &Context<T>,
        body: DeformableBodyIndex,
    ) -> Result<Vec<Vector3<T>>> {
        self.read_deformable(context, body, Part::Positions)
    }

    /// Returns the velocities of the vertices of a deformable body in W (m/s).
    ///
    /// # Errors
    /// Returns the errors of [`Self::deformable_positions`].
    pub fn deformable_velocities(
        &self,
        context: &Context<T>,
        body: DeformableBodyIndex,
    ) -> Result<Vec<Vector3<T>>> {
        self.read_deformable(context, body, Part::Velocities)
    }

    /// Sets the positions of the vertices of a deformable body in W (m).
    ///
    /// # Errors
    /// Returns an error if the body is unknown, if the number of vertices is another, if a number
    /// is not finite, or if the context belongs to another diagram. Nothing changes in that case.
    pub fn set_deformable_positions(
        &self,
        context: &mut Context<T>,
        body: DeformableBodyIndex,
        q: &[Vector3<T>],
    ) -> Result<()> {
        self.write_deformable(context, body, Part::Positions, q)
    }

    /// Sets the velocities of the vertices of a deformable body in W (m/s).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_deformable_positions`].
    pub fn set_deformable_velocities(
        &self,
        context: &mut Context<T>,
        body: DeformableBodyIndex,
        v: &[Vector3<T>],
    ) -> Result<()> {
        self.write_deformable(context, body, Part::Velocities, v)
    }

    /// Disables a deformable body in a context, or enables it (Drake's `Disable` and `Enable`). A
    /// disabled body does not move, has velocity 0, and neither feels nor exerts any force.
    ///
    /// # Errors
    /// Returns an error if the body is unknown, or if the context belongs to another diagram.
    pub fn set_deformable_enabled(
        &self,
        context: &mut Context<T>,
        body: DeformableBodyIndex,
        enabled: bool,
    ) -> Result<()> {
        self.deformable_state(body)?;
        let disabled = self.deformable()?.entries.disabled;
        context.param_mut(disabled)?[body.index()] = !enabled;
        Ok(())
    }

    /// Returns true unless a deformable body is disabled in a context.
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_deformable_enabled`].
    pub fn is_deformable_enabled(
        &self,
        context: &Context<T>,
        body: DeformableBodyIndex,
    ) -> Result<bool> {
        self.deformable_state(body)?;
        let disabled = self.deformable()?.entries.disabled;
        Ok(!context.param(disabled)?[body.index()])
    }

    fn deformable_state(&self, body: DeformableBodyIndex) -> Result<DiscreteState<Vec<T>>> {
        let states = &self.deformable()?.entries.states;
        states.get(body.index()).copied().ok_or_else(|| {
            Error::not_found(format!(
                "the index of a deformable body must be below {}, got {}",
                states.len(),
                body.index()
            ))
        })
    }

    fn read_deformable(
        &self,
        context: &Context<T>,
        body: DeformableBodyIndex,
        part: Part,
    ) -> Result<Vec<Vector3<T>>> {
        let state = context.xd(self.deformable_state(body)?)?;
        let n = state.len() / 3;
        let own = state.chunks_exact(n).nth(part as usize).unwrap_or(&[]);
        let (vertices, _) = own.as_chunks::<3>();
        Ok(vertices.iter().map(|v| Vector3::from(*v)).collect())
    }

    fn write_deformable(
        &self,
        context: &mut Context<T>,
        body: DeformableBodyIndex,
        part: Part,
        values: &[Vector3<T>],
    ) -> Result<()> {
        let state = context.xd_mut(self.deformable_state(body)?)?;
        let n = state.len() / 3;
        if 3 * values.len() != n {
            return Err(Error::invalid(format!(
                "deformable body {body}: there must be {} of {vertices}, got {}",
                part.name(),
                values.len(),
                vertices = counted(n / 3, "vertex")
            )));
        }
        let is_finite = |v: &Vector3<T>| v.iter().all(|x| x.re().is_finite());
        if let Some(k) = values.iter().position(|v| !is_finite(v)) {
            return Err(Error::invalid(format!(
                "deformable body {body}: all {} must be finite, got others at vertex {k}",
                part.name()
            )));
        }
        let own = state.chunks_exact_mut(n).nth(part as usize);
        let own = own.map_or(&mut [][..], |own| own);
        for (to, v) in own.chunks_exact_mut(3).zip(values) {
            to.copy_from_slice(v.as_slice());
        }
        if matches!(part, Part::Positions) {
            // The last step, if there was one, did not end here.
            let (q, rest) = state.split_at_mut(n);
            rest[n..].copy_from_slice(q);
        }
        Ok(())
    }
}
