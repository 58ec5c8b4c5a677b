//! Files that commands read and write.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Returns the folder of a file, `.` for a bare file name.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Creates a temporary file in the same directory, removed unless it is renamed.
pub(crate) fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    builder.tempfile_in(folder_of(path))
}

/// Checks that options name different files. Pipes and devices may be named twice.
pub(crate) fn check_distinct(outputs: &[(&str, Option<&Path>)]) -> Result<(), String> {
    let mut known = BTreeMap::new();
    for (option, path) in outputs {
        let Some(path) = path.filter(|p| p.metadata().map_or(true, |m| m.is_file())) else {
            continue;
        };
        let folder = folder_of(path);
        // A folder that is missing is an error of the writer.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let file = folder.join(path.file_name().unwrap_or_default());
        if let Some(other) = known.insert(file, option) {
            return Err(format!(
                "{other} and {option} must name different files, got '{}' for both; rename one",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Describes an error in writing a file.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> String {
    let text = error.to_string();
    // Errors of a temporary file end with its name, which users do not know.
    let why = text.split(" at path \"").next().unwrap_or(&text);
    let cure = match error.kind() {
        io::ErrorKind::NotFound => "; create its directory first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; change the permissions of its directory or choose another"
        }
        _ => "",
    };
    format!("cannot write '{}': {why}{cure}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_bare_name_is_the_current_one() {
        for (file, folder) in [("a.yaml", "."), ("a/b.yaml", "a"), ("/b.yaml", "/")] {
            assert_eq!(folder_of(Path::new(file)), Path::new(folder), "{file}");
        }
    }

    #[test]
    fn spellings_of_one_file_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let check = |a: &Path, b: &Path| check_distinct(&[("--a", Some(a)), ("--b", Some(b))]);
        let (plain, dotted) = (path("x.html"), path("./x.html"));
        let error = check(&plain, &dotted).unwrap_err();
        assert!(
            error.starts_with("--a and --b must name different files, got"),
            "{error}"
        );
        assert_eq!(check(&plain, &path("y.html")), Ok(()));
        if cfg!(unix) {
            let device = Path::new("/dev/null");
            assert_eq!(check(device, device), Ok(()));
        }
    }

    #[test]
    fn errors_name_the_file_and_no_temporary_one() {
        let path = Path::new("no/such/folder/p.svg");
        let text = cannot_write(path, &temporary_beside(path).unwrap_err());
        assert!(
            text.starts_with("cannot write 'no/such/folder/p.svg': "),
            "{text}"
        );
        assert!(text.ends_with("; create its directory first"), "{text}");
        assert!(!text.contains("tmp"), "{text}");
    }
}
