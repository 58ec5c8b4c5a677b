//! The start of a step, and the ways in which a step may fail.

use super::model::FemModel;
use tarragon_framework::Error;

/// The start of a step. Fields have three numbers per vertex, in the world.
#[derive(Clone, Copy, Debug)]
pub struct FemStepStart<'a> {
    /// Time step (s).
    pub time_step: f64,
    /// Positions (m).
    pub positions: &'a [f64],
    /// Velocities (m/s).
    pub velocities: &'a [f64],
    /// External forces at the vertices (N), gravity among them.
    pub forces: &'a [f64],
    /// By vertex: whether it stays where it is; empty if none does.
    pub fixed: &'a [bool],
    /// Vertices on which impulses may act.
    pub participants: &'a [u32],
}

impl FemStepStart<'_> {
    pub(super) fn is_fixed(&self, vertex: usize) -> bool {
        self.fixed.get(vertex).copied().unwrap_or(false)
    }
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FemStepFailure {
    /// An array does not have the size that the model asks for.
    WrongSize,
    /// A number at the start or at the end is not finite.
    NotFinite,
    /// The matrix of the step is not positive definite.
    Singular,
    /// Newton's method did not converge.
    NotConverged,
}

impl FemStepFailure {
    /// The failure as an error of a body.
    pub fn error(self, place: &str) -> Error {
        let what = match self {
            Self::WrongSize => {
                return Error::invalid(format!(
                    "{place}: positions, velocities and forces must have three numbers per vertex"
                ));
            }
            Self::NotFinite => {
                "positions, velocities and forces must stay finite, got others; use a smaller time \
                 step or check the initial state"
            }
            Self::Singular => {
                "matrix of the step must be positive definite, got another; make stiffness, mass \
                 and mesh size less extreme"
            }
            Self::NotConverged => {
                "Newton's method must converge, got no further decrease; use a smaller time step"
            }
        };
        Error::numerical(format!("{place}: {what}"))
    }
}

/// `q0 + dt/2 (v0 + v1)`.
pub(super) fn end_positions(
    start: &FemStepStart<'_>,
    start_velocities: &[f64],
    velocities: &[f64],
    out: &mut [f64],
) {
    let moved = start.positions.iter().zip(start_velocities).zip(velocities);
    for (out, ((q, v0), v1)) in out.iter_mut().zip(moved) {
        *out = q + 0.5 * start.time_step * (v0 + v1);
    }
}

/// Sets a field to 0 at the fixed vertices.
pub(super) fn clear_fixed(start: &FemStepStart<'_>, field: &mut [f64]) {
    let (vertices, _) = field.as_chunks_mut::<3>();
    for (x, fixed) in vertices.iter_mut().zip(start.fixed) {
        if *fixed {
            *x = [0.0; 3];
        }
    }
}

/// Replaces the rows and columns of fixed vertices by those of the identity.
pub(super) fn fix_blocks(model: &FemModel, start: &FemStepStart<'_>, blocks: &mut [[f64; 9]]) {
    for (v, _) in start.fixed.iter().enumerate().filter(|(_, fixed)| **fixed) {
        for (_, block) in model.pattern.matrix.neighbors(v as u32) {
            blocks[*block as usize] = [0.0; 9];
        }
        blocks[v] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    }
}
