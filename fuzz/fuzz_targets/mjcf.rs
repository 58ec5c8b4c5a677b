//! Any text is a model or an error, and a model can be finalized or says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{MultibodyPlant, Parser};

fuzz_target!(|text: &str| {
    let mut plant = MultibodyPlant::new(0.001).expect("a positive time step");
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    if parser.add_models_from_string(text, "xml").is_ok() {
        let _ = plant.finalize_with(&mut scene);
    } else {
        assert_eq!(
            plant.num_bodies(),
            1,
            "a failed parse leaves only the world"
        );
    }
});
