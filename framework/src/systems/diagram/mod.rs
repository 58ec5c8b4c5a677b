//! Building of diagrams: collecting systems, wiring them and freezing the result.

mod elements;
mod exports;
mod graphviz;
mod lookup;
mod names;

pub use exports::SystemInfo;

use super::context::Context;
use super::declare::{
    AnySystem, Block, Declare, Declared, DiagramScalar, ErasedPorts, EveryScalar, LeafSystem,
    OnlyF64,
};
use super::files::check_files;
use super::handles::{InputPort, OutputPort, Place, PlanId};
use super::plan::{Leaf, Plan, Wire};
use super::port_names;
use crate::error::WiringError;
use crate::{AutoDiff, Error, Result, Scalar};
use exports::{Exports, PortKind};
use names::Names;
use std::any::{TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Builder that collects systems and connections over `f64`; [`Diagram::to_scalar`] converts.
///
/// Wiring mistakes are reported by [`DiagramBuilder::build`].
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::{Adder, ConstantVectorSource, Gain}};
///
/// let mut b = DiagramBuilder::new();
/// let one = b.add("one", ConstantVectorSource::new(1.0));
/// let double = b.add("double", Gain::new(1, 2.0));
/// let sum = b.add("sum", Adder::new(2, 1));
/// b.connect(one.y, double.u);
/// b.connect(one.y, sum.u[0]);
/// b.connect_named(("double", "y"), ("sum", "u1"))?; // names instead of handles
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(sum.sum)?, &[3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct DiagramBuilder {
    pub(crate) id: PlanId,
    pub(crate) scope: String,
    pub(crate) systems: Vec<(String, Arc<dyn AnySystem>)>,
    leaves: Vec<Leaf<f64>>,
    /// Ports of every system.
    pub(crate) ports: Vec<ErasedPorts>,
    pub(crate) by_path: BTreeMap<String, usize>,
    /// Paths of the sub-diagrams.
    pub(crate) scopes: BTreeSet<String>,
    wires: Vec<Wire>,
    pub(crate) exports: Exports,
    mistake: Option<Error>,
}

impl Default for DiagramBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl DiagramBuilder {
    /// Creates a builder without systems.
    pub fn new() -> Self {
        Self {
            id: PlanId::new(),
            scope: String::new(),
            systems: vec![],
            leaves: vec![],
            ports: vec![],
            by_path: BTreeMap::new(),
            scopes: BTreeSet::new(),
            wires: vec![],
            exports: Exports::default(),
            mistake: None,
        }
    }

    /// Adds a system that supports every scalar and returns its typed ports.
    pub fn add<S>(&mut self, name: &str, system: S) -> Block<S>
    where
        S: LeafSystem<f64> + LeafSystem<AutoDiff>,
    {
        let (index, system) = (self.systems.len(), Arc::new(system));
        let any = Arc::new(EveryScalar(system.clone(), self.id, index));
        self.push(name, system, any)
    }

    /// Adds a system that supports only `f64`, such as a camera, a socket or a file.
    pub fn add_f64<S: LeafSystem<f64>>(&mut self, name: &str, system: S) -> Block<S> {
        let (index, system) = (self.systems.len(), Arc::new(system));
        let any = Arc::new(OnlyF64(system.clone(), self.id, index));
        self.push(name, system, any)
    }

    fn push<S: LeafSystem<f64>>(
        &mut self,
        name: &str,
        system: Arc<S>,
        any: Arc<dyn AnySystem>,
    ) -> Block<S> {
        let (path, index) = (format!("{}{name}", self.scope), self.systems.len());
        let (leaf, ports) = Declare::run(&system, self.id, index, &path);
        if name.is_empty() || name.contains("::") {
            self.mistake(Error::invalid(format!(
                "system '{path}': the name must not be empty or contain '::'"
            )));
        }
        if self.scopes.contains(&path) || self.by_path.insert(path.clone(), index).is_some() {
            self.mistake(Error::exists(format!(
                "system '{path}' exists already; names must be unique within a diagram"
            )));
        }
        self.systems.push((path, any));
        self.leaves.push(leaf);
        self.ports.push(Arc::new(ports.clone()));
        Block {
            plan: self.id,
            index,
            system,
            ports,
        }
    }

    /// Adds a sub-diagram: `build` adds systems under the prefix `name::` and returns the exports
    /// of the sub-diagram.
    ///
    /// # Errors
    /// Returns any error of `build`.
    pub fn subdiagram<P, E>(
        &mut self,
        name: &str,
        build: impl FnOnce(&mut Self) -> Result<P, E>,
    ) -> Result<P, E> {
        if name.is_empty() || name.contains("::") {
            self.mistake(Error::invalid(format!(
                "sub-diagram '{}{name}': the name must not be empty or contain '::'",
                self.scope
            )));
        }
        let path = format!("{}{name}", self.scope);
        let is_system = self.by_path.contains_key(&path);
        if is_system || !self.scopes.insert(path.clone()) {
            let what = if is_system { "system" } else { "sub-diagram" };
            self.mistake(Error::exists(format!(
                "sub-diagram '{path}': a {what} with that path exists already; paths must be unique"
            )));
        }
        let inner = format!("{path}::");
        let outer = std::mem::replace(&mut self.scope, inner);
        let exports = build(self);
        self.scope = outer;
        exports
    }

    /// Connects an output to an input of the same type, which the compiler checks. One output may
    /// feed many inputs.
    pub fn connect<V>(&mut self, from: OutputPort<V>, to: InputPort<V>) {
        if from.place.plan != self.id || to.place.plan != self.id {
            let from = self.name_of(from.place, |leaf, i| &leaf.entries[i].name);
            let to = self.name_of(to.place, |leaf, i| &leaf.inputs[i].name);
            let why = format!(
                "this is the builder of {}; connect ports of systems that were added to it",
                self.id
            );
            self.mistake(WiringError::Connection { from, to, why }.into());
            return;
        }
        self.wires.push(Wire {
            from: (from.place.system, from.place.index),
            to: (to.place.system, to.place.index),
        });
    }

    /// Connects ports given as `(path of the system, name of the port)`, for wiring that comes from
    /// data. A sub-diagram has the ports that it exports. `build` checks the types.
    ///
    /// # Errors
    /// Returns an error if there is no such system or port.
    pub fn connect_named(&mut self, from: (&str, &str), to: (&str, &str)) -> Result<()> {
        let names = self.names();
        let wire = Wire {
            from: names.find(PortKind::Output, from.0, from.1)?,
            to: names.find(PortKind::Input, to.0, to.1)?,
        };
        self.wires.push(wire);
        Ok(())
    }

    fn names(&self) -> Names<'_, f64> {
        Names {
            leaves: &self.leaves,
            by_path: &self.by_path,
            exports: &self.exports,
        }
    }

    /// Returns `path.name` of a port, or its numbers if the port belongs to another builder.
    fn name_of(&self, place: Place, name: fn(&Leaf<f64>, usize) -> &str) -> String {
        let (plan, system, index) = (place.plan, place.system, place.index);
        match self.leaves.get(system as usize).filter(|_| plan == self.id) {
            Some(leaf) => format!("{}.{}", leaf.path, name(leaf, index as usize)),
            None => format!("port {index} of system {system} of {plan}"),
        }
    }

    pub(crate) fn mistake(&mut self, error: Error) {
        self.mistake.get_or_insert(error);
    }

    /// Checks everything and freezes the structure.
    ///
    /// # Errors
    /// Returns an error for duplicate or empty names, ports of another diagram, an input with two
    /// sources, sizes or types that do not match, algebraic loops, files with two writers, and
    /// mistakes in the declaration of a system.
    pub fn build(self) -> Result<Diagram<f64>> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let _span = tracing::debug_span!("DiagramBuilder::build", systems = self.systems.len());
        let _span = _span.entered();
        let files = self.leaves.iter().map(|leaf| (&*leaf.path, &*leaf.files));
        check_files(files)?;
        let plan = Plan::new(self.id, self.leaves, &self.wires, &self.exports.shared)?;
        let plan = Arc::new(plan);
        port_names::register(&plan);
        Ok(Diagram {
            plan,
            ports: self.ports.into(),
            systems: self.systems.into(),
            by_path: Arc::new(self.by_path),
            exports: Arc::new(self.exports),
            wires: self.wires.into(),
        })
    }
}

/// Immutable wired system. `Send + Sync`; clones share the structure.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Gain};
///
/// let mut b = DiagramBuilder::new();
/// let gain = b.add("gain", Gain::new(1, 2.0));
/// let diagram = b.build()?.to_scalar::<AutoDiff>()?;
/// let ports = diagram.ports(&gain)?; // over dual numbers
/// let mut ctx = diagram.default_context();
/// ctx.fix(ports.u, AutoDiff::variable(3.0, 0))?;
/// let y = ctx.eval(ports.y)?[0];
/// assert_eq!((y.re, y.eps[0]), (6.0, 2.0));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Diagram<T: Scalar> {
    plan: Arc<Plan<T>>,
    /// Ports of every system, as declared over this scalar.
    ports: Arc<[ErasedPorts]>,
    systems: Arc<[(String, Arc<dyn AnySystem>)]>,
    by_path: Arc<BTreeMap<String, usize>>,
    exports: Arc<Exports>,
    wires: Arc<[Wire]>,
}

impl<T: Scalar> Clone for Diagram<T> {
    fn clone(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            ports: self.ports.clone(),
            systems: self.systems.clone(),
            by_path: self.by_path.clone(),
            exports: self.exports.clone(),
            wires: self.wires.clone(),
        }
    }
}

impl<T: Scalar> Diagram<T> {
    /// Creates a context with every value at its declared default.
    pub fn default_context(&self) -> Context<T> {
        Context::new(self.plan.clone())
    }

    /// Returns the ports of a block over this diagram's scalar.
    ///
    /// # Errors
    /// Returns an error if the block belongs to another diagram.
    pub fn ports<S>(&self, block: &Block<S>) -> Result<<S as LeafSystem<T>>::Ports>
    where
        S: LeafSystem<f64> + LeafSystem<T>,
    {
        if block.plan != self.plan.id {
            return Err(WiringError::ForeignHandle {
                what: "system".into(),
                owner: block.plan.to_string(),
                used_with: self.plan.id.to_string(),
            }
            .into());
        }
        let ports = self.ports[block.index].downcast_ref::<<S as LeafSystem<T>>::Ports>();
        Ok(ports.expect("a block has the type of its system").clone())
    }

    /// Converts the diagram to another scalar; handles of abstract ports stay valid for it.
    ///
    /// # Errors
    /// Returns an error that names the first system that does not support the scalar.
    pub fn to_scalar<U: DiagramScalar>(&self) -> Result<Diagram<U>> {
        let convert = |(path, system): &(String, Arc<dyn AnySystem>)| {
            U::declare(&**system, path).ok_or_else(|| {
                let (system, scalar) = (path.clone(), U::NAME);
                WiringError::NotConvertible { system, scalar }.into()
            })
        };
        let _span = tracing::debug_span!("Diagram::to_scalar", scalar = U::NAME).entered();
        let declared: Result<Vec<Declared<U>>> = self.systems.iter().map(convert).collect();
        let split = declared?.into_iter().map(|d| (d.leaf, d.ports));
        let (leaves, ports): (_, Vec<_>) = split.unzip();
        let plan = Plan::new(self.plan.id, leaves, &self.wires, &self.exports.shared)?;
        let plan = Arc::new(plan);
        port_names::register(&plan);
        Ok(Diagram {
            plan,
            ports: ports.into(),
            systems: self.systems.clone(),
            by_path: self.by_path.clone(),
            exports: self.exports.clone(),
            wires: self.wires.clone(),
        })
    }

    /// Finds an output port by path and name.
    ///
    /// # Errors
    /// Returns an error if there is none, or if it carries another type.
    pub fn output_port<V: 'static>(&self, path: &str, name: &str) -> Result<OutputPort<V>> {
        let (system, index) = self.names().find(PortKind::Output, path, name)?;
        let entry = &self.plan.leaves[system as usize].entries[index as usize];
        check_type::<V>(path, name, entry.type_id, entry.type_name)?;
        Ok(OutputPort::new(
            self.plan.id,
            system as usize,
            index as usize,
        ))
    }

    /// Finds an input port by path and name.
    ///
    /// # Errors
    /// Returns an error if there is none, or if it carries another type.
    pub fn input_port<V: 'static>(&self, path: &str, name: &str) -> Result<InputPort<V>> {
        let (system, index) = self.names().find(PortKind::Input, path, name)?;
        let input = &self.plan.leaves[system as usize].inputs[index as usize];
        check_type::<V>(path, name, input.type_id, input.type_name)?;
        Ok(InputPort::new(
            self.plan.id,
            system as usize,
            index as usize,
        ))
    }

    pub(crate) fn names(&self) -> Names<'_, T> {
        Names {
            leaves: &self.plan.leaves,
            by_path: &self.by_path,
            exports: &self.exports,
        }
    }

    pub(crate) fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    pub(crate) fn named_ports(&self) -> &Exports {
        &self.exports
    }

    pub(crate) fn owns_handle(&self, what: &str, place: Place) -> Result<()> {
        if place.plan == self.plan.id {
            return Ok(());
        }
        Err(WiringError::ForeignHandle {
            what: port_names::describe(what, place),
            owner: place.plan.to_string(),
            used_with: self.plan.id.to_string(),
        }
        .into())
    }

    pub(crate) fn owns(&self, context: &Context<T>) -> Result<()> {
        if self.plan.id == context.plan.id {
            return Ok(());
        }
        Err(WiringError::ForeignHandle {
            what: "context".into(),
            owner: context.plan.id.to_string(),
            used_with: self.plan.id.to_string(),
        }
        .into())
    }
}

fn check_type<V: 'static>(path: &str, name: &str, found: TypeId, found_name: &str) -> Result<()> {
    if found == TypeId::of::<V>() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "port '{path}.{name}' carries {found_name}, but a port of type {} was requested",
        type_name::<V>()
    )))
}

// Auto traits that multi-threaded code relies on, checked at compile time.
const _: () = {
    const fn send_sync<X: Send + Sync>() {}
    const fn send<X: Send>() {}
    send_sync::<Diagram<f64>>();
    send_sync::<Diagram<AutoDiff>>();
    send::<Context<AutoDiff>>();
};
