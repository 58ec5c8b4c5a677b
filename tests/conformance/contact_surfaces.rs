//! Contact surfaces of hydroelastic contact.

use crate::hydro::properties;
use crate::proximity::shape;
use crate::support::{Family, difference, load, number, numbers};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use tarragon::prelude::*;
use tarragon_geometry::{ContactSurface, HydroelasticContactRepresentation, SceneGraphConfig};

/// A recorded scene.
struct Scene {
    context: Context<f64>,
    query: OutputPort<QueryObject<f64>>,
    /// Ids in the recorded order, in which they increase.
    ids: Vec<GeometryId>,
    names: Vec<String>,
}

impl Scene {
    fn query(&self) -> &QueryObject<f64> {
        self.context.eval(self.query).unwrap()
    }
    fn name(&self, id: GeometryId) -> &str {
        let at = self.ids.iter().position(|other| *other == id);
        &self.names[at.unwrap()]
    }
}

/// Builds a scene, in which anchored geometry is on the world.
fn scene(case: &Value) -> Result<Scene> {
    let geometries = case["geometries"].as_array().expect("geometries");
    let mut graph = SceneGraph::with_config(config(&case["defaults"]))?;
    let source = graph.register_source("recorded")?;
    let (mut ids, mut names, mut poses) = (vec![], vec![], vec![]);
    for geometry in geometries {
        let [w, x, y, z, p @ ..] = numbers::<7>(&geometry["pose"]);
        let rotation = math::quaternion_wxyz([w, x, y, z]).expect("a rotation");
        let pose = math::pose(rotation, Vector3::from(p));
        let name = geometry["name"].as_str().expect("a name");
        let is_anchored = geometry["anchored"] == true;
        let x_fg = if is_anchored {
            pose
        } else {
            Isometry3::identity()
        };
        let instance = GeometryInstance::new(x_fg, shape(&geometry["shape"], "hydro"), name)?;
        let instance = instance.with_proximity(properties(&geometry["hydro"]));
        ids.push(if is_anchored {
            graph.register_anchored_geometry(source, instance)?
        } else {
            let frame = graph.register_frame(source, GeometryFrame::new(name))?;
            poses.push((frame, pose));
            graph.register_geometry(source, frame, instance)?
        });
        names.push(name.to_owned());
    }
    let mut builder = DiagramBuilder::new();
    let graph = builder.add("scene_graph", graph);
    let mut context = builder.build()?.default_context();
    context.fix(
        graph.source_pose_port(source)?,
        FramePoseVector::from_iter(poses),
    )?;
    Ok(Scene {
        context,
        query: graph.query,
        ids,
        names,
    })
}

/// Reads default proximity properties as recorded.
fn config(defaults: &Value) -> SceneGraphConfig {
    let mut config = SceneGraphConfig::default();
    let all = &mut config.default_proximity_properties;
    for (name, value) in defaults.as_object().into_iter().flatten() {
        let place = match name.as_str() {
            "compliance_type" => {
                all.compliance_type = value.as_str().unwrap().parse().unwrap();
                continue;
            }
            "hydroelastic_modulus" => &mut all.hydroelastic_modulus,
            "resolution_hint" => &mut all.resolution_hint,
            "slab_thickness" => &mut all.slab_thickness,
            "margin" => &mut all.margin,
            other => panic!("unknown default {other}"),
        };
        *place = Some(number(value));
    }
    config
}

/// Sums over a surface: force, torque about the world's origin, and the integral of the pressure.
fn sums(surface: &ContactSurface<f64>) -> (Vector3<f64>, Vector3<f64>, f64) {
    let zero = (Vector3::zeros(), Vector3::zeros(), 0.0);
    (0..surface.num_faces()).fold(zero, |(force, torque, integral), f| {
        let size = surface.area(f) * surface.face_pressure(f);
        let own = surface.face_normal(f) * size;
        let torque = torque + surface.face_centroid(f).cross(&own);
        (force + own, torque, integral + size)
    })
}

/// Returns the sum of the gradients weighted by area, if there are any.
fn gradient(
    surface: &ContactSurface<f64>,
    of_face: impl Fn(usize) -> Option<Vector3<f64>>,
) -> Option<Vector3<f64>> {
    let weighted = (0..surface.num_faces()).map(|f| Some(of_face(f)? * surface.area(f)));
    weighted.sum()
}

type Errors = Vec<(&'static str, f64, f64)>;

/// How far recorded numbers are determined by the geometry.
#[derive(Clone, Copy, PartialEq)]
enum Determined {
    Fully,
    /// Polygons of a hull may be cut along either diagonal, which moves the centroids of faces.
    ButForDiagonals,
    /// Tetrahedra with all corners on the boundary count in Drake's areas, in contact with another
    /// compliant geometry where rounding decides. They have no force, and none of our faces.
    ButForFacesWithoutForce,
    /// With a margin, they have a force in Drake.
    No,
}

impl Determined {
    fn of(geometries: &[Value]) -> Self {
        let file = |g: &Value| g["shape"]["file"].as_str().unwrap_or("").to_owned();
        let is_compliant = |g: &Value| g["hydro"]["compliance"] == "compliant";
        // All corners of some tetrahedra of these files are on the boundary.
        let has_flat = |g: &Value| {
            let files = ["meshes/bent.vtk", "meshes/hull.vtk"];
            g["shape"]["type"] == "Mesh" && is_compliant(g) && files.contains(&&*file(g))
        };
        // A margin moves faces, which then meet otherwise.
        let has_polygons = |g: &Value| {
            let is_convex = g["shape"]["type"] == "Convex";
            is_convex && (file(g) == "meshes/bent.vtk" || !g["hydro"]["margin"].is_null())
        };
        if geometries
            .iter()
            .any(|g| has_flat(g) && !g["hydro"]["margin"].is_null())
        {
            Self::No
        } else if geometries.iter().any(has_flat) {
            Self::ButForFacesWithoutForce
        } else if geometries.iter().any(has_polygons) {
            Self::ButForDiagonals
        } else {
            Self::Fully
        }
    }
}

/// Compares a surface with a recorded one, which may lack fields.
fn compare(
    errors: &mut Errors,
    surface: &ContactSurface<f64>,
    expected: &Value,
    determined: Determined,
) {
    let (force, torque, integral) = sums(surface);
    let pressures = surface.vertex_pressures();
    let largest = pressures.iter().fold(1.0_f64, |m, p| m.max(p.abs()));
    let reach = surface
        .vertices()
        .iter()
        .fold(0.0_f64, |m, p| m.max(p.norm()));
    let area = number(&expected["area"]);
    // Sums of parts that cancel are as exact as the parts.
    let size = area * largest;
    let vector = |v: &Value| Vector3::from(numbers::<3>(v));
    let mut near = |what, key: &str, found: &[f64], unit: f64, tolerance: f64| {
        let expected = match &expected[key] {
            Value::Null => return,
            Value::Array(_) => vector(&expected[key]).as_slice().to_vec(),
            one => vec![number(one)],
        };
        errors.push((what, difference(found, &expected) / unit, tolerance));
    };
    near("force", "force", force.as_slice(), size, 1e-8);
    near("integral", "pressure_integral", &[integral], size, 1e-8);
    let extreme = |all: fn(f64, f64) -> f64| pressures.iter().copied().reduce(all).unwrap();
    near(
        "maximum",
        "max_pressure",
        &[extreme(f64::max)],
        largest,
        1e-8,
    );
    let for_torque = match determined {
        Determined::Fully => 1e-8,
        _ => 1e-2,
    };
    near(
        "torque",
        "torque",
        torque.as_slice(),
        size * reach,
        for_torque,
    );
    if determined == Determined::ButForFacesWithoutForce {
        return;
    }
    near("area", "area", &[surface.total_area()], area, 1e-8);
    near(
        "centroid",
        "centroid",
        surface.centroid().as_slice(),
        reach,
        1e-8,
    );
    near(
        "minimum",
        "min_pressure",
        &[extreme(f64::min)],
        largest,
        1e-8,
    );
    let gradients = [
        (
            "grad_a",
            gradient(surface, |f| surface.evaluate_grad_e_m_w(f)),
        ),
        (
            "grad_b",
            gradient(surface, |f| surface.evaluate_grad_e_n_w(f)),
        ),
    ];
    for (key, found) in gradients {
        match (found, expected.get(key)) {
            (_, None) | (None, Some(Value::Null)) => {}
            (Some(found), Some(expected @ Value::Array(_))) => {
                let expected = vector(expected);
                let unit = expected.norm().max(1.0);
                let tolerance = if determined == Determined::Fully {
                    1e-8
                } else {
                    1e-2
                };
                errors.push((key, (found - expected).amax() / unit, tolerance));
            }
            _ => errors.push((key, f64::NAN, 0.0)),
        }
    }
    if determined == Determined::Fully {
        // Rounding decides whether corners on both boundaries coincide.
        let mut count = |what, found: usize| {
            errors.push((what, (found as f64 - number(&expected[what])).abs(), 5.0));
        };
        count("faces", surface.num_faces());
        count("vertices", surface.num_vertices());
    }
}

/// Contact surfaces of all pairs have Drake's numbers of faces and vertices, and its area, force,
/// torque, pressures and gradients.
#[test]
fn contact_surfaces_match_drake() {
    let Some(truth) = load("hydro/pairs.json.gz") else {
        return;
    };
    let mut family = Family::new("contact surfaces");
    for (i, case) in truth["pairs"].as_array().expect("pairs").iter().enumerate() {
        if case["jitter"].as_f64().is_some_and(|jitter| jitter > 1e-4) {
            continue;
        }
        let determined = Determined::of(case["geometries"].as_array().unwrap());
        if determined == Determined::No {
            continue;
        }
        let scene = scene(case).unwrap();
        let mut errors = vec![];
        for (key, representation) in [
            ("polygon", HydroelasticContactRepresentation::Polygon),
            ("triangle", HydroelasticContactRepresentation::Triangle),
        ] {
            let surfaces = scene
                .query()
                .compute_contact_surfaces(representation)
                .unwrap();
            match (&*surfaces, &case[key]) {
                ([], Value::Null) => {}
                ([surface], expected) if expected.is_object() => {
                    compare(&mut errors, surface, expected, determined);
                    if key == "polygon" {
                        let names = [surface.id_m(), surface.id_n()].map(|id| scene.name(id));
                        assert_eq!(
                            names.map(Value::from),
                            [&expected["a"], &expected["b"]].map(Clone::clone)
                        );
                    }
                }
                // A surface without any force.
                ([], expected) => {
                    let force = Vector3::from(numbers::<3>(&expected["force"])).norm();
                    errors.push((key, force, 1e-8));
                }
                ([surface], _) if determined == Determined::ButForFacesWithoutForce => {
                    errors.push((key, sums(surface).0.norm(), 1e-8));
                }
                _ => errors.push((key, f64::NAN, 0.0)),
            }
        }
        let name = || {
            let kind = |k: usize| {
                let g = &case["geometries"][k];
                format!(
                    "{} {} {}",
                    g["shape"]["type"], g["hydro"]["compliance"], g["hydro"]["margin"]
                )
            };
            format!("{i} {} {}", kind(0), kind(1))
        };
        family.case(name, &errors);
    }
    family.finish();
}
