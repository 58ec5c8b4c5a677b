//! Loops of MJCF files that are open at the start.

use tarragon_formats::Parser;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{MultibodyPlantBuilder, add_multibody_plant_scene_graph};

/// Simulates a file in steps of 2 ms, MuJoCo's default, and returns for each time the distance (m)
/// of two sites and the velocities of the joints.
fn states(text: &str, [first, second]: [&str; 2], times: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.002).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(text, "xml").unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let state = |time: &f64| {
        sim.advance_to(*time).unwrap();
        let poses = sim.context().eval(plant.body_poses).unwrap();
        let at = |name: &str| -> nalgebra::Point3<f64> {
            let site = plant.sites().iter().find(|s| s.name() == name).unwrap();
            let x_bs = site.pose_in_body();
            poses[site.body().index()] * nalgebra::Point3::from(x_bs.translation.vector)
        };
        let gap = (at(first) - at(second)).norm();
        let speeds = plant.velocities(sim.context()).unwrap();
        (gap, speeds.to_vec())
    };
    times.iter().map(state).collect()
}

/// Returns what [`states`] returns for one time.
fn state_after(text: &str, sites: [&str; 2], end: f64) -> (f64, Vec<f64>) {
    states(text, sites, &[end]).remove(0)
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
    let times: Vec<f64> = (1..40).map(|step| 0.002 * f64::from(step)).collect();
    for (_, speeds) in states(text, ["p", "q"], &times) {
        assert!(speeds.iter().all(|v| v.abs() < 80.0), "{speeds:?}");
    }
}

/// The same with bases 5 cm apart in y, so that the links are nearly in line with the pull. The
/// speeds are MuJoCo 3.3.7's with its tolerance at 1e-14; an ordinary spring of the same stiffness
/// made them five times as fast.
#[test]
fn loop_closes_with_the_speeds_of_mujoco() {
    let text = r#"<mujoco model="m"><worldbody>
      <body><joint axis="0 0 1"/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 0"
        contype="0" conaffinity="0"/>
        <body pos=".1 0 0"><joint axis="0 0 1"/><geom type="capsule" size=".01"
          fromto="0 0 0 .35 0 0" contype="0" conaffinity="0"/><site name="p" pos=".35 0 0"/></body></body>
      <body pos=".4 .05 0"><joint axis="0 0 1"/><geom type="capsule" size=".01"
        fromto="0 0 0 .25 0 0" contype="0" conaffinity="0"/><site name="q" pos=".25 0 0"/></body>
    </worldbody><equality><connect site1="p" site2="q"/></equality></mujoco>"#;
    let expected = [
        [-0.4327622192114737, 0.9060952315908165, -0.5583783576294234],
        [1.035894249011557, -1.1615512738823828, -1.6262109032589702],
        [-2.203366705180372, -1.032438960125655, -8.798022556765783],
        [-19.857814568972195, -7.975015354492581, -52.24387252738872],
    ];
    let found = states(text, ["p", "q"], &[0.002, 0.004, 0.01, 0.02]);
    for ((_, speeds), expected) in found.iter().zip(expected) {
        for (speed, expected) in speeds.iter().zip(expected) {
            assert!(
                (speed - expected).abs() < 1e-3 * expected.abs(),
                "{found:?}"
            );
        }
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
