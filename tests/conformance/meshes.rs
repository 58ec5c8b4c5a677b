//! Mesh files against what Drake's convex hulls of them say.

use crate::support::{Family, difference, find, load, numbers};
use std::path::Path;
use tarragon::geometry::mesh;

/// A hull has the bounding box of its mesh.
#[test]
fn bounding_boxes_are_those_of_the_recorded_hulls() {
    let (Some(truth), Some(file)) = (load("mesh_truth.json.gz"), find("mesh_truth.json.gz")) else {
        return;
    };
    let root = file.parent().expect("a file is in a directory");
    let mut families = [
        ("obj", Family::new("mesh bounds obj")),
        ("gltf", Family::new("mesh bounds gltf")),
    ];
    for case in truth.as_array().unwrap() {
        let name = case["file"].as_str().unwrap();
        let suffix = Path::new(name).extension().and_then(|s| s.to_str());
        let Some((_, family)) = families.iter_mut().find(|(s, _)| Some(*s) == suffix) else {
            continue;
        };
        let aabb = &case["hull"]["aabb"];
        if aabb.is_null() {
            println!("SKIPPED {name}: no hull was recorded");
            continue;
        }
        let error = match mesh::read(&root.join(name)) {
            Ok(mesh) => {
                let corner = |pick: fn(f64, f64) -> f64| {
                    let all = mesh.positions.iter().map(|p| [p.x, p.y, p.z]);
                    all.reduce(|a, b| std::array::from_fn(|k| pick(a[k], b[k])))
                };
                let ours = [corner(f64::min).unwrap(), corner(f64::max).unwrap()].concat();
                let theirs = numbers::<6>(aabb);
                // Relative to the size of the mesh.
                let size = difference(&theirs[..3], &theirs[3..]);
                difference(&ours, &theirs) / size
            }
            Err(e) => {
                println!("{e}");
                f64::NAN
            }
        };
        family.case(|| name.into(), &[("aabb", error, 1e-14)]);
    }
    // Both are reported, even if the first fails.
    let results = families.map(|(_, family)| std::panic::catch_unwind(move || family.finish()));
    assert!(results.iter().all(Result::is_ok), "see above");
}

/// `.glb` twins of `.gltf` files, which Drake has no hulls of.
#[test]
fn binary_gltf_equals_text() {
    let mut family = Family::new("glb like gltf");
    for name in ["cube_with_hole", "rotated_cube_squished"] {
        let glb = find(&format!("meshes_extra/derived_glb/{name}.glb"));
        let gltf = find(&format!("meshes_extra/drake_geometry_test/{name}.gltf"));
        let (Some(glb), Some(gltf)) = (glb, gltf) else {
            continue;
        };
        let (glb, gltf) = (mesh::read(&glb).unwrap(), mesh::read(&gltf).unwrap());
        let flat = |m: &mesh::RenderMesh| -> Vec<f64> {
            m.positions.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
        };
        assert_eq!(glb.triangles, gltf.triangles);
        let error = difference(&flat(&glb), &flat(&gltf));
        family.case(|| name.into(), &[("vertices", error, 0.0)]);
    }
    family.finish();
}
