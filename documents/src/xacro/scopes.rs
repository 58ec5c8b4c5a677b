//! Scopes of properties and of macros.

use super::tree::{PlacedText, TreeIndex};
use crate::expression::PyValue;
use std::collections::HashMap;

/// Index of a scope.
pub(super) type ScopeIndex = u32;

/// A scope of properties, within another one unless it is the outermost.
#[derive(Debug, Default)]
pub(super) struct PropertyScope {
    pub(super) bindings: HashMap<String, Binding>,
    pub(super) parent: Option<ScopeIndex>,
    /// True for the scope of an include with a namespace.
    pub(super) is_namespace: bool,
}

/// Value of a property.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A text that is evaluated when it is first used.
    Lazy(PlacedText),
    /// A text that is being evaluated.
    Evaluating,
    Value(PyValue),
    /// An element, for `insert_block`.
    Block(TreeIndex),
}

/// A scope of macros, within another one unless it is the outermost or a namespace.
#[derive(Debug, Default)]
pub(super) struct MacroScope {
    pub(super) entries: HashMap<String, MacroEntry>,
    pub(super) parent: Option<ScopeIndex>,
}

#[derive(Clone, Debug)]
pub(super) enum MacroEntry {
    Macro(usize),
    Namespace(ScopeIndex),
}

/// Definition of a macro.
#[derive(Clone, Debug)]
pub(super) struct MacroDefinition {
    pub(super) name: String,
    /// The element `<xacro:macro>`.
    pub(super) body: TreeIndex,
    pub(super) parameters: Vec<MacroParameter>,
}

/// Parameter of a macro. Names of blocks start with `*` or `**`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MacroParameter {
    pub(super) name: String,
    /// True if the property of the caller with the same name is the default.
    pub(super) forwards: bool,
    pub(super) default: Option<String>,
}

/// The scopes that an element is evaluated in.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopePair {
    pub(super) macros: ScopeIndex,
    pub(super) properties: ScopeIndex,
}

/// All scopes.
#[derive(Debug, Default)]
pub(super) struct ScopeArena {
    pub(super) properties: Vec<PropertyScope>,
    pub(super) macros: Vec<MacroScope>,
}

impl ScopeArena {
    pub(super) fn add_properties(
        &mut self,
        parent: Option<ScopeIndex>,
        is_namespace: bool,
    ) -> ScopeIndex {
        self.properties.push(PropertyScope {
            bindings: HashMap::new(),
            parent,
            is_namespace,
        });
        self.properties.len() as ScopeIndex - 1
    }
    pub(super) fn add_macros(&mut self, parent: Option<ScopeIndex>) -> ScopeIndex {
        self.macros.push(MacroScope {
            entries: HashMap::new(),
            parent,
        });
        self.macros.len() as ScopeIndex - 1
    }

    pub(super) fn scope(&self, scope: ScopeIndex) -> &PropertyScope {
        &self.properties[scope as usize]
    }
    pub(super) fn scope_mut(&mut self, scope: ScopeIndex) -> &mut PropertyScope {
        &mut self.properties[scope as usize]
    }

    /// The scope and all around it, innermost first.
    pub(super) fn outwards(&self, scope: ScopeIndex) -> impl Iterator<Item = ScopeIndex> {
        std::iter::successors(Some(scope), |s| self.scope(*s).parent)
    }
    /// Returns the innermost scope that has a name.
    pub(super) fn owner(&self, scope: ScopeIndex, name: &str) -> Option<ScopeIndex> {
        let mut scopes = self.outwards(scope);
        scopes.find(|s| self.scope(*s).bindings.contains_key(name))
    }
    /// Returns a block by its name with asterisks.
    pub(super) fn block(&self, scope: ScopeIndex, name: &str) -> Option<TreeIndex> {
        let owner = self.owner(scope, name)?;
        match self.scope(owner).bindings.get(name)? {
            Binding::Block(node) => Some(*node),
            _ => None,
        }
    }
    /// Removes a name from a scope and all around it.
    pub(super) fn remove(&mut self, scope: ScopeIndex, name: &str) {
        let scopes: Vec<ScopeIndex> = self.outwards(scope).collect();
        for scope in scopes {
            self.scope_mut(scope).bindings.remove(name);
        }
    }

    /// Returns the entry of a name in a scope of macros or around it.
    pub(super) fn entry(&self, scope: ScopeIndex, name: &str) -> Option<&MacroEntry> {
        let parent = |s: &ScopeIndex| self.macros[*s as usize].parent;
        let mut scopes = std::iter::successors(Some(scope), parent);
        scopes.find_map(|s| self.macros[s as usize].entries.get(name))
    }

    /// Names of properties, for messages.
    pub(super) fn property_names(&self, scope: ScopeIndex) -> Vec<&str> {
        let scopes = self.outwards(scope);
        let names = scopes.flat_map(|s| self.scope(s).bindings.keys());
        let mut names: Vec<&str> = names
            .map(String::as_str)
            .filter(|n| !n.starts_with('*'))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
    /// Names of macros, for messages.
    pub(super) fn macro_names(&self, scope: ScopeIndex) -> Vec<&str> {
        let parent = |s: &ScopeIndex| self.macros[*s as usize].parent;
        let scopes = std::iter::successors(Some(scope), parent);
        let mut names: Vec<&str> = scopes
            .flat_map(|s| self.macros[s as usize].entries.keys())
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
