//! Equilibrium checks.

use crate::systems::event_table::PER_STEP;
use crate::{Context, Diagram, Error, Result, Scalar};
use std::fmt;
use std::ops::Range;

/// Returns true if no state changes faster than `tolerance`, as checked by Drake's `Linearize`.
/// Every time derivative (unit of the state per s) must be at most `tolerance` in magnitude. So
/// must every difference between next and current state (unit of the state), for the discrete
/// updates of each period and offset and for those of each step. Updates at times that systems
/// compute, and those of witness functions, do not count.
///
/// Time, parameters and fixed inputs are those of `context`; input ports that the state depends on
/// must be fixed.
///
/// ```
/// use tarragon_framework::analysis::is_equilibrium;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::FirstOrderLowPassFilter;
/// let mut b = DiagramBuilder::new();
/// let filter = b.add("filter", FirstOrderLowPassFilter::new(0.5)?);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(filter.u, 3.0)?;
/// assert!(!is_equilibrium(&diagram, &ctx, 1e-9)?);
/// ctx.fix(filter.u, 0.0)?;
/// assert!(is_equilibrium(&diagram, &ctx, 1e-9)?);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the context belongs to another diagram, if a computation fails, or if a
/// system has abstract state or unrestricted updates, which cannot be checked.
pub fn is_equilibrium<T: Scalar>(
    diagram: &Diagram<T>,
    context: &Context<T>,
    tolerance: f64,
) -> Result<bool> {
    let fastest = fastest_change(diagram, context)?;
    Ok(fastest.is_none_or(|change| change.is_within(tolerance)))
}

/// Same as [`is_equilibrium`], with an error that names what moves: the path of the system, the
/// element of its state and its rate.
///
/// # Errors
/// Same as [`is_equilibrium`]. Also returns an error if the context is not an equilibrium.
pub fn check_equilibrium<T: Scalar>(
    diagram: &Diagram<T>,
    context: &Context<T>,
    tolerance: f64,
) -> Result<()> {
    match fastest_change(diagram, context)? {
        Some(change) if !change.is_within(tolerance) => Err(Error::invalid(format!(
            "the context is not an equilibrium: {change}, more than the tolerance {tolerance:e}; set state \
             and inputs to an equilibrium, or raise the tolerance"
        ))),
        _ => Ok(()),
    }
}

/// Change of one element of the state.
struct Change {
    system: String,
    /// Group of discrete state; `None` for continuous state.
    group: Option<usize>,
    element: usize,
    amount: f64,
}

impl Change {
    /// Returns true if the change is within the tolerance; false for NaN.
    fn is_within(&self, tolerance: f64) -> bool {
        self.amount.abs() <= tolerance
    }
    fn is_slower_than(&self, amount: f64) -> bool {
        amount.abs() > self.amount.abs() || (amount.is_nan() && !self.amount.is_nan())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (system, element, amount) = (&self.system, self.element, self.amount);
        match self.group {
            None => write!(
                f,
                "element {element} of the continuous state of '{system}' changes by {amount:e} per s"
            ),
            Some(group) => write!(
                f,
                "element {element} of group {group} of the discrete state of '{system}' changes by \
                 {amount:e} per update"
            ),
        }
    }
}

/// Finds the element of the state that changes most; `None` without state.
fn fastest_change<T: Scalar>(diagram: &Diagram<T>, context: &Context<T>) -> Result<Option<Change>> {
    diagram.owns(context)?;
    refuse_abstract(context)?;
    let mut fastest = None;
    let mut rates = vec![T::zero(); context.data.xc.len()];
    context.time_derivatives(&mut rates)?;
    for (leaf, node) in context.plan.leaves.iter().zip(&context.plan.nodes) {
        compare(&mut fastest, &leaf.path, None, &rates, &node.xc);
    }
    for set in updating_sets(context) {
        let next = context.next_discrete_state(set)?;
        let step: Vec<T> = next
            .iter()
            .zip(&context.data.xd)
            .map(|(a, b)| *a - *b)
            .collect();
        for (leaf, node) in context.plan.leaves.iter().zip(&context.plan.nodes) {
            for (group, range) in node.xd.iter().enumerate() {
                compare(&mut fastest, &leaf.path, Some(group), &step, range);
            }
        }
    }
    Ok(fastest)
}

/// Replaces the fastest change by a faster one of `amounts[range]`, if there is one. Nothing is
/// faster than NaN.
fn compare<T: Scalar>(
    fastest: &mut Option<Change>,
    path: &str,
    group: Option<usize>,
    amounts: &[T],
    range: &Range<usize>,
) {
    for (element, amount) in amounts[range.clone()].iter().enumerate() {
        let amount = amount.re();
        if fastest
            .as_ref()
            .is_none_or(|old| old.is_slower_than(amount))
        {
            *fastest = Some(Change {
                system: path.into(),
                group,
                element,
                amount,
            });
        }
    }
}

/// Returns the event sets that update the state repeatedly, whatever its value.
fn updating_sets<T: Scalar>(context: &Context<T>) -> impl Iterator<Item = u32> {
    let periodic = context.plan.events.periodic.iter().map(|p| p.set);
    periodic.chain([PER_STEP])
}

/// Cure of the most common abstract state.
pub(super) const AVOID_SAMPLED_PORTS: &str = "if it is a discrete MultibodyPlant, call \
                                              `set_use_sampled_output_ports(false)`";

fn refuse_abstract<T: Scalar>(context: &Context<T>) -> Result<()> {
    let plan = &context.plan;
    let update = updating_sets(context)
        .find_map(|set| plan.events.set(set).unrestricted.first())
        .map(|event| (&plan.leaves[event.0 as usize], "unrestricted updates"));
    let state = plan.leaves.iter().find(|leaf| !leaf.xa0.is_empty());
    match state.map(|leaf| (leaf, "abstract state")).or(update) {
        None => Ok(()),
        Some((leaf, what)) => Err(Error::unsupported(format!(
            "equilibrium: system '{}' has {what}, which cannot be checked; only continuous state and \
             discrete updates can; {AVOID_SAMPLED_PORTS}",
            leaf.path
        ))),
    }
}
