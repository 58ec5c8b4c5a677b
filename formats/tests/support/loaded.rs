//! A plant and its scene after parsing.

use std::ops::Deref;
use tarragon_documents::{Diagnostic, Severity};
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

/// The plant is a builder at first, and a plant once built.
pub(crate) struct Loaded<P = MultibodyPlantBuilder> {
    pub(crate) plant: P,
    pub(crate) scene: SceneGraph,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) result: Result<Vec<ModelInstanceIndex>>,
}

pub(crate) fn load_with(
    parse: impl FnOnce(&mut Parser<'_>) -> Result<Vec<ModelInstanceIndex>>,
) -> Loaded {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
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

pub(crate) type Built = Loaded<MultibodyPlant>;

impl Loaded {
    /// Checks that the model loaded, and builds its plant.
    #[track_caller]
    pub(crate) fn ok(mut self) -> Built {
        self.result.as_ref().unwrap();
        Loaded {
            plant: self.plant.build_with_scene(&mut self.scene).unwrap(),
            scene: self.scene,
            diagnostics: self.diagnostics,
            result: self.result,
        }
    }
}

impl<P: Deref<Target = MultibodyModel>> Loaded<P> {
    /// Checks that there is one diagnostic, a warning with a place whose text contains `text`.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) {
        let said: Vec<String> = self.diagnostics.iter().map(|d| d.to_string()).collect();
        let [
            Diagnostic {
                severity,
                line,
                column,
                message,
                ..
            },
        ] = &*self.diagnostics
        else {
            panic!("there must be one diagnostic with '{text}', got {said:#?}");
        };
        assert_eq!(*severity, Severity::Warning, "{said:?}");
        assert!(*line > 0 && *column > 0, "{said:?}");
        assert!(message.contains(text), "'{text}' is not in: {message}");
    }
    /// Checks that there is no diagnostic.
    #[track_caller]
    pub(crate) fn says_nothing(&self) {
        let said: Vec<String> = self.diagnostics.iter().map(|d| d.to_string()).collect();
        assert!(
            said.is_empty(),
            "there must be no diagnostic, got {said:#?}"
        );
    }
}
