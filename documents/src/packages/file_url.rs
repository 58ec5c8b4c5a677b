//! `file://` URLs.

/// Returns the path in `rest`, the part of a URL after `file://` (RFC 8089).
pub(super) fn local_file(rest: &str) -> Result<&str, String> {
    match rest.find('/').map(|slash| rest.split_at(slash)) {
        Some(("" | "localhost", path)) => Ok(path),
        _ => Err("the path must be absolute and on this machine (file:///...)".into()),
    }
}
