//! Plants written as model files and read back.

mod compare;
mod files;
mod height_fields;
mod loads;
mod matching;
mod models;
mod numbers;
mod peers;
mod properties;
mod random;
mod skins;
mod tendons;
mod texts;

use compare::{Comparison, Model};
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

/// Formats, and their names for messages.
const FORMATS: [(OutputFormat, &str); 3] = [
    (OutputFormat::Urdf, "URDF"),
    (OutputFormat::Sdf, "SDFormat"),
    (OutputFormat::Mjcf, "MJCF"),
];

/// Outcome of writing a plant and reading it back.
enum RoundTrip {
    /// The copy is the same plant.
    Equal,
    /// The copy differs, and diagnostics say so.
    Told(Vec<String>),
    /// Something differs without a diagnostic, or the copy cannot be read.
    Wrong(Vec<String>),
}

/// Writes a plant and reads it back. Every difference must be told by a diagnostic that names its
/// subject.
fn round_trip(ours: &Model, format: OutputFormat) -> RoundTrip {
    // Files next to the model hold the meshes that the format cannot refer to.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("model.{}", format.suffix()));
    let writer = ModelWriter::with_scene_graph(&ours.plant, &ours.scene);
    let told: Vec<String> = match writer.save(&file) {
        Ok(told) => told.into_iter().map(|d| d.message).collect(),
        Err(e) => return RoundTrip::Wrong(vec![format!("cannot be written: {e}")]),
    };
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let read = parser.add_models(&file);
    let said: Vec<String> = parser.diagnostics().iter().map(|d| d.to_string()).collect();
    if read.is_err() {
        return RoundTrip::Wrong(said);
    }
    let plant = match plant.build_with_scene(&mut scene) {
        Ok(plant) => plant,
        // Without a joint, the other end of a chain may become its base, and joints with several
        // degrees of freedom lead the wrong way.
        Err(_) if told.iter().any(|t| t.contains("it no longer connects")) => {
            return RoundTrip::Told(told);
        }
        Err(e) => return RoundTrip::Wrong(vec![format!("cannot be built: {e}")]),
    };
    let again = Model { plant, scene };
    let differences = Comparison::new(ours, &again, format).differences;
    let is_told = |subject: &str| {
        let (quoted, first) = (format!("'{subject}'"), format!("{subject}:"));
        let names = |t: &String| t.contains(&quoted) || t.starts_with(&first);
        // The mass matrix follows from the inertias of bodies.
        let is_inertia = |t: &String| t.contains("is added to its moments of inertia");
        let follows = subject == "<mass matrix>" && told.iter().any(is_inertia);
        follows || told.iter().any(names)
    };
    let mut wrong: Vec<String> = differences
        .iter()
        .filter(|d| !d.subjects.iter().any(|s| is_told(s)))
        .map(|d| d.text.clone())
        .collect();
    // Readers remark on the <axis> of a ball joint of SDFormat, which has its damping, on
    // equalities of MJCF, which they keep, and on contacts of more dimensions, as in the original.
    let remarks = [
        "only the damping of its <axis> is used",
        "is not a constraint of the plant; it is kept in",
        "acts as condim=3",
    ];
    let is_remark = |text: &String| remarks.iter().any(|r| text.contains(r));
    wrong.extend(said.into_iter().filter(|text| !is_remark(text)));
    match (wrong.is_empty(), told.is_empty()) {
        (false, _) => RoundTrip::Wrong(wrong),
        (true, true) => RoundTrip::Equal,
        (true, false) => RoundTrip::Told(told),
    }
}
