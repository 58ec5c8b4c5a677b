//! The system that tells viewers of a scene by LCM.

mod connect;
mod load;
mod params;
mod sent;
mod shape;

pub use connect::{connect_drake_visualizer, dispatch_load_message};
pub use params::DrakeVisualizerParams;

use crate::Result;
use crate::meshcat::lock;
use sent::Sent;
use std::sync::Mutex;
use tarragon_framework::prelude::*;
use tarragon_geometry::{QueryObject, Role, SceneGraph};
use tarragon_lcm::types::LcmtViewerLinkData;
use tarragon_lcm::{Lcm, LcmMessage};

/// Tells viewers such as Drake's meldis of a scene, by LCM (Drake's `DrakeVisualizer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `query_object` | [`QueryObject`] |
///
/// It publishes every [`publish_period`](DrakeVisualizerParams::publish_period) and when forced to,
/// in this order, on channels that may end in [the
/// role](DrakeVisualizerParams::use_role_channel_suffix):
///
/// | channel | what | when |
/// |---|---|---|
/// | `DRAKE_VIEWER_LOAD_ROBOT` | all geometry with the role, by the frames it is fixed to | at first, and where the [version](tarragon_geometry::GeometryVersion) of the geometry is not that of the last time |
/// | `DRAKE_VIEWER_DRAW` | poses of those frames, except the world, in the world | always |
/// | `DRAKE_VIEWER_DEFORMABLE` | deformable geometry: none yet, but viewers expect the message | always |
///
/// A frame is called `{source}::{frame}`, or `world`, in the group of the frame; dual numbers show
/// their real parts. Several contexts, on any number of threads, may publish through one
/// visualizer: a load message precedes the poses of a context whose geometry is not what was loaded
/// last.
///
/// # How shapes are sent
///
/// Viewers know boxes, spheres, cylinders, capsules and ellipsoids. A half space is a box of 50 x
/// 50 x 1 m below its plane. Mesh files are named by their absolute paths, which viewers have to be
/// able to read; files in memory are sent along. Convex hulls are sent as triangles. With the
/// proximity role, so are meshes: their hull, or their own triangles if their properties ask for
/// the [true surface](tarragon_geometry::proximity::add_true_surface). Cones are triangles too,
/// Drake refuses them. A mesh that can not be read where it has to be is left out, with a warning
/// in the log.
///
/// The colour is `(phong, diffuse)` of the properties of the role, otherwise of those of
/// illustration, otherwise the [default](DrakeVisualizerParams::default_color).
///
/// With [`show_hydroelastic`](DrakeVisualizerParams::show_hydroelastic), geometry that has a
/// `(hydroelastic, compliance_type)` is sent as the surface that stands for it, tessellated as
/// Drake does by its `(hydroelastic, resolution_hint)`, rigid and compliant shapes alike; for a
/// compliant mesh that is no volume mesh, its hull. A hint that asks for more than a million
/// triangles shows the shape itself.
///
/// # Conversion to other scalars
///
/// A diagram with a visualizer can be converted: the converted one publishes on the same bus. Drake
/// refuses that where the bus was given by the user, because its visualizer does not own it; here
/// all clones of an [`Lcm`] own the bus.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{GeometryInstance, IllustrationProperties, SceneGraph, Sphere};
/// use tarragon_lcm::{Lcm, Subscriber, types::LcmtViewerLoadRobot};
/// use tarragon_visualization::DrakeVisualizer;
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball")?
///     .with_illustration(IllustrationProperties::new());
/// scene.register_anchored_geometry(toys, ball)?;
///
/// let lcm = Lcm::with_url("memq://")?; // by default, UDP multicast
/// let loaded = Subscriber::<LcmtViewerLoadRobot>::new(&lcm, "DRAKE_VIEWER_LOAD_ROBOT")?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let query = scene.query;
/// DrakeVisualizer::add_to_builder(&mut b, query, Some(lcm.clone()), Default::default())?;
/// let diagram = b.build()?;
/// Simulator::new(&diagram, diagram.default_context())?.advance_to(0.1)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// assert_eq!(loaded.count(), 1);
/// assert_eq!(loaded.message().unwrap().link[0].geom[0].float_data, [0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DrakeVisualizer {
    lcm: Lcm,
    params: DrakeVisualizerParams,
    load_channel: String,
    draw_channel: String,
    deformable_channel: String,
    /// The message of deformable geometry, which is always the same.
    deformable: Vec<u8>,
    /// Of all contexts together, as viewers hear all of them; also what keeps a load message and
    /// the draw message that goes with it together.
    sent: Mutex<Option<Sent>>,
}

impl DrakeVisualizer {
    /// A visualizer. Without a bus it has one of its own with the default URL: `LCM_DEFAULT_URL` of
    /// the environment, otherwise UDP multicast on this machine.
    ///
    /// # Errors
    /// If a parameter is wrong, or the bus can not be opened.
    pub fn new(lcm: Option<Lcm>, params: DrakeVisualizerParams) -> Result<Self> {
        params.check()?;
        let lcm = match lcm {
            Some(lcm) => lcm,
            None => Lcm::with_url("")?,
        };
        let deformable = LcmtViewerLinkData {
            name: "deformable_geometries".into(),
            ..LcmtViewerLinkData::default()
        };
        Ok(Self {
            lcm,
            load_channel: params.channel("LOAD_ROBOT"),
            draw_channel: params.channel("DRAW"),
            deformable_channel: params.channel("DEFORMABLE"),
            params,
            deformable: deformable.encode()?,
            sent: Mutex::default(),
        })
    }

    /// Adds a visualizer to a diagram, as `drake_visualizer({role})`, with a number behind it [if
    /// that is taken](DiagramBuilder::unused_name), connected to the query port of a scene (Drake's
    /// `AddToBuilder`).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn add_to_builder(
        builder: &mut DiagramBuilder,
        query_object: OutputPort<QueryObject<f64>>,
        lcm: Option<Lcm>,
        params: DrakeVisualizerParams,
    ) -> Result<Block<Self>> {
        let role = match params.role {
            Role::Illustration => "illustration",
            Role::Proximity => "proximity",
            Role::Perception => "perception",
            Role::Unassigned => "unassigned",
        };
        let visualizer = Self::new(lcm, params)?;
        let name = builder.unused_name(&format!("drake_visualizer({role})"));
        let block = builder.add(&name, visualizer);
        builder.connect(query_object, block.query_object);
        Ok(block)
    }

    /// Publishes the load message of a scene's model, once (Drake's `DispatchLoadMessage`): for
    /// programs that publish draw messages themselves.
    ///
    /// ```
    /// use tarragon_geometry::SceneGraph;
    /// use tarragon_lcm::Lcm;
    /// use tarragon_visualization::DrakeVisualizer;
    /// let lcm = Lcm::with_url("memq://")?;
    /// DrakeVisualizer::dispatch_load_message(&SceneGraph::new(), &lcm, &Default::default())?;
    /// assert_eq!(lcm.statistics().published, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a parameter is wrong, or the message is too long for the bus.
    pub fn dispatch_load_message(
        scene_graph: &SceneGraph,
        lcm: &Lcm,
        params: &DrakeVisualizerParams,
    ) -> Result<()> {
        params.check()?;
        let links = load::links(&scene_graph.model_inspector(), params)?;
        Ok(lcm.publish(&params.channel("LOAD_ROBOT"), &load::message(&links))?)
    }

    /// The bus.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
    /// The parameters.
    pub fn params(&self) -> &DrakeVisualizerParams {
        &self.params
    }

    fn publish<T: Scalar>(&self, query: &QueryObject<T>, time: f64) -> Result<()> {
        let inspector = query.inspector();
        let version = inspector.geometry_version();
        let mut sent = lock(&self.sent);
        let is_current = |sent: &Sent| sent.is_current(version, self.params.role);
        if !sent.as_ref().is_some_and(is_current) {
            let links = load::links(&inspector, &self.params)?;
            let new = Sent::new(version, &links)?;
            let message = load::message(&links);
            self.lcm.publish_at(&self.load_channel, &message, time)?;
            *sent = Some(new);
        }
        if let Some(sent) = &mut *sent {
            let draw = sent.draw(query, time)?;
            self.lcm
                .publish_bytes(&self.draw_channel, draw, Some(time))?;
        }
        let (channel, none) = (&self.deformable_channel, &self.deformable);
        Ok(self.lcm.publish_bytes(channel, none, Some(time))?)
    }
}

/// Ports of [`DrakeVisualizer`].
#[derive(Clone, Copy, Debug)]
pub struct DrakeVisualizerPorts<T: Scalar> {
    /// The scene.
    pub query_object: InputPort<QueryObject<T>>,
}

impl<T: Scalar> LeafSystem<T> for DrakeVisualizer {
    type Ports = DrakeVisualizerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let query_object = d.input::<QueryObject<T>>("query_object");
        let (period, offset) = (self.params.publish_period, 0.0);
        for trigger in [Trigger::Periodic { period, offset }, Trigger::Forced] {
            d.publish_on(trigger, move |visualizer, ctx| {
                let query = ctx.eval(query_object)?;
                visualizer.publish(query, ctx.time().re())?;
                Ok(EventStatus::Succeeded)
            });
        }
        DrakeVisualizerPorts { query_object }
    }
}
