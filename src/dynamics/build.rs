//! From the steps of a case to a diagram of a plant and its scene.

use super::case::{BuildStep, Case, Inputs, NumberOrText, Pose};
use crate::model::{self, MjcfReading};
use nalgebra::{Isometry3, Vector3};
use std::path::Path;
use tarragon::formats::{MjcfSemantics, Parser};
use tarragon::framework::{DiagramScalar, math};
use tarragon::geometry::SceneGraphConfig;
use tarragon::multibody::{
    BallConstraint, ContactModel, CouplerConstraint, DistanceConstraint, DoorHingeConfig,
    ExternallyAppliedSpatialForce, ForceElement, Joint, MultibodyPlant, MultibodyPlantBuilder,
    MultibodyPlantPorts, PdControllerGains, SpatialVector, WeldConstraint,
    add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;

/// The diagram of a case.
pub(super) struct Model {
    pub(super) diagram: Diagram<f64>,
    pub(super) plant: Block<MultibodyPlant>,
    pub(super) has_scene: bool,
}

fn pose(x: &Pose) -> Result<Isometry3<f64>, String> {
    let rotation = math::quaternion_wxyz([x[0], x[1], x[2], x[3]]);
    let rotation = rotation.ok_or_else(|| {
        format!("a pose must begin with a quaternion that is not zero, got {x:?}")
    })?;
    Ok(math::pose(rotation, Vector3::new(x[4], x[5], x[6])))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the message of a parser with the field of a case in place of the option of other
/// commands.
fn parser_text(error: impl std::fmt::Display) -> String {
    let field = r#""mjcf_semantics": "mujoco" in the case"#;
    text(error).replace("--mjcf-semantics mujoco", field)
}

impl Model {
    /// Builds the diagram of a case; `models` is the folder of model files.
    pub(super) fn new(
        case: &Case,
        models: Option<&Path>,
        warn: impl Fn(&str),
    ) -> Result<Self, String> {
        let options = &case.plant;
        let time_step = options.time_step();
        let mut plant = MultibodyPlantBuilder::new(time_step).map_err(text)?;
        let reading = case.mjcf_semantics.unwrap_or(MjcfReading::Drake);
        let mjcf_semantics = reading.semantics();
        plant.set_exact_rotations(mjcf_semantics == MjcfSemantics::MuJoCo);
        if let Some(name) = &options.discrete_contact_approximation {
            let approximation = name.parse().map_err(text)?;
            plant.set_discrete_contact_approximation(approximation);
        }
        let contact_model = options.contact_model.as_deref().unwrap_or("point");
        let contact_model: ContactModel = contact_model.parse().map_err(text)?;
        plant.set_contact_model(contact_model);
        let sampled = options.use_sampled_output_ports.unwrap_or(false);
        let sampled = sampled && time_step > 0.0;
        plant.set_use_sampled_output_ports(sampled).map_err(text)?;
        if let Some(v) = options.stiction_tolerance {
            plant.set_stiction_tolerance(v).map_err(text)?;
        }
        if let Some(threshold) = options.sap_near_rigid_threshold {
            plant
                .set_sap_near_rigid_threshold(threshold)
                .map_err(text)?;
        }
        if let Some(gravity) = options.gravity {
            plant.set_gravity(gravity.into()).map_err(text)?;
        }
        let mut scene = SceneGraph::new();
        if let Some(defaults) = &case.scene_graph {
            let mut config = SceneGraphConfig::default();
            let own = &mut config.default_proximity_properties;
            for (place, value) in [
                (&mut own.point_stiffness, defaults.point_stiffness),
                (
                    &mut own.hunt_crossley_dissipation,
                    defaults.hunt_crossley_dissipation,
                ),
                (&mut own.relaxation_time, defaults.relaxation_time),
                (&mut own.static_friction, defaults.static_friction),
                (&mut own.dynamic_friction, defaults.dynamic_friction),
            ] {
                *place = value.or(*place);
            }
            scene.set_config(config).map_err(text)?;
        }
        let has_scene = case.scene_graph.is_some();
        let mut builder = Builder {
            plant: &mut plant,
            scene: has_scene.then_some(&mut scene),
            models,
            mjcf_semantics,
        };
        for (i, step) in case.build.iter().enumerate() {
            builder
                .apply(step)
                .map_err(|e| format!("build[{i}]: {e}"))?;
        }
        let is_at_points = matches!(
            contact_model,
            ContactModel::Point | ContactModel::PointManifold
        );
        if is_at_points && model::declares_hydroelastics(&scene).map_err(text)? {
            warn(
                "the hydroelastic properties of the models are ignored: contact is at points; give \
                 the plant a contact_model, \"hydroelastic_with_fallback\" for example",
            );
        }
        let mut b = DiagramBuilder::new();
        let plant = if has_scene {
            add_multibody_plant_scene_graph(&mut b, plant, scene)
                .map_err(text)?
                .0
        } else {
            let plant = plant.build().map_err(text)?;
            b.add("plant", plant)
        };
        Ok(Self {
            diagram: b.build().map_err(text)?,
            plant,
            has_scene,
        })
    }

    /// Gives a context the inputs of a phase.
    pub(super) fn set_inputs<T: DiagramScalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
        inputs: &Inputs,
    ) -> Result<(), String> {
        let plant = self.plant.system();
        let lifted = |x: &[f64]| -> Vec<T> { x.iter().map(|x| T::from(*x)).collect() };
        let zeros = |n: usize| vec![0.0; n];
        let u = inputs
            .actuation
            .clone()
            .unwrap_or_else(|| zeros(plant.actuators().len()));
        let actuation = ports.actuation().map_err(text)?;
        context.fix(actuation, lifted(&u)).map_err(text)?;
        for (model, x) in &inputs.desired_state {
            let instance = plant.model_instance_by_name(model).map_err(text)?;
            let port = ports.desired_state_in(instance).map_err(text)?;
            context.fix(port, lifted(x)).map_err(text)?;
        }
        let n = plant.num_velocities();
        let f = inputs.generalized_force.clone().unwrap_or_else(|| zeros(n));
        let port = ports.applied_generalized_force().map_err(text)?;
        context.fix(port, lifted(&f)).map_err(text)?;
        let mut forces = vec![];
        for force in &inputs.spatial_forces {
            let lift = |x: [f64; 3]| Vector3::from(x.map(T::from));
            forces.push(ExternallyAppliedSpatialForce {
                body: plant.body_by_name(&force.body).map_err(text)?,
                p_bobq_b: force.p_bq.into(),
                f_bq_w: SpatialVector {
                    rotational: lift(force.torque),
                    translational: lift(force.force),
                },
            });
        }
        let port = ports.applied_spatial_force().map_err(text)?;
        context.fix(port, forces).map_err(text)
    }
}

/// The plant and the scene of a case, while they are built.
struct Builder<'a> {
    plant: &'a mut MultibodyPlantBuilder,
    scene: Option<&'a mut SceneGraph>,
    models: Option<&'a Path>,
    mjcf_semantics: MjcfSemantics,
}

impl Builder<'_> {
    fn parser(&mut self) -> Result<Parser<'_>, String> {
        let mut parser = match &mut self.scene {
            Some(scene) => Parser::with_scene_graph(self.plant, scene),
            None => Parser::new(self.plant),
        };
        parser.set_mjcf_semantics(self.mjcf_semantics);
        if let Some(models) = self.models {
            let map = parser.package_map_mut();
            map.add("corpus_root", models).map_err(text)?;
            let file = models.join("packages.json");
            if let Ok(found) = std::fs::read(&file) {
                let packages: std::collections::BTreeMap<String, String> =
                    serde_json::from_slice(&found)
                        .map_err(|e| format!("{}: {e}", file.display()))?;
                for (name, folder) in packages {
                    let folder = models.join(folder);
                    if folder.is_dir() {
                        // The map may know the package by default.
                        let _ = map.remove(&name);
                        map.add(&name, folder).map_err(text)?;
                    }
                }
            }
        }
        Ok(parser)
    }

    fn add_text(&mut self, model: &str, suffix: &str) -> Result<(), String> {
        let added = self.parser()?.add_models_from_string(model, suffix);
        added.map(drop).map_err(parser_text)
    }

    fn apply(&mut self, step: &BuildStep) -> Result<(), String> {
        match step {
            BuildStep::File(file) => {
                let path = self.models.map_or(file.into(), |models| models.join(file));
                self.parser()?.add_models(path).map_err(parser_text)?;
            }
            BuildStep::Mjcf(model) => self.add_text(model, "xml")?,
            BuildStep::Urdf(model) => self.add_text(model, "urdf")?,
            BuildStep::Sdf(model) => self.add_text(model, "sdf")?,
            BuildStep::Weld {
                parent,
                child,
                x_pc,
            } => {
                let parent = self.plant.frame_by_name(parent).map_err(text)?;
                let child = self.plant.frame_by_name(child).map_err(text)?;
                self.plant
                    .weld_frames(parent, child, pose(x_pc)?)
                    .map_err(text)?;
            }
            BuildStep::Actuator {
                name,
                joint,
                effort_limit,
            } => {
                let joint = self.plant.joint_by_name(joint).map_err(text)?;
                let limit = effort_limit.unwrap_or(f64::INFINITY);
                self.plant
                    .add_joint_actuator(name, joint, limit)
                    .map_err(text)?;
            }
            BuildStep::Rotor {
                actuator,
                inertia,
                gear_ratio,
            } => {
                let actuator = self.plant.joint_actuator_by_name(actuator).map_err(text)?;
                let set = self
                    .plant
                    .set_default_rotor(actuator, *inertia, *gear_ratio);
                set.map_err(text)?;
            }
            BuildStep::Pd { actuator, p, d } => {
                let actuator = self.plant.joint_actuator_by_name(actuator).map_err(text)?;
                let gains = PdControllerGains { p: *p, d: *d };
                self.plant
                    .set_controller_gains(actuator, gains)
                    .map_err(text)?;
            }
            BuildStep::Limits {
                joint,
                lower,
                upper,
            } => {
                let joint = self.plant.joint_by_name(joint).map_err(text)?;
                let set = self
                    .plant
                    .set_joint_position_limits(joint, &[*lower], &[*upper]);
                set.map_err(text)?;
            }
            BuildStep::Coupler { .. }
            | BuildStep::Ball { .. }
            | BuildStep::WeldConstraint { .. }
            | BuildStep::Distance { .. } => self.add_constraint(step)?,
            _ => {
                let element = self.force_element(step)?;
                self.plant.add_force_element(element).map_err(text)?;
            }
        }
        Ok(())
    }

    fn add_constraint(&mut self, step: &BuildStep) -> Result<(), String> {
        let plant = &mut *self.plant;
        let added = match step {
            BuildStep::Coupler {
                joint0,
                joint1,
                gear_ratio,
                offset,
            } => {
                let joint0 = plant.joint_by_name(joint0).map_err(text)?;
                let joint1 = plant.joint_by_name(joint1).map_err(text)?;
                plant.add_coupler_constraint(CouplerConstraint {
                    joint0,
                    joint1,
                    gear_ratio: *gear_ratio,
                    offset: *offset,
                })
            }
            BuildStep::Ball {
                body_a,
                p_ap,
                body_b,
                p_bq,
            } => {
                let body_a = plant.body_by_name(body_a).map_err(text)?;
                let body_b = plant.body_by_name(body_b).map_err(text)?;
                plant.add_ball_constraint(BallConstraint {
                    body_a,
                    p_ap: (*p_ap).into(),
                    body_b,
                    p_bq: Some((*p_bq).into()),
                })
            }
            BuildStep::WeldConstraint {
                body_a,
                x_ap,
                body_b,
                x_bq,
            } => {
                let body_a = plant.body_by_name(body_a).map_err(text)?;
                let body_b = plant.body_by_name(body_b).map_err(text)?;
                plant.add_weld_constraint(WeldConstraint {
                    body_a,
                    x_ap: pose(x_ap)?,
                    body_b,
                    x_bq: pose(x_bq)?,
                })
            }
            BuildStep::Distance {
                body_a,
                p_ap,
                body_b,
                p_bq,
                distance,
                stiffness,
                damping,
            } => {
                let body_a = plant.body_by_name(body_a).map_err(text)?;
                let body_b = plant.body_by_name(body_b).map_err(text)?;
                let stiffness = match stiffness {
                    NumberOrText::Number(k) => *k,
                    NumberOrText::Text(k) if k == "inf" => f64::INFINITY,
                    NumberOrText::Text(other) => {
                        return Err(format!(
                            "distance: stiffness must be a number or \"inf\", got \"{other}\""
                        ));
                    }
                };
                plant.add_distance_constraint(DistanceConstraint {
                    body_a,
                    p_ap: (*p_ap).into(),
                    body_b,
                    p_bq: (*p_bq).into(),
                    distance: *distance,
                    stiffness,
                    damping: *damping,
                })
            }
            _ => Ok(()),
        };
        added.map_err(text)
    }

    fn force_element(&self, step: &BuildStep) -> Result<ForceElement, String> {
        let joint = |name: &str| self.plant.joint_by_name(name).map_err(text);
        let body = |name: &str| self.plant.body_by_name(name).map_err(text);
        let frame = |name: &str| self.plant.frame_by_name(name).map_err(text);
        Ok(match step {
            BuildStep::RevoluteSpring {
                joint: name,
                nominal,
                stiffness,
            } => ForceElement::RevoluteSpring {
                joint: joint(name)?,
                nominal_angle: *nominal,
                stiffness: *stiffness,
            },
            BuildStep::PrismaticSpring {
                joint: name,
                nominal,
                stiffness,
            } => ForceElement::PrismaticSpring {
                joint: joint(name)?,
                nominal_position: *nominal,
                stiffness: *stiffness,
            },
            BuildStep::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                free_length,
                stiffness,
                damping,
            } => ForceElement::LinearSpringDamper {
                body_a: body(body_a)?,
                p_ap: (*p_ap).into(),
                body_b: body(body_b)?,
                p_bq: (*p_bq).into(),
                free_length: *free_length,
                stiffness: *stiffness,
                damping: *damping,
            },
            BuildStep::Bushing {
                frame_a,
                frame_c,
                torque_stiffness,
                torque_damping,
                force_stiffness,
                force_damping,
            } => ForceElement::LinearBushingRollPitchYaw {
                frame_a: frame(frame_a)?,
                frame_c: frame(frame_c)?,
                torque_stiffness: (*torque_stiffness).into(),
                torque_damping: (*torque_damping).into(),
                force_stiffness: (*force_stiffness).into(),
                force_damping: (*force_damping).into(),
            },
            BuildStep::DoorHinge {
                joint: name,
                spring_zero_angle_rad,
                spring_constant,
                dynamic_friction_torque,
                static_friction_torque,
                viscous_friction,
                catch_width,
                catch_torque,
                motion_threshold,
            } => {
                let mut config = DoorHingeConfig::default();
                for (place, value) in [
                    (&mut config.spring_zero_angle_rad, spring_zero_angle_rad),
                    (&mut config.spring_constant, spring_constant),
                    (&mut config.dynamic_friction_torque, dynamic_friction_torque),
                    (&mut config.static_friction_torque, static_friction_torque),
                    (&mut config.viscous_friction, viscous_friction),
                    (&mut config.catch_width, catch_width),
                    (&mut config.catch_torque, catch_torque),
                    (&mut config.motion_threshold, motion_threshold),
                ] {
                    *place = value.unwrap_or(*place);
                }
                ForceElement::DoorHinge {
                    joint: joint(name)?,
                    config,
                }
            }
            _ => return Err("the build step must be a force element".into()),
        })
    }
}

/// Returns the scoped name of a joint.
pub(super) fn joint_name(plant: &MultibodyPlant, joint: &Joint) -> String {
    let model = plant.model_instance_name(joint.model_instance());
    format!("{}::{}", model.unwrap_or_default(), joint.name())
}
