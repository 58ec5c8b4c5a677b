//! Which geoms of MJCF files collide.

use super::load_mjcf;
use crate::support::loaded::Built;

fn pairs(model: &Built) -> usize {
    model.scene.model_inspector().collision_candidates().len()
}

/// MuJoCo 3.3.7 has no contact between a and c, which overlap: b is welded to a.
#[test]
fn parent_and_child_are_filtered_across_welds() {
    let model = load_mjcf(
        r#"<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/><body name="b">
          <body name="c" pos="0 0 .15"><joint axis="0 1 0"/><geom size=".1" pos=".03 0 0"/></body>
        </body></body></worldbody></mujoco>"#,
    );
    assert_eq!(pairs(&model), 0);
}

/// MuJoCo 3.3.7: 1 contact. Children of what is fixed to the world collide with it.
#[test]
fn child_of_a_fixed_body_collides_with_it() {
    let model = load_mjcf(
        r#"<mujoco><worldbody><body name="a"><geom size=".1"/>
          <body name="c" pos="0 0 .15"><joint axis="0 1 0"/><geom size=".1" pos=".03 0 0"/></body>
        </body></worldbody></mujoco>"#,
    );
    assert_eq!(pairs(&model), 1);
}

/// MuJoCo 3.3.7 has no contact: a body with two joints is one body.
#[test]
fn child_with_several_joints_is_filtered_against_its_parent() {
    let model = load_mjcf(
        r#"<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/>
          <body name="c" pos="0 0 .15"><joint axis="0 1 0"/><joint axis="1 0 0"/>
            <geom size=".1" pos=".03 0 0"/></body>
        </body></worldbody></mujoco>"#,
    );
    assert_eq!(pairs(&model), 0);
}

/// A failed parse leaves no filter for the bodies that come after it.
#[test]
fn filters_of_a_failed_file_are_taken_back() {
    use tarragon_formats::Parser;
    use tarragon_geometry::SceneGraph;
    use tarragon_multibody::MultibodyPlantBuilder;
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let body = |inner: &str| {
        format!(
            "<body><joint/><geom size='.1'/><body><joint/><geom size='.1'/>{inner}</body></body>"
        )
    };
    let bad = format!(
        "<mujoco model='m'><worldbody>{}</worldbody></mujoco>",
        body("<geom size='-1'/>")
    );
    assert!(parser.add_models_from_string(&bad, "xml").is_err());
    let urdf = "<robot name='r'><link name='a'><collision><geometry><sphere radius='1'/></geometry>
      </collision></link><link name='b'><collision><geometry><sphere radius='1'/></geometry></collision>
      </link><joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint>
      <joint name='k' type='continuous'><parent link='a'/><child link='b'/></joint></robot>";
    parser.add_models_from_string(urdf, "urdf").unwrap();
    plant.build_with_scene(&mut scene).unwrap();
    // Drake filters the two bodies of a joint, also where one is fixed to the world.
    assert!(scene.model_inspector().collision_candidates().is_empty());
}
