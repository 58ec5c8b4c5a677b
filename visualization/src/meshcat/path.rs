//! Paths of the scene tree.
//!
//! A path that starts with `/` is absolute; any other path is relative to `/drake`. Empty
//! components are dropped, so `a//b/` is `a/b`.

/// Directory that relative paths are below.
const WORKING_DIRECTORY: &str = "/drake";

/// Returns `path` as an absolute path without empty components.
pub(crate) fn full_path(path: &str) -> String {
    let mut full = String::with_capacity(WORKING_DIRECTORY.len() + 1 + path.len());
    if !path.starts_with('/') {
        full.push_str(WORKING_DIRECTORY);
    }
    for component in path.split('/').filter(|c| !c.is_empty()) {
        full.push('/');
        full.push_str(component);
    }
    if full.is_empty() {
        full.push('/');
    }
    full
}

/// Returns a key that sorts full paths in the order of a tree walk: a node, its children by name,
/// then its next sibling. (`/` itself sorts after `-` and other characters of names.)
pub(crate) fn tree_key(full_path: &str) -> Box<str> {
    full_path.replace('/', "\0").into()
}

/// Returns whether `key` is `root` or lies below it; both are tree keys.
pub(crate) fn is_within(key: &str, root: &str) -> bool {
    key.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_below_drake() {
        for (path, full) in [
            ("", "/drake"),
            ("a", "/drake/a"),
            ("a//b/", "/drake/a/b"),
            ("/", "/"),
            ("/a/", "/a"),
            ("//a", "/a"),
        ] {
            assert_eq!(full_path(path), full, "{path}");
        }
    }

    #[test]
    fn children_sort_before_siblings() {
        let mut paths = ["/a-b", "/a/b", "/a", "/a b", "/b"];
        paths.sort_by_key(|p| tree_key(p));
        assert_eq!(paths, ["/a", "/a/b", "/a b", "/a-b", "/b"]);
        assert!(is_within(&tree_key("/a/b"), &tree_key("/a")));
        assert!(!is_within(&tree_key("/a-b"), &tree_key("/a")));
    }
}
