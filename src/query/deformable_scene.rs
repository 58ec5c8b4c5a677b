//! Lines that describe a scene with deformable bodies, and how it moves.

use super::Answered;
use super::fields::{Fields, array, numbers, wrong};
use super::hydroelastic;
use super::number::{Double, Number};
use super::scene::MeshFiles;
use nalgebra::{Isometry3, Matrix3, Vector3};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tarragon::fem::DeformableBodyConfig;
use tarragon::framework::Block;
use tarragon::geometry::{GeometryId, Shape};
use tarragon::multibody::{
    DeformableBodyIndex, DiscreteContactApproximation, ModelInstanceIndex, MultibodyPlant,
    MultibodyPlantBuilder, SpatialInertia, add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;

/// Name of the field that a line has.
pub(super) const PLACE: &str = "deformable";

/// Radius of the inertia of a rigid body that is no sphere (m).
const RADIUS: f64 = 0.1;

/// A deformable body.
struct Body {
    /// Prefix of errors.
    place: String,
    name: String,
    shape: Shape,
    hint: f64,
    x_wg: Isometry3<f64>,
    config: DeformableBodyConfig,
    contact: ProximityProperties,
    /// Points of walls and normals out of them, in W.
    walls: Vec<[Vector3<f64>; 2]>,
    fixed_to_world: Option<(Shape, Isometry3<f64>)>,
    positions: Option<Vec<Vector3<f64>>>,
    velocities: Option<Vec<Vector3<f64>>>,
    disabled: bool,
}

/// A rigid body; anchored without a mass.
struct Rigid {
    place: String,
    name: String,
    shape: Shape,
    x_wg: Isometry3<f64>,
    contact: ProximityProperties,
    mass: Option<f64>,
}

/// A scene, and the steps whose ends are asked for.
pub(super) struct MotionRequest {
    time_step: f64,
    gravity: Option<Vector3<f64>>,
    steps: Vec<u64>,
    bodies: Vec<Body>,
    rigid: Vec<Rigid>,
}

#[derive(Serialize)]
struct BodyJson {
    positions: Vec<Double>,
    velocities: Vec<Double>,
}

#[derive(Serialize)]
struct ContactJson {
    a: String,
    b: String,
    faces: usize,
    area: Double,
    centroid: [Double; 3],
    force_on_a: [Double; 3],
}

#[derive(Serialize)]
struct StateJson {
    step: u64,
    bodies: BTreeMap<String, BodyJson>,
    rigid: BTreeMap<String, [Double; 7]>,
    contacts: Vec<ContactJson>,
}

/// One line of the output.
#[derive(Serialize)]
struct MotionAnswerJson {
    deformable: Vec<StateJson>,
    error: Option<String>,
}

impl MotionRequest {
    /// Parses the field of a line.
    pub(super) fn parse(value: Value, meshes: &MeshFiles) -> Result<Self, String> {
        let mut fields = Fields::new(value, PLACE, format!("{PLACE}."))?;
        let time_step = fields.number("time_step")?;
        if time_step <= 0.0 {
            return Err(format!(
                "{} must be positive, got {time_step:?} s; deformable bodies move in discrete steps",
                fields.path("time_step")
            ));
        }
        let gravity = fields.optional("gravity");
        let gravity = gravity.map(|g| numbers(&g, &fields.path("gravity")).map(Vector3::from));
        let steps = steps(fields.required("steps")?, &fields.path("steps"))?;
        let path = fields.path("bodies");
        let bodies = array(fields.required("bodies")?, &path)?;
        let bodies = bodies.into_iter().enumerate();
        let bodies = bodies.map(|(i, body)| Body::parse(body, format!("{path}[{i}]"), meshes));
        let bodies = bodies.collect::<Result<_, _>>()?;
        let path = fields.path("rigid");
        let rigid = fields.list("rigid")?.into_iter().enumerate();
        let rigid = rigid.map(|(i, body)| Rigid::parse(body, format!("{path}[{i}]"), meshes));
        let rigid = rigid.collect::<Result<_, _>>()?;
        fields.finish()?;
        Ok(Self {
            time_step,
            gravity: gravity.transpose()?,
            steps,
            bodies,
            rigid,
        })
    }

    /// Answers the line.
    pub(super) fn answer(self) -> Result<Answered, String> {
        let answer = MotionAnswerJson {
            deformable: self.run()?,
            error: None,
        };
        Ok(Answered {
            json: serde_json::to_string(&answer).map_err(|e| e.to_string())?,
            failed: false,
        })
    }

    fn run(self) -> Result<Vec<StateJson>, String> {
        let plain = |e: Error| format!("{PLACE}: {e}");
        let mut plant = MultibodyPlantBuilder::new(self.time_step).map_err(plain)?;
        let mut scene = SceneGraph::new();
        let sap = DiscreteContactApproximation::Sap;
        plant.set_discrete_contact_approximation(sap);
        if let Some(gravity) = self.gravity {
            plant.set_gravity(gravity).map_err(plain)?;
        }
        plant
            .register_as_source_for_scene_graph(&mut scene)
            .map_err(plain)?;
        let mut names = SceneNames::default();
        for rigid in &self.rigid {
            let added = rigid.add(&mut plant, &mut scene, &mut names);
            added.map_err(|e| format!("{}: {e}", rigid.place))?;
        }
        for body in &self.bodies {
            let added = body.add(&mut plant, &mut scene, &mut names);
            added.map_err(|e| format!("{}: {e}", body.place))?;
        }
        let mut builder = DiagramBuilder::new();
        let (plant, _) =
            add_multibody_plant_scene_graph(&mut builder, plant, scene).map_err(plain)?;
        let diagram = builder.build().map_err(plain)?;
        let mut ctx = diagram.default_context();
        for (body, (_, index)) in self.bodies.iter().zip(&names.bodies) {
            body.start(&plant, &mut ctx, *index)?;
        }
        let mut sim = Simulator::new(&diagram, ctx).map_err(plain)?;
        let mut states = vec![];
        for step in self.steps {
            // The first step happens at the time 0.
            if step > 0 {
                let time = step as f64 * self.time_step;
                sim.advance_to(time).map_err(plain)?;
            }
            let state = names.state(step, &plant, sim.context());
            states.push(state.map_err(plain)?);
        }
        Ok(states)
    }
}

/// Takes the numbers of steps, which must not decrease.
fn steps(value: Value, path: &str) -> Result<Vec<u64>, String> {
    let mut steps: Vec<u64> = vec![];
    for (i, item) in array(value, path)?.iter().enumerate() {
        let path = format!("{path}[{i}]");
        let step = item.as_u64();
        let step = step.ok_or_else(|| wrong(&path, "a non-negative integer", item))?;
        if let Some(last) = steps.last().filter(|last| **last > step) {
            return Err(format!(
                "{path} must be at least the step before it, {last}, got {step}"
            ));
        }
        steps.push(step);
    }
    Ok(steps)
}

impl Body {
    fn parse(value: Value, place: String, meshes: &MeshFiles) -> Result<Self, String> {
        let mut fields = Fields::new(value, &place, format!("{place}."))?;
        let path = fields.path("walls");
        let walls = fields.list("walls")?.into_iter().enumerate();
        let walls = walls.map(|(i, wall)| {
            let path = format!("{path}[{i}]");
            match array(wall, &path)?.as_slice() {
                [p, n] => {
                    let n = Vector3::from(numbers::<3>(n, &format!("{path}[1]"))?);
                    if n == Vector3::zeros() {
                        Err(format!("{path}[1]: the normal must not be zero"))
                    } else {
                        let p = numbers::<3>(p, &format!("{path}[0]"))?;
                        Ok([Vector3::from(p), n])
                    }
                }
                other => Err(format!(
                    "{path} must be a point and a normal, got {} items",
                    other.len()
                )),
            }
        });
        let walls = walls.collect::<Result<_, _>>()?;
        let fixed_to_world = match fields.optional("fixed_to_world") {
            None => None,
            Some(value) => {
                let path = fields.path("fixed_to_world");
                let mut fixed = Fields::new(value, &path, format!("{path}."))?;
                let found = (fixed.shape("shape", meshes)?, fixed.pose("pose")?);
                fixed.finish()?;
                Some(found)
            }
        };
        let body = Self {
            name: fields.text("name")?,
            shape: fields.shape("shape", meshes)?,
            hint: fields.number_that("resolution_hint", 1.0, "positive (m)", |x| x > 0.0)?,
            x_wg: fields.pose("pose")?,
            config: fields.material("material")?,
            contact: fields.contact("friction")?,
            walls,
            fixed_to_world,
            positions: fields.points("initial_positions")?,
            velocities: fields.points("initial_velocities")?,
            disabled: fields.flag("disabled")?,
            place,
        };
        fields.finish()?;
        Ok(body)
    }

    fn add(
        &self,
        plant: &mut MultibodyPlantBuilder,
        scene: &mut SceneGraph,
        names: &mut SceneNames,
    ) -> Result<()> {
        let geometry = GeometryInstance::new(self.x_wg, self.shape.clone(), &self.name)?
            .with_proximity(self.contact.clone());
        let body = plant.register_deformable_body(scene, geometry, &self.config, self.hint)?;
        for [p_wq, n_w] in &self.walls {
            plant.set_wall_boundary_condition(body, p_wq, n_w)?;
        }
        if let Some((shape, x_wg)) = &self.fixed_to_world {
            plant.add_fixed_constraint(body, BodyIndex::WORLD, &self.x_wg, shape, x_wg)?;
        }
        let id = plant.deformable_body(body)?.geometry_id();
        names.geometry.push((id, self.name.clone()));
        names.bodies.push((self.name.clone(), body));
        Ok(())
    }

    /// Sets the initial state.
    fn start(
        &self,
        plant: &Block<MultibodyPlant>,
        ctx: &mut Context<f64>,
        body: DeformableBodyIndex,
    ) -> Result<(), String> {
        let at = |field: &str| {
            let place = format!("{}.{field}", self.place);
            move |e: Error| format!("{place}: {e}")
        };
        if let Some(q) = &self.positions {
            let set = plant.set_deformable_positions(ctx, body, q);
            set.map_err(at("initial_positions"))?;
        }
        if let Some(v) = &self.velocities {
            let set = plant.set_deformable_velocities(ctx, body, v);
            set.map_err(at("initial_velocities"))?;
        }
        let set = plant.set_deformable_enabled(ctx, body, !self.disabled);
        set.map_err(at("disabled"))
    }
}

impl Rigid {
    fn parse(value: Value, place: String, meshes: &MeshFiles) -> Result<Self, String> {
        let mut fields = Fields::new(value, &place, format!("{place}."))?;
        let mut contact = fields.contact("friction")?;
        let path = fields.path("hydro");
        let mut hydro = Fields::new(fields.required("hydro")?, &path, format!("{path}."))?;
        let modulus = hydro.number("modulus")?;
        let refused = |e: Error| format!("{path}: {e}");
        contact = contact
            .with_compliant_hydroelastic(modulus)
            .map_err(refused)?;
        let hint = hydro.optional_number("resolution_hint")?.unwrap_or(1.0);
        contact = contact.with_resolution_hint(hint).map_err(refused)?;
        if let Some(word) = hydro.optional("compliance") {
            let kind = hydroelastic::compliance(&word, &hydro.path("compliance"))?;
            contact.set_untyped("hydroelastic", "compliance_type", kind);
        }
        if let Some(thickness) = hydro.optional_number("slab_thickness")? {
            contact.set_untyped("hydroelastic", "slab_thickness", thickness);
        }
        hydro.finish()?;
        let mass = fields.optional_number("mass")?;
        if let Some(mass) = mass.filter(|mass| *mass <= 0.0) {
            return Err(format!(
                "{} must be positive, got {mass:?} kg",
                fields.path("mass")
            ));
        }
        let rigid = Self {
            name: fields.text("name")?,
            shape: fields.shape("shape", meshes)?,
            x_wg: fields.pose("pose")?,
            contact,
            mass,
            place,
        };
        fields.finish()?;
        Ok(rigid)
    }

    fn add(
        &self,
        plant: &mut MultibodyPlantBuilder,
        scene: &mut SceneGraph,
        names: &mut SceneNames,
    ) -> Result<()> {
        let (shape, contact) = (self.shape.clone(), self.contact.clone());
        let (mut body, mut x_bg) = (BodyIndex::WORLD, self.x_wg);
        if let Some(mass) = self.mass {
            let radius = match &shape {
                Shape::Sphere(sphere) => sphere.radius(),
                _ => RADIUS,
            };
            let moments = Matrix3::identity() * (0.4 * mass * radius * radius);
            let inertia = SpatialInertia::from_central(mass, Vector3::zeros(), moments)?;
            body = plant.add_rigid_body(&self.name, ModelInstanceIndex::DEFAULT, inertia)?;
            plant.set_default_free_body_pose(body, self.x_wg)?;
            x_bg = Isometry3::identity();
            names.moving.push((self.name.clone(), body));
        }
        let id =
            plant.register_collision_geometry(scene, body, x_bg, shape, &self.name, contact)?;
        names.geometry.push((id, self.name.clone()));
        Ok(())
    }
}

/// Names of the things in a scene.
#[derive(Default)]
struct SceneNames {
    geometry: Vec<(GeometryId, String)>,
    bodies: Vec<(String, DeformableBodyIndex)>,
    moving: Vec<(String, BodyIndex)>,
}

impl SceneNames {
    fn state(
        &self,
        step: u64,
        plant: &Block<MultibodyPlant>,
        ctx: &Context<f64>,
    ) -> Result<StateJson> {
        let flat = |list: Vec<Vector3<f64>>| -> Vec<Double> {
            list.iter().flat_map(f64::vector).collect()
        };
        let mut bodies = BTreeMap::new();
        for (name, body) in &self.bodies {
            let state = BodyJson {
                positions: flat(plant.deformable_positions(ctx, *body)?),
                velocities: flat(plant.deformable_velocities(ctx, *body)?),
            };
            bodies.insert(name.clone(), state);
        }
        let poses = ctx.eval(plant.body_poses)?;
        let mut rigid = BTreeMap::new();
        for (name, body) in &self.moving {
            let x_wb = &poses[body.index()];
            let (q, p) = (x_wb.rotation, x_wb.translation.vector);
            let numbers = [q.w, q.i, q.j, q.k, p.x, p.y, p.z];
            rigid.insert(name.clone(), numbers.map(f64::json));
        }
        let name = |id: GeometryId| {
            let found = self.geometry.iter().find(|(other, _)| *other == id);
            found.map(|(_, name)| name.clone()).unwrap_or_default()
        };
        let results = ctx.eval(plant.contact_results()?)?;
        let contacts = results.deformable_contacts().iter();
        let mut contacts: Vec<ContactJson> = contacts
            .map(|contact| ContactJson {
                a: name(contact.id_a),
                b: name(contact.id_b),
                faces: contact.contact_mesh_w.num_faces(),
                area: contact.contact_mesh_w.total_area().json(),
                centroid: f64::vector(&contact.contact_mesh_w.centroid()),
                force_on_a: f64::vector(&contact.f_ac_w.translational),
            })
            .collect();
        contacts.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
        Ok(StateJson {
            step,
            bodies,
            rigid,
            contacts,
        })
    }
}
