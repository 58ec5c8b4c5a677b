//! Timestamps of messages to LCM viewers.
//!
//! Source of the right values: the times are `0.01 k` s, rounded to milliseconds for poses and to
//! microseconds for contacts. Drake cuts them.

use crate::drake_visualizer::{Heard, only};
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_lcm::types::{LcmtContactResultsForViz, LcmtViewerDraw};
use tarragon_multibody::{MultibodyPlantBuilder, add_multibody_plant_scene_graph};
use tarragon_visualization::{
    DrakeVisualizer, DrakeVisualizerParams, connect_contact_results_to_drake_visualizer,
};

/// At 2.05 s, contacts had the time 2 049 999 us.
#[test]
fn draw_messages_and_contacts_have_rounded_times() {
    let heard = Heard::new();
    let (mut scene, mut plant) = (
        SceneGraph::new(),
        MultibodyPlantBuilder::new(0.001).unwrap(),
    );
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let lcm = Some(heard.lcm.clone());
    connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm.clone(), None).unwrap();
    let params = DrakeVisualizerParams::default();
    DrakeVisualizer::add_to_builder(&mut b, scene.query, lcm, params).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    for k in 0..=1000 {
        ctx.set_time(k as f64 * 0.01);
        ctx.force_publish().unwrap();
        let messages = heard.take();
        let draw: LcmtViewerDraw = only(&messages, "DRAKE_VIEWER_DRAW");
        let contacts: LcmtContactResultsForViz = only(&messages, "CONTACT_RESULTS");
        assert_eq!((draw.timestamp, contacts.timestamp), (10 * k, 10_000 * k));
    }
    ctx.set_time(f64::NAN);
    let error = ctx.force_publish().unwrap_err().to_string();
    assert!(error.contains("got NaN"), "{error}");
}
