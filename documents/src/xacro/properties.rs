//! Properties: `<xacro:property>`.

use super::expander::{OUTERMOST, XacroExpander, XacroResult, condition, literal_value};
use super::scopes::{Binding, ScopeIndex};
use super::symbols;
use super::tree::{PlacedText, TreeIndex};
use crate::expression::{PyValue, is_identifier};
use crate::xml::OriginPlace;

const ATTRIBUTES: [&str; 6] = ["name", "value", "default", "remove", "scope", "lazy_eval"];

impl XacroExpander<'_> {
    /// Defines or removes a property, and removes its element.
    pub(super) fn define_property(
        &mut self,
        node: TreeIndex,
        scope: ScopeIndex,
    ) -> XacroResult<()> {
        self.tree.remove_comments_before(node, self.stop);
        self.check_attributes(node, &ATTRIBUTES);
        let given_name = self.required(node, "name")?;
        let name = self.evaluate_text(&given_name, scope)?;
        if !is_identifier(&name) || name.starts_with("__") {
            let message = format!(
                "the name of a property must be letters, digits and underscores, and no word that \
                 Python reserves, got '{name}'"
            );
            return Err(self.error(given_name.place, message));
        }
        let attribute = |name| self.tree.attribute(node, name).cloned();
        let (value, default) = (attribute("value"), attribute("default"));
        let (remove, lazy) = (attribute("remove"), attribute("lazy_eval"));
        let target = attribute("scope");
        let removes = self.flag(remove, false, scope)?;
        let count = [value.is_some(), default.is_some(), removes];
        if count.iter().filter(|c| **c).count() > 1 {
            let message = format!(
                "property '{name}' must have one of the attributes 'value', 'default' and 'remove'"
            );
            return Err(self.error_at(node, message));
        }
        let known = self.scopes.owner(scope, &name).is_some() || symbols::global(&name).is_some();
        if removes && known {
            self.scopes.remove(scope, &name);
            self.tree.detach(node);
            return Ok(());
        }
        if default.is_some() {
            if let Some(target) = &target {
                let message = "a default value must be of the local scope; attribute 'scope' is \
                               used nevertheless";
                self.warn(target.place, message);
            }
            if known {
                self.tree.detach(node);
                return Ok(());
            }
        }
        self.tree.detach(node);
        let lazy = self.flag(lazy, true, scope)?;
        let (into, lazy) = match target.as_ref().map(|t| &*t.text) {
            Some("global") => (OUTERMOST, false),
            Some("parent") => (self.parent_scope(node, scope)?, false),
            _ => (scope, lazy),
        };
        let Some(value) = value.or(default) else {
            let bindings = &mut self.scopes.scope_mut(into).bindings;
            bindings.insert(format!("**{name}"), Binding::Block(node));
            return Ok(());
        };
        self.warn_if_global(&name, given_name.place);
        let binding = if lazy {
            self.lazy(value)?
        } else {
            let evaluated = self.evaluate(&value, scope)?;
            Binding::Value(self.literal(evaluated, value.place)?)
        };
        self.scopes.scope_mut(into).bindings.insert(name, binding);
        Ok(())
    }

    /// Returns the binding of a text that is evaluated when it is first used.
    fn lazy(&mut self, value: PlacedText) -> XacroResult<Binding> {
        Ok(
            match self.literal(PyValue::str(&value.text), value.place)? {
                // A text in quotes is evaluated too, and its quotes are gone.
                PyValue::Str(text) => Binding::Lazy(PlacedText {
                    exact: value.exact && *text == *value.text,
                    text: text.to_string(),
                    place: value.place,
                }),
                literal => Binding::Value(literal),
            },
        )
    }

    fn literal(&self, value: PyValue, place: OriginPlace) -> XacroResult<PyValue> {
        literal_value(value).map_err(|e| self.error(place, e.message))
    }

    /// Evaluates an attribute that is true or false.
    pub(super) fn flag(
        &mut self,
        attribute: Option<PlacedText>,
        default: bool,
        scope: ScopeIndex,
    ) -> XacroResult<bool> {
        match attribute.filter(|a| !a.text.is_empty()) {
            None => Ok(default),
            Some(text) => self.condition(&text, scope),
        }
    }

    /// Evaluates a condition.
    pub(super) fn condition(&mut self, text: &PlacedText, scope: ScopeIndex) -> XacroResult<bool> {
        let value = self.evaluate(text, scope)?;
        match condition(&value) {
            Some(truth) => Ok(truth),
            None => {
                let found = self.text(&value, text.place)?;
                let message = format!(
                    "a condition must be true, false or a whole number, got '{found}' from '{}'",
                    text.text
                );
                Err(self.error(text.place, message))
            }
        }
    }

    /// Returns the scope around the macro that is being expanded, or around a namespace.
    fn parent_scope(&self, node: TreeIndex, scope: ScopeIndex) -> XacroResult<ScopeIndex> {
        let outer = |scope: ScopeIndex| self.scopes.scope(scope).parent;
        let mut parent = outer(scope);
        if !self.scopes.scope(scope).is_namespace {
            // The scope of a macro's caller is not its namespace.
            while let Some(found) = parent.filter(|p| self.scopes.scope(*p).is_namespace) {
                parent = outer(found);
            }
        }
        parent.ok_or_else(|| {
            let message = "scope=\"parent\" must be within a macro; use scope=\"global\" or none";
            self.error_at(node, message)
        })
    }

    /// Warns if a name hides one that every expression sees.
    pub(super) fn warn_if_global(&mut self, name: &str, place: OriginPlace) {
        if symbols::global(name).is_some() {
            let message = format!("'{name}' hides the {name} of Python; choose another name");
            self.warn(place, message);
        }
    }

    /// Returns the scope of a namespace.
    pub(super) fn namespace_scope(&self, scope: ScopeIndex, name: &str) -> Option<ScopeIndex> {
        use crate::expression::PyNamespace;
        let owner = self.scopes.owner(scope, name)?;
        match self.scopes.scope(owner).bindings.get(name)? {
            Binding::Value(PyValue::Namespace(PyNamespace::Host(inner))) => Some(*inner),
            _ => None,
        }
    }
}
