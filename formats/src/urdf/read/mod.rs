//! URDF models.
//!
//! The format is described at <http://wiki.ros.org/urdf/XML>; the `drake:` elements and the ignored
//! elements follow the page "Parsing Models for MultibodyPlant" of Drake's documentation.

mod builder;
mod constraint;
mod contact;
mod filter;
mod geometry;
mod joint;
mod link;
mod material;
mod transmission;
mod vocabulary;

use crate::reading::format::ModelFormat;
use crate::reading::target::{ModelNaming, ParseTarget};
use builder::UrdfBuilder;
use std::collections::BTreeMap;
use tarragon_documents::xml::PreparedXml;
use tarragon_documents::xml::XmlNode;
use tarragon_documents::xml::{Parsed, XmlReader};
use tarragon_documents::{Diagnostic, ModelInput, decode};
use tarragon_multibody::{BodyIndex, ModelInstanceIndex};

/// Adds the robot of a URDF file.
pub(crate) fn parse(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let file = input.file;
    let (text, warning) = decode(file, input.bytes);
    diagnostics.extend(warning);
    let prepared = PreparedXml::new(&text);
    let document = match prepared.parse(file) {
        Ok(document) => document,
        Err(error) => {
            diagnostics.push(error);
            return vec![];
        }
    };
    let reader = XmlReader::new(file, &prepared).with_origins(input.origins);
    let added = start(&reader, document.root_element(), naming, target);
    let mut models = vec![];
    if let Ok(instance) = added {
        models.push(instance);
        let mut robot = UrdfBuilder {
            reader: &reader,
            directory: input.directory,
            target,
            instance,
            links: BTreeMap::from([("world".into(), BodyIndex::WORLD)]),
            joints: BTreeMap::new(),
            materials: BTreeMap::new(),
        };
        robot.read(document.root_element());
    }
    diagnostics.extend(reader.take_diagnostics());
    models
}

/// Checks the root element and adds the model instance.
fn start(
    reader: &XmlReader<'_>,
    root: XmlNode<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
) -> Parsed<ModelInstanceIndex> {
    let tag = reader.tag(root);
    if tag != "robot" {
        let cure = ModelFormat::cure_of_root(tag);
        let message = format!("the root element must be <robot>, got <{tag}>{cure}");
        return Err(reader.error(root, message));
    }
    let name = match naming.name {
        Some(name) => name,
        // The name does not matter, because the model is removed again after the error.
        None => reader.required(root, "name").unwrap_or("<unnamed>"),
    };
    let instance = target.add_model_instance(naming.scope, name);
    instance.map_err(|e| reader.error(root, e))
}
