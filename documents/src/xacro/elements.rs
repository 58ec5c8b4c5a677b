//! Expansion of elements, attributes, texts and comments.

use super::characters::is_qualified_name;
use super::expander::{XacroExpander, XacroResult};
use super::scopes::ScopePair;
use super::tree::{NodeContent, PlacedText, TreeIndex};

impl XacroExpander<'_> {
    /// Expands the attributes of an element and all below it.
    pub(super) fn expand(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        let place = self.tree.place(node);
        self.nested(place, |expander| {
            expander.expand_attributes(node, scopes)?;
            expander.expand_children(node, scopes)
        })
    }

    fn expand_attributes(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        // All are replaced at once, because each search by name takes linear time.
        let mut attributes = self.tree.attributes(node).to_vec();
        attributes.retain(|a| !a.name.starts_with("xacro:") && a.name != "xmlns:xacro");
        for attribute in &mut attributes {
            if attribute.value.text.contains('$') {
                attribute.value.text = self.evaluate_text(&attribute.value, scopes.properties)?;
                attribute.value.exact = false;
            }
        }
        self.tree.set_attributes(node, attributes);
        Ok(())
    }

    fn expand_children(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        let mut evaluates_comments = false;
        let mut current = self.tree.first(node);
        while let Some(child) = current {
            let next = self.tree.next(child);
            match self.tree.content(child) {
                NodeContent::Element { .. } => {
                    evaluates_comments = false;
                    if self.tree.tag(child) == "xacro:element" {
                        // With its new name it is expanded like any other.
                        self.name_element(child, scopes)?;
                        current = Some(child);
                        continue;
                    }
                    self.expand_element(child, scopes)?;
                }
                NodeContent::Text(text) => {
                    if text.text.contains('$') {
                        let text = text.clone();
                        self.expand_text(child, text, scopes)?;
                    }
                    evaluates_comments &= self.tree.is_blank(child);
                }
                NodeContent::Comment(text) if text.text.contains("xacro:eval-comments") => {
                    evaluates_comments = !text.text.contains("xacro:eval-comments:off");
                    self.tree.detach(child);
                }
                NodeContent::Comment(text) if evaluates_comments => {
                    let text = text.clone();
                    self.expand_text(child, text, scopes)?;
                }
                _ => {}
            }
            current = next;
        }
        Ok(())
    }

    /// Evaluates the text of a text or a comment.
    fn expand_text(
        &mut self,
        node: TreeIndex,
        text: PlacedText,
        scopes: ScopePair,
    ) -> XacroResult<()> {
        let evaluated = PlacedText {
            text: self.evaluate_text(&text, scopes.properties)?,
            exact: false,
            ..text
        };
        match self.tree.content_mut(node) {
            NodeContent::Text(content) | NodeContent::Comment(content) => *content = evaluated,
            _ => {}
        }
        Ok(())
    }

    fn expand_element(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        match self.tree.tag(node) {
            "xacro:insert_block" => self.insert_block(node, scopes),
            "xacro:include" => self.include(node, scopes),
            "xacro:property" => self.define_property(node, scopes.properties),
            "xacro:macro" => self.define_macro(node, scopes),
            "xacro:arg" => self.declare_argument(node, scopes),
            "xacro:attribute" => self.add_attribute(node, scopes),
            "xacro:if" => self.expand_if(node, scopes, true),
            "xacro:unless" => self.expand_if(node, scopes, false),
            tag if tag.starts_with("xacro:") => self.call_macro(node, scopes),
            _ => self.expand(node, scopes),
        }
    }

    fn insert_block(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        self.check_attributes(node, &["name"]);
        let name = self.required(node, "name")?;
        let find = |stars| {
            self.scopes
                .block(scopes.properties, &format!("{stars}{}", name.text))
        };
        let (block, only_content) = match (find("**"), find("*")) {
            (Some(block), _) => (block, true),
            (None, Some(block)) => (block, false),
            (None, None) => {
                let message = format!(
                    "there is no block '{0}'; name it '*{0}' or '**{0}' among the parameters of \
                     the macro, or define a property '{0}' that has elements",
                    name.text
                );
                return Err(self.error(name.place, message));
            }
        };
        let place = self.tree.place(node);
        let block = self.copy(block, place)?;
        self.expand(block, scopes)?;
        if only_content {
            self.tree.replace_by_children(node, block)
        } else {
            self.tree.insert_before(block, node);
            self.tree.detach(node);
        }
        Ok(())
    }

    fn declare_argument(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        self.check_attributes(node, &["name", "default"]);
        let name = self.required(node, "name")?.text;
        let default = self.required(node, "default")?;
        if !self.arguments.contains_key(&name) {
            let value = self.evaluate_text(&default, scopes.properties)?;
            self.arguments.insert(name, value);
        }
        self.tree.remove_comments_before(node, self.stop);
        self.tree.detach(node);
        Ok(())
    }

    fn name_element(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        let name = self.required(node, "xacro:name")?;
        let tag = self.evaluate_text(&name, scopes.properties)?;
        self.check_name(&tag, &name)?;
        self.tree.remove_attribute(node, "xacro:name");
        self.tree.set_tag(node, tag);
        Ok(())
    }

    fn add_attribute(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        let (name, value) = (self.required(node, "name")?, self.required(node, "value")?);
        let attribute = self.evaluate_text(&name, scopes.properties)?;
        let text = self.evaluate_text(&value, scopes.properties)?;
        self.check_name(&attribute, &name)?;
        let value = PlacedText {
            text,
            exact: false,
            ..value
        };
        if let Some(parent) = self.tree.parent(node) {
            self.tree.set_attribute(parent, &attribute, value);
        }
        self.tree.detach(node);
        Ok(())
    }

    /// Checks a computed name of an element or an attribute.
    fn check_name(&self, name: &str, at: &PlacedText) -> XacroResult<()> {
        if is_qualified_name(name) {
            Ok(())
        } else {
            let message = format!("the name must be a valid XML name, got '{name}'");
            Err(self.error(at.place, message))
        }
    }

    fn expand_if(&mut self, node: TreeIndex, scopes: ScopePair, wanted: bool) -> XacroResult<()> {
        self.tree.remove_comments_before(node, self.stop);
        self.check_attributes(node, &["value"]);
        let value = self.required(node, "value")?;
        if self.condition(&value, scopes.properties)? != wanted {
            self.tree.detach(node);
            return Ok(());
        }
        self.expand(node, scopes)?;
        self.tree.replace_by_children(node, node);
        Ok(())
    }

    /// Adds the declarations of prefixes on an element to the parent of another.
    pub(super) fn lift_prefixes(&mut self, node: TreeIndex, from: TreeIndex) {
        let Some(parent) = self.tree.parent(node) else {
            return;
        };
        for attribute in self.tree.attributes(from).to_vec() {
            if !attribute.name.starts_with("xmlns:") {
                continue;
            }
            match self.tree.attribute(parent, &attribute.name) {
                Some(known) if known.text != attribute.value.text => {
                    let message = format!(
                        "{} must stand for one address, got '{}' and '{}'",
                        attribute.name, known.text, attribute.value.text
                    );
                    self.warn(attribute.value.place, message);
                }
                _ => self
                    .tree
                    .set_attribute(parent, &attribute.name, attribute.value),
            }
        }
    }
}
