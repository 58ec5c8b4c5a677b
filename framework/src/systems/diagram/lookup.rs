//! Lookup of a builder's systems by name.

use super::DiagramBuilder;
use crate::systems::declare::{Block, LeafSystem};
use crate::{Error, Result};
use std::any::type_name;
use std::sync::Arc;

impl DiagramBuilder {
    /// Returns true if a system or a sub-diagram has the name (Drake's `HasSubsystemNamed`). While
    /// a sub-diagram is being built, names are relative to it; from outside, its systems are called
    /// `sub-diagram::system`.
    pub fn has_system_named(&self, name: &str) -> bool {
        let path = format!("{}{name}", self.scope);
        self.by_path.contains_key(&path) || self.scopes.contains(&path)
    }

    /// Returns a name that [`add`](Self::add) accepts: `wanted`, or `wanted (2)`, `wanted (3)`, ...
    /// if that is taken. For functions that add systems under default names.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// b.add("gain", Gain::new(1, 2.0));
    /// assert_eq!(b.unused_name("gain"), "gain (2)");
    /// ```
    pub fn unused_name(&self, wanted: &str) -> String {
        if !self.has_system_named(wanted) {
            return wanted.into();
        }
        let mut names = (2_u64..).map(|n| format!("{wanted} ({n})"));
        let unused = names.find(|name| !self.has_system_named(name));
        unused.expect("a diagram has fewer systems than there are numbers")
    }

    /// Finds a previously added system by its name (Drake's `GetDowncastSubsystemByName`).
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// b.add("gain", Gain::new(1, 2.0));
    /// let gain = b.system_named::<Gain>("gain")?;
    /// let mut ctx = b.build()?.default_context();
    /// ctx.fix(gain.u, 3.0)?;
    /// assert_eq!(ctx.eval(gain.y)?, &[6.0]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if no system has the name, or it is of another type.
    pub fn system_named<S: LeafSystem<f64>>(&self, name: &str) -> Result<Block<S>> {
        let path = format!("{}{name}", self.scope);
        let Some(&index) = self.by_path.get(&path) else {
            let known: Vec<&str> = self.by_path.keys().map(|p| &**p).collect();
            return Err(Error::not_found(format!(
                "DiagramBuilder: there is no system '{path}'; the systems are: {}",
                known.join(", ")
            )));
        };
        let any = &self.systems[index].1;
        let system: Arc<S> = any.system().downcast().map_err(|_| {
            Error::invalid(format!(
                "DiagramBuilder: system '{path}' must be a {}, got a {}",
                type_name::<S>(),
                any.type_name()
            ))
        })?;
        let ports = self.ports[index].downcast_ref::<S::Ports>();
        let ports = ports.expect("a system has the ports of its type");
        Ok(Block {
            plan: self.id,
            index,
            system,
            ports: ports.clone(),
        })
    }
}
