//! XML in a form that does not depend on indentation and the order of attributes.

/// Lists the elements, attributes, texts and comments of a document, one a line.
pub(super) fn canonical(text: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let mut lines = vec![];
    for node in document.descendants() {
        let depth = node.ancestors().count();
        if node.is_element() {
            let rest = &text[node.range().start + 1..];
            let end = rest.find([' ', '>', '/', '\n']).unwrap();
            let mut attributes: Vec<String> = node
                .attributes()
                .map(|a| {
                    // Versions of Python differ in whether they keep such white space.
                    let value = a.value().replace(['\n', '\t'], " ");
                    format!("{:?} {}={value:?}", a.namespace(), a.name())
                })
                .collect();
            attributes.sort();
            let mut prefixes: Vec<String> = node
                .namespaces()
                .map(|n| format!("{:?}={}", n.name(), n.uri()))
                .collect();
            prefixes.sort();
            lines.push(format!(
                "{depth} <{}> {attributes:?} {prefixes:?}",
                &rest[..end]
            ));
        } else if let Some(text) = node.text().map(str::trim).filter(|t| !t.is_empty()) {
            let kind = if node.is_comment() { "comment" } else { "text" };
            lines.push(format!("{depth} {kind} {text:?}"));
        }
    }
    lines
}
