//! Stiffening of contacts that a step would reverse.

use super::{IslandSolver, rows};
use crate::island_problem::IslandProblem;
use crate::law::Stiffness;

/// Minimum number of reversing contacts that triggers a stiffened step: for fewer, the line search
/// takes no more iterations. With two to six, soft balls on the ground take a quarter to a third
/// fewer iterations.
const MANY_REVERSE: usize = 3;

impl IslandSolver {
    /// Stiffens, in the last stiffnesses, the contacts whose slip a whole step reverses. Returns
    /// `true` if there are many.
    ///
    /// Along the direction in which a contact slides, the cost of friction hardly bends until the
    /// contact stops, where it has a kink. A line search ends near the first kink, so that each
    /// iteration stops one contact. A contact that reverses is therefore made as stiff along its
    /// slip as across it: the paraboloid with this curvature touches the cone of the cost of
    /// friction at the present slip, lies above it everywhere else, and has its minimum where the
    /// contact stops.
    pub(super) fn stiffen_reversing(&mut self, p: &IslandProblem<'_>) -> bool {
        let mut count = 0;
        let all = p.list().zip(&mut self.last_stiffnesses).enumerate();
        for (k, (constraint, stiffness)) in all {
            let Stiffness::Full(g) = stiffness else {
                continue;
            };
            let rows = rows(k, constraint);
            let (end, change) = (
                &self.constraint_v[rows.clone()],
                &self.constraint_step[rows],
            );
            let start = [end[0] - change[0], end[1] - change[1]];
            let square = start[0] * start[0] + start[1] * start[1];
            if start[0] * end[0] + start[1] * end[1] >= 0.0 || square == 0.0 {
                continue;
            }
            let of = |x: [f64; 2]| {
                let sum = g[(0, 0)] * x[0] * x[0] + g[(1, 1)] * x[1] * x[1];
                (sum + 2.0 * g[(0, 1)] * x[0] * x[1]) / square
            };
            let missing = of([-start[1], start[0]]) - of(start);
            if missing <= 0.0 {
                continue;
            }
            count += 1;
            for i in 0..2 {
                for j in 0..2 {
                    g[(i, j)] += missing * start[i] * start[j] / square;
                }
            }
        }
        count >= MANY_REVERSE
    }
}
