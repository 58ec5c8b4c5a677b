//! `package.xml` files.

use crate::xml::PreparedXml;
use crate::{Error, Result};
use roxmltree::{Document, Node, ParsingOptions};
use std::fs;
use std::io::Read;
use std::path::Path;

/// Maximum size of a `package.xml`; real ones have a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Contents of a `package.xml` (ROS REP 149).
#[derive(Debug, PartialEq)]
pub(super) struct PackageManifest {
    pub(super) name: String,
    /// `<export><deprecated>`.
    pub(super) deprecation: Option<String>,
}

impl PackageManifest {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let invalid = |what: String| Error::invalid(format!("{}: {what}", file.display()));
        let opened = fs::File::open(file).map_err(|e| Error::io(file, e))?;
        let mut bytes = vec![];
        opened
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io(file, e))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(invalid(format!(
                "a package.xml must have at most {MAX_BYTES} bytes, got more"
            )));
        }
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            invalid(format!(
                "the XML file must be UTF-8, but byte {} is not",
                e.valid_up_to()
            ))
        })?;
        Self::parse(text).map_err(invalid)
    }

    fn parse(text: &str) -> Result<Self, String> {
        // A byte order mark or blank lines before the declaration are common and harmless.
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let options = ParsingOptions {
            allow_dtd: true,
            nodes_limit: 100_000,
            ..ParsingOptions::default()
        };
        let prepared = PreparedXml::new(text);
        let document = Document::parse_with_options(&prepared.text, options)
            .map_err(|e| format!("malformed XML: {e}"))?;
        let root = document.root_element();
        if !root.has_tag_name("package") {
            return Err(format!(
                "the root element must be <package>, got <{}>",
                root.tag_name().name()
            ));
        }
        let name = child(root, "name").and_then(first_text).unwrap_or_default();
        if name.is_empty() {
            return Err("there must be a package name, got none; write \
                        <package><name>...</name></package>"
                .into());
        }
        let deprecated = child(root, "export").and_then(|e| child(e, "deprecated"));
        let deprecation = deprecated.map(|node| {
            let words: Vec<&str> = node.text().unwrap_or("").split_whitespace().collect();
            if words.is_empty() {
                "(no explanation given)".into()
            } else {
                words.join(" ")
            }
        });
        Ok(Self {
            name: name.into(),
            deprecation,
        })
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|c| c.has_tag_name(name))
}

fn first_text<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    node.text().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_deprecations_are_those_that_drake_reads() {
        // Drake 1.51.1 reads the same from these texts.
        for (text, name, deprecation) in [
            ("<package><name>a</name></package>", "a", None),
            (
                "<?xml encoding='utf-8'?>\n<package><name>a</name></package>",
                "a",
                None,
            ),
            (
                "<package><name>a</name><export><deprecated/></export></package>",
                "a",
                Some("(no explanation given)"),
            ),
            (
                "<package><name>a</name><export><deprecated>  A\n  b </deprecated>\
                 <deprecated>B</deprecated></export></package>",
                "a",
                Some("A b"),
            ),
            (
                "<package><deprecated>no</deprecated><name>a</name></package>",
                "a",
                None,
            ),
            (
                "<package><name>a</name><export/><export><deprecated>no</deprecated></export></package>",
                "a",
                None,
            ),
            (
                "<package><name>a</name><export><deprecated>Use <b>b</b></deprecated></export></package>",
                "a",
                Some("Use"),
            ),
            ("<package><name>a</name><name>b</name></package>", "a", None),
            ("<package><name><![CDATA[cd]]></name></package>", "cd", None),
            (
                "\n<?xml version='1.0'?>\n<package><name> a\n</name></package>",
                "a",
                None,
            ),
        ] {
            let manifest = PackageManifest::parse(text).unwrap();
            assert_eq!(manifest.name, name, "{text}");
            assert_eq!(manifest.deprecation.as_deref(), deprecation, "{text}");
        }
        for (text, what) in [
            ("", "malformed"),
            ("junk", "malformed"),
            ("<package></package>", "must be a package name"),
            (
                "<package><name> </name></package>",
                "must be a package name",
            ),
            ("<foo><name>a</name></foo>", "<foo>"),
        ] {
            let error = PackageManifest::parse(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn hostile_files_are_rejected() {
        let mut bomb = String::from("<!DOCTYPE p [<!ENTITY e0 'xxxxxxxxxx'>");
        for i in 1..10 {
            let twice = format!("&e{};", i - 1).repeat(10);
            bomb += &format!("<!ENTITY e{i} '{twice}'>");
        }
        bomb += "]><package><name>&e9;</name></package>";
        assert!(PackageManifest::parse(&bomb).is_err());
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("package.xml");
        fs::write(&file, b"<package><name>\xff</name></package>").unwrap();
        assert!(
            PackageManifest::read(&file)
                .unwrap_err()
                .to_string()
                .contains("byte 15")
        );
        let large = format!("<package><name>a</name>{}</package>", " ".repeat(1 << 20));
        fs::write(&file, large).unwrap();
        assert!(
            PackageManifest::read(&file)
                .unwrap_err()
                .to_string()
                .contains("1048576")
        );
        let deep = "<a>".repeat(100_000);
        assert!(PackageManifest::parse(&deep).is_err());
        let deep = format!(
            "<package><name>a</name>{}{}</package>",
            "<a>".repeat(9000),
            "</a>".repeat(9000)
        );
        // Either result is fine as long as parsing returns.
        if let Ok(manifest) = PackageManifest::parse(&deep) {
            assert_eq!(manifest.name, "a");
        }
        let deep = "<a>".repeat(1000) + "x";
        let error = PackageManifest::parse(&deep).unwrap_err();
        assert!(error.contains("malformed"), "{error}");
    }
}
