//! Exported ports: names that a diagram or sub-diagram gives to ports of its systems.

use super::{Diagram, DiagramBuilder};
use crate::error::WiringError;
use crate::systems::handles::{InputPort, OutputPort, Place};
use crate::systems::plan::PortIndex;
use crate::{Error, Result, Scalar};
use std::collections::BTreeMap;
use std::fmt;

/// Ports by scope (`""`, or names joined by `::`) and name.
type Named = BTreeMap<(String, String), PortIndex>;

/// Inputs or outputs.
#[derive(Clone, Copy)]
pub(crate) enum PortKind {
    Input,
    Output,
}

impl fmt::Display for PortKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

/// Exports of the diagram and its sub-diagrams.
#[derive(Clone, Default)]
pub(crate) struct Exports {
    pub(crate) inputs: Named,
    pub(crate) outputs: Named,
    /// Pairs of input ports; the second receives the same value as the first.
    pub(crate) shared: Vec<(PortIndex, PortIndex)>,
}

impl Exports {
    /// Returns the exported ports of one kind.
    pub(crate) fn of(&self, kind: PortKind) -> &Named {
        match kind {
            PortKind::Input => &self.inputs,
            PortKind::Output => &self.outputs,
        }
    }

    /// Returns the scopes that export ports.
    fn scopes(&self) -> impl Iterator<Item = &str> {
        let mut scopes: Vec<&str> = self
            .inputs
            .keys()
            .chain(self.outputs.keys())
            .map(|k| &*k.0)
            .collect();
        scopes.sort_unstable();
        scopes.dedup();
        scopes.into_iter()
    }
}

/// Returns the exported names in a scope.
pub(crate) fn names<'a>(named: &'a Named, scope: &'a str) -> impl Iterator<Item = &'a str> {
    let from = (scope.to_owned(), String::new());
    let of_scope = named.range(from..).take_while(move |(k, _)| k.0 == scope);
    of_scope.map(|(k, _)| &*k.1)
}

fn port(place: Place) -> PortIndex {
    (place.system, place.index)
}

impl DiagramBuilder {
    /// Exports an input port under a name of the diagram, or of the sub-diagram being built
    /// (Drake's `ExportInput`). Exporting a second port under the same name joins it with the
    /// first: it receives whatever the first receives, by connection or by
    /// [`Context::fix`](crate::Context::fix). Returns the first port, to be connected, fixed or
    /// exported further.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{Adder, Gain};
    ///
    /// /// y = 2 u + 3 u.
    /// fn five(
    ///     b: &mut DiagramBuilder,
    /// ) -> Result<[OutputPort<Vec<f64>>; 1], tarragon_framework::Error> {
    ///     let (two, three) = (b.add("two", Gain::new(1, 2.0)), b.add("three", Gain::new(1, 3.0)));
    ///     let sum = b.add("sum", Adder::new(2, 1));
    ///     b.connect(two.y, sum.u[0]);
    ///     b.connect(three.y, sum.u[1]);
    ///     b.export_input("u", two.u);
    ///     b.export_input("u", three.u);
    ///     Ok([b.export_output("y", sum.sum)])
    /// }
    ///
    /// let mut b = DiagramBuilder::new();
    /// let [y] = b.subdiagram("five", five)?;
    /// let diagram = b.build()?;
    /// let mut ctx = diagram.default_context();
    /// ctx.fix(diagram.input_port("five", "u")?, vec![10.0])?;
    /// assert_eq!(ctx.eval(y)?, &[50.0]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn export_input<V>(&mut self, name: &str, input: InputPort<V>) -> InputPort<V> {
        if !self.owns_place("input port", input.place) {
            return input;
        }
        let key = (self.scope_path(), name.to_owned());
        self.check_export(&key);
        match self.exports.inputs.get(&key) {
            None => {
                self.exports.inputs.insert(key, port(input.place));
                input
            }
            Some(&(system, index)) => {
                let first = (system, index);
                self.exports.shared.push((first, port(input.place)));
                InputPort::at(Place {
                    plan: input.place.plan,
                    system,
                    index,
                })
            }
        }
    }

    /// Exports an output port under a name of the diagram, or of the sub-diagram being built
    /// (Drake's `ExportOutput`).
    pub fn export_output<V>(&mut self, name: &str, output: OutputPort<V>) -> OutputPort<V> {
        if self.owns_place("output port", output.place) {
            let key = (self.scope_path(), name.to_owned());
            self.check_export(&key);
            let before = self.exports.outputs.insert(key.clone(), port(output.place));
            if before.is_some() {
                self.mistake(Error::exists(format!(
                    "output port '{}.{}' is exported twice; names of outputs must be unique",
                    key.0, key.1
                )));
            }
        }
        output
    }

    fn check_export(&mut self, (scope, name): &(String, String)) {
        if name.is_empty() {
            self.mistake(Error::invalid(format!(
                "a port of '{scope}' is exported without a name; the name must not be empty"
            )));
        }
    }

    /// Returns the path of the sub-diagram being built.
    fn scope_path(&self) -> String {
        self.scope.trim_end_matches("::").to_owned()
    }

    /// Returns true if a handle belongs to this builder; otherwise records the mistake for `build`.
    pub(crate) fn owns_place(&mut self, what: &str, place: Place) -> bool {
        if place.plan == self.id {
            return true;
        }
        self.mistake(
            WiringError::ForeignHandle {
                what: what.into(),
                owner: place.plan.to_string(),
                used_with: format!("the builder of {}", self.id),
            }
            .into(),
        );
        false
    }
}

/// PortIndex names of one system or sub-diagram.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Adder};
/// let mut b = DiagramBuilder::new();
/// b.add("sum", Adder::new(2, 1));
/// let diagram = b.build()?;
/// let info = diagram.systems().next().unwrap();
/// assert_eq!((info.path.as_str(), info.input_ports.join(" ")), ("sum", "u0 u1".into()));
/// assert_eq!(info.output_ports, ["sum"]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemInfo {
    /// Path: the names of the enclosing sub-diagrams and of the system, joined by `::`.
    pub path: String,
    /// Names of the input ports, in order of declaration; exported ones in alphabetical order.
    pub input_ports: Vec<String>,
    /// Names of the output ports, in the same order.
    pub output_ports: Vec<String>,
}

impl<T: Scalar> Diagram<T> {
    /// Returns all systems with their ports, in order of addition.
    pub fn systems(&self) -> impl Iterator<Item = SystemInfo> + '_ {
        self.plan().leaves.iter().map(|leaf| SystemInfo {
            path: leaf.path.clone(),
            input_ports: leaf.inputs.iter().map(|i| i.name.clone()).collect(),
            output_ports: leaf
                .entries
                .iter()
                .filter(|e| e.is_output)
                .map(|e| e.name.clone())
                .collect(),
        })
    }

    /// Returns the sub-diagrams that export ports, including the diagram itself (path `""`) if it
    /// does.
    pub fn exports(&self) -> impl Iterator<Item = SystemInfo> + '_ {
        let exports = self.named_ports();
        let owned = |names: &mut dyn Iterator<Item = &str>| names.map(String::from).collect();
        exports.scopes().map(move |scope| SystemInfo {
            path: scope.to_owned(),
            input_ports: owned(&mut names(&exports.inputs, scope)),
            output_ports: owned(&mut names(&exports.outputs, scope)),
        })
    }

    /// Returns true if an output depends on an input without a delay, through any number of
    /// systems, according to their declarations (Drake's `HasDirectFeedthrough`).
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{Gain, ZeroOrderHold};
    /// let mut b = DiagramBuilder::new();
    /// let gain = b.add("gain", Gain::new(1, 2.0));
    /// let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    /// b.connect(gain.y, hold.u);
    /// let diagram = b.build()?;
    /// assert!(diagram.has_direct_feedthrough(gain.u, gain.y)?);
    /// assert!(!diagram.has_direct_feedthrough(gain.u, hold.y)?);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a handle belongs to another diagram.
    pub fn has_direct_feedthrough<U, Y>(
        &self,
        input: InputPort<U>,
        output: OutputPort<Y>,
    ) -> Result<bool> {
        self.owns_handle("input port", input.place)?;
        self.owns_handle("output port", output.place)?;
        Ok(self
            .plan()
            .feeds_through(port(input.place), port(output.place)))
    }

    /// Returns the pairs (input, output) of a system or of a sub-diagram's exports whose output
    /// depends on the input without a delay. The path of the diagram itself is `""`.
    ///
    /// # Errors
    /// Returns an error if there is no system with this path and no sub-diagram that exports ports.
    pub fn direct_feedthroughs(&self, path: &str) -> Result<Vec<(String, String)>> {
        let named = self
            .systems()
            .chain(self.exports())
            .find(|s| s.path == path);
        let names = self.names();
        let info = named.ok_or_else(|| names.no_system(path))?;
        let mut pairs = vec![];
        for input in &info.input_ports {
            for output in &info.output_ports {
                let u = names.find(PortKind::Input, path, input)?;
                let y = names.find(PortKind::Output, path, output)?;
                if self.plan().feeds_through(u, y) {
                    pairs.push((input.clone(), output.clone()));
                }
            }
        }
        Ok(pairs)
    }
}
