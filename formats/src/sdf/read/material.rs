//! Appearance of visuals, and the renderers that show them.

use super::builder::SdfBuilder;
use super::element::{Element, truth};
use super::schema;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{IllustrationProperties, PerceptionProperties, Rgba};
use tarragon_multibody::VisualProperties;

const IGNORED: [&str; 7] = [
    "script",
    "shader",
    "render_order",
    "lighting",
    "shininess",
    "double_sided",
    "pbr",
];
const COLORS: [&str; 4] = ["diffuse", "ambient", "specular", "emissive"];

impl SdfBuilder<'_, '_> {
    /// Reads the properties of a `<visual>` for illustration and for perception.
    pub(super) fn visual_properties(&self, visual: &Element) -> Parsed<VisualProperties> {
        let mut illustration = IllustrationProperties::new();
        let mut perception = PerceptionProperties::new();
        if let Some(material) = visual.child("material") {
            self.report
                .check_children(material, &IGNORED, &["diffuse_map"]);
            for name in COLORS {
                if let Some(color) = self.color(material, name) {
                    illustration.set_untyped("phong", name, color);
                    perception.set_untyped("phong", name, color);
                }
            }
            if let Some(map) = self.diffuse_map(material) {
                illustration = illustration.with_diffuse_map(&map);
                perception = perception.with_diffuse_map(map);
            }
        }
        let mut renderers = BTreeSet::new();
        for renderer in visual.all("drake:accepting_renderer") {
            if renderer.text.is_empty() {
                let message = "<drake:accepting_renderer> must hold the name of a renderer";
                return Err(self.report.error(renderer, message));
            }
            renderers.insert(renderer.text.clone());
        }
        if !renderers.is_empty() {
            perception = perception.with_accepting_renderers(renderers);
        }
        let shown = self.enabled(visual, "drake:illustration_properties")?;
        let seen = self.enabled(visual, "drake:perception_properties")?;
        Ok(VisualProperties {
            illustration: shown.then_some(illustration),
            perception: seen.then_some(perception),
        })
    }

    fn enabled(&self, visual: &Element, tag: &str) -> Parsed<bool> {
        let Some(element) = visual.child(tag) else {
            return Ok(true);
        };
        match element.attribute("enabled") {
            None => Ok(true),
            Some(text) => truth(text).ok_or_else(|| {
                let message = format!("attribute 'enabled' must be true or false, got '{text}'");
                self.report.error(element, message)
            }),
        }
    }

    fn color(&self, material: &Element, name: &str) -> Option<Rgba> {
        // The schema reported a bad colour, which affects only the appearance.
        let (rgba, _) = schema::color(material.child_text(name)?).ok()?;
        // The format's library keeps colours in single precision.
        let [r, g, b, a] = rgba.map(|x| f64::from(x as f32));
        Rgba::new(r, g, b, a).ok()
    }

    fn diffuse_map(&self, material: &Element) -> Option<PathBuf> {
        let element = material.child("drake:diffuse_map")?;
        let directory = element.place.source.directory.as_deref();
        let path = self.target.resolve(&element.text, directory);
        let left_out = |why| format!("texture {why}; the texture is left out");
        path.map_err(|why| self.report.warning(element, left_out(why)))
            .ok()
    }
}
