//! Mistakes in parts of a robot that affect only its appearance, or that do not act.

use super::*;

fn visual(material: &str) -> Loaded {
    let text = format!(
        "<robot name='r'><link name='a'><visual><geometry><sphere radius='1'/></geometry>{material}
         </visual></link></robot>"
    );
    load(&text)
}

#[test]
fn mistakes_in_materials_are_warnings() {
    for (material, words) in [
        (
            "<material name='m'><texture/></material>",
            "must have a filename",
        ),
        (
            "<material name='m'><texture filename=''/></material>",
            "must have a filename",
        ),
        (
            "<material><texture filename=' '/></material>",
            "must have a filename",
        ),
        (
            "<material name='m'><texture filename='none.png'/></material>",
            "is left out",
        ),
        ("<material name='m'/>", "must have a colour or a texture"),
        (
            "<material name='m'><color/></material>",
            "must have 4 numbers, got 0",
        ),
        (
            "<material name='m'><color rgba=''/></material>",
            "must have 4 numbers, got 0",
        ),
        (
            "<material name='m'><color rgba='1 0 0'/></material>",
            "must have 4 numbers",
        ),
    ] {
        let loaded = visual(material);
        let said: Vec<String> = loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{material}: {said:?}");
        assert!(
            said.iter().any(|s| s.contains(words)),
            "{material}: {said:?}"
        );
        assert!(
            said.iter().all(|s| s.contains("warning: ")),
            "{material}: {said:?}"
        );
    }
    let loaded = visual("<material name='m'><texture/><color rgba='1 0 0 1'/></material>");
    let inspector = loaded.scene.model_inspector();
    let id = inspector.geometry_ids().next().unwrap();
    let shown = inspector.illustration_properties(id).unwrap().unwrap();
    let red: &Rgba = shown.get("phong", "diffuse").unwrap();
    assert_eq!(red.rgba(), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_material_of_the_robot_needs_a_name_to_act() {
    let text = "<robot name='r'><material><texture/></material><link name='a'/></robot>";
    let loaded = load(text);
    assert!(
        loaded.diagnostics[0].to_string().contains("warning: "),
        "{:?}",
        loaded.diagnostics
    );
}

/// pydrake 1.51 limits the joint, too.
#[test]
fn bounds_of_a_continuous_joint_are_told() {
    let joint = |limit: &str| {
        let inside = format!("<axis xyz='0 0 1'/><limit {limit}/>");
        load(&with_joint(&format!(
            "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>{inside}</joint>"
        )))
    };
    let bounded = joint("lower='-1' upper='2' effort='1' velocity='1'");
    let said = bounded.diagnostics[0].to_string();
    let words =
        "joint 'j' of type continuous must have no lower and upper limits, got -1.0 and 2.0";
    assert!(said.contains(words), "{said}");
    let plant = &bounded.plant;
    let found = plant.joint(plant.joint_by_name("j").unwrap()).unwrap();
    assert_eq!(found.position_upper_limits(), [2.0]);
    assert!(joint("effort='1' velocity='1'").diagnostics.is_empty());
}

#[test]
fn left_over_vertices_of_a_collision_mesh_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let corner = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let said_about = |obj: String, tag: &str| {
        std::fs::write(folder.path().join("m.obj"), obj).unwrap();
        let text = format!(
            "<robot name='r'><link name='a'><{tag}><geometry><mesh filename='m.obj'/></geometry>
             </{tag}></link></robot>"
        );
        let file = folder.path().join("r.urdf");
        std::fs::write(&file, text).unwrap();
        let said = load_file(&file).diagnostics;
        said.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(said_about(corner.into(), "collision"), [""; 0]);
    let stray = format!("{corner}v 9 0 0\n");
    let said = said_about(stray.clone(), "collision");
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("r.urdf:1:"), "{said:?}");
    assert!(
        said[0].contains("m.obj:9: vertex 5 is part of no face"),
        "{said:?}"
    );
    assert_eq!(said_about(stray, "visual"), [""; 0]);
}

/// Drake 1.51.1 loads the visual with a mesh of no name, and refuses the collision.
#[test]
fn a_visual_without_a_mesh_file_is_left_out() {
    let text = |tag: &str| {
        format!(
            "<robot name='r'><link name='a'><{tag}><geometry><mesh filename=''/></geometry></{tag}>
             </link></robot>"
        )
    };
    let loaded = load(&text("visual"));
    let said = loaded.diagnostics[0].to_string();
    assert!(said.contains("warning: <mesh> must name a file"), "{said}");
    assert_eq!(loaded.scene.model_inspector().geometry_ids().count(), 0);
    let e = error_of(&text("collision"));
    assert!(e.contains("'filename' of <mesh> must not be empty"), "{e}");
}

/// Textures in material files may lie in packages of the parser, wherever these are.
#[test]
fn textures_of_meshes_are_found_in_packages_of_the_parser() {
    let (models, pictures) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let image = pictures.path().join("wood.png");
    std::fs::write(&image, "").unwrap();
    let write = |name: &str, text: &str| std::fs::write(models.path().join(name), text).unwrap();
    write("m.mtl", "newmtl a\nmap_Kd package://looks/wood.png\n");
    write(
        "m.obj",
        "mtllib m.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    );
    write(
        "r.urdf",
        "<robot name='r'><link name='a'><visual><geometry><mesh filename='m.obj'/></geometry>
         </visual></link></robot>",
    );
    let loaded = load_with(|parser| {
        let packages = parser.package_map_mut();
        packages.add("looks", pictures.path())?;
        parser.add_models(models.path().join("r.urdf"))
    });
    let inspector = loaded.scene.model_inspector();
    let id = inspector.geometry_ids().next().unwrap();
    let Shape::Mesh(mesh) = inspector.shape(id).unwrap() else {
        panic!("the shape must be a mesh");
    };
    let read = tarragon_geometry::mesh::read_source(mesh.source()).unwrap();
    let expected = tarragon_geometry::mesh::Texture::file(image);
    assert_eq!(read.materials[0].diffuse_map, Some(expected));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
}
