//! System that publishes a scene to viewers by LCM.

mod connect;
mod deformable;
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
use tarragon_lcm::Lcm;
use tarragon_lcm::types::LcmtViewerLoadRobot;

/// Publishes a scene to viewers such as Drake's meldis by LCM (Drake's `DrakeVisualizer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `query_object` | [`QueryObject`] |
///
/// It publishes every [`publish_period`](DrakeVisualizerParams::publish_period) and at every forced
/// publish. Messages are sent in the order of this table. Channel names may end in [the
/// role](DrakeVisualizerParams::use_role_channel_suffix).
///
/// | channel | what | when |
/// |---|---|---|
/// | `DRAKE_VIEWER_LOAD_ROBOT` | geometry with the role, by frame | first, and after changes |
/// | `DRAKE_VIEWER_DRAW` | poses of those frames, except the world, in the world | always |
/// | `DRAKE_VIEWER_DEFORMABLE` | deformable geometry with the role, perhaps none | always |
///
/// The geometry has changed if its [version](tarragon_geometry::GeometryVersion) differs from the
/// last published one.
///
/// A frame is named `{source}::{frame}`, or `world`; its robot number is the frame group. For dual
/// numbers, the real parts are shown. Several contexts, on any number of threads, may publish
/// through one visualizer: the poses of a context are preceded by a load message if its geometry
/// differs from the geometry that was loaded last.
///
/// # How shapes are sent
///
/// Viewers know boxes, spheres, cylinders, capsules and ellipsoids. A half space is sent as a box
/// of 50 x 50 x 1 m below its plane. Mesh files are named by their absolute paths, which the
/// viewers must be able to read; files in memory are included in the message. Convex hulls are sent
/// as triangles. With the proximity role, meshes are sent as triangles too: those of the hull, or,
/// if the properties request it, those of the [true
/// surface](tarragon_geometry::ProximityProperties::with_true_surface) or the [convex
/// pieces](tarragon_geometry::ProximityProperties::with_convex_decomposition). Cones, which Drake
/// rejects, are also sent as triangles. A mesh whose file must be read but cannot be is left out,
/// with a warning in the log.
///
/// The colour is `(phong, diffuse)` in the properties of the role, otherwise in the illustration
/// properties, otherwise the [default](DrakeVisualizerParams::default_color).
///
/// With [`show_hydroelastic`](DrakeVisualizerParams::show_hydroelastic), geometry that has a
/// `(hydroelastic, compliance_type)` is sent as the surface of its hydroelastic representation.
/// Rigid and compliant shapes alike are tessellated as in Drake, by `(hydroelastic,
/// resolution_hint)`. For a compliant mesh that is not a volume mesh, the surface is its convex
/// hull. See
/// [`make_hydroelastic_mesh`](tarragon_geometry::make_hydroelastic_mesh).
///
/// Deformable geometry is sent with every publish, as the triangles of the surface that it drives
/// in the role, with vertices in the world. Its colour is that of the role or the default. Removed
/// geometry is sent without triangles 64 more times, because viewers would keep it.
///
/// # Conversion to other scalars
///
/// A diagram with a visualizer can be converted; the converted visualizer publishes on the same
/// bus. Drake rejects the conversion if the user provided the bus, because its visualizer does not
/// own that bus. Here all clones of an [`Lcm`] own the bus.
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
    /// Last messages sent by any context, because viewers hear all contexts. The lock also keeps a
    /// load message and its draw message together.
    sent: Mutex<Option<Sent>>,
}

impl DrakeVisualizer {
    /// Creates a visualizer. If no bus is given, it opens one with the default URL: the environment
    /// variable `LCM_DEFAULT_URL`, otherwise UDP multicast on this machine.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range, or the bus cannot be opened.
    pub fn new(lcm: Option<Lcm>, params: DrakeVisualizerParams) -> Result<Self> {
        params.check()?;
        let lcm = match lcm {
            Some(lcm) => lcm,
            None => Lcm::with_url("")?,
        };
        Ok(Self {
            lcm,
            load_channel: params.channel("LOAD_ROBOT"),
            draw_channel: params.channel("DRAW"),
            deformable_channel: params.channel("DEFORMABLE"),
            params,
            sent: Mutex::default(),
        })
    }

    /// Adds a visualizer named `drake_visualizer({role})` to a diagram, connected to the query port
    /// of a scene (Drake's `AddToBuilder`). A name that is taken [gets a numeric
    /// suffix](DiagramBuilder::unused_name).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
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

    /// Publishes the load message of a scene's model once (Drake's `DispatchLoadMessage`), for
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
    /// Returns an error if a parameter is out of range, or the message is too long for the bus.
    pub fn dispatch_load_message(
        scene_graph: &SceneGraph,
        lcm: &Lcm,
        params: &DrakeVisualizerParams,
    ) -> Result<()> {
        params.check()?;
        let links = load::links(&scene_graph.model_inspector(), params)?;
        lcm.publish(&params.channel("LOAD_ROBOT"), &load::message(&links))
    }

    /// Returns the bus.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
    /// Returns the parameters.
    pub fn params(&self) -> &DrakeVisualizerParams {
        &self.params
    }

    fn publish<T: Scalar>(&self, query: &QueryObject<T>, time: f64) -> Result<()> {
        let inspector = query.inspector();
        let version = inspector.geometry_version();
        let is_current = |sent: &Option<Sent>| {
            let sent = sent.as_ref();
            sent.is_some_and(|sent| sent.is_current(version, self.params.role))
        };
        // Meshes are loaded without the lock.
        let load = || -> Result<(Sent, LcmtViewerLoadRobot)> {
            let links = load::links(&inspector, &self.params)?;
            let new = Sent::new(&inspector, &self.params, &links)?;
            Ok((new, load::message(&links)))
        };
        let was_current = is_current(&lock(&self.sent));
        let mut loaded = if was_current { None } else { Some(load()?) };
        let mut sent = lock(&self.sent);
        if loaded.is_none() && !is_current(&sent) {
            // Another context has sent a scene of its own in between.
            drop(sent);
            loaded = Some(load()?);
            sent = lock(&self.sent);
        }
        if let Some((mut new, message)) = loaded
            && !is_current(&sent)
        {
            if let Some(last) = &*sent {
                new.deformable.follow(&last.deformable);
            }
            self.lcm.publish_at(&self.load_channel, &message, time)?;
            *sent = Some(new);
        }
        if let Some(sent) = &mut *sent {
            let draw = sent.draw(query, time)?;
            self.lcm
                .publish_bytes(&self.draw_channel, draw, Some(time))?;
            let deformable = sent.deformable.at(query)?;
            self.lcm
                .publish_at(&self.deformable_channel, deformable, time)?;
        }
        Ok(())
    }
}

/// Ports of [`DrakeVisualizer`].
#[derive(Clone, Copy, Debug)]
pub struct DrakeVisualizerPorts<T: Scalar> {
    /// The scene's query port.
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
