//! The plant as a system, and its wiring to a SceneGraph.

use super::building::plant_builder::MultibodyPlantBuilder;
use super::calculations::plant_parameters::PlantParameters;
use super::deformable::DeformableEntries;
use super::multibody_model::PositionSource;
use super::multibody_plant::MultibodyPlant;
use super::ports::MultibodyPlantPorts;
use super::steps::dynamics_result::DynamicsResult;
use super::steps::force_ports::DynamicsEntries;
use super::values::model_parameters::{ModelParameters, ParameterHandles, ParameterReader};
use crate::error::Result;
use crate::kinematics::{BodyPoses, PositionKinematics, VelocityKinematics};
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use nalgebra::Isometry3;
use std::sync::Arc;
use tarragon_framework::prelude::{
    Block, Declare, Dep, DiagramBuilder, DiscreteState, EventStatus, InputPort, LeafContext,
    LeafSystem, OutputPort, Trigger,
};
use tarragon_framework::{AutoDiff, DiagramScalar, PrecompiledSystem, Scalar};
use tarragon_geometry::{Aabb, FrameId, FramePoseVector, Role, SceneGraph};

/// Source of q at run time.
#[derive(Clone, Copy)]
enum CoordinateSource<T: Scalar> {
    Port(InputPort<Vec<T>>),
    Discrete(DiscreteState<Vec<T>>),
    Continuous,
}

impl<T: Scalar> CoordinateSource<T> {
    fn dep(self) -> Dep {
        match self {
            Self::Port(port) => port.into(),
            Self::Discrete(state) => state.into(),
            Self::Continuous => Dep::Xc,
        }
    }
    /// Reads q, possibly followed by v.
    fn read<'a>(self, ctx: &LeafContext<'a, T>) -> Result<&'a [T]> {
        Ok(match self {
            Self::Port(port) => ctx.eval(port)?,
            Self::Discrete(state) => ctx.xd(state),
            Self::Continuous => ctx.xc(),
        })
    }
}

/// Declares the output port of the parameters. A plant without `handles` has the model's parameters
/// in every context.
fn declare_parameters<T: Scalar>(
    d: &mut Declare<MultibodyPlant, T>,
    handles: Option<ParameterHandles<T>>,
) -> OutputPort<PlantParameters<T>> {
    let none = PlantParameters::new(ModelParameters::empty());
    let Some(handles) = handles else {
        return d.output("parameters", none, Dep::Nothing, |plant, _, out| {
            *out = PlantParameters::new(plant.model_parameters());
            Ok(())
        });
    };
    let deps = (handles.values, handles.layout);
    d.output("parameters", none, deps, move |plant, ctx, out| {
        let reader = ParameterReader {
            plant,
            layout: ctx.param(handles.layout),
            values: ctx.param(handles.values).as_slice(),
        };
        *out = PlantParameters::new(reader.all());
        Ok(())
    })
}

impl<T: DiagramScalar> LeafSystem<T> for MultibodyPlant {
    type Ports = MultibodyPlantPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        T::declare_precompiled(self, d)
    }
}

impl PrecompiledSystem for MultibodyPlant {
    type Ports<T: Scalar> = MultibodyPlantPorts<T>;

    fn declare_f64(&self, d: &mut Declare<Self, f64>) -> MultibodyPlantPorts<f64> {
        self.declare_ports(d)
    }
    fn declare_autodiff(&self, d: &mut Declare<Self, AutoDiff>) -> MultibodyPlantPorts<AutoDiff> {
        self.declare_ports(d)
    }
}

impl MultibodyPlant {
    fn declare_ports<T: Scalar>(&self, d: &mut Declare<Self, T>) -> MultibodyPlantPorts<T> {
        let (nq, nv) = (self.num_positions(), self.num_velocities());
        let mut x0: Vec<T> = self.default_positions().into_iter().map(T::from).collect();
        x0.resize(nq + nv, T::zero());
        let source = match self.position_source {
            PositionSource::InputPort => CoordinateSource::Port(d.vector_input("position", nq)),
            PositionSource::State if self.time_step > 0.0 => {
                CoordinateSource::Discrete(d.discrete_state(&x0))
            }
            PositionSource::State => CoordinateSource::Continuous,
        };
        let state = (self.position_source == PositionSource::State).then(|| {
            let state = d.vector_output("state", nq + nv, source.dep(), move |_, ctx, y| {
                y.copy_from_slice(source.read(ctx)?);
                Ok(())
            });
            let names = self.state_names();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            d.name_elements(&state, &names);
            state
        });

        let velocity = match source {
            CoordinateSource::Port(_) => Some(d.vector_input("velocity", nv)),
            _ => None,
        };
        let kinematics = d.cache_entry(
            "position_kinematics",
            BodyPoses::empty(),
            source.dep(),
            move |plant, ctx, poses| {
                let q = source.read(ctx)?;
                let nq = plant.num_positions().min(q.len());
                plant.update_body_poses(poses, &q[..nq])
            },
        );
        let body_poses = d.output(
            "body_poses",
            vec![Isometry3::identity(); self.num_bodies()],
            kinematics,
            move |_, ctx, poses: &mut Vec<Isometry3<T>>| {
                poses.clone_from(&ctx.cached(kinematics)?.x_wb);
                Ok(())
            },
        );
        let motion = d.cache_entry(
            "velocity_kinematics",
            (PositionKinematics::empty(), VelocityKinematics::empty()),
            (source.dep(), kinematics, velocity),
            move |plant, ctx, (positions, velocities)| {
                let x = source.read(ctx)?;
                // An input of the wrong length is rejected below.
                let (q, v) = x.split_at(plant.num_positions().min(x.len()));
                let v = match velocity {
                    Some(port) => ctx.eval(port)?,
                    None => v,
                };
                let topology = &plant.topology;
                positions.update_from_poses(&topology.tree, q, ctx.cached(kinematics)?);
                plant.update_velocity_kinematics(velocities, positions, v)
            },
        );
        let body_spatial_velocities = d.output(
            "body_spatial_velocities",
            vec![SpatialVector::zero(); self.num_bodies()],
            motion,
            move |_, ctx, out: &mut Vec<SpatialVector<T>>| {
                let (_, velocities) = ctx.cached(motion)?;
                out.clear();
                out.extend_from_slice(velocities.body_spatial_velocities());
                Ok(())
            },
        );
        let geometry_pose = self.registration.as_ref().map(|registration| {
            let frames = registration.frames.iter().enumerate().skip(1);
            let frames: Vec<(usize, FrameId)> = frames
                .filter_map(|(body, frame)| Some((body, (*frame)?)))
                .collect();
            d.output(
                "geometry_pose",
                FramePoseVector::with_capacity(frames.len()),
                kinematics,
                move |_, ctx, poses| {
                    let x_wb = &ctx.cached(kinematics)?.x_wb;
                    poses.assign(frames.iter().map(|(body, frame)| (*frame, x_wb[*body])));
                    Ok(())
                },
            )
        });
        let plant = d.system().clone();
        let with_parameters = |parameters| MultibodyPlantPorts {
            plant,
            position: None,
            velocity,
            state,
            body_poses,
            body_spatial_velocities,
            parameters,
            geometry_pose,
            discrete_state: None,
            continuous_state: None,
            dynamics: None,
            deformable: None,
        };
        if let CoordinateSource::Port(port) = source {
            let mut ports = with_parameters(declare_parameters(d, None));
            ports.position = Some(port);
            // Deformable bodies stay as they are.
            let deformable = DeformableEntries::declare(self, d);
            ports.deformable = deformable.map(|entries| entries.ports(self, d));
            return ports;
        }
        let has_memory = self.has_sampled_output_ports() || self.sleep_settings().is_some();
        let memory = has_memory.then(|| d.abstract_state(Arc::new(DynamicsResult::empty())));
        let deformable = DeformableEntries::declare(self, d);
        let entries = DynamicsEntries::declare(self, d, motion, memory, deformable.clone());
        let dynamics = entries.dynamics;
        let mut ports = with_parameters(declare_parameters(d, Some(entries.parameters)));
        match source {
            CoordinateSource::Discrete(state) => {
                ports.discrete_state = Some(state);
                let every_step = Trigger::every(self.time_step);
                let bodies = deformable.iter().flat_map(|entries| entries.states.iter());
                let bodies: Vec<DiscreteState<Vec<T>>> = bodies.copied().collect();
                if let Some(sampled) = memory {
                    d.unrestricted_update_on(every_step, move |_, ctx, next| {
                        let (result, _) = ctx.cached(dynamics)?;
                        next.xd_mut(state).copy_from_slice(&result.next);
                        for (body, end) in bodies.iter().zip(&result.deformable.next) {
                            next.xd_mut(*body).copy_from_slice(end);
                        }
                        next.xa_mut(sampled).clone_from(result);
                        Ok(EventStatus::Succeeded)
                    });
                } else {
                    d.discrete_update_on(every_step, move |_, ctx, next| {
                        let (result, _) = ctx.cached(dynamics)?;
                        next.get_mut(state).copy_from_slice(&result.next);
                        for (body, end) in bodies.iter().zip(&result.deformable.next) {
                            next.get_mut(*body).copy_from_slice(end);
                        }
                        Ok(EventStatus::Succeeded)
                    });
                }
            }
            _ => {
                let deps = (motion, dynamics);
                let state =
                    d.continuous_state((nq, nv, 0), &x0, deps, move |plant, ctx, derivatives| {
                        let (positions, velocities) = ctx.cached(motion)?;
                        let (result, _) = ctx.cached(dynamics)?;
                        let (qdot, vdot) = derivatives.split_at_mut(positions.q.len());
                        qdot.copy_from_slice(
                            &plant.map_velocity_to_qdot(positions, &velocities.v)?,
                        );
                        vdot.copy_from_slice(&result.vdot);
                        Ok(())
                    });
                ports.continuous_state = Some(state);
                d.velocity_map(
                    move |plant, ctx, v, qdot| {
                        let (positions, _) = ctx.cached(motion)?;
                        qdot.copy_from_slice(&plant.map_velocity_to_qdot(positions, v)?);
                        Ok(())
                    },
                    move |plant, ctx, qdot, v| {
                        let (positions, _) = ctx.cached(motion)?;
                        v.copy_from_slice(&plant.map_qdot_to_velocity(positions, qdot)?);
                        Ok(())
                    },
                );
            }
        }
        let sampled = memory.filter(|_| self.has_sampled_output_ports());
        ports.dynamics = Some(entries.outputs(self, d, sampled));
        ports.deformable = deformable.map(|entries| entries.ports(self, d));
        ports
    }
}

/// A [`MultibodyPlant`] or a [`MultibodyPlantBuilder`]: what becomes the plant of a scene.
pub trait IntoPlant {
    /// Returns the plant, with all its frames and its collision filters in the scene.
    ///
    /// # Errors
    /// Returns an error if the plant cannot be built, was built without a scene although it has no
    /// source in one, or is registered with another scene.
    fn into_plant(self, scene_graph: &mut SceneGraph) -> Result<MultibodyPlant>;
}

impl IntoPlant for MultibodyPlantBuilder {
    fn into_plant(self, scene_graph: &mut SceneGraph) -> Result<MultibodyPlant> {
        self.build_with_scene(scene_graph)
    }
}

impl IntoPlant for MultibodyPlant {
    fn into_plant(mut self, scene_graph: &mut SceneGraph) -> Result<MultibodyPlant> {
        self.join_scene(scene_graph)?;
        Ok(self)
    }
}

/// Adds a plant and the scene it is registered with to a diagram, as `plant` and `scene_graph`, and
/// connects them: `geometry_pose` to the scene and, if forces move the plant, its query object to
/// `geometry_query`. A builder is built first.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_formats::Parser;
/// use tarragon_multibody::{MultibodyPlantBuilder, add_multibody_plant_scene_graph};
/// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
/// let ball = r#"<robot name="toy"><link name="ball"><collision><geometry>
///     <sphere radius="0.1"/></geometry></collision></link></robot>"#;
/// Parser::with_scene_graph(&mut plant, &mut scene).add_models_from_string(ball, "urdf")?;
///
/// let mut b = DiagramBuilder::new();
/// let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(plant.body_poses)?.len(), 2); // the world and the ball
/// assert!(!ctx.eval(scene.query)?.has_collisions()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the plant cannot be built or is registered with another scene.
pub fn add_multibody_plant_scene_graph(
    builder: &mut DiagramBuilder,
    plant: impl IntoPlant,
    mut scene_graph: SceneGraph,
) -> Result<(Block<MultibodyPlant>, Block<SceneGraph>)> {
    let plant = plant.into_plant(&mut scene_graph)?;
    add_and_connect(builder, plant, scene_graph)
}

fn add_and_connect(
    builder: &mut DiagramBuilder,
    plant: MultibodyPlant,
    scene_graph: SceneGraph,
) -> Result<(Block<MultibodyPlant>, Block<SceneGraph>)> {
    let plant = builder.add("plant", plant);
    let scene_graph = builder.add("scene_graph", scene_graph);
    if let (Some(source), Some(geometry_pose)) = (plant.source_id(), plant.geometry_pose) {
        builder.connect(geometry_pose, scene_graph.source_pose_port(source)?);
        if let Ok(configuration) = plant.deformable_body_configuration() {
            let port = scene_graph.source_configuration_port(source)?;
            builder.connect(configuration, port);
        }
    }
    if let Ok(geometry_query) = plant.geometry_query() {
        builder.connect(scene_graph.query, geometry_query);
    }
    Ok((plant, scene_graph))
}

/// Returns the world-aligned bounding box of all geometry of a scene with a role, where a plant is
/// in its default positions; `None` if no geometry has a box. For a plant in a diagram, see
/// [`QueryObject::compute_scene_aabb`](tarragon_geometry::QueryObject::compute_scene_aabb).
///
/// ```
/// use tarragon_geometry::{Role, SceneGraph};
/// use tarragon_formats::Parser;
/// use tarragon_multibody::{MultibodyPlantBuilder, compute_default_scene_aabb};
/// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
/// let ball = r#"<robot name="toy"><link name="ball"><visual><geometry>
///     <sphere radius="0.1"/></geometry></visual></link></robot>"#;
/// Parser::with_scene_graph(&mut plant, &mut scene).add_models_from_string(ball, "urdf")?;
/// let bounds = compute_default_scene_aabb(&plant, &scene, Role::Illustration)?;
/// assert_eq!(bounds.map(|b| b.upper().z), Some(0.1));
/// assert_eq!(compute_default_scene_aabb(&plant, &scene, Role::Proximity)?, None);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`add_multibody_plant_scene_graph`], and an error if a mesh file cannot be
/// read, or if the scene has frames of other sources, whose poses are unknown.
pub fn compute_default_scene_aabb(
    plant: &(impl IntoPlant + Clone),
    scene_graph: &SceneGraph,
    role: Role,
) -> Result<Option<Aabb>> {
    let mut scene_graph = scene_graph.clone();
    let plant = plant.clone().into_plant(&mut scene_graph)?;
    default_scene_aabb(plant, scene_graph, role)
}

fn default_scene_aabb(
    mut plant: MultibodyPlant,
    scene_graph: SceneGraph,
    role: Role,
) -> Result<Option<Aabb>> {
    plant.model.position_source = PositionSource::State;
    let mut builder = DiagramBuilder::new();
    let (_, scene_graph) = add_and_connect(&mut builder, plant, scene_graph)?;
    let ctx = builder.build()?.default_context();
    ctx.eval(scene_graph.query)?.compute_scene_aabb(role)
}

// The world is body 0, so `body_poses[BodyIndex::WORLD.index()]` is the identity.
const _: () = assert!(BodyIndex::WORLD.index() == 0);
