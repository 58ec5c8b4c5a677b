//! Textures on meshes as MuJoCo draws them: at their coordinates, or projected in the frame of the
//! principal axes.

use crate::support::loaded::{Built, load_with};
use crate::support::mujoco;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use std::process::Command;
use tarragon_formats::*;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::*;
use tarragon_multibody::*;

const ASSETS: &str = "
    <texture name='t' type='2d' builtin='checker' width='4' height='4'/>
    <texture name='c' builtin='gradient' width='4'/>
    <material name='m' texture='t' texrepeat='2 3' rgba='1 .5 0 1'/>
    <material name='u' texture='t' texrepeat='2 3' texuniform='true'/>
    <material name='c' texture='c'/><material name='cu' texture='c' texuniform='true'/>";
const MATERIALS: [&str; 4] = ["m", "u", "c", "cu"];

/// Prints, per mesh geom, its half sizes and the pose of the mesh, then all vertices.
const PEER: &str = "
import sys, mujoco
m = mujoco.MjModel.from_xml_string(sys.argv[1])
for g in range(m.ngeom):
    i = m.geom_dataid[g]; a = m.mesh_vertadr[i]; n = m.mesh_vertnum[i]
    row = [*m.geom_size[g], *m.mesh_pos[i], *m.mesh_quat[i], *m.mesh_vert[a:a + n].ravel()]
    print(*[repr(float(x)) for x in row])
";

/// Returns the vertices of a tetrahedron of about a size (m), which faces outwards.
fn tetrahedron(random: &mut RandomGenerator, size: f64) -> String {
    let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, 0.4]];
    let moved = corner.map(|p| p.map(|x| size * (x + 0.25 * random.uniform(0.0, 1.0))));
    moved
        .as_flattened()
        .iter()
        .map(|x| format!("{x:?} "))
        .collect()
}

fn model(assets: &str, geoms: &str) -> String {
    format!(
        "<mujoco model='m'><asset>{ASSETS}{assets}</asset><worldbody>{geoms}</worldbody></mujoco>"
    )
}

fn load(text: &str) -> Built {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(text, "xml")
    })
    .ok()
}

impl Built {
    /// Returns the texture and the shape of the visual of a name.
    fn texture(&self, name: &str) -> (Option<ProjectedTexture>, Shape) {
        let inspector = self.scene.model_inspector();
        let ids = self.plant.visual_geometries(BodyIndex::WORLD).iter();
        let id = ids
            .copied()
            .find(|id| inspector.name(*id).unwrap().ends_with(name))
            .unwrap();
        let properties = inspector.perception_properties(id).unwrap().unwrap();
        let texture = properties.try_get::<ProjectedTexture>("phong", "projected_texture");
        (
            texture.unwrap().cloned(),
            inspector.shape(id).unwrap().clone(),
        )
    }
}

fn drawn(texture: &ProjectedTexture, shape: &Shape) -> RenderMesh {
    texture.render_mesh(shape, 8).unwrap().unwrap()
}

#[test]
fn projections_lie_as_those_of_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let random = &mut RandomGenerator::new(1);
    let (mut assets, mut geoms, mut names) = (String::new(), String::new(), vec![]);
    for i in 0..60 {
        // With products of inertia far above MuJoCo's absolute tolerance, and around it.
        let size = [3.0, 0.3, 0.02][i % 3];
        let vertices = tetrahedron(random, size);
        let (place, kinds) = match i % 2 {
            0 => (String::new(), &MATERIALS[..]),
            _ => {
                let turn = [(); 4].map(|()| random.uniform(-0.5, 0.5));
                let [w, x, y, z] = turn;
                (
                    format!("refpos='.1 .2 .3' refquat='{w} {x} {y} {z}'"),
                    &MATERIALS[..2],
                )
            }
        };
        assets += &format!(
            "<mesh name='x{i}' vertex='{vertices}' {place} inertia='exact'
               face='0 2 1 0 1 3 0 3 2 1 2 3'/>"
        );
        for kind in kinds {
            geoms +=
                &format!("<geom name='g{i}{kind}' type='mesh' mesh='x{i}' material='{kind}'/>");
            names.push((i, *kind));
        }
    }
    let text = model(&assets, &geoms);
    let output = Command::new(python)
        .args(["-c", PEER, &text])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let truth = String::from_utf8(output.stdout).unwrap();
    let model = load(&text);
    assert_eq!(model.warnings(), [""; 0]);
    let mut worst = 0.0_f64;
    for (line, (i, kind)) in truth.lines().zip(&names) {
        let row: Vec<f64> = line.split(' ').map(|x| x.parse().unwrap()).collect();
        let (half, position) = (Vector3::from_row_slice(&row[..3]), &row[3..6]);
        let [w, x, y, z] = [0, 1, 2, 3].map(|k| row[6 + k]);
        let (texture, shape) = model.texture(&format!("g{i}{kind}"));
        let texture = texture.unwrap();
        let mesh = drawn(&texture, &shape);
        let uniform = kind.contains('u');
        if !kind.contains('c') {
            let (vertices, _) = row[10..].as_chunks::<3>();
            // In the order of the file, once per normal.
            assert_eq!(vertices.len(), 4);
            for (t, uvs) in mesh.triangles.iter().zip(&mesh.triangle_uvs) {
                for (v, uv) in t.iter().zip(uvs) {
                    let at = mesh.positions[*v as usize];
                    let file = shape_vertices(&shape);
                    let of = file
                        .iter()
                        .position(|p| (p - at.coords).norm() < 1e-12)
                        .unwrap();
                    for k in 0..2 {
                        let per_metre = if uniform { 1.0 } else { 1.0 / half[k] };
                        let exact = 0.5 + 0.5 * [2.0, 3.0][k] * per_metre * vertices[of][k];
                        worst = worst.max((mesh.uvs[*uv as usize][k] - exact).abs());
                    }
                }
            }
        } else {
            let images = texture.images().to_vec().try_into().unwrap();
            let scale = if uniform { half } else { Vector3::repeat(1.0) };
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let shift = Translation3::new(position[0], position[1], position[2]);
            let exact = ProjectedTexture::from_center(images, scale).unwrap();
            let exact = drawn(
                &exact.with_pose(&Isometry3::from_parts(shift, turn)),
                &shape,
            );
            assert_eq!(mesh.groups, exact.groups, "{i}");
            assert_eq!(mesh.uvs.len(), exact.uvs.len(), "{i}");
            for (found, exact) in mesh.uvs.iter().zip(&exact.uvs) {
                worst = worst.max((found[0] - exact[0]).abs().max((found[1] - exact[1]).abs()));
            }
        }
    }
    println!(
        "mujoco textures on meshes: {} cases, worst {worst:e}",
        names.len()
    );
    assert_eq!(truth.lines().count(), names.len());
    // MuJoCo keeps vertices in single precision.
    assert!(worst < 5e-6, "{worst:e}");
}

fn shape_vertices(shape: &Shape) -> Vec<Vector3<f64>> {
    let Shape::Mesh(mesh) = shape else {
        panic!("{shape:?} is no mesh")
    };
    mesh.surface().unwrap().vertices().to_vec()
}

/// A mesh with coordinates shows a flat texture there, whatever the repeats, and no cube.
#[test]
fn coordinates_of_a_mesh_are_used() {
    let mesh = "<mesh name='x' vertex='0 0 0 1 0 0 0 1 0 0 0 1' texcoord='0 0 1 0 0 1 .25 .75'
                  face='0 2 1 0 1 3 0 3 2 1 2 3'/>";
    let geom = |kind: &str| format!("<geom name='g' type='mesh' mesh='x' material='{kind}'/>");
    for kind in ["m", "u"] {
        let loaded = load(&model(mesh, &geom(kind)));
        assert_eq!(loaded.warnings(), [""; 0]);
        let (texture, shape) = loaded.texture("g");
        let texture = texture.unwrap();
        let image = texture.images()[0].clone();
        let color = match kind {
            "m" => Rgba::new(1.0, 0.5, 0.0, 1.0).unwrap(),
            _ => Rgba::WHITE,
        };
        assert_eq!(
            texture,
            ProjectedTexture::at_coordinates(image).with_color(color)
        );
        // The rows of MuJoCo's images grow downwards.
        let drawn = drawn(&texture, &shape);
        let highest = drawn.positions.iter().position(|p| p.z == 1.0).unwrap() as u32;
        let corner = drawn.triangles[1]
            .iter()
            .position(|v| *v == highest)
            .unwrap();
        assert_eq!(drawn.uvs_of(1, 0)[corner], [0.25, 0.25]);
    }
    let loaded = load(&model(mesh, &geom("c")));
    let [warning] = loaded.warnings().try_into().unwrap();
    assert!(
        warning.contains("shows no cube; give the texture the type '2d'"),
        "{warning}"
    );
    assert_eq!(loaded.texture("g").0, None);
    let wrong = mesh.replace(".25 .75", ".25");
    let text = model(&wrong, &geom("m"));
    let refused = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(&text, "xml")
    });
    refused.refuses("'texcoord' must have two finite numbers for each of 4 vertices, got 7");
}

/// A height field has its texture along z, over its whole extent.
#[test]
fn height_fields_are_projected_onto() {
    let field = "<hfield name='h' nrow='2' ncol='3' size='2 1 .5 .25' elevation='0 1 0 1 0 1'/>";
    let loaded = load(&model(
        field,
        "<geom name='g' type='hfield' hfield='h' material='m'/>",
    ));
    assert_eq!(loaded.warnings(), [""; 0]);
    let (texture, shape) = loaded.texture("g");
    let mesh = drawn(&texture.unwrap(), &shape);
    for (p, [u, v]) in mesh.positions.iter().zip(&mesh.uvs) {
        // Two and three images over 4 m and 2 m.
        assert!((u - (0.5 + p.x * 0.5)).abs() < 1e-12);
        assert!((v - (0.5 + p.y * 1.5)).abs() < 1e-12);
    }
    assert!(mesh.positions.len() > 6);
}
