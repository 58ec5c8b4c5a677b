//! Files that commands read and write.

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
