//! Depth of soft contact in MJCF files.

use super::load_mjcf;
use tarragon_formats::Parser;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{ContactModel, MultibodyPlantBuilder, add_multibody_plant_scene_graph};

/// `solimp`, `solref`, other attributes of both geoms, attributes of `<option>`, and the depth (m)
/// at rest in MuJoCo 3.3.7 of a ball of 1 kg and radius 0.1 m on a plane, after 6 s in steps of
/// 2 ms.
#[rustfmt::skip]
const DEPTHS: [(&str, &str, &str, &str, f64); 23] = [
    (".9 .95 .001", "0.02 1", "", "", 3.671818425e-04),
    (".9 .95 .001", "-1000 -50", "", "", 6.371762169e-04),
    (".9 .95 .001", "0.05 0.7", "", "", 7.125210798e-04),
    (".5 .95 .001", "0.02 1", "", "", 6.808830041e-04),
    (".5 .95 .001", "-1000 -50", "", "", 8.213182065e-04),
    (".5 .95 .001", "0.05 0.7", "", "", 8.565377072e-04),
    (".1 .9 .02", "0.02 1", "", "", 9.214691542e-03),
    (".1 .9 .02", "-1000 -50", "", "", 1.084485046e-02),
    (".1 .9 .02", "0.05 0.7", "", "", 1.124408873e-02),
    (".015 1 .023", "0.02 1", "", "", 1.078454470e-02),
    (".015 1 .023", "-1000 -50", "", "", 1.236057616e-02),
    (".015 1 .023", "0.05 0.7", "", "", 1.274098466e-02),
    (".5 .95 .001 .3 3", "0.02 1", "", "", 5.691139658683952e-04),
    (".95 .5 .001", "0.02 1", "", "", 5.801045585838993e-05),
    // Without a width, the mean of both impedances acts.
    (".5 .95 0", "0.02 1", "", "", 1.852818549345922e-03),
    // A pyramidal cone is stiffer where friction is low.
    (".9 .95 .001", "0.02 1", "friction='.5'", "", 6.792933327e-05),
    (".9 .95 .001", "0.02 1", "friction='2'", "", 1.962000000e-03),
    (".9 .95 .001", "0.02 1", "condim='1'", "", 3.671818425e-04),
    (".9 .95 .001", "0.02 1", "condim='4'", "", 2.665417595e-04),
    (".9 .95 .001", "0.02 1", "condim='6' friction='.8'", "", 9.085501398e-05),
    (".9 .95 .001", "0.02 1", "friction='.5'", "impratio='4'", 1.707247533e-05),
    (".9 .95 .001", "0.02 1", "friction='.5'", "cone='elliptic'", 3.671818425e-04),
    (".9 .95 .001", "0.02 1", "friction='.5'", "cone='elliptic' impratio='4'", 3.671818425e-04),
];

/// A wheel turns about its center of mass, which no force moves: contact with it was an error,
/// because its effective mass is infinite.
#[test]
fn wheel_on_a_fixed_axle_can_be_touched() {
    let model = load_mjcf(
        "<mujoco model='m'><worldbody><geom type='plane' size='1 1 1'/>
           <body pos='0 0 .099'><joint axis='0 1 0'/>
             <geom type='sphere' size='.1' mass='1'/></body></worldbody></mujoco>",
    );
    let mut b = DiagramBuilder::new();
    let (plant, scene) = (model.plant, model.scene);
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.01).unwrap();
    let port = plant.contact_results().unwrap();
    let contacts = sim.context().eval(port).unwrap();
    let force = contacts.point_pairs()[0].contact_force.z.abs();
    assert!(force > 0.0 && force.is_finite(), "{force}");
}

/// Only the first number of `solimp` acted: the third ball sank by 286 mm, the tenth by 18 m.
#[test]
fn impedance_depends_on_the_depth_as_in_mujoco() {
    for (solimp, solref, others, options, depth) in DEPTHS {
        let contact = format!("solimp='{solimp}' solref='{solref}' {others}");
        let mut model = load_mjcf(&format!(
            "<mujoco model='m'><option timestep='.002' {options}/><worldbody>
               <geom type='plane' size='1 1 1' {contact}/>
               <body name='ball' pos='0 0 .1'><freejoint/><geom size='.1' mass='1' {contact}/></body>
             </worldbody></mujoco>"
        ));
        model
            .diagnostics
            .retain(|d| !d.message.contains("acts as condim=3"));
        model.says_nothing();
        let text = format!(
            "<mujoco model='m'><option {options}/><worldbody>
               <geom type='plane' size='1 1 1' {contact}/>
               <body name='ball' pos='0 0 .1'><freejoint/><geom size='.1' mass='1' {contact}/></body>
             </worldbody></mujoco>"
        );
        let [(position, velocity)] = motion(&text, 0.002, [6.0]);
        // It comes to rest: what is left of its motion moves it by less than this.
        assert!(
            velocity[2].abs() < 1e-6,
            "{contact} {options}: {velocity:?} m/s"
        );
        let found = 0.1 - position[2];
        let error = found / depth - 1.0;
        assert!(
            error.abs() < 1e-4,
            "{contact} {options}: {found} m, not {depth}"
        );
    }
}

/// A pyramid without friction is nearly rigid: MuJoCo 3.3.7 has a depth of 2e-14 m. Here the ball
/// was 4e-4 m deep, as with an elliptic cone.
#[test]
fn pyramidal_contact_without_friction_is_stiff() {
    let text = "<mujoco model='m'><worldbody><geom type='plane' size='1 1 1' friction='0'/>
         <body pos='0 0 .1'><freejoint/><geom size='.1' mass='1' friction='0'/></body>
       </worldbody></mujoco>";
    let [(position, _)] = motion(text, 0.002, [1.0]);
    assert!((0.1 - position[2]).abs() < 1e-6, "{position:?}");
}

/// Depths (m) of a ball, and how far a box has slid (m), after 10, 20, 30, 50 and 100 ms, in MuJoCo
/// 3.3.7 in steps of 1 ms. Both have a mass of 1 kg and start 0.8 mm deep, eight times deeper than
/// the ball rests; gravity pushes the box sideways with 3 m/s^2.
const RECOVERY: [[f64; 5]; 2] = [
    [0.5764e-3, 0.3427e-3, 0.2092e-3, 0.1097e-3, 0.0803e-3],
    [0.0035e-3, 0.0100e-3, 0.0181e-3, 0.0340e-3, 0.0704e-3],
];

/// The damping at rest used to act at all depths, and the ball was still 0.45 mm deep at the end.
/// There was no friction on the way either, so the feet of a robot dog slid away.
#[test]
fn deep_contact_recovers_about_as_fast_as_in_mujoco() {
    let contact = "solref='.01 1' solimp='.9 .95 .001' friction='.9'";
    let text = |shape: &str, sideways: f64| {
        format!(
            "<mujoco model='m'><option gravity='{sideways} 0 -9.81'/><worldbody>
               <geom type='plane' size='1 1 1' {contact}/>
               <body pos='0 0 .0992'><freejoint/><geom {shape} mass='1' {contact}/></body>
             </worldbody></mujoco>"
        )
    };
    let times = [0.01, 0.02, 0.03, 0.05, 0.1];
    let [depths, ways] = RECOVERY;
    // In continuous time, the force is the static force at the current depth. MuJoCo's force also
    // depends on the acceleration without contact, so depths differ by up to a tenth of the initial
    // depth. The numbers of MuJoCo are rounded to 0.1 um.
    for (time_step, tolerance) in [(0.0, 0.1 * 0.8e-3), (0.001, 1e-7)] {
        let ball = motion(&text("size='.1'", 0.0), time_step, times);
        for ((position, _), depth) in ball.iter().zip(depths) {
            let found = 0.1 - position[2];
            assert!((found - depth).abs() < tolerance, "{found} m, not {depth}");
        }
    }
    // Here, the pyramidal cone differs from an elliptic one.
    let slid = motion(&text("type='box' size='.1 .1 .1'", 3.0), 0.001, times);
    for ((position, _), way) in slid.iter().zip(ways) {
        let found = position[0];
        assert!(
            (found - way).abs() < 0.1 * way + 1e-6,
            "{found} m, not {way}"
        );
    }
}

/// Way (m) and speed (m/s) along x after 0.01, 0.1 and 0.3 s in MuJoCo 3.3.7 of a box of 2 kg that
/// starts at its depth at rest with 2 m/s, in steps of 2 ms, by friction and cone.
#[rustfmt::skip]
const SLIDES: [(f64, &str, [[f64; 2]; 3]); 3] = [
    (0.05, "pyramidal", [[0.0199649380, 1.996130546], [0.1974915372, 1.949477295], [0.5777736222, 1.853389345]]),
    (0.05, "elliptic", [[0.0199657817, 1.996222321], [0.1974943566, 1.950137178], [0.5777761962, 1.853698462]]),
    (0.3, "elliptic", [[0.0196086654, 1.960866536], [0.1849708210, 1.681398720], [0.4665339373, 1.110968071]]),
];

/// The box lost a third of its speed in 10 ms and reversed: friction followed an estimate of the
/// last step's force, which was several times too large.
#[test]
fn boxes_slide_as_far_as_in_mujoco() {
    for (friction, cone, expected) in SLIDES {
        let text = format!(
            "<mujoco model='m'><option cone='{cone}'/><default><geom friction='{friction}'/></default>
               <worldbody><geom type='plane' size='40 4 1'/><body pos='0 0 .0999'><freejoint/>
               <geom type='box' size='.1 .1 .1' mass='2'/></body></worldbody></mujoco>"
        );
        let found = motion_from(2.0, &text, 0.002, [0.01, 0.1, 0.3]);
        for ((position, velocity), [way, speed]) in found.iter().zip(expected) {
            // Rounding grows while the box hops.
            let error = (position[0] - way).abs().max((velocity[0] - speed).abs());
            assert!(
                error < 1e-4,
                "{friction} {cone}: {position:?} {velocity:?}, not {way}, {speed}"
            );
        }
    }
}

/// Heights (m) after 0.3, 0.4 and 0.6 s in MuJoCo 3.3.7 of a ball that falls from 0.5 m.
const BOUNCES: [(&str, [f64; 3]); 3] = [
    ("-2000 -5", [0.06142788997, 0.1962054066, 0.3825745566]),
    (".02 .1", [0.08504444258, 0.1198557149, 0.0998682372]),
    (".02 1", [0.08043210407, 0.0987869787, 0.0996328144]),
];

/// The first ball rebounded to 0.15 m, because its contact was `1 / (1 - d)` times too stiff for
/// its damping.
#[test]
fn balls_bounce_as_high_as_in_mujoco() {
    for (solref, expected) in BOUNCES {
        let text = format!(
            "<mujoco model='m'><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 .5'>
               <freejoint/><geom size='.1' solref='{solref}' mass='1'/></body></worldbody></mujoco>"
        );
        let found = motion(&text, 0.002, [0.3, 0.4, 0.6]);
        for ((position, _), height) in found.iter().zip(expected) {
            let error = (position[2] - height).abs();
            assert!(error < 1e-8, "{solref}: {position:?}, not {height}");
        }
    }
}

/// Speeds (m/s) in MuJoCo 3.3.7 at which a box that sticks creeps down a slope.
#[test]
fn contact_that_sticks_creeps_as_in_mujoco_or_not_at_all() {
    for (option, speed) in [
        ("", 1.566_082_754e-3),
        ("cone='elliptic'", 7.830_413_772e-4),
        ("cone='elliptic' impratio='10'", 7.830_413_772e-5),
        ("noslip_iterations='3'", 0.0),
    ] {
        let text = format!(
            "<mujoco model='m'><option gravity='3 0 -9' {option}/><worldbody>
               <geom type='plane' size='5 5 1'/><body pos='0 0 .0999'><freejoint/>
               <geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>"
        );
        let [(_, velocity)] = motion(&text, 0.002, [1.0]);
        // Friction is hardened in place of MuJoCo's iterations, which leaves a thousandth of the
        // creep.
        let error = (velocity[0] - speed).abs();
        assert!(error < 2e-6, "{option}: {velocity:?}, not {speed}");
    }
}

/// Returns position (m) and velocity (m/s) of the body of a model at several times, in time steps
/// of a length (s).
fn motion<const N: usize>(
    text: &str,
    time_step: f64,
    times: [f64; N],
) -> [([f64; 3], [f64; 3]); N] {
    motion_from(0.0, text, time_step, times)
}

/// Returns the same of a body that starts at a speed along x (m/s).
fn motion_from<const N: usize>(
    speed: f64,
    text: &str,
    time_step: f64,
    times: [f64; N],
) -> [([f64; 3], [f64; 3]); N] {
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(text, "xml").unwrap();
    let manifold = ContactModel::PointManifold;
    plant.set_contact_model(manifold);
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let start = [0.0, 0.0, 0.0, speed, 0.0, 0.0];
    let context = sim.context_mut();
    plant.set_velocities(context, start).unwrap();
    times.map(|time| {
        sim.advance_to(time).unwrap();
        let q = plant.positions(sim.context()).unwrap();
        let v = plant.velocities(sim.context()).unwrap();
        ([q[4], q[5], q[6]], [v[3], v[4], v[5]])
    })
}
