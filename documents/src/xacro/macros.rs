//! Macros: their definition, their parameters and their calls.

use super::expander::{XacroExpander, XacroResult, literal_value};
use super::parameters::parameters;
use super::scopes::{Binding, MacroDefinition, MacroEntry, MacroParameter, ScopePair};
use super::symbols;
use super::tree::{PlacedText, TreeIndex};
use crate::names;
use crate::xml::OriginPlace;
use std::rc::Rc;

impl XacroExpander<'_> {
    /// Defines a macro and removes its element.
    pub(super) fn define_macro(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        self.tree.remove_comments_before(node, self.stop);
        self.check_attributes(node, &["name", "params"]);
        let name = self.required(node, "name")?;
        let mut tag = &*name.text;
        if tag == "call" {
            let message = "a macro must not be named 'call', which calls macros by their names";
            return Err(self.error(name.place, message));
        }
        if tag.contains('.') {
            let message = format!(
                "the name of a macro must have no '.', which separates namespaces, got '{tag}'"
            );
            return Err(self.error(name.place, message));
        }
        if let Some(rest) = tag.strip_prefix("xacro:") {
            let message = format!("the name of a macro must have no 'xacro:', got '{tag}'");
            self.warn(name.place, message);
            tag = rest;
        }
        let given = self.tree.attribute(node, "params").cloned();
        let given = given.unwrap_or_default();
        let parameters = parameters(&given.text).map_err(|e| self.error(given.place, e))?;
        self.macros.push(Rc::new(MacroDefinition {
            name: tag.into(),
            body: node,
            parameters,
        }));
        let entry = MacroEntry::Macro(self.macros.len() - 1);
        let scope = &mut self.scopes.macros[scopes.macros as usize];
        scope.entries.insert(tag.into(), entry);
        self.tree.detach(node);
        Ok(())
    }

    /// Finds a macro by its name, which may start with namespaces. Returns it with the scopes that
    /// it was defined in.
    fn resolve_macro(&self, name: &str, scopes: ScopePair) -> Option<(usize, ScopePair)> {
        if let Some(MacroEntry::Macro(found)) = self.scopes.entry(scopes.macros, name) {
            return Some((*found, scopes));
        }
        let (namespaces, name) = name.rsplit_once('.')?;
        let mut inner = scopes;
        for namespace in namespaces.split('.') {
            let MacroEntry::Namespace(macros) = self.scopes.entry(inner.macros, namespace)? else {
                return None;
            };
            inner = ScopePair {
                macros: *macros,
                properties: self.namespace_scope(inner.properties, namespace)?,
            };
        }
        match self.scopes.entry(inner.macros, name)? {
            MacroEntry::Macro(found) => Some((*found, inner)),
            MacroEntry::Namespace(_) => None,
        }
    }

    /// Expands the call of a macro.
    pub(super) fn call_macro(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        if self.tree.tag(node) == "xacro:call" {
            let name = self.required(node, "macro")?;
            let name = self.evaluate_text(&name, scopes.properties)?;
            if name.is_empty() {
                return Err(self.error_at(node, "attribute 'macro' must not be empty"));
            }
            self.tree.remove_attribute(node, "macro");
            self.tree.set_tag(node, format!("xacro:{name}"));
        }
        let place = self.tree.place(node);
        let tag = self.tree.tag(node);
        let name = tag.strip_prefix("xacro:").unwrap_or(tag).to_string();
        let Some((found, defined_in)) = self.resolve_macro(&name, scopes) else {
            if let Some(cure) = self.defined_later("xacro:macro", &name, place) {
                return Err(self.error(place, format!("<xacro:{name}>: {cure}")));
            }
            let known = self.scopes.macro_names(scopes.macros);
            let unknown = names::unknown("macro", &name, known.into_iter());
            let message = format!("<xacro:{name}>: {unknown}; define it or include its file");
            return Err(self.error(place, message));
        };
        let definition = Rc::clone(&self.macros[found]);
        self.calls.push((Rc::clone(&definition), place));
        let expanded = self.nested(place, |expander| {
            expander.expand_call(node, scopes, &definition, defined_in, place)
        });
        // An optional include may go on after an error.
        self.calls.pop();
        expanded
    }

    fn expand_call(
        &mut self,
        node: TreeIndex,
        scopes: ScopePair,
        definition: &MacroDefinition,
        defined_in: ScopePair,
        place: OriginPlace,
    ) -> XacroResult<()> {
        let body = self.copy(definition.body, place)?;
        let inner = ScopePair {
            macros: self.scopes.add_macros(Some(defined_in.macros)),
            properties: self
                .scopes
                .add_properties(Some(defined_in.properties), false),
        };
        let mut missing: Vec<&MacroParameter> = definition.parameters.iter().collect();
        let attributes = self.tree.attributes(node).to_vec();
        for attribute in attributes {
            let Some(at) = missing.iter().position(|p| p.name == attribute.name) else {
                let known = definition.parameters.iter().map(|p| &*p.name);
                let unknown = names::unknown("parameter", &attribute.name, known);
                return Err(self.error(attribute.value.place, unknown));
            };
            missing.remove(at);
            let value = self.evaluate(&attribute.value, scopes.properties)?;
            self.bind_literal(inner, &attribute.name, value, attribute.value.place)?;
            // Once evaluated, it is not evaluated again with the blocks.
            self.tree
                .set_attribute(node, &attribute.name, PlacedText::default());
        }
        self.expand(node, scopes)?;
        let mut block = self.tree.first_element(node);
        for parameter in missing.iter().filter(|p| p.name.starts_with('*')) {
            let name = &parameter.name;
            let Some(given) = block else {
                let message = format!("the call must have an element for the block '{name}'");
                return Err(self.error(place, message));
            };
            let bindings = &mut self.scopes.scope_mut(inner.properties).bindings;
            bindings.insert(name.clone(), Binding::Block(given));
            block = self.tree.next_element(given);
        }
        missing.retain(|p| !p.name.starts_with('*'));
        if let Some(block) = block {
            let tag = self.tree.tag(block);
            let message = format!("the macro has no parameter for the block <{tag}>");
            return Err(self.error_at(block, message));
        }
        let mut undefined = vec![];
        for parameter in missing {
            match self.default_of(parameter, definition, scopes)? {
                Some(value) => self.bind_literal(inner, &parameter.name, value, place)?,
                None => undefined.push(format!("'{}'", parameter.name)),
            }
        }
        if !undefined.is_empty() {
            let undefined = undefined.join(", ");
            return Err(self.error(
                place,
                format!("the call must have the parameters {undefined}"),
            ));
        }
        self.expand(body, inner)?;
        self.tree.remove_comments_before(node, self.stop);
        self.lift_prefixes(node, body);
        self.tree.replace_by_children(node, body);
        Ok(())
    }

    /// Returns the default of a parameter, if it has one.
    fn default_of(
        &mut self,
        parameter: &MacroParameter,
        definition: &MacroDefinition,
        scopes: ScopePair,
    ) -> XacroResult<Option<crate::expression::PyValue>> {
        let params = self.tree.attribute(definition.body, "params");
        let place = params.map_or(self.tree.place(definition.body), |p| p.place);
        if parameter.forwards {
            let value = self.property(scopes.properties, &parameter.name, place)?;
            if let Some(value) = value.or_else(|| symbols::global(&parameter.name)) {
                return Ok(Some(value));
            }
        }
        let Some(default) = &parameter.default else {
            return if !parameter.forwards {
                Ok(None)
            } else {
                Err(self.error(
                    place,
                    format!(
                        "parameter '{0}' must be given, because there is no property '{0}' to \
                     forward",
                        parameter.name
                    ),
                ))
            };
        };
        let default = PlacedText {
            text: default.clone(),
            place,
            exact: false,
        };
        self.evaluate(&default, scopes.properties).map(Some)
    }

    /// Binds a parameter to a value, of which a text may be a number.
    fn bind_literal(
        &mut self,
        scopes: ScopePair,
        name: &str,
        value: crate::expression::PyValue,
        place: OriginPlace,
    ) -> XacroResult<()> {
        self.warn_if_global(name, place);
        // Scopes remain until the end, so that the number of parameters of all calls is bounded.
        let counted = self.spend(8);
        counted.map_err(|e| self.error(place, e.message))?;
        let value = literal_value(value).map_err(|e| self.error(place, e.message))?;
        let bindings = &mut self.scopes.scope_mut(scopes.properties).bindings;
        bindings.insert(name.into(), Binding::Value(value));
        Ok(())
    }
}
