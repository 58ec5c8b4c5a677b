//! Cases of `tarragon dynamics`, as read from JSON.

use crate::model::MjcfReading;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of the input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) id: CaseId,
    pub(super) kind: CaseKind,
    #[serde(default)]
    pub(super) plant: PlantOptions,
    #[serde(default)]
    pub(super) scene_graph: Option<SceneOptions>,
    /// Reading of MJCF files. Drake's is the default, because cases are exchanged with Drake.
    #[serde(default)]
    pub(super) mjcf_semantics: Option<MjcfReading>,
    pub(super) build: Vec<BuildStep>,
    #[serde(default)]
    pub(super) state: CaseState,
    #[serde(default)]
    pub(super) lock: Vec<String>,
    #[serde(default)]
    pub(super) inputs: Vec<Inputs>,
    #[serde(default)]
    pub(super) vdot_desired: Option<Vec<f64>>,
    #[serde(default)]
    pub(super) record: Option<Record>,
    #[serde(default)]
    pub(super) steps: Option<usize>,
    /// A fact of mechanics about the case, for readers.
    #[serde(default, rename = "closed_form")]
    _closed_form: serde::de::IgnoredAny,
    /// The answer of another program.
    #[serde(default, rename = "truth")]
    _truth: serde::de::IgnoredAny,
}

/// Identifier of a case, which its answer repeats.
#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged, expecting = "a string or a number")]
pub(super) enum CaseId {
    Text(String),
    Number(serde_json::Number),
}

impl std::fmt::Display for CaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum CaseKind {
    Forward,
    Trajectory,
    Gradient,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlantOptions {
    #[serde(default)]
    time_step: Option<f64>,
    #[serde(default)]
    pub(super) contact_model: Option<String>,
    #[serde(default)]
    pub(super) discrete_contact_approximation: Option<String>,
    #[serde(default)]
    pub(super) use_sampled_output_ports: Option<bool>,
    #[serde(default)]
    pub(super) stiction_tolerance: Option<f64>,
    #[serde(default)]
    pub(super) sap_near_rigid_threshold: Option<f64>,
    #[serde(default)]
    pub(super) gravity: Option<[f64; 3]>,
}

impl PlantOptions {
    /// Returns the time step (s), Drake's by default.
    pub(super) fn time_step(&self) -> f64 {
        self.time_step.unwrap_or(0.001)
    }
}

/// Default proximity properties.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SceneOptions {
    pub(super) point_stiffness: Option<f64>,
    pub(super) hunt_crossley_dissipation: Option<f64>,
    pub(super) relaxation_time: Option<f64>,
    pub(super) static_friction: Option<f64>,
    pub(super) dynamic_friction: Option<f64>,
}

/// A pose `[qw, qx, qy, qz, x, y, z]`.
pub(super) type Pose = [f64; 7];

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum BuildStep {
    File(String),
    Mjcf(String),
    Urdf(String),
    Sdf(String),
    Weld {
        parent: String,
        child: String,
        #[serde(rename = "X_PC")]
        x_pc: Pose,
    },
    Actuator {
        name: String,
        joint: String,
        #[serde(default)]
        effort_limit: Option<f64>,
    },
    Rotor {
        actuator: String,
        inertia: f64,
        gear_ratio: f64,
    },
    Pd {
        actuator: String,
        p: f64,
        d: f64,
    },
    Limits {
        joint: String,
        lower: f64,
        upper: f64,
    },
    Coupler {
        joint0: String,
        joint1: String,
        gear_ratio: f64,
        offset: f64,
    },
    Ball {
        body_a: String,
        p_ap: [f64; 3],
        body_b: String,
        p_bq: [f64; 3],
    },
    WeldConstraint {
        body_a: String,
        x_ap: Pose,
        body_b: String,
        x_bq: Pose,
    },
    Distance {
        body_a: String,
        p_ap: [f64; 3],
        body_b: String,
        p_bq: [f64; 3],
        distance: f64,
        stiffness: NumberOrText,
        damping: f64,
    },
    RevoluteSpring {
        joint: String,
        nominal: f64,
        stiffness: f64,
    },
    PrismaticSpring {
        joint: String,
        nominal: f64,
        stiffness: f64,
    },
    LinearSpringDamper {
        body_a: String,
        p_ap: [f64; 3],
        body_b: String,
        p_bq: [f64; 3],
        free_length: f64,
        stiffness: f64,
        damping: f64,
    },
    Bushing {
        frame_a: String,
        frame_c: String,
        torque_stiffness: [f64; 3],
        torque_damping: [f64; 3],
        force_stiffness: [f64; 3],
        force_damping: [f64; 3],
    },
    DoorHinge {
        joint: String,
        #[serde(default)]
        spring_zero_angle_rad: Option<f64>,
        #[serde(default)]
        spring_constant: Option<f64>,
        #[serde(default)]
        dynamic_friction_torque: Option<f64>,
        #[serde(default)]
        static_friction_torque: Option<f64>,
        #[serde(default)]
        viscous_friction: Option<f64>,
        #[serde(default)]
        catch_width: Option<f64>,
        #[serde(default)]
        catch_torque: Option<f64>,
        #[serde(default)]
        motion_threshold: Option<f64>,
    },
}

/// A number, or `"inf"`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum NumberOrText {
    Number(f64),
    Text(String),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseState {
    /// The default positions if this is missing.
    #[serde(default)]
    pub(super) q: Option<Vec<f64>>,
    /// Rest if this is missing.
    #[serde(default)]
    pub(super) v: Option<Vec<f64>>,
}

impl CaseState {
    /// Returns the positions, which are known once the plant is built.
    pub(super) fn q(&self) -> &[f64] {
        self.q.as_deref().unwrap_or_default()
    }
    /// Returns the velocities, which are known once the plant is built.
    pub(super) fn v(&self) -> &[f64] {
        self.v.as_deref().unwrap_or_default()
    }
}

/// Inputs that hold from a step on; what is not named is zero.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Inputs {
    pub(super) from_step: usize,
    pub(super) actuation: Option<Vec<f64>>,
    pub(super) desired_state: BTreeMap<String, Vec<f64>>,
    pub(super) generalized_force: Option<Vec<f64>>,
    pub(super) spatial_forces: Vec<SpatialForceInput>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpatialForceInput {
    pub(super) body: String,
    pub(super) p_bq: [f64; 3],
    pub(super) torque: [f64; 3],
    pub(super) force: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) steps: usize,
    pub(super) every: usize,
    #[serde(default)]
    pub(super) sample: Option<f64>,
    #[serde(default)]
    pub(super) max_step: Option<f64>,
    #[serde(default)]
    pub(super) accuracy: Option<f64>,
}
