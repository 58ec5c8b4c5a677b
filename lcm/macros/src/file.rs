//! Definitions in files.

use proc_macro2::TokenStream;
use std::path::PathBuf;

/// Reads a file; returns its tokens, and its path for the compiler. `path` is relative to the
/// crate's manifest.
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

/// Replaces C comments by spaces: Rust would read some of them as doc comments, in places where it
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
                None => return Err(format!("the comment in line {} is not closed", line())),
            }
        } else if let Some(inside) = from.strip_prefix('"') {
            let Some(end) = inside.find('"') else {
                return Err(format!("the text in line {} is not closed", line()));
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
    fn c_comments_become_spaces() {
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
        assert_eq!(error, "the comment in line 3 is not closed");
        let error = without_comments("a\n\"b").unwrap_err();
        assert_eq!(error, "the text in line 2 is not closed");
    }
}
