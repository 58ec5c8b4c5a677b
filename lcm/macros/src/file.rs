//! Definitions in a file.

use proc_macro2::TokenStream;
use std::path::PathBuf;

/// The tokens of a file, and its path for the compiler. `path` is relative to the manifest of the
/// crate.
pub(crate) fn read(path: &str) -> Result<(TokenStream, String), String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let full = PathBuf::from(folder).join(path);
    let shown = full.display();
    let text = std::fs::read_to_string(&full)
        .map_err(|e| format!("{shown}: {e}; paths are relative to the Cargo.toml of the crate"))?;
    let text = without_comments(&text).map_err(|what| format!("{shown}: {what}"))?;
    let tokens = text
        .parse()
        .map_err(|e| format!("{shown}: {e}; brackets and quotes must come in pairs"))?;
    Ok((tokens, shown.to_string()))
}

/// Comments of C become spaces: some of them would be documentation to Rust, in places where it
/// allows none.
fn without_comments(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{FEFF}');
    while let Some(start) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let line = || 1 + text[..text.len() - from.len()].matches('\n').count();
        rest = if from.starts_with("//") {
            &from[from.find('\n').unwrap_or(from.len())..]
        } else if let Some(inside) = from.strip_prefix("/*") {
            out.push(' ');
            match inside.split_once("*/") {
                Some((_, after)) => after,
                None => return Err(format!("the comment of line {} has no end", line())),
            }
        } else if let Some(inside) = from.strip_prefix('"') {
            let Some(end) = inside.find('"') else {
                return Err(format!("the text of line {} has no end", line()));
            };
            let (quoted, after) = from.split_at(end + 2);
            out.push_str(quoted);
            after
        } else {
            out.push('/');
            &from[1..]
        };
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_of_c() {
        for (text, expected) in [
            ("a // b\nc", "a \nc"),
            ("a /* b\n// */c // d", "a  c "),
            ("a/**/b ///< c", "a b "),
            ("/* / * */ a / b", "  a / b"),
            ("\"// no comment\" /* \" */ a", "\"// no comment\"   a"),
            ("\u{FEFF}a", "a"),
            ("// \u{B5}/* \n\u{B5}", "\n\u{B5}"),
        ] {
            assert_eq!(without_comments(text).as_deref(), Ok(expected), "{text}");
        }
        let error = without_comments("a\n\n/* b").unwrap_err();
        assert_eq!(error, "the comment of line 3 has no end");
        let error = without_comments("a\n\"b").unwrap_err();
        assert_eq!(error, "the text of line 2 has no end");
    }
}
