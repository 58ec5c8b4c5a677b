//! Matching of elements, shapes and texts of a plant and its copy.

use super::compare::near;
use tarragon_framework::warnings::collect;
use tarragon_geometry::mesh::read_source;
use tarragon_geometry::{MeshSource, Shape};
use tarragon_multibody::*;

/// Looks an element of the copy up: by its scoped name, as renamed where models become one, and by
/// its plain name.
pub(super) fn find<I>(
    ours: &MultibodyPlant,
    instance: ModelInstanceIndex,
    name: &str,
    look_up: impl Fn(&str) -> Result<I>,
) -> Result<I> {
    let model = ours.model_instance_name(instance).unwrap();
    let mut clean = name.trim().replace("::", "_");
    if clean.starts_with("__") && clean.ends_with("__") {
        clean = clean.trim_matches('_').into();
    }
    let flat = model.trim().replace("::", "_");
    let mut found = look_up(&format!("{model}::{name}"));
    for name in [name, &clean] {
        let look_up_more = |_| look_up(&format!("{flat}_{name}")).or_else(|_| look_up(name));
        found = found.or_else(look_up_more);
    }
    found
}

/// The body of the copy.
pub(super) fn find_body(
    ours: &MultibodyPlant,
    body: &RigidBody,
    again: &MultibodyPlant,
) -> Result<BodyIndex> {
    if body.model_instance() == ModelInstanceIndex::WORLD {
        return Ok(BodyIndex::WORLD);
    }
    let look_up = |name: &str| again.body_by_name(name);
    find(ours, body.model_instance(), body.name(), look_up)
}

pub(super) fn same_shape(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Mesh(a), Shape::Mesh(b)) => {
            a.scale3() == b.scale3() && same_mesh(a.source(), b.source())
        }
        (Shape::Convex(a), Shape::Convex(b)) => {
            a.scale3() == b.scale3() && same_mesh(a.source(), b.source())
        }
        // Sizes are written as radii, diameters, halves or whole lengths.
        _ => same_text(&format!("{a:?}"), &format!("{b:?}")),
    }
}
/// Returns true for one file, and for files of the same triangles: some meshes are converted.
fn same_mesh(a: &MeshSource, b: &MeshSource) -> bool {
    let real = |source: &MeshSource| source.path().and_then(|path| path.canonicalize().ok());
    let triangles = |source: &MeshSource| {
        let (read, _) = collect(|| read_source(source));
        read.map(|mesh| (mesh.positions, mesh.triangles)).ok()
    };
    (a.is_path() && real(a) == real(b)) || triangles(a).is_some_and(|a| Some(a) == triangles(b))
}

/// Returns true if two texts differ in their numbers only, and these by rounding.
pub(super) fn same_text(a: &str, b: &str) -> bool {
    let words = |t: &str| -> Vec<String> {
        let separate = |c: char| " ,[](){}:".contains(c);
        t.split(separate)
            .filter(|w| !w.is_empty())
            .map(String::from)
            .collect()
    };
    let (a, b) = (words(a), words(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a == b
                || matches!((a.parse::<f64>(), b.parse::<f64>()),
                    (Ok(x), Ok(y)) if near(x, y, 1.0 + x.abs().max(y.abs())))
        })
}
