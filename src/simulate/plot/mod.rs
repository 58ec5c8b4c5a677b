//! Plots of columns of the log, as SVG.

mod axis;
mod chart;
mod samples;
mod svg;

use super::log_columns::LogColumn;
use crate::files;
use samples::Samples;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// SVG file that gets its name when it is complete.
pub(super) struct Plot {
    path: PathBuf,
    file: Option<NamedTempFile>,
    /// Columns with their places in a row, after the time.
    columns: Vec<LogColumn>,
    places: Vec<usize>,
    samples: Samples,
}

impl Plot {
    /// Starts a plot of the columns at the given places among all columns.
    pub(super) fn create(
        path: &Path,
        all: &[LogColumn],
        places: Vec<usize>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            path: path.into(),
            file: Some(files::temporary_beside(path)?),
            columns: places.iter().map(|place| all[*place].clone()).collect(),
            places,
            samples: Samples::new(),
        })
    }
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    /// Discards all rows.
    pub(super) fn restart(&mut self) {
        self.samples = Samples::new();
    }
    /// Adds a row of all columns.
    pub(super) fn add(&mut self, time: f64, row: &[f64]) {
        let values = self.places.iter().map(|place| row[*place]);
        self.samples.add(time, values);
    }
    /// Completes the file.
    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        if let Some(mut file) = self.file.take() {
            let text = chart::draw(&self.columns, &self.samples);
            file.write_all(text.as_bytes())?;
            file.persist(&self.path).map_err(|e| e.error)?;
        }
        Ok(())
    }
}
