//! `tarragon dynamics`: simulates models and computes accelerations, forces and gradients, one case
//! per line.

mod answer;
mod build;
mod case;

use crate::json_lines::{self, Answered, InputLine, LinesArgs, json_error};
use crate::warnings::RepeatedWarnings;
use case::{Case, CaseId};
use serde::Deserialize;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Description of the formats, for `--help`.
const FORMAT: &str = r#"One case, on one line of the input:
  {"id": "fall", "kind": "trajectory", "plant": {"time_step": 0.001},
   "build": [{"urdf": "<robot name=\"ball\"><link name=\"ball\"><inertial><mass value=\"1\"/>
     <inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link></robot>"}],
   "state": {"q": [1,0,0,0, 0,0,1], "v": [0,0,0, 0,0,0]}, "inputs": [], "record": {"steps": 100, "every": 50}}
One answer, on one line of the output:
  {"id": "fall", "result": {"x": [[...], [...], [...]], "final_ports": {...}}} or {"id": "fall", "error": "line 1: ..."}

Case:
  id           a string or a number, copied to the answer
  kind         "forward", "trajectory" or "gradient"
  plant        time_step (s; 0: continuous time; default 0.001); contact_model (default "point"), discrete_contact_approximation ("lagged", "similar", "sap"),
               use_sampled_output_ports (default false), stiction_tolerance (m/s), sap_near_rigid_threshold, gravity
  scene_graph  default proximity properties; without it, there is no contact
  mjcf_semantics  reading of MJCF files, "drake" (default) or "mujoco"
  build        steps in order, one key each: file (relative to --models), mjcf, urdf, sdf, weld, actuator, rotor, pd, limits,
               coupler, ball, weld_constraint, distance, revolute_spring, prismatic_spring, linear_spring_damper, bushing,
               door_hinge; names are model::element, poses [qw,qx,qy,qz,x,y,z], vectors [x,y,z]; keys of some:
               weld: parent, child (frames), X_PC; actuator: name, joint, effort_limit; rotor: actuator, inertia, gear_ratio;
               pd: actuator, p, d; limits: joint, lower, upper; coupler: joint0, joint1, gear_ratio, offset;
               ball: body_a, p_ap, body_b, p_bq; weld_constraint: body_a, x_ap, body_b, x_bq;
               distance: as ball, with distance, stiffness (or "inf"), damping;
               revolute_spring, prismatic_spring: joint, nominal, stiffness;
               linear_spring_damper: as ball, with free_length, stiffness, damping;
               bushing: frame_a, frame_c, torque_stiffness, torque_damping, force_stiffness, force_damping;
               door_hinge: joint, and any of spring_zero_angle_rad, spring_constant, dynamic_friction_torque,
               static_friction_torque, viscous_friction, catch_width, catch_torque, motion_threshold
  state        q and v, in the order of the plant; the default positions at rest where they are missing
  lock         names of joints that are locked
  inputs       phases that hold from a step on: from_step, actuation, desired_state, generalized_force, spatial_forces;
               actuation has one number per actuator, desired_state one list [q, v] per model, and spatial_forces
               objects with body, p_bq, torque, force
  record       trajectory: steps, every; in continuous time also sample (s per step), max_step (s), accuracy
  vdot_desired, steps  forward: for inverse dynamics; gradient: number of steps
  closed_form, truth   ignored: a note for readers, the answer of another program
Result:
  forward      qdot, vdot, mass matrix, forces, energies, powers, reaction forces, accelerations, contacts; if there
               are no accelerations, vdot is null and vdot_error says why
  trajectory   x: [q; v] after every so many steps; contacts then; final_ports
  gradient     value: [q; v] after the steps (or the time derivatives), ad: its derivatives along q (num_velocities
               columns, by N(q)), v and actuation
Blank lines are skipped. Every other line gets one answer, in the order of the input, as soon as it is known."#;

/// Arguments of `tarragon dynamics`.
#[derive(clap::Args)]
#[command(after_long_help = FORMAT)]
pub(crate) struct DynamicsArgs {
    #[command(flatten)]
    lines: LinesArgs,
    /// Folder of the model files of cases; `packages.json` in it maps packages to folders.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

/// Answers lines until the input ends or the reader of the output goes away.
pub(crate) fn run(args: &DynamicsArgs) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(models) = args.models.as_ref().filter(|models| !models.is_dir()) {
        return Err(format!("--models {}: there is no such folder", models.display()).into());
    }
    let warnings = RepeatedWarnings::new();
    let answer = |line: &InputLine| -> Result<Answered, String> {
        let case: Case = match serde_json::from_slice(&line.text) {
            Ok(case) => case,
            Err(error) => {
                let error = format!("line {}: {}", line.number, json_error(&error));
                return Ok(failed(id_of(&line.text).as_ref(), &error));
            }
        };
        let id = case.id.clone();
        let warn = |why: &str| {
            if warnings.is_shown(why) {
                eprintln!("warning: line {}, case {id}: {why}", line.number);
            }
        };
        Ok(match answer::answer(case, args.models.as_deref(), warn) {
            Ok(result) => Answered {
                json: serde_json::json!({ "id": id, "result": result }).to_string(),
                failed: false,
            },
            Err(error) => {
                let error = format!("line {}: {error}", line.number);
                failed(Some(&id), &error)
            }
        })
    };
    let code = json_lines::run(&args.lines, answer, |error| failed(None, error));
    warnings.print_rest();
    code
}

/// Returns the id of a line that is JSON but no case.
fn id_of(line: &[u8]) -> Option<CaseId> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    CaseId::deserialize(value.get("id")?).ok()
}

fn failed(id: Option<&CaseId>, error: &str) -> Answered {
    Answered {
        json: serde_json::json!({ "id": id, "error": error }).to_string(),
        failed: true,
    }
}
