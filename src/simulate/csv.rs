//! The motion as comma-separated values, written while it happens.

use super::log_columns::LogColumn;
use crate::files;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// CSV file that gets its name when it is complete.
pub(super) struct CsvFile {
    path: PathBuf,
    header: String,
    /// `None` once the file is complete.
    file: Option<BufWriter<NamedTempFile>>,
}

impl CsvFile {
    /// Starts a file with the time (s) and the given columns.
    pub(super) fn create(path: &Path, columns: &[LogColumn]) -> std::io::Result<Self> {
        let names = columns.iter().map(|column| quoted(&column.name));
        let header: Vec<String> = std::iter::once("time".into()).chain(names).collect();
        let mut csv = Self {
            path: path.into(),
            header: header.join(","),
            file: Some(BufWriter::new(files::temporary_beside(path)?)),
        };
        csv.restart()?;
        Ok(csv)
    }
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    /// Discards all rows.
    pub(super) fn restart(&mut self) -> std::io::Result<()> {
        if let Some(file) = &mut self.file {
            file.seek(std::io::SeekFrom::Start(0))?;
            file.get_mut().as_file_mut().set_len(0)?;
            writeln!(file, "{}", self.header)?;
        }
        Ok(())
    }
    /// Adds a row.
    pub(super) fn add(&mut self, time: f64, row: &[f64]) -> std::io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut text = time.to_string();
        for x in row {
            text.push_str(&format!(",{x}"));
        }
        writeln!(file, "{text}")
    }
    /// Completes the file.
    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        if let Some(file) = self.file.take() {
            let file = file.into_inner().map_err(|e| e.into_error())?;
            file.persist(&self.path).map_err(|e| e.error)?;
        }
        Ok(())
    }
}

/// Quotes a name that would otherwise be two columns.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_separators_are_quoted() {
        assert_eq!(quoted("arm::joint.q"), "arm::joint.q");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
