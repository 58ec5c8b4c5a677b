//! Names of the ports of all diagrams that exist, for messages about handles of other diagrams.
//!
//! A handle holds only numbers, and the context that refuses it knows only the ports of its own
//! diagram. The names come from this registry.

use super::handles::{Place, PlanId};
use super::plan::Plan;
use crate::Scalar;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A plan with any scalar type.
trait PortNames: Send + Sync {
    /// Returns a description of a handle, such as "input port 'u' of system 'gain'".
    fn describe(&self, what: &str, place: Place) -> Option<String>;
}

impl<T: Scalar> PortNames for Plan<T> {
    fn describe(&self, what: &str, place: Place) -> Option<String> {
        let (leaf, index) = (
            self.leaves.get(place.system as usize)?,
            place.index as usize,
        );
        let name = match what {
            "input port" => leaf.inputs.get(index).map(|input| &input.name),
            "output port" => leaf.entries.get(index).map(|entry| &entry.name),
            _ => None,
        };
        let system = &leaf.path;
        Some(match name {
            Some(name) => format!("{what} '{name}' of system '{system}'"),
            None => format!("{what} {index} of system '{system}'"),
        })
    }
}

/// All plans made so far; some may have been dropped.
static PLANS: Mutex<Vec<(PlanId, Weak<dyn PortNames>)>> = Mutex::new(Vec::new());

/// Adds a plan to the registry.
pub(crate) fn register<T: Scalar>(plan: &Arc<Plan<T>>) {
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if plans.len() == plans.capacity() {
        plans.retain(|(_, plan)| plan.strong_count() > 0);
        // Room for at least as many new plans as are left, so that `retain` has amortized cost.
        let living = plans.len();
        plans.reserve_exact(living + 16);
    }
    let weak: Weak<Plan<T>> = Arc::downgrade(plan);
    plans.push((plan.id, weak));
}

/// Returns a description of a handle with the names of its port and system, or `what` if its
/// diagram is gone.
pub(crate) fn describe(what: &str, place: Place) -> String {
    let found = {
        let plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_diagram = plans.iter().filter(|(id, _)| *id == place.plan);
        of_diagram.find_map(|(_, plan)| plan.upgrade())
    };
    let described = found.and_then(|plan| plan.describe(what, place));
    described.unwrap_or_else(|| what.into())
}
