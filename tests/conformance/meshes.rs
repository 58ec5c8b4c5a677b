//! Mesh files compared with Drake's surfaces, hulls and masses.

use crate::support::{Family, difference, find, load, number, numbers};
use nalgebra::Vector3;
use serde_json::Value;
use std::path::PathBuf;
use tarragon::geometry::mesh::{self, PolygonSurfaceMesh};
use tarragon::geometry::{
    Convex, MassProperties, Mesh, Shape, calc_mass_properties, calc_obb, calc_volume,
};

/// The recorded meshes and their folder.
fn truth() -> Option<(Vec<Value>, PathBuf)> {
    let (file, truth) = (find("mesh_truth.json.gz")?, load("mesh_truth.json.gz")?);
    let Value::Array(cases) = truth else {
        panic!("an array of meshes");
    };
    Some((cases, file.parent().expect("a file is in a folder").into()))
}

/// Error of a count, which has no tolerance: 1 if the counts differ, else 0.
pub(crate) fn unequal(ours: usize, recorded: &Value) -> f64 {
    f64::from(u8::from(Some(ours as u64) != recorded.as_u64()))
}

fn box_of(mesh: &PolygonSurfaceMesh) -> Vec<f64> {
    let (center, size) = mesh.calc_bounding_box();
    let corners = [center - size / 2.0, center + size / 2.0];
    corners.iter().flat_map(|c| c.as_slice().to_vec()).collect()
}

/// Compares a hull with its recording; errors are relative to the size of the mesh.
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
fn hulls_match_drake() {
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
        // Unlike ours, Drake's hulls do not support binary glTF files.
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

/// Compares mass, centre of mass and inertia about the origin with the recording, relative to mass
/// and size.
fn compare_mass(
    family: &mut Family,
    name: &str,
    ours: &MassProperties,
    size: f64,
    recorded: &Value,
) {
    let list = |key: &str| numbers::<3>(&recorded[key]);
    let (mass, i) = (ours.mass(), ours.inertia_about_origin());
    let moments = [i[(0, 0)], i[(1, 1)], i[(2, 2)]];
    let products = [i[(0, 1)], i[(0, 2)], i[(1, 2)]];
    let unit = mass * size * size;
    let errors = [
        (
            "mass",
            (mass / number(&recorded["mass"]) - 1.0).abs(),
            1e-12,
        ),
        (
            "centre",
            difference(ours.center_of_mass().as_slice(), &list("com")) / size,
            1e-12,
        ),
        (
            "moments",
            difference(&moments, &list("moments")) / unit,
            1e-12,
        ),
        (
            "products",
            difference(&products, &list("products")) / unit,
            1e-12,
        ),
    ];
    family.case(|| name.into(), &errors);
}

#[test]
fn masses_match_drake() {
    let Some((cases, root)) = truth() else {
        return;
    };
    let mut of_meshes = Family::new("mass of meshes");
    let mut of_hulls = Family::new("mass of hulls");
    for case in &cases {
        let name = case["file"].as_str().expect("a file name");
        let (mesh, convex) = (Mesh::new(root.join(name)), Convex::new(root.join(name)));
        let surface = mesh.surface();
        let size = surface.map_or(1.0, |s| {
            let (center, size) = s.calc_bounding_box();
            center.amax() + size.norm()
        });
        // Unlike ours, Drake's masses do not support glTF solids, nor hulls of binary glTF.
        let (gltf, glb) = (name.contains(".gl"), name.ends_with(".glb"));
        for (family, shape, key, lenient) in [
            (&mut of_meshes, Shape::from(mesh), "inertia_mesh_1000", gltf),
            (
                &mut of_hulls,
                Shape::from(convex),
                "inertia_convex_1000",
                glb,
            ),
        ] {
            let recorded = &case[key];
            let refused = recorded.get("error").is_some();
            match calc_mass_properties(&shape, 1000.0) {
                _ if lenient && refused => {}
                Ok(ours) if !refused => {
                    let volume = calc_volume(&shape).expect("it was calculated before");
                    assert!((volume * 1000.0 / ours.mass() - 1.0).abs() < 1e-9, "{name}");
                    compare_mass(family, name, &ours, size, recorded);
                }
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
    let results = [of_meshes, of_hulls].map(|f| std::panic::catch_unwind(move || f.finish()));
    assert!(results.iter().all(Result::is_ok), "see above");
}

/// Relative excess of a box's size over another's: in volume, or in area or length if the other box
/// is flat or straight and has no volume.
fn excess(edges: [f64; 3], other: [f64; 3]) -> f64 {
    // Boxes include room for rounding.
    const ROUNDING: f64 = 1e-13;
    let sorted = |mut edges: [f64; 3]| {
        edges.sort_by(f64::total_cmp);
        edges
    };
    let (edges, other) = (sorted(edges), sorted(other));
    let flat = other.iter().filter(|e| **e <= ROUNDING * other[2]).count();
    let content = |edges: &[f64; 3]| edges[flat..].iter().product::<f64>();
    let thickness = edges[..flat].iter().sum::<f64>() / other[2];
    let larger = content(&edges) / content(&other) - 1.0;
    larger.max(thickness - 8.0 * ROUNDING).max(0.0)
}

#[test]
fn flat_boxes_are_compared_by_area() {
    assert_eq!(excess([3.0, 1.0, 2.0], [2.0, 2.0, 2.0]), 0.0);
    assert_eq!(excess([3.0, 2.0, 2.0], [2.0, 2.0, 2.0]), 0.5);
    assert_eq!(excess([3.0, 1e-15, 2.0], [2.0, 2.0, 0.0]), 0.5);
    assert_eq!(excess([1e-15, 1e-15, 2.0], [0.0, 2.0, 0.0]), 0.0);
    assert!(excess([1.0, 1e-9, 2.0], [2.0, 2.0, 0.0]) > 1e-10);
}

/// Oriented boxes contain their meshes and are no larger than axis-aligned boxes.
#[test]
fn oriented_boxes_contain_their_meshes() {
    let Some((cases, root)) = truth() else {
        return;
    };
    let mut family = Family::new("oriented boxes");
    let mut ratios = Vec::new();
    for case in &cases {
        let name = case["file"].as_str().expect("a file name");
        let mesh = Mesh::new(root.join(name));
        let Ok(surface) = mesh.surface() else {
            continue;
        };
        let obb = calc_obb(&mesh.into()).unwrap().expect("a mesh has a box");
        let outside = surface
            .vertices()
            .iter()
            .filter(|p| !obb.contains(p))
            .count();
        let aligned = surface.calc_bounding_box().1;
        let excess = excess((obb.half_width() * 2.0).into(), aligned.into());
        let errors = [("outside", outside as f64, 0.0), ("excess", excess, 1e-9)];
        family.case(|| name.into(), &errors);
        ratios.extend(Some(obb.volume() / aligned.product()).filter(|r| r.is_finite()));
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    println!("on average {mean:.3} of the volume of the axis-aligned box");
    family.finish();
}

/// `.glb` twins of `.gltf` files, whose hulls Drake does not support.
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
