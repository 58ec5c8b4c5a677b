//! `tarragon sweep`: moves the joints of a model through their ranges, in real time.

use crate::files::{cannot_write, temporary_beside};
use crate::model;
use crate::stop::INTERRUPTED;
use nalgebra::Isometry3;
use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tarragon::framework::counted;
use tarragon::framework::primitives::{VectorLogSink, VectorSystem};
use tarragon::multibody::{
    JointKind, MultibodyPlant, MultibodyPlantBuilder, PositionSource,
    add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;

/// Arguments of `tarragon sweep`.
#[derive(clap::Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    model: model::ModelArgs,
    /// Simulated time (s).
    #[arg(long, default_value_t = 4.0, value_parser = positive, allow_negative_numbers = true)]
    duration: f64,
    /// Time of one movement through the whole range and back (s).
    #[arg(long, default_value_t = 4.0, value_parser = positive, allow_negative_numbers = true)]
    period: f64,
    /// Simulated seconds per second of real time; 0 runs as fast as possible.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    realtime_rate: f64,
    /// Records per simulated second.
    #[arg(long, default_value_t = 100.0, value_parser = positive, allow_negative_numbers = true)]
    rate: f64,
    /// CSV file for the joint positions, and for the body origins in the world (m).
    #[arg(long)]
    log: PathBuf,
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("must be a positive finite number".into()),
    }
}

pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x >= 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("must be a finite number of at least 0".into()),
    }
}

/// System that outputs one record: joint positions, then body origins.
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
        let size = self.positions + 3 * self.bodies;
        let y = d.vector_output("y", size, (q, poses), move |s, ctx, y| {
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

/// Maximum number of records of a sweep; for a small arm, these take some gigabytes.
const MOST_RECORDS: f64 = 1e7;

/// Simulates until the end or Ctrl-C, then writes the records.
pub(crate) fn run(args: &SweepArgs) -> Result<ExitCode, Box<dyn Error>> {
    let records = args.duration * args.rate;
    if records > MOST_RECORDS {
        return Err(format!(
            "--duration times --rate must be at most {MOST_RECORDS:e} records, got {records:.3e}; \
             record a shorter time or less often"
        )
        .into());
    }
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    let mut scene_graph = SceneGraph::new();
    plant.set_position_source(PositionSource::InputPort);
    let plant = args.model.load(plant, &mut scene_graph)?;
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
    b.connect(movement.y, plant.position()?);
    b.connect(movement.y, recorded.q);
    b.connect(plant.body_poses, recorded.poses);
    b.connect(recorded.y, log.u);
    let diagram = b.build()?;

    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.set_target_realtime_rate(args.realtime_rate)?;
    let stop = sim.interrupt_handle();
    ctrlc::set_handler(move || stop.interrupt())?;

    // Created before simulating, so that an unwritable file does not cost the user the simulation.
    // It gets its final name when it is complete.
    let problem = |e: std::io::Error| cannot_write(&args.log, &e);
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
        "{what} {time:.3} s at {rate:.2} times real time, {records}",
        records = counted(log.num_samples(), "record")
    );
    Ok(match status {
        SimulatorStatus::Interrupted => ExitCode::from(INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}

/// Makes joints with one position swing through their ranges; the others stay at their defaults.
/// Returns a function of the time (s) and of the positions to set.
pub(crate) fn swing(
    plant: &MultibodyPlant,
    period: f64,
) -> Result<impl Fn(f64, &mut [f64]) + Send + Sync + 'static, Box<dyn Error>> {
    let (lower, upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    let (mut middle, mut half) = (plant.default_positions(), vec![0.0; lower.len()]);
    for (index, joint) in plant.joints().filter(|(_, j)| j.num_positions() == 1) {
        let i = plant.position_start(index)?;
        half[i] = (upper[i] - lower[i]) / 2.0;
        if half[i].is_finite() {
            middle[i] = lower[i] + half[i];
        } else {
            half[i] = match joint.kind() {
                JointKind::Prismatic { .. } => 0.5,
                // One period goes once around a closed path.
                JointKind::Curvilinear { path } => path.length() / 2.0,
                _ => FRAC_PI_2,
            };
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

#[cfg(test)]
mod tests {
    use super::*;
    use tarragon_formats::Parser;

    #[test]
    fn joints_without_limits_swing_through_a_range_of_their_kind() {
        let joint = |name: &str, kind: &str, rest: &str| {
            format!(
                "<link name='{name}'/><drake:joint name='{name}' type='{kind}'><parent link='base'/>\
                 <child link='{name}'/>{rest}</drake:joint>"
            )
        };
        let loop_of = |radius: f64| {
            format!(
                "<drake:is_periodic value='true'/><drake:curves>\
                 <drake:circular_arc radius='{radius}' angle='6.283185307179586'/></drake:curves>"
            )
        };
        let screw = "<drake:screw_thread_pitch value='1'/>";
        let text = format!(
            "<robot name='r' xmlns:drake='d'><link name='base'/>{}{}</robot>",
            joint("s", "screw", screw),
            joint("c", "curvilinear", &loop_of(0.25)),
        );
        let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.add_models_from_string(&text, "urdf").unwrap();
        let plant = plant.build().unwrap();
        let swing = swing(&plant, 4.0).unwrap();
        let mut q = plant.default_positions();
        swing(1.0, &mut q);
        let at = |name: &str| {
            q[plant
                .position_start(plant.joint_by_name(name).unwrap())
                .unwrap()]
        };
        assert!((at("s") - FRAC_PI_2).abs() < 1e-12, "{q:?}");
        assert!(
            (at("c") - 0.25 * std::f64::consts::PI).abs() < 1e-12,
            "{q:?}"
        );
    }
}
