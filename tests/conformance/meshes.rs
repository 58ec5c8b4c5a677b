//! Mesh files against what Drake says about their surfaces, hulls and masses.

use crate::support::{Family, difference, find, load, number};
use nalgebra::Vector3;
use serde_json::Value;
use std::path::PathBuf;
use tarragon::geometry::mesh::{self, PolygonSurfaceMesh};
use tarragon::geometry::{Convex, Mesh};

/// The recorded meshes and the folder that they are in.
fn truth() -> Option<(Vec<Value>, PathBuf)> {
    let (file, truth) = (find("mesh_truth.json.gz")?, load("mesh_truth.json.gz")?);
    let Value::Array(cases) = truth else {
        panic!("an array of meshes");
    };
    Some((cases, file.parent().expect("a file is in a folder").into()))
}

/// 1 where they differ: for counts, which have no tolerance.
fn unequal(ours: usize, recorded: &Value) -> f64 {
    f64::from(u8::from(Some(ours as u64) != recorded.as_u64()))
}

fn box_of(mesh: &PolygonSurfaceMesh) -> Vec<f64> {
    let (center, size) = mesh.calc_bounding_box();
    let corners = [center - size / 2.0, center + size / 2.0];
    corners.iter().flat_map(|c| c.as_slice().to_vec()).collect()
}

/// A hull against its record; errors are relative to the size of the mesh.
fn compare(family: &mut Family, name: &str, hull: &PolygonSurfaceMesh, recorded: &Value) {
    let size = hull.calc_bounding_box().1.norm();
    let mut errors = vec![
        (
            "vertices",
            unequal(hull.num_vertices(), &recorded["nv"]),
            0.0,
        ),
        ("faces", unequal(hull.num_faces(), &recorded["nf"]), 0.0),
    ];
    let mut near = |what, key: &str, found: &[f64], unit: f64| {
        if let Some(expected) = recorded.get(key) {
            let expected: Vec<f64> = match expected {
                Value::Array(all) => all.iter().map(number).collect(),
                one => vec![number(one)],
            };
            errors.push((what, difference(found, &expected) / unit, 1e-13));
        }
    };
    near("area", "area", &[hull.total_area()], size.powi(2));
    near("centroid", "centroid", hull.centroid().as_slice(), size);
    near("bounds", "aabb", &box_of(hull), size);
    let volume = hull.to_triangles().calc_enclosed_volume();
    near("volume", "volume", &[volume], size.powi(3));
    family.case(|| name.into(), &errors);
}

#[test]
fn hulls_are_those_of_drake() {
    let Some((cases, root)) = truth() else {
        return;
    };
    let mut family = Family::new("convex hulls");
    let mut scaled = Family::new("convex hulls, scaled");
    for case in &cases {
        let name = case["file"].as_str().expect("a file name");
        let path = root.join(name);
        let scale3 = Vector3::new(1.5, 0.5, 2.0);
        let convex = Convex::new(&path).convex_hull();
        let mesh = Mesh::with_scale(&path, scale3).and_then(|m| m.convex_hull());
        // Drake has no hulls of binary glTF files; we do.
        let lenient = name.ends_with(".glb");
        for (family, ours, key) in [
            (&mut family, convex, "hull"),
            (&mut scaled, mesh, "hull_scaled"),
        ] {
            let refused = case[key].get("error").is_some();
            match ours {
                Ok(_) if lenient => {}
                Ok(hull) if !refused => compare(family, name, &hull, &case[key]),
                ours => {
                    let agree = refused && ours.is_err();
                    family.case(
                        || name.into(),
                        &[("refused", f64::from(u8::from(!agree)), 0.0)],
                    );
                }
            }
        }
    }
    let results = [family, scaled].map(|f| std::panic::catch_unwind(move || f.finish()));
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
