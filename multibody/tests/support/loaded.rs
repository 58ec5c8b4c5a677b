//! A plant and its scene after parsing.

use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

pub(crate) struct Loaded {
    pub(crate) plant: MultibodyPlant,
    pub(crate) scene: SceneGraph,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) result: Result<Vec<ModelInstanceIndex>>,
}

pub(crate) fn load_with(
    parse: impl FnOnce(&mut Parser<'_>) -> Result<Vec<ModelInstanceIndex>>,
) -> Loaded {
    let mut plant = MultibodyPlant::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let result = parse(&mut parser);
    let diagnostics = parser.diagnostics().to_vec();
    Loaded {
        plant,
        scene,
        diagnostics,
        result,
    }
}
