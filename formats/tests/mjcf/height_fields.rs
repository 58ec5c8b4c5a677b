//! Bodies on height fields. Numbers without a closed form are those of MuJoCo 3.3.7.

use super::read;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::Shape;
use tarragon_multibody::*;

const MODELS: [ContactModel; 3] = [
    ContactModel::Point,
    ContactModel::PointManifold,
    ContactModel::HydroelasticWithFallback,
];

fn diagram(text: &str, contact: ContactModel) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let mut loaded = read(text, 1e-3);
    loaded.result.as_ref().unwrap();
    assert_eq!(loaded.warnings(), [""; 0]);
    loaded.plant.set_contact_model(contact);
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, loaded.plant, loaded.scene).unwrap();
    (b.build().unwrap(), plant)
}

/// Returns the pose of the body 'b' at some times (s), and the largest speed at the end.
fn motion(text: &str, contact: ContactModel, times: &[f64]) -> (Vec<Isometry3<f64>>, f64) {
    let (diagram, plant) = diagram(text, contact);
    let body = plant.body_by_name("b").unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut poses = vec![];
    for t in times {
        sim.advance_to(*t).unwrap();
        poses.push(sim.context().eval(plant.body_poses).unwrap()[body.index()]);
    }
    let v = plant.velocities(sim.context()).unwrap();
    (poses, v.iter().fold(0.0_f64, |m, v| m.max(v.abs())))
}

/// The pit of the issue: four slopes of one cell each, of which two planes z = |x + y| are nearest
/// to its axis. A rigid ball of radius r rests at r sqrt(3) = 0.0866 m.
#[test]
fn ball_in_a_pit_rests_on_its_sides() {
    let text = "<mujoco model='m'><asset><hfield name='pit' nrow='3' ncol='3' size='1 1 1 0.1' \
                elevation='1 1 1  1 0 1  1 1 1'/></asset><worldbody>\
                <geom type='hfield' hfield='pit'/>\
                <body name='b' pos='0 0 0.3'><freejoint/><geom size='0.05'/></body>\
                </worldbody></mujoco>";
    for contact in MODELS {
        let (poses, speed) = motion(text, contact, &[3.0]);
        let p = poses[0].translation.vector;
        eprintln!("{contact:?}: z = {}, speed {speed}", p.z);
        assert!((p.z - 0.086).abs() < 2e-3, "{contact:?} {p}");
        assert!(p.xy().norm() < 1e-4, "{contact:?} {p}");
        assert!(speed < 0.02, "{contact:?} {speed}");
    }
    // Off the middle, it rolls there.
    let aside = text.replace("pos='0 0 0.3'", "pos='0.2 0.1 0.5'");
    let (poses, _) = motion(&aside, ContactModel::PointManifold, &[8.0]);
    let p = poses[0].translation.vector;
    assert!((p.z - 0.0866).abs() < 5e-3, "{p}");
}

/// A ball in terrain of 9 x 9 points and a box on three hills, dropped from some height, come to
/// rest where MuJoCo has them at rest. With one point at a time, the box would rock from hill to
/// hill.
#[test]
fn bodies_come_to_rest_where_they_do_in_mujoco() {
    let terrain: Vec<f64> = (0..81)
        .map(|k: u32| f64::from((k * 38 + (k / 9).pow(2) * 7) % 65) / 64.0)
        .collect();
    let mut hills = vec![0.0; 81];
    (hills[2 * 9 + 2], hills[2 * 9 + 6], hills[6 * 9 + 4]) = (1.0, 0.5, 0.75);
    for (heights, top, time, body, p, up) in [
        (
            terrain,
            0.3,
            // Until 10 s, the ball rolls to and fro between two slopes.
            16.0,
            "pos='-.4 .3 .5'><freejoint/><geom size='.08'/>",
            Vector3::new(-0.4658, 0.2943, 0.1578),
            None,
        ),
        (
            hills,
            0.1,
            // The box creeps down, as in MuJoCo, but faster, because it has fewer contact points.
            4.0,
            "pos='0 0 .2'><freejoint/><geom type='box' size='.7 .7 .05'/>",
            Vector3::new(0.003, 0.0, 0.1249),
            Some(Vector3::new(0.04994, 0.0, 0.99875)),
        ),
    ] {
        // The attribute starts at the largest y.
        let rows: Vec<_> = heights
            .chunks(9)
            .rev()
            .flatten()
            .map(f64::to_string)
            .collect();
        let text = format!(
            "<mujoco model='m'><asset><hfield name='h' nrow='9' ncol='9' size='1 1 {top} .2' \
             elevation='{}'/></asset><worldbody><geom type='hfield' hfield='h'/><body name='b' \
             {body}</body></worldbody></mujoco>",
            rows.join(" ")
        );
        for contact in [ContactModel::Point, ContactModel::PointManifold] {
            let (poses, speed) = motion(&text, contact, &[time]);
            let off = poses[0].translation.vector - p;
            assert!(off.amax() < 4e-3 && off.z.abs() < 1e-3, "{contact:?} {off}");
            assert!(speed < 1e-3, "{contact:?} {speed}");
            if let Some(up) = up {
                let off = poses[0].rotation * Vector3::z() - up;
                assert!(off.norm() < 2e-3, "{contact:?} {off}");
            }
        }
    }
}

fn ground(is_field: bool) -> String {
    if !is_field {
        return "<worldbody><geom type='plane' size='5 5 1' friction='.1'/>".into();
    }
    "<asset><hfield name='flat' nrow='101' ncol='81' size='2 2.5 1 0.2'/></asset><worldbody>\
     <geom type='hfield' hfield='flat' friction='.1'/>"
        .into()
}

/// A flat field of many cells is a plane: nothing catches on the edges between its triangles. With
/// a pyramidal cone, contact of so little friction would be so stiff that rounding shows.
#[test]
fn bodies_on_a_flat_field_move_as_on_a_plane() {
    let box_ = "<geom type='box' size='.1 .07 .05' friction='.2'/>";
    let ball = "<geom size='.1' friction='.5'/>";
    let capsule = "<geom type='capsule' size='.05 .1' euler='0 90 0' friction='.5'/>";
    // Sliding, rolling, and rolling about its axis.
    let cases = [
        (box_, ".0499", "1.5 .4 0 0 0 0"),
        (ball, ".0999", ".6 .2 0 -2 6 0"),
        (capsule, ".0499", "0 .5 0 -10 0 0"),
    ];
    // On height fields, bodies have several points in both models.
    for contact in [ContactModel::PointManifold, ContactModel::Point] {
        for (geom, z, v) in cases {
            let run = |is_field: bool| {
                let contact = if is_field {
                    contact
                } else {
                    ContactModel::PointManifold
                };
                let text = format!(
                    "<mujoco model='m'><option cone='elliptic'/>{}\
                     <body name='b' pos='-.51 .013 {z}'><freejoint/>{geom}</body>\
                     </worldbody></mujoco>",
                    ground(is_field)
                );
                let (diagram, plant) = diagram(&text, contact);
                let mut context = diagram.default_context();
                let numbers: Vec<f64> = v.split(' ').map(|x| x.parse().unwrap()).collect();
                // MuJoCo has the linear velocity first.
                let v = [&numbers[3..], &numbers[..3]].concat();
                plant.set_velocities(&mut context, &v).unwrap();
                let body = plant.body_by_name("b").unwrap();
                let mut sim = Simulator::new(&diagram, context).unwrap();
                let mut poses = vec![];
                for k in 1..=10 {
                    sim.advance_to(0.1 * f64::from(k)).unwrap();
                    poses.push(sim.context().eval(plant.body_poses).unwrap()[body.index()]);
                }
                poses
            };
            let (on_field, on_plane) = (run(true), run(false));
            let start = Vector3::new(-0.51, 0.013, 0.05);
            let moved = (on_plane[9].translation.vector - start).norm();
            assert!(moved > 0.1, "{geom} {moved}");
            for (f, p) in on_field.iter().zip(&on_plane) {
                let off = (f.translation.vector - p.translation.vector).norm();
                let turned = f.rotation.angle_to(&p.rotation);
                assert!(
                    off < 1e-6 && turned < 1e-5,
                    "{contact:?} {geom}: {off} {turned}"
                );
            }
        }
    }
}

/// MuJoCo takes the mass of a box as high as the base and half of the elevation, at the origin of
/// the geom, whatever the heights.
#[test]
fn mass_of_a_height_field_is_that_of_a_box() {
    let text = "<mujoco model='m'><asset><hfield name='h' nrow='2' ncol='2' size='1 2 3 4' \
                elevation='0 1 0 0'/></asset><worldbody><body name='b'><freejoint/>\
                <geom type='hfield' hfield='h' pos='1 0 0'/></body></worldbody></mujoco>";
    let r = read(text, 1e-3).ok();
    let inertia = r.inertia("b");
    assert!((inertia.mass() - 44000.0).abs() < 1e-9);
    let com = inertia.center_of_mass();
    assert!((com - Vector3::x()).norm() < 1e-12, "{com}");
    // MuJoCo 3.3.7: body_inertia / body_mass.
    let arm = Vector3::new(0.0, 1.0, 1.0) * inertia.mass();
    let expected = Vector3::new(3.85416667, 2.85416667, 1.66666667);
    let off = (inertia.rotational_inertia().diagonal() - arm) / inertia.mass() - expected;
    assert!(off.norm() < 1e-7, "{off}");
}

/// All heights of a field of a million points, in MuJoCo's order.
#[test]
fn large_fields_keep_all_heights() {
    let n = 1024_u32;
    let mut bytes: Vec<u8> = [n, n].iter().flat_map(|n| n.to_le_bytes()).collect();
    let value = |r: u32, c: u32| (r * 31 + c * 17) % 101;
    for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
        bytes.extend((value(r, c) as f32).to_le_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.hf");
    std::fs::write(&file, bytes).unwrap();
    let text = format!(
        "<mujoco model='m'><asset><hfield name='h' file='{}' size='10 10 2 1'/></asset><worldbody>\
         <geom type='hfield' hfield='h'/></worldbody></mujoco>",
        file.display()
    );
    let start = std::time::Instant::now();
    let r = read(&text, 1e-3).ok();
    let geometry = r.plant.collision_geometries(BodyIndex::WORLD)[0];
    let Shape::HeightField(field) = r.scene.model_inspector().shape(geometry).unwrap() else {
        panic!("it is no height field");
    };
    eprintln!("1024 x 1024 heights in {:?}", start.elapsed());
    assert_eq!((field.rows(), field.columns()), (1024, 1024));
    assert_eq!(field.height_range(), (0.0, 2.0));
    for (r, c) in [(0, 0), (3, 1000), (1023, 5)] {
        let height = field.heights()[(r * n + c) as usize];
        assert!((height - 0.02 * f64::from(value(r, c))).abs() < 1e-12);
    }
}
