//! System that shows contacts as arrows, and contact surfaces by their pressure.

mod arrows;
mod names;
mod surfaces;

pub(crate) use names::last as last_name;

use crate::meshcat::{Meshcat, full_path, lock};
use crate::meshcat_visualizer::check_period;
use crate::{Error, Result};
pub(crate) use arrows::PointForce;
use arrows::{ArrowStyle, Arrows};
use nalgebra::Vector3;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use surfaces::{RecordingLimit, Surfaces};
use tarragon_framework::Scalar;
use tarragon_framework::prelude::*;
use tarragon_geometry::{GeometryId, PenetrationAsPointPair, QueryObject, Rgba};
use tarragon_multibody::{ContactResults, HydroelasticContactInfo, PointPairContactInfo};

/// Parameters of a [`ContactVisualizer`]: Drake's, with Drake's defaults, and
/// `penetration_stiffness` and `recorded_surface_bytes`.
///
/// ```
/// let params = tarragon_visualization::ContactVisualizerParams::default();
/// assert_eq!((params.publish_period, params.radius), (1.0 / 32.0, 0.002));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactVisualizerParams {
    /// Simulated time between publishes (s), positive.
    pub publish_period: f64,
    /// Colour of the arrows of contact points.
    pub color: Rgba,
    /// Colour of the forces on contact surfaces.
    pub hydro_force_color: Rgba,
    /// Colour of the moments on contact surfaces.
    pub hydro_moment_color: Rgba,
    /// Path that holds all arrows; a relative path is below `/drake`.
    pub prefix: String,
    /// Whether everything below the prefix is deleted when a simulation is initialized.
    pub delete_on_initialization_event: bool,
    /// Smallest force that is shown (N).
    pub force_threshold: f64,
    /// Smallest moment that is shown (N m).
    pub moment_threshold: f64,
    /// Force of an arrow that extends 1 m to each side of the contact point (N/m).
    pub newtons_per_meter: f64,
    /// Moment of an arrow that extends 1 m to each side of the centroid (N m/m).
    pub newton_meters_per_meter: f64,
    /// Radius of the shafts (m).
    pub radius: f64,
    /// Force per penetration depth (N/m). With its default of 1000 N/m and the default of
    /// `newtons_per_meter`, an arrow extends 100 times the depth to each side, but at most half the
    /// diagonal of the smaller of the two geometries.
    pub penetration_stiffness: f64,
    /// Most bytes that the contact surfaces of a recording take. A warning tells when it is
    /// reached; later surfaces are not recorded. With 0, no surface is recorded.
    pub recorded_surface_bytes: usize,
}

/// Returns an opaque colour of channels in [0, 1].
fn opaque(r: f64, g: f64, b: f64) -> Rgba {
    Rgba::new(r, g, b, 1.0).expect("channels lie in [0, 1]")
}

impl Default for ContactVisualizerParams {
    fn default() -> Self {
        Self {
            publish_period: 1.0 / 32.0,
            color: opaque(0.0, 1.0, 0.0),
            hydro_force_color: opaque(1.0, 0.0, 0.0),
            hydro_moment_color: opaque(0.0, 0.0, 1.0),
            prefix: "contact_forces".into(),
            delete_on_initialization_event: true,
            force_threshold: 0.01,
            moment_threshold: 0.01,
            newtons_per_meter: 10.0,
            newton_meters_per_meter: 3.0,
            radius: 0.002,
            penetration_stiffness: 1000.0,
            recorded_surface_bytes: 32 << 20,
        }
    }
}

impl ContactVisualizerParams {
    fn check(&self) -> Result<()> {
        let wrong = |what: String| {
            let prefix = &self.prefix;
            Err(Error::invalid(format!(
                "ContactVisualizer '{prefix}': {what}"
            )))
        };
        check_period(self.publish_period).or_else(wrong)?;
        for (name, value) in [
            ("newtons_per_meter", self.newtons_per_meter),
            ("newton_meters_per_meter", self.newton_meters_per_meter),
            ("radius", self.radius),
            ("penetration_stiffness", self.penetration_stiffness),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return wrong(format!("{name} must be positive and finite, got {value:?}"));
            }
        }
        for (name, unit, value) in [
            ("force_threshold", "N", self.force_threshold),
            ("moment_threshold", "N m", self.moment_threshold),
        ] {
            if value.is_nan() || value < 0.0 {
                return wrong(format!(
                    "{name} must be 0 {unit} or more, got {value:?} {unit}"
                ));
            }
        }
        Ok(())
    }
}

/// Shows contacts in Meshcat (Drake's `ContactVisualizer`): forces as arrows, contact surfaces by
/// their pressure.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `query_object` | [`QueryObject`] |
/// | input | `contact_results` | [`ContactResults`], optional |
///
/// With `contact_results` connected to a plant, an arrow shows the force on body B, centred at the
/// contact point. Without it, for plants that do not move under forces and scenes without a plant,
/// an arrow shows a penetration of geometry with the proximity role: it is centred midway between
/// the two witness points and points along the normal from A to B, and the force is
/// [`penetration_stiffness`](ContactVisualizerParams::penetration_stiffness) times the depth.
///
/// The arrow of a pair is at `{prefix}/point/{frame}.{geometry}+{frame}.{geometry}`. Names that are
/// unique without their model are given without it. The arrow becomes invisible when the pair
/// separates.
///
/// A contact surface of a plant is at
/// `{prefix}/hydroelastic/{frame}.{geometry}+{frame}.{geometry}`, with the children
/// `contact_surface`, from black for no pressure to white for the largest, and `force_C_W` and
/// `moment_C_W`, arrows at the centroid for force and moment on body A. Recordings hold arrows and
/// surfaces; each frame has its own below `contact_surface_frames`, visible in that frame only.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// use tarragon_visualization::{ContactVisualizer, Meshcat, MeshcatParams};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let role = ProximityProperties::new;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// scene.register_anchored_geometry(toys, floor.with_proximity(role()))?;
/// let frame = scene.register_frame(toys, GeometryFrame::new("body"))?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// scene.register_geometry(toys, frame, ball.with_proximity(role()))?;
///
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), Default::default())?;
/// let mut ctx = b.build()?.default_context();
/// let deep = Isometry3::translation(0.0, 0.0, 0.099);
/// ctx.fix(scene.source_pose_port(toys)?, FramePoseVector::from_iter([(frame, deep)]))?;
/// ctx.force_publish()?;
/// assert!(meshcat.has_path("contact_forces/point/world.floor+body.ball"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ContactVisualizer {
    meshcat: Meshcat,
    params: ContactVisualizerParams,
    root: String,
    /// Number of calls of `delete`; contexts send everything again after each.
    deletions: AtomicU64,
}

/// Everything that a context has sent.
#[derive(Debug, Default)]
struct ShownContacts {
    points: Arrows,
    surfaces: Surfaces,
    forces: Arrows,
    moments: Arrows,
}

impl ContactVisualizer {
    /// Creates a visualizer.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range.
    pub fn new(meshcat: Meshcat, params: ContactVisualizerParams) -> Result<Self> {
        params.check()?;
        Ok(Self {
            root: full_path(&params.prefix),
            meshcat,
            params,
            deletions: AtomicU64::new(0),
        })
    }
    /// Adds a visualizer named `meshcat_contact_visualizer` to a diagram, connected to the query
    /// port of a scene (Drake's `AddToBuilder`). For the forces of a plant, connect its
    /// `contact_results` to the port of that name. A name that is taken [gets a numeric
    /// suffix](DiagramBuilder::unused_name).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn add_to_builder(
        builder: &mut DiagramBuilder,
        query_object: OutputPort<QueryObject<f64>>,
        meshcat: Meshcat,
        params: ContactVisualizerParams,
    ) -> Result<Block<Self>> {
        let visualizer = Self::new(meshcat, params)?;
        let name = builder.unused_name("meshcat_contact_visualizer");
        let block = builder.add(&name, visualizer);
        builder.connect(query_object, block.query_object);
        Ok(block)
    }
    /// Returns the parameters.
    pub fn params(&self) -> &ContactVisualizerParams {
        &self.params
    }
    /// Deletes all arrows. The next publish of a context shows its current contacts again.
    pub fn delete(&self) {
        self.meshcat.delete(&self.root);
        self.deletions.fetch_add(1, Ordering::AcqRel);
    }

    fn publish<T: Scalar>(
        &self,
        time: f64,
        query: &QueryObject<T>,
        contacts: Option<&ContactResults<T>>,
        shown: &Mutex<ShownContacts>,
    ) -> Result<()> {
        let params = &self.params;
        let style = ArrowStyle {
            radius: params.radius,
            newtons_per_meter: params.newtons_per_meter,
            threshold: params.force_threshold,
            rgba: params.color,
        };
        let forces = match contacts {
            Some(contacts) => contacts.point_pairs().iter().map(solved_force).collect(),
            None => self.estimated_forces(query)?,
        };
        let inspector = query.inspector();
        let path = |pair| {
            let name = names::of_pair(&inspector, pair)?;
            Ok(full_path(&format!("{}/point/{name}", self.root)))
        };
        let deletions = self.deletions.load(Ordering::Acquire);
        let mut shown = lock(shown);
        let forces = forces.into_iter();
        shown
            .points
            .show(&self.meshcat, &style, forces, path, time, deletions)?;
        let surfaces = contacts.map_or(&[][..], ContactResults::hydroelastic_contacts);
        let path = |part: &'static str| {
            let (root, inspector) = (&self.root, &inspector);
            move |pair| {
                let name = names::of_pair(inspector, pair)?;
                Ok(full_path(&format!("{root}/hydroelastic/{name}/{part}")))
            }
        };
        let meshes = surfaces.iter().map(|contact| &contact.contact_surface);
        let at = path("contact_surface");
        let limit = RecordingLimit {
            time,
            bytes: params.recorded_surface_bytes,
        };
        shown
            .surfaces
            .show(&self.meshcat, meshes, at, limit, deletions)?;
        let arrow = |contact: &HydroelasticContactInfo<T>, vector: &Vector3<T>| PointForce {
            pair: (
                contact.contact_surface.id_m(),
                contact.contact_surface.id_n(),
            ),
            p_w: real(&contact.contact_surface.centroid()),
            f_w: real(vector),
        };
        let style = ArrowStyle {
            rgba: params.hydro_force_color,
            ..style
        };
        let forces = surfaces.iter().map(|c| arrow(c, &c.f_ac_w.translational));
        let at = path("force_C_W");
        shown
            .forces
            .show(&self.meshcat, &style, forces, at, time, deletions)?;
        let style = ArrowStyle {
            newtons_per_meter: params.newton_meters_per_meter,
            threshold: params.moment_threshold,
            rgba: params.hydro_moment_color,
            ..style
        };
        let moments = surfaces.iter().map(|c| arrow(c, &c.f_ac_w.rotational));
        let at = path("moment_C_W");
        shown
            .moments
            .show(&self.meshcat, &style, moments, at, time, deletions)?;
        self.meshcat.set_simulation_time(time);
        Ok(())
    }

    /// Returns forces as if all pairs of a scene were springs.
    fn estimated_forces<T: Scalar>(&self, query: &QueryObject<T>) -> Result<Vec<PointForce>> {
        let params = &self.params;
        let pairs = query.compute_point_pair_penetration()?;
        let force = |pair| {
            let force = force_of(pair, params.penetration_stiffness);
            let size = force.f_w.norm();
            // A deep overlap would draw arrows across the whole view.
            let (a, b) = force.pair;
            let most = params.newtons_per_meter * size_of_pair(query, a, b);
            PointForce {
                f_w: force.f_w * (most / size).min(1.0),
                ..force
            }
        };
        Ok(pairs.iter().map(force).collect())
    }
}

/// Returns half the diagonal (m) of the smaller bounding box of two geometries; infinite if both
/// are unbounded.
fn size_of_pair<T: Scalar>(query: &QueryObject<T>, a: GeometryId, b: GeometryId) -> f64 {
    let sizes = [a, b].map(|id| match query.compute_aabb_in_world(id) {
        Ok(Some(bounds)) => bounds.half_width().norm(),
        _ => f64::INFINITY,
    });
    sizes[0].min(sizes[1])
}

/// Returns the real part of a vector.
pub(crate) fn real<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}

/// Returns the force on B that a plant has computed.
pub(crate) fn solved_force<T: Scalar>(contact: &PointPairContactInfo<T>) -> PointForce {
    PointForce {
        pair: (contact.point_pair.id_a, contact.point_pair.id_b),
        p_w: real(&contact.contact_point),
        f_w: real(&contact.contact_force),
    }
}

/// Returns the force on B, as if the pair were a spring.
pub(crate) fn force_of<T: Scalar>(pair: &PenetrationAsPointPair<T>, stiffness: f64) -> PointForce {
    PointForce {
        pair: (pair.id_a, pair.id_b),
        p_w: (real(&pair.p_wca) + real(&pair.p_wcb)) / 2.0,
        f_w: -real(&pair.nhat_ba_w) * (stiffness * pair.depth.re()),
    }
}

/// Ports of [`ContactVisualizer`].
#[derive(Clone, Copy, Debug)]
pub struct ContactVisualizerPorts<T: Scalar> {
    /// The scene's query port.
    pub query_object: InputPort<QueryObject<T>>,
    /// The contacts of a plant, with their forces.
    pub contact_results: InputPort<ContactResults<T>>,
}

impl<T: Scalar> LeafSystem<T> for ContactVisualizer {
    type Ports = ContactVisualizerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let query_object = d.input::<QueryObject<T>>("query_object");
        let contact_results = d.input::<ContactResults<T>>("contact_results");
        let shown = d.fresh_param(Arc::<Mutex<ShownContacts>>::default);
        if self.params.delete_on_initialization_event {
            d.publish_on(Trigger::Initialization, |visualizer, _| {
                visualizer.delete();
                Ok(EventStatus::Succeeded)
            });
        }
        let (period, offset) = (self.params.publish_period, 0.0);
        for trigger in [Trigger::Periodic { period, offset }, Trigger::Forced] {
            d.publish_on(trigger, move |visualizer, ctx| {
                let query = ctx.eval(query_object)?;
                let shown: &Arc<Mutex<ShownContacts>> = ctx.param(shown);
                let contacts = ctx.eval_optional(contact_results)?;
                visualizer.publish(ctx.time().re(), query, contacts, shown)?;
                Ok(EventStatus::Succeeded)
            });
        }
        ContactVisualizerPorts {
            query_object,
            contact_results,
        }
    }
}
