//! Measurements by the kind and the subject of a sensor.

use super::frame::{ExpressedIn, FixedFrame, FrameMeasurement, FrameQuantity};
use super::subtree::{SubtreeMeasurement, SubtreeQuantity};
use crate::Result;
use nalgebra::Isometry3;
use tarragon_multibody::{
    BodyIndex, Joint, JointIndex, ModelSensor, MultibodyPlant, PositionSource, SensorSubject,
};

/// Measurement of a sensor.
#[derive(Clone, Debug)]
pub(super) enum Measurement {
    /// The time (s).
    Time,
    /// Weighted sum of elements of the state `[q; v]`.
    State(Vec<(usize, f64)>),
    Frame(FrameMeasurement),
    Subtree(SubtreeMeasurement),
    /// Energy of the plant (J).
    Energy(Energy),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Energy {
    Kinetic,
    Potential,
}

/// Coordinates of a joint.
#[derive(Clone, Copy)]
enum Coordinates {
    Position,
    Velocity,
}

/// Measurement of a sensor, or why it cannot be measured.
type Measurable = Result<Measurement, String>;

const AXES: &str = "it depends on the principal axes of inertia of a body, which the plant does \
                    not order; attach it to the body ('xbody') or a site";
const NO_STATE: &str = "the plant has no port of its state; call \
                        `set_position_source(PositionSource::State)` before the plant is added";

impl Measurement {
    /// Creates the measurement of a sensor of a plant.
    pub(super) fn new(plant: &MultibodyPlant, sensor: &ModelSensor) -> Measurable {
        let kind = &*sensor.kind;
        if let Some(quantity) = subtree_quantity(kind) {
            let SensorSubject::Body(body) = sensor.subject else {
                return misfit(sensor, "a body");
            };
            let subtree = SubtreeMeasurement::new(plant, body, quantity);
            return subtree.map(Self::Subtree).map_err(|e| e.to_string());
        }
        if let Some(quantity) = frame_quantity(kind) {
            return of_frame(plant, sensor, quantity);
        }
        match kind {
            "clock" => Ok(Self::Time),
            "e_kinetic" => with_state(plant, || Ok(Self::Energy(Energy::Kinetic))),
            "e_potential" => with_state(plant, || Ok(Self::Energy(Energy::Potential))),
            "jointpos" => of_joint(plant, sensor, Coordinates::Position),
            "jointvel" => of_joint(plant, sensor, Coordinates::Velocity),
            "actuatorpos" => of_actuator(plant, sensor, Coordinates::Position),
            "actuatorvel" => of_actuator(plant, sensor, Coordinates::Velocity),
            "ballquat" => of_ball(plant, sensor, FrameQuantity::Orientation),
            "ballangvel" => {
                let quantity = FrameQuantity::AngularVelocity(ExpressedIn::Own);
                of_ball(plant, sensor, quantity)
            }
            _ => Err(unmeasured(kind)),
        }
    }

    /// Returns the number of elements.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Time | Self::State(_) | Self::Energy(_) => 1,
            Self::Frame(measurement) => measurement.quantity.size(),
            Self::Subtree(_) => 3,
        }
    }
    /// Returns true if a cutoff limits the measurement, as in MuJoCo.
    pub(super) fn has_cutoff(&self) -> bool {
        !matches!(self, Self::Frame(measurement) if measurement.quantity.is_direction())
    }
}

/// Returns why no system measures a kind of sensors.
fn unmeasured(kind: &str) -> String {
    let why = match kind {
        "accelerometer" | "frameangacc" | "framelinacc" => "it measures accelerations",
        "actuatorfrc" | "force" | "jointactuatorfrc" | "torque" | "touch" => "it measures forces",
        "jointlimitfrc" | "jointlimitpos" | "jointlimitvel" => {
            "it measures a limit while that acts"
        }
        "magnetometer" => "it measures a magnetic field",
        "rangefinder" => "it measures distances to geometry",
        _ => return format!("the kind '{kind}' is unknown"),
    };
    format!("{why}, and only functions of time, positions and velocities are measured")
}

fn misfit<V>(sensor: &ModelSensor, required: &str) -> Result<V, String> {
    let (kind, found) = (&sensor.kind, sensor.subject);
    Err(format!(
        "the subject of '{kind}' must be {required}, got {found:?}"
    ))
}

fn with_state(plant: &MultibodyPlant, make: impl FnOnce() -> Measurable) -> Measurable {
    match plant.position_source() {
        PositionSource::State => make(),
        PositionSource::InputPort => Err(NO_STATE.into()),
    }
}

fn subtree_quantity(kind: &str) -> Option<SubtreeQuantity> {
    Some(match kind {
        "subtreecom" => SubtreeQuantity::CenterOfMass,
        "subtreelinvel" => SubtreeQuantity::Velocity,
        "subtreeangmom" => SubtreeQuantity::AngularMomentum,
        _ => return None,
    })
}

fn frame_quantity(kind: &str) -> Option<FrameQuantity> {
    Some(match kind {
        "framepos" => FrameQuantity::Position,
        "framequat" => FrameQuantity::Orientation,
        "framexaxis" => FrameQuantity::Axis(0),
        "frameyaxis" => FrameQuantity::Axis(1),
        "framezaxis" => FrameQuantity::Axis(2),
        "frameangvel" => FrameQuantity::AngularVelocity(ExpressedIn::Reference),
        "framelinvel" => FrameQuantity::TranslationalVelocity(ExpressedIn::Reference),
        "gyro" => FrameQuantity::AngularVelocity(ExpressedIn::Own),
        "velocimeter" => FrameQuantity::TranslationalVelocity(ExpressedIn::Own),
        _ => return None,
    })
}

fn of_frame(plant: &MultibodyPlant, sensor: &ModelSensor, quantity: FrameQuantity) -> Measurable {
    let (frame, has_axes) = frame(plant, sensor, sensor.subject)?;
    let reference = match sensor.reference {
        None => None,
        Some(reference) => Some(self::frame(plant, sensor, reference)?),
    };
    let known_reference = reference.is_none_or(|(_, has_axes)| has_axes);
    if !(known_reference && (has_axes || !quantity.is_direction())) {
        return Err(AXES.into());
    }
    Ok(Measurement::Frame(FrameMeasurement {
        frame,
        reference: reference.map(|(frame, _)| frame),
        quantity,
    }))
}

/// Returns a frame that parameters do not move.
fn fixed(body: BodyIndex, x_bf: Isometry3<f64>) -> FixedFrame {
    FixedFrame {
        body,
        x_bf,
        at_center_of_mass: false,
    }
}

/// Returns a frame, and whether its axes are known.
fn frame(
    plant: &MultibodyPlant,
    sensor: &ModelSensor,
    subject: SensorSubject,
) -> Result<(FixedFrame, bool), String> {
    let body = |body: BodyIndex| plant.body(body).map_err(|e| e.to_string());
    Ok(match subject {
        SensorSubject::Body(index) => {
            body(index)?;
            let x_bf = Isometry3::identity();
            (fixed(index, x_bf), true)
        }
        SensorSubject::CenterOfMass(index) => {
            let p = body(index)?.spatial_inertia().center_of_mass();
            let x_bf = Isometry3::translation(p.x, p.y, p.z);
            let frame = FixedFrame {
                at_center_of_mass: true,
                ..fixed(index, x_bf)
            };
            (frame, false)
        }
        SensorSubject::Site(number) => {
            let Some(site) = plant.sites().get(number) else {
                return misfit(sensor, "a site of the plant");
            };
            let (body, x_bf) = (site.body(), *site.pose_in_body());
            (fixed(body, x_bf), true)
        }
        _ => return misfit(sensor, "a body or a site"),
    })
}

/// Returns the joint of a sensor.
fn joint<'p>(
    plant: &'p MultibodyPlant,
    sensor: &ModelSensor,
) -> Result<(JointIndex, &'p Joint), String> {
    let SensorSubject::Joint(index) = sensor.subject else {
        return misfit(sensor, "a joint");
    };
    Ok((index, plant.joint(index).map_err(|e| e.to_string())?))
}

fn wrong_joint(joint: &Joint, required: &str) -> Measurable {
    let (name, found) = (joint.name(), joint.kind().type_name());
    Err(format!("joint '{name}' must {required}, got '{found}'"))
}

fn of_joint(plant: &MultibodyPlant, sensor: &ModelSensor, of: Coordinates) -> Measurable {
    let (index, joint) = joint(plant, sensor)?;
    if joint.num_velocities() != 1 {
        return wrong_joint(joint, "have one degree of freedom");
    }
    sum(plant, &[(index, 1.0)], of)
}

fn of_actuator(plant: &MultibodyPlant, sensor: &ModelSensor, of: Coordinates) -> Measurable {
    let SensorSubject::Actuator(index) = sensor.subject else {
        return misfit(sensor, "an actuator");
    };
    let actuator = plant.joint_actuator(index).map_err(|e| e.to_string())?;
    let gear = actuator
        .affine_control()
        .map_or(1.0, |control| control.gear);
    if actuator.path().is_some() {
        return Err(format!(
            "actuator '{}' must drive joints, got a spatial tendon",
            actuator.name()
        ));
    }
    let joints = actuator.joints();
    let joints: Vec<_> = joints.map(|(joint, ratio)| (joint, gear * ratio)).collect();
    sum(plant, &joints, of)
}

/// Returns the weighted sum of coordinates of joints with one degree of freedom.
fn sum(plant: &MultibodyPlant, joints: &[(JointIndex, f64)], of: Coordinates) -> Measurable {
    with_state(plant, || {
        let element = |(joint, weight): &(JointIndex, f64)| {
            let element = match of {
                Coordinates::Position => plant.position_start(*joint),
                Coordinates::Velocity => {
                    let start = plant.velocity_start(*joint);
                    start.map(|start| plant.num_positions() + start)
                }
            };
            Ok((element.map_err(|e| e.to_string())?, *weight))
        };
        let elements = joints.iter().map(element);
        Ok(Measurement::State(elements.collect::<Result<_, String>>()?))
    })
}

/// Returns a measurement of the child's joint frame M in the parent's joint frame F.
fn of_ball(plant: &MultibodyPlant, sensor: &ModelSensor, quantity: FrameQuantity) -> Measurable {
    let (_, joint) = joint(plant, sensor)?;
    if !joint.kind().is_ball() {
        return wrong_joint(joint, "be a ball joint");
    }
    Ok(Measurement::Frame(FrameMeasurement {
        frame: fixed(joint.child_body(), *joint.pose_on_child()),
        reference: Some(fixed(joint.parent_body(), *joint.pose_on_parent())),
        quantity,
    }))
}
