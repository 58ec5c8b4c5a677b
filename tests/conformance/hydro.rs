//! Hydroelastic meshes.

use crate::meshes::unequal;
use crate::proximity::shape;
use crate::support::{Family, difference, find, load, number, numbers};
use nalgebra::Vector3;
use serde_json::Value;
use tarragon_geometry::mesh::{read_volume, refine_volume_mesh};
use tarragon_geometry::{HydroelasticMesh, ProximityProperties, Shape, make_hydroelastic_mesh};

/// Builds the recorded properties.
pub(crate) fn properties(spec: &Value) -> ProximityProperties {
    let value = |key: &str| spec.get(key).map(number);
    let mut properties = ProximityProperties::new();
    properties = match spec["compliance"].as_str() {
        Some("rigid") => properties.with_rigid_hydroelastic(),
        Some("compliant") => {
            let modulus = value("modulus").expect("a modulus");
            properties.with_compliant_hydroelastic(modulus).unwrap()
        }
        _ => properties,
    };
    if let Some(hint) = value("resolution_hint") {
        properties = properties.with_resolution_hint(hint).unwrap();
    }
    if let Some(slab) = value("slab_thickness") {
        properties = properties.with_slab_thickness(slab).unwrap();
    }
    if let Some(margin) = value("margin") {
        properties = properties.with_hydroelastic_margin(margin).unwrap();
    }
    properties
}

/// Files with the numbers of vertices and tetrahedra of `RefineVolumeMesh` of Drake 1.51.1, which
/// has the same vertices and tetrahedra.
const REFINED: [(&str, usize, usize); 7] = [
    ("hydro/meshes/plate.vtk", 39, 116),
    ("hydro/meshes/hull.vtk", 88, 282),
    ("hydro/meshes/beam.vtk", 268, 948),
    ("hydro/meshes/bent.vtk", 277, 1028),
    ("hydro/meshes/ball.vtk", 161, 564),
    ("proximity/meshes/vol.vtk", 139, 399),
    ("meshes_extra/drake_geometry_test/non_convex_mesh.vtk", 6, 6),
];

#[test]
fn refined_meshes_have_the_vertices_and_tetrahedra_of_drake() {
    for (file, vertices, tetrahedra) in REFINED {
        let Some(path) = find(file) else {
            continue;
        };
        let refined = refine_volume_mesh(&read_volume(&path.into()).unwrap());
        let found = (refined.num_vertices(), refined.num_elements());
        assert_eq!(found, (vertices, tetrahedra), "{file}");
    }
}

fn sums(vertices: &[Vector3<f64>]) -> [Vector3<f64>; 2] {
    let squares = vertices.iter().map(|v| v.component_mul(v));
    [vertices.iter().sum(), squares.sum()]
}

/// Meshes of all shapes have Drake's numbers of vertices and elements and the same sums over them.
/// Drake's solver stops early, which shows in the vertices of a `Mesh` with a margin.
/// The extreme volumes of tetrahedra of a `Convex` with a margin depend on the diagonals of its
/// faces, which qhull chooses in Drake.
#[test]
fn meshes_match_drake() {
    let Some(truth) = load("hydro/meshes.json.gz") else {
        return;
    };
    let mut family = Family::new("hydroelastic meshes");
    for case in truth["meshes"].as_array().expect("an array of meshes") {
        let name = || format!("{} {}", case["shape"], case["hydro"]);
        let shape = shape(&case["shape"], "hydro");
        let properties = properties(&case["hydro"]);
        let found = make_hydroelastic_mesh(&shape, &properties);
        let Some(found) = found.unwrap_or_else(|error| panic!("{}: {error}", name())) else {
            assert!(case["kind"].is_null(), "{}", name());
            continue;
        };
        let surface = found.surface().unwrap();
        let has_margin = case["hydro"].get("margin").is_some();
        let tolerance = match shape {
            Shape::Mesh(_) if has_margin => 1e-8,
            _ => 1e-12,
        };
        let size = surface.calc_bounding_box().1.norm();
        let mut errors = vec![
            (
                "surface vertices",
                unequal(surface.num_vertices(), &case["surface_vertices"]),
                0.0,
            ),
            (
                "surface triangles",
                unequal(surface.num_triangles(), &case["surface_triangles"]),
                0.0,
            ),
        ];
        let (counts, vertices, volume) = match &found {
            HydroelasticMesh::Surface(surface) => (
                (surface.num_vertices(), surface.num_triangles()),
                surface.vertices(),
                surface.calc_enclosed_volume(),
            ),
            HydroelasticMesh::Volume(field) => (
                (field.mesh().num_vertices(), field.mesh().num_elements()),
                field.mesh().vertices(),
                field.mesh().calc_volume(),
            ),
        };
        errors.push(("vertices", unequal(counts.0, &case["vertices"]), 0.0));
        errors.push(("elements", unequal(counts.1, &case["elements"]), 0.0));
        let mut near = |what, key: &str, found: &[f64], unit: f64| {
            let expected: Vec<f64> = match &case[key] {
                Value::Null => return,
                Value::Array(all) => all.iter().map(number).collect(),
                one => vec![number(one)],
            };
            errors.push((what, difference(found, &expected) / unit, tolerance));
        };
        let n = vertices.len() as f64;
        let [sum, squares] = sums(vertices);
        near("area", "area", &[surface.total_area()], size * size);
        near("volume", "volume", &[volume], size.powi(3));
        near("sum", "sum_vertices", sum.as_slice(), n * size);
        near(
            "squares",
            "sum_squares",
            squares.as_slice(),
            n * size * size,
        );
        let (center, extent) = surface.calc_bounding_box();
        let bounds = [center - extent / 2.0, center + extent / 2.0];
        for (found, expected) in bounds.iter().zip(0..) {
            let expected = Vector3::from(numbers::<3>(&case["aabb"][expected]));
            errors.push(("bounds", (found - expected).amax() / size, tolerance));
        }
        if let HydroelasticMesh::Volume(field) = &found {
            let volumes = (0..counts.1).map(|e| field.mesh().calc_tetrahedron_volume(e));
            let range = |values: &mut dyn Iterator<Item = f64>| {
                values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
                    [x.min(least), x.max(most)]
                })
            };
            let least_and_most = range(&mut volumes.into_iter());
            let modulus = number(&case["hydro"]["modulus"]);
            let pressures = range(&mut field.values().iter().map(|p| p * modulus));
            let mut near = |what, key: &str, found: [f64; 2], unit: f64| {
                if !case[key].is_null() {
                    let expected: [f64; 2] = numbers(&case[key]);
                    errors.push((what, difference(&found, &expected) / unit, tolerance));
                }
            };
            if !(has_margin && matches!(shape, Shape::Convex(_))) {
                near("tetrahedra", "tet_volume", least_and_most, size.powi(3));
            }
            near("pressure", "pressure", pressures, modulus);
        }
        family.case(name, &errors);
    }
    family.finish();
}
