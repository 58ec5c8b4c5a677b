//! Contact surfaces and hydroelastic meshes in scenes and answers.

use super::fields::{Fields, number, wrong};
use super::number::{Double, Number};
use nalgebra::Vector3;
use serde::Serialize;
use serde_json::Value;
use tarragon::framework::Scalar;
use tarragon::geometry::{
    ContactSurface, DefaultProximityProperties, GeometryId, HydroelasticContactRepresentation,
    HydroelasticMesh, HydroelasticTessellation, HydroelasticType, QueryObject,
};
use tarragon::prelude::*;

const GROUP: &str = "hydroelastic";

/// How contact surfaces are asked for.
#[derive(Clone, Copy)]
pub(super) struct SurfaceRequest {
    pub(super) representation: HydroelasticContactRepresentation,
    pub(super) fallback: bool,
}

impl SurfaceRequest {
    /// Parses the fields `representation` and `fallback` of a scene.
    pub(super) fn parse(scene: &mut Fields) -> Result<Self, String> {
        let representation = match scene.optional("representation") {
            None => HydroelasticContactRepresentation::Polygon,
            Some(value) => match value.as_str() {
                Some("polygon") => HydroelasticContactRepresentation::Polygon,
                Some("triangle") => HydroelasticContactRepresentation::Triangle,
                _ => {
                    return Err(wrong(
                        "representation",
                        "\"polygon\" or \"triangle\"",
                        &value,
                    ));
                }
            },
        };
        let fallback = match scene.optional("fallback") {
            None => false,
            Some(Value::Bool(fallback)) => fallback,
            Some(other) => return Err(wrong("fallback", "true or false", &other)),
        };
        Ok(Self {
            representation,
            fallback,
        })
    }
}

/// Parses a type of compliance.
pub(super) fn compliance(value: &Value, path: &str) -> Result<HydroelasticType, String> {
    let word = value.as_str();
    let parsed = word.and_then(|word| word.parse().ok());
    parsed.ok_or_else(|| wrong(path, "\"undefined\", \"rigid\" or \"compliant\"", value))
}

/// Parses the field `hydro` of a geometry. Whether the values suit the shape is checked when it is
/// registered.
pub(super) fn properties(value: Option<Value>, place: &str) -> Result<ProximityProperties, String> {
    let mut properties = ProximityProperties::new();
    let Some(value) = value else {
        return Ok(properties);
    };
    let mut fields = Fields::new(value, place, format!("{place}."))?;
    let kind = fields.required("compliance")?;
    let kind = compliance(&kind, &fields.path("compliance"))?;
    properties.set_untyped(GROUP, "compliance_type", kind);
    for (key, property) in [
        ("modulus", "hydroelastic_modulus"),
        ("resolution_hint", "resolution_hint"),
        ("relative_force_error", "relative_force_error"),
        ("slab_thickness", "slab_thickness"),
        ("margin", "margin"),
    ] {
        if let Some(value) = fields.optional(key) {
            let value = number(&value, &fields.path(key))?;
            properties.set_untyped(GROUP, property, value);
        }
    }
    if let Some(value) = fields.optional("tessellation") {
        let path = fields.path("tessellation");
        let word: Option<HydroelasticTessellation> =
            value.as_str().and_then(|word| word.parse().ok());
        let word = word.ok_or_else(|| wrong(&path, "\"inscribed\" or \"equal_volume\"", &value))?;
        properties.set_untyped(GROUP, "tessellation", word);
    }
    fields.finish()?;
    Ok(properties)
}

/// Parses the field `defaults` of a scene.
pub(super) fn defaults(value: Option<Value>) -> Result<DefaultProximityProperties, String> {
    let mut defaults = DefaultProximityProperties::default();
    let Some(value) = value else {
        return Ok(defaults);
    };
    let mut fields = Fields::new(value, "defaults", "defaults.")?;
    if let Some(kind) = fields.optional("compliance_type") {
        defaults.compliance_type = compliance(&kind, "defaults.compliance_type")?;
    }
    for (key, place) in [
        ("hydroelastic_modulus", &mut defaults.hydroelastic_modulus),
        ("resolution_hint", &mut defaults.resolution_hint),
        ("slab_thickness", &mut defaults.slab_thickness),
        ("margin", &mut defaults.margin),
    ] {
        if let Some(value) = fields.optional(key) {
            *place = Some(number(&value, &fields.path(key))?);
        }
    }
    fields.finish()?;
    Ok(defaults)
}

#[derive(Serialize)]
pub(super) struct ContactSurfaceJson<'a, N> {
    a: &'a str,
    b: &'a str,
    faces: usize,
    vertices: usize,
    area: N,
    centroid: [N; 3],
    force: [N; 3],
    torque: [N; 3],
    pressure_integral: N,
    max_pressure: Double,
    min_pressure: Double,
    grad_a: Option<[Double; 3]>,
    grad_b: Option<[Double; 3]>,
}

/// Sums a surface up: its force on M and the torque about the world's origin, as sums over faces of
/// area times pressure at the centroid.
pub(super) fn summary<'a, T: Number>(
    surface: &ContactSurface<T>,
    name: impl Fn(GeometryId) -> &'a str,
) -> ContactSurfaceJson<'a, T::Json> {
    let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
    let mut integral = T::zero();
    for f in 0..surface.num_faces() {
        let size = surface.area(f) * surface.face_pressure(f);
        let own = surface.face_normal(f) * size;
        force += own;
        torque += surface.face_centroid(f).cross(&own);
        integral += size;
    }
    let pressures = surface.vertex_pressures().iter().map(|p| p.re());
    let [least, most] = range(pressures);
    let gradient = |of_face: &dyn Fn(usize) -> Option<Vector3<T>>| {
        let weighted = (0..surface.num_faces()).map(|f| {
            let gradient = of_face(f)?.map(|x| x.re());
            Some(gradient * surface.area(f).re())
        });
        let sum: Option<Vector3<f64>> = weighted.sum();
        sum.map(|sum| f64::vector(&sum))
    };
    ContactSurfaceJson {
        a: name(surface.id_m()),
        b: name(surface.id_n()),
        faces: surface.num_faces(),
        vertices: surface.num_vertices(),
        area: surface.total_area().json(),
        centroid: T::vector(&surface.centroid()),
        force: T::vector(&force),
        torque: T::vector(&torque),
        pressure_integral: integral.json(),
        max_pressure: most.json(),
        min_pressure: least.json(),
        grad_a: gradient(&|f| surface.evaluate_grad_e_m_w(f)),
        grad_b: gradient(&|f| surface.evaluate_grad_e_n_w(f)),
    }
}

/// Returns the least and the greatest of some numbers.
fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
        [least.min(x), most.max(x)]
    })
}

/// The hydroelastic mesh of a geometry; without a mesh, all fields but the first are null.
#[derive(Serialize)]
pub(super) struct HydroMeshJson<'a> {
    g: &'a str,
    kind: Option<&'static str>,
    vertices: Option<usize>,
    elements: Option<usize>,
    surface_vertices: Option<usize>,
    surface_triangles: Option<usize>,
    area: Option<Double>,
    volume: Option<Double>,
    aabb: Option<[[Double; 3]; 2]>,
    pressure: Option<[Double; 2]>,
}

/// Describes the hydroelastic mesh of a geometry.
///
/// # Errors
/// Returns an error if a volume mesh has no boundary.
pub(super) fn mesh<'a, T: Scalar>(
    query: &QueryObject<T>,
    id: GeometryId,
    name: &'a str,
) -> Result<HydroMeshJson<'a>, Error> {
    let mut json = HydroMeshJson {
        g: name,
        kind: None,
        vertices: None,
        elements: None,
        surface_vertices: None,
        surface_triangles: None,
        area: None,
        volume: None,
        aabb: None,
        pressure: None,
    };
    let inspector = query.inspector();
    let Some(mesh) = inspector.maybe_get_hydroelastic_mesh(id)? else {
        return Ok(json);
    };
    let surface = mesh.surface()?;
    let (center, size) = surface.calc_bounding_box();
    json.surface_vertices = Some(surface.num_vertices());
    json.surface_triangles = Some(surface.num_triangles());
    json.area = Some(surface.total_area().json());
    json.aabb = Some([center - size / 2.0, center + size / 2.0].map(|p| f64::vector(&p)));
    match mesh {
        HydroelasticMesh::Surface(surface) => {
            json.kind = Some("surface");
            json.vertices = Some(surface.num_vertices());
            json.elements = Some(surface.num_triangles());
            json.volume = Some(surface.calc_enclosed_volume().json());
        }
        HydroelasticMesh::Volume(field) => {
            let properties = inspector.proximity_properties(id)?;
            let modulus = |p: &ProximityProperties| p.get(GROUP, "hydroelastic_modulus").copied();
            let modulus: f64 = properties.map_or(Ok(1.0), modulus)?;
            let pressures = field.values().iter().map(|p| p * modulus);
            json.kind = Some("volume");
            json.vertices = Some(field.mesh().num_vertices());
            json.elements = Some(field.mesh().num_elements());
            json.volume = Some(field.mesh().calc_volume().json());
            json.pressure = Some(range(pressures).map(Double));
        }
    }
    Ok(json)
}
