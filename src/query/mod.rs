//! `tarragon query`: computes distances and contacts of scenes, one scene per line.

mod answer;
mod deformable;
mod fields;
mod hydroelastic;
mod number;
mod scene;

use crate::json_lines::{self, Answered, InputLine, LinesArgs};
use scene::{MeshFiles, Scene};
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
Blank lines are skipped. Every other line gets one answer, in the order of the input, as soon as it is known."#;

/// Arguments of `tarragon query`.
#[derive(clap::Args)]
#[command(after_long_help = FORMAT)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    lines: LinesArgs,
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
        if let Some(request) = deformable::GeometryRequest::parse(&line.text, &meshes)? {
            return request.answer();
        }
        let scene = Scene::parse(&line.text, &meshes)?;
        answer::answer(&scene, line.number)
    };
    json_lines::run(&args.lines, answer, answer::failed)
}
