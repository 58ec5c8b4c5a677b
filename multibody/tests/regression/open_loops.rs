//! Loops of MJCF files that are open at the start.

use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{MultibodyPlant, Parser, add_multibody_plant_scene_graph};

/// Simulates a file in steps of 2 ms, MuJoCo's default, and returns the distance (m) of the sites
/// of its first constraint, and the velocities of its joints at the end.
fn state_after(text: &str, [first, second]: [&str; 2], end: f64) -> (f64, Vec<f64>) {
    let (mut plant, mut scene) = (MultibodyPlant::new(0.002).unwrap(), SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(text, "xml").unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(end).unwrap();
    let poses = sim.context().eval(plant.body_poses).unwrap();
    let system = plant.system();
    let at = |name: &str| -> nalgebra::Point3<f64> {
        let site = system.sites().iter().find(|s| s.name() == name).unwrap();
        let x_bs = site.pose_in_body();
        poses[site.body().index()] * nalgebra::Point3::from(x_bs.translation.vector)
    };
    let gap = (at(first) - at(second)).norm();
    (
        gap,
        system.velocities(&plant, sim.context()).unwrap().to_vec(),
    )
}

/// Returns the distance that [`state_after`] returns.
fn gap_after(text: &str, sites: [&str; 2], end: f64) -> f64 {
    state_after(text, sites, end).0
}

/// Crank 0.1 m, coupler 0.35 m, rocker 0.25 m, bases 0.4 m apart, all horizontal: the sites are 0.2
/// m apart, along the links, which cannot move that way at first. MuJoCo 3.3.7 closes the gap to
/// 1.25e-4 m within 2 s, which gravity keeps open; here the solution was not finite at 0.012 s.
#[test]
fn four_bar_linkage_closes_from_a_straight_start() {
    let text = r#"<mujoco model="m"><option timestep="0.002"/><worldbody>
      <body><joint axis="0 1 0" damping=".01"/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 0"
        contype="0" conaffinity="0"/>
        <body pos=".1 0 0"><joint axis="0 1 0" damping=".01"/><geom type="capsule" size=".01"
          fromto="0 0 0 .35 0 0" contype="0" conaffinity="0"/><site name="p" pos=".35 0 0"/></body></body>
      <body pos=".4 0 0"><joint axis="0 1 0" damping=".01"/><geom type="capsule" size=".01"
        fromto="0 0 0 .25 0 0" contype="0" conaffinity="0"/><site name="q" pos=".25 0 0"/></body>
    </worldbody><equality><connect site1="p" site2="q"/></equality></mujoco>"#;
    let gap = gap_after(text, ["p", "q"], 2.0);
    assert!((gap - 1.25e-4).abs() < 0.1e-4, "{gap} m");
    // The fastest link has 60 rad/s on the way in MuJoCo; here it had 807.
    for step in 1..40 {
        let (_, speeds) = state_after(text, ["p", "q"], 0.002 * f64::from(step));
        assert!(
            speeds.iter().all(|v| v.abs() < 80.0),
            "step {step}: {speeds:?}"
        );
    }
}

/// Two links of 0.1 and 0.05 m cannot reach a site that is 0.36 m away: they stretch towards it,
/// and are at rest after 0.2 s in MuJoCo 3.3.7. Here they turned with 460 rad/s after 6 s.
#[test]
fn links_that_cannot_reach_a_site_come_to_rest() {
    let text = r#"<mujoco model="m"><worldbody><body><joint axis="0 1 0" damping=".05"/>
        <geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" contype="0" conaffinity="0"/>
        <body pos=".1 0 0"><joint axis="0 1 0" damping=".05"/>
          <geom type="capsule" size=".01" fromto="0 0 0 .05 0 0" contype="0" conaffinity="0"/>
          <site name="p" pos=".05 0 0"/></body></body>
      <site name="q" pos=".3 0 .2"/></worldbody>
      <equality><connect site1="p" site2="q"/></equality></mujoco>"#;
    let (gap, speeds) = state_after(text, ["p", "q"], 2.0);
    let nearest = 0.3_f64.hypot(0.2) - 0.15;
    // Gravity keeps the links below the straight line by 0.001 rad.
    assert!((gap - nearest).abs() < 1e-4, "{gap} m, not {nearest}");
    assert!(speeds.iter().all(|v| v.abs() < 1e-3), "{speeds:?}");
}

/// A weld whose frames are far apart at the start closes, too.
#[test]
fn weld_of_distant_frames_closes() {
    let text = r#"<mujoco model="m"><option gravity="0 0 0"/><worldbody>
      <body><freejoint/><geom size=".05"/><site name="p"/></body>
      <body pos="1 1 0" euler="0 90 120"><freejoint/><geom size=".05"/><site name="q"/></body>
    </worldbody><equality><weld site1="p" site2="q"/></equality></mujoco>"#
        .replace(
            "size=\".05\"",
            "size=\".05\" contype=\"0\" conaffinity=\"0\"",
        );
    // It takes 0.04 s to close by a factor e, the time of MuJoCo's default `solref`.
    let on_the_way = gap_after(&text, ["p", "q"], 0.04);
    assert!((0.3..0.8).contains(&on_the_way), "{on_the_way} m");
    let gap = gap_after(&text, ["p", "q"], 1.0);
    assert!(gap < 1e-6, "{gap} m");
}
