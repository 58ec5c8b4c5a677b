//! System that shows a scene.

mod layout;
mod params;
mod projected;
mod shown;
mod soft;

pub use params::MeshcatVisualizerParams;
pub(crate) use params::{check_period, light_grey};
pub(crate) use shown::real_pose;

use crate::Result;
use crate::meshcat::{Meshcat, MeshcatAnimation, full_path, lock};
use layout::places;
use shown::Shown;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tarragon_framework::prelude::*;
use tarragon_geometry::{GeometryId, QueryObject, SceneGraphInspector};

/// Shows the geometry of a scene in Meshcat (Drake's `MeshcatVisualizer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `query_object` | [`QueryObject`] |
///
/// It publishes every [`publish_period`](MeshcatVisualizerParams::publish_period) and at every
/// forced publish. Objects are sent once, and again when the
/// [version](tarragon_geometry::GeometryVersion) of the geometry has changed; poses are sent if
/// they differ from those in Meshcat. For dual numbers, the real parts are shown.
///
/// A geometry is at `{prefix}/{frame}/{geometry}`, or at `{prefix}/{geometry}` if it is fixed in
/// the world; `::` in names becomes `/`. For example, the ball `toy::ball` on the frame `toy::body`
/// is at `/drake/visualizer/toy/body/toy/ball`, as in Drake. If a path is taken, the second one
/// ends in ` (2)`. A mesh that cannot be shown is left out, with a warning in the log. An OBJ file
/// with texture coordinates and without materials has the image of `("phong", "diffuse_map")`,
/// which Drake leaves out; the image is multiplied by `("phong", "diffuse")` if that is given. A
/// shape with a [`ProjectedTexture`](tarragon_geometry::ProjectedTexture) is sent as triangles with
/// its images.
/// Deformable geometry is at `{prefix}/deformable_geometries/{geometry}`: the surface that it
/// drives in the role, in one colour, whose vertices are sent again when they have changed.
/// With the proximity role, a mesh with [convex
/// pieces](tarragon_geometry::ProximityProperties::with_convex_decomposition) is shown as those.
///
/// The context stores what was sent; clones of a context share it. Contexts that run concurrently,
/// in any number of threads, may share a server. If they have the same prefix, they share one
/// picture, which shows the context that published last.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{GeometryInstance, IllustrationProperties, SceneGraph, Sphere};
/// use tarragon_visualization::{Meshcat, MeshcatParams, MeshcatVisualizer};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?
///     .with_illustration(IllustrationProperties::new());
/// scene.register_anchored_geometry(toys, ball)?;
///
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// MeshcatVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), Default::default())?;
/// let diagram = b.build()?;
/// Simulator::new(&diagram, diagram.default_context())?.advance_to(0.1)?;
/// assert!(meshcat.has_path("visualizer/ball"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MeshcatVisualizer {
    meshcat: Meshcat,
    params: MeshcatVisualizerParams,
    /// Full path of the prefix.
    root: String,
    alpha_slider: Option<String>,
    /// Number of calls of `delete`; contexts send everything again after each.
    deletions: AtomicU64,
}

impl MeshcatVisualizer {
    /// Creates a visualizer, and its alpha slider if enabled. An existing slider of that name, such
    /// as one left by an earlier visualizer, is reused.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range, or a button has the name of the slider.
    pub fn new(meshcat: Meshcat, params: MeshcatVisualizerParams) -> Result<Self> {
        params.check()?;
        let mut alpha_slider = None;
        if params.enable_alpha_slider {
            let (name, alpha) = (
                format!("{} \u{3b1}", params.prefix),
                params.initial_alpha_slider_value,
            );
            if meshcat.set_slider_value(&name, alpha).is_err() {
                meshcat.add_slider(&name, 0.02, 1.0, 0.02, alpha)?;
            }
            alpha_slider = Some(name);
        }
        Ok(Self {
            root: full_path(&params.prefix),
            meshcat,
            params,
            alpha_slider,
            deletions: AtomicU64::new(0),
        })
    }

    /// Adds a visualizer named `meshcat_visualizer({prefix})` to a diagram, connected to the query
    /// port of a scene (Drake's `AddToBuilder`). A name that is taken [gets a numeric
    /// suffix](DiagramBuilder::unused_name).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn add_to_builder(
        builder: &mut DiagramBuilder,
        query_object: OutputPort<QueryObject<f64>>,
        meshcat: Meshcat,
        params: MeshcatVisualizerParams,
    ) -> Result<Block<Self>> {
        // Names of systems must not contain `::`, which separates diagrams.
        let name = format!("meshcat_visualizer({})", params.prefix.replace("::", "/"));
        let visualizer = Self::new(meshcat, params)?;
        let block = builder.add(&builder.unused_name(&name), visualizer);
        builder.connect(query_object, block.query_object);
        Ok(block)
    }

    /// Returns the server.
    pub fn meshcat(&self) -> &Meshcat {
        &self.meshcat
    }
    /// Returns the parameters.
    pub fn params(&self) -> &MeshcatVisualizerParams {
        &self.params
    }

    /// Returns the geometry that this visualizer shows at a path, such as that of a
    /// [`Drag`](crate::Drag); `None` if there is none. The frame of the path is that of the
    /// geometry.
    ///
    /// # Errors
    /// Returns an error if a property of a geometry has the wrong type.
    pub fn geometry_at(
        &self,
        inspector: &SceneGraphInspector<'_>,
        path: &str,
    ) -> Result<Option<GeometryId>> {
        let path = full_path(path);
        let places = places(inspector, &self.params)?;
        let found = places.into_iter().find(|place| place.path == path);
        Ok(found.and_then(|place| Some(place.geometry?.0)))
    }

    /// Deletes everything below the prefix. The next publish of a context sends it again.
    pub fn delete(&self) {
        self.meshcat.delete(&self.root);
        self.deletions.fetch_add(1, Ordering::AcqRel);
    }

    /// Starts recording, with one frame per publish; see [`Meshcat::start_recording`].
    ///
    /// # Errors
    /// Returns an error if the publish period is so short that the frame rate is not finite.
    pub fn start_recording(&self, set_transforms_while_recording: bool) -> Result<()> {
        let rate = 1.0 / self.params.publish_period;
        self.meshcat
            .start_recording(rate, set_transforms_while_recording)
    }
    /// Stops recording; see [`Meshcat::stop_recording`].
    pub fn stop_recording(&self) {
        self.meshcat.stop_recording();
    }
    /// Sends the recording to all pages; see [`Meshcat::publish_recording`].
    pub fn publish_recording(&self) {
        self.meshcat.publish_recording();
    }
    /// Deletes the recording; see [`Meshcat::delete_recording`].
    pub fn delete_recording(&self) {
        self.meshcat.delete_recording();
    }
    /// Calls a function that may change the recording; see [`Meshcat::with_recording`].
    pub fn with_recording<V>(&self, change: impl FnOnce(&mut MeshcatAnimation) -> V) -> V {
        self.meshcat.with_recording(change)
    }

    fn publish<T: Scalar>(
        &self,
        ctx: &LeafContext<'_, T>,
        query: &QueryObject<T>,
        shown: &Mutex<Shown>,
    ) -> Result<()> {
        let mut shown = lock(shown);
        let (deletions, inspector) = (self.deletions.load(Ordering::Acquire), query.inspector());
        if !shown.is_current(inspector.geometry_version(), deletions, &self.params) {
            let alpha = match &self.alpha_slider {
                Some(name) => self.meshcat.slider_value(name).unwrap_or(1.0),
                None => 1.0,
            };
            let (meshcat, params) = (&self.meshcat, &self.params);
            shown.send_objects(meshcat, query, params, &self.root, alpha, deletions)?;
        }
        shown.compute(query)?;
        let time = ctx.time().re();
        let shows = shown.record(&self.meshcat, time)?;
        self.meshcat.set_simulation_time(time);
        if shows {
            let missing = self.meshcat.change(|scene| {
                let slider = self.alpha_slider.as_ref();
                let alpha = slider.and_then(|name| scene.controls.slider_value(name));
                shown.send_motion(scene, alpha)
            });
            shown.send_soft_objects(&self.meshcat, missing);
        }
        Ok(())
    }
}

/// Ports of [`MeshcatVisualizer`].
#[derive(Clone, Copy, Debug)]
pub struct MeshcatVisualizerPorts<T: Scalar> {
    /// The scene's query port.
    pub query_object: InputPort<QueryObject<T>>,
}

impl<T: Scalar> LeafSystem<T> for MeshcatVisualizer {
    type Ports = MeshcatVisualizerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let query_object = d.input::<QueryObject<T>>("query_object");
        let shown = d.fresh_param(Arc::<Mutex<Shown>>::default);
        if self.params.delete_on_initialization_event {
            d.publish_on(Trigger::Initialization, |visualizer, _| {
                visualizer.delete();
                Ok(EventStatus::Succeeded)
            });
        }
        let period = self.params.publish_period;
        let offset = 0.0;
        for trigger in [Trigger::Periodic { period, offset }, Trigger::Forced] {
            d.publish_on(trigger, move |visualizer, ctx| {
                let query = ctx.eval(query_object)?;
                let shown: &Arc<Mutex<Shown>> = ctx.param(shown);
                visualizer.publish(ctx, query, shown)?;
                Ok(EventStatus::Succeeded)
            });
        }
        MeshcatVisualizerPorts { query_object }
    }
}
