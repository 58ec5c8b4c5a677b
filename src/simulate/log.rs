//! The log: rows of numbers at a fixed rate, as a CSV file, as a plot, or both.

use super::csv::CsvFile;
use super::log_columns::{log_columns, matching};
use super::plot::Plot;
use crate::files::{cannot_write, check_distinct};
use crate::sweep;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tarragon::framework::Trigger;
use tarragon::geometry::GeometryConfigurationVector;
use tarragon::multibody::{ContactResults, MultibodyPlant};
use tarragon::nalgebra::DVector;
use tarragon::prelude::*;

/// Options of the log.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct LogArgs {
    /// On exit, writes times, positions, velocities, energy and number of contacts as CSV.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// On exit, writes a chart of the columns of the log against time as SVG, with one panel for
    /// each physical quantity. Works without --log too.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Columns of the plot: names like those in the log, in which `*` stands for any letters:
    /// `arm::*.q`, `energy`. The model may be left out. May be repeated or separated by commas
    /// [default: all columns].
    #[arg(long, value_name = "PATTERN", requires = "plot", value_delimiter = ',')]
    columns: Vec<String>,
    /// Rows of the log per simulated second.
    #[arg(long, default_value_t = 100.0, value_parser = sweep::positive, allow_negative_numbers = true)]
    rate: f64,
}

/// Output files of a log. They have temporary names until they are complete.
#[derive(Clone)]
pub(super) struct Log {
    content: Arc<Mutex<Content>>,
    /// Time between rows (s).
    period: f64,
}

struct Content {
    csv: Option<CsvFile>,
    plot: Option<Plot>,
    rows: u64,
    /// Time of the last row (s).
    last: Option<f64>,
    /// Time spent on rows.
    spent: Duration,
}

impl LogArgs {
    /// Checks the names of the output files, also against the name of the recording.
    pub(super) fn check(&self, record: Option<&Path>) -> Result<(), String> {
        check_distinct(&[
            ("--plot", self.plot.as_deref()),
            ("--log", self.log.as_deref()),
            ("--record", record),
        ])?;
        match &self.plot {
            Some(plot)
                if !plot
                    .extension()
                    .is_some_and(|e| e.eq_ignore_ascii_case("svg")) =>
            {
                Err(format!(
                    "--plot: the suffix must be .svg, got '{}'; the plot is written as SVG",
                    plot.display()
                ))
            }
            _ => Ok(()),
        }
    }
}

impl Log {
    /// Starts the files that a user asks for; `None` without any.
    pub(super) fn create(
        args: &LogArgs,
        plant: &MultibodyPlant,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        if args.log.is_none() && args.plot.is_none() {
            return Ok(None);
        }
        let columns = log_columns(plant)?;
        let places = matching(&columns, &args.columns)?;
        let csv = args.log.as_deref().map(|path| {
            let csv = CsvFile::create(path, &columns);
            csv.map_err(|e| cannot_write(path, &e))
        });
        let plot = args.plot.as_deref().map(|path| {
            let plot = Plot::create(path, &columns, places);
            plot.map_err(|e| cannot_write(path, &e))
        });
        let content = Content {
            csv: csv.transpose()?,
            plot: plot.transpose()?,
            rows: 0,
            last: None,
            spent: Duration::ZERO,
        };
        Ok(Some(Self {
            content: Arc::new(Mutex::new(content)),
            period: 1.0 / args.rate,
        }))
    }

    fn with<V>(
        &self,
        act: impl FnOnce(&mut Content) -> Result<V, String>,
    ) -> Result<V, Box<dyn Error>> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(act(&mut content)?)
    }
    /// Discards all rows, because the simulation starts again.
    pub(super) fn restart(&self) -> Result<(), Box<dyn Error>> {
        self.with(|content| {
            (content.rows, content.last, content.spent) = (0, None, Duration::ZERO);
            content.plot.iter_mut().for_each(Plot::restart);
            content.with_csv(CsvFile::restart)
        })
    }
    /// Adds a row whose numbers were begun at a time.
    fn add(&self, time: f64, row: &[f64], begun: Instant) -> Result<(), Box<dyn Error>> {
        self.with(|content| {
            content.with_csv(|csv| csv.add(time, row))?;
            content.plot.iter_mut().for_each(|plot| plot.add(time, row));
            content.rows += 1;
            content.last = Some(time);
            content.spent += begun.elapsed();
            Ok(())
        })
    }
    /// Returns the time of the next row (s). A row that falls on a step of `step` seconds has the
    /// time of that step to the last bit: with another rounding, it would have the state of the
    /// step before or after it.
    fn next_time(&self, now: f64, step: f64) -> f64 {
        let content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let time_of = |row: f64| {
            let time = row * self.period;
            let nearest = (time / step).round() * step;
            let is_step = (nearest - time).abs() <= 1e-9 * self.period.min(step);
            if is_step { nearest } else { time }
        };
        let near = (now / self.period).floor();
        let rows = [-1.0, 0.0, 1.0, 2.0].map(|offset| time_of(near + offset));
        let is_next = |time: &f64| *time >= now && Some(*time) != content.last;
        rows.into_iter().find(is_next).unwrap_or(f64::INFINITY)
    }
    /// Returns the time spent on rows.
    pub(super) fn spent(&self) -> Duration {
        let content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        content.spent
    }
    /// Completes the files; returns the number of rows.
    pub(super) fn finish(&self) -> Result<u64, Box<dyn Error>> {
        self.with(|content| {
            content.with_csv(CsvFile::finish)?;
            if let Some(plot) = &mut content.plot {
                plot.finish().map_err(|e| cannot_write(plot.path(), &e))?;
            }
            Ok(content.rows)
        })
    }
}

impl Content {
    fn with_csv(
        &mut self,
        act: impl FnOnce(&mut CsvFile) -> std::io::Result<()>,
    ) -> Result<(), String> {
        match &mut self.csv {
            Some(csv) => act(csv).map_err(|e| cannot_write(csv.path(), &e)),
            None => Ok(()),
        }
    }
}

/// System that adds a row to a log at a fixed rate.
pub(super) struct LogWriter {
    pub(super) log: Log,
    pub(super) plant: MultibodyPlant,
}

/// Input ports of a [`LogWriter`].
#[derive(Clone, Debug)]
pub(super) struct LogWriterPorts {
    pub(super) state: InputPort<Vec<f64>>,
    pub(super) contacts: InputPort<ContactResults<f64>>,
    /// Configurations of the deformable bodies; `None` if there are none.
    pub(super) configurations: Option<InputPort<GeometryConfigurationVector<f64>>>,
}

impl LeafSystem<f64> for LogWriter {
    type Ports = LogWriterPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let size = self.plant.num_positions() + self.plant.num_velocities();
        let state = d.vector_input("state", size);
        let contacts = d.input::<ContactResults<f64>>("contacts");
        let has_soft = !self.plant.deformable_bodies().is_empty();
        type Configurations = GeometryConfigurationVector<f64>;
        let configurations = has_soft.then(|| d.input::<Configurations>("configurations"));
        let row = d.timed_event(|s, ctx| Ok(s.log.next_time(ctx.time(), s.plant.time_step())));
        d.publish_on(Trigger::Timed(row), move |s, ctx| {
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
            let row = s.log.add(ctx.time(), &numbers, started);
            row.map_err(|e| tarragon::Error::invalid(e.to_string()))?;
            Ok(EventStatus::Succeeded)
        });
        LogWriterPorts {
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
