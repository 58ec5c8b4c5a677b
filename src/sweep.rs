//! `tarragon sweep`: the joints of a model move through their ranges, in real time.

use crate::model;
use nalgebra::Isometry3;
use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tarragon::framework::primitives::{VectorLogSink, VectorSystem};
use tarragon::multibody::{
    JointKind, MultibodyPlant, PositionSource, add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;
use tempfile::NamedTempFile;

/// What a shell reports of a program that Ctrl-C has ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Half of the range of a joint without limits (rad or m).
const HALF_RANGE: [f64; 2] = [FRAC_PI_2, 0.5];

/// Arguments of `tarragon sweep`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: model::Args,
    /// Simulated time (s).
    #[arg(long, default_value_t = 4.0, value_parser = positive)]
    duration: f64,
    /// Time of one movement through all the range and back (s).
    #[arg(long, default_value_t = 4.0, value_parser = positive)]
    period: f64,
    /// Seconds simulated per second; 0 for as fast as possible.
    #[arg(long, default_value_t = 1.0)]
    realtime_rate: f64,
    /// Records per simulated second.
    #[arg(long, default_value_t = 100.0, value_parser = positive)]
    rate: f64,
    /// File for the positions of the joints, and of the origins of the bodies in the world (m), as CSV.
    #[arg(long)]
    log: PathBuf,
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("a positive number is expected".into()),
    }
}

/// Puts out what is to be recorded: positions of joints, then origins of bodies.
struct Recorded {
    positions: usize,
    bodies: usize,
}
#[derive(Clone, Copy)]
struct RecordedPorts {
    q: InputPort<Vec<f64>>,
    poses: InputPort<Vec<Isometry3<f64>>>,
    y: OutputPort<Vec<f64>>,
}
impl LeafSystem<f64> for Recorded {
    type Ports = RecordedPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let q = d.vector_input("q", self.positions);
        let poses = d.input::<Vec<Isometry3<f64>>>("poses");
        let (size, deps) = (self.positions + 3 * self.bodies, [q.into(), poses.into()]);
        let y = d.vector_output("y", size, &deps, move |s, ctx, y| {
            let (q_out, origins) = y.split_at_mut(s.positions);
            q_out.copy_from_slice(ctx.eval(q)?);
            for (out, pose) in origins.chunks_exact_mut(3).zip(ctx.eval(poses)?) {
                out.copy_from_slice(pose.translation.vector.as_slice());
            }
            Ok(())
        });
        RecordedPorts { q, poses, y }
    }
}

/// Simulates until the end or Ctrl-C, then writes what was recorded.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let mut plant = MultibodyPlant::new(0.001)?;
    let mut scene_graph = SceneGraph::new();
    args.model.load(&mut plant, &mut scene_graph)?;
    plant.set_position_source(PositionSource::InputPort);
    let mut columns = plant.position_names().to_vec();
    let positions = columns.len();
    for (_, body) in plant.bodies() {
        columns.extend(["x", "y", "z"].map(|axis| format!("{}.{axis}", body.name())));
    }
    let movement = movement(&plant, args.period)?;
    let recorded = Recorded {
        positions,
        bodies: plant.num_bodies(),
    };

    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene_graph)?;
    let movement = b.add_f64("movement", movement);
    let recorded = b.add_f64("recorded", recorded);
    let log = VectorLogSink::periodic(columns.len(), 1.0 / args.rate);
    let log = b.add("log", log);
    b.connect(
        movement.y,
        plant
            .position
            .ok_or("the plant has no port for positions")?,
    );
    b.connect(movement.y, recorded.q);
    b.connect(plant.body_poses, recorded.poses);
    b.connect(recorded.y, log.u);
    let diagram = b.build()?;

    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.set_target_realtime_rate(args.realtime_rate)?;
    let stop = sim.interrupt_handle();
    ctrlc::set_handler(move || stop.interrupt())?;

    // Before simulating: a file that can not be written shall not cost the user the time. It gets its
    // name when it is complete.
    let problem = |e: std::io::Error| format!("can not write '{}': {e}", args.log.display());
    let mut file = BufWriter::new(temporary_beside(&args.log).map_err(problem)?);

    let status = sim.advance_to(args.duration)?;

    let log = log.find_log(sim.context())?;
    writeln!(file, "time,{}", columns.join(",")).map_err(problem)?;
    for (time, row) in log.samples() {
        write!(file, "{time}").map_err(problem)?;
        for x in row {
            write!(file, ",{x}").map_err(problem)?;
        }
        writeln!(file).map_err(problem)?;
    }
    let file = file.into_inner().map_err(|e| problem(e.into_error()))?;
    file.persist(&args.log).map_err(|e| problem(e.error))?;
    let (time, rate) = (sim.context().time(), sim.actual_realtime_rate());
    let what = match status {
        SimulatorStatus::Interrupted => "interrupted at",
        _ => "simulated",
    };
    eprintln!(
        "{what} {time:.3} s at {rate:.2} times real time, {} records",
        log.num_samples()
    );
    Ok(match status {
        SimulatorStatus::Interrupted => ExitCode::from(INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}

/// A file in the same directory, removed unless it is renamed.
pub(crate) fn temporary_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Joints of one position swing through their ranges; the others stay at their defaults. A function of
/// time (s) and of the positions to set.
pub(crate) fn swing(
    plant: &MultibodyPlant,
    period: f64,
) -> Result<impl Fn(f64, &mut [f64]) + Send + Sync + 'static, Box<dyn Error>> {
    let (lower, upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    let (mut middle, mut half) = (plant.default_positions(), vec![0.0; lower.len()]);
    for (index, joint) in plant.joints().filter(|(_, j)| j.num_positions() == 1) {
        let i = plant.position_start(index)?;
        let is_prismatic = matches!(joint.kind(), JointKind::Prismatic { .. });
        half[i] = (upper[i] - lower[i]) / 2.0;
        if half[i].is_finite() {
            middle[i] = lower[i] + half[i];
        } else {
            half[i] = HALF_RANGE[usize::from(is_prismatic)];
        }
    }
    Ok(move |t: f64, q: &mut [f64]| {
        for (q, (middle, half)) in q.iter_mut().zip(middle.iter().zip(&half)) {
            *q = middle + half * (TAU * t / period).sin();
        }
    })
}

fn movement(plant: &MultibodyPlant, period: f64) -> Result<VectorSystem, Box<dyn Error>> {
    let (swing, n) = (swing(plant, period)?, plant.num_positions());
    Ok(VectorSystem::new(0, n, move |t, _, _, q| {
        swing(t, q);
        Ok(())
    }))
}
