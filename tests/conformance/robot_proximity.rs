//! Distances between the bodies of real robots at recorded positions, with their meshes as hulls.

use crate::kinematics::{items, load_model, text};
use crate::proximity::margin;
use crate::support::{Family, find, number, read_json};
use nalgebra::Isometry3;
use serde_json::Value;
use tarragon_geometry::proximity::signed_distance;
use tarragon_geometry::{GeometryId, Shape};

/// Tolerance for Drake's signed distance of a pair. It only checks that both sides ask the same
/// question: witnesses and margin prove our distance. Drake's spheres are exact. Its iterative
/// solutions, measured against references, are good to 1e-5 in overlap and 2e-4 m when separated,
/// to 2e-3 for ellipsoids next to cylinders, and boxes in parallel poses are off by up to 1e-2.
fn tolerance(a: &Shape, b: &Shape, distance: f64) -> f64 {
    let closed = |s: &Shape| matches!(s, Shape::Box(_) | Shape::Capsule(_) | Shape::Cylinder(_));
    let sphere = |s: &Shape| matches!(s, Shape::Sphere(_));
    let exact = sphere(a) && (closed(b) || sphere(b)) || sphere(b) && (closed(a) || sphere(a));
    let boxes = matches!((a, b), (Shape::Box(_), Shape::Box(_)));
    let ellipsoid = |s: &Shape| matches!(s, Shape::Ellipsoid(_));
    if exact {
        1e-9
    } else if boxes {
        1e-2
    } else if distance < 0.0 {
        1e-5
    } else if ellipsoid(a) || ellipsoid(b) {
        2e-3
    } else {
        3e-4
    }
}

#[test]
fn distances_on_robots_match_drake() {
    let Some(manifest) = find("manifest.json") else {
        return;
    };
    let root = manifest.parent().expect("a file is in a directory");
    let mut family = Family::new("proximity.robots");
    for entry in items(&read_json(&manifest)) {
        let id = text(&entry["id"]);
        let truth = read_json(&root.join("truth_models").join(format!("{id}.json.gz")));
        let Ok(ours) = load_model(root, text(&entry["file"])) else {
            continue;
        };
        let inspector = ours.scene.model_inspector();
        let ids: Vec<GeometryId> = inspector.geometry_ids().collect();
        let mut kept = ids.iter();
        let recorded = items(&truth["geometries"]).iter();
        let place: Vec<Option<GeometryId>> = recorded.map(|_| kept.next().copied()).collect();
        for (n, sample) in items(&truth["samples"]).iter().enumerate() {
            let q: Vec<f64> = items(&sample["q"]).iter().map(number).collect();
            if q.len() != ours.plant.num_positions() {
                continue;
            }
            let mut poses = vec![];
            ours.plant.calc_body_poses(&q, &mut poses).unwrap();
            let pose = |id: GeometryId| -> Isometry3<f64> {
                let frame = inspector.frame_id(id).unwrap();
                let body = ours.plant.body_from_frame_id(frame).unwrap();
                poses[body.index()] * inspector.pose_in_frame(id).unwrap()
            };
            let keys = ["signed_distance", "signed_distance_supported_pairs"];
            let pairs = keys.iter().flat_map(|k| items(&sample[*k]));
            for pair in pairs {
                let at = |v: &Value| place[v.as_u64().expect("an index") as usize];
                let (Some(a), Some(b)) = (at(&pair[0]), at(&pair[1])) else {
                    continue;
                };
                let (sa, sb) = (inspector.shape(a).unwrap(), inspector.shape(b).unwrap());
                let d = signed_distance(sa, &pose(a), sb, &pose(b)).unwrap();
                let drake = number(&pair[2]);
                let off = (d.distance - drake).abs();
                // The margin of our normal proves that the distance is not smaller, the witnesses
                // that it is not larger.
                let margin = margin((sa, &pose(a)), (sb, &pose(b)), &d.nhat_ba_w);
                let apart = (d.p_wca - d.p_wcb - d.nhat_ba_w * d.distance).norm();
                family.case(
                    || format!("{id} sample {n} {} {}", sa.type_name(), sb.type_name()),
                    &[
                        ("distance", off, tolerance(sa, sb, drake)),
                        ("margin", (margin - d.distance).abs(), 1e-12),
                        ("witnesses", apart, 1e-12),
                    ],
                );
            }
        }
    }
    family.finish();
}
