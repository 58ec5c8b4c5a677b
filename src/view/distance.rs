//! Shows the least distance between parts of the models.

use nalgebra::{Isometry3, Point3};
use std::error::Error;
use tarragon::prelude::*;
use tarragon::visualization::Meshcat;

/// Meshcat path of the line.
pub(super) const PATH: &str = "distance";
/// Width of the line (pixels).
const WIDTH: f64 = 2.0;

/// Display of the least distance.
pub(super) struct Distance {
    meshcat: Meshcat,
    /// Largest distance between parts that is considered (m).
    limit: f64,
    text: String,
}

impl Distance {
    pub(super) fn new(meshcat: Meshcat, limit: f64) -> Self {
        meshcat.delete(PATH);
        let text = String::new();
        Self {
            meshcat,
            limit,
            text,
        }
    }
    /// Text of the last result.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Draws a line between the closest points of the two closest parts, and stores the text of
    /// their distance.
    pub(super) fn show(&mut self, query: &QueryObject<f64>) -> Result<(), Box<dyn Error>> {
        if self.limit == 0.0 {
            return Ok(());
        }
        let pairs = query.compute_signed_distance_pairwise_closest_points(self.limit)?;
        let closest = pairs
            .iter()
            .min_by(|a, b| a.distance.total_cmp(&b.distance));
        let Some(pair) = closest else {
            self.text = format!("no two parts are closer than {} m", self.limit);
            self.meshcat.set_property(PATH, "visible", false);
            return Ok(());
        };
        let x_wa = query.geometry_pose_in_world(pair.id_a)?;
        let x_wb = query.geometry_pose_in_world(pair.id_b)?;
        let a = (x_wa * Point3::from(pair.p_aca)).coords;
        let b = (x_wb * Point3::from(pair.p_bcb)).coords;
        let inspector = query.inspector();
        let names = [inspector.name(pair.id_a)?, inspector.name(pair.id_b)?];
        let millimetres = 1e3 * pair.distance;
        self.text = format!("{millimetres:.2} mm between {} and {}", names[0], names[1]);
        let color = if pair.distance < 0.0 {
            Rgba::new(0.9, 0.1, 0.1, 1.0)?
        } else {
            Rgba::new(0.1, 0.6, 0.2, 1.0)?
        };
        let line = format!("{PATH}/line");
        self.meshcat.set_line(&line, &[a, b], WIDTH, color)?;
        let label = format!("{PATH}/label");
        let middle = Isometry3::from((a + b) / 2.0);
        self.meshcat.set_transform(&label, &middle);
        self.meshcat
            .set_property(&label, "label", format!("{millimetres:.1} mm"));
        self.meshcat.set_property(PATH, "visible", true);
        Ok(())
    }
}
