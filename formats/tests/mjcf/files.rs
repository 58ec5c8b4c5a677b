//! Included files and meshes.

use super::*;
use std::fs;
use tarragon_geometry::Shape;

/// A box from the origin to (2, 1, 1).
const BOX: &str = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 0 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// A directory with files.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn load_files(files: &[(&str, &str)]) -> Loaded {
    let directory = directory(files);
    load_file(&directory.path().join("main.xml"))
}

/// A model with the given geom, assets and compiler settings.
fn with_mesh(geom: &str, assets: &str, compiler: &str) -> Loaded {
    let main = format!(
        "<mujoco model='m'><compiler {compiler}/><asset>{assets}</asset><worldbody><body name='a'><joint/>
         <geom {geom}/></body></worldbody></mujoco>"
    );
    let open = &BOX[..BOX.find("f 3").unwrap()];
    let flat = &BOX[..BOX.find("f 5").unwrap()];
    let files = [
        ("main.xml", &*main),
        ("box.obj", BOX),
        ("sub/box.obj", BOX),
        ("open.obj", open),
        ("flat.obj", flat),
        ("empty.obj", ""),
    ];
    load_files(&files)
}

#[test]
fn includes_are_relative_to_the_main_file_or_else_to_their_own() {
    let m = load_files(&[
        (
            "main.xml",
            "<mujoco model='m'><include file='sub/top.xml'/><worldbody><body name='b'><joint/>
             <include file='sub/geoms.xml'/></body><include file='sub/geoms.xml'/></worldbody></mujoco>",
        ),
        ("sub/top.xml", "<mujoco model='other'><compiler angle='radian'/><worldbody><body name='a'/></worldbody></mujoco>"),
        ("sub/geoms.xml", "<mujocoinclude><geom name='g' size='1'/>\n<include file='more.xml'/></mujocoinclude>"),
        ("sub/more.xml", "<mujocoinclude><geom name='beside' size='1' user='1'/></mujocoinclude>"),
        ("more.xml", "<mujocoinclude><geom name='main' size='1' user='1'/></mujocoinclude>"),
    ]);
    m.result.as_ref().unwrap();
    assert_eq!(m.plant.model_instance_names().last().unwrap(), "m");
    assert_eq!(m.body_names(), ["world", "a", "b"]);
    let inspector = m.scene.model_inspector();
    let names: Vec<&str> = inspector
        .geometry_ids()
        .step_by(2)
        .map(|g| inspector.name(g).unwrap())
        .collect();
    assert_eq!(names, ["g", "main", "m::g", "m::main"]);
    // Messages name the file that contains the element.
    assert!(
        m.warnings()[0].contains("more.xml:1:43: warning"),
        "{:?}",
        m.warnings()
    );

    let m = load_files(&[
        (
            "main.xml",
            "<mujoco model='m'><worldbody><include file='sub/a.xml'/></worldbody></mujoco>",
        ),
        (
            "sub/a.xml",
            "<mujocoinclude><include file='b.xml'/></mujocoinclude>",
        ),
        (
            "sub/b.xml",
            "<mujocoinclude><body name='beside'/></mujocoinclude>",
        ),
    ]);
    assert_eq!(m.body_names(), ["world", "beside"]);
}

#[test]
fn invalid_includes_are_reported() {
    for (include, word) in [
        ("<include/>", "no attribute 'file'"),
        ("<include file='nope.xml'/>", "does not exist"),
        ("<include file='main.xml'/>", "includes itself"),
        ("<include file='loop.xml'/>", "includes itself"),
        ("<include file='bad.xml'/>", "malformed XML"),
        ("<include file='.'/>", "does not exist"),
        ("<include file='/'/>", "<include> of '/'"),
    ] {
        let m = load_files(&[
            (
                "main.xml",
                &format!("<mujoco model='m'>\n{include}</mujoco>"),
            ),
            ("loop.xml", "<x><include file='./loop.xml'/></x>"),
            ("bad.xml", "<x>"),
        ]);
        assert!(m.error().contains(word), "{include}: {}", m.error());
    }
    let e = load("<mujoco model='m'><include file='a.xml'/></mujoco>").error();
    assert!(e.contains("the model was given as text"), "{e}");
}

#[test]
fn exponentially_growing_includes_are_bounded() {
    let ten = |file: &str| format!("<x>{}</x>", format!("<include file='{file}'/>").repeat(10));
    let mut files: Vec<(String, String)> = (0..9)
        .map(|i| (format!("{i}.xml"), ten(&format!("{}.xml", i + 1))))
        .collect();
    files.push(("9.xml".into(), "<x><geom size='1'/></x>".into()));
    files.push((
        "main.xml".into(),
        "<mujoco model='m'><include file='0.xml'/></mujoco>".into(),
    ));
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    let e = load_files(&files).error();
    assert!(e.contains("more than 1000 files"), "{e}");
}

#[test]
fn meshes_are_found_scaled_and_weighed() {
    let mass = |assets: &str, compiler: &str| {
        let m = with_mesh("type='mesh' mesh='box'", assets, compiler);
        m.result.as_ref().unwrap();
        let inertia = m.inertia("a");
        let inspector = m.scene.model_inspector();
        let ids: Vec<_> = inspector.geometry_ids().collect();
        // Collision geometry is the mesh as well.
        assert!(
            ids.iter()
                .all(|g| matches!(inspector.shape(*g).unwrap(), Shape::Mesh(_)))
        );
        (inertia.mass(), inertia.center_of_mass())
    };
    let close = |(m, c): (f64, Vector3<f64>), mass: f64, center: [f64; 3]| {
        near([m], [mass]);
        near(c.iter().copied(), center);
    };
    close(mass("<mesh file='box.obj'/>", ""), 2000.0, [1.0, 0.5, 0.5]);
    close(
        mass("<mesh file='box.obj' scale='1 2 -1'/>", ""),
        4000.0,
        [1.0, 1.0, -0.5],
    );
    for directory in [
        "meshdir='sub'",
        "assetdir='sub'",
        "assetdir='nope' meshdir='sub'",
    ] {
        close(
            mass("<mesh name='box' file='box.obj'/>", directory),
            2000.0,
            [1.0, 0.5, 0.5],
        );
    }
    let m = with_mesh(
        "type='mesh' mesh='c' mass='3'",
        "<mesh name='c' file='box.obj'/>",
        "",
    );
    near([m.inertia("a").mass()], [3.0]);
    // A box of 3 kg and 2 m x 1 m x 1 m about its corner: 3 (1 + 1) / 3 and 3 (4 + 1) / 3 kg m^2.
    near(
        m.inertia("a")
            .rotational_inertia()
            .diagonal()
            .iter()
            .copied(),
        [2.0, 5.0, 5.0],
    );
}

#[test]
fn meshes_without_volume_have_the_mass_of_their_hull() {
    let m = with_mesh("type='mesh' mesh='flat'", "<mesh file='flat.obj'/>", "");
    let [volume, stray] = &m.warnings()[..] else {
        panic!("{:?}", m.warnings());
    };
    assert!(volume.contains("convex hull is used instead"), "{volume}");
    assert!(volume.contains("main.xml:2:"), "{volume}");
    assert!(stray.contains("4 vertices are part of no face"), "{stray}");
    near([m.inertia("a").mass()], [2000.0]);
    // Open, but with a volume about the origin: as in Drake, the mesh is taken as it is.
    let m = with_mesh("type='mesh' mesh='open'", "<mesh file='open.obj'/>", "");
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    assert!(m.inertia("a").mass() < 2000.0);
}

#[test]
fn missing_and_invalid_meshes_are_reported() {
    for (geom, assets, word) in [
        (
            "size='1'",
            "<mesh name='m' file='nope.obj'/>",
            "does not exist",
        ),
        (
            "type='mesh' mesh='m'",
            "<mesh name='m' file='empty.obj'/>",
            "empty.obj",
        ),
        (
            "size='1'",
            "<mesh name='m' file='box.obj' scale='0 1 1'/>",
            "scale",
        ),
        (
            "size='1'",
            "<mesh name='m' file='box.obj' scale='1'/>",
            "must have 3 numbers",
        ),
    ] {
        let m = with_mesh(geom, assets, "");
        assert!(m.error().contains(word), "{assets}: {}", m.error());
    }
    with_mesh("type='mesh' mesh='m'", "", "").warns(&["no mesh 'm'", "left out"]);
    let inline = "<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>";
    let m = with_mesh("size='1'", inline, "");
    let all = m.warnings().join("\n");
    assert!(
        all.contains("'vertex' of <mesh>") && all.contains("mesh 'm' has no attribute 'file'"),
        "{all}"
    );
    for (name, value) in [
        ("refpos", "1 0 0"),
        ("refquat", "0 1 0 0"),
        ("inertia", "shell"),
    ] {
        let m = with_mesh(
            "size='1'",
            &format!("<mesh file='box.obj' {name}='{value}'/>"),
            "",
        );
        m.warns(&[name, "ignored"]);
    }
}

/// Sizes and pose of a shape fitted to the box. Sizes are radii and half lengths, as in MJCF.
fn fitted(geom: &str, compiler: &str) -> (Vec<f64>, [f64; 7]) {
    let m = with_mesh(
        &format!("{geom} mesh='box' pos='1 1 1'"),
        "<mesh file='box.obj'/>",
        compiler,
    );
    m.result.as_ref().unwrap();
    let inspector = m.scene.model_inspector();
    let id = inspector.geometry_ids().next().unwrap();
    let size = match inspector.shape(id).unwrap() {
        Shape::Box(s) => s.half_size().as_slice().to_vec(),
        Shape::Sphere(s) => vec![s.radius()],
        Shape::Ellipsoid(s) => s.semi_axes().as_slice().to_vec(),
        Shape::Capsule(s) => vec![s.radius(), s.length() / 2.0],
        Shape::Cylinder(s) => vec![s.radius(), s.length() / 2.0],
        other => panic!("{other:?}"),
    };
    (size, numbers(inspector.pose_in_frame(id).unwrap()))
}

#[test]
fn shapes_are_fitted_to_the_inertia_box_of_a_mesh() {
    // MuJoCo 4's shapes for a box with half sizes of 1 m, 0.5 m and 0.5 m; z is the long axis.
    let inertia = [
        ("sphere", vec![2.0 / 3.0]),
        ("capsule", vec![0.5, 0.75]),
        ("cylinder", vec![0.5, 1.0]),
        ("ellipsoid", vec![0.5, 0.5, 1.0]),
        ("box", vec![0.5, 0.5, 1.0]),
    ];
    for (kind, expected) in inertia {
        let (size, pose) = fitted(&format!("type='{kind}'"), "");
        near(size, expected);
        near(pose[4..].iter().copied(), [2.0, 1.5, 1.5]);
    }
    let m = with_mesh("size='1' fitscale='2'", "", "");
    m.warns(&["fitscale", "not fitted"]);
}

#[test]
fn shapes_are_fitted_to_the_bounding_box_of_a_mesh() {
    // The inertia box and the bounding box of this tetrahedron differ. The numbers are MuJoCo 4's.
    let tetrahedron = "v 0 0 0\nv 3 0 0\nv 0 2 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let center = [2.32452638, 1.45151589, 1.10490372];
    for (kind, size) in [
        ("sphere", [1.73465424, 0.0, 0.0]),
        ("capsule", [1.06847193, 0.66618232, 0.0]),
        ("cylinder", [1.06847193, 1.73465424, 0.0]),
        ("ellipsoid", [0.469741, 1.06847193, 1.73465424]),
    ] {
        let main = format!(
            "<mujoco model='m'><compiler fitaabb='true'/><asset><mesh file='t.obj'/></asset><worldbody>
             <geom type='{kind}' mesh='t' pos='1 1 1'/></worldbody></mujoco>"
        );
        let m = load_files(&[("main.xml", &main), ("t.obj", tetrahedron)]);
        m.result.as_ref().unwrap();
        let inspector = m.scene.model_inspector();
        let id = inspector.geometry_ids().next().unwrap();
        let found = match inspector.shape(id).unwrap() {
            Shape::Sphere(s) => [s.radius(), 0.0, 0.0],
            Shape::Ellipsoid(s) => s.semi_axes().into(),
            Shape::Capsule(s) => [s.radius(), s.length() / 2.0, 0.0],
            Shape::Cylinder(s) => [s.radius(), s.length() / 2.0, 0.0],
            other => panic!("{other:?}"),
        };
        let pose = numbers(inspector.pose_in_frame(id).unwrap());
        for (x, y) in found
            .iter()
            .chain(&pose[4..])
            .zip(size.iter().chain(&center))
        {
            // MuJoCo stores vertices in single precision.
            assert!((x - y).abs() < 1e-6, "{kind}: {found:?} {pose:?}");
        }
    }
}

#[test]
fn meshes_can_be_msh_files() {
    // A tetrahedron of 1/6 m^3.
    let mut bytes: Vec<u8> = [4_i32, 0, 0, 4]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let vertices = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1].map(|x| x as f32);
    bytes.extend(vertices.iter().flat_map(|x| x.to_le_bytes()));
    let faces = [0_i32, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    bytes.extend(faces.iter().flat_map(|n| n.to_le_bytes()));
    let main =
        "<mujoco model='m'><asset><mesh file='t.msh'/></asset><worldbody><body name='a'><joint/>
        <geom type='mesh' mesh='t' density='6'/></body></worldbody></mujoco>";
    let directory = directory(&[("main.xml", main)]);
    fs::write(directory.path().join("t.msh"), &bytes).unwrap();
    let m = load_file(&directory.path().join("main.xml")).ok();
    near([m.inertia("a").mass()], [1.0]);
    near(m.inertia("a").center_of_mass().iter().copied(), [0.25; 3]);
    bytes.pop();
    fs::write(directory.path().join("t.msh"), &bytes).unwrap();
    let e = load_file(&directory.path().join("main.xml")).error();
    assert!(
        e.contains("main.xml:1:32: error") && e.contains("bytes after the header"),
        "{e}"
    );
}
