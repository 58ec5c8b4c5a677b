//! Skins of models that are written and read back.

use super::FORMATS;
use crate::support::loaded::load_with;
use nalgebra::{DVector, Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_formats::*;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::*;
use tarragon_multibody::*;

const MODEL: &str = "<mujoco model='m'><deformable><skin name='s' inflate='0.125' \
    rgba='0.25 0.5 0.75 1' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 2 0 2 3'><bone body='a' \
    bindpos='0 0 1' bindquat='0.6 0.8 0 0' vertid='0 1 3' vertweight='1 2.5 1'/><bone \
    body='world' bindpos='0 0 0' bindquat='1 0 0 0' vertid='2' vertweight='3'/><bone body='b' \
    bindpos='0.1 0.2 0.3' bindquat='1 0 0 0' vertid='1 2' vertweight='0.5 1'/></skin>\
    </deformable><worldbody><body name='a'><joint axis='1 0 0'/><joint axis='0 1 0'/><geom \
    size='.1'/><body name='b' pos='1 0 0'><joint/><geom size='.1'/></body></body></worldbody>\
    </mujoco>";

/// Returns the vertices of the only skin, for some poses of the bodies by name.
fn vertices(plant: &MultibodyPlant, scene: &SceneGraph) -> DVector<f64> {
    let pose = |k: f64| {
        let turn = math::rpy(0.3 * k, -0.7 + k, 0.2 * k * k);
        math::pose(turn, Vector3::new(k, 1.0 - k, 0.5))
    };
    let placed = BTreeMap::from([("a", pose(1.0)), ("b", pose(2.0))]);
    let poses = plant.bodies().skip(1).map(|(index, body)| {
        let x_wb = placed.get(body.name()).copied();
        (
            plant.body_frame_id(index).unwrap(),
            x_wb.unwrap_or(Isometry3::identity()),
        )
    });
    let poses = FramePoseVector::from_iter(poses);
    let mut b = DiagramBuilder::new();
    let block = b.add("scene_graph", scene.clone());
    let mut ctx = b.build().unwrap().default_context();
    let port = block.source_pose_port(plant.source_id().unwrap()).unwrap();
    ctx.fix(port, poses).unwrap();
    let query = ctx.eval(block.query).unwrap();
    let skin = query.inspector().all_driven_geometry_ids().next().unwrap();
    let found = query.driven_mesh_configurations_in_world(skin, Role::Perception);
    found.unwrap().remove(0)
}

#[test]
fn skins_of_mjcf_are_read_back() {
    let read = |text: &str| {
        load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            p.add_models_from_string(text, "xml")
        })
        .ok()
    };
    let loaded = read(MODEL);
    loaded.says_nothing();
    let writer = ModelWriter::with_scene_graph(&loaded.plant, &loaded.scene);
    let written = writer.write(OutputFormat::Mjcf).unwrap();
    let again = read(&written.text);
    again.says_nothing();
    let (before, after) = (
        vertices(&loaded.plant, &loaded.scene),
        vertices(&again.plant, &again.scene),
    );
    assert!((&before - after).amax() < 1e-15, "{}", written.text);
    // The bones have moved the first vertex from the origin.
    assert!(before[0].abs() > 0.1);
    let inspector = again.scene.model_inspector();
    let skin = inspector.all_driven_geometry_ids().next().unwrap();
    assert_eq!(inspector.name(skin).unwrap(), "m::s");
    let properties = inspector
        .properties(skin, Role::Illustration)
        .unwrap()
        .unwrap();
    let color = properties.get::<Rgba>("phong", "diffuse").unwrap();
    assert_eq!(color.rgba(), [0.25, 0.5, 0.75, 1.0]);
    for (format, name) in FORMATS {
        let told = writer.write(format).unwrap().diagnostics;
        let told = told.iter().filter(|d| d.message.contains("skin 'm::s'"));
        assert_eq!(
            told.count(),
            usize::from(format != OutputFormat::Mjcf),
            "{name}"
        );
    }
}
