//! XML text, element by element.

use std::fmt::Write;

/// Writer of an XML document with two spaces per level. Attributes belong to the element that was
/// started last.
pub(crate) struct XmlText {
    text: String,
    /// Names of the elements that have not ended.
    open: Vec<&'static str>,
    /// Whether the start tag of the last element is still open for attributes.
    in_tag: bool,
}

impl XmlText {
    pub(crate) fn new() -> Self {
        Self {
            text: "<?xml version=\"1.0\"?>\n".into(),
            open: vec![],
            in_tag: false,
        }
    }

    /// Starts an element.
    pub(crate) fn start(&mut self, tag: &'static str) -> &mut Self {
        self.close_tag();
        self.indent();
        self.text.push('<');
        self.text.push_str(tag);
        self.open.push(tag);
        self.in_tag = true;
        self
    }

    /// Adds an attribute to the element that was started last.
    pub(crate) fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        debug_assert!(self.in_tag, "attribute '{name}' outside of a start tag");
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        escape(value, &mut self.text);
        self.text.push('"');
        self
    }

    /// Adds an attribute with numbers.
    pub(crate) fn numbers(&mut self, name: &str, values: &[f64]) -> &mut Self {
        self.attribute(name, &numbers(values))
    }

    /// Ends the element that was started last.
    pub(crate) fn end(&mut self) {
        let Some(tag) = self.open.pop() else { return };
        if self.in_tag {
            self.text.push_str("/>\n");
            self.in_tag = false;
            return;
        }
        self.indent();
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.text, "</{tag}>");
    }

    /// Adds an element that contains only text.
    pub(crate) fn text(&mut self, tag: &'static str, text: &str) {
        self.start(tag);
        self.end_with_text(text);
    }

    /// Ends the element that was started last, which contains only text.
    pub(crate) fn end_with_text(&mut self, text: &str) {
        let Some(tag) = self.open.pop() else { return };
        self.text.push('>');
        escape(text, &mut self.text);
        let _ = writeln!(self.text, "</{tag}>");
        self.in_tag = false;
    }

    /// Ends all elements and returns the document.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.text
    }

    fn close_tag(&mut self) {
        if std::mem::take(&mut self.in_tag) {
            self.text.push_str(">\n");
        }
    }

    fn indent(&mut self) {
        // Deep trees would otherwise take quadratic space.
        for _ in 0..self.open.len().min(40) {
            self.text.push_str("  ");
        }
    }
}

/// Appends a text with the characters of XML's syntax escaped. Line breaks and tabs are escaped
/// too, because readers turn them into spaces within attributes.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
}

/// Returns true if XML 1.0 has the character.
pub(crate) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Returns the shortest text that is read back as the same number.
pub(crate) fn number(x: f64) -> String {
    let mut text = format!("{x:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

/// Returns numbers with spaces between them.
pub(crate) fn numbers(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().copied().map(number).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_is_escaped_and_numbers_are_short() {
        let mut xml = XmlText::new();
        xml.start("a").attribute("name", "x<\"&'\n");
        xml.start("b").numbers("xyz", &[1.0, -0.5, 1e-300]);
        xml.end();
        xml.text("c", "1 < 2");
        let text = xml.finish();
        let expected = "<?xml version=\"1.0\"?>\n<a name=\"x&lt;&quot;&amp;'&#10;\">\n  \
                        <b xyz=\"1 -0.5 1e-300\"/>\n  <c>1 &lt; 2</c>\n</a>\n";
        assert_eq!(text, expected);
        assert_eq!(roxmltree_name(&text), "x<\"&'\n");
    }

    fn roxmltree_name(text: &str) -> String {
        let document = roxmltree::Document::parse(text).unwrap();
        document.root_element().attribute("name").unwrap().into()
    }
}
