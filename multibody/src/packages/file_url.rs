//! `file://` URLs.

/// The path of what follows `file://` (RFC 8089).
pub(super) fn local_file(rest: &str) -> Result<&str, String> {
    match rest.find('/').map(|slash| rest.split_at(slash)) {
        Some(("" | "localhost", path)) => Ok(path),
        _ => Err("an absolute path on this machine (file:///...) is expected".into()),
    }
}
