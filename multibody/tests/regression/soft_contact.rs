//! Depth of soft contact in MJCF files.

use super::load_mjcf;
use tarragon_framework::prelude::*;
use tarragon_multibody::{ContactModel, add_multibody_plant_scene_graph};

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
    let port = plant.dynamics().unwrap().contact_results;
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
        let (found, speed) = rest_height(&contact, options);
        // It comes to rest: what is left of its motion moves it by less than this.
        assert!(speed < 1e-6, "{contact} {options}: {speed} m/s");
        let error = (0.1 - found) / depth - 1.0;
        assert!(
            error.abs() < 1e-4,
            "{contact} {options}: {} m, not {depth}",
            0.1 - found
        );
    }
}

/// Returns height (m) and speed (m/s) of the ball after 6 s.
fn rest_height(contact: &str, options: &str) -> (f64, f64) {
    use tarragon_geometry::SceneGraph;
    use tarragon_multibody::{MultibodyPlant, Parser};
    let mut plant = MultibodyPlant::new(0.002).unwrap();
    let mut scene = SceneGraph::new();
    let text = format!(
        "<mujoco model='m'><option {options}/><worldbody>
           <geom type='plane' size='1 1 1' {contact}/>
           <body name='ball' pos='0 0 .1'><freejoint/><geom size='.1' mass='1' {contact}/></body>
         </worldbody></mujoco>"
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(&text, "xml").unwrap();
    plant.set_contact_model(ContactModel::Point).unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(6.0).unwrap();
    let system = plant.system();
    let q = system.positions(&plant, sim.context()).unwrap();
    let v = system.velocities(&plant, sim.context()).unwrap();
    (q[6], v[5].abs())
}
