//! Sensors: cameras are kept in the plant for callers that create sensors from them; all others are
//! ignored.

use super::builder::{CurrentModel, SdfBuilder};
use super::element::Element;
use super::frames::NodeId;
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_3;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_multibody::{BodyIndex, ModelCamera};

/// Sensor types that are cameras, and whether they see colour and depth.
const CAMERAS: [(&str, bool, bool); 5] = [
    ("camera", true, false),
    ("depth", false, true),
    ("depth_camera", false, true),
    ("rgbd", true, true),
    ("rgbd_camera", true, true),
];

impl SdfBuilder<'_, '_> {
    pub(super) fn sensors(
        &mut self,
        node: NodeId,
        body: BodyIndex,
        link: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let mut names = BTreeSet::new();
        for sensor in link.all("sensor") {
            let name = sensor.name();
            let kind = sensor.filled("type").unwrap_or_default();
            // Sensors do not affect the model.
            if name.is_empty() || !names.insert(name) {
                let message = format!(
                    "sensors of link '{}' must have different names, got '{name}'; this sensor is \
                     ignored",
                    link.name()
                );
                self.report.warning(sensor, message);
                continue;
            }
            let camera = CAMERAS.iter().find(|(tag, ..)| *tag == kind);
            match (camera, sensor.child("camera")) {
                (Some((_, rgb, depth)), Some(camera)) => {
                    let x_bs = self.pose_on_link(node, sensor, current)?;
                    let x_sc = camera.pose();
                    let frame = self.target.plant[body].body_frame();
                    let mut found = ModelCamera::new(name, frame);
                    found.x_fc = x_bs.then(&x_sc).isometry() * optical();
                    (found.rgb, found.depth) = (*rgb, *depth);
                    read(camera, sensor, &mut found);
                    let added = self.target.plant.add_model_camera(found);
                    added.map_err(|e| self.report.error(camera, e))?;
                }
                _ => {
                    let message =
                        format!("sensor '{name}' of type '{kind}' is not supported and is ignored");
                    self.report.warning(sensor, message);
                }
            }
        }
        Ok(())
    }
}

/// Returns the pose of the image frame in the camera frame: SDFormat's cameras look along x with z
/// up; images have x to the right and y down.
fn optical() -> nalgebra::Isometry3<f64> {
    let columns = [-Vector3::y(), -Vector3::z(), Vector3::x()];
    let r = math::rotation_from_matrix(&Matrix3::from_columns(&columns));
    math::pose(r, Vector3::zeros())
}

/// Reads the image size, field of view and clipping distances of a `<camera>`; missing values get
/// the format's defaults.
fn read(camera: &Element, sensor: &Element, found: &mut ModelCamera) {
    let image = |tag: &str, default: f64| {
        let size = camera.child("image").and_then(|i| i.number(tag));
        size.unwrap_or(default).clamp(0.0, f64::from(u32::MAX)) as u32
    };
    (found.width, found.height) = (image("width", 320.0), image("height", 240.0));
    let horizontal = camera.number("horizontal_fov").unwrap_or(FRAC_PI_3);
    let ratio = f64::from(found.height) / f64::from(found.width.max(1));
    found.fov_y = 2.0 * ((horizontal / 2.0).tan() * ratio).atan();
    let clip = |tag: &str, default: f64| {
        let distance = camera.child("clip").and_then(|c| c.number(tag));
        distance.unwrap_or(default)
    };
    (found.near, found.far) = (clip("near", 0.1), clip("far", 100.0));
    if let Some(rate) = sensor.number("update_rate").filter(|r| *r > 0.0) {
        found.fps = rate;
    }
}
