//! The motion as comma-separated values, written while it happens.

use crate::sweep;
use std::error::Error;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tarragon::framework::Trigger;
use tarragon::multibody::MultibodyPlant;
use tarragon::prelude::*;
use tempfile::NamedTempFile;

/// CSV file that gets its name when it is complete.
#[derive(Clone)]
pub(super) struct CsvFile(Arc<Mutex<Content>>);

struct Content {
    path: PathBuf,
    header: String,
    /// `None` once the file is complete.
    file: Option<BufWriter<NamedTempFile>>,
    rows: u64,
}

impl Content {
    fn problem(&self, error: std::io::Error) -> String {
        format!("cannot write '{}': {error}", self.path.display())
    }
    fn write(&mut self, row: &str) -> std::io::Result<()> {
        match &mut self.file {
            Some(file) => writeln!(file, "{row}"),
            None => Ok(()),
        }
    }
    /// Discards all rows.
    fn restart(&mut self) -> std::io::Result<()> {
        if let Some(file) = &mut self.file {
            file.seek(std::io::SeekFrom::Start(0))?;
            file.get_mut().as_file_mut().set_len(0)?;
        }
        self.rows = 0;
        let header = self.header.clone();
        self.write(&header)
    }
}

impl CsvFile {
    /// Starts a file with the columns of a plant: the time (s), positions `model::name.q` and
    /// velocities `model::name.v`.
    pub(super) fn create(path: &Path, plant: &MultibodyPlant) -> Result<Self, Box<dyn Error>> {
        let mut content = Content {
            path: path.into(),
            header: header(plant)?,
            file: None,
            rows: 0,
        };
        let file = sweep::temporary_beside(path).map_err(|e| content.problem(e))?;
        content.file = Some(BufWriter::new(file));
        content.restart().map_err(|e| content.problem(e))?;
        Ok(Self(Arc::new(Mutex::new(content))))
    }
    fn with<V>(
        &self,
        act: impl FnOnce(&mut Content) -> std::io::Result<V>,
    ) -> Result<V, Box<dyn Error>> {
        let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut content).map_err(|e| content.problem(e).into())
    }
    /// Discards all rows, because the simulation starts again.
    pub(super) fn restart(&self) -> Result<(), Box<dyn Error>> {
        self.with(Content::restart)
    }
    fn add(&self, time: f64, state: &[f64]) -> Result<(), Box<dyn Error>> {
        self.with(|content| {
            let mut row = time.to_string();
            for x in state {
                row.push_str(&format!(",{x}"));
            }
            content.write(&row)?;
            content.rows += 1;
            Ok(())
        })
    }
    /// Completes the file; returns the number of rows.
    pub(super) fn finish(&self) -> Result<u64, Box<dyn Error>> {
        self.with(|content| {
            if let Some(file) = content.file.take() {
                let file = file.into_inner().map_err(|e| e.into_error())?;
                file.persist(&content.path).map_err(|e| e.error)?;
            }
            Ok(content.rows)
        })
    }
}

fn header(plant: &MultibodyPlant) -> Result<String> {
    let (mut q, mut v) = (
        vec![String::new(); plant.num_positions()],
        vec![String::new(); plant.num_velocities()],
    );
    for (index, joint) in plant.joints() {
        let model = plant.model_instance_name(joint.model_instance())?;
        let label = |columns: &mut [String], names: &[String], suffix: &str| {
            for (column, name) in columns.iter_mut().zip(names) {
                *column = format!("{model}::{name}.{suffix}");
            }
        };
        let start = plant.position_start(index)?;
        let range = start..start + joint.num_positions();
        label(&mut q[range.clone()], &plant.position_names()[range], "q");
        let start = plant.velocity_start(index)?;
        let range = start..start + joint.num_velocities();
        label(&mut v[range.clone()], &plant.velocity_names()[range], "v");
    }
    let columns = std::iter::once("time".into()).chain(q).chain(v);
    let columns: Vec<String> = columns.map(|name: String| quoted(&name)).collect();
    Ok(columns.join(","))
}

/// Quotes a name that would otherwise be two columns.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}

/// System that writes a row at a fixed rate.
pub(super) struct CsvWriter {
    pub(super) file: CsvFile,
    /// Size of the state.
    pub(super) size: usize,
    /// Time between rows (s).
    pub(super) period: f64,
}

impl LeafSystem<f64> for CsvWriter {
    type Ports = InputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let state = d.vector_input("state", self.size);
        d.publish_on(Trigger::every(self.period), move |s, ctx| {
            let row = s.file.add(ctx.time(), ctx.eval(state)?);
            row.map_err(|e| tarragon::Error::invalid(e.to_string()))?;
            Ok(EventStatus::Succeeded)
        });
        state
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
