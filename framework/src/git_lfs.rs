//! Pointers of Git LFS, which lie in place of large files that were not fetched.

/// Returns what is wrong with the content of a file that is a Git LFS pointer, and the cure;
/// `None` for any other content.
///
/// ```
/// use tarragon_framework::git_lfs_pointer;
/// let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
/// assert!(git_lfs_pointer(pointer.as_bytes()).unwrap().contains("git lfs pull"));
/// assert!(git_lfs_pointer(b"solid cube").is_none());
/// ```
pub fn git_lfs_pointer(content: &[u8]) -> Option<&'static str> {
    content.starts_with(b"version https://git-lfs").then_some(
        "it is a Git LFS pointer, not the file itself; fetch the file with 'git lfs pull'",
    )
}
