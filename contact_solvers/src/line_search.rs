//! Line search: about the minimum of a convex cost along a step.

/// Longest step, relative to Newton's.
const MAX_STEP: f64 = 1.5;
/// Part of the initial slope to which the search reduces it. A thousandth costs heaps of spheres
/// 1.25 times the time: more evaluations, for about as many iterations.
const TOLERANCE: f64 = 0.1;
/// Relative error by rounding of a cost, the sum of those of all constraints.
pub(super) const COST_ROUNDING: f64 = 1e-12;
/// Most evaluations, which the search of a bend of any sharpness does not reach.
const MAX_EVALUATIONS: usize = 100;
/// Evaluations after which the search bisects.
const MAX_TANGENTS: usize = 20;
/// Part of the bracket that remains between its bounds and where their tangents meet.
const MARGIN: f64 = 0.1;
/// Smallest bracket, relative to Newton's step.
const MIN_BRACKET: f64 = 1e-12;

/// A cost at a place along a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePoint {
    /// How far along the step, which is 1 long.
    pub(super) at: f64,
    pub(super) cost: f64,
    pub(super) slope: f64,
}

impl LinePoint {
    /// Returns where the tangents at two places meet.
    fn meet(self, other: Self) -> f64 {
        let miss = other.cost - self.cost - other.slope * (other.at - self.at);
        self.at + miss / (self.slope - other.slope)
    }
}

/// A line search from the point before a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSearch {
    start: LinePoint,
    /// Greatest cost: that at the start, but for rounding.
    max_cost: f64,
}

impl LineSearch {
    pub(super) fn new(cost: f64, slope: f64) -> Self {
        Self {
            start: LinePoint {
                at: 0.0,
                cost,
                slope,
            },
            max_cost: cost + COST_ROUNDING * cost.abs(),
        }
    }

    /// Returns the cost before the step.
    pub(super) fn start_cost(self) -> f64 {
        self.start.cost
    }

    /// Returns the slope before the step.
    pub(super) fn slope(self) -> f64 {
        self.start.slope
    }

    /// Returns whether the slope is small enough, and the cost not greater than before the step.
    /// While the slope is negative, the cost, which is convex, has only decreased.
    pub(super) fn ends_at(self, point: LinePoint) -> bool {
        point.slope.abs() <= TOLERANCE * self.start.slope.abs()
            && (point.slope <= 0.0 || point.cost <= self.max_cost)
    }

    /// Continues from the end of the whole step, where the second derivative is `second`.
    /// `evaluate` computes the cost and its second derivative. Returns the point evaluated last,
    /// whose cost is not greater than at the start.
    pub(super) fn run(
        self,
        whole: LinePoint,
        mut second: f64,
        mut evaluate: impl FnMut(f64) -> (LinePoint, f64),
    ) -> LinePoint {
        let (mut low, mut high) = (self.start, whole);
        if whole.slope < 0.0 {
            let (longest, _) = evaluate(MAX_STEP);
            if longest.slope <= 0.0 {
                return longest;
            }
            (low, high) = (whole, longest);
        }
        let mut point = whole;
        for i in 0..MAX_EVALUATIONS {
            let newton = point.at - point.slope / second;
            let at = if low.at < newton && newton < high.at {
                newton
            } else {
                // Where the tangents meet is a bend of the cost.
                let part = if i < MAX_TANGENTS { MARGIN } else { 0.5 };
                let margin = part * (high.at - low.at);
                // A cost that is not finite gives NaN, which `max` ignores.
                let at = low.meet(high).max(low.at + margin);
                at.min(high.at - margin)
            };
            (point, second) = evaluate(at);
            if self.ends_at(point) {
                return point;
            }
            if point.slope < 0.0 {
                low = point
            } else {
                high = point
            }
            if high.at - low.at < MIN_BRACKET {
                break;
            }
        }
        // Rounding hides the minimum, and the cost may be greater at the upper bound.
        if point.at == low.at {
            point
        } else {
            evaluate(low.at).0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A convex cost along a line: a parabola and hinges, as those of contacts.
    #[derive(Clone, Debug)]
    struct Hinges {
        curvature: f64,
        slope: f64,
        offset: f64,
        /// Where each begins and how stiff it is; a negative stiffness is of one that ends there.
        hinges: Vec<(f64, f64)>,
    }

    impl Hinges {
        fn evaluate(&self, at: f64) -> (LinePoint, f64) {
            let mut point = LinePoint {
                at,
                cost: self.offset + at * (self.slope + 0.5 * self.curvature * at),
                slope: self.slope + self.curvature * at,
            };
            let mut second = self.curvature;
            for (place, stiffness) in &self.hinges {
                let depth = (stiffness.signum() * (at - place)).max(0.0);
                point.cost += 0.5 * stiffness.abs() * depth * depth;
                point.slope += stiffness * depth;
                second += if depth > 0.0 { stiffness.abs() } else { 0.0 };
            }
            (point, second)
        }

        /// Searches; returns the result and the number of evaluations after that of the step.
        fn search(&self) -> (LineSearch, LinePoint, usize) {
            let (start, _) = self.evaluate(0.0);
            let search = LineSearch::new(start.cost, start.slope);
            let (mut count, mut last) = (0, None);
            let (whole, second) = self.evaluate(1.0);
            if search.ends_at(whole) {
                return (search, whole, 0);
            }
            let found = search.run(whole, second, |at| {
                count += 1;
                last = Some(at);
                self.evaluate(at)
            });
            assert_eq!(last, Some(found.at), "impulses are those of the last");
            (search, found, count)
        }
    }

    fn hinges() -> impl Strategy<Value = Hinges> {
        let stiffness = prop_oneof![-1.0..1.0, -1e3..1e3, -1e9..1e9];
        let hinge = (-0.5..2.0, stiffness);
        let rest = (1e-3..2.0, prop_oneof![Just(0.0), -1e3..1e3]);
        (prop::collection::vec(hinge, 0..30), rest).prop_map(|(hinges, (curvature, offset))| {
            let mut cost = Hinges {
                curvature,
                slope: 0.0,
                offset,
                hinges,
            };
            // Downhill at the start.
            cost.slope = -1.0 - cost.evaluate(0.0).0.slope;
            cost
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn costs_never_increase_and_slopes_become_small(cost in hinges()) {
            let (search, found, count) = cost.search();
            prop_assert!(found.cost <= search.max_cost, "{found:?} {search:?}");
            let goes_on = found.at == MAX_STEP && found.slope <= 0.0;
            prop_assert!(search.ends_at(found) || goes_on, "{found:?} {search:?}");
            // Twenty by tangents, and bisections of what they leave.
            prop_assert!(count <= 50, "{count}");
        }
    }

    #[test]
    fn a_cost_hidden_by_rounding_ends_at_the_lower_bound() {
        // Slopes and costs of a corner, whose slope nowhere is small.
        let corner = |at: f64| {
            let slope = if at < 0.3 { -1.0 } else { 1e6 };
            let cost = slope * (at - 0.3);
            (LinePoint { at, cost, slope }, 0.0)
        };
        let (start, _) = corner(0.0);
        let (whole, second) = corner(1.0);
        let found = LineSearch::new(start.cost, start.slope).run(whole, second, corner);
        assert!(found.slope == -1.0 && found.cost <= 1e-11, "{found:?}");
    }

    #[test]
    fn costs_that_overflow_leave_the_bracket_finite() {
        let wall = |at: f64| {
            let over = (at - 0.5).max(0.0);
            let cost = -at + if over > 0.0 { f64::INFINITY } else { 0.0 };
            let slope = -1.0 + if over > 0.0 { f64::INFINITY } else { 0.0 };
            (LinePoint { at, cost, slope }, f64::INFINITY)
        };
        let (whole, second) = wall(1.0);
        let found = LineSearch::new(0.0, -1.0).run(whole, second, wall);
        assert!(found.at <= 0.5 && found.cost <= 0.0, "{found:?}");
    }
}
