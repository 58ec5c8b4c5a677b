//! Height fields.
//!
//! MJCF scales the numbers of a field to the range from 0 to the third number of `size`, so its
//! lowest height is the origin of the geom.

use super::MjcfWriter;
use crate::writing::xml::{XmlText, numbers};
use nalgebra::Isometry3;
use tarragon_geometry::{HeightField, Shape};

/// Elevation of a flat field (m), which has no effect.
const FLAT: f64 = 1.0;

impl MjcfWriter<'_> {
    /// Names the height fields of all bodies.
    pub(super) fn plan_height_fields(&mut self) -> Vec<(HeightField, String)> {
        let plant = self.document.plant;
        let mut fields: Vec<(HeightField, String)> = vec![];
        for (body, _) in plant.bodies() {
            for visual in [true, false] {
                for geometry in self.document.geometries(body, visual) {
                    let Shape::HeightField(field) = geometry.shape else {
                        continue;
                    };
                    if fields.iter().any(|(known, _)| known == field) {
                        continue;
                    }
                    let clean = self.document.clean_name(geometry.name);
                    fields.push((field.clone(), self.names.height_fields.take(&clean)));
                }
            }
        }
        fields
    }
}

/// Returns the pose of the lowest height in the frame of a field, turned as that frame is.
pub(super) fn lowered(field: &HeightField) -> Isometry3<f64> {
    Isometry3::translation(0.0, 0.0, field.height_range().0)
}

pub(super) fn write_height_field(xml: &mut XmlText, field: &HeightField, name: &str) {
    let (low, high) = field.height_range();
    let [x, y] = field.size().map(|s| 0.5 * s);
    let range = high - low;
    let elevation = if range > 0.0 { range } else { FLAT };
    let rows = field.heights().chunks(field.columns()).rev();
    let heights: Vec<f64> = rows.flatten().map(|h| h - low).collect();
    xml.start("hfield").attribute("name", name);
    xml.attribute("nrow", &field.rows().to_string());
    xml.attribute("ncol", &field.columns().to_string());
    xml.numbers("size", &[x, y, elevation, low - field.base()]);
    xml.attribute("elevation", &numbers(&heights)).end();
}
