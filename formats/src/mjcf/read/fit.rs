//! Primitive shapes fitted to a mesh (`type` is a primitive shape and `mesh` is given).
//!
//! The rules are those of MuJoCo's XML reference, `compiler/fitaabb`: the shape is aligned with the
//! principal axes of inertia of the mesh, and its size is that of the box with the same inertia or
//! of the box around the mesh.

use super::mesh_asset::MeshAsset;
use super::principal_axes::principal_axes;
use super::tree::ElementRef;
use nalgebra::{Isometry3, Point3, Vector3};
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;

/// Fits a shape to a mesh; returns the numbers of attribute `size` and the pose of the shape in the
/// frame of the geom.
pub(super) fn fit(
    node: ElementRef<'_>,
    kind: &str,
    mesh: &MeshAsset,
    to_box: bool,
) -> Parsed<(Vec<f64>, Isometry3<f64>)> {
    let solid = mesh.solid(node)?;
    let (moments, turn) = principal_axes(&solid.inertia);
    let x_mp = math::pose(turn, solid.center);
    let (mut size, center) = if to_box {
        let surface = mesh.mesh.surface().map_err(|e| node.error(e))?;
        let points = surface.vertices().iter();
        let points: Vec<Vector3<f64>> = points
            .map(|p| {
                x_mp.inverse_transform_point(&(mesh.x_gm * Point3::from(*p)))
                    .coords
            })
            .collect();
        like_box(kind, &points)
    } else {
        (like_inertia(kind, moments, solid.size), Vector3::zeros())
    };
    let scale = node.number("fitscale")?.unwrap_or(1.0);
    size.iter_mut().for_each(|x| *x *= scale);
    Ok((size, x_mp * nalgebra::Translation3::from(center)))
}

/// Computes the size of a shape from the box with the same inertia, whose half sizes are a <= b <=
/// c.
fn like_inertia(kind: &str, moments: [f64; 3], mass: f64) -> Vec<f64> {
    let sum: f64 = moments.iter().sum();
    let [a, b, c] = moments.map(|m| (1.5 * (sum - 2.0 * m).max(0.0) / mass).sqrt());
    let radius = (a + b) / 2.0;
    match kind {
        "sphere" => vec![(a + b + c) / 3.0],
        "capsule" => vec![radius, (c - radius / 2.0).max(0.0)],
        "cylinder" => vec![radius, c],
        _ => vec![a, b, c],
    }
}

/// Computes the size of a shape from the box around all points, whose half sizes are a, b, c; also
/// returns the centre of the box.
fn like_box(kind: &str, points: &[Vector3<f64>]) -> (Vec<f64>, Vector3<f64>) {
    let first = points.first().copied().unwrap_or_default();
    let lower = points.iter().fold(first, |l, p| l.inf(p));
    let upper = points.iter().fold(first, |u, p| u.sup(p));
    let [a, b, c] = ((upper - lower) / 2.0).into();
    let radius = a.max(b);
    let size = match kind {
        "sphere" => vec![radius.max(c)],
        "capsule" => vec![radius, (c - radius).max(0.0)],
        "cylinder" => vec![radius, c],
        _ => vec![a, b, c],
    };
    (size, (lower + upper) / 2.0)
}
