//! Systems and ports by name.

use super::exports::{Exports, PortKind, names};
use crate::systems::plan::{Leaf, PortIndex};
use crate::{Error, Result, Scalar};
use std::collections::BTreeMap;

/// Everything in a diagram that has a name.
pub(crate) struct Names<'a, T: Scalar> {
    pub(crate) leaves: &'a [Leaf<T>],
    pub(crate) by_path: &'a BTreeMap<String, usize>,
    pub(crate) exports: &'a Exports,
}

impl<T: Scalar> Names<'_, T> {
    /// Returns the system and index of a port of a system, or of one that a sub-diagram exports.
    pub(crate) fn find(&self, kind: PortKind, path: &str, name: &str) -> Result<PortIndex> {
        if let Some(&system) = self.by_path.get(path) {
            let leaf = &self.leaves[system];
            let found = ports(leaf, kind).find(|(_, port)| *port == name);
            return found
                .map(|(index, _)| (system as u32, index as u32))
                .ok_or_else(|| no_port(kind, path, name, ports(leaf, kind).map(|(_, port)| port)));
        }
        let exported = self.exports.of(kind);
        let found = exported.get(&(path.into(), name.into())).copied();
        found.ok_or_else(|| match names(exported, path).next() {
            None => self.no_system(path),
            Some(_) => no_port(kind, path, name, names(exported, path)),
        })
    }

    /// Error for a path that names no system, or a sub-diagram without exports.
    #[cold]
    pub(crate) fn no_system(&self, path: &str) -> Error {
        let known: Vec<&str> = self.by_path.keys().map(|p| &**p).collect();
        Error::not_found(format!(
            "there is no system '{path}', and no sub-diagram with that path exports such ports; the systems are: {}",
            known.join(", ")
        ))
    }
}

/// Returns the index and name of every port of one kind.
fn ports<T: Scalar>(
    leaf: &Leaf<T>,
    kind: PortKind,
) -> Box<dyn Iterator<Item = (usize, &str)> + '_> {
    match kind {
        PortKind::Input => Box::new(leaf.inputs.iter().map(|i| &*i.name).enumerate()),
        PortKind::Output => {
            let entries = leaf.entries.iter().enumerate();
            let outputs = entries.filter(|(_, e)| e.is_output);
            Box::new(outputs.map(|(index, e)| (index, &*e.name)))
        }
    }
}

#[cold]
fn no_port<'a>(
    kind: PortKind,
    path: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let known: Vec<&str> = known.collect();
    Error::not_found(format!(
        "'{path}' has no {kind} port '{name}'; its {kind} ports are: {}",
        known.join(", ")
    ))
}
