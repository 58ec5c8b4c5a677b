//! The motion as comma-separated values, written while it happens.

use crate::sweep;
use std::error::Error;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tarragon::framework::Trigger;
use tarragon::geometry::GeometryConfigurationVector;
use tarragon::multibody::MultibodyPlant;
use tarragon::nalgebra::DVector;
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
    /// Starts a file with the columns of a plant: the time (s), positions `model::name.q`,
    /// velocities `model::name.v`, and means `model::name.x`, `.y` and `.z` of the vertices of
    /// deformable bodies (m).
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
    let mut soft = vec![];
    for body in plant.deformable_bodies() {
        let model = plant.model_instance_name(body.model_instance())?;
        soft.extend(["x", "y", "z"].map(|axis| format!("{model}::{}.{axis}", body.name())));
    }
    let columns = std::iter::once("time".into()).chain(q).chain(v).chain(soft);
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
    /// Geometry of the deformable bodies.
    pub(super) deformables: Vec<GeometryId>,
    /// Time between rows (s).
    pub(super) period: f64,
}

/// Input ports of a [`CsvWriter`].
#[derive(Clone, Debug)]
pub(super) struct CsvWriterPorts {
    pub(super) state: InputPort<Vec<f64>>,
    /// Configurations of the deformable bodies; `None` if there are none.
    pub(super) configurations: Option<InputPort<GeometryConfigurationVector<f64>>>,
}

impl LeafSystem<f64> for CsvWriter {
    type Ports = CsvWriterPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let state = d.vector_input("state", self.size);
        let has_soft = !self.deformables.is_empty();
        type Configurations = GeometryConfigurationVector<f64>;
        let configurations = has_soft.then(|| d.input::<Configurations>("configurations"));
        d.publish_on(Trigger::every(self.period), move |s, ctx| {
            let mut numbers = ctx.eval(state)?.clone();
            if let Some(port) = configurations {
                let all = ctx.eval(port)?;
                for id in &s.deformables {
                    numbers.extend(all.value(*id).map_or([f64::NAN; 3], mean));
                }
            }
            let row = s.file.add(ctx.time(), &numbers);
            row.map_err(|e| tarragon::Error::invalid(e.to_string()))?;
            Ok(EventStatus::Succeeded)
        });
        CsvWriterPorts {
            state,
            configurations,
        }
    }
}

/// Returns the mean of the vertices of a configuration.
fn mean(configuration: &DVector<f64>) -> [f64; 3] {
    let (vertices, _) = configuration.as_slice().as_chunks::<3>();
    let sum = |axis: usize| vertices.iter().map(|p| p[axis]).sum::<f64>();
    [0, 1, 2].map(|axis| sum(axis) / vertices.len() as f64)
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
