//! The model instances of a plant as one model.

use super::document::{ModelDocument, TakenNames};
use super::format::OutputFormat;
use std::collections::BTreeSet;
use tarragon_multibody::{FrameIndex, ModelInstanceIndex};

impl ModelDocument<'_> {
    /// Returns the name of the only model of a document, `default` if the plant has none. Reports
    /// the model instances that become one.
    pub(crate) fn model_name(&mut self, default: &str) -> String {
        let plant = self.plant;
        let bodies = plant.bodies().skip(1).map(|(_, b)| b.model_instance());
        let joints = plant.joints().filter(|(_, j)| !j.is_ephemeral());
        let joints = joints.map(|(_, j)| j.model_instance());
        let of_bodies: BTreeSet<FrameIndex> = plant.bodies().map(|(_, b)| b.body_frame()).collect();
        let frames = plant
            .declared_frames()
            .filter(|(index, _)| !of_bodies.contains(index));
        let frames = frames.map(|(_, f)| f.model_instance());
        let used: BTreeSet<ModelInstanceIndex> = bodies.chain(joints).chain(frames).collect();
        let names = plant.model_instance_names();
        let named = |i: &ModelInstanceIndex| names[i.index()].as_str();
        let own = used.iter().find(|i| **i > ModelInstanceIndex::DEFAULT);
        let own = own.copied().or_else(|| {
            let declared = names.len() > 2;
            (declared && used.is_empty()).then(|| ModelInstanceIndex::new(2))
        });
        let name = own.as_ref().map_or(default, named).to_string();
        let reserved: &[&str] = match self.format {
            OutputFormat::Sdf => &["world"],
            _ => &[],
        };
        let clean = self.name(
            &mut TakenNames::with(reserved),
            "model instance",
            ModelInstanceIndex::DEFAULT,
            &name,
        );
        let others: Vec<&str> = used
            .iter()
            .filter(|i| Some(**i) != own)
            .map(named)
            .collect();
        if !others.is_empty() {
            self.warn(format!(
                "model instance '{}': its elements become part of model '{clean}', because one model \
                 is written",
                others.join("', '")
            ));
        }
        let empty = (2..names.len()).map(ModelInstanceIndex::new);
        let empty = empty.filter(|i| !used.contains(i) && Some(*i) != own);
        let empty: Vec<&str> = empty.map(|i| names[i.index()].as_str()).collect();
        if !empty.is_empty() {
            let list = empty.join("', '");
            self.warn(format!(
                "model instance '{list}': left out, because it has no elements"
            ));
        }
        clean
    }
}
