//! The scene as a system in a diagram.

use super::config::SceneGraphConfig;
use super::configurations::GeometryConfigurationVector;
use super::instance::{FramePoseVector, GeometryFrame, GeometryInstance};
use super::model::{
    CollisionFilterDeclaration, CollisionFilterManager, GeometryState, RegisteredSource,
    RegistrationMark, RoleProperties, SceneGraphInspector,
};
use super::snapshot::QueryObject;
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{PerceptionProperties, Role, RoleAssign};
use crate::render::RenderEngine;
use crate::shape::Shape;
use crate::skin::Skin;
use nalgebra::Isometry3;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tarragon_framework::prelude::{
    Context, Declare, Dep, InputPort, LeafSystem, OutputPort, Param,
};
use tarragon_framework::{AutoDiff, DiagramScalar, PrecompiledSystem, Scalar};

/// The geometry of a diagram (Drake's `SceneGraph`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `{source}_pose` | [`FramePoseVector`], one per source; required once it has frames |
/// | input | `{source}_configuration` | [`GeometryConfigurationVector`], one per source |
/// | output | `query` | [`QueryObject`] |
///
/// The configurations are required once the source has deformable geometry.
///
/// The geometry itself is the parameter [`SceneGraphPorts::geometry`]; its default is what is
/// registered before the system is added to a diagram: the model. Its methods are those of
/// [`GeometryState`], here under the same names. To change the geometry of one context, call them
/// on [`SceneGraphPorts::geometry_mut`].
///
/// Geometry is rigid unless it is registered with
/// [`register_deformable_geometry`](Self::register_deformable_geometry).
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{
///     FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace, ProximityProperties,
///     SceneGraph, Sphere,
/// };
///
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
/// let role = ProximityProperties::new;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball")?;
/// scene.register_geometry(source, frame, ball.with_proximity(role()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
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
    /// The geometry of new contexts, created on demand and shared by all scalars.
    for_contexts: OnceLock<Arc<GeometryState>>,
}

impl SceneGraph {
    /// Creates an empty scene.
    pub fn new() -> Self {
        Self::default()
    }
    /// Creates an empty scene with a configuration.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid.
    pub fn with_config(config: SceneGraphConfig) -> Result<Self> {
        let mut scene = Self::new();
        scene.set_config(config)?;
        Ok(scene)
    }
    /// Returns the geometry of new contexts, before defaults are filled in.
    pub fn model(&self) -> &GeometryState {
        &self.state
    }
    /// Returns the geometry of new contexts for modification; the next diagram starts from it.
    /// Existing contexts keep theirs.
    pub fn model_mut(&mut self) -> &mut GeometryState {
        self.for_contexts = OnceLock::new();
        &mut self.state
    }
    /// Returns a read-only view of the geometry of new contexts, before defaults are filled in.
    pub fn model_inspector(&self) -> SceneGraphInspector<'_> {
        self.state.inspector()
    }
    /// Returns the name of a geometry.
    ///
    /// # Errors
    /// Returns an error if the geometry is unknown.
    pub fn name(&self, id: GeometryId) -> Result<&str> {
        self.model_inspector().name(id)
    }
    /// Returns the world frame.
    pub fn world_frame_id(&self) -> FrameId {
        self.model_inspector().world_frame_id()
    }
    /// Changes the configuration. Existing contexts keep theirs.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid, or if its defaults do not suit the
    /// registered geometry (for example a half space that becomes compliant without a slab
    /// thickness). In that case nothing is changed.
    pub fn set_config(&mut self, config: SceneGraphConfig) -> Result<()> {
        self.model_mut().set_config(config)
    }
    /// Adds a source of geometry, which gets an input port for the poses of its frames. If the name
    /// is empty, a unique name is generated.
    ///
    /// # Errors
    /// Returns an error if the name is taken.
    pub fn register_source(&mut self, name: &str) -> Result<SourceId> {
        self.model_mut().register_source(name)
    }
}

/// Methods that read or change the model, as their namesakes of [`GeometryState`] do.
macro_rules! of_the_model {
    ($model:ident: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!(
            "Same as [`GeometryState::", stringify!($name), "`], for the geometry of new contexts."
        )]
        pub fn $name(&self $(, $argument: $type)*) -> $result {
            self.$model().$name($($argument),*)
        }
    )*};
    (mut $model:ident: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!(
            "Same as [`GeometryState::", stringify!($name), "`], for the geometry of new contexts."
        )]
        pub fn $name(&mut self $(, $argument: $type)*) -> $result {
            self.$model().$name($($argument),*)
        }
    )*};
}

#[rustfmt::skip]
impl SceneGraph {
    of_the_model! { model:
        config() -> &SceneGraphConfig;
        has_renderer(name: &str) -> bool;
        renderer_count() -> usize;
        renderer_type_name(name: &str) -> Option<&'static str>;
        render_engine_by_name(name: &str) -> Result<&Arc<dyn RenderEngine>>;
        registration_mark() -> RegistrationMark;
    }
    of_the_model! { mut model_mut:
        register_frame(source: SourceId, frame: GeometryFrame) -> Result<FrameId>;
        register_frame_on(source: SourceId, parent: FrameId, frame: GeometryFrame) -> Result<FrameId>;
        rename_frame(frame: FrameId, name: &str) -> Result<()>;
        register_geometry(source: SourceId, frame: FrameId, instance: GeometryInstance) -> Result<GeometryId>;
        register_anchored_geometry(source: SourceId, instance: GeometryInstance) -> Result<GeometryId>;
        register_deformable_geometry(source: SourceId, frame: FrameId, instance: GeometryInstance, resolution_hint: f64) -> Result<GeometryId>;
        register_skin(source: SourceId, instance: GeometryInstance, skin: Skin) -> Result<GeometryId>;
        rename_geometry(geometry: GeometryId, name: &str) -> Result<()>;
        change_shape(source: SourceId, geometry: GeometryId, shape: impl Into<Shape>, x_fg: Option<Isometry3<f64>>) -> Result<()>;
        remove_geometry(source: SourceId, geometry: GeometryId) -> Result<()>;
        take_back(mark: RegistrationMark) -> Result<()>;
        assign_role(source: SourceId, geometry: GeometryId, properties: impl RoleProperties) -> Result<()>;
        assign_role_with(source: SourceId, geometry: GeometryId, properties: impl RoleProperties, assign: RoleAssign) -> Result<()>;
        remove_role(source: SourceId, geometry: GeometryId, role: Role) -> Result<bool>;
        remove_role_on_frame(source: SourceId, frame: FrameId, role: Role) -> Result<usize>;
        show_proximity_where_unseen(source: SourceId, properties: &PerceptionProperties) -> Result<usize>;
        collision_filter_manager() -> CollisionFilterManager<'_>;
        apply_collision_filter(declaration: &CollisionFilterDeclaration) -> Result<()>;
        add_renderer(name: &str, engine: impl RenderEngine + 'static) -> Result<()>;
        remove_renderer(name: &str) -> Result<()>;
    }
}

/// A [`SceneGraph`] in a diagram: its ports. It dereferences to the scene.
#[derive(Clone)]
pub struct SceneGraphPorts<T: Scalar> {
    scene: Arc<SceneGraph>,
    /// Output port of snapshots that answer queries about the scene.
    pub query: OutputPort<QueryObject<T>>,
    /// The geometry, as a parameter.
    pub geometry: Param<Arc<GeometryState>>,
    sources: Vec<SourcePorts<T>>,
}

/// Ports of one source.
#[derive(Clone)]
struct SourcePorts<T: Scalar> {
    source: SourceId,
    pose: InputPort<FramePoseVector<T>>,
    configuration: InputPort<GeometryConfigurationVector<T>>,
}

impl<T: Scalar> Deref for SceneGraphPorts<T> {
    type Target = SceneGraph;
    fn deref(&self) -> &SceneGraph {
        &self.scene
    }
}

impl<T: Scalar> SceneGraphPorts<T> {
    /// Returns the geometry of one context for modification. The geometry of other contexts,
    /// snapshots and the model stays unchanged.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn geometry_mut<'c>(&self, ctx: &'c mut Context<T>) -> Result<&'c mut GeometryState> {
        Ok(Arc::make_mut(ctx.param_mut(self.geometry)?))
    }

    /// Returns the input port for the poses of a source's frames.
    ///
    /// # Errors
    /// Returns an error if the source was not registered before the scene was added to the diagram.
    pub fn source_pose_port(&self, source: SourceId) -> Result<InputPort<FramePoseVector<T>>> {
        Ok(self.source_ports(source)?.pose)
    }

    /// Returns the input port for the configurations of a source's deformable geometries.
    ///
    /// # Errors
    /// Returns an error if the source was not registered before the scene was added to the diagram.
    pub fn source_configuration_port(
        &self,
        source: SourceId,
    ) -> Result<InputPort<GeometryConfigurationVector<T>>> {
        Ok(self.source_ports(source)?.configuration)
    }

    fn source_ports(&self, source: SourceId) -> Result<&SourcePorts<T>> {
        let found = self.sources.iter().find(|s| s.source == source);
        found.ok_or_else(|| {
            Error::not_found(format!(
                "source {source} has no ports; register sources before adding the SceneGraph to a \
                 diagram"
            ))
        })
    }
}

impl<T: DiagramScalar> LeafSystem<T> for SceneGraph {
    type Ports = SceneGraphPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        T::declare_precompiled(self, d)
    }
}

impl PrecompiledSystem for SceneGraph {
    type Ports<T: Scalar> = SceneGraphPorts<T>;

    fn declare_f64(&self, d: &mut Declare<Self, f64>) -> SceneGraphPorts<f64> {
        self.declare_ports(d)
    }
    fn declare_autodiff(&self, d: &mut Declare<Self, AutoDiff>) -> SceneGraphPorts<AutoDiff> {
        self.declare_ports(d)
    }
}

impl SceneGraph {
    fn declare_ports<T: Scalar>(&self, d: &mut Declare<Self, T>) -> SceneGraphPorts<T> {
        let declare_ports = |s: &RegisteredSource| SourcePorts {
            source: s.id,
            pose: d.input(&format!("{}_pose", s.name)),
            configuration: d.input(&format!("{}_configuration", s.name)),
        };
        let sources = self.state.sources.iter().map(declare_ports);
        let sources: Vec<SourcePorts<T>> = sources.collect();
        let state = self
            .for_contexts
            .get_or_init(|| Arc::new(self.state.for_contexts()));
        let geometry = d.param(Arc::clone(state));
        let model = QueryObject::new(Arc::clone(state));
        let inputs = sources.clone();
        let deps = (Dep::AllInputs, Dep::AllParameters);
        let query = d.output("query", model, deps, move |_, ctx, query| {
            let state = ctx.param(geometry);
            let same_scene = Arc::ptr_eq(state, &query.state);
            query.state = state.clone();
            // A snapshot that is still in use is not changed; otherwise its storage is reused.
            if Arc::get_mut(&mut query.kinematics).is_none() {
                query.kinematics = Arc::new(query.kinematics.successor());
            }
            let kinematics = Arc::get_mut(&mut query.kinematics).expect("not shared, see above");
            kinematics.begin(state, same_scene);
            for (i, ports) in inputs.iter().enumerate() {
                // A source that only has anchored geometry needs no poses.
                let poses = if state.sources[i].frames.is_empty() {
                    ctx.eval_optional(ports.pose)?
                } else {
                    Some(ctx.eval(ports.pose)?)
                };
                if let Some(poses) = poses {
                    kinematics.place(state, i, poses)?;
                }
                if kinematics.deforms(ports.source) {
                    let given = ctx.eval_optional(ports.configuration)?;
                    kinematics.configure(state, i, given)?;
                }
            }
            kinematics.finish(state);
            Ok(())
        });
        SceneGraphPorts {
            scene: d.system().clone(),
            query,
            geometry,
            sources,
        }
    }
}
