//! Steps in which bodies within margins press on each other.

use super::{G, diagram, diagram_with};
use crate::mjcf::read;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CoulombFriction, GeometryId, HalfSpace, ProximityProperties, SceneGraph, Sphere,
};
use tarragon_multibody::*;

/// Balls 1 m from each other in the air over a plane, within the margin or not.
fn row(count: usize) -> String {
    let balls = (0..count).map(|i| {
        let z = 0.1 + 0.0195 + 2e-4 * (i % 4) as f64;
        format!("<body pos='{i} 0 {z}'><freejoint/><geom size='.1' mass='2' margin='.02'/></body>")
    });
    let balls: String = balls.collect();
    let plane = "<geom type='plane' size='5 5 1' margin='.01'/>";
    format!("<mujoco model='m'><worldbody>{plane}{balls}</worldbody></mujoco>")
}

#[test]
fn steps_do_not_depend_on_threads() {
    let (diagram, plant) = diagram(&row(2200), 1e-3);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(0.005).unwrap();
            let contacts = plant.contact_results().unwrap();
            let count = sim.context().eval(contacts).unwrap().point_pairs().len();
            let q = plant.positions(sim.context()).unwrap();
            (q, count)
        })
    };
    let (one, count) = run(1);
    assert!(count > 1000, "{count}");
    for threads in [2, 3] {
        assert!(run(threads) == (one.clone(), count), "{threads} threads");
    }
}

/// Velocities after a step, as functions of positions and velocities.
fn step<T: Scalar>(
    diagram: &Diagram<T>,
    plant: &MultibodyPlantPorts<T>,
    q: &[T],
    v: &[T],
) -> Vec<T> {
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, q).unwrap();
    plant.set_velocities(&mut context, v).unwrap();
    let mut sim = Simulator::new(diagram, context).unwrap();
    sim.advance_to(1e-3).unwrap();
    plant.velocities(sim.context()).unwrap()
}

/// Derivatives of a step before surfaces meet, through the distance, the contact point and the
/// normal, agree with central differences.
#[test]
fn derivatives_of_a_step_before_overlap_match_differences() {
    let joints = "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>
      <joint type='hinge' axis='0 1 0'/>";
    for (fixed, moving) in [
        ("type='plane' size='5 5 1'", "size='.1'"),
        ("type='plane' size='5 5 1'", "type='capsule' size='.1 .05'"),
        ("type='sphere' size='.1' pos='.03 0 -.1'", "size='.1'"),
        (
            "type='box' size='.2 .2 .1' pos='0 0 -.1'",
            "type='capsule' size='.1 .05'",
        ),
        (
            "type='sphere' size='.1' pos='.03 0 -.1'",
            "type='box' size='.1 .1 .1'",
        ),
    ] {
        let text = format!(
            "<mujoco model='m'><default><geom margin='.03' gap='.01'/></default><worldbody>
               <geom {fixed}/><body>{joints}<geom mass='2' {moving}/></body></worldbody></mujoco>"
        );
        let (diagram, plant) = diagram(&text, 1e-3);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let ports = dual.ports(&plant).unwrap();
        let capsule = moving.contains("capsule");
        let x = [
            0.0,
            if capsule { 0.165 } else { 0.115 },
            0.05,
            0.3,
            -0.2,
            0.4,
        ];
        let next = |x: &[f64]| step(&diagram, &plant, &x[..3], &x[3..]);
        let lifted: Vec<AutoDiff> = (0..6).map(|k| AutoDiff::variable(x[k], k)).collect();
        let found = step(&dual, &ports, &lifted[..3], &lifted[3..]);
        // The contact acts.
        let v = next(&x);
        assert!(v[1] > x[4] - G * 1e-3 + 1e-6, "{fixed}, {moving}: {v:?}");
        for j in 0..6 {
            let at = |h: f64| {
                let mut x = x;
                x[j] += h;
                next(&x)
            };
            let h = 1e-7;
            for (i, (above, below)) in at(h).iter().zip(at(-h)).enumerate() {
                let difference = (above - below) / (2.0 * h);
                let error = (found[i].eps[j] - difference).abs() / (1.0 + difference.abs());
                assert!(
                    error < 1e-5,
                    "{fixed}, {moving}, {i} {j}: {} and {difference}",
                    found[i].eps[j]
                );
            }
        }
    }
}

/// A ball that rests in the air falls asleep with its force, and another that comes within the
/// margin wakes it.
#[test]
fn bodies_sleep_within_margins_until_others_come_near() {
    let text = "<mujoco model='m'><worldbody><geom type='plane' size='5 5 1'/>
      <body pos='0 0 .12'><joint type='slide'/><geom size='.1' mass='2' margin='.02'/></body>
      <body pos='0 0 2'><joint type='slide'/><geom size='.1' mass='2'/></body>
      </worldbody></mujoco>";
    let mut loaded = read(text, 1e-3);
    let settings = Some(SleepSettings::default());
    loaded.plant.set_contact_model(ContactModel::Point);
    loaded.plant.set_sleep_settings(settings).unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, loaded.plant, loaded.scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    // It reaches the margin of the one below, 1.66 m away, after 1.01 s.
    let rise = [0.0, 3.3];
    plant.set_velocities(&mut context, rise).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(0.9).unwrap();
    assert_eq!(plant.velocities(sim.context()).unwrap()[0], 0.0);
    let port = plant.contact_results().unwrap();
    let contacts = sim.context().eval(port).unwrap();
    let [contact] = contacts.point_pairs() else {
        panic!("{contacts:?}");
    };
    assert!(contact.point_pair.depth < -0.019, "{contact:?}");
    let weight = contact.contact_force.norm();
    assert!((weight - 2.0 * G).abs() < 1e-3, "{weight}");
    let mut step = 900;
    while plant.velocities(sim.context()).unwrap()[0] == 0.0 {
        step += 1;
        assert!(step < 2000);
        sim.advance_to(1e-3 * f64::from(step)).unwrap();
    }
    let q = plant.positions(sim.context()).unwrap();
    let distance = 1.88 + q[1] - q[0] - 0.2;
    assert!(distance > 0.0 && distance < 0.02, "{distance}");
}

/// A margin elsewhere changes no bit of a motion.
#[test]
fn margins_of_other_geometry_change_nothing() {
    let text = |own: &str| {
        let ball = "<freejoint/><geom size='.1' mass='2'/>";
        format!(
            "<mujoco model='m'><worldbody><geom type='plane' size='5 5 1'/>
               <body pos='0 0 .11'>{ball}</body><body pos='.05 .05 .32'>{ball}</body>
               <body pos='9 9 9'><freejoint/><geom size='.1' mass='2' {own}/></body>
             </worldbody></mujoco>"
        )
    };
    let run = |own: &str| {
        let (diagram, plant) = diagram_with(&text(own), 1e-3, ContactModel::PointManifold);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.3).unwrap();
        plant.positions(sim.context()).unwrap()
    };
    let usual = run("");
    assert_eq!(usual, run("margin='.3' gap='.1'"));
    assert_eq!(usual, run("gap='.1'"));
}

/// A plant with a floor and a ball whose surfaces are 1 cm apart.
struct Floor {
    plant: MultibodyPlantBuilder,
    scene: SceneGraph,
    ids: [GeometryId; 2],
}

fn properties(contact: Option<MujocoContact>) -> ProximityProperties {
    let friction = CoulombFriction::new(0.5, 0.5).unwrap();
    let mut properties = ProximityProperties::new().with_friction(friction);
    if let Some(contact) = contact {
        properties
            .add("material", "mujoco_contact", contact)
            .unwrap();
    }
    properties
}

fn floor(of_floor: ProximityProperties, of_ball: ProximityProperties) -> Floor {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let mut scene = SceneGraph::new();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let inertia = SpatialInertia::plausible(1.0, Vector3::zeros()).unwrap();
    let instance = ModelInstanceIndex::DEFAULT;
    let ball = plant.add_rigid_body("ball", instance, inertia).unwrap();
    let slide = Joint::prismatic("z", BodyIndex::WORLD, ball, Vector3::z()).unwrap();
    plant.add_joint(slide).unwrap();
    let (world, below) = (BodyIndex::WORLD, Isometry3::translation(0.0, 0.0, -0.61));
    let block = BoxShape::new(4.0, 4.0, 1.0).unwrap();
    let floor = plant
        .register_collision_geometry(&mut scene, world, below, block, "floor", of_floor)
        .unwrap();
    let (x, shape) = (Isometry3::identity(), Sphere::new(0.1).unwrap());
    let ball = plant
        .register_collision_geometry(&mut scene, ball, x, shape, "ball", of_ball)
        .unwrap();
    let ids = [floor, ball];
    Floor { plant, scene, ids }
}

impl Floor {
    /// Returns true if the ball is not in free fall.
    fn acts(mut self, model: ContactModel) -> Result<bool> {
        self.plant.set_contact_model(model);
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, self.plant, self.scene)?;
        let diagram = b.build()?;
        let mut sim = Simulator::new(&diagram, diagram.default_context())?;
        sim.advance_to(1e-3)?;
        Ok(plant.velocities(sim.context())?[0] > -0.5 * G * 1e-3)
    }
}

/// Margins act between geometry of programs, also next to geometry without them, where contact is
/// at points; contact on surfaces has none.
#[test]
fn margins_act_in_all_models_of_contact_at_points() {
    let wide = MujocoContact {
        margin: 0.02,
        ..MujocoContact::default()
    };
    let rigid = || properties(None).with_rigid_hydroelastic();
    let soft = |contact| {
        let soft = properties(contact).with_compliant_hydroelastic(1e6);
        soft.and_then(|p| p.with_resolution_hint(0.1)).unwrap()
    };
    let fallback = ContactModel::HydroelasticWithFallback;
    let models = [ContactModel::Point, ContactModel::PointManifold, fallback];
    for model in models {
        let with = |contact| {
            floor(properties(None), properties(contact))
                .acts(model)
                .unwrap()
        };
        assert!(with(Some(wide)), "{model:?}");
        assert!(
            !with(Some(MujocoContact::default())) && !with(None),
            "{model:?}"
        );
    }
    let surfaces = || floor(rigid(), soft(Some(wide)));
    assert!(!surfaces().acts(fallback).unwrap());
    assert!(!surfaces().acts(ContactModel::Hydroelastic).unwrap());
    assert!(surfaces().acts(ContactModel::Point).unwrap());
}

#[test]
fn pairs_of_programs_have_margins() {
    let acts = |margin: Option<f64>, gap: Option<f64>| {
        let mut floor = floor(properties(None), properties(None));
        let [a, b] = floor.ids;
        let own = ContactPairProperties {
            margin,
            gap,
            ..ContactPairProperties::default()
        };
        floor.plant.add_contact_pair(a, b, own)?;
        floor.acts(ContactModel::Point)
    };
    assert!(acts(Some(0.02), None).unwrap());
    assert!(!acts(Some(0.02), Some(0.015)).unwrap());
    assert!(!acts(None, Some(0.015)).unwrap() && !acts(None, None).unwrap());
    for (margin, gap, words) in [
        (Some(f64::NAN), None, "margin must be finite, got NaN m"),
        (None, Some(f64::INFINITY), "gap must be finite, got inf m"),
    ] {
        let error = acts(margin, gap).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    for (margin, gap) in [(f64::NAN, 0.0), (0.0, f64::INFINITY)] {
        let wrong = MujocoContact {
            margin,
            gap,
            ..MujocoContact::default()
        };
        let plant = floor(
            properties(Some(MujocoContact::default())),
            properties(Some(wrong)),
        );
        // It overlaps the floor, so that it is looked at.
        let mut plant = plant;
        let x = Isometry3::identity();
        let (scene, world) = (&mut plant.scene, BodyIndex::WORLD);
        let ground = properties(Some(MujocoContact::default()));
        plant
            .plant
            .register_collision_geometry(scene, world, x, HalfSpace, "ground", ground)
            .unwrap();
        let error = plant.acts(ContactModel::Point).unwrap_err().to_string();
        assert!(
            error.contains("must be finite, got") && error.contains("'ball'"),
            "{error}"
        );
    }
}

/// The largest numbers are errors that name the bodies, or leave all positions finite.
#[test]
fn extreme_margins_are_errors_or_finite() {
    for own in [
        "margin='1e308' gap='-1e308'",
        "margin='1e300'",
        "gap='1e308'",
    ] {
        let text = super::two_balls(own, own, "");
        let (diagram, plant) = diagram_with(&text, 1e-3, ContactModel::Point);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        match sim.advance_to(0.002) {
            Ok(_) => {
                let q = plant.positions(sim.context()).unwrap();
                assert!(q.iter().all(|q| q.is_finite()), "{own}: {q:?}");
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("bodies 'm::a', 'm::b'"), "{message}");
            }
        }
    }
}
