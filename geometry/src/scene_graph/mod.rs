//! The scene as a system: who registers geometry, where it is, and questions about it.
//!
//! [`GeometryState`] holds shapes, roles and filters and lives in the context as a parameter;
//! poses come in through one port per source; [`QueryObject`] goes out.

mod broadphase;
mod filter;
mod inspector;
mod instance;
mod kinematics;
mod query;
mod state;

use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::PerceptionProperties;
use crate::render::RenderEngine;
use std::sync::Arc;
use tarragon_framework::prelude::{Declare, Dep, InputPort, LeafSystem, OutputPort, Param};
use tarragon_framework::{self as framework, Scalar};

pub use filter::{CollisionFilterDeclaration, GeometrySet};
pub use inspector::SceneGraphInspector;
pub use instance::{FramePoseVector, GeometryFrame, GeometryInstance};
pub use query::{
    PenetrationAsPointPair, QueryObject, RayHit, RayOptions, SignedDistancePair,
    SignedDistanceToPoint,
};
pub use state::{GeometryState, RoleProperties};

/// The geometry of a diagram (Drake's `SceneGraph`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `{source}_pose` | [`FramePoseVector`], one port per source; needed once the source has frames |
/// | output | `query` | [`QueryObject`] |
///
/// The geometry itself is the parameter [`SceneGraphPorts::geometry`]; what is registered before the
/// system is added to a diagram is its default. To change the geometry of one context, change the
/// parameter there, with the same methods.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{
///     FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace, ProximityProperties, SceneGraph, Sphere,
/// };
///
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
/// let role = ProximityProperties::new;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball");
/// scene.register_geometry(source, frame, ball.with_proximity(role()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor");
/// scene.register_anchored_geometry(source, floor.with_proximity(role()))?;
///
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// let above = Isometry3::translation(0.0, 0.0, 2.0);
/// ctx.fix(scene.source_pose_port(source)?, FramePoseVector::from_iter([(frame, above)]))?;
/// let query = ctx.eval(scene.query)?;
/// let pairs = query.compute_signed_distance_pairwise_closest_points(f64::INFINITY)?;
/// assert_eq!(pairs[0].distance, 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct SceneGraph {
    state: GeometryState,
}

impl SceneGraph {
    /// An empty scene.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source of geometry. It gets an input port for the poses of its frames.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn register_source(&mut self, name: &str) -> Result<SourceId> {
        self.state.register_source(name)
    }
    /// See [`GeometryState::register_frame`].
    ///
    /// # Errors
    /// As there.
    pub fn register_frame(&mut self, source: SourceId, frame: GeometryFrame) -> Result<FrameId> {
        self.state.register_frame(source, frame)
    }
    /// See [`GeometryState::register_geometry`].
    ///
    /// # Errors
    /// As there.
    pub fn register_geometry(
        &mut self,
        source: SourceId,
        frame: FrameId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.state.register_geometry(source, frame, instance)
    }
    /// See [`GeometryState::register_anchored_geometry`].
    ///
    /// # Errors
    /// As there.
    pub fn register_anchored_geometry(
        &mut self,
        source: SourceId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.state.register_anchored_geometry(source, instance)
    }
    /// See [`GeometryState::assign_role`].
    ///
    /// # Errors
    /// As there.
    pub fn assign_role(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        properties: impl RoleProperties,
    ) -> Result<()> {
        self.state.assign_role(source, geometry, properties)
    }
    /// See [`GeometryState::show_proximity_where_unseen`].
    ///
    /// # Errors
    /// As there.
    pub fn show_proximity_where_unseen(
        &mut self,
        source: SourceId,
        properties: &PerceptionProperties,
    ) -> Result<usize> {
        self.state.show_proximity_where_unseen(source, properties)
    }
    /// See [`GeometryState::apply_collision_filter`].
    ///
    /// # Errors
    /// As there.
    pub fn apply_collision_filter(
        &mut self,
        declaration: &CollisionFilterDeclaration,
    ) -> Result<()> {
        self.state.apply_collision_filter(declaration)
    }
    /// See [`GeometryState::add_renderer`].
    ///
    /// # Errors
    /// As there.
    pub fn add_renderer(&mut self, name: &str, engine: impl RenderEngine + 'static) -> Result<()> {
        self.state.add_renderer(name, engine)
    }
    /// The world frame.
    pub fn world_frame_id(&self) -> FrameId {
        self.model_inspector().world_frame_id()
    }
    /// Looks at the geometry that new contexts get.
    pub fn model_inspector(&self) -> SceneGraphInspector<'_> {
        self.state.inspector()
    }
}

/// Ports of [`SceneGraph`].
#[derive(Clone)]
pub struct SceneGraphPorts<T: Scalar> {
    /// Answers questions about the scene.
    pub query: OutputPort<QueryObject<T>>,
    /// The geometry.
    pub geometry: Param<Arc<GeometryState>>,
    pose_ports: Vec<(SourceId, InputPort<FramePoseVector<T>>)>,
}

impl<T: Scalar> SceneGraphPorts<T> {
    /// Input port for the poses of a source's frames.
    ///
    /// # Errors
    /// If the source was not registered before the scene was added to the diagram.
    pub fn source_pose_port(&self, source: SourceId) -> Result<InputPort<FramePoseVector<T>>> {
        let found = self.pose_ports.iter().find(|(s, _)| *s == source);
        found.map(|(_, port)| *port).ok_or_else(|| {
            Error::invalid(format!(
                "source {source} has no pose port; register sources before adding the SceneGraph to a \
                 diagram"
            ))
        })
    }
}

impl<T: Scalar> LeafSystem<T> for SceneGraph {
    type Ports = SceneGraphPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let declare_port = |s: &state::Source| (s.id, d.input(&format!("{}_pose", s.name)));
        let pose_ports: Vec<(SourceId, InputPort<FramePoseVector<T>>)> =
            self.state.sources.iter().map(declare_port).collect();
        let state = Arc::new(self.state.clone());
        let geometry = d.param(state.clone());
        let model = QueryObject::new(state);
        let inputs = pose_ports.clone();
        let deps = [Dep::AllInputs, Dep::AllParameters];
        let query = d.output("query", model, &deps, move |_, ctx, query| {
            let state = ctx.param(geometry);
            let same_scene = Arc::ptr_eq(state, &query.state);
            query.state = state.clone();
            // A snapshot that somebody keeps is left alone; the storage is reused otherwise.
            if Arc::get_mut(&mut query.kinematics).is_none() {
                query.kinematics = Arc::new(query.kinematics.successor());
            }
            let kinematics = Arc::get_mut(&mut query.kinematics).expect("not shared, see above");
            kinematics.begin(state, same_scene);
            for (i, (_, input)) in inputs.iter().enumerate() {
                // A source that only has anchored geometry needs no poses.
                let poses = if state.sources[i].frames.is_empty() {
                    ctx.eval_optional(*input)?
                } else {
                    Some(ctx.eval(*input)?)
                };
                if let Some(poses) = poses {
                    let placed = kinematics.place(state, i, poses);
                    placed.map_err(framework::Error::custom)?;
                }
            }
            kinematics.finish();
            Ok(())
        });
        SceneGraphPorts {
            query,
            geometry,
            pose_ports,
        }
    }
}
