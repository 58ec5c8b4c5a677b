//! `tarragon query`: computes distances and contacts of scenes, one scene per line.

mod answer;
mod deformable_fields;
mod deformable_forces;
mod deformable_geometry;
mod deformable_scene;
mod fields;
mod hydroelastic;
mod number;
mod scene;

use crate::json_lines::{self, Answered, InputLine, LinesArgs, json_error};
use deformable_forces::ForcesRequest;
use deformable_geometry::GeometryRequest;
use deformable_scene::MotionRequest;
use fields::Fields;
use scene::{MeshFiles, Scene};
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Description of the formats, for `--help`.
const FORMAT: &str = r#"One scene, on one line of the input:
  {"geometries": [
     {"name": "ball",  "shape": {"type": "Sphere", "radius": 0.125}, "pose": [1,0,0,0, 0,0,0.375]},
     {"name": "floor", "shape": {"type": "HalfSpace"}, "pose": [1,0,0,0, 0,0,0], "anchored": true}],
   "queries": ["signed_distance"]}
One answer, on one line of the output:
  {"penetration": [], "signed_distance": [{"a": "ball", "b": "floor", "distance": 0.25,
    "nhat_ba_w": [0.0,0.0,1.0], "p_aca": [0.0,0.0,-0.125], "p_bcb": [0.0,0.0,0.0]}], "point": [], "error": null}

Scene:
  geometries    each has a unique name, a shape, a pose in the world [qw,qx,qy,qz,x,y,z] (m; the quaternion
                is normalized), and may be anchored (default false). Pairs of anchored geometries are not tested.
                For contact surfaces, it has "hydro": {"compliance": "undefined", "rigid" or "compliant", and
                as needed "modulus" (Pa), "resolution_hint", "slab_thickness", "margin" (m), "tessellation":
                "inscribed" (default) or "equal_volume"}
  queries       any of "penetration", "signed_distance", "point", "contact_surfaces", "hydro_meshes"; by default
                the first two, and the third if there is a point
  max_distance  pairs farther apart (m), or overlapping less if negative, are left out of signed_distance;
                default null: no limit
  point         [x,y,z] in the world (m), for the query "point"
  scalar        "f64" (default) or "autodiff"
  representation  of contact surfaces: "polygon" (default) or "triangle"
  fallback      true: pairs without a contact surface are answered in penetration; default false
  defaults      of hydroelastic properties: compliance_type, hydroelastic_modulus, resolution_hint,
                slab_thickness, margin
Shapes (m):
  {"type": "Box", "size": [x,y,z]}                {"type": "Sphere", "radius": r}
  {"type": "Ellipsoid", "abc": [a,b,c]}           {"type": "HalfSpace"}: all of z <= 0
  {"type": "Cylinder", "radius": r, "length": l}  {"type": "Capsule", "radius": r, "length": l}
  {"type": "Convex", "file": path, "scale3": s}   {"type": "Mesh", "file": path, "scale3": s}
  {"type": "HeightField", "heights": [[...], ...], "size": [x,y], "base_depth": d}: rows along x, from the smallest y
  s is one factor or three, default 1. A relative path is searched in the current directory, then in that of the
  input file. Every file is read once.
Answer:
  penetration      a, b, depth, nhat_ba_w (unit normal out of B into A), p_wca, p_wcb (in the world)
  signed_distance  a, b, distance, nhat_ba_w, p_aca (in the frame of A), p_bcb (in that of B)
  point            g, distance, grad_w, p_gn (in the frame of the geometry)
  contact_surfaces, if asked for: a, b, faces, vertices, area, centroid, force, torque, pressure_integral,
                   max_pressure, min_pressure, grad_a, grad_b; in the world. Normals point out of B into A. force
                   and torque (about the world's origin) sum area times pressure at the centroid over the faces,
                   grad_a and grad_b area times gradient (null if rigid, never with derivatives)
  hydro_meshes, if asked for: g, kind ("volume", "surface" or null), vertices, elements, surface_vertices,
                   surface_triangles, area, volume, aabb [min, max], pressure [min, max] of volumes
  error            null, or "line N: ..." with the place in the scene; the lists then hold what could be answered
Pairs and geometries are in the order of "geometries". Numbers have enough digits to read back the same
double (at most 17); infinities are "inf" and "-inf". With autodiff every number is {"v": value, "d": [...]}, d
being the six derivatives by the position in the world (3), then by a rotation vector about the world's axes at
the frame's origin (3), of the first geometry, anchored or not.
A line may instead describe one deformable geometry, whose mesh is made as when it is registered:
  {"deformable_geometry": {"shape": {"type": "Mesh", "file": "ball.vtk"}, "resolution_hint": 0.05,
     "configuration": [x,y,z, ...], "points": [x,y,z, ...]}}
  shape           a Sphere, or a Mesh of a VTK file
  resolution_hint of a Sphere (m), default 1
  configuration   coordinates of all vertices in the world (m), in the order of the mesh; optional
  points          in the undeformed mesh (m), which is at the origin; only with a configuration
Its answer is {"deformable_geometry": {"vertices", "elements", "surface_vertices", "surface_triangles", "volume",
  "aabb" [min, max] of the configuration, "driven_points": where it takes the points}, "error": null}.
Or a scene with deformable bodies, and the steps whose ends are asked for, in an order that does not decrease:
  {"deformable": {"time_step": 0.005, "gravity": [0,0,-9.81], "steps": [1, 20],
     "bodies": [{"name": "ball", "shape": {"type": "Sphere", "radius": 0.1}, "resolution_hint": 0.05,
       "pose": [1,0,0,0, 0,0,0.2], "friction": 0.5,
       "material": {"model": "linear_corotated", "youngs_modulus": 1e5, "poissons_ratio": 0.3,
         "mass_density": 1000, "mass_damping": 0, "stiffness_damping": 0, "subdivisions": 0},
       "walls": [[point, normal], ...], "fixed_to_world": {"shape": ..., "pose": [...]},
       "initial_positions": [x,y,z, ...], "initial_velocities": [x,y,z, ...], "disabled": false}],
     "rigid": [{"name": "box", "shape": {"type": "Box", "size": [1,1,0.2]}, "pose": [1,0,0,0, 0,0,-0.1],
       "hydro": {"modulus": 1e7, "resolution_hint": 1}, "friction": 0.5, "mass": 1}]}}
  model            "linear", "linear_corotated" (default), "corotated" or "neo_hookean"
  walls            hold the vertices behind a point, on the other side than the normal
  fixed_to_world   holds the vertices inside of a shape
  hydro            as in scenes above, but "compliance" is "compliant" by default
  mass             of a rigid body that moves (kg); without it, it is fixed to the world
Its answer is {"deformable": [{"step", "bodies": {name: {"positions", "velocities"}}, "rigid": {name: pose of one
  that moves}, "contacts": [{"a", "b", "faces", "area", "centroid", "force_on_a"}]}, ...], "error": null}, all in the
  world, coordinates in the order of the mesh, contacts by name.
Or the elastic forces of a deformable body, which is at the origin without stress:
  {"deformable_forces": {"shape": ..., "material": ..., "previous_positions": [x,y,z, ...], "positions": [...]}}
  previous_positions  at the start of the step, which turn the elements of the model linear_corotated; default:
                   the positions
Its answer is {"deformable_forces": {"energy" (J), "force": of all vertices (N), "mass" (kg)}, "error": null}.
Blank lines are skipped. Every other line gets one answer, in the order of the input, as soon as it is known."#;

/// Arguments of `tarragon query`.
#[derive(clap::Args)]
#[command(after_long_help = FORMAT)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    lines: LinesArgs,
}

/// Answers a line about deformable bodies; `None` if it describes something else.
fn deformable(text: &[u8], meshes: &MeshFiles) -> Result<Option<Answered>, String> {
    // Other lines are long, and are not parsed twice.
    let word = b"\"deformable";
    if !text.windows(word.len()).any(|part| part == word) {
        return Ok(None);
    }
    let line: Value = serde_json::from_slice(text).map_err(|e| json_error(&e))?;
    let places = [
        deformable_scene::PLACE,
        deformable_forces::PLACE,
        deformable_geometry::PLACE,
    ];
    let Some(place) = places.into_iter().find(|place| line.get(place).is_some()) else {
        return Ok(None);
    };
    let mut fields = Fields::new(line, "line", "")?;
    let value = fields.required(place)?;
    fields.finish()?;
    let answered = match place {
        deformable_scene::PLACE => MotionRequest::parse(value, meshes)?.answer(),
        deformable_forces::PLACE => ForcesRequest::parse(value, meshes)?.answer(),
        _ => GeometryRequest::parse(value, meshes)?.answer(),
    };
    answered.map(Some)
}

/// Answers lines until the input ends or the reader of the output goes away.
pub(crate) fn run(args: &QueryArgs) -> Result<ExitCode, Box<dyn Error>> {
    let folder = args
        .lines
        .file()
        .and_then(Path::parent)
        .map(Path::to_path_buf);
    let meshes = MeshFiles::new(folder);
    let answer = |line: &InputLine| -> Result<Answered, String> {
        if let Some(answer) = deformable(&line.text, &meshes)? {
            return Ok(answer);
        }
        let scene = Scene::parse(&line.text, &meshes)?;
        answer::answer(&scene, line.number)
    };
    json_lines::run(&args.lines, answer, answer::failed)
}
