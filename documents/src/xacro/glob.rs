//! Files that match a pattern, as Python's `glob` finds them.

use std::path::{Component, Path, PathBuf};

/// Maximum number of files.
const MAX_FILES: usize = 1000;

/// Returns the files that match a pattern with `*`, `?` and `[...]`, sorted.
///
/// # Errors
/// Returns a message if too many files match.
pub(super) fn files(whole: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![PathBuf::new()];
    for part in whole.components() {
        let Component::Normal(name) = part else {
            found.iter_mut().for_each(|f| f.push(part));
            continue;
        };
        let name = name.to_string_lossy();
        if !name.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|f| f.push(&*name));
            found.retain(|f| f.exists());
            continue;
        }
        let pattern: Vec<char> = name.chars().collect();
        let mut matching = vec![];
        for folder in &found {
            let listed = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            for entry in std::fs::read_dir(listed).into_iter().flatten().flatten() {
                let file_name = entry.file_name();
                let file_name = file_name.to_string_lossy();
                let hidden = file_name.starts_with('.') && !name.starts_with('.');
                let characters: Vec<char> = file_name.chars().collect();
                if !hidden && matches(&pattern, &characters) {
                    matching.push(folder.join(&*file_name));
                }
            }
        }
        if matching.len() > MAX_FILES {
            let (whole, count) = (whole.display(), matching.len());
            return Err(format!(
                "'{whole}' must match at most {MAX_FILES} files, got {count}; include them in parts"
            ));
        }
        found = matching;
    }
    // Python sorts the texts of paths, in which '-' comes before '/'.
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(found)
}

/// Returns whether a name matches a pattern.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Place after the last `*`, and that in the name up to which it matches.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some('[') => set(&pattern[p..], name[n]),
            Some('?') => Some((true, 1)),
            Some(c) => Some((*c == name[n], 1)),
            None => None,
        };
        match (step, star) {
            (Some((true, length)), _) => (p, n) = (p + length, n + 1),
            (_, Some((after, from))) => {
                star = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
            _ => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Returns whether a character is in a set, and the length of the set in the pattern.
fn set(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let negated = pattern.get(1) == Some(&'!');
    let start = 1 + usize::from(negated);
    // A bracket right at the start belongs to the set.
    let length = pattern.iter().skip(start + 1).position(|c| *c == ']');
    let Some(end) = length.map(|l| l + start + 1) else {
        return Some((c == '[', 1));
    };
    let members = &pattern[start..end];
    let mut found = false;
    let mut i = 0;
    while i < members.len() {
        match members.get(i + 1..i + 3) {
            Some(['-', last]) => {
                found |= (members[i]..=*last).contains(&c);
                i += 3;
            }
            _ => {
                found |= members[i] == c;
                i += 1;
            }
        }
    }
    Some((found != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_python() {
        let fits = |pattern: &str, name: &str| {
            let [pattern, name]: [Vec<char>; 2] = [pattern, name].map(|t| t.chars().collect());
            matches(&pattern, &name)
        };
        for (pattern, name) in [
            ("*.xacro", "a.xacro"),
            ("*a*b*", "xxaxxbxx"),
            ("?[a-c][!x]*", "zby"),
            ("[]]", "]"),
            ("a[", "a["),
            ("*", ""),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*.xacro", "a.xacr"),
            ("?", ""),
            ("[!a]", "a"),
            ("a*b", "acx"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.xacro", "a.xacro", ".c.xacro", "d.yaml"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = files(&folder.path().join("*.xacro")).unwrap();
        let names: Vec<_> = found.iter().map(|f| f.file_name().unwrap()).collect();
        assert_eq!(names, ["a.xacro", "b.xacro"]);
    }

    #[test]
    fn paths_are_sorted_as_texts() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a-b"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("f"), "").unwrap();
        }
        let found = files(&folder.path().join("a*/f")).unwrap();
        assert_eq!(found, ["a-b/f", "a/f"].map(|f| folder.path().join(f)));
    }

    #[test]
    fn too_many_files_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for i in 0..=MAX_FILES {
            std::fs::write(folder.path().join(format!("{i}.xacro")), "").unwrap();
        }
        let error = files(&folder.path().join("*.xacro")).unwrap_err();
        assert!(
            error.contains("must match at most 1000 files, got 1001"),
            "{error}"
        );
    }
}
