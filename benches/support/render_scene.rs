//! The scripts' scenes for renderers.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use super::support::{numbers, pose};
use nalgebra::Isometry3;
use tarragon::geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, PerceptionProperties, RenderLabel, Rgba, Shape, Sphere,
};

/// The objects and the ground of a scene: shape, pose and properties.
pub(crate) fn render_objects(
    scene: &serde_json::Value,
) -> Vec<(Shape, Isometry3<f64>, PerceptionProperties)> {
    let shape = |object: &serde_json::Value| -> Shape {
        let d = numbers(&object["dims"]);
        match object["shape"].as_str().unwrap_or("box") {
            "sphere" => Sphere::new(d[0]).unwrap().into(),
            "box" => BoxShape::new(d[0], d[1], d[2]).unwrap().into(),
            "capsule" => Capsule::new(d[0], d[1]).unwrap().into(),
            "cylinder" => Cylinder::new(d[0], d[1]).unwrap().into(),
            _ => Ellipsoid::new(d[0], d[1], d[2]).unwrap().into(),
        }
    };
    let properties = |object: &serde_json::Value| {
        let c = numbers(&object["rgba"]);
        let color = Rgba::new(c[0], c[1], c[2], c[3]).unwrap();
        let label = RenderLabel::new(object["label"].as_i64().unwrap() as i16).unwrap();
        PerceptionProperties::phong(color).with_label(label)
    };
    let objects = scene["objects"].as_array().unwrap().iter();
    objects
        .chain([&scene["ground"]])
        .map(|object| (shape(object), pose(&object["pose"]), properties(object)))
        .collect()
}
