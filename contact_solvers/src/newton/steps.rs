//! Kinds of step of Newton's method, and the choice of the next one.

use crate::line_search::{COST_ROUNDING, LinePoint, LineSearch};

/// Ratio of successive gradients up to which the next step is a chord step. Near the solution, the
/// Hessian changes by about this ratio from step to step, so the chord step reduces the gradient by
/// about as much again.
const CHORD_CONTRACTION: f64 = 1e-3;
/// Fraction of the tolerance above which one more step follows once the gradient is within it. Its
/// result has less of the solver's noise, which finite differences would amplify.
const POLISHED: f64 = 1e-2;

/// Hessian with which a step is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepKind {
    /// The Hessian at the present velocities.
    FullNewton,
    /// The Hessian of the step before, which is factored already.
    Chord,
    /// The Hessian at the present velocities, with contacts stiffened that would reverse.
    Stiffened,
}

/// Norm of a gradient (N s / sqrt(kg)).
#[derive(Clone, Copy, Debug)]
pub(super) struct GradientSize {
    pub(super) norm: f64,
    pub(super) tolerance: f64,
}

impl GradientSize {
    fn is_converged(self) -> bool {
        self.norm <= self.tolerance
    }
    fn is_polished(self) -> bool {
        self.norm <= POLISHED * self.tolerance
    }
}

/// A step that was taken whole, before the search for the minimum along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeStep {
    pub(super) search: LineSearch,
    pub(super) end: LinePoint,
}

impl WholeStep {
    /// Returns `true` if the end of the step is close enough to the minimum along it.
    pub(super) fn is_near_minimum(self) -> bool {
        self.search.ends_at(self.end)
    }
}

/// Effect of a step on the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Progress {
    Decreased,
    /// The cost is near its minimum: the decrease is less than its rounding error.
    HiddenByRounding,
    /// The line search ended where it started.
    Stuck,
}

impl Progress {
    /// Classifies a step by its line search and the point where it ended.
    pub(super) fn new(search: LineSearch, end: LinePoint) -> Self {
        let cost = search.start_cost();
        // Decrease of the quadratic cost with the same gradient and Hessian.
        let predicted = 0.5 * search.slope().abs();
        if end.cost >= cost - f64::EPSILON * cost.abs() && predicted <= COST_ROUNDING * cost.abs() {
            Self::HiddenByRounding
        } else if end.at == 0.0 {
            Self::Stuck
        } else {
            Self::Decreased
        }
    }
}

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewtonStep {
    pub(super) kind: StepKind,
    /// Gradient before the step.
    pub(super) gradient: GradientSize,
    pub(super) progress: Progress,
}

impl NewtonStep {
    /// Returns `false` after a stiffened step without progress: the next one must be Newton's own,
    /// which may still make some.
    pub(super) fn allows_stiffening(self) -> bool {
        self.kind != StepKind::Stiffened || self.progress == Progress::Decreased
    }
}

impl StepKind {
    /// Chooses the step that follows the last one, given the gradient between them. Returns `None`
    /// at the solution.
    pub(super) fn next(gradient: GradientSize, last: Option<NewtonStep>) -> Option<Self> {
        if gradient.is_polished() {
            return None;
        }
        let Some(last) = last else {
            return (!gradient.is_converged()).then_some(Self::FullNewton);
        };
        if last.gradient.is_converged() {
            return None;
        }
        let contracts = gradient.norm <= CHORD_CONTRACTION * last.gradient.norm;
        // A stiffened factor is too far from the Hessian to be used again.
        if last.kind != Self::Stiffened && (gradient.is_converged() || contracts) {
            return Some(Self::Chord);
        }
        // Chord steps can reduce the gradient where rounding hides the decrease of the cost, but
        // once they stop doing so, the solution is as good as rounding allows.
        if last.kind == Self::Chord && last.progress == Progress::HiddenByRounding {
            return None;
        }
        Some(Self::FullNewton)
    }
}
