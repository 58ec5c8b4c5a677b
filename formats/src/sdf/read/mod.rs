//! SDFormat models and worlds, versions 1.0 to 1.12.
//!
//! The format is described at <http://sdformat.org/spec>; the ignored elements, the `drake:`
//! elements and the order in which things are added follow Drake's parser. A file is processed in
//! four steps: its elements are read (`document`), brought up to date (`unflatten`) and checked
//! (`schema`); included models replace their elements (`include`, `merge`); the graph of frames is
//! built (`model`, `interface`, `frames`); and the plant is filled (`builder` and the modules that
//! it calls).

mod axis;
mod builder;
mod contact;
mod deformable;
mod document;
mod drake;
mod element;
mod first_version;
mod frames;
mod geometry;
mod graph_builder;
mod heightmap;
mod ignored;
mod include;
mod interface;
mod joint;
mod link;
mod material;
mod merge;
mod model;
mod placement;
mod pose;
mod schema;
mod sensor;
mod unflatten;

use crate::reading::target::{ModelNaming, ParseTarget};
use builder::SdfBuilder;
use element::{Element, Report, SourceFile};
use frames::FrameGraph;
use graph_builder::FrameGraphBuilder;
use include::IncludeExpander;
use std::path::Path;
use tarragon_documents::names::scoped;
use tarragon_documents::xml::Parsed;
use tarragon_documents::{Diagnostic, ModelInput};
use tarragon_multibody::ModelInstanceIndex;

/// Adds the model or the world of an SDFormat file. Returns the model instances that the file
/// describes but, as in Drake, not those of included files in other formats.
pub(crate) fn parse(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let report = Report::default();
    // Errors were reported.
    let models = read(input, naming, target, &report).unwrap_or_default();
    diagnostics.extend(report.into_diagnostics());
    models
}

fn read(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    report: &Report,
) -> Parsed<Vec<ModelInstanceIndex>> {
    let source = SourceFile {
        name: input.file.into(),
        directory: input.directory.map(Path::to_path_buf),
    };
    let mut root = document::read(source, input.bytes, input.origins, report)?;
    let mut includes = IncludeExpander::new(target, report, input.file);
    includes.expand(&mut root);
    let files = includes.interfaces;
    report.check_children(&root, &["light", "actor"], &[]);
    let top = top_element(&root, report)?;
    let title = match top.tag.as_str() {
        "world" => format!("world '{}'", top.name()),
        _ => "the file".into(),
    };
    let mut graph = FrameGraph::new(&title, top.place.clone());
    let mut declare = FrameGraphBuilder {
        graph: &mut graph,
        report,
        target,
        files: &files,
    };
    // The name under which a world is added is the scope of its models.
    let scope = match (top.tag.as_str(), naming.name) {
        ("world", Some(name)) => scoped(naming.scope, name),
        _ => naming.scope.into(),
    };
    let scope = &*scope;
    let (world, model) = match top.tag.as_str() {
        "world" => (Some(declare.world(top, scope)), None),
        _ => {
            let name = naming.name.unwrap_or(top.name());
            let model = declare.model(top, name, FrameGraph::ROOT, scope)?;
            (None, Some(model))
        }
    };
    if let Some(world) = &world {
        for model in &world.models {
            model.attach(&mut graph, report);
        }
        world.resolve(&mut graph, None, report);
    }
    if let Some(model) = &model {
        graph.set_top(model.node);
        model.attach(&mut graph, report);
        model.resolve(&mut graph, Some(FrameGraph::ROOT), report);
    }
    graph.solve(report)?;
    let mut adder = SdfBuilder::new(target, &mut graph, report);
    if let Some(world) = &world {
        adder.world(world, scope);
    }
    if let Some(model) = &model {
        adder.top_model(model, scope);
    }
    Ok(adder.into_models())
}

/// Returns the only model or world of a file.
fn top_element<'e>(root: &'e Element, report: &Report) -> Parsed<&'e Element> {
    let count = |tag: &str| root.all(tag).count();
    let (models, worlds) = (count("model"), count("world"));
    match (root.child("model"), root.child("world")) {
        (Some(model), None) if models == 1 => {
            if let Some(frame) = model.relative_to() {
                let message = format!(
                    "the pose of the top-level model must be in the world, got relative_to \
                     '{frame}'"
                );
                return Err(report.error(model, message));
            }
            Ok(model)
        }
        (None, Some(world)) if worlds == 1 => Ok(world),
        _ => {
            let included = root.all("include").count();
            let message = format!(
                "the file must have exactly one model or exactly one world, got {models} models \
                 and {worlds} worlds{}; put several models into a <world>",
                if included > 0 {
                    " besides included models"
                } else {
                    ""
                }
            );
            Err(report.error(root, message))
        }
    }
}
