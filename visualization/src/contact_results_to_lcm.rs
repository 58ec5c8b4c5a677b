//! Contacts as LCM messages.

use crate::contact_visualizer::{
    ContactVisualizerParams, PointForce, force_of, last_name, real, solved_force,
};
use crate::{Error, Result};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_framework::to_microseconds;
use tarragon_geometry::{
    FrameId, GeometryId, PenetrationAsPointPair, QueryObject, Role, SceneGraph, SceneGraphInspector,
};
use tarragon_lcm::types::{
    LcmtContactResultsForViz, LcmtHydroelasticContactSurfaceForViz, LcmtPoint,
    LcmtPointPairContactInfoForViz,
};
use tarragon_lcm::{Lcm, LcmPublisherSystem};
use tarragon_multibody::{ContactResults, HydroelasticContactInfo, MultibodyPlant};

/// Channel on which viewers listen for contacts.
const CHANNEL: &str = "CONTACT_RESULTS";
/// Default publish period (s), as in Drake.
const PUBLISH_PERIOD: f64 = 1.0 / 64.0;

/// Names of a body of the plant.
#[derive(Clone, Debug)]
struct BodyNames {
    /// Name and index of the model instance, as in `finger(3)`.
    with_instance: String,
    name: String,
    model: String,
    /// Whether no other body has the name.
    is_unique: bool,
}

/// Names of a geometry and its body in a message on a contact surface.
struct GeometryNames {
    geometry: String,
    body: String,
    model: String,
    is_body_unique: bool,
    /// Number of the body's geometries with the proximity role.
    num_collision_geometries: i32,
}

/// Converts contacts to the LCM message that viewers show (Drake's `ContactResultsToLcmSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `query_object` | [`QueryObject`] |
/// | input | `contact_results` | [`ContactResults`], optional |
/// | output | `lcm_message` | [`LcmtContactResultsForViz`] |
///
/// With `contact_results` connected to a plant, these are its contacts. Without it, for plants that
/// do not move under forces, they are the penetrations of geometry with the proximity role, as in
/// the [`ContactVisualizer`](crate::ContactVisualizer): the contact point is midway between the two
/// witness points, and the force on the second body is the stiffness times the depth, against the
/// normal, which points from the second body to the first. Contact surfaces come from a plant only.
///
/// Bodies are named as in Drake, by name and index of the model instance: `finger(3)`. Bodies
/// outside the plant have the last part of the name of their frame, and the frame group.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// use tarragon_visualization::ContactResultsToLcmSystem;
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let role = ProximityProperties::new;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// scene.register_anchored_geometry(toys, floor.with_proximity(role()))?;
/// let frame = scene.register_frame(toys, GeometryFrame::new("toy::ball").with_frame_group(2)?)?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// scene.register_geometry(toys, frame, ball.with_proximity(role()))?;
///
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let contacts = b.add("contacts", ContactResultsToLcmSystem::new(None));
/// b.connect(scene.query, contacts.query_object);
/// let mut ctx = b.build()?.default_context();
/// let deep = Isometry3::translation(0.0, 0.0, 0.099);
/// ctx.fix(scene.source_pose_port(toys)?, FramePoseVector::from_iter([(frame, deep)]))?;
/// let contact = &ctx.eval(contacts.lcm_message)?.point_pair_contact_info[0];
/// assert_eq!((&*contact.body1_name, &*contact.body2_name), ("world(0)", "ball(2)"));
/// assert!((contact.contact_force[2] - 1.0).abs() < 1e-9); // 1 mm deep, 1000 N/m
/// assert_eq!(contact.normal, [0.0, 0.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContactResultsToLcmSystem {
    bodies: BTreeMap<FrameId, BodyNames>,
    penetration_stiffness: f64,
}

impl ContactResultsToLcmSystem {
    /// Creates the system. With a plant, its bodies are reported by their names.
    pub fn new(plant: Option<&MultibodyPlant>) -> Self {
        let mut bodies = BTreeMap::new();
        for (index, body) in plant.into_iter().flat_map(|plant| plant.bodies()) {
            if let Some(frame) = plant.and_then(|plant| plant.body_frame_id(index)) {
                let instance = body.model_instance();
                let mut same = plant.into_iter().flat_map(|plant| plant.bodies());
                let names = BodyNames {
                    with_instance: body_name(body.name(), instance.index() as i32),
                    name: body.name().to_owned(),
                    model: plant
                        .and_then(|p| p.model_instance_name(instance).ok())
                        .unwrap_or_default()
                        .to_owned(),
                    is_unique: !same.any(|(i, other)| i != index && other.name() == body.name()),
                };
                bodies.insert(frame, names);
            }
        }
        Self {
            bodies,
            penetration_stiffness: ContactVisualizerParams::default().penetration_stiffness,
        }
    }
    /// Sets the force per penetration depth (N/m); the default is 1000 N/m.
    ///
    /// # Errors
    /// Returns an error if the stiffness is not positive and finite.
    pub fn with_penetration_stiffness(mut self, stiffness: f64) -> Result<Self> {
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return Err(Error::invalid(format!(
                "ContactResultsToLcmSystem: penetration_stiffness must be positive and finite, got {stiffness:?} N/m"
            )));
        }
        self.penetration_stiffness = stiffness;
        Ok(self)
    }

    /// Describes a contact surface with its force on the first body.
    fn describe_surface<T: Scalar>(
        &self,
        inspector: &SceneGraphInspector<'_>,
        own: &HydroelasticContactInfo<T>,
        contact: &mut LcmtHydroelasticContactSurfaceForViz,
    ) -> Result<()> {
        let surface = &own.contact_surface;
        let vector = |v: &Vector3<T>| real(v).into();
        contact.centroid_W = vector(&surface.centroid());
        contact.force_C_W = vector(&own.f_ac_w.translational);
        contact.moment_C_W = vector(&own.f_ac_w.rotational);
        // As in Drake, which no longer fills them in.
        contact.quadrature_point_data.clear();
        contact.p_WV.clear();
        contact.p_WV.extend(surface.vertices().iter().map(|p| {
            let [x, y, z] = vector(p);
            LcmtPoint { x, y, z }
        }));
        contact.pressure.clear();
        contact
            .pressure
            .extend(surface.vertex_pressures().iter().map(|p| p.re()));
        contact.poly_data.clear();
        if let Some(mesh) = surface.poly_mesh_w() {
            let data = mesh.face_data().iter().map(|x| *x as i32);
            contact.poly_data.extend(data);
        }
        for t in surface
            .tri_mesh_w()
            .into_iter()
            .flat_map(|mesh| mesh.triangles())
        {
            contact.poly_data.push(3);
            contact.poly_data.extend(t.vertices().map(|v| v as i32));
        }
        let first = self.geometry_names(inspector, surface.id_m())?;
        contact.geometry1_name = first.geometry;
        contact.body1_name = first.body;
        contact.model1_name = first.model;
        contact.body1_unique = first.is_body_unique;
        contact.collision_count1 = first.num_collision_geometries;
        let second = self.geometry_names(inspector, surface.id_n())?;
        contact.geometry2_name = second.geometry;
        contact.body2_name = second.body;
        contact.model2_name = second.model;
        contact.body2_unique = second.is_body_unique;
        contact.collision_count2 = second.num_collision_geometries;
        Ok(())
    }

    fn geometry_names(
        &self,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
    ) -> Result<GeometryNames> {
        let frame = inspector.frame_id(id)?;
        let known = self.bodies.get(&frame);
        Ok(GeometryNames {
            geometry: inspector.name(id)?.to_owned(),
            body: match known {
                Some(known) => known.name.clone(),
                None => last_name(inspector.frame_name(frame)?).to_owned(),
            },
            model: known.map(|known| known.model.clone()).unwrap_or_default(),
            is_body_unique: known.is_none_or(|known| known.is_unique),
            num_collision_geometries: inspector.geometries_on(frame, Role::Proximity)?.len() as i32,
        })
    }

    fn calc<T: Scalar>(
        &self,
        query: &QueryObject<T>,
        results: Option<&ContactResults<T>>,
        time: f64,
        message: &mut LcmtContactResultsForViz,
    ) -> Result<()> {
        let timestamp = to_microseconds(time)?;
        let inspector = query.inspector();
        let contacts = &mut message.point_pair_contact_info;
        match results {
            Some(results) => {
                let solved = results.point_pairs();
                contacts.resize_with(solved.len(), Default::default);
                for (contact, own) in contacts.iter_mut().zip(solved) {
                    self.describe(&inspector, &own.point_pair, solved_force(own), contact)?;
                }
            }
            None => {
                let pairs = query.compute_point_pair_penetration()?;
                contacts.resize_with(pairs.len(), Default::default);
                for (contact, pair) in contacts.iter_mut().zip(&pairs) {
                    let force = force_of(pair, self.penetration_stiffness);
                    self.describe(&inspector, pair, force, contact)?;
                }
            }
        }
        let surfaces = results.map_or(&[][..], ContactResults::hydroelastic_contacts);
        message
            .hydroelastic_contacts
            .resize_with(surfaces.len(), Default::default);
        for (contact, own) in message.hydroelastic_contacts.iter_mut().zip(surfaces) {
            self.describe_surface(&inspector, own, contact)?;
        }
        for contact in contacts {
            contact.timestamp = timestamp;
        }
        message.timestamp = timestamp;
        Ok(())
    }

    fn describe<T: Scalar>(
        &self,
        inspector: &SceneGraphInspector<'_>,
        pair: &PenetrationAsPointPair<T>,
        force: PointForce,
        contact: &mut LcmtPointPairContactInfoForViz,
    ) -> Result<()> {
        contact.contact_point = force.p_w.into();
        contact.contact_force = force.f_w.into();
        contact.normal = real(&pair.nhat_ba_w).into();
        for (geometry, name) in [
            (pair.id_a, &mut contact.body1_name),
            (pair.id_b, &mut contact.body2_name),
        ] {
            self.name_body(inspector, geometry, name)?;
        }
        Ok(())
    }

    fn name_body(
        &self,
        inspector: &SceneGraphInspector<'_>,
        geometry: GeometryId,
        name: &mut String,
    ) -> Result<()> {
        let frame = inspector.frame_id(geometry)?;
        match self.bodies.get(&frame) {
            Some(known) => name.clone_from(&known.with_instance),
            None => {
                let last = last_name(inspector.frame_name(frame)?);
                *name = body_name(last, inspector.frame_group(frame)?);
            }
        }
        Ok(())
    }
}

fn body_name(name: &str, instance: i32) -> String {
    format!("{name}({instance})")
}

/// Ports of [`ContactResultsToLcmSystem`].
#[derive(Clone, Copy, Debug)]
pub struct ContactResultsToLcmSystemPorts<T: Scalar> {
    /// The scene.
    pub query_object: InputPort<QueryObject<T>>,
    /// The contacts of a plant, with their forces.
    pub contact_results: InputPort<ContactResults<T>>,
    /// The message.
    pub lcm_message: OutputPort<LcmtContactResultsForViz>,
}

impl<T: Scalar> LeafSystem<T> for ContactResultsToLcmSystem {
    type Ports = ContactResultsToLcmSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let query_object = d.input::<QueryObject<T>>("query_object");
        let contact_results = d.input::<ContactResults<T>>("contact_results");
        let lcm_message = d.output(
            "lcm_message",
            LcmtContactResultsForViz::default(),
            (query_object, contact_results, Dep::Time),
            move |this, ctx, message| {
                let query = ctx.eval(query_object)?;
                let contacts = ctx.eval_optional(contact_results)?;
                this.calc(query, contacts, ctx.time().re(), message)
            },
        );
        ContactResultsToLcmSystemPorts {
            query_object,
            contact_results,
            lcm_message,
        }
    }
}

/// Publishes contacts for viewers on the channel `CONTACT_RESULTS` (Drake's
/// `ConnectContactResultsToDrakeVisualizer`). Adds a [`ContactResultsToLcmSystem`] named
/// `contact_to_lcm`, with the body names of the plant, and a publisher named
/// `contact_results_publisher`, which it returns. Names that are taken [get a numeric
/// suffix](DiagramBuilder::unused_name).
///
/// The contacts are those of the plant, with their forces, if it moves under forces.
///
/// Without a bus, a bus with the default URL is opened. Without a period (s), contacts are
/// published every 1/64 s. A period of zero publishes at every step.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_lcm::Lcm;
/// use tarragon_multibody::MultibodyPlantBuilder;
/// use tarragon_visualization::connect_contact_results_to_drake_visualizer;
/// let (mut scene, mut plant) = (SceneGraph::new(), MultibodyPlantBuilder::new(0.001)?);
/// plant.register_as_source_for_scene_graph(&mut scene)?;
/// let plant = plant.build()?;
/// let mut b = DiagramBuilder::new();
/// let (plant, scene) = (b.add("plant", plant), b.add("scene_graph", scene));
/// let lcm = Some(Lcm::with_url("memq://")?);
/// let publisher = connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm, None)?;
/// assert_eq!(publisher.system().channel(), "CONTACT_RESULTS");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the period is negative or not finite, or the bus cannot be opened.
pub fn connect_contact_results_to_drake_visualizer(
    builder: &mut DiagramBuilder,
    plant: &Block<MultibodyPlant>,
    scene_graph: &Block<SceneGraph>,
    lcm: Option<Lcm>,
    publish_period: Option<f64>,
) -> Result<Block<LcmPublisherSystem<LcmtContactResultsForViz>>> {
    let lcm = match lcm {
        Some(lcm) => lcm,
        None => Lcm::with_url("")?,
    };
    let period = publish_period.unwrap_or(PUBLISH_PERIOD);
    let system = ContactResultsToLcmSystem::new(Some(plant.system()));
    let results = contact_results_of(Some(plant));
    add_publisher(builder, (scene_graph.query, results), system, lcm, period)
}

/// Returns the contacts of a plant that moves under forces.
pub(crate) fn contact_results_of(
    plant: Option<&Block<MultibodyPlant>>,
) -> Option<OutputPort<ContactResults<f64>>> {
    plant?.contact_results().ok()
}

/// Adds the system and its publisher, and returns the publisher.
pub(crate) fn add_publisher(
    builder: &mut DiagramBuilder,
    (query_object, contact_results): (
        OutputPort<QueryObject<f64>>,
        Option<OutputPort<ContactResults<f64>>>,
    ),
    system: ContactResultsToLcmSystem,
    lcm: Lcm,
    period: f64,
) -> Result<Block<LcmPublisherSystem<LcmtContactResultsForViz>>> {
    // Created first, so that an error adds nothing.
    let publisher = LcmPublisherSystem::new(CHANNEL, lcm, period, 0.0)?;
    let contacts = builder.add(&builder.unused_name("contact_to_lcm"), system);
    let publisher = builder.add(&builder.unused_name("contact_results_publisher"), publisher);
    builder.connect(query_object, contacts.query_object);
    if let Some(contact_results) = contact_results {
        builder.connect(contact_results, contacts.contact_results);
    }
    builder.connect(contacts.lcm_message, publisher.lcm_message);
    Ok(publisher)
}
