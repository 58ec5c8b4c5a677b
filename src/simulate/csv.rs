//! The motion as comma-separated values, written while it happens.

use super::columns::StateColumns;
use crate::sweep;
use std::error::Error;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tarragon::framework::Trigger;
use tarragon::geometry::GeometryConfigurationVector;
use tarragon::multibody::{ContactResults, MultibodyPlant};
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
    /// Time spent on rows.
    spent: Duration,
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
        self.spent = Duration::ZERO;
        let header = self.header.clone();
        self.write(&header)
    }
}

impl CsvFile {
    /// Starts a file with the columns of a plant: the time (s), positions `model::name.q`,
    /// velocities `model::name.v`, means `model::name.x`, `.y` and `.z` of the vertices of
    /// deformable bodies (m), the energy of rigid bodies (J), and the number of contacts.
    pub(super) fn create(path: &Path, plant: &MultibodyPlant) -> Result<Self, Box<dyn Error>> {
        let mut content = Content {
            path: path.into(),
            header: header(plant)?,
            file: None,
            rows: 0,
            spent: Duration::ZERO,
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
    /// Adds a row whose numbers were begun at a time.
    fn add(&self, time: f64, state: &[f64], begun: Instant) -> Result<(), Box<dyn Error>> {
        self.with(|content| {
            let mut row = time.to_string();
            for x in state {
                row.push_str(&format!(",{x}"));
            }
            content.write(&row)?;
            content.rows += 1;
            content.spent += begun.elapsed();
            Ok(())
        })
    }
    /// Returns the time spent on rows.
    pub(super) fn spent(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spent
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
    let columns = StateColumns::new(plant)?;
    let mut soft = vec![];
    for body in plant.deformable_bodies() {
        let model = plant.model_instance_name(body.model_instance())?;
        soft.extend(["x", "y", "z"].map(|axis| format!("{model}::{}.{axis}", body.name())));
    }
    let state = columns.positions.into_iter().chain(columns.velocities);
    let all = std::iter::once("time".into()).chain(state).chain(soft);
    let all = all.chain(["energy", "contacts"].map(String::from));
    let columns: Vec<String> = all.map(|name: String| quoted(&name)).collect();
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
    pub(super) plant: MultibodyPlant,
    /// Time between rows (s).
    pub(super) period: f64,
}

/// Input ports of a [`CsvWriter`].
#[derive(Clone, Debug)]
pub(super) struct CsvWriterPorts {
    pub(super) state: InputPort<Vec<f64>>,
    pub(super) contacts: InputPort<ContactResults<f64>>,
    /// Configurations of the deformable bodies; `None` if there are none.
    pub(super) configurations: Option<InputPort<GeometryConfigurationVector<f64>>>,
}

impl LeafSystem<f64> for CsvWriter {
    type Ports = CsvWriterPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let size = self.plant.num_positions() + self.plant.num_velocities();
        let state = d.vector_input("state", size);
        let contacts = d.input::<ContactResults<f64>>("contacts");
        let has_soft = !self.plant.deformable_bodies().is_empty();
        type Configurations = GeometryConfigurationVector<f64>;
        let configurations = has_soft.then(|| d.input::<Configurations>("configurations"));
        d.publish_on(Trigger::every(self.period), move |s, ctx| {
            let started = Instant::now();
            let mut numbers = ctx.eval(state)?.clone();
            let energy = energy_of(&s.plant, &numbers)?;
            if let Some(port) = configurations {
                let all = ctx.eval(port)?;
                for body in s.plant.deformable_bodies() {
                    let configuration = all.value(body.geometry_id());
                    numbers.extend(configuration.map_or([f64::NAN; 3], mean));
                }
            }
            numbers.push(energy);
            numbers.push(num_contacts(ctx.eval(contacts)?) as f64);
            let row = s.file.add(ctx.time(), &numbers, started);
            row.map_err(|e| tarragon::Error::invalid(e.to_string()))?;
            Ok(EventStatus::Succeeded)
        });
        CsvWriterPorts {
            state,
            contacts,
            configurations,
        }
    }
}

/// Returns the kinetic and potential energy (J) of the rigid bodies of a plant at `[q; v]`.
pub(super) fn energy_of(plant: &MultibodyPlant, state: &[f64]) -> Result<f64> {
    let (q, v) = state.split_at(plant.num_positions());
    let positions = plant.calc_position_kinematics(q)?;
    let velocities = plant.calc_velocity_kinematics(&positions, &v[..plant.num_velocities()])?;
    let kinetic = plant.calc_kinetic_energy(&positions, &velocities)?;
    Ok(kinetic + plant.calc_potential_energy(&positions)?)
}

/// Returns the number of contact points and surfaces.
pub(super) fn num_contacts(contacts: &ContactResults<f64>) -> usize {
    contacts.point_pairs().len()
        + contacts.hydroelastic_contacts().len()
        + contacts.deformable_contacts().len()
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
